//! A record as two files' bytes, and back.
//!
//! The *store* holds everything: one JSON object a line, a header first and an end last, so that a file damaged in
//! one place loses what stood there and nothing else. The *transcript* holds the active entries as one JSON
//! document, for other readers and as a second copy. Both carry the number of the save they belong to, so a pair
//! torn by a crash between two replacements is told, and the newer whole one is used.
//!
//! Loading never panics and never guesses in silence: it returns what it could read and says what it could not.

mod load;
mod masked;
mod past;
mod rebuild;
mod salvage;
mod seek;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocks::Version;
use crate::condense::Condensation;
use crate::entry::{Entry, Revision};
use crate::notes::{Note, Task};
use crate::record::{INSTRUCTIONS, LastUse, ThreadRecord};
use crate::text::Text;
use crate::turn::Turn;

pub use load::{LoadError, Loaded, Loss, SavedFile, load, load_with_past};
pub use masked::Masking;
use masked::{Mask, Written};
pub(crate) use past::Marks;
pub use seek::ReadAt;

/// The version of both files.
pub const VERSION: u64 = 1;

/// The bytes of the two files of a save; to be replaced together, the store first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// `<name>.json`.
    pub transcript: Vec<u8>,
    /// `<name>.store`.
    pub store: Vec<u8>,
    /// What `<name>.past` is to hold from byte `past_at` on, before the other two are put in place.
    pub past: Vec<u8>,
    /// Where it goes: what stands there and behind belongs to no complete save.
    pub past_at: u64,
    pub(crate) marks: Marks,
}

/// The first line of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    version: u64,
    /// Which save this is, from 1.
    save: u64,
    revision: Revision,
    /// The mark that outputs are sent between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boundary: Option<Text>,
    calls: u32,
    /// How many there are in all.
    entries: usize,
    /// How many of them are in the past.
    #[serde(default, skip_serializing_if = "is_zero_count")]
    away: usize,
    /// How many bytes of the past belong to this save.
    #[serde(default, skip_serializing_if = "is_zero")]
    past: u64,
    /// Bytes to a token, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ratios: BTreeMap<String, f64>,
    /// The audit sessions its entries name events of.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    sessions: BTreeSet<String>,
    /// With what the conversation was last held.
    #[serde(default)]
    last_use: LastUse,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero_count(count: &usize) -> bool {
    *count == 0
}

/// The transcript file.
#[derive(Debug, Serialize, Deserialize)]
struct Transcript<E = Entry> {
    version: u64,
    save: u64,
    entries: Vec<E>,
}

/// One line of a store.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Store(Header),
    Entry(Box<Entry>),
    Turn(Turn),
    Condensation(Condensation),
    Block(Version),
    Note(Note),
    Task(Task),
    /// The last line: how many stood before it.
    End(usize),
}

impl Line {
    /// What each line begins with, in the order of the variants.
    const OPENINGS: [&'static str; 8] = [
        "{\"store\":",
        "{\"entry\":",
        "{\"turn\":",
        "{\"condensation\":",
        "{\"block\":",
        "{\"note\":",
        "{\"task\":",
        "{\"end\":",
    ];
}

impl LastUse {
    /// Reads it from the first line of a store, without reading the rest; none when that is no such line.
    pub fn of_store(line: &[u8]) -> Option<Self> {
        match serde_json::from_slice(line).ok()? {
            Line::Store(header) => Some(header.last_use),
            _ => None,
        }
    }
}

impl ThreadRecord {
    /// The record as the bytes of its files, all that is in memory in the store. Each call is a new save, numbered one
    /// higher. A command typed while a turn is open is not recorded yet, and so is in the save after that turn.
    pub fn save(&mut self) -> Files {
        self.saved_with(Marks::default(), None)
    }

    /// The same with what has left the context handed to the past, which is where the next saves leave it. Not for
    /// the first save to a name: what stands in the past of that name belongs to another save until one without it
    /// is in place.
    pub fn save_apart(&mut self) -> Files {
        self.saved_with(self.marks(), None)
    }

    fn saved_with(&mut self, marks: Marks, mask: Mask<'_>) -> Files {
        self.saves += 1;
        let past = self.past_lines(&marks, mask);
        Files {
            transcript: self.transcript(mask),
            store: self.store(&marks, self.past + crate::message::size(past.len()), mask),
            past,
            past_at: self.past,
            marks,
        }
    }

    /// The ratio of bytes to a token learned for `model`, when one was.
    pub fn ratio(&self, model: &str) -> Option<f64> {
        self.ratios.get(model).copied()
    }

    /// Keeps the ratio learned for `model` with the record.
    pub fn set_ratio(&mut self, model: impl Into<String>, ratio: f64) {
        if ratio.is_finite() {
            self.ratios.insert(model.into(), ratio);
        }
    }

    fn transcript(&self, mask: Mask<'_>) -> Vec<u8> {
        let entries = self
            .entries
            .here()
            .iter()
            .filter(|entry| entry.is_active())
            .map(|entry| Written::of(entry, mask))
            .collect();
        let transcript = Transcript {
            version: VERSION,
            save: self.saves,
            entries,
        };
        let mut bytes = Vec::new();
        write(&mut bytes, &transcript);
        bytes
    }

    fn store(&self, marks: &Marks, past: u64, mask: Mask<'_>) -> Vec<u8> {
        let header = Header {
            version: VERSION,
            save: self.saves,
            revision: self.revision,
            boundary: self.boundary.clone(),
            calls: self.calls,
            entries: self.entries.len(),
            away: marks
                .entries
                .saturating_sub(INSTRUCTIONS)
                .max(self.entries.away()),
            past,
            ratios: self.ratios.clone(),
            sessions: self.sessions.clone(),
            last_use: self.last_use.clone(),
        };
        let mut out = Lines::default();
        out.add("store", [&header]);
        out.mask = mask;
        out.add("entry", self.entries.range(0..INSTRUCTIONS));
        let kept = marks.entries.max(INSTRUCTIONS)..self.entries.len();
        out.add("entry", self.entries.range(kept));
        out.add("turn", self.turns.range(marks.turns..self.turns.len()));
        let condensations = marks.condensations..self.condensations.len();
        out.add("condensation", self.condensations.range(condensations));
        out.add("block", &self.blocks.newer(marks.revision));
        let notes = self.notes.iter().skip_while(|note| note.turn <= marks.turn);
        out.add("note", notes);
        out.add("task", self.tasks.iter().skip(self.older_tasks(marks.turn)));
        self.later.iter().for_each(|line| out.add_as_found(line));
        let Lines { mut bytes, count, .. } = out;
        write(&mut bytes, &Line::End(count));
        bytes
    }
}

/// Lines as they are written, without being copied into a [`Line`] first.
#[derive(Default)]
struct Lines<'m> {
    bytes: Vec<u8>,
    count: usize,
    mask: Mask<'m>,
}

impl Lines<'_> {
    /// Adds a line for each item, by the name of its kind.
    fn add<'a, T: Serialize + 'a>(&mut self, name: &str, items: impl IntoIterator<Item = &'a T>) {
        for item in items {
            self.bytes.extend_from_slice(b"{\"");
            self.bytes.extend_from_slice(name.as_bytes());
            self.bytes.extend_from_slice(b"\":");
            write(&mut self.bytes, &Written::of(item, self.mask));
            let newline = self.bytes.pop();
            self.bytes.push(b'}');
            self.bytes.extend(newline);
            self.count += 1;
        }
    }

    /// Adds a line that a later wisp wrote, byte for byte but for the secrets in it.
    fn add_as_found(&mut self, line: &str) {
        let value: Option<Value> = serde_json::from_str(line).ok();
        let written = value.as_ref().map(|value| Written::of(value, self.mask));
        if let Some(masked @ Written::Masked(_)) = written {
            write(&mut self.bytes, &masked);
        } else {
            self.bytes.extend_from_slice(line.as_bytes());
            self.bytes.push(b'\n');
        }
        self.count += 1;
    }
}

/// Appends a value as JSON and a newline.
fn write(bytes: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(&mut *bytes, value).expect("every part of a record has a JSON form");
    bytes.write_all(b"\n").expect("a vector takes any bytes");
}

/// The version a JSON document says it has, whatever else it is.
fn version_of(value: &Value) -> Option<u64> {
    value.get("version").and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;
