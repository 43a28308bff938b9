//! The lines of a reader, cleaned one at a time in bounded memory, each with its place in the raw bytes.

use std::io::{self, Read};

use memchr::memchr;

use super::{Cleaner, View};

/// How much is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;

/// The most text of one line that is held, in bytes; a longer line arrives in pieces of about this size.
pub const PIECE: usize = 256 * 1024;

/// Which part of its line a [`Line`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it, as almost every line is.
    Whole,
    /// A piece of a line longer than [`PIECE`], with more of the line to come.
    More,
    /// The last piece of such a line.
    Last,
}

/// A cleaned line, or a piece of an enormous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the input, from the number the reading started with.
    pub number: u64,
    /// Where its line starts, in raw bytes of the input.
    pub start: u64,
    /// Where the raw bytes it was made from end: after its newline, for the end of a line.
    pub end: u64,
    /// What is shown of it, without a newline.
    pub text: String,
    /// Whether the text is all of the line.
    pub part: Part,
    /// Whether a newline ended it; false for pieces and for a last line without one.
    pub newline: bool,
}

/// Reads cleaned lines from raw bytes.
#[derive(Debug)]
pub struct CleanLines<R> {
    source: R,
    view: View,
    buffer: Vec<u8>,
    /// The unread part of `buffer`.
    from: usize,
    cleaner: Cleaner,
    number: u64,
    start: u64,
    at: u64,
    /// Bytes of the present line have been read, or pieces of it given out.
    open: bool,
    pieces: bool,
    done: bool,
}

impl<R: Read> CleanLines<R> {
    /// Reads `source` from its present place, which is byte 0 of line 1.
    pub fn new(source: R, view: View) -> Self {
        Self::starting_at(source, view, 1, 0)
    }

    /// Reads `source`, whose first byte is byte `offset` and starts line `number`.
    pub fn starting_at(source: R, view: View, number: u64, offset: u64) -> Self {
        Self {
            source,
            view,
            buffer: Vec::new(),
            from: 0,
            cleaner: Cleaner::new(view),
            number,
            start: offset,
            at: offset,
            open: false,
            pieces: false,
            done: false,
        }
    }

    /// The next line or piece; `None` at the end. Errors are the reader's.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        loop {
            if self.from == self.buffer.len() && !self.fill()? {
                return Ok(self.last());
            }
            if let Some(line) = self.advance() {
                return Ok(Some(line));
            }
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.resize(CHUNK, 0);
        let read = if self.done {
            0
        } else {
            read_some(&mut self.source, &mut self.buffer)?
        };
        self.buffer.truncate(read);
        self.from = 0;
        self.done = read == 0;
        Ok(read > 0)
    }

    /// Uses up the buffer to the next newline, or all of it.
    fn advance(&mut self) -> Option<Line> {
        let rest = &self.buffer[self.from..];
        let Some(end) = memchr(b'\n', rest) else {
            self.cleaner.feed(rest);
            self.at += rest.len() as u64;
            self.from = self.buffer.len();
            self.open = true;
            return (self.cleaner.len() > PIECE).then(|| self.piece());
        };
        let text = if self.open {
            self.cleaner.feed(&rest[..end]);
            self.cleaner.finish()
        } else {
            super::line(&rest[..end], self.view).into_owned()
        };
        self.from += end + 1;
        self.at += end as u64 + 1;
        Some(self.finished(text, true))
    }

    fn piece(&mut self) -> Line {
        self.pieces = true;
        Line {
            number: self.number,
            start: self.start,
            end: self.at,
            text: self.cleaner.take_piece(),
            part: Part::More,
            newline: false,
        }
    }

    fn last(&mut self) -> Option<Line> {
        if !self.open {
            return None;
        }
        let text = self.cleaner.finish();
        Some(self.finished(text, false))
    }

    fn finished(&mut self, text: String, newline: bool) -> Line {
        let part = if self.pieces { Part::Last } else { Part::Whole };
        let line = Line {
            number: self.number,
            start: self.start,
            end: self.at,
            text,
            part,
            newline,
        };
        self.number += 1;
        self.start = self.at;
        (self.open, self.pieces) = (false, false);
        line
    }
}

/// One read that is not given up for a signal.
fn read_some(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
