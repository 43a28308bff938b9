//! A run of whole lines and whether anything must be taken off them.
//!
//! Most of most logs is plain: valid UTF-8 without escape sequences, backspaces or progress frames. That is asked
//! once for a block of lines, so that a plain line is read where it lies. Where colour stands in a block, it is asked
//! again for each line, which a few words tell: that all of it is valid is known.

use std::borrow::Cow;
use std::ops::Range;

use crate::clean::clean;
use crate::limits;
use crate::near::{near, near_end_or_tab};

/// The most bytes that are looked at together; one longer line is a block of its own.
const BLOCK: usize = 16 * 1024;
/// The most bytes of a line after which the end of the next one is looked for word by word.
const SHORT: usize = 40;

/// Whole lines, each with its newline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    pub bytes: &'a [u8],
    /// All of it, where it is valid UTF-8.
    text: Option<&'a str>,
    plain: bool,
    /// What comes after them, the line that does at least.
    rest: &'a [u8],
}

/// The block of whole lines at the start of some of them. Of all of these a block is made but of those that begin at or
/// after `end`.
pub(crate) fn next(lines: &[u8], end: usize) -> Block<'_> {
    let near = &lines[..end.min(BLOCK)];
    let end = memchr::memrchr(b'\n', near)
        .or_else(|| memchr::memchr(b'\n', &lines[near.len()..]).map(|at| near.len() + at))
        .map_or(lines.len(), |at| at + 1);
    let (bytes, rest) = lines.split_at(end);
    Block::new(bytes, rest)
}

impl<'a> Block<'a> {
    fn new(bytes: &'a [u8], rest: &'a [u8]) -> Self {
        let mut block = Self {
            bytes,
            text: None,
            plain: false,
            rest,
        };
        if block.long_line().is_none() {
            block.text = std::str::from_utf8(bytes).ok();
            block.plain = block.text.is_some_and(is_plain);
        }
        block
    }

    /// The start of the line that is all of the block, when it is too long to be read to its end.
    pub(crate) fn long_line(&self) -> Option<&'a [u8]> {
        (self.bytes.len() > limits::LINE + 1).then(|| &self.bytes[..limits::LINE])
    }

    /// What comes after the block.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The text of all of it, when no line needs cleaning but at its end.
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.text.filter(|_| self.plain)
    }

    /// The text of a line that needs no cleaning but at its end.
    pub(crate) fn plain(&self, line: Range<usize>) -> Option<&'a str> {
        let line = &self.text?[line];
        (self.plain || is_plain(line)).then(|| trimmed(line))
    }

    /// What of a plain block comes after the line that ends at that byte, but for blanks: nothing after the last.
    #[inline]
    pub(crate) fn plain_after(&self, end: usize) -> Option<&'a [u8]> {
        if !self.plain {
            return None;
        }
        self.bytes.get(self.start_after(end)?..)
    }

    /// Where the line begins after the one that ends at that byte, but for blanks.
    #[inline]
    fn start_after(&self, end: usize) -> Option<usize> {
        let end = match self.bytes.get(end) {
            Some(b'\n') => end,
            _ => near(b'\n', self.bytes, end)?,
        };
        Some(end + 1)
    }

    /// The text of the line after the one that ends at that byte, but for blanks.
    pub(crate) fn after(&self, end: usize) -> Cow<'a, str> {
        let from = self.start_after(end).unwrap_or(self.bytes.len());
        if let Some(stop) = near(b'\n', self.bytes, from) {
            return match self.plain(from..stop) {
                Some(text) => Cow::Borrowed(text),
                None => clean(&self.bytes[from..stop]),
            };
        }
        clean(first_line(self.rest))
    }
}

/// The first of some lines without its end, as far as it is read.
pub(crate) fn first_line(lines: &[u8]) -> &[u8] {
    let near = &lines[..lines.len().min(limits::LINE)];
    &near[..memchr::memchr(b'\n', near).unwrap_or(near.len())]
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2(0x1B, 0x08, bytes).is_none()
        && memchr::memmem::find(bytes, b"^[[").is_none()
        && memchr::memchr_iter(b'\r', bytes).all(|at| bytes.get(at + 1) == Some(&b'\n'))
        && (text.is_ascii() || !text.contains('\u{FEFF}'))
}

/// Where the line ends that `from` is in, and whether a tab is before that. Where lines are short, as the one before was,
/// the first few words are looked at one by one, before a search is begun that is made for long stretches.
#[inline]
pub(crate) fn line_end(bytes: &[u8], from: usize, before: usize) -> Option<(usize, bool)> {
    let at = if before > SHORT {
        memchr::memchr2(b'\n', b'\t', bytes.get(from..)?).map(|length| from + length)
    } else {
        near_end_or_tab(bytes, from)
    }?;
    if bytes[at] == b'\n' {
        return Some((at, false));
    }
    near(b'\n', bytes, at).map(|end| (end, true))
}

/// The text without the blanks at its end.
pub(crate) fn trimmed(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(0x21..=0x7E) => text,
        _ => text.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, line_end, next};
    use crate::clean::clean;

    /// Every line of the bytes, plain or cleaned, and how many were plain.
    fn lines(mut bytes: &[u8]) -> (Vec<String>, usize) {
        let (mut found, mut plain) = (Vec::new(), 0);
        while !bytes.is_empty() {
            let block = next(bytes, bytes.len());
            let mut at = 0;
            for line in block.bytes.split_inclusive(|byte| *byte == b'\n') {
                let text = block.plain(at..at + line.len() - 1);
                plain += usize::from(text.is_some());
                found.push(text.map_or_else(|| clean(&line[..line.len() - 1]).into_owned(), str::to_owned));
                at += line.len();
            }
            bytes = block.rest();
        }
        (found, plain)
    }

    #[test]
    fn plain_lines_read_as_cleaned_ones() {
        let bytes = "a \nb\u{2003}\n\u{b}\né x\u{85}\r\n\r\n".as_bytes();
        let expected = ["a", "b", "", "é x", ""].map(str::to_owned).to_vec();
        assert_eq!(lines(bytes), (expected, 5));
    }

    #[test]
    fn a_line_with_anything_to_take_off_is_cleaned_and_those_beside_it_are_plain() {
        for odd in [&b"\x1b[1mx"[..], b"x\x08x", b"0\rx", b"\xEF\xBB\xBFx", b"x\xFF"] {
            let bytes = [b"plain\n", odd, b"\n"].concat();
            let (found, plain) = lines(&bytes);
            let valid = std::str::from_utf8(odd).is_ok();
            assert_eq!((found.len(), plain), (2, usize::from(valid)), "{odd:?}");
            assert_eq!(found[1], clean(odd));
        }
    }

    #[test]
    fn blocks_end_at_lines_and_a_long_line_is_one() {
        let long = [b"a\n".repeat(9_000), vec![b'x'; 40_000], b"\nb\n".to_vec()].concat();
        let block = |lines| next(lines, lines.len());
        let first = block(&long);
        assert_eq!(first.bytes.len(), 16_384);
        let second = block(first.rest());
        assert_eq!(second.bytes.len(), 18_000 - 16_384);
        let third = block(second.rest());
        assert_eq!(
            (third.bytes.len(), third.long_line().map(<[u8]>::len)),
            (40_001, Some(32_768))
        );
        assert_eq!((second.long_line(), third.rest()), (None, &b"b\n"[..]));
        let whole = [vec![b'x'; 32_768], b"\n".to_vec()].concat();
        assert_eq!(
            (
                block(&whole).long_line(),
                block(&whole).plain(0..32_768).map(str::len)
            ),
            (None, Some(32_768))
        );
        assert_eq!(next(b"a\nb\nc\n", 4).rest(), b"c\n");
    }

    #[test]
    fn the_line_after_is_known_wherever_it_lies() {
        let lines = |lines: &'static [u8], end| next(lines, end).after(1).into_owned();
        assert_eq!(lines(b"a  \nb \nc\n", 7), "b");
        assert_eq!(lines(b"a\n\nc\n", 3), "");
        assert_eq!(lines(b"a\n\x1b[1mb\r\nc\n", 9), "b");
        assert_eq!(lines(b"a\nb \nc\n", 2), "b");
        assert_eq!(lines(b"a\n\x1b[1mb\nc\n", 2), "b");
        assert_eq!(Block::new(b"a\n", b"b").after(1), "b");
    }

    #[test]
    fn a_line_ends_at_its_first_line_end_wherever_that_is() {
        for length in 0..100 {
            let mut bytes = vec![b'\x0B'; length];
            assert_eq!(line_end(&bytes, 0, 0), None);
            bytes.extend(b"\n\n\x0A");
            let mut odd = bytes.clone();
            odd[length / 2] = 0;
            let mut tabbed = bytes.clone();
            tabbed[length / 2] = b'\t';
            for from in 0..=length {
                let tab = from <= length / 2;
                for before in [0, 41] {
                    let found = line_end(&bytes, from, before);
                    assert_eq!(found, Some((length, false)), "{length} from {from}");
                    let found = line_end(&tabbed, from, before).filter(|_| length > 0);
                    let end = (length > 0).then_some((length, tab));
                    let ends = line_end(&odd, from, before).filter(|_| length > 0);
                    assert_eq!(ends.map(|(at, _)| at), end.map(|(at, _)| at));
                    assert_eq!(found, end, "{length} from {from}");
                }
            }
        }
    }
}
