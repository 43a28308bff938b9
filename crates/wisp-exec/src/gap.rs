//! The stretch of a stream that was not kept: moved to line ends, and measured.

use std::io::Read;

use crate::live::open_character;
use crate::store::{Part, Store};

/// How far from a gap's border a line end is looked for.
const LINE_WINDOW: u64 = 64 * 1024;

/// A stretch of a stream that was not kept. It begins and ends at a line's end where one is within 64 KiB, and
/// between characters otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Its bytes.
    pub bytes: u64,
    /// The newlines among them.
    pub newlines: u64,
    /// Whether it begins inside a line: the kept bytes before it do not end with a newline.
    pub inside_line: bool,
}

/// What surrounds a gap.
pub(crate) struct Around<'a> {
    pub(crate) store: &'a Store,
    /// One stretch from the stream's start, and the newlines in it.
    pub(crate) before: &'a mut Part,
    pub(crate) before_newlines: u64,
    /// The stretches to its end.
    pub(crate) after: &'a mut [Part],
}

impl Around<'_> {
    /// Moves both borders to a line's end, and says what lies between in a stream of so many bytes and newlines.
    pub(crate) fn open(self, bytes: u64, newlines: u64) -> Gap {
        let cut = self.cut_before();
        self.before.shorten_end(cut);
        let mut skip = self.skip_after();
        for part in &mut *self.after {
            skip -= part.shorten_start(skip, self.store.length(*part));
        }
        let kept = self.store.length(*self.before) + self.store.lengths(self.after);
        Gap {
            bytes: bytes - kept,
            newlines: newlines - self.before_newlines - self.store.newlines(self.after),
            inside_line: self.end_of_before(1).last().is_some_and(|byte| *byte != b'\n'),
        }
    }

    /// How many bytes there are after the last line end before the gap, or of a last character that is not whole.
    /// Neither holds a newline.
    fn cut_before(&self) -> u64 {
        let end = self.end_of_before(LINE_WINDOW);
        match memchr::memrchr(b'\n', &end) {
            Some(at) => (end.len() - at - 1) as u64,
            None => open_character(&end) as u64,
        }
    }

    /// How many bytes there are up to the first line end after the gap, or of the rest of a character.
    fn skip_after(&self) -> u64 {
        let mut start = Vec::new();
        for part in &*self.after {
            let room = LINE_WINDOW - start.len() as u64;
            // What cannot be read now is reported when the stream is read.
            let _ = self.store.reader(*part, 0).take(room).read_to_end(&mut start);
        }
        match memchr::memchr(b'\n', &start) {
            Some(at) => at as u64 + 1,
            None => start
                .iter()
                .take(3)
                .take_while(|byte| **byte & 0xC0 == 0x80)
                .count() as u64,
        }
    }

    fn end_of_before(&self, most: u64) -> Vec<u8> {
        let from = self.store.length(*self.before).saturating_sub(most);
        let mut end = Vec::new();
        let _ = self.store.reader(*self.before, from).read_to_end(&mut end);
        end
    }
}
