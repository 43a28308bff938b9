//! A record as two files' bytes, and back.
//!
//! The *store* holds everything: one JSON object a line, a header first and an end last, so that a file damaged in
//! one place loses what stood there and nothing else. The *transcript* holds the active entries as one JSON
//! document, for other readers and as a second copy. Both carry the number of the save they belong to, so a pair
//! torn by a crash between two replacements is told, and the newer whole one is used.
//!
//! Loading never panics and never guesses in silence: it returns what it could read and says what it could not.

mod load;
mod rebuild;
mod salvage;

use std::collections::BTreeMap;
use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocks::Version;
use crate::condense::Condensation;
use crate::entry::{Entry, Revision};
use crate::notes::{Note, Task};
use crate::record::ThreadRecord;
use crate::turn::Turn;

pub use load::{LoadError, Loaded, Loss, load};

/// The version of both files.
pub const VERSION: u64 = 1;

/// The bytes of the two files of a save; to be replaced together, the store first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// `<name>.json`.
    pub transcript: Vec<u8>,
    /// `<name>.store`.
    pub store: Vec<u8>,
}

/// The first line of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    version: u64,
    /// Which save this is, from 1.
    save: u64,
    revision: Revision,
    calls: u32,
    entries: usize,
    /// Bytes to a token, by model.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    ratios: BTreeMap<String, f64>,
}

/// The transcript file.
#[derive(Debug, Serialize, Deserialize)]
struct Transcript {
    version: u64,
    save: u64,
    entries: Vec<Entry>,
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

impl ThreadRecord {
    /// The record as the bytes of its two files. Each call is a new save, numbered one higher. A command typed while
    /// a turn is open is not recorded yet, and so is in the save after that turn.
    pub fn save(&mut self) -> Files {
        self.saves += 1;
        Files {
            transcript: self.transcript(),
            store: self.store(),
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

    fn transcript(&self) -> Vec<u8> {
        let entries = self
            .entries
            .iter()
            .filter(|entry| entry.is_active())
            .cloned()
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

    fn store(&self) -> Vec<u8> {
        let header = Header {
            version: VERSION,
            save: self.saves,
            revision: self.revision,
            calls: self.calls,
            entries: self.entries.len(),
            ratios: self.ratios.clone(),
        };
        let mut bytes = Vec::new();
        let mut lines = 0;
        let mut add = |line: &dyn ErasedLine| {
            line.write(&mut bytes);
            lines += 1;
        };
        add(&Named("store", &header));
        self.entries.iter().for_each(|entry| add(&Named("entry", entry)));
        self.turns.iter().for_each(|turn| add(&Named("turn", turn)));
        self.condensations
            .iter()
            .for_each(|done| add(&Named("condensation", done)));
        self.blocks
            .versions()
            .for_each(|version| add(&Named("block", &version)));
        self.notes.iter().for_each(|note| add(&Named("note", note)));
        self.tasks.iter().for_each(|task| add(&Named("task", task)));
        write(&mut bytes, &Line::End(lines));
        bytes
    }
}

/// A line by its name, written without being copied into a [`Line`].
struct Named<'a, T>(&'static str, &'a T);

trait ErasedLine {
    fn write(&self, bytes: &mut Vec<u8>);
}

impl<T: Serialize> ErasedLine for Named<'_, T> {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"{\"");
        bytes.extend_from_slice(self.0.as_bytes());
        bytes.extend_from_slice(b"\":");
        write(bytes, self.1);
        let newline = bytes.pop();
        bytes.push(b'}');
        bytes.extend(newline);
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
