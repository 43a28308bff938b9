//! What stands behind a call: the conversation's record, its model and its state, as far as a tool may look.
//!
//! All three belong to the agent. A tool sees them through the traits here, which ask for what is needed and no
//! more, so that no tool can change a record or send what the person did not ask for.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use wisp_output::streams::Counts;

/// What is wanted of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// One entry, by its number.
    Entry(u64),
    /// Every entry of a turn.
    Turn(u64),
    /// The task.
    Task,
    /// Entries that have these words.
    Words(String),
}

/// What the record gives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recalled {
    /// What it is, which turn and when, on one line.
    pub header: String,
    /// All of it, to be paged.
    pub text: String,
    /// The id of the stored whole, when part of an output was held back.
    pub kept: Option<String>,
    /// When it is one output of a command: bytes and lines of what it printed, and how many of the lines to stdout.
    pub printed: Option<(u64, Counts)>,
    /// How many entries it is made of.
    pub entries: usize,
}

/// The record of the conversation.
pub trait Recollection: Send + Sync {
    /// Brings back what is wanted, or says on one line why it cannot and what there is.
    fn recall(&self, wanted: &Wanted) -> Result<Recalled, String>;

    /// Whether the stored output `id` is one that this conversation, or what it was resumed from, was shown.
    fn keeps(&self, id: &str) -> bool;

    /// Keeps what follows the word `note`, and gives the line to answer with: `noted: …`, or `error: …`.
    fn note(&self, _text: &str) -> Result<String, String> {
        Err("error: this conversation takes no notes".to_owned())
    }

    /// Keeps what follows the word `task`, and gives the line to answer with: `noted: …`, or `error: …`.
    fn set_task(&self, _text: &str) -> Result<String, String> {
        Err("error: this conversation takes no notes".to_owned())
    }
}

/// A question to the conversation's model, by itself: no tools, none of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plain {
    /// What it is asked for, for the record: `condense output 3f9a2c1b, part 3 of 12`.
    pub purpose: String,
    /// What the model is to do.
    pub instructions: String,
    /// The question and what it is about.
    pub prompt: String,
    /// The most tokens of the answer.
    pub most_tokens: u64,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// The person stopped it.
    Stopped,
    /// The server or the model failed; why, in words.
    Failed(String),
}

/// A future of an answer.
pub type Answered<'a> = Pin<Box<dyn Future<Output = Result<String, NoAnswer>> + Send + 'a>>;

/// The conversation's model, for questions by themselves.
pub trait Model: Send + Sync {
    /// Asks and gives the answer's text.
    fn ask(&self, question: Plain, call: &str) -> Answered<'_>;
}

/// The state of the conversation, for `inspect`.
pub trait State: Send + Sync {
    /// The settings in force, secrets left out.
    fn config(&self) -> Value;
    /// Session, turn, model, window, tools.
    fn status(&self) -> Value;
}

/// What stands behind a call; each is absent where there is none, as for a command the person typed.
#[derive(Clone, Copy, Default)]
pub struct Behind<'a> {
    /// The record.
    pub record: Option<&'a dyn Recollection>,
    /// The model.
    pub model: Option<&'a dyn Model>,
    /// The state.
    pub state: Option<&'a dyn State>,
}
