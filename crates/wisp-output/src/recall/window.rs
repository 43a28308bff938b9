//! A page of the lines that match a pattern; of a long line, the window around its match.

use std::io;

use crate::amount::{counted, grouped};
use crate::clean;
use crate::content::Section;
use crate::pages::Pages;
use crate::streams;

use super::matching::{Hit, Matcher, Matches};
use super::{Filter, Start, Stored, hint, line_bound, spelled, told};

/// A line longer than this many bytes is shown as a window around its first match.
const LONG: u64 = 1_024;

/// How much of a long line is shown on each side of the match's start, in bytes.
const AROUND: usize = 200;

/// The lines of an output that match `pattern`, from `from` on, within `budget`, with the count of all.
pub(super) fn matching(stored: Stored<'_>, pattern: &str, from: Start, budget: usize) -> io::Result<String> {
    let filter = Filter::Matching(pattern.to_owned());
    let matcher = match Matcher::new(pattern) {
        Ok(matcher) => matcher,
        Err(error) => return Ok(format!("error: {error}")),
    };
    let said = matcher.literal().map_or_else(String::new, |why| {
        format!("[not a regular expression ({why}): searched as it stands]\n")
    });
    let room = budget.saturating_sub(2 * line_bound(stored, &filter) + said.len());
    let (content, end) = (stored.content, stored.content.bytes());
    let start = Pages::new(content).line_start(from.line)?.unwrap_or(end);
    let mut count = Matches::new(content, &matcher, (0, 1), start).count()?;
    let mut found = Matches::new(content, &matcher, (start, from.line), end);
    let (mut text, mut next) = (String::new(), None);
    while let Some(hit) = found.next_hit()? {
        count += 1;
        let row = row(stored.sections, &hit);
        if text.len() + row.len() > room && !text.is_empty() {
            next = Some(Start::line(hit.line));
            break;
        }
        text.push_str(&row[..row.floor_char_boundary(room.max(1))]);
    }
    count += found.count()?;
    let header = header(stored, &filter, count);
    let footer = match next {
        Some(next) => hint(stored, &filter, next),
        None => format!("[end of{} of {}]", spelled(&filter), stored.name),
    };
    Ok(format!("{header}\n{said}{text}{footer}"))
}

/// `output 3f9a2c1b matching error: 12 of 2,340 lines match, 2,328 do not`.
fn header(stored: Stored<'_>, filter: &Filter, count: u64) -> String {
    let lines = counted(stored.lines, "line");
    let others = grouped(stored.lines - count);
    let verb = if count == 1 { "matches" } else { "match" };
    format!(
        "{}{}: {} of {lines} {verb}, {others} do not{}",
        stored.name,
        spelled(filter),
        grouped(count),
        told(stored)
    )
}

/// A matching line with its number; of a long one, the window around the match and where it is.
fn row(sections: &[Section], hit: &Hit) -> String {
    let label = streams::label(sections, hit.line);
    if hit.length <= LONG {
        return format!("{label}: {}\n", hit.text);
    }
    let within = |at: u64| usize::try_from(at - hit.text_at).expect("a match is within its text");
    let start = hit
        .text
        .floor_char_boundary(within(hit.found.0).saturating_sub(AROUND));
    let end = hit
        .text
        .ceil_char_boundary((within(hit.found.0) + AROUND).min(hit.text.len()));
    let text = hit.text.as_bytes();
    let window = &hit.text[clean::word_start(text, start)..clean::word_end(text, end)];
    let (at, length) = (grouped(hit.found.0), grouped(hit.length));
    format!("{label} (match at byte offset {at} of {length}): …{window}…\n")
}
