//! Lines out of a byte stream: split on the newline byte and on nothing else.
//!
//! The transport may cut anywhere: inside a line, inside a character, inside an escape. So bytes are gathered until
//! their newline arrives and only a whole line is ever decoded. A line may be large, since a whole tool call is
//! one, but it is bounded, so that a server gone mad cannot fill memory.

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;
use wisp_amount::grouped;

/// The longest line accepted by default: 32 MiB, its newline not counted. Ollama's own client stops at 8 MB.
pub const MAX_LINE_BYTES: usize = 32 << 20;

/// A line that is longer than the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a line of the reply is longer than {} bytes", grouped(*limit as u64))]
pub struct LineTooLong {
    /// The most bytes a line may have, its newline not counted.
    pub limit: usize,
}

/// Gathers chunks and gives whole lines. Each byte is looked at once, however small the chunks.
#[derive(Debug)]
pub struct LineSplitter {
    buffer: BytesMut,
    searched: usize,
    limit: usize,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new(MAX_LINE_BYTES)
    }
}

impl LineSplitter {
    /// A splitter whose lines have at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
        }
    }

    /// Takes a chunk as it came.
    pub fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole line, without its newline and the white space around it; blank ones are passed over. `None`
    /// until more bytes come.
    pub fn next_line(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        while let Some(line) = self.cut_line()? {
            let line = trimmed(&line);
            if !line.is_empty() {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// What stands after the last newline once the stream has ended, if it is more than white space.
    pub fn rest(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        self.searched = 0;
        let rest = self.buffer.split().freeze();
        self.within(rest.len())?;
        Ok(Some(trimmed(&rest)).filter(|rest| !rest.is_empty()))
    }

    fn cut_line(&mut self) -> Result<Option<Bytes>, LineTooLong> {
        let unseen = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', unseen) else {
            self.searched = self.buffer.len();
            return self.within(self.searched).map(|()| None);
        };
        let end = self.searched + offset;
        self.within(end)?;
        self.searched = 0;
        let line = self.buffer.split_to(end).freeze();
        self.buffer.advance(1);
        Ok(Some(line))
    }

    fn within(&self, length: usize) -> Result<(), LineTooLong> {
        if length > self.limit {
            return Err(LineTooLong { limit: self.limit });
        }
        Ok(())
    }
}

/// Splits a whole stream given as its chunks: what fuzzing and properties call. `limit` is a line's most bytes.
pub fn split_lines<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limit: usize,
) -> Result<Vec<Bytes>, LineTooLong> {
    let mut splitter = LineSplitter::new(limit);
    let mut lines = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        while let Some(line) = splitter.next_line()? {
            lines.push(line);
        }
    }
    lines.extend(splitter.rest()?);
    Ok(lines)
}

fn trimmed(line: &Bytes) -> Bytes {
    let kept = line.trim_ascii();
    line.slice_ref(kept)
}

#[cfg(test)]
mod tests {
    use super::{LineSplitter, split_lines};
    use proptest::prelude::*;

    fn texts(chunks: &[&[u8]], limit: usize) -> Vec<String> {
        let lines = split_lines(chunks.iter().copied(), limit).expect("within the bound");
        lines
            .iter()
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect()
    }

    #[test]
    fn a_line_may_have_exactly_the_limit() {
        assert_eq!(texts(&[b"12345\n"], 5), ["12345"]);
        assert_eq!(texts(&[b"12345"], 5), ["12345"]);
        assert!(split_lines([b"123456\n".as_slice()], 5).is_err());
        assert!(split_lines([b"123456".as_slice()], 5).is_err());
        assert!(split_lines([b"123".as_slice(), b"456"], 5).is_err());
    }

    #[test]
    fn blank_lines_and_carriage_returns_are_passed_over() {
        assert_eq!(texts(&[b"\r\na\r\n\n \n b\r\n"], 9), ["a", "b"]);
    }

    #[test]
    fn nothing_is_given_before_its_newline() {
        let mut splitter = LineSplitter::default();
        splitter.push(b"{\"a\":1}");
        assert_eq!(splitter.next_line(), Ok(None));
        splitter.push(b"\n");
        assert_eq!(
            splitter.next_line().expect("fits").as_deref(),
            Some(b"{\"a\":1}".as_slice())
        );
        assert_eq!(splitter.rest(), Ok(None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn chunk_borders_change_nothing(
            text in "[a-c\u{e9}\u{1f389}\n\r ]{0,80}",
            cuts in prop::collection::vec(1usize..7, 0..40),
        ) {
            let bytes = text.as_bytes();
            let whole = split_lines([bytes], 4096).expect("short");
            let mut chunks = Vec::new();
            let mut rest = bytes;
            for cut in cuts {
                let (chunk, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(chunk);
                rest = tail;
            }
            chunks.push(rest);
            prop_assert_eq!(whole, split_lines(chunks, 4096).expect("short"));
        }
    }
}
