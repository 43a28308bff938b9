//! An event as a caller hands it in, and as it stands in the file.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Kind;

/// The version of the envelope.
pub const SCHEMA: u32 = 1;

/// An event's id: 16 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(String);

impl EventId {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The digits, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<String> for EventId {
    fn from(digits: String) -> Self {
        Self(digits)
    }
}

impl From<&str> for EventId {
    fn from(digits: &str) -> Self {
        Self(digits.to_owned())
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What happened, before the log gives it an id, a place and a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// The turn it belongs to, from 1; `None` before the first prompt.
    pub turn: Option<u64>,
    /// The call id that pairs a tool's call, its outcome and its result.
    pub call: Option<&'a str>,
    /// What it is about.
    pub kind: Kind,
    /// The kind's fields, an object.
    pub details: Value,
}

impl<'a> Event<'a> {
    /// An event outside any turn and call.
    pub fn new(kind: Kind, details: Value) -> Self {
        let (turn, call) = (None, None);
        Self {
            turn,
            call,
            kind,
            details,
        }
    }

    /// The same event, in a turn.
    #[must_use]
    pub fn in_turn(self, turn: u64) -> Self {
        let turn = Some(turn);
        Self { turn, ..self }
    }

    /// The same event, belonging to a call.
    #[must_use]
    pub fn of_call(self, call: &'a str) -> Self {
        let call = Some(call);
        Self { call, ..self }
    }
}

/// One event as it stands in the file: the envelope, in the order it is written, and the details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the envelope, [`SCHEMA`].
    pub schema: u32,
    /// The event's id.
    pub id: EventId,
    /// Its number in the file, from 1, without a gap.
    pub seq: u64,
    /// When it was written, UTC, to the millisecond.
    #[serde(with = "millis")]
    pub time: Timestamp,
    /// The wisp that wrote it.
    pub version: String,
    /// The process that wrote it.
    pub pid: u32,
    /// The audit session, which is also the file's name.
    pub session: String,
    /// The turn, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The call it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The kind's name, also one that this version does not know.
    pub kind: String,
    /// The kind's fields, every secret in them replaced by a marker.
    pub details: Value,
    /// How many secrets were replaced.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub masked: u64,
    /// SHA-256 of the line before, without its newline, as 64 hex digits; in the first event, of the session's name.
    pub prev: String,
}

impl Record {
    /// The kind; `None` for one this version does not know.
    pub fn known(&self) -> Option<Kind> {
        Kind::named(&self.kind)
    }

    /// A text field of the details.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.details.get(field)?.as_str()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Times as RFC 3339 with exactly three decimals.
mod millis {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{time:.3}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}
