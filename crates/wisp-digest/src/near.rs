//! Looking for a byte that is likely to be near.
//!
//! Most of what a reader looks for in a line, a blank, a colon, the line's end, stands within a few words. A search made
//! for long stretches costs more to begin than that takes word by word.

/// Bytes that are looked at word by word.
const NEAR: usize = 40;
/// The same where a line's end is looked for, of which it is known that it is near.
const FAR: usize = 64;
/// One in each byte of a word.
const ONES: u64 = u64::MAX / 0xFF;

/// Where a byte stands next.
#[inline]
pub(crate) fn near(wanted: u8, bytes: &[u8], from: usize) -> Option<usize> {
    let words = bytes.get(from..)?.as_chunks().0;
    match first(words.iter().take(NEAR / 8), |word| same(word, wanted)) {
        Ok(at) => Some(from + at),
        Err(passed) => farther(wanted, bytes, from + passed),
    }
}

/// The same where it is not near; but of a word's bytes at most the end may be all there is.
#[cold]
#[inline(never)]
fn farther(wanted: u8, bytes: &[u8], from: usize) -> Option<usize> {
    let rest = &bytes[from..];
    let found = if rest.len() < 8 {
        rest.iter().position(|byte| *byte == wanted)
    } else {
        memchr::memchr(wanted, rest)
    };
    found.map(|length| from + length)
}

/// Where one of two bytes stands first.
#[inline]
pub(crate) fn near_either(one: u8, other: u8, bytes: &[u8]) -> Option<usize> {
    let words = bytes.as_chunks().0.iter().take(NEAR / 8);
    match first(words, |word| same(word, one) | same(word, other)) {
        Ok(at) => Some(at),
        Err(at) => memchr::memchr2(one, other, &bytes[at..]).map(|length| at + length),
    }
}

/// Where a straight quotation mark stands first, or a character that is not of ASCII.
#[inline]
pub(crate) fn near_quote(bytes: &[u8]) -> Option<usize> {
    let marks = |word| same(word, b'`') | same(word, b'\'') | same(word, b'"') | word & (ONES << 7);
    match first(bytes.as_chunks().0.iter(), marks) {
        Ok(at) => Some(at),
        Err(at) => {
            let quote = |byte: &u8| matches!(byte, b'`' | b'\'' | b'"' | 0x80..);
            bytes[at..].iter().position(quote).map(|length| at + length)
        }
    }
}

/// Where the line ends or a tab stands, or near by something less that no text has; whichever is first.
#[inline]
pub(crate) fn near_end_or_tab(bytes: &[u8], from: usize) -> Option<usize> {
    const MORE: u64 = ONES * (b'\n' as u64 + 1);
    let words = bytes.get(from..)?.as_chunks().0;
    // The first byte that is less than that keeps its highest bit.
    let less = |word: u64| word.wrapping_sub(MORE) & !word & (ONES << 7);
    match first(words.iter().take(FAR / 8), less) {
        Ok(at) => Some(from + at),
        Err(passed) => {
            let at = from + passed;
            memchr::memchr2(b'\n', b'\t', &bytes[at..]).map(|length| at + length)
        }
    }
}

/// Where the first byte stands that is marked by its highest bit, or how many bytes were passed. Of the bytes of a word
/// only the first mark counts.
#[inline]
fn first<'a>(words: impl Iterator<Item = &'a [u8; 8]>, marks: impl Fn(u64) -> u64) -> Result<usize, usize> {
    let mut at = 0;
    for word in words {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return Ok(at + marked.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    Err(at)
}

/// Marks the first byte that is wanted: it becomes zero, and the lowest zero byte keeps its highest bit.
#[inline]
fn same(word: u64, wanted: u8) -> u64 {
    let word = word ^ (ONES * u64::from(wanted));
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::{near, near_either, near_end_or_tab, near_quote};

    #[test]
    fn a_byte_is_found_wherever_it_stands_first() {
        for length in 0..100 {
            // Bytes that differ from those wanted by their lowest and by their highest bit.
            let mut bytes = b"`\xE1\x0B\x8A".repeat(25);
            bytes.truncate(length);
            assert_eq!(near(b'a', &bytes, 0), None, "{length}");
            assert_eq!(near_either(b'a', b'\n', &bytes), None, "{length}");
            bytes.extend(b"aba\n`a\n");
            for from in 0..=length {
                assert_eq!(near(b'a', &bytes, from), Some(length), "{length} from {from}");
                let found = near_either(b'\n', b'a', &bytes[from..]);
                assert_eq!(found, Some(length - from), "{length} from {from}");
                assert_eq!(near_either(b'b', b'\n', &bytes[from..]), Some(length - from + 1));
            }
            assert_eq!(near(b'a', &bytes, bytes.len() + 1), None);
        }
    }

    #[test]
    fn a_quotation_mark_is_found_wherever_it_stands_first() {
        for length in 0..100 {
            let mut bytes = b"a\x7F&#(!b".repeat(15);
            bytes.truncate(length);
            assert_eq!(near_quote(&bytes), None, "{length}");
            bytes.extend(b"''a`\"");
            for mark in [b'\'', b'"', b'`', 0x80, 0xFF] {
                bytes[length] = mark;
                assert_eq!(near_quote(&bytes), Some(length), "{length} {mark}");
            }
        }
    }

    #[test]
    fn a_line_ends_or_has_a_tab() {
        for length in 0..100 {
            let mut bytes = b" \x7F\xE9!\x8A\xFF\x0B~".repeat(13);
            bytes.truncate(length);
            assert_eq!(near_end_or_tab(&bytes, 0), None, "{length}");
            bytes.extend(b"\n\t\n x");
            for from in 0..=length {
                for end in [b'\n', b'\t'] {
                    bytes[length] = end;
                    let found = near_end_or_tab(&bytes, from);
                    assert_eq!(found, Some(length), "{length} from {from}");
                }
            }
            assert_eq!(near_end_or_tab(&bytes, bytes.len() + 1), None);
        }
    }
}
