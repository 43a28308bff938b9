//! A stored output in pages of at most 64 KiB that end at a line, each found with two reads of the file.
//!
//! Page N begins at the last line that starts within the 16 KiB up to byte N × 48 KiB, so that any page is found from
//! the bytes around its nominal place, without reading those before it, and none is longer than 64 KiB. A line that
//! leaves no such place is split before a character. Joined, the pages are the file, byte for byte.

use std::io;

use memchr::{memchr_iter, memrchr};

use crate::clean::incomplete_suffix;
use crate::content::{Content, bytes_of};

/// The most bytes of a page. An output of at most this many is one page.
pub const PAGE: u64 = 64 * 1024;

/// The distance between the nominal places of two pages, in bytes.
pub const STEP: u64 = 48 * 1024;

/// How far before its nominal place a page may begin to begin with a line, in bytes.
const BACK: u64 = PAGE - STEP;

/// One page of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its number, from 0.
    pub number: u64,
    /// Its first byte in the output.
    pub from: u64,
    /// Its bytes, raw.
    pub bytes: Vec<u8>,
}

impl Page {
    /// The byte after its last one, where the next page begins.
    pub fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }
}

/// The pages and lines of an output. The line index is built as far as it is asked for: eight bytes a page.
#[derive(Debug)]
pub struct Pages<C> {
    content: C,
    /// Newlines before byte K × 64 KiB, for each K read so far.
    newlines: Vec<u64>,
}

impl<C: Content> Pages<C> {
    /// The pages of `content`.
    pub fn new(content: C) -> Self {
        Self {
            content,
            newlines: vec![0],
        }
    }

    /// The output itself.
    pub fn content(&self) -> &C {
        &self.content
    }

    /// How many pages there are; an empty output has one.
    pub fn count(&self) -> u64 {
        let bytes = self.content.bytes();
        if bytes <= PAGE { 1 } else { bytes.div_ceil(STEP) }
    }

    /// Page `number`, from 0, in at most two reads; `None` past the last.
    pub fn page(&self, number: u64) -> io::Result<Option<Page>> {
        if number >= self.count() {
            return Ok(None);
        }
        let nominal = number * STEP;
        let window = nominal.saturating_sub(BACK);
        let from = match number {
            0 => 0,
            _ => boundary(window, &bytes_of(&self.content, window, nominal)?),
        };
        let last = number + 1 == self.count();
        let limit = if last {
            self.content.bytes()
        } else {
            nominal + STEP
        };
        let mut bytes = bytes_of(&self.content, from, limit)?;
        if !last {
            let window = limit - BACK;
            let place = usize::try_from(window - from).expect("a page is within memory");
            let end = boundary(window, bytes.get(place..).unwrap_or_default());
            bytes.truncate(usize::try_from(end - from).expect("a page is within memory"));
        }
        Ok(Some(Page { number, from, bytes }))
    }

    /// The number of the page that byte `offset` is on.
    pub fn page_of(&self, offset: u64) -> io::Result<u64> {
        let before = (offset / STEP).min(self.count() - 1);
        let page = self.page(before)?;
        let past = page.is_some_and(|page| offset >= page.end()) && before + 1 < self.count();
        Ok(before + u64::from(past))
    }

    /// Where line `number`, from 1, starts, in bytes; `None` past the last line.
    pub fn line_start(&mut self, number: u64) -> io::Result<Option<u64>> {
        let before = number.max(1) - 1;
        if before == 0 {
            return Ok((self.content.bytes() > 0).then_some(0));
        }
        self.index_until(|newlines, _| newlines >= before)?;
        let block = self.newlines.partition_point(|newlines| *newlines < before) - 1;
        let from = block as u64 * PAGE;
        let bytes = bytes_of(&self.content, from, from + PAGE)?;
        let nth = usize::try_from(before - self.newlines[block] - 1).unwrap_or(usize::MAX);
        let start = memchr_iter(b'\n', &bytes)
            .nth(nth)
            .map(|newline| from + newline as u64 + 1);
        Ok(start.filter(|start| *start < self.content.bytes()))
    }

    /// The number of the line that byte `offset` is in, from 1.
    pub fn line_of(&mut self, offset: u64) -> io::Result<u64> {
        let block = offset / PAGE;
        self.index_until(|_, at| at >= block)?;
        let block = block.min(self.newlines.len() as u64 - 1);
        let before = bytes_of(&self.content, block * PAGE, offset)?;
        let index = usize::try_from(block).expect("the index is within memory");
        Ok(self.newlines[index] + memchr_iter(b'\n', &before).count() as u64 + 1)
    }

    /// Extends the index until `enough` of (newlines, block) or the end.
    fn index_until(&mut self, enough: impl Fn(u64, u64) -> bool) -> io::Result<()> {
        loop {
            let block = self.newlines.len() as u64 - 1;
            let newlines = *self.newlines.last().expect("the index starts with block 0");
            if enough(newlines, block) || block * PAGE >= self.content.bytes() {
                return Ok(());
            }
            let bytes = bytes_of(&self.content, block * PAGE, (block + 1) * PAGE)?;
            self.newlines
                .push(newlines + memchr_iter(b'\n', &bytes).count() as u64);
        }
    }
}

/// Where a page begins, given the bytes from `from` to its nominal place: after their last newline, or before a
/// character cut at their end.
fn boundary(from: u64, bytes: &[u8]) -> u64 {
    let length = match memrchr(b'\n', bytes) {
        Some(newline) => newline + 1,
        None => bytes.len() - incomplete_suffix(bytes),
    };
    from + length as u64
}
