//! The lines of a file, forwards and backwards, in blocks: memory is a block and the longest line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

/// How much is read at once.
pub(crate) const BLOCK: usize = 64 * 1024;

/// One line, without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it starts in the file.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether a newline ends it; only a file's last line may have none.
    pub(crate) ended: bool,
}

/// The lines from an offset on.
#[derive(Debug)]
pub(crate) struct Forward<R> {
    reader: BufReader<R>,
    offset: u64,
}

impl<R: Read> Forward<R> {
    /// The lines of what `reader` has left, the first of which starts at `offset`.
    pub(crate) fn new(reader: R, offset: u64) -> Self {
        let reader = BufReader::with_capacity(BLOCK, reader);
        Self { reader, offset }
    }
}

impl<R: Read> Iterator for Forward<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        let read = match self.reader.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(e) => return Some(Err(e)),
        };
        let offset = self.offset;
        self.offset += read as u64;
        let ended = bytes.pop_if(|byte| *byte == b'\n').is_some();
        Some(Ok(Line { offset, bytes, ended }))
    }
}

/// The lines from an offset back to the file's start, the last first.
#[derive(Debug)]
pub(crate) struct Backward<'a> {
    file: &'a File,
    /// Where `held` starts in the file.
    start: u64,
    /// Bytes read and not yet given out.
    held: Vec<u8>,
    /// Whether the line at the end of `held` is ended by a newline that is no longer in it.
    ended: bool,
    done: bool,
}

impl<'a> Backward<'a> {
    /// The lines before `end`, which is the file's length or the start of a line.
    pub(crate) fn new(file: &'a File, end: u64) -> io::Result<Self> {
        let mut lines = Self {
            file,
            start: end,
            held: Vec::new(),
            ended: false,
            done: end == 0,
        };
        lines.more()?;
        lines.ended = lines.held.pop_if(|byte| *byte == b'\n').is_some();
        Ok(lines)
    }

    /// Reads the block before `held`; a block grows with the line that does not fit one.
    fn more(&mut self) -> io::Result<()> {
        let size = self.held.len().max(BLOCK) as u64;
        let from = self.start.saturating_sub(size);
        let size = usize::try_from(self.start - from).map_err(io::Error::other)?;
        let mut block = vec![0; size];
        self.file.read_exact_at(&mut block, from)?;
        block.append(&mut self.held);
        self.held = block;
        self.start = from;
        Ok(())
    }

    fn line(&mut self) -> io::Result<Line> {
        loop {
            let newline = memchr::memrchr(b'\n', &self.held);
            if newline.is_none() && self.start > 0 {
                self.more()?;
                continue;
            }
            let begin = newline.map_or(0, |at| at + 1);
            let bytes = self.held.split_off(begin);
            let ended = std::mem::replace(&mut self.ended, true);
            self.held.pop();
            self.done = newline.is_none();
            let offset = self.start + begin as u64;
            return Ok(Line { offset, bytes, ended });
        }
    }
}

impl Iterator for Backward<'_> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let line = self.line();
        self.done |= line.is_err();
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn both_ways(bytes: &[u8]) -> (Vec<Line>, Vec<Line>) {
        let file = file_of(bytes);
        let forward = Forward::new(bytes, 0).collect::<io::Result<_>>().unwrap();
        let backward = Backward::new(&file, bytes.len() as u64).unwrap();
        let mut backward: Vec<_> = backward.collect::<io::Result<_>>().unwrap();
        backward.reverse();
        (forward, backward)
    }

    #[test]
    fn a_line_longer_than_a_block_is_whole() {
        let mut bytes = b"first\n".to_vec();
        bytes.extend(vec![b'x'; 3 * BLOCK + 7]);
        bytes.extend(b"\n\nlast");
        let (forward, backward) = both_ways(&bytes);
        assert_eq!(forward, backward);
        let lengths: Vec<_> = forward.iter().map(|l| (l.bytes.len(), l.ended)).collect();
        assert_eq!(lengths, [(5, true), (3 * BLOCK + 7, true), (0, true), (4, false)]);
    }

    #[test]
    fn a_newline_at_a_block_border_ends_one_line() {
        for extra in [0, 1, 2] {
            let mut bytes = vec![b'a'; extra];
            bytes.push(b'\n');
            bytes.extend(vec![b'b'; BLOCK - 1]);
            bytes.push(b'\n');
            let (forward, backward) = both_ways(&bytes);
            assert_eq!(forward, backward);
            assert_eq!(forward.len(), 2);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn backwards_is_forwards_reversed(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..40)) {
            let (forward, backward) = both_ways(&bytes);
            prop_assert_eq!(forward, backward);
        }
    }
}
