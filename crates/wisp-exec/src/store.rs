//! The places a stream's bytes are in once it has ended, and reading stretches of them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::spill::newlines;

/// A stream's head and tail in memory, and its spill file when there is one.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
    pub(crate) file: Option<File>,
}

/// A stretch of kept bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// The head's first bytes.
    Head { len: usize },
    /// The tail's bytes from here on.
    Tail { from: usize },
    /// Bytes of the file.
    File { at: u64, len: u64 },
}

impl Part {
    /// Leaves out bytes at the end. A tail always reaches to the stream's.
    pub(crate) fn shorten_end(&mut self, by: u64) {
        match self {
            Self::Head { len } => *len -= memory(by),
            Self::File { len, .. } => *len -= by,
            Self::Tail { .. } => {}
        }
    }

    /// Leaves out bytes at the start, as many of them as there are, and returns how many. A head always reaches to
    /// the stream's.
    pub(crate) fn shorten_start(&mut self, by: u64, length: u64) -> u64 {
        let by = by.min(length);
        match self {
            Self::Tail { from } => *from += memory(by),
            Self::File { at, len } => {
                *at += by;
                *len -= by;
            }
            Self::Head { .. } => {}
        }
        by
    }
}

/// A length or place in memory, of which there are never more than memory holds.
pub(crate) fn memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Store {
    /// The bytes of a part.
    pub(crate) fn length(&self, part: Part) -> u64 {
        match part {
            Part::Head { len } => len as u64,
            Part::Tail { from } => (self.tail.len() - from) as u64,
            Part::File { len, .. } => len,
        }
    }

    /// The bytes of some parts together.
    pub(crate) fn lengths(&self, parts: &[Part]) -> u64 {
        parts.iter().map(|part| self.length(*part)).sum()
    }

    /// The newlines in some parts together. What cannot be read has none.
    pub(crate) fn newlines(&self, parts: &[Part]) -> u64 {
        let mut block = vec![0; 64 * 1024];
        let mut count = 0;
        for part in parts {
            let mut reader = self.reader(*part, 0);
            while let Ok(read @ 1..) = reader.read(&mut block) {
                count += newlines(&block[..read]);
            }
        }
        count
    }

    /// Reads a part from so many bytes into it.
    pub(crate) fn reader(&self, part: Part, done: u64) -> PartReader<'_> {
        let store = self;
        PartReader { store, part, done }
    }

    /// Reads once from a part, `done` bytes into it; 0 at its end. A file shorter than it was is an error.
    pub(crate) fn read(&self, part: Part, done: u64, into: &mut [u8]) -> io::Result<usize> {
        let most = memory(self.length(part) - done).min(into.len());
        let into = &mut into[..most];
        match part {
            Part::Head { len } => (&self.head[..len][memory(done)..]).read(into),
            Part::Tail { from } => (&self.tail[from..][memory(done)..]).read(into),
            Part::File { at, .. } => {
                let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
                match file.read_at(into, at + done)? {
                    0 if most > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
                    read => Ok(read),
                }
            }
        }
    }
}

/// A part being read.
pub(crate) struct PartReader<'a> {
    store: &'a Store,
    part: Part,
    done: u64,
}

impl Read for PartReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.store.read(self.part, self.done, into)?;
        self.done += read as u64;
        Ok(read)
    }
}
