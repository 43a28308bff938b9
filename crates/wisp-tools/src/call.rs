//! What a call may reach: the conversation's services, the gate, the person, and the way to be stopped.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use wisp_audit::{AuditError, AuditLog, Event, EventId, Kind};
use wisp_exec::Cancel;
use wisp_host::{Clock, Env, IdSource};
use wisp_output::{Store, ToolBudget};

use crate::behind::Behind;
use crate::confine::Confining;
use crate::files::seen::Seen;
use crate::files::undo::Edits;
use crate::gate::{Answer, Gatekeeper, Question};
use crate::jobs::Jobs;

/// Where a conversation's outputs are kept.
#[derive(Debug, Clone)]
pub enum Keep {
    /// In this store.
    In(Store),
    /// Nowhere, and why in words: `the audit is off`.
    Nowhere(String),
}

/// The options of the tools, as the configuration sets them.
#[derive(Debug, Clone)]
pub struct ToolOptions {
    /// How long a command may run; none for as long as it likes.
    pub command_timeout: Option<Duration>,
    /// The most bytes kept of one output.
    pub output_ceiling: u64,
    /// Lines of an output the user is shown unasked.
    pub shown_lines: usize,
}

/// What all tools of a conversation share.
pub struct Services {
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// New identifiers.
    pub ids: Arc<dyn IdSource>,
    /// Where every step is recorded.
    pub audit: AuditLog,
    /// Where outputs are kept.
    pub keep: Keep,
    /// How much a result may have.
    pub budget: ToolBudget,
    /// The conversation's working directory, absolute.
    pub directory: PathBuf,
    /// Where wisp keeps its own files, which tools may not change.
    pub home: PathBuf,
    /// The environment wisp was started with.
    pub env: Env,
    /// The configuration's options.
    pub options: ToolOptions,
    /// The sandbox of commands.
    pub confining: Confining,
}

impl Services {
    /// An absolute path for what a model named: `~` is the person's home, a relative one lies in the directory.
    pub fn path(&self, named: &str) -> PathBuf {
        let home = self.env.get("HOME").map(Path::new);
        match (named.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if named == "~" => home.unwrap_or(Path::new("/")).to_owned(),
            _ => self.directory.join(named),
        }
    }
}

/// A future that answers a question.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<Answer>> + Send + 'a>>;

/// A future of what the person chose.
pub type Choosing<'a> = Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>>;

/// The person, as far as tools can reach them.
pub trait Person: Send + Sync {
    /// Asks for leave; none when there is nobody to ask or no answer came in time.
    fn ask(&self, question: Question) -> Answering<'_>;
    /// Says what is being done, for the working line.
    fn doing(&self, what: &str);
    /// Shows the last lines of what a command has printed so far.
    fn printed(&self, _lines: Vec<String>) {}
    /// Lets the person choose, or answer freely when there are no choices; none when they leave it, when nobody can
    /// be asked, or when no answer came in time.
    fn choose(&self, _question: &str, _choices: Vec<String>) -> Choosing<'_> {
        Box::pin(async { None })
    }
    /// Shows a notification, or says why it cannot be shown.
    fn notify(&self, _title: &str, _message: &str) -> Result<(), String> {
        Err("this front end shows none".to_owned())
    }
}

/// Where a call stands: its turn, who can be asked, what stops it.
pub struct Scene<'a> {
    /// The turn, from 1.
    pub turn: u64,
    /// Whom to ask.
    pub person: &'a dyn Person,
    /// Pressed when the turn is stopped.
    pub cancel: &'a Cancel,
    /// The record, the model and the state, where a tool may look at them.
    pub behind: Behind<'a>,
}

/// One call under way.
pub struct Call<'a> {
    /// Its id, 16 hex digits, under which it is audited and its output kept.
    pub id: &'a str,
    /// What the tools share.
    pub services: &'a Services,
    /// What decides whether a command may run.
    pub gate: &'a mut Gatekeeper,
    /// How the files stood that the conversation has read and written.
    pub seen: &'a mut Seen,
    /// The commands that run in the background.
    pub(crate) jobs: &'a mut Jobs,
    /// What edits replaced.
    pub edits: &'a mut Edits,
    /// Where it stands.
    pub scene: &'a Scene<'a>,
}

impl Call<'_> {
    /// Records a step of this call.
    pub fn audit(&self, kind: Kind, details: Value) -> Result<EventId, AuditError> {
        self.services.audit.append(
            Event::new(kind, details)
                .in_turn(self.scene.turn)
                .of_call(self.id),
        )
    }

    /// The most bytes this call's result may have.
    pub fn budget(&self) -> usize {
        self.services.budget.bytes()
    }
}
