//! Finding the lines of a stored output that match a pattern, as fast as the file can be read.
//!
//! A block of many lines is searched at once, in its clean view, which is the block itself where it is plain text.
//! A line too long to be held is searched in pieces that overlap.

use std::io;

use memchr::{memchr, memchr_iter, memrchr};
use regex::{Regex, RegexBuilder};

use crate::clean::{self, CleanLines, Part, View};
use crate::content::{Content, Stretch, bytes_of};

use super::long_line::LongLine;

/// How much is searched at once, in bytes, at least.
const BLOCK: u64 = 256 * 1024;

/// The largest program a pattern may compile to, in bytes.
const PROGRAM_LIMIT: usize = 1 << 20;

/// How often a block may be searched in vain, because matches reach over line ends, before it is read by line.
const PATIENCE: usize = 16;

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It compiles to a program larger than 1 MiB.
    #[error("the pattern is too big: it compiles to more than {} bytes", crate::amount::grouped(PROGRAM_LIMIT as u64))]
    TooBig,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Matcher {
    regex: Regex,
    /// Whether it means the same over many lines as over one.
    by_block: bool,
    /// Why it is searched for as it stands, when it is no regular expression.
    literal: Option<String>,
}

impl Matcher {
    /// Compiles `pattern`: a regular expression, in any case unless it says `(?-i)`; as it stands when it is none.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        match build(pattern) {
            Ok(regex) => Ok(Self {
                regex,
                by_block: is_line_wise(pattern),
                literal: None,
            }),
            Err(regex::Error::CompiledTooBig(_)) => Err(PatternError::TooBig),
            Err(error) => {
                let regex = build(&regex::escape(pattern)).map_err(|_| PatternError::TooBig)?;
                Ok(Self {
                    regex,
                    by_block: true,
                    literal: Some(why(&error)),
                })
            }
        }
    }

    /// Why the pattern is searched for as it stands; `None` for a regular expression.
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Where the pattern first matches in a line's clean view, in bytes.
    pub fn find(&self, line: &str) -> Option<(usize, usize)> {
        self.regex.find(line).map(|found| (found.start(), found.end()))
    }
}

impl Matcher {
    /// Where the pattern next matches from byte `from` on, with what stands before it in sight.
    pub(super) fn find_at<'t>(&self, text: &'t str, from: usize) -> Option<regex::Match<'t>> {
        self.regex.find_at(text, from)
    }
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        .size_limit(PROGRAM_LIMIT)
        .build()
}

/// The last line of the parser's explanation, which says what is wrong.
fn why(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("").trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Whether a search over many lines finds every line that the pattern matches alone: nothing in it speaks of the
/// text's ends, or sets a flag that changes what a line is.
fn is_line_wise(pattern: &str) -> bool {
    let flags = pattern.match_indices("(?").all(|(at, _)| {
        let rest = &pattern[at + 2..];
        [":", "<", "P<", "i)", "i:", "-i)", "-i:"]
            .iter()
            .any(|known| rest.starts_with(known))
    });
    flags && !pattern.contains("\\A") && !pattern.contains("\\z")
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its number in the whole, from 1.
    pub line: u64,
    /// Where it starts, in raw bytes of the whole.
    pub offset: u64,
    /// Its clean view, or of a line too long to be held a window around the first match.
    pub text: String,
    /// Where `text` starts in the line's clean view, in bytes.
    pub text_at: u64,
    /// The length of the line's clean view, in bytes.
    pub length: u64,
    /// Where the first match starts and ends in the line's clean view, in bytes.
    pub found: (u64, u64),
}

/// Reads an output for the lines that match.
pub struct Matches<'a> {
    content: &'a dyn Content,
    matcher: &'a Matcher,
    /// The next byte to be read, which starts line `line`, and where to stop.
    at: u64,
    line: u64,
    end: u64,
    /// Hits of the last block, the last first.
    found: Vec<Hit>,
    /// Hits are counted and forgotten: how many so far.
    counted: Option<u64>,
}

impl<'a> Matches<'a> {
    /// The lines of `content` that match, from byte `at` on, which starts line `line`, to byte `end`.
    pub fn new(content: &'a dyn Content, matcher: &'a Matcher, (at, line): (u64, u64), end: u64) -> Self {
        Self {
            content,
            matcher,
            at,
            line,
            end,
            found: Vec::new(),
            counted: None,
        }
    }

    /// How many lines match from here on. Costs no memory for what matches. Errors are those of reading.
    pub fn count(mut self) -> io::Result<u64> {
        self.counted = Some(self.found.len() as u64);
        self.found.clear();
        while self.at < self.end {
            self.read_block()?;
        }
        Ok(self.counted.unwrap_or(0))
    }

    /// The next line that matches. Errors are those of reading.
    pub fn next_hit(&mut self) -> io::Result<Option<Hit>> {
        while self.found.is_empty() {
            if self.at >= self.end {
                return Ok(None);
            }
            self.read_block()?;
            self.found.reverse();
        }
        Ok(self.found.pop())
    }

    /// Searches the next block of whole lines, or one enormous line.
    fn read_block(&mut self) -> io::Result<()> {
        let limit = (self.at + BLOCK).min(self.end);
        let bytes = bytes_of(self.content, self.at, limit)?;
        if bytes.is_empty() {
            self.at = self.end;
            return Ok(());
        }
        let last = self.at + bytes.len() as u64 >= self.end;
        let length = match memrchr(b'\n', &bytes) {
            Some(newline) => newline + 1,
            None if last => bytes.len(),
            None => return self.read_long_line(),
        };
        let length = if last { bytes.len() } else { length };
        self.search(&bytes[..length]);
        self.at += length as u64;
        self.line += memchr_iter(b'\n', &bytes[..length]).count() as u64;
        Ok(())
    }

    /// Searches whole lines: their clean view at once where the pattern allows it, else one by one.
    fn search(&mut self, block: &[u8]) {
        if !self.matcher.by_block {
            return self.search_lines(block, self.at, self.line);
        }
        // A last line without a newline may show nothing, and then has no place of its own in the view.
        let ended = memrchr(b'\n', block).map_or(0, |newline| newline + 1);
        let (whole, rest) = block.split_at(ended);
        match std::str::from_utf8(whole) {
            Ok(text) if clean::is_plain_text(text) => self.search_view(text, whole),
            _ => self.search_view(&clean::text(whole, View::Plain), whole),
        }
        if !rest.is_empty() {
            let lines = memchr_iter(b'\n', whole).count() as u64;
            self.search_lines(rest, self.at + ended as u64, self.line + lines);
        }
    }

    /// Searches the clean view of `raw`, line for line the same. A match says which line to look at; the line
    /// alone decides.
    fn search_view(&mut self, view: &str, raw: &[u8]) {
        let bytes = view.as_bytes();
        let (mut from, mut vain) = (0, 0);
        let mut place = Place {
            view: 0,
            raw: 0,
            line: self.line,
        };
        while from < view.len() {
            let Some(found) = self.matcher.find_at(view, from) else {
                return;
            };
            let start = memrchr(b'\n', &bytes[..found.start()]).map_or(0, |newline| newline + 1);
            if start >= view.len() {
                return;
            }
            let end = memchr(b'\n', &bytes[start..]).map_or(view.len(), |newline| start + newline);
            place.go_to(start, bytes, raw);
            if !self.push(&view[start..end], self.at + place.raw as u64, place.line) {
                vain += 1;
            }
            from = end + 1;
            if vain > PATIENCE {
                place.go_to(from.min(view.len()), bytes, raw);
                return self.search_lines(&raw[place.raw..], self.at + place.raw as u64, place.line);
            }
        }
    }

    /// Searches line by line, each cleaned, from byte `offset` of the whole on, which starts line `line`.
    fn search_lines(&mut self, block: &[u8], mut offset: u64, mut line: u64) {
        for raw in block.split_inclusive(|byte| *byte == b'\n') {
            let body = raw.strip_suffix(b"\n").unwrap_or(raw);
            self.push(&clean::line(body, View::Plain), offset, line);
            offset += raw.len() as u64;
            line += 1;
        }
    }

    /// Adds a line if it matches.
    fn push(&mut self, text: &str, offset: u64, line: u64) -> bool {
        let Some((start, end)) = self.matcher.find(text) else {
            return false;
        };
        if let Some(counted) = &mut self.counted {
            *counted += 1;
            return true;
        }
        self.found.push(Hit {
            line,
            offset,
            text: text.to_owned(),
            text_at: 0,
            length: text.len() as u64,
            found: (start as u64, end as u64),
        });
        true
    }

    /// Searches one line that is longer than a block.
    fn read_long_line(&mut self) -> io::Result<()> {
        let stretch = Stretch::new(self.content, self.at, self.end);
        let mut lines = CleanLines::starting_at(stretch, View::Plain, self.line, self.at);
        let (mut long, offset) = (LongLine::default(), self.at);
        while let Some(piece) = lines.next_line()? {
            long.add(&piece.text, piece.part != Part::More, self.matcher);
            self.at = piece.end;
            if piece.part != Part::More {
                break;
            }
        }
        let (line, length) = (self.line, long.length);
        self.line += 1;
        if let (Some(counted), Some(_)) = (&mut self.counted, &long.hit) {
            *counted += 1;
            return Ok(());
        }
        self.found.extend(long.hit.map(|hit| Hit {
            line,
            offset,
            length,
            ..hit
        }));
        Ok(())
    }
}

/// The start of a line, in a block's clean view and in its raw bytes.
struct Place {
    view: usize,
    raw: usize,
    line: u64,
}

impl Place {
    /// Moves on to the line that starts at byte `start` of the view.
    fn go_to(&mut self, start: usize, view: &[u8], raw: &[u8]) {
        let lines = memchr_iter(b'\n', &view[self.view..start]).count();
        self.view = start;
        self.line += lines as u64;
        if let Some(before) = lines.checked_sub(1) {
            let newline = memchr_iter(b'\n', &raw[self.raw..]).nth(before);
            self.raw += newline.map_or(raw.len() - self.raw, |newline| newline + 1);
        }
    }
}
