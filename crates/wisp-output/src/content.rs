//! Bytes that can be read from any place: a stored file, or what memory holds of an output that was not stored.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A part of an output with a name of its own, such as a command's `stdout`, by its place in the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Section {
    /// `stdout` or `stderr`; none for the only part of another tool's output.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Where it starts, in bytes of the whole.
    pub from: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// Which line of the file its first line is, from 1, those of the frames included.
    pub line: u64,
    /// How many lines it has, a last one without a newline included.
    pub lines: u64,
    /// The number of its first line as wisp names lines, from 1: frames have none, stdout counts from 1 and stderr
    /// follows on. It is counted from the streams before it, never stored.
    #[serde(skip)]
    pub number: u64,
    /// Whether it is no text.
    #[serde(default)]
    pub binary: bool,
}

impl Section {
    /// Where it ends, in bytes of the whole.
    pub fn end(&self) -> u64 {
        self.from + self.bytes
    }
}

/// An output as bytes that can be read from any offset.
pub trait Content {
    /// How many bytes it has.
    fn bytes(&self) -> u64;

    /// Reads from byte `offset` on; 0 bytes at the end and where bytes are missing.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Where the readable stretch that byte `offset` is in ends.
    fn readable_to(&self, offset: u64) -> u64;

    /// Where the readable stretch that ends at `offset` starts.
    fn readable_from(&self, offset: u64) -> u64;

    /// Whether the missing stretch that ends at `offset` is known to end with a newline, so that what can be read from
    /// there starts a line.
    fn missing_ends_line(&self, _offset: u64) -> bool {
        false
    }
}

impl<C: Content + ?Sized> Content for &C {
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }

    fn readable_to(&self, offset: u64) -> u64 {
        (**self).readable_to(offset)
    }

    fn readable_from(&self, offset: u64) -> u64 {
        (**self).readable_from(offset)
    }

    fn missing_ends_line(&self, offset: u64) -> bool {
        (**self).missing_ends_line(offset)
    }
}

/// Reads a stretch of a [`Content`] in order.
pub struct Stretch<'a> {
    content: &'a dyn Content,
    at: u64,
    end: u64,
}

impl<'a> Stretch<'a> {
    /// Bytes `from..end` of `content`.
    pub fn new(content: &'a dyn Content, from: u64, end: u64) -> Self {
        Self {
            content,
            at: from,
            end,
        }
    }

    /// All of `content`, up to what is missing.
    pub fn all(content: &'a dyn Content) -> Self {
        Self::new(content, 0, content.bytes())
    }
}

impl Read for Stretch<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let want = left.min(buffer.len());
        let read = self.content.read_at(self.at, &mut buffer[..want])?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Reads bytes `from..end` of `content` into memory; shorter when bytes are missing.
pub(crate) fn bytes_of(content: &dyn Content, from: u64, end: u64) -> io::Result<Vec<u8>> {
    let end = end.min(content.bytes());
    let mut held = vec![0; usize::try_from(end.saturating_sub(from)).unwrap_or(0)];
    let mut filled = 0;
    while filled < held.len() {
        let read = content.read_at(from + filled as u64, &mut held[filled..])?;
        if read == 0 {
            break;
        }
        filled += read;
    }
    held.truncate(filled);
    Ok(held)
}

/// A stored file.
#[derive(Debug, Clone)]
pub struct FileContent {
    file: Arc<File>,
    bytes: u64,
}

impl FileContent {
    /// The first `bytes` bytes of `file`.
    pub fn new(file: File, bytes: u64) -> Self {
        Self {
            file: Arc::new(file),
            bytes,
        }
    }
}

impl Content for FileContent {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let want = left.min(buffer.len());
        self.file.read_at(&mut buffer[..want], offset)
    }

    fn readable_to(&self, _offset: u64) -> u64 {
        self.bytes
    }

    fn readable_from(&self, _offset: u64) -> u64 {
        0
    }
}

/// What memory holds of an output, in order; what it dropped is a hole that reads as 0 bytes.
#[derive(Debug, Default, Clone)]
pub struct MemoryContent<'a> {
    pieces: Vec<(u64, Cow<'a, [u8]>)>,
    bytes: u64,
    /// Where holes that end with a newline end.
    line_ends: Vec<u64>,
}

impl<'a> MemoryContent<'a> {
    /// An output held whole.
    pub fn whole(bytes: &'a [u8]) -> Self {
        let mut content = Self::default();
        content.push(Cow::Borrowed(bytes));
        content
    }

    /// Adds bytes at the end.
    pub(crate) fn push(&mut self, bytes: Cow<'a, [u8]>) {
        if bytes.is_empty() {
            return;
        }
        let at = self.bytes;
        self.bytes += bytes.len() as u64;
        self.pieces.push((at, bytes));
    }

    /// Adds a hole of `bytes` at the end; `ends_line` says whether its last byte is a newline.
    pub(crate) fn skip(&mut self, bytes: u64, ends_line: bool) {
        self.bytes += bytes;
        if bytes > 0 && ends_line {
            self.line_ends.push(self.bytes);
        }
    }

    /// The piece that byte `offset` is in.
    fn piece(&self, offset: u64) -> Option<usize> {
        let after = self.pieces.partition_point(|(at, _)| *at <= offset);
        let index = after.checked_sub(1)?;
        (offset < self.end_of(index)).then_some(index)
    }

    fn end_of(&self, index: usize) -> u64 {
        let (at, bytes) = &self.pieces[index];
        at + bytes.len() as u64
    }
}

impl Content for MemoryContent<'_> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(index) = self.piece(offset) else {
            return Ok(0);
        };
        let (at, bytes) = &self.pieces[index];
        let skip = usize::try_from(offset - at).expect("an offset into a piece is within memory");
        let read = buffer.len().min(bytes.len() - skip);
        buffer[..read].copy_from_slice(&bytes[skip..skip + read]);
        Ok(read)
    }

    fn readable_to(&self, offset: u64) -> u64 {
        let mut end = offset;
        while let Some(index) = self.piece(end) {
            end = self.end_of(index);
        }
        end
    }

    fn readable_from(&self, offset: u64) -> u64 {
        let mut start = offset;
        while let Some(index) = start.checked_sub(1).and_then(|before| self.piece(before)) {
            start = self.pieces[index].0;
        }
        start
    }

    fn missing_ends_line(&self, offset: u64) -> bool {
        self.line_ends.contains(&offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_ends_what_can_be_read_on_both_sides() {
        let mut content = MemoryContent::default();
        content.push(Cow::Borrowed(b"head"));
        content.push(Cow::Borrowed(b"er"));
        content.skip(10, true);
        content.push(Cow::Borrowed(b"tail"));
        assert_eq!(content.bytes(), 20);
        assert_eq!((content.readable_to(1), content.readable_from(20)), (6, 16));
        assert_eq!((content.readable_to(8), content.readable_from(8)), (8, 8));
        assert!(content.missing_ends_line(16) && !content.missing_ends_line(6));
        assert_eq!(bytes_of(&content, 2, 20).unwrap(), b"ader");
        assert_eq!(bytes_of(&content, 17, 20).unwrap(), b"ail");
    }
}
