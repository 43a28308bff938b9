//! Reading a store line by line, taking from a damaged line whatever is whole in it.

use serde_json::Value;

use super::load::{Loss, SavedFile};
use super::rebuild::Parts;
use super::{Line, version_of};

/// What a store held.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) parts: Parts,
    pub(super) losses: Vec<Loss>,
    /// The version its header names, readable or not.
    pub(super) header_version: Option<u64>,
    /// Bytes of the past that belong to the save, when its header could be read.
    pub(super) past: Option<u64>,
    /// It is whole JSON of some other shape: an older wisp's.
    foreign: bool,
    any: bool,
}

impl Read {
    /// Whether nothing of a record was found.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.entries.is_empty()
    }

    /// Whether it is a file of an older wisp rather than a damaged one.
    pub(super) fn looks_older(&self) -> bool {
        self.foreign && !self.any
    }

    fn take(&mut self, line: Line) {
        self.any = true;
        let parts = &mut self.parts;
        match line {
            Line::Store(header) => {
                self.header_version = Some(header.version);
                parts.save = header.save;
                parts.revision = header.revision;
                parts.boundary = header.boundary;
                parts.calls = header.calls;
                parts.expected = header.entries;
                parts.away = header.away;
                self.past = Some(header.past);
                parts.ratios = header.ratios;
                parts.sessions = header.sessions;
                parts.last_use = header.last_use;
            }
            Line::Entry(entry) => {
                parts.entries.entry(entry.id).or_insert(*entry);
            }
            Line::Turn(turn) => {
                parts.turns.entry(turn.number).or_insert(turn);
            }
            Line::Condensation(done) if !parts.condensations.contains(&done) => {
                parts.condensations.push(done);
            }
            Line::Block(version) if !parts.blocks.contains(&version) => {
                parts.blocks.push(version);
            }
            Line::Note(note) if !parts.notes.contains(&note) => parts.notes.push(note),
            Line::Task(task) if parts.tasks.last() != Some(&task) => parts.tasks.push(task),
            Line::Condensation(_) | Line::Block(_) | Line::Note(_) | Line::Task(_) => {}
            Line::End(_) => parts.ended = true,
        }
    }

    fn lose(&mut self, line: usize, records: usize, what: &str) {
        self.losses.push(Loss {
            file: SavedFile::Store,
            line,
            records,
            what: what.to_owned(),
        });
    }
}

/// Reads a store.
pub(super) fn read(bytes: &[u8]) -> Read {
    let mut read = read_lines(bytes);
    if read.any && !read.parts.ended {
        read.lose(
            bytes.split(|&byte| byte == b'\n').count(),
            0,
            "the file ends before its end line: what came after is lost",
        );
    }
    read
}

/// Reads a past, which has neither a header nor an end.
pub(super) fn read_past(bytes: &[u8]) -> Read {
    let mut read = read_lines(bytes);
    for loss in &mut read.losses {
        loss.file = SavedFile::Past;
    }
    read
}

fn read_lines(bytes: &[u8]) -> Read {
    let mut read = Read::default();
    let lines: Vec<&[u8]> = bytes.split(|&byte| byte == b'\n').collect();
    let mut skip = false;
    for (index, line) in lines.iter().enumerate() {
        if std::mem::take(&mut skip) || trimmed(line).is_empty() {
            continue;
        }
        let next = lines.get(index + 1).copied().unwrap_or_default();
        skip = read_line(&mut read, index + 1, line, next);
    }
    let nuls = lines
        .iter()
        .position(|line| !line.is_empty() && line.iter().all(|&byte| byte == 0));
    if let Some(index) = nuls {
        read.lose(index + 1, 0, "a run of NUL bytes");
    }
    read
}

/// Reads one line; true when it took the next one with it.
fn read_line(read: &mut Read, number: usize, line: &[u8], next: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    if text.contains('\u{fffd}') && std::str::from_utf8(line).is_err() {
        read.lose(number, 0, "bytes that are not UTF-8, read as U+FFFD");
    }
    let text = trimmed_text(&text);
    if let Ok(line) = serde_json::from_str::<Line>(text) {
        read.take(line);
        return false;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        other(read, number, text, &value);
        return false;
    }
    if !begins_line(next) {
        let whole = joined(text, next);
        if let Ok(line) = serde_json::from_str::<Line>(&whole) {
            read.take(line);
            read.lose(number, 0, "a line broken in two, joined again");
            return true;
        }
        // One record, and so one loss.
        if serde_json::from_str::<Value>(&whole).is_ok() {
            read.lose(
                number,
                1,
                "a line broken in two within a word that cannot hold a line's end",
            );
            return true;
        }
    }
    inside(read, number, text);
    false
}

/// A line that is JSON but none of ours: damage, or a record of a kind that a later wisp writes.
fn other(read: &mut Read, number: usize, text: &str, value: &Value) {
    if is_later(value) {
        if !read.parts.later.iter().any(|line| line == text) {
            read.parts.later.push(text.to_owned());
        }
        return;
    }
    let header = value.get("store").and_then(version_of);
    read.header_version = read.header_version.or(header);
    if header.is_none() && number == 1 {
        read.foreign = true;
    }
    read.lose(number, 1, "a line of another shape");
}

/// Whether a line is an object of one field, as every record is, of a name or a shape that only a later wisp writes.
/// The first and last line and an entry have to be as they are here, or nothing could be read by them.
fn is_later(value: &Value) -> bool {
    let Some(record) = value.as_object().filter(|record| record.len() == 1) else {
        return false;
    };
    let name = record.keys().next().map(String::as_str);
    !matches!(name, None | Some("store" | "entry" | "end"))
}

/// Takes a whole line from within a broken one: two lines fused, of which the second is whole.
fn inside(read: &mut Read, number: usize, text: &str) {
    let openings = Line::OPENINGS
        .iter()
        .flat_map(|opening| text.match_indices(opening));
    let whole = openings
        .filter(|(at, _)| *at > 0)
        .find_map(|(at, _)| serde_json::from_str(&text[at..]).ok());
    match whole {
        Some(line) => {
            read.take(line);
            read.lose(number, 1, "two lines run together, of which the second was read");
        }
        None => read.lose(number, 1, "not a whole line"),
    }
}

/// Two lines as the one they were, with the line's end escaped as it should have been.
fn joined(line: &str, next: &[u8]) -> String {
    format!("{line}\\n{}", trimmed_text(&String::from_utf8_lossy(next)))
}

fn begins_line(line: &[u8]) -> bool {
    Line::OPENINGS
        .iter()
        .any(|opening| line.starts_with(opening.as_bytes()))
}

fn trimmed(line: &[u8]) -> &[u8] {
    let start = line
        .iter()
        .position(|&byte| byte != 0 && !byte.is_ascii_whitespace());
    start.map_or(&[], |start| &line[start..])
}

fn trimmed_text(text: &str) -> &str {
    text.trim_matches(|letter| matches!(letter, '\0' | '\r' | ' '))
}
