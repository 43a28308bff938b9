//! Why a turn failed, and how that is told: what happened, and what the person can do.

use serde_json::json;
use wisp_audit::{AuditError, Kind};
use wisp_ollama::Error;
use wisp_output::amount::{counted, grouped};
use wisp_tools::NotRecorded;

use crate::conversation::Conversation;
use crate::model::failure::Failure;
use crate::protocol::NoteLevel;

/// Why a turn failed. What had arrived before is recorded.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The server or the model.
    #[error(transparent)]
    Model(#[from] Failure),
    /// The audit cannot be written.
    #[error("the audit cannot be written: {0}")]
    Audit(#[from] AuditError),
    /// A hook of the user's refused the message.
    #[error("your hook refused the message, so it was not sent: {0}")]
    Hook(String),
    /// A tool could not be recorded, so it did not run.
    #[error(transparent)]
    NotRecorded(#[from] NotRecorded),
    /// The turn made as many requests as it may.
    #[error("the turn was stopped after {}; say \"go on\" to let it continue", counted(u64::from(*.0), "request"))]
    TooManySteps(u32),
    /// The last reply does not satisfy the schema, also when the model was told why.
    #[error("the reply does not satisfy the schema, also when the model was told why: {0}")]
    NotInForm(String),
    /// The model said nothing, also when asked again.
    #[error("the model gave an empty reply, also when it was asked again{0}")]
    Empty(&'static str),
    /// The reply ended for its length before anything was said, also when the model was asked again.
    #[error(
        "the model's reply was cut at {} tokens before it said anything, also when it was asked again{how}",
        grouped(*limit)
    )]
    CutEmpty {
        /// The most tokens the reply could have.
        limit: u64,
        /// `: it only thought, and said nothing`, or nothing.
        how: &'static str,
    },
    /// The reply ended for its length inside a tool call each time.
    #[error("the model's reply was cut at {} tokens inside a tool call, also when it was asked again", grouped(*.0))]
    CutCall(u64),
    /// The model made the same call over and over.
    #[error("the turn was stopped: the model made the same {tool} call {times} times and did nothing new")]
    Repeated {
        /// The tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// The model runs on another machine, and the person did not agree to that.
    #[error("{model} does not run on this machine, so nothing more is sent to {host}")]
    Elsewhere {
        /// The model.
        model: String,
        /// Where it runs.
        host: String,
    },
    /// The server refused the request as too long, also after room was made.
    #[error("the request does not fit the model's context window: about {} of {} tokens", grouped(*tokens), grouped(*window))]
    Refused {
        /// Tokens of the request, as the server counted.
        tokens: u64,
        /// The window.
        window: u64,
        /// Whether it is the first turn.
        first: bool,
    },
    /// The request does not fit the window whatever is left out, as far as is known.
    #[error(
        "the request does not fit the model's context window: about {} of {} tokens by estimate",
        grouped(*tokens),
        grouped(*window)
    )]
    TooLong {
        /// Tokens of the request, as estimated.
        tokens: u64,
        /// The window.
        window: u64,
        /// Whether it is the first turn.
        first: bool,
    },
    /// The server cut the prompt without saying so, also after room was made.
    #[error(
        "the server read only {} of about {} tokens of the conversation, so its reply is not to be trusted",
        grouped(*counted),
        grouped(*estimated)
    )]
    SilentCut {
        /// Tokens it read.
        counted: u64,
        /// Tokens that were sent, by estimate.
        estimated: u64,
    },
}

impl TurnError {
    /// What the person can do, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Model(error) => error.hint(),
            Self::Audit(_) | Self::NotRecorded(_) => Some(
                "make room on the disk, or turn the audit off with: wisp config set audit.enabled false"
                    .to_owned(),
            ),
            Self::Empty(_) => {
                Some("ask again in other words, or choose another model with /model".to_owned())
            }
            Self::CutEmpty { .. } | Self::CutCall(_) => Some(
                "ask for less at once, make room with /new, or set a larger window with ollama.contextLength"
                    .to_owned(),
            ),
            Self::Repeated { .. } => {
                Some("ask in other words, or choose another model with /model".to_owned())
            }
            Self::Elsewhere { .. } => Some("choose a model that runs here with /model".to_owned()),
            Self::SilentCut { .. } => Some(
                "set a window that the server grants with ollama.contextLength, or update Ollama".to_owned(),
            ),
            // What a first message leaves no room for, a new conversation has no more room for.
            Self::Refused { first: true, .. } | Self::TooLong { first: true, .. } => Some(
                "shorten the message, put the text into a file and name the file, or set a larger window with \
                 ollama.contextLength"
                    .to_owned(),
            ),
            Self::Refused { .. } | Self::TooLong { .. } => Some(
                "shorten the message, start afresh with /new, or set a larger window with ollama.contextLength"
                    .to_owned(),
            ),
            Self::NotInForm(_) => {
                Some("simplify the schema, or choose another model with --model".to_owned())
            }
            Self::TooManySteps(_) | Self::Hook(_) => None,
        }
    }
}

impl Conversation {
    /// A failed exchange that is not tried again.
    pub(super) fn failed(&self, failure: Failure) -> TurnError {
        match failure {
            Failure::Server(Error::ContextOverflow {
                prompt_tokens: Some(tokens),
                window,
                ..
            }) => TurnError::Refused {
                tokens,
                window: window.unwrap_or(self.model.window.tokens),
                first: self.is_first_turn(),
            },
            Failure::Server(Error::ContextOverflow { .. }) => {
                self.too_long(self.estimator.estimate(self.record.compose().bytes()).tokens)
            }
            failure => TurnError::Model(failure),
        }
    }

    /// Tells the person and the audit that a turn failed.
    pub(super) fn report(&self, error: &TurnError, turn: u64) {
        let hint = error.hint();
        let details = json!({"message": error.to_string(), "context": "turn", "hint": hint});
        // When it is the audit itself that fails, the note below still says so.
        let _ = self.record_event(turn, Kind::Error, details);
        let text = hint.map_or_else(|| error.to_string(), |hint| format!("{error}\nhint: {hint}"));
        self.events.note(NoteLevel::Error, text);
    }
}
