//! Telling a binary output from text with a few odd bytes in it.

/// How much of an output is looked at, in bytes.
const SAMPLE: usize = 8 * 1024;

/// Whether an output that starts with `head` is binary: of its first 8 KiB more than three in ten bytes are
/// neither text nor something a terminal program prints, or a NUL stands in a file that says it is no text.
pub fn is_binary(head: &[u8]) -> bool {
    let sample = &head[..head.len().min(SAMPLE)];
    let nuls = memchr::memchr_iter(0, sample).count();
    let odd = control_bytes(sample) + invalid_bytes(sample);
    let named = nuls > 0 && MAGIC.iter().any(|magic| sample.starts_with(magic));
    named || (odd + nuls) * 10 > sample.len() * 3
}

/// First bytes of formats that are never text.
const MAGIC: [&[u8]; 8] = [
    b"\x7fELF",
    b"\x89PNG",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"\xff\xd8\xff",
    b"\xcf\xfa\xed\xfe",
    b"GIF8",
    b"\0asm",
];

/// Control characters no terminal program prints, NUL aside.
fn control_bytes(sample: &[u8]) -> usize {
    let odd = |byte: &&u8| **byte < b' ' && !matches!(**byte, 0 | 7..=13 | 0x1b);
    sample.iter().filter(odd).count()
}

/// Bytes that are no part of a UTF-8 character; one cut off at the end of the sample is not counted.
fn invalid_bytes(sample: &[u8]) -> usize {
    let invalid: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if sample.len() == SAMPLE {
        invalid.saturating_sub(3)
    } else {
        invalid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_is_binary_and_text_with_nuls_is_not() {
        let mut program = b"\x7fELF".to_vec();
        program.extend((0..16).flat_map(|_| 0..=255u8));
        assert_eq!(program.len(), 4_100);
        assert!(is_binary(&program));
        assert!(is_binary(&program[4..]), "also without its name");
        assert!(!is_binary(b"first line\nkey\x00value\n\x00\x00\x00\nlast line\n"));
        assert!(!is_binary(b""));
        assert!(!is_binary("größe 漢 🐟\n".as_bytes()));
    }

    #[test]
    fn a_character_cut_by_the_sample_does_not_count() {
        let mut text = vec![b'a'; SAMPLE - 2];
        text.extend("漢".as_bytes());
        assert!(!is_binary(&text));
    }
}
