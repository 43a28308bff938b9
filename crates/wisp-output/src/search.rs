//! Stepping from match to match through a whole stored output, for a face that shows a few pages of it.

use std::io;

use crate::content::Content;
use crate::pages::Pages;
use crate::recall::{Hit, Matcher, Matches};

/// How far back is searched at once, in bytes.
const STEP: u64 = 1 << 20;

/// Which way a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the lines after.
    Forward,
    /// To the lines before.
    Backward,
}

/// The first matching line at or after line `from` (forward), or the last one before it (backward), of the whole
/// output; lines count from 1. `None` when there is none that way. Errors are those of reading.
pub fn search<C: Content>(
    pages: &mut Pages<C>,
    matcher: &Matcher,
    from: u64,
    direction: Direction,
) -> io::Result<Option<Hit>> {
    let end = pages.content().bytes();
    let start = pages.line_start(from.max(1))?;
    match direction {
        Direction::Forward => match start {
            None => Ok(None),
            Some(at) => Matches::new(pages.content(), matcher, (at, from.max(1)), end).next_hit(),
        },
        Direction::Backward => backward(pages, matcher, start.unwrap_or(end)),
    }
}

/// The last matching line that ends at or before byte `end`.
fn backward<C: Content>(pages: &mut Pages<C>, matcher: &Matcher, mut end: u64) -> io::Result<Option<Hit>> {
    while end > 0 {
        // From the start of the line that a step back falls into: whole lines only, and always further back.
        let line = pages.line_of(end.saturating_sub(STEP))?;
        let start = pages.line_start(line)?.unwrap_or(0);
        let mut last = None;
        let mut found = Matches::new(pages.content(), matcher, (start, line), end);
        while let Some(hit) = found.next_hit()? {
            last = Some(hit);
        }
        if last.is_some() {
            return Ok(last);
        }
        end = start;
    }
    Ok(None)
}
