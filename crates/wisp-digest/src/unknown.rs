//! For what no reader knows: the lines that look like failures, and the input's first and last lines.

use std::collections::VecDeque;

use crate::clean::clean;
use crate::digest::{Quote, Unexplained};
use crate::limits;
use crate::line::{Line, cut};
use crate::looks;

/// Counts lines that look like failures and that nobody accounted for.
#[derive(Debug, Default)]
pub(crate) struct Unknowns {
    plain: Found,
    entries: Found,
}

/// Such lines: those that state a failure, and those that only have a word of it.
#[derive(Debug, Default)]
struct Found {
    stated: Unexplained,
    worded: Unexplained,
}

impl Found {
    fn join(&mut self, other: Self) {
        for (mine, more) in [(&mut self.stated, other.stated), (&mut self.worded, other.worded)] {
            mine.count += more.count;
            mine.first.extend(more.first);
        }
    }
}

impl Unknowns {
    /// Adds such a line; an entry of a log is accounted for if the whole turns out to be a log.
    pub(crate) fn add(&mut self, line: &Line<'_>, entry: bool) {
        let found = if entry { &mut self.entries } else { &mut self.plain };
        let found = if looks::states_failure(line.text) {
            &mut found.stated
        } else {
            &mut found.worded
        };
        found.count += 1;
        if found.first.len() < limits::UNEXPLAINED {
            found.first.push(line.quote());
        }
    }

    /// A reader has accounted for the line after all.
    pub(crate) fn forget(&mut self, line: u64) {
        let Self { plain, entries } = self;
        for found in [
            &mut plain.stated,
            &mut plain.worded,
            &mut entries.stated,
            &mut entries.worded,
        ] {
            let before = found.first.len();
            found.first.retain(|quote| quote.line != line);
            found.count -= (before - found.first.len()) as u64;
        }
    }

    /// Whether any of the lines states a failure.
    pub(crate) fn state_any(&self) -> bool {
        self.plain.stated.count + self.entries.stated.count > 0
    }

    /// What was found, without the entries of a log. Of a run that succeeded, only the lines that state a failure: a
    /// word in a name or a sentence says nothing against what the run itself says.
    pub(crate) fn close(self, is_log: bool, succeeded: bool) -> Unexplained {
        let mut found = self.plain;
        if !is_log {
            found.join(self.entries);
        }
        let mut all = found.stated;
        if !succeeded {
            all.count += found.worded.count;
            all.first.extend(found.worded.first);
        }
        all.first.sort_by_key(|quote| quote.line);
        all.first.truncate(limits::UNEXPLAINED);
        all
    }
}

const HEAD: usize = 5;
const TAIL: usize = 8;
const SAMPLE: usize = 8_192;

/// The input's first and last lines, and whether it is text.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    start: Vec<u8>,
    end: VecDeque<u8>,
    /// Whether the first bytes were all there is.
    more: bool,
}

impl Ends {
    /// Keeps the first and the last 8 KiB.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = SAMPLE - self.start.len();
        self.start.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.more |= bytes.len() > room;
        let kept = &bytes[bytes.len().saturating_sub(SAMPLE)..];
        let excess = (self.end.len() + kept.len()).saturating_sub(SAMPLE);
        self.end.drain(..excess.min(self.end.len()));
        self.end.extend(kept);
    }

    /// Whether nearly a third of the first bytes is nothing a text holds.
    pub(crate) fn is_binary(&self) -> bool {
        let odd = self
            .start
            .iter()
            .filter(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127))
            .count();
        let broken = String::from_utf8_lossy(&self.start)
            .chars()
            .filter(|each| *each == '\u{FFFD}')
            .count();
        (odd + broken) * 10 > self.start.len() * 3
    }

    /// The first few lines.
    pub(crate) fn head(&self) -> Vec<Quote> {
        let lines = self.start.split(|byte| *byte == b'\n').zip(1..);
        lines
            .map(|(raw, number)| quote(raw, number))
            .filter(|quote| !quote.text.is_empty())
            .take(HEAD)
            .collect()
    }

    /// The last few lines of an input of `lines` lines.
    pub(crate) fn tail(self, lines: u64) -> Vec<Quote> {
        self.last(lines, TAIL)
    }

    /// Of the last `count` lines, those that hold something, in their order.
    pub(crate) fn last(&self, lines: u64, count: usize) -> Vec<Quote> {
        let bytes: Vec<u8> = self.end.iter().copied().collect();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let all = bytes.rsplit(|byte| *byte == b'\n').zip(0..).take(count);
        let mut quotes: Vec<Quote> = all
            .map(|(raw, back)| quote(raw, lines.saturating_sub(back)))
            .collect();
        quotes.retain(|quote| !quote.text.is_empty() && quote.line > 0);
        quotes.reverse();
        quotes
    }
}

fn quote(raw: &[u8], line: u64) -> Quote {
    let text = clean(raw);
    Quote {
        line,
        text: cut(&text, limits::QUOTE).to_owned(),
    }
}
