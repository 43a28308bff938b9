//! A run of whole lines and whether anything must be taken off them.
//!
//! Most of most logs is plain: valid UTF-8 without escape sequences, backspaces or progress frames. That is asked
//! once for a block of lines, so that a plain line is read where it lies. Where colour stands in a block, it is asked
//! again for each line, which a few words tell: that all of it is valid is known.

use std::ops::Range;

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
}

/// The next block of whole lines and what is left of them.
pub(crate) fn next(lines: &[u8]) -> (Block<'_>, &[u8]) {
    let near = &lines[..lines.len().min(BLOCK)];
    let end = memchr::memrchr(b'\n', near)
        .or_else(|| memchr::memchr(b'\n', &lines[near.len()..]).map(|at| near.len() + at))
        .map_or(lines.len(), |at| at + 1);
    let (bytes, rest) = lines.split_at(end);
    (Block::new(bytes), rest)
}

impl<'a> Block<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        let plain = text.is_some_and(is_plain);
        Self { bytes, text, plain }
    }

    /// The text of all of it, when no line needs cleaning but at its end.
    pub(crate) fn text(&self) -> Option<&'a str> {
        self.text.filter(|_| self.plain)
    }

    /// The text of a line that needs no cleaning but at its end.
    pub(crate) fn plain(&self, line: Range<usize>) -> Option<&'a str> {
        let text = self.text.filter(|_| line.len() <= limits::LINE)?;
        let line = &text[line];
        (self.plain || is_plain(line)).then(|| trimmed(line))
    }
}

fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2(0x1B, 0x08, bytes).is_none()
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
    use super::{line_end, next};
    use crate::clean::clean;

    /// Every line of the bytes, plain or cleaned, and how many were plain.
    fn lines(mut bytes: &[u8]) -> (Vec<String>, usize) {
        let (mut found, mut plain) = (Vec::new(), 0);
        while !bytes.is_empty() {
            let (block, rest) = next(bytes);
            let mut at = 0;
            for line in block.bytes.split_inclusive(|byte| *byte == b'\n') {
                let text = block.plain(at..at + line.len() - 1);
                plain += usize::from(text.is_some());
                found.push(text.map_or_else(|| clean(&line[..line.len() - 1]).into_owned(), str::to_owned));
                at += line.len();
            }
            bytes = rest;
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
        let (first, rest) = next(&long);
        assert_eq!(first.bytes.len(), 16_384);
        let (second, rest) = next(rest);
        assert_eq!(second.bytes.len(), 18_000 - 16_384);
        let (third, rest) = next(rest);
        assert_eq!((third.bytes.len(), third.plain(0..40_000)), (40_001, None));
        assert_eq!(rest, b"b\n");
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
