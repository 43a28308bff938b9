//! Reading a stored output back: filtered first, then a budget at a time, every line numbered as in the whole.
//!
//! A page says what it shows and, when there is more, ends with the request for the next page, which repeats the
//! filter. A line too long for a page is paged by its bytes. Matching reads the clean view of a line, so that a
//! colour code inside a word hides nothing; the stored bytes stay what they were.

mod long_line;
mod matching;
mod page;
mod window;

pub use matching::{Hit, Matcher, Matches, PatternError};

use std::io;

use crate::amount::{counted, grouped};
use crate::content::{Content, Section};
use crate::streams;

/// Which lines of an output are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Filter {
    /// Every line.
    #[default]
    All,
    /// Lines that match a regular expression, in any case.
    Matching(String),
    /// Lines from the first to the second, both included, from 1.
    Lines(u64, u64),
    /// The first so many lines.
    Head(u64),
    /// The last so many lines.
    Tail(u64),
}

/// Where a page starts: a line of the whole and, inside a line too long for a page, a byte of its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The line, from 1.
    pub line: u64,
    /// The byte in the line's clean view, from 1.
    pub byte: u64,
}

impl Default for Start {
    fn default() -> Self {
        Self { line: 1, byte: 1 }
    }
}

impl Start {
    /// The start of `line`.
    pub fn line(line: u64) -> Self {
        Self { line, byte: 1 }
    }
}

/// What is read, as a page and its hint name it.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// The output's bytes.
    pub content: &'a dyn Content,
    /// How many lines it has.
    pub lines: u64,
    /// The streams in it, by which their lines are named; none for a text without streams.
    pub sections: &'a [Section],
    /// How the command ended, in words.
    pub exit: Option<&'a str>,
    /// How a request names it: `output 3f9a2c1b`, `entry 7`.
    pub name: &'a str,
}

/// One page of at most `budget` bytes: what `filter` lets through, from `from` on. A pattern that is no regular
/// expression is searched for as it stands, and the page says so; one that is too large is answered with that.
/// Errors are those of reading the file.
pub fn recall(stored: Stored<'_>, filter: &Filter, from: Start, budget: usize) -> io::Result<String> {
    if stored.lines < from.line && stored.lines > 0 {
        return Ok(past_the_end(stored, from.line));
    }
    match filter {
        Filter::Matching(pattern) => window::matching(stored, pattern, from, budget),
        Filter::All => page::lines(stored, filter, (1, stored.lines), from, budget),
        Filter::Lines(first, last) => page::lines(stored, filter, (*first, *last), from, budget),
        Filter::Head(count) => page::lines(stored, filter, (1, *count), from, budget),
        Filter::Tail(count) => {
            let first = stored.lines.saturating_sub(*count) + 1;
            page::lines(stored, filter, (first, stored.lines), from, budget)
        }
    }
}

fn past_the_end(stored: Stored<'_>, line: u64) -> String {
    let lines = counted(stored.lines, "line");
    format!("[no line {}: {} has {lines}]", grouped(line), stored.name)
}

/// The filter as a request spells it, with a space before it; empty for every line.
fn spelled(filter: &Filter) -> String {
    match filter {
        Filter::All => String::new(),
        Filter::Matching(pattern) => format!(" matching {}", quoted_pattern(pattern)),
        Filter::Lines(first, last) => format!(" lines {first}-{last}"),
        Filter::Head(count) => format!(" head {count}"),
        Filter::Tail(count) => format!(" tail {count}"),
    }
}

/// The longest a page's first or last line can be, with its newline: the name, the filter and a few numbers.
fn line_bound(stored: Stored<'_>, filter: &Filter) -> usize {
    128 + stored.name.len() + spelled(filter).len() + told(stored).len()
}

/// Which of the lines are whose and how the command ended, in brackets after a page's first line; empty where there is one text.
fn told(stored: Stored<'_>) -> String {
    let streams = Some(streams::told(stored.sections)).filter(|told| !told.is_empty());
    let parts: Vec<String> = streams
        .into_iter()
        .chain(stored.exit.map(str::to_owned))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join("; "))
    }
}

/// A pattern as a request may carry it inside double quotes: in single ones when it would be misread without.
fn quoted_pattern(pattern: &str) -> String {
    let plain = !pattern.contains([' ', '\'', '`', ',']);
    if plain {
        pattern.to_owned()
    } else {
        format!("'{pattern}'")
    }
}

/// The last line of a page: the request for the next one.
fn hint(stored: Stored<'_>, filter: &Filter, next: Start) -> String {
    let byte = if next.byte > 1 {
        format!(" byte {}", next.byte)
    } else {
        String::new()
    };
    let (name, filter) = (stored.name, spelled(filter));
    format!(
        "[more: memory \"recall {name}{filter} from line {}{byte}\"]",
        next.line
    )
}
