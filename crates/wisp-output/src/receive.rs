//! An output that arrives as a reader of unknown length: a pipe into wisp, a file read whole.
//!
//! It is kept as it is read, in bounded memory. Its two ends are remembered on the way, so that it can be shown
//! when the disk fails halfway.

use std::collections::VecDeque;
use std::io::{self, Read};

use memchr::memchr_iter;

use crate::output::{Measured, Output, Piece, Stream};
use crate::present::{Context, Place, Presented, keep, present, unkept};

/// Reads `source` to its end and presents it as [`present()`] does. Errors are the source's.
pub fn receive(source: impl Read + Send, place: Place<'_>, context: &Context<'_>) -> io::Result<Presented> {
    let mut ends = Ends::new(source, context.budget);
    let mut start = Vec::new();
    ends.by_ref()
        .take(context.budget as u64 + 1)
        .read_to_end(&mut start)?;
    if start.len() <= context.budget {
        return Ok(present(Output::text(start), place, context));
    }
    let why = {
        let pieces = vec![
            Piece::Bytes(Box::new(start.as_slice())),
            Piece::Bytes(Box::new(&mut ends)),
        ];
        let stream = Stream::unmeasured(start.as_slice()).with_pieces(pieces);
        match keep(&mut Output::stream(stream), place, context) {
            Ok(presented) => return Ok(presented),
            Err(why) => why,
        }
    };
    // What could not be kept is still read to its end, so that its tail and its size are known.
    io::copy(&mut ends, &mut io::sink())?;
    let whole = ends.measured();
    let tail: Vec<u8> = ends.tail.into();
    let stream = Stream::ends(None, (start, tail), whole);
    Ok(unkept(&Output::stream(stream), context, why))
}

/// A reader that counts what passes and remembers its end.
struct Ends<R> {
    source: R,
    bound: usize,
    /// The last bytes after the first `bound + 1`, which the caller holds.
    tail: VecDeque<u8>,
    bytes: u64,
    newlines: u64,
    /// The byte before the tail, once one was dropped.
    dropped: Option<u8>,
}

impl<R: Read> Ends<R> {
    fn new(source: R, bound: usize) -> Self {
        Self {
            source,
            bound,
            tail: VecDeque::new(),
            bytes: 0,
            newlines: 0,
            dropped: None,
        }
    }

    fn measured(&self) -> Measured {
        Measured {
            bytes: self.bytes,
            newlines: self.newlines,
            dropped_ends_line: self.dropped == Some(b'\n'),
        }
    }
}

impl<R: Read> Read for Ends<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let bytes = &buffer[..read];
        let held = (self.bound as u64 + 1).saturating_sub(self.bytes);
        let after = usize::try_from(held).unwrap_or(usize::MAX).min(read);
        self.tail.extend(&bytes[after..]);
        let over = self.tail.len().saturating_sub(self.bound);
        self.dropped = self.tail.drain(..over).next_back().or(self.dropped);
        self.bytes += read as u64;
        self.newlines += memchr_iter(b'\n', bytes).count() as u64;
        Ok(read)
    }
}
