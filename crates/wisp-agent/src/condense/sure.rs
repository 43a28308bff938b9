//! Making sure, on a server that drops what does not fit without a word: there an average is not enough, and a request
//! must fit however its text is split into tokens. Seen to in the one condensation that is due, so that none follows
//! on its heels.

use wisp_context::{Estimator, Gauge, Phase, Plan, Reason, Request};

use crate::conversation::Conversation;
use crate::model::most;

/// Tokens left for the reply when a prompt is only bounded from above.
const LEAST_REPLY: u64 = 256;

impl Conversation {
    /// The most tokens a request can be.
    pub(crate) fn most(&self, composed: &Request) -> u64 {
        let tools = self.tools.as_ref().map_or("", |tools| tools.as_str());
        most::in_request(composed, tools, self.counted.as_ref())
    }

    /// Whether a request of at most so many tokens may be sent: always, where the server refuses what does not fit.
    pub(crate) fn surely_fits(&self, most: u64) -> bool {
        let window = self.model.window.tokens;
        !self.model.cuts_silently() || most + LEAST_REPLY.min(window / 8) <= window
    }

    /// Takes an estimator that assumes the worst of what the server has not counted of `composed`, and gives the usual
    /// one to be put back.
    pub(crate) fn assume_the_worst(&mut self, composed: &Request, most: u64) -> Estimator {
        let worst = self.worst(composed, most);
        std::mem::replace(&mut self.estimator, worst)
    }

    fn worst(&self, composed: &Request, most: u64) -> Estimator {
        let tools = self.estimator.tool_bytes();
        let mut worst = Estimator::default();
        worst.set_tool_bytes(tools);
        worst.assume(composed.bytes(), most.min(composed.bytes() + tools));
        worst
    }

    /// The plan when the request surely fits once it is applied, else the one that assumes the worst.
    pub(super) fn or_a_surer(&self, plan: Plan, phase: Phase) -> Plan {
        if !self.model.cuts_silently() {
            return plan;
        }
        let mut after = self.record.clone();
        if after.condense(plan.clone(), "").is_err() || self.surely_fits(self.most(&after.compose())) {
            return plan;
        }
        let now = self.record.compose();
        let worst = self.worst(&now, self.most(&now));
        let gauge = Gauge {
            estimator: &worst,
            ..self.gauge()
        };
        let surer = self.record.plan(&gauge, phase, Reason::Budget);
        surer.filter(Plan::changes).unwrap_or(plan)
    }

    /// Whether the next turn's first request surely fits, its prompt apart.
    pub(super) fn next_surely_fits(&self) -> bool {
        if !self.model.cuts_silently() || self.record.open_turn().is_some() {
            return true;
        }
        let mut next = self.record.clone();
        next.begin_turn("", self.stamp());
        self.surely_fits(self.most(&next.compose()))
    }
}
