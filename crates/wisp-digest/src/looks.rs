//! Whether a line looks like a failure, for the count of what no reader explained.
//!
//! Words count, not letters: `error_handler.rs`, `--fail-fast`, `0 failed`, `no errors` and
//! `errors=remount-ro` are not failures.

/// Literals one of which is in every line that [`like_failure`] can be true for.
pub(crate) const TRIGGERS: &[&str] = &[
    "rror",
    "RROR",
    "ailed",
    "AILED",
    "ailure",
    "AILURE",
    "FAIL",
    "anic",
    "PANIC",
    "atal",
    "ATAL",
    "rash",
    "RASH",
    "xception",
    "XCEPTION",
    "ssertion",
    "ASSERTION",
    "bort",
    "egfault",
    "egmentation",
];

const WORDS: &[&str] = &[
    "error",
    "errors",
    "failed",
    "failure",
    "failures",
    "fail",
    "panicked",
    "panic",
    "fatal",
    "crash",
    "crashed",
    "exception",
    "assertion",
    "aborted",
    "abort",
    "segfault",
    "segmentation",
];

/// What is said to be expected is no failure.
const EXPECTED: &[&str] = &["as expected", "(expected", "expected)", "expected failure"];

/// Whether one of the words of failure stands in the line as a word that claims something.
pub(crate) fn like_failure(text: &str) -> bool {
    !["$ ", "+ ", "++ "].iter().any(|echo| text.starts_with(echo))
        && claims(text, is_failure_word)
        && !EXPECTED.iter().any(|words| text.contains(words))
}

/// Whether one of these words stands in the line as a word that claims something.
pub(crate) fn says(text: &str, words: &[&str]) -> bool {
    claims(text, |word| {
        words
            .iter()
            .any(|each| word.eq_ignore_ascii_case(each.as_bytes()))
    })
}

fn claims(text: &str, wanted: impl Fn(&[u8]) -> bool) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut before: &[u8] = b"";
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        let word = &bytes[at..at + length];
        if wanted(word)
            && stands_alone(bytes, at, length, is_exception_name(word))
            && !negated(before)
            && !counted_zero(&bytes[at + length..])
        {
            return true;
        }
        before = word;
        at += length;
    }
    false
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_failure_word(word: &[u8]) -> bool {
    if word.len() < 4 {
        return false;
    }
    WORDS
        .iter()
        .any(|each| word.eq_ignore_ascii_case(each.as_bytes()))
        || is_exception_name(word)
}

/// `NullPointerException`, `AssertionError`: a name in capitals that ends so.
fn is_exception_name(word: &[u8]) -> bool {
    word.len() > 9
        && word[0].is_ascii_uppercase()
        && (word.ends_with(b"Exception") || word.ends_with(b"Error"))
}

/// Not a part of a path, a flag, a package name or an assignment.
fn stands_alone(bytes: &[u8], at: usize, length: usize, qualified: bool) -> bool {
    let before = at.checked_sub(1).map(|at| bytes[at]);
    let after = bytes.get(at + length).copied();
    let next = bytes.get(at + length + 1).copied();
    let joined_before = matches!(before, Some(b'-' | b'/' | b'\\' | b'@' | b'#' | b'$' | b'='))
        || (before == Some(b'.') && !qualified);
    let joined_after = match after {
        Some(b'-' | b'/' | b'\\' | b'=' | b'(' | b'@') => true,
        Some(b'.' | b':') => next.is_some_and(|byte| is_word(byte) || byte == b':'),
        _ => false,
    };
    !(joined_before || joined_after)
}

fn negated(before: &[u8]) -> bool {
    [
        &b"0"[..],
        b"no",
        b"without",
        b"zero",
        b"expected",
        b"any",
        b"on",
        b"if",
    ]
    .iter()
    .any(|each| before.eq_ignore_ascii_case(each))
}

/// `Failed: 0`, `errors = 0`.
fn counted_zero(after: &[u8]) -> bool {
    let blanks = after
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b':' | b'=' | b'\t'))
        .count();
    blanks > 0
        && after.get(blanks) == Some(&b'0')
        && !after
            .get(blanks + 1)
            .is_some_and(|byte| is_word(*byte) || *byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::like_failure;

    #[test]
    fn claims_are_seen() {
        for text in [
            "error: x",
            "2 failed",
            "FATAL: no",
            "it crashed",
            "java.lang.IllegalStateException: x",
            "[ERROR] x",
            "Build failed",
        ] {
            assert!(like_failure(text), "{text}");
        }
    }

    #[test]
    fn mere_letters_are_not() {
        for text in [
            "error_handler.rs",
            "cargo test --fail-fast",
            "0 failed, 0 errors",
            "no errors",
            "errors=remount-ro",
            "Failed: 0",
            "sys/error.h",
            "flamingo-errors==1.2",
            "src/error.rs:3",
            "ERROR_LEVEL=error",
            "terrors",
            "returns_error",
            "Errors: 0, x",
        ] {
            assert!(!like_failure(text), "{text}");
        }
    }
}
