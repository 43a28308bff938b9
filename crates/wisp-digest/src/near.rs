//! Looking for a byte that is likely to be near.
//!
//! Most of what a reader looks for in a line, a blank, a colon, the line's end, stands within a few words. A search made
//! for long stretches costs more to begin than that takes word by word.

/// Bytes that are looked at word by word.
const NEAR: usize = 40;
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

/// Where the line ends that begins at `from`, if no tab and nothing else that is less than a blank stands in it.
#[inline]
pub(crate) fn end_without_control(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    // The first byte that is less keeps its highest bit; of those after it nothing is asked.
    let less = |word: u64| word.wrapping_sub(ONES * u64::from(b' ')) & !word & (ONES << 7);
    let at = first(rest.as_chunks().0.iter(), less).or_else(|passed| {
        let last = rest[passed..].iter().position(|byte| *byte < b' ');
        last.map(|at| passed + at).ok_or(())
    });
    at.ok().filter(|at| rest[*at] == b'\n').map(|at| from + at)
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
    use super::{end_without_control, near, near_either, near_quote};

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
    fn a_line_without_control_characters_ends_at_its_end() {
        for length in 0..100 {
            let mut bytes = b" \x7F\xE9!\x80\xFF~".repeat(15);
            bytes.truncate(length);
            assert_eq!(end_without_control(&bytes, 0), None, "{length}");
            bytes.extend(b"\n\x1F\n x");
            for from in 0..=length {
                assert_eq!(
                    end_without_control(&bytes, from),
                    Some(length),
                    "{length} from {from}"
                );
            }
            for control in [b'\t', b'\r', b'\0', 0x1F, 0x1B] {
                bytes[length] = control;
                assert_eq!(end_without_control(&bytes, 0), None, "{length} {control}");
            }
            assert_eq!(end_without_control(&bytes, bytes.len() + 1), None);
        }
    }
}
