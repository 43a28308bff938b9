//! The head and the tail of one section within its room.

use std::io;

use memchr::{memchr, memrchr};

use crate::clean::{self, CleanLines, View, incomplete_suffix};
use crate::content::{Content, Section, Stretch, bytes_of};

/// How many times the room is read, at most, in search of a tail: progress bars clean to almost nothing.
const REACH: u64 = 64;

/// What is shown of a section.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub(super) head: String,
    pub(super) tail: String,
    pub(super) hole: Option<Hole>,
    /// Bytes of room that the marker takes, at most.
    pub(super) marker: usize,
}

/// What lies between the head and the tail, in bytes and lines of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hole {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) from_line: u64,
    pub(super) to_line: u64,
    pub(super) within: Option<(u64, u64)>,
}

/// A cut in a section: the byte it is at, the line that byte is in, where that line starts if it is cut inside.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: u64,
    line: u64,
    inside: bool,
}

/// Head and tail of `section` in `room` bytes, of which a marker between them takes `marker`; the section whole
/// when it fits.
pub(super) fn take(content: &dyn Content, section: &Section, room: usize, marker: usize) -> io::Result<Ends> {
    let mut head = Head::read(content, section, room)?;
    if head.whole {
        return Ok(Ends {
            head: head.text,
            ..Ends::default()
        });
    }
    let both = room.saturating_sub(marker);
    let from = head.cut_to(content, section, both / 2)?;
    let left = both - head.text.len().min(both);
    let (tail, to) = tail(content, section, from, left)?;
    let hole = Some(hole(head.line_start, from, to));
    Ok(Ends {
        hole,
        head: head.text,
        tail,
        marker,
    })
}

/// Nothing shown of a section that is no text.
pub(super) fn nothing_of(section: &Section, marker: usize) -> Ends {
    let hole = Hole {
        from: section.from,
        to: section.end(),
        from_line: section.number,
        to_line: section.number + section.lines.max(1) - 1,
        within: None,
    };
    Ends {
        hole: Some(hole),
        marker,
        ..Ends::default()
    }
}

fn hole(line_start: u64, from: Cut, to: Cut) -> Hole {
    let to_line = if to.inside { to.line } else { to.line - 1 };
    let one = from.line == to_line && (from.inside || to.inside);
    let within = one.then(|| (from.at - line_start + 1, to.at - line_start));
    Hole {
        from: from.at,
        to: to.at,
        from_line: from.line,
        to_line,
        within,
    }
}

/// The first lines of a section.
struct Head {
    text: String,
    /// After each whole line: its end in `text`, its end in the content.
    ends: Vec<(usize, u64)>,
    whole: bool,
    /// Where the line that the head stops at, or in, starts.
    line_start: u64,
}

impl Head {
    /// Reads lines until they pass `room` or the section ends.
    fn read(content: &dyn Content, section: &Section, room: usize) -> io::Result<Self> {
        let end = section.end().min(content.readable_to(section.from));
        let stretch = Stretch::new(content, section.from, end);
        let mut lines = CleanLines::starting_at(stretch, View::Plain, section.number, section.from);
        let (mut text, mut ends) = (String::new(), Vec::new());
        let mut whole = end == section.end();
        while let Some(line) = lines.next_line()? {
            text.push_str(&line.text);
            if line.newline {
                text.push('\n');
            }
            if text.len() > room {
                whole = false;
                break;
            }
            if line.newline {
                ends.push((text.len(), line.end));
            }
        }
        Ok(Self {
            text,
            ends,
            whole,
            line_start: section.from,
        })
    }

    /// Cuts the head to `half` bytes: at a line's end, or inside a line when whole lines fill less than half of
    /// that.
    fn cut_to(&mut self, content: &dyn Content, section: &Section, half: usize) -> io::Result<Cut> {
        let kept = self.ends.partition_point(|(end, _)| *end <= half);
        let (length, at) = if kept == 0 {
            (0, section.from)
        } else {
            self.ends[kept - 1]
        };
        self.text.truncate(length);
        self.line_start = at;
        let line = section.number + kept as u64;
        let spare = half - length;
        if length >= half / 2 || spare < 2 {
            return Ok(Cut {
                at,
                line,
                inside: false,
            });
        }
        let end = section.end().min(content.readable_to(section.from));
        let (text, taken) = line_prefix(content, at, end, spare - 1)?;
        if taken == 0 {
            return Ok(Cut {
                at,
                line,
                inside: false,
            });
        }
        self.text.push_str(&text);
        self.text.push('\n');
        Ok(Cut {
            at: at + taken,
            line,
            inside: true,
        })
    }
}

/// The start of the line at byte `at`, cleaned to at most `room` bytes, and how many raw bytes it stands for.
fn line_prefix(content: &dyn Content, at: u64, end: u64, room: usize) -> io::Result<(String, u64)> {
    // One more than fits, to see whether the cut is in a word.
    let raw = bytes_of(content, at, end.min(at + room as u64 + 1))?;
    let line = &raw[..memchr(b'\n', &raw).unwrap_or(raw.len())];
    let mut length = line.len().min(room);
    loop {
        length -= incomplete_suffix(&line[..length]);
        let text = clean::line(&line[..length], View::Plain);
        if text.len() <= room {
            let whole_words = clean::word_start(line, length);
            let text = clean::line(&line[..whole_words], View::Plain);
            return Ok((text.into_owned(), whole_words as u64));
        }
        length = shrunk(length, room, text.len());
    }
}

/// The end of the line whose raw bytes end `raw`, cleaned to at most `room` bytes, and how many raw bytes it
/// stands for.
fn line_suffix(raw: &[u8], room: usize) -> (String, usize) {
    let mut length = raw.len().min(room);
    loop {
        let suffix = &raw[raw.len() - length..];
        length -= continuation_prefix(suffix, length < raw.len());
        let text = clean::line(&raw[raw.len() - length..], View::Plain);
        if text.len() <= room {
            let whole_words = clean::word_end(raw, raw.len() - length);
            let text = clean::line(&raw[whole_words..], View::Plain);
            return (text.into_owned(), raw.len() - whole_words);
        }
        length = shrunk(length, room, text.len());
    }
}

/// A smaller number of raw bytes, after `length` of them were cleaned to more than `room`.
fn shrunk(length: usize, room: usize, cleaned: usize) -> usize {
    (length * room / cleaned).min(length.saturating_sub(1))
}

/// How many bytes at the start of `raw` belong to a character begun before it.
fn continuation_prefix(raw: &[u8], cut: bool) -> usize {
    let following = raw
        .iter()
        .take(3)
        .take_while(|byte| **byte & 0xc0 == 0x80)
        .count();
    if cut { following } else { 0 }
}

/// The last lines of a section in `room` bytes, not reaching before `from`.
fn tail(content: &dyn Content, section: &Section, from: Cut, room: usize) -> io::Result<(String, Cut)> {
    let end = section.end();
    let start = from.at.max(content.readable_from(end));
    let open = if start > from.at {
        !content.missing_ends_line(start)
    } else {
        from.inside
    };
    let mut reach = (room as u64).max(1);
    loop {
        let block_at = start.max(end.saturating_sub(reach));
        let raw = bytes_of(content, block_at, end)?;
        let cut_start = open || block_at > start;
        let block = Block {
            raw: &raw,
            at: block_at,
            last_line: section.number + section.lines - 1,
            cut_start,
        };
        let (text, cut, more) = block.tail(room);
        if !more || block_at == start || reach > REACH * room as u64 {
            return Ok((text, cut));
        }
        reach *= 2;
    }
}

/// The last bytes of a section.
struct Block<'a> {
    raw: &'a [u8],
    at: u64,
    last_line: u64,
    /// Whether its first byte may be inside a line.
    cut_start: bool,
}

impl Block<'_> {
    /// The last lines in `room`, where they start, and whether an earlier block could give more.
    fn tail(&self, room: usize) -> (String, Cut, bool) {
        let mut lines: Vec<String> = Vec::new();
        let (mut at, mut line, mut used) = (self.raw.len(), self.last_line + 1, 0);
        loop {
            let Some((start, body_end)) = self.line_before(at) else {
                return self.done(lines, at, line, used < room);
            };
            let text = clean::line(&self.raw[start..body_end], View::Plain);
            let ending = usize::from(body_end < at);
            let fits = used + text.len() + ending <= room;
            if !fits || (start == 0 && self.cut_start) {
                return self.stopped(lines, (at, line), (used, room), fits);
            }
            used += text.len() + ending;
            lines.push(format!("{text}{}", &"\n"[..ending]));
            (at, line) = (start, line - 1);
        }
    }

    /// The tail once a line does not fit, or (`more`) may have begun before the block.
    fn stopped(
        &self,
        lines: Vec<String>,
        (at, line): (usize, u64),
        (used, room): (usize, usize),
        more: bool,
    ) -> (String, Cut, bool) {
        if used >= room / 2 {
            return self.done(lines, at, line, more);
        }
        self.with_partial(lines, (at, line), room - used, more)
    }

    /// The line that ends at `at`: where it starts, and where its text ends before its newline.
    fn line_before(&self, at: usize) -> Option<(usize, usize)> {
        if at == 0 {
            return None;
        }
        let body_end = if self.raw[at - 1] == b'\n' { at - 1 } else { at };
        let start = memrchr(b'\n', &self.raw[..body_end]).map_or(0, |newline| newline + 1);
        Some((start, body_end))
    }

    /// Adds the end of a line too long for the room left.
    fn with_partial(
        &self,
        mut lines: Vec<String>,
        (at, line): (usize, u64),
        spare: usize,
        more: bool,
    ) -> (String, Cut, bool) {
        let Some((start, body_end)) = self.line_before(at) else {
            return self.done(lines, at, line, more);
        };
        let ending = usize::from(body_end < at);
        let (text, taken) = line_suffix(&self.raw[start..body_end], spare.saturating_sub(ending));
        if taken == 0 || spare <= ending {
            return self.done(lines, at, line, more);
        }
        let begins = body_end - taken;
        let inside = begins > start || (start == 0 && self.cut_start);
        lines.push(format!("{text}{}", &"\n"[..ending]));
        let cut = Cut {
            at: self.at + begins as u64,
            line: line - 1,
            inside,
        };
        (reversed(lines), cut, more)
    }

    fn done(&self, lines: Vec<String>, at: usize, line: u64, more: bool) -> (String, Cut, bool) {
        let cut = Cut {
            at: self.at + at as u64,
            line,
            inside: false,
        };
        (reversed(lines), cut, more)
    }
}

fn reversed(lines: Vec<String>) -> String {
    lines.into_iter().rev().collect()
}
