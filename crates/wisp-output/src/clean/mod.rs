//! The clean view of raw bytes, line by line: what a model reads and what a person's terminal is given.
//!
//! Outputs are stored as the tool produced them and cleaned when they are shown. A line of the raw bytes is always
//! a line of the view, so that a line number means the same in both: no escape sequence, however broken, may
//! swallow a newline, and nothing in a line adds one.

mod binary;
mod cleaner;
mod glyph;
mod lines;

pub use binary::is_binary;
pub use cleaner::Cleaner;
pub(crate) use cleaner::incomplete_suffix;
pub use lines::{CleanLines, Line, PIECE, Part};

use std::borrow::Cow;

/// The longest word that is not cut in two, in bytes: longer than any key or token, so that no cut leaves a part of one
/// that nothing recognises.
const WORD: usize = 512;

/// Whether a byte can be in the middle of a key, a token or a name.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./+=~".contains(&byte)
}

/// Where to cut `line` at or before byte `at` so that no word is cut in two: `at` itself where none is, or where the word
/// is longer than 512 bytes or begins in the first half.
///
/// ```
/// assert_eq!(wisp_output::clean::word_start(b"say the key k-1234", 16), 12);
/// ```
pub fn word_start(line: &[u8], at: usize) -> usize {
    if at == 0 || at >= line.len() || !in_word(line[at]) {
        return at;
    }
    let word = line[..at]
        .iter()
        .rev()
        .take(WORD)
        .take_while(|byte| in_word(**byte))
        .count();
    if word == WORD || word > at / 2 {
        at
    } else {
        at - word
    }
}

/// The same at or after byte `at`: what follows begins with a whole word.
pub(crate) fn word_end(line: &[u8], at: usize) -> usize {
    if at == 0 || at >= line.len() || !in_word(line[at - 1]) {
        return at;
    }
    let word = line[at..]
        .iter()
        .take(WORD)
        .take_while(|byte| in_word(**byte))
        .count();
    if word == WORD || word > (line.len() - at) / 2 {
        at
    } else {
        at + word
    }
}

/// For whom a line is cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// No colour and no escape sequence at all: for the model, for filters, for files.
    #[default]
    Plain,
    /// SGR colour sequences stay, closed at the end of the line; the terminal's own safe pass comes after.
    Colour,
}

/// Cleans one line, given without its newline. Borrows when nothing has to change.
pub fn line(raw: &[u8], view: View) -> Cow<'_, str> {
    let body = raw.strip_suffix(b"\r").unwrap_or(raw);
    match std::str::from_utf8(body) {
        Ok(text) if glyph::is_plain(text) => Cow::Borrowed(text),
        _ => {
            let mut cleaner = Cleaner::with_room(view, raw.len().min(PIECE));
            cleaner.feed(raw);
            Cow::Owned(cleaner.finish())
        }
    }
}

/// Whether a text of many lines is its own clean view.
pub(crate) fn is_plain_text(text: &str) -> bool {
    glyph::is_plain_but_for(text, b'\n')
}

/// Cleans a whole text held in memory; its newlines, and whether it ends with one, stay.
pub fn text(raw: &[u8], view: View) -> String {
    let mut cleaned = String::with_capacity(raw.len());
    for (at, part) in raw.split(|byte| *byte == b'\n').enumerate() {
        if at > 0 {
            cleaned.push('\n');
        }
        cleaned.push_str(&line(part, view));
    }
    cleaned
}
