//! From an output and a budget to the text a model is shown: whole when it fits, else its head and its tail, a
//! marker where the rest lay and a note that says exactly what the rest is.
//!
//! Three promises hold to the byte. The text with its markers and note is never longer than the budget. A cut
//! lies at a line's end unless one line alone is too long, and never inside a character. And every number in
//! marker and note is one that can be counted in the stored file.

mod ends;
mod note;
mod room;
mod whole;

pub use note::{Cut, FirstError, Keeping, QUOTE, Signals};

use std::io;
use std::ops::Range;

use crate::content::{Content, Section};

/// A stretch of an output that the model was not shown, by its place in the stored whole.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBack {
    /// The stream it is part of, for a command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub section: Option<String>,
    /// Its first byte in the whole.
    pub from: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The first line of which something is held back, from 1.
    pub from_line: u64,
    /// The last such line.
    pub to_line: u64,
    /// Lines of the streams before its own, by which the stream's own numbers are smaller.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub before: u64,
    /// When it lies inside one line: its bytes within that line, from 1, both included.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub within: Option<(u64, u64)>,
    /// Whether it was held back for being no text.
    #[serde(default)]
    pub binary: bool,
    /// Where the marker that stands for it begins in the shown text, in bytes.
    pub marker_at: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl HeldBack {
    /// How many lines it touches.
    pub fn lines(&self) -> u64 {
        self.to_line - self.from_line + 1
    }

    /// The bytes of the whole that are held back.
    pub fn range(&self) -> Range<u64> {
        self.from..self.from + self.bytes
    }
}

/// What a model is shown of an output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitted {
    /// The text, never longer than the budget.
    pub text: String,
    /// What it leaves out, in order; empty when it is whole.
    pub held: Vec<HeldBack>,
    /// Bytes of the note at its end.
    pub note: usize,
}

impl Fitted {
    /// Whether nothing is held back.
    pub fn is_whole(&self) -> bool {
        self.held.is_empty()
    }
}

/// What there is to fit: the whole, where its streams are, how many lines it has.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    /// The bytes as stored.
    pub content: &'a dyn Content,
    /// The streams in it; a tool's plain text is one section without a name.
    pub sections: &'a [Section],
    /// How many lines its sections have.
    pub lines: u64,
}

/// What the note at the end can say.
#[derive(Debug, Clone, Default)]
pub struct Telling {
    /// Where the rest is, or why it is nowhere.
    pub keeping: Keeping,
    /// What is known exactly about the content.
    pub signals: Signals,
    /// Whether the conversation has the `memory` tool.
    pub memory: bool,
    /// Whether the output is a command's, which must not be started again to see it.
    pub command: bool,
}

/// Fits `whole` into `budget` bytes. Errors are those of reading the content.
pub fn fit(whole: Whole<'_>, budget: usize, telling: &Telling) -> io::Result<Fitted> {
    if let Some(text) = whole::cleaned(whole, budget)? {
        return Ok(Fitted {
            text,
            ..Fitted::default()
        });
    }
    reduced(whole, budget, telling)
}

/// The note on `held`, one line without a newline, for a result that is bounded by its tool: what is held back, where
/// the whole is, and the ways to it.
pub fn note_on(held: &[HeldBack], telling: &Telling) -> String {
    note::note(held, telling, note::Tier::Plain)
}

/// Fits an output that [`shown_whole`] has found not to fit.
pub(crate) fn reduced(whole: Whole<'_>, budget: usize, telling: &Telling) -> io::Result<Fitted> {
    room::reduced(whole, budget, telling)
}

/// The text of `whole` when it fits `budget` as it is; `None` when something has to be held back, or is missing.
pub fn shown_whole(whole: Whole<'_>, budget: usize) -> io::Result<Option<String>> {
    whole::cleaned(whole, budget)
}
