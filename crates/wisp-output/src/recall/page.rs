//! A page of consecutive lines.

use std::io;

use crate::amount::{grouped, range};
use crate::clean::{self, CleanLines, Line, Part, View};
use crate::content::{Section, Stretch};
use crate::pages::Pages;
use crate::streams;

use super::{Filter, Start, Stored, hint, line_bound, past_the_end, spelled, told};

/// The lines `first..=last` of an output from `from` on, within `budget`.
pub(super) fn lines(
    stored: Stored<'_>,
    filter: &Filter,
    (first, last): (u64, u64),
    from: Start,
    budget: usize,
) -> io::Result<String> {
    if stored.lines == 0 {
        return Ok(format!("[{} is empty]", stored.name));
    }
    let (first, last) = (first.max(1), last.min(stored.lines));
    let start = first.max(from.line);
    let Some(offset) = Pages::new(stored.content).line_start(start)? else {
        return Ok(past_the_end(stored, start));
    };
    if start > last {
        return Ok(format!(
            "[no line {} in{} of {}]",
            grouped(start),
            spelled(filter),
            stored.name
        ));
    }
    let room = budget.saturating_sub(2 * line_bound(stored, filter));
    let skip = if start == from.line { from.byte - 1 } else { 0 };
    let mut page = Page {
        sections: stored.sections,
        text: String::new(),
        room,
        open: None,
        skip,
        shown: None,
    };
    let stretch = Stretch::new(stored.content, offset, stored.content.bytes());
    let mut source = CleanLines::starting_at(stretch, View::Plain, start, offset);
    let mut next = None;
    while let Some(line) = source.next_line()? {
        next = (line.number <= last).then(|| page.add(&line)).flatten();
        if next.is_some() || line.number > last || (line.number == last && line.part != Part::More) {
            break;
        }
    }
    Ok(page.framed(stored, filter, start, next))
}

/// A page being filled.
struct Page<'a> {
    sections: &'a [Section],
    text: String,
    room: usize,
    /// The line being added: its text so far, and the byte of its view it starts with.
    open: Option<(String, u64)>,
    /// Bytes of the first line's view that an earlier page has shown.
    skip: u64,
    /// The last line shown.
    shown: Option<u64>,
}

impl Page<'_> {
    /// Adds a line or a piece of one; the place where the next page starts when it does not fit.
    fn add(&mut self, line: &Line) -> Option<Start> {
        let (mut text, byte) = self.open.take().unwrap_or((String::new(), self.skip + 1));
        let skipped = self.skip.min(line.text.len() as u64);
        self.skip -= skipped;
        let at = line
            .text
            .floor_char_boundary(usize::try_from(skipped).expect("a piece is within memory"));
        text.push_str(&line.text[at..]);
        let label = label(self.sections, line.number, byte);
        let fits = self.text.len() + label.len() + text.len() < self.room;
        if !fits {
            return Some(self.cut(
                &label,
                &text,
                Start {
                    line: line.number,
                    byte,
                },
            ));
        }
        if line.part == Part::More {
            self.open = Some((text, byte));
            return None;
        }
        self.push(&label, &text, line.number);
        self.skip = 0;
        None
    }

    fn push(&mut self, label: &str, text: &str, line: u64) {
        self.text.push_str(label);
        self.text.push_str(text);
        self.text.push('\n');
        self.shown = Some(line);
    }

    /// Shows as much of a line as fits a page of its own; a line that does not fit with others waits for the next.
    fn cut(&mut self, label: &str, text: &str, from: Start) -> Start {
        if self.shown.is_some() {
            return from;
        }
        // A page shows at least one character, or paging would never end.
        let fits = self.room.saturating_sub(label.len() + 1);
        let end = clean::word_start(text.as_bytes(), text.floor_char_boundary(fits));
        let end = end.max(text.ceil_char_boundary(1));
        self.push(label, &text[..end], from.line);
        Start {
            line: from.line,
            byte: from.byte + end as u64,
        }
    }

    /// The page with its first and last line.
    fn framed(self, stored: Stored<'_>, filter: &Filter, start: u64, next: Option<Start>) -> String {
        let shown = range(start, self.shown.unwrap_or(start));
        let of = grouped(stored.lines);
        let filter_text = spelled(filter);
        let footer = match next {
            Some(next) => hint(stored, filter, next),
            None if filter_text.is_empty() => format!("[end of {}]", stored.name),
            None => format!("[end of{filter_text} of {}]", stored.name),
        };
        format!(
            "{}{filter_text}: lines {shown} of {of}{}\n{}{footer}",
            stored.name,
            told(stored),
            self.text
        )
    }
}

/// What stands before a line: its number, and the byte it goes on from.
fn label(sections: &[Section], line: u64, byte: u64) -> String {
    let line = streams::label(sections, line);
    if byte == 1 {
        format!("{line}: ")
    } else {
        format!("{line} from byte {}: ", grouped(byte))
    }
}
