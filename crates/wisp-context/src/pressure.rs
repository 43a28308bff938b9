//! The pressure report made before every request, also one that fits.

use serde::{Deserialize, Serialize};

use crate::condense::Plan;
use crate::estimate::{Basis, Estimate};
use crate::message::size;
use crate::record::ThreadRecord;
use crate::reference;
use crate::target::{Gauge, Phase};

/// Tokens a server needs beside the prompt, and slack for an estimate that is a little low.
const RESERVE: u64 = 256;

/// Tokens of a window that no prompt may use: 256, or an eighth of a window so small that 256 would be more.
pub fn reserve(window: u64) -> u64 {
    RESERVE.min(window / 8)
}

/// Whether a request with this estimate fits a window, the reserve included. Text the
/// server has not counted yet is allowed to have an eighth more tokens than estimated.
pub(crate) fn fits(estimate: Estimate, window: u64) -> bool {
    estimate.tokens + estimate.uncounted / 8 + reserve(window) <= window
}

/// What is done about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Sent as it is.
    Send,
    /// A condensation is due first.
    Condense,
    /// Condensed, and sent.
    Condensed,
    /// At the floor and above the goal; sent.
    Floor,
    /// Does not fit the window whatever is done; not sent.
    Refuse,
}

/// The fields of a `context.pressure` event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// When it was measured.
    pub phase: Phase,
    /// Tokens of the request, tool definitions included.
    pub estimate: u64,
    /// How that is known.
    pub basis: Basis,
    /// The window; `None` while unknown.
    pub window: Option<u64>,
    /// Tokens of the budget, 0 while the window is unknown.
    pub budget: u64,
    /// Tokens of the next turn counted on top.
    pub headroom: u64,
    /// Whether the request fits the window with [`reserve`] to spare.
    pub fits: bool,
    /// What is done about it.
    pub action: Action,
}

impl ThreadRecord {
    /// Bytes the next turn's requests are smaller by, since it is sent the last turn's outputs as references.
    pub(crate) fn about_to_be_saved(&self) -> u64 {
        if !self.rules.references || self.open_turn().is_some() {
            return 0;
        }
        let last = self.entries_of(self.turn_count());
        let texts = reference::texts(last, self.rules.memory);
        let sent = texts.iter().filter_map(|(id, text)| {
            let entry = self.entry(*id).filter(|entry| entry.is_active())?;
            Some(size(entry.output()?.shown.len().saturating_sub(text.len())))
        });
        sent.sum()
    }

    /// Measures what would be sent now. The agent condenses when the action says so, then reports
    /// [`Pressure::after`].
    pub fn pressure(&self, gauge: &Gauge<'_>, phase: Phase) -> Pressure {
        let bytes = self.compose().bytes();
        let sent = match phase {
            // The next turn is sent what the last one printed as references.
            Phase::Idle => gauge
                .estimator
                .estimate(bytes.saturating_sub(self.about_to_be_saved())),
            Phase::TurnStart | Phase::ToolLoop => gauge.estimator.estimate(bytes),
        };
        let headroom = if phase == Phase::ToolLoop {
            0
        } else {
            self.headroom(gauge)
        };
        let budget = gauge.window.map_or(0, |window| gauge.target.budget(window));
        let due = gauge.window.is_some() && sent.tokens + headroom >= budget;
        let fits = gauge
            .window
            .is_none_or(|window| sent.tokens + reserve(window) <= window);
        Pressure {
            phase,
            estimate: sent.tokens,
            basis: sent.basis,
            window: gauge.window,
            budget,
            headroom,
            fits,
            action: if due || !fits {
                Action::Condense
            } else {
                Action::Send
            },
        }
    }
}

impl Pressure {
    /// The report once `plan` has been applied, or found to change nothing.
    #[must_use]
    pub fn after(self, plan: &Plan) -> Self {
        let action = match (plan.fits, plan.floor) {
            (false, _) => Action::Refuse,
            (true, true) => Action::Floor,
            (true, false) => Action::Condensed,
        };
        Self {
            estimate: plan.fill_after + plan.prompt,
            fits: plan.fits,
            action,
            ..self
        }
    }
}
