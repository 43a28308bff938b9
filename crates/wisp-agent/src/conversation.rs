//! One conversation: the record, the model, the tools, the audit and the store, owned by one task.

use std::path::PathBuf;

use serde_json::{Value, json};
use tokio::sync::watch;
use wisp_audit::{AuditError, AuditLog, Event, Kind};
use wisp_config::{Config, Paths};
use wisp_context::{ContextView, Estimator, Gauge, Stamp, Target, ThreadRecord, Time};
use wisp_host::Env;
use wisp_ollama::{Client, Tools};
use wisp_tools::{Finished, Registry};

use crate::agents_md::AgentsFiles;
use crate::events::Events;
use crate::foreign::Foreign;
use crate::form::Form;
use crate::guided::messages::RawReplies;
use crate::history::History;
use crate::images::Image;
use crate::jobs::Jobs;
use crate::model::call_style::ToolSet;
use crate::model::most::Counted;
use crate::model::ratios::Ratios;
use crate::model::speed::Speed;
use crate::model::waits::Waits;
use crate::model::{Model, Preferences};
use crate::printed::Printed;
use crate::protocol::{HeldRange, OutputSummary, Stretch};
use crate::saved::Thread;
use crate::secrets::Secrets;

/// An output the person can ask for again: of a tool, or of a command they typed.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Its id, 16 hex digits; the store's when it is kept.
    pub id: String,
    /// What made it: `run_command cargo build`.
    pub title: String,
    /// What the tool returned to the model.
    pub text: String,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// Lines of a command's stdout among them.
    pub out_lines: Option<u64>,
    /// What the model was not shown.
    pub held: Vec<HeldRange>,
    /// Whether the whole is in the store.
    pub kept: bool,
    /// Why it is not, although it is longer than what was shown.
    pub not_kept: Option<String>,
}

/// Outputs that are at hand for `/show`; older ones are found in the store and in the record.
const SHOWN: usize = 256;

/// One conversation.
pub struct Conversation {
    /// The way to the face.
    pub events: Events,
    /// The model.
    pub model: Model,
    /// What the person set about models.
    pub preferences: Preferences,
    /// The person's own server, also while the demo model answers.
    pub client: Client,
    /// The record.
    pub record: ThreadRecord,
    /// The tools.
    pub registry: Registry,
    /// The tools' definitions as they are sent; none for a model that cannot call them.
    pub tools: Option<Tools>,
    /// What a guided model wrote, for the history.
    pub raw: RawReplies,
    /// The audit.
    pub audit: AuditLog,
    /// How many tokens a request has.
    pub estimator: Estimator,
    /// The last request the server counted whole.
    pub counted: Option<Counted>,
    /// What was learned of models' tokens in earlier conversations.
    pub ratios: Ratios,
    /// How fast the model's server reads.
    pub speed: Speed,
    /// How long is waited for what.
    pub waits: Waits,
    /// The marks condensing works by.
    pub target: Target,
    /// Whether room was made for the turn under way, or since the last one: said with its replies.
    pub condensed: bool,
    /// The turn in which the floor was said last.
    pub floor_said: Option<u64>,
    /// Where it is saved, when it is.
    pub thread: Option<Thread>,
    /// How many conversations this audit session has had, this one included.
    pub conversations: u32,
    /// The request composed last, for whoever looks while a turn runs.
    pub looked: watch::Sender<Option<ContextView>>,
    /// Where wisp's files are.
    pub paths: Paths,
    /// The configuration.
    pub config: Config,
    /// The environment.
    pub env: Env,
    /// The working directory.
    pub directory: PathBuf,
    /// What is at hand to be shown again, in order.
    pub shown: Printed,
    /// The last lines the person typed.
    pub typed: History,
    /// Turns of the conversations before the last `/new`, so that a turn's number is never used twice in a session.
    pub turns_before: u64,
    /// Whether what the next message names with `@` is in it already: of one with piped input, only the user's words count.
    pub mentions_read: bool,
    /// What goes with messages beside their text.
    pub beside: Beside,
    /// The demo server, while it is what answers.
    pub demo: Option<ollama_sim::Server>,
    /// What masks the secrets in all that is written.
    pub secrets: Secrets,
    /// What the command line asked of it.
    pub terms: Terms,
    /// The user's instructions that are followed.
    pub agents: AgentsFiles,
    /// The work beside the turns.
    pub jobs: Jobs,
    /// The MCP servers.
    pub foreign: Foreign,
}

/// What goes with messages beside their text.
#[derive(Debug, Default)]
pub struct Beside {
    /// What the model is told with the next message, once: that the directory is another than before.
    pub notice: Option<String>,
    /// What the model goes on with, by the word of a hook at a turn's end.
    pub go_on: Option<String>,
    /// Whether the turn under way is one that a hook asked for.
    pub continuing: bool,
    /// What the user wrote of the message that is being sent, before anything was put below it.
    pub own: Option<String>,
    /// The images of the messages of this session.
    pub images: Vec<Image>,
}

/// What the command line asks of a conversation, for as long as it lasts.
#[derive(Clone)]
pub struct Terms {
    /// Which front end: `chat`, `respond`, `tui`.
    pub face: &'static str,
    /// The most requests of one turn.
    pub max_steps: u32,
    /// The form that the last reply of a turn must have.
    pub form: Option<Form>,
    /// Whether what would be asked about is allowed.
    pub yes: bool,
}

impl Conversation {
    /// Records an event of a turn.
    pub fn record_event(&self, turn: u64, kind: Kind, details: Value) -> Result<String, AuditError> {
        self.audit
            .append(Event::new(kind, details).in_turn(turn))
            .map(wisp_audit::EventId::into_string)
    }

    /// Records an event of a turn and makes the stamp of the entry it holds.
    pub fn stamped(&self, turn: u64, kind: Kind, details: Value) -> Result<Stamp, AuditError> {
        let id = self.record_event(turn, kind, details)?;
        Ok(self.stamp().from(id))
    }

    /// A stamp of now that names no event.
    pub fn stamp(&self) -> Stamp {
        let now = self.registry.services().clock.now();
        let offset = jiff::tz::TimeZone::system().to_offset(now).seconds();
        Stamp::at(Time {
            millis: now.as_millisecond(),
            offset,
        })
    }

    /// The number of the last turn, from 1; 0 before the first.
    pub fn turn_number(&self) -> u64 {
        self.turns_before + u64::from(self.record.turn_count())
    }

    /// Begins an empty conversation over the same instructions; the audit session and the outputs stay.
    pub fn start_over(&mut self) {
        self.turns_before = self.turn_number();
        self.record = self.record.renewed(self.stamp());
        self.record.set_boundary(crate::open::boundary());
        self.record.in_session(self.audit.session().as_str());
        self.estimator.forget_report();
        self.counted = None;
        self.looked.send_replace(None);
        self.save_elsewhere();
    }

    /// The server the person's models are on: not the demo's own.
    pub fn server(&self) -> Client {
        self.client.clone()
    }

    /// Goes on with another model. The record stays; what is known of requests starts anew.
    pub fn set_model(&mut self, model: Model) {
        if model.window.tokens > self.model.window.tokens
            && let Ok(whole) = self.whole_record().map(std::borrow::Cow::into_owned)
        {
            self.record.list_again(&whole);
        }
        self.registry.services().budget.set_window(model.window.tokens);
        self.ratios.keep(&self.model.name, &self.estimator);
        self.estimator = self.ratios.estimator(&model.name);
        self.counted = None;
        self.model = model;
        self.speed = self.model.speed();
        self.fit_to_model();
    }

    /// Gives the conversation the tools, the instructions and the bound of outputs that its model works with.
    pub fn fit_to_model(&mut self) {
        self.set_tools();
        self.instruct();
        self.bound_outputs();
    }

    /// Bounds outputs by what the server reads in the time that one may cost.
    pub fn bound_outputs(&self) {
        let seconds = self.config.output_read_seconds();
        let read = seconds.and_then(|seconds| self.speed.bytes_in(seconds, self.estimator.ratio()));
        self.registry.services().budget.set_read(read);
    }

    /// What pressure is measured with.
    pub fn gauge(&self) -> Gauge<'_> {
        Gauge {
            estimator: &self.estimator,
            window: Some(self.model.window.tokens),
            target: self.target,
        }
    }

    /// The share of the window that the next request would start with.
    pub fn used(&self) -> f64 {
        let tokens = self.estimator.estimate(self.record.compose().bytes()).tokens;
        #[expect(
            clippy::cast_precision_loss,
            reason = "tokens and windows stay far below 2^53"
        )]
        let share = tokens as f64 / self.model.window.tokens.max(1) as f64;
        share
    }

    /// Serialises the tools' definitions, after the tools or the model have changed.
    pub fn set_tools(&mut self) {
        self.registry.offer_set(self.model.set == ToolSet::Lean);
        let offered = self.model.tools && !self.registry.names().is_empty();
        // A custom tool's texts may quote anything; a mark within a text leaves the JSON as it is.
        let definitions =
            offered.then(|| wisp_template_tokens::inert(&self.registry.definitions()).into_owned());
        // A guided request has a schema in their place, which the prompt does not show.
        let sent = definitions.as_ref().filter(|_| !self.model.is_guided());
        self.estimator.set_tool_bytes(sent.map_or(0, |d| d.len() as u64));
        self.tools = definitions.and_then(|d| Tools::from_json(&d).ok());
    }

    /// Notes an output of a typed command or a tool, the oldest making room.
    pub fn note_shown(&mut self, shown: Shown) {
        self.shown.push(shown, SHOWN);
    }

    /// Notes an output so that `/show` and `/last` find it. A page that `memory` read of another output is none.
    pub fn remember(&mut self, finished: &Finished) {
        let pending = &finished.pending;
        if pending.tool == wisp_tools::MEMORY {
            return;
        }
        let admitted = &pending.admitted;
        let shown = Shown {
            id: pending.call.clone(),
            title: format!("{} {}", pending.tool, pending.arguments)
                .trim_end()
                .to_owned(),
            text: admitted.shown.clone(),
            // Of what was printed, as everywhere: a command's frames are wisp's own.
            bytes: admitted.printed.0,
            lines: admitted.printed.1,
            out_lines: admitted.out_lines,
            held: held(admitted),
            kept: admitted.kept.is_some(),
            not_kept: admitted.not_kept.clone(),
        };
        self.note_shown(shown);
    }

    /// What a face is sent of an output.
    pub fn summary(&self, admitted: &wisp_tools::Admitted, id: &str) -> OutputSummary {
        OutputSummary {
            id: id.to_owned(),
            text: admitted.beginning.clone(),
            lines: admitted.printed.1,
            bytes: admitted.printed.0,
            truncated: admitted.printed.0 > admitted.beginning.len() as u64,
            excerpt: admitted.excerpt.iter().map(stretch).collect(),
            held: held(admitted),
            stored: admitted.kept.is_some(),
            difference: None,
        }
    }

    /// Records that the conversation ends.
    pub fn close(&mut self, reason: &str) {
        let details = json!({"reason": reason, "turns": self.record.turn_count()});
        // Nothing can be done at the end about an audit that cannot be written; it was said when it began.
        let _ = self.audit.append(Event::new(Kind::SessionEnd, details));
        let _ = self.audit.sync();
    }
}

/// A stretch of an output as the protocol has it.
fn stretch(excerpt: &wisp_tools::Excerpt) -> Stretch {
    Stretch {
        from_line: excerpt.first,
        text: excerpt.text.clone(),
    }
}

/// The held-back ranges as the protocol has them.
fn held(admitted: &wisp_tools::Admitted) -> Vec<HeldRange> {
    let range = |h: &wisp_tools::HeldRange| HeldRange {
        from_line: h.from_line,
        to_line: h.to_line,
        bytes: h.bytes,
    };
    admitted.held.iter().map(range).collect()
}
