//! One item of a conversation's record, and what may be said of it afterwards.
//!
//! What an entry holds never changes. What is added to it later is marks: that a condensation dropped it, that it
//! is sent as a reference, that stretches of it are cut. Each mark carries the [`Revision`] at which it came into
//! force, so the record can be read as it stood at any earlier request.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::message::ToolCall;
use crate::output::{Output, Reference};
use crate::stamp::Time;
use crate::text::Text;

/// A count of the record's changes. A mark is in force in a view when its revision is at or below the view's.
pub type Revision = u64;

/// The stable number of an entry, from 1: the "entry N" that the model, the person and every view use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub u32);

impl EntryId {
    /// Its place in the record's list.
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX).wrapping_sub(1)
    }

    /// The number of the entry at `index` of the record's list.
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where an entry came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A turn of this session.
    Turn,
    /// Came in with the instructions, before any turn.
    Carried,
    /// A turn of the session that saved the record.
    Resumed,
}

/// That a condensation dropped an entry from what the model sees. The record keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The turn during which it was dropped (`droppedAt`); the turn before when it was dropped between turns.
    pub turn: u32,
    /// Id of the `context.condensation` event.
    pub event: Text,
    /// From which revision on.
    pub revision: Revision,
}

/// A stretch of a reply that copies an output exactly and is left out of later requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// First byte of the stretch in the reply.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// The output it copies.
    pub output: EntryId,
    /// That output's tool.
    pub tool: Text,
    /// Words in the stretch, at least [`crate::cut::LEAST_WORDS`].
    pub words: u32,
}

impl Cut {
    /// What a later request carries in its place.
    pub fn marker(&self) -> String {
        format!(
            "(showed the person the {} output, entry {})",
            self.tool, self.output
        )
    }
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// The system message, the same bytes for the whole conversation.
    Instructions {
        /// Its text.
        text: Text,
    },
    /// What the person asked.
    Prompt {
        /// As typed.
        text: Text,
    },
    /// What the model thought before the entry that follows.
    Thinking {
        /// As received.
        text: Text,
    },
    /// An assistant message that makes calls.
    Calls {
        /// The text beside the calls, possibly empty.
        text: Text,
        /// The calls, in the order made.
        calls: Box<[ToolCall]>,
    },
    /// What one call returned.
    Output(Box<Output>),
    /// A reply.
    Reply {
        /// All of it; cuts leave it whole.
        text: Text,
        /// Whether it stopped before the model was done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
        /// Its cuts, in order and apart from each other.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cuts: Vec<Cut>,
        /// From which revision on the cuts are in force.
        #[serde(default, skip_serializing_if = "is_zero")]
        cut_revision: Revision,
    },
    /// A command the person ran themselves.
    Command {
        /// The command line.
        command: Text,
        /// The notice a request carries, decided when it was recorded.
        notice: Text,
        /// Everything it printed, as far as the caller gave it.
        output: Text,
        /// Id of the stored whole output, when there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Text>,
    },
    /// An entry of a damaged file that could not be read: its number stays taken.
    Lost,
    /// An entry of a kind that a later wisp writes: never sent, kept as it is for the wisp that knows it.
    #[serde(untagged)]
    Later(Later),
}

/// What an entry of an unknown kind holds: its fields, the kind's name among them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Later(Box<serde_json::Map<String, serde_json::Value>>);

impl Later {
    /// The names of the kinds that are known, as they are written.
    const KNOWN: [&'static str; 8] = [
        "instructions",
        "prompt",
        "thinking",
        "calls",
        "output",
        "reply",
        "command",
        "lost",
    ];

    /// The name of its kind.
    pub fn kind(&self) -> &str {
        self.0
            .get("kind")
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Later {
    /// Errors: it names no kind, or a known one, of which it is a damaged entry.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let later = Self(Box::new(serde_json::Map::deserialize(deserializer)?));
        if later.kind().is_empty() || Self::KNOWN.contains(&later.kind()) {
            return Err(serde::de::Error::custom(
                "an entry that lacks a field of its kind",
            ));
        }
        Ok(later)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(revision: &Revision) -> bool {
    *revision == 0
}

/// The kinds of entry, without what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the variant of `Content` of the same name")]
pub enum Kind {
    Instructions,
    Prompt,
    Thinking,
    Calls,
    Output,
    Reply,
    Command,
    Lost,
    Later,
}

impl Kind {
    /// The word views use for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Prompt => "prompt",
            Self::Thinking => "thinking",
            Self::Calls => "tool calls",
            Self::Output => "output",
            Self::Reply => "reply",
            Self::Command => "typed command",
            Self::Lost => "lost",
            Self::Later => "entry of a later kind",
        }
    }
}

/// One entry of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// The turn that produced it, from 1; 0 for what came before the first. A typed command belongs to the turn
    /// after it.
    pub turn: u32,
    /// Where it came from.
    pub origin: Origin,
    /// When it was recorded.
    pub time: Time,
    /// The audit events that hold its content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The change of the record that added it.
    pub revision: Revision,
    /// Set once a condensation dropped it; active otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<Dropped>,
    /// What it holds.
    #[serde(flatten)]
    pub content: Content,
}

impl Entry {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match &self.content {
            Content::Instructions { .. } => Kind::Instructions,
            Content::Prompt { .. } => Kind::Prompt,
            Content::Thinking { .. } => Kind::Thinking,
            Content::Calls { .. } => Kind::Calls,
            Content::Output(_) => Kind::Output,
            Content::Reply { .. } => Kind::Reply,
            Content::Command { .. } => Kind::Command,
            Content::Lost => Kind::Lost,
            Content::Later(_) => Kind::Later,
        }
    }

    /// The text it holds, whole: an output's as far as the record has it, a typed command's output.
    pub fn text(&self) -> &str {
        match &self.content {
            Content::Instructions { text }
            | Content::Prompt { text }
            | Content::Thinking { text }
            | Content::Calls { text, .. }
            | Content::Reply { text, .. } => text,
            Content::Output(output) => output.whole(),
            Content::Command { output, .. } => output,
            Content::Lost | Content::Later(_) => "",
        }
    }

    /// Its output, when it is one.
    pub fn output(&self) -> Option<&Output> {
        match &self.content {
            Content::Output(output) => Some(output),
            _ => None,
        }
    }

    /// The reference it is sent as, once it is.
    pub fn reference(&self) -> Option<&Reference> {
        self.output().and_then(|output| output.reference.as_ref())
    }

    /// Whether a condensation has left it in what the model sees.
    pub fn is_active(&self) -> bool {
        self.dropped.is_none()
    }
}
