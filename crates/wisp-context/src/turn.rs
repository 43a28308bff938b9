//! A turn of the record: a prompt and everything up to the next prompt.

use serde::{Deserialize, Serialize};

use crate::entry::{EntryId, Revision};
use crate::stamp::Time;

/// How a turn came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model replied.
    Completed,
    /// The person stopped it.
    Interrupted,
    /// It failed, with the reason in the words the person was given.
    Failed(String),
}

/// What the record knows of a turn beside its entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number, from 1, never used twice.
    pub number: u32,
    /// Its first entry: the first command typed before it, else its prompt.
    pub first: EntryId,
    /// Its prompt.
    pub prompt: EntryId,
    /// When it began.
    pub began: Time,
    /// Set once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The revision at which it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Revision>,
    /// The revision each of its requests was composed at, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Revision>,
    /// Bytes of its prompt and of the commands typed before it.
    pub asked: u64,
    /// How many lines of the prompt the user wrote, where wisp put something below them; none when all of it is theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_lines: Option<u32>,
    /// Bytes of its calls, its outputs as shown and its reply: what it grew by.
    pub grown: u64,
}
