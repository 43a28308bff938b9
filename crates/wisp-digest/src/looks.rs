//! Whether a line looks like a failure, for the count of what no reader explained.
//!
//! Words count, not letters: `error_handler.rs`, `--fail-fast`, `0 failed`, `no errors` and
//! `errors=remount-ro` are not failures.

use crate::find::Find;

/// Literals one of which is in every line that [`like_failure`] can be true for.
pub(crate) const TRIGGERS: &[&str] = &[
    "error",
    "Error",
    "ERROR",
    "ailed",
    "AILED",
    "ailure",
    "AILURE",
    "FAIL",
    "panic",
    "Panic",
    "PANIC",
    "fatal",
    "Fatal",
    "FATAL",
    "crash",
    "Crash",
    "CRASH",
    "xception",
    "XCEPTION",
    "ssertion",
    "ASSERTION",
    "abort",
    "Abort",
    "egfault",
    "egmentation",
];

const WORDS: Words = Words::new(&[
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
]);

/// What is said to be expected is no failure.
const EXPECTED: &[&str] = &["as expected", "(expected", "expected)", "expected failure"];

/// What stands before a command that a shell echoes.
const ECHOES: &[&str] = &["$ ", "+ ", "++ "];

/// What stands before the name of something that passed.
const PASSED: &[&str] = &[
    "ok ", "PASS ", "PASS: ", "PASSED ", "[PASS] ", "[ OK ] ", "[OK] ", "✓ ", "✔ ", "√ ", "✅ ",
];

/// Whether the line begins as those do that name what passed, or what was run.
pub(crate) fn passes(text: &str) -> bool {
    ECHOES.iter().any(|echo| text.starts_with(echo))
        || PASSED.iter().any(|mark| text.trim_start().starts_with(mark))
}

/// Whether one of the words of failure stands in the line as a word that claims something.
pub(crate) fn like_failure(text: &str) -> bool {
    !passes(text)
        && words(text).any(|word| is_failure_word(word.bytes) && word.claims())
        && !EXPECTED.iter().any(|words| text.has(words))
}

/// Whether a line that looks like a failure states one, rather than having the word somewhere in a sentence or a name:
/// the word comes first (`error: x`, `[ERROR] x`, `FAILED x`), after a colon (`tern: fatal: x`), after a number
/// (`2 failed`), or it ends a short sentence (`Build failed`).
pub(crate) fn states_failure(text: &str) -> bool {
    let mut first = true;
    for word in words(text) {
        let head = std::mem::take(&mut first);
        if !is_failure_word(word.bytes) || !word.claims() {
            continue;
        }
        let rest = &text.as_bytes()[word.at + word.bytes.len()..];
        let loud = word.bytes.iter().all(u8::is_ascii_uppercase);
        let marked = matches!(rest, [] | [b':' | b']' | b'!' | b'[', ..] | [b'.']);
        let after_colon = text.as_bytes()[..word.at].ends_with(b": ") && marked;
        let of_count = is_count(text, &word);
        let qualified = is_exception_name(word.bytes) && rest.starts_with(b": ");
        if (head && (marked || loud)) || after_colon || of_count || qualified || ends_sentence(text, rest) {
            return true;
        }
    }
    false
}

/// `2 failed`, first in the line or in a list: `part 3 failed` is no count.
fn is_count(text: &str, word: &Word<'_>) -> bool {
    let before = text.get(..word.at).unwrap_or_default().trim_end();
    let start = before
        .trim_end_matches(|each: char| each.is_ascii_digit())
        .trim_end();
    start.len() < before.len() && (start.is_empty() || start.ends_with([',', ':', '|', '(', ';', '✖', '✗']))
}

/// Nothing follows the word, and few words stand before it.
fn ends_sentence(text: &str, rest: &[u8]) -> bool {
    const WORDS: usize = 5;
    let capital = text
        .trim_start()
        .starts_with(|first: char| first.is_ascii_uppercase());
    capital && matches!(rest, [] | [b'.' | b'!']) && words(text).take(WORDS + 1).count() <= WORDS
}

/// The first of the lists that has a word which stands in the line as one that claims something.
pub(crate) fn claimed(text: &str, lists: &[&Words]) -> Option<usize> {
    let mut first = None;
    for word in words(text) {
        let earlier = &lists[..first.unwrap_or(lists.len())];
        let list = earlier.iter().position(|list| list.have(word.bytes));
        if list.is_some() && word.claims() {
            first = list;
        }
    }
    first
}

/// Words in small letters, none longer than 31, and for each letter how long those are that begin with it: few of a
/// line's words are as long as one of these with the same letter.
pub(crate) struct Words {
    list: &'static [&'static str],
    lengths: [u32; 26],
}

impl Words {
    pub(crate) const fn new(list: &'static [&'static str]) -> Self {
        let (mut lengths, mut at) = ([0; 26], 0);
        while at < list.len() {
            let word = list[at].as_bytes();
            lengths[(word[0] - b'a') as usize] |= 1 << word.len();
            at += 1;
        }
        Self { list, lengths }
    }

    /// Whether the word is among them, in capitals or small letters.
    fn have(&self, word: &[u8]) -> bool {
        let letter = word[0].to_ascii_lowercase().wrapping_sub(b'a');
        let lengths = self.lengths.get(usize::from(letter)).copied().unwrap_or(0);
        word.len() < 32
            && lengths & (1 << word.len()) != 0
            && self
                .list
                .iter()
                .any(|each| word.eq_ignore_ascii_case(each.as_bytes()))
    }
}

/// A word of a line.
struct Word<'a> {
    bytes: &'a [u8],
    line: &'a [u8],
    at: usize,
    before: &'a [u8],
}

impl Word<'_> {
    /// Whether it says that something is so.
    fn claims(&self) -> bool {
        let length = self.bytes.len();
        let after = &self.line[self.at + length..];
        // `RegisterExecutionPolicyException /build/Tern.app` is what a step is called.
        let step = self.before.is_empty() && after.starts_with(b" /") && is_exception_name(self.bytes);
        stands_alone(self.line, self.at, length, is_exception_name(self.bytes))
            && !step
            && !negated(self.before)
            && !counted_zero(&self.line[self.at + length..])
    }
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let line = text.as_bytes();
    let (mut from, mut before) = (0, &line[..0]);
    std::iter::from_fn(move || {
        let mut at = from;
        while !is_word(*line.get(at)?) {
            at += 1;
        }
        let mut length = 1;
        while line.get(at + length).is_some_and(|byte| is_word(*byte)) {
            length += 1;
        }
        let bytes = &line[at..at + length];
        let word = Word {
            bytes,
            line,
            at,
            before,
        };
        (from, before) = (at + length, bytes);
        Some(word)
    })
}

fn is_word(byte: u8) -> bool {
    IN_WORDS[usize::from(byte)]
}

/// Which bytes words are made of; those of other scripts all are.
static IN_WORDS: [bool; 256] = {
    let mut words = [true; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        words[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_';
        byte += 1;
    }
    words
};

fn is_failure_word(word: &[u8]) -> bool {
    if word.len() < 4 {
        return false;
    }
    WORDS.have(word) || is_exception_name(word)
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
    use super::{like_failure, states_failure};

    #[test]
    fn a_failure_is_stated_first_after_a_colon_by_a_count_or_at_the_end() {
        for text in [
            "error: printed by the code under test",
            "  Error: x",
            "FAILED to open gauge 7",
            "[ERROR] x",
            "ERROR:root:reading failed",
            "tern: fatal: x",
            "2 failed",
            "java.lang.IllegalStateException: x",
            "Build failed",
            "error",
        ] {
            assert!(like_failure(text) && states_failure(text), "{text}");
        }
        for text in [
            "after failed second booking (state dump)",
            "the upload of part 3 failed, trying the next mirror",
            "insert: failed once, then done",
            "waiting until the last of them has at some time failed",
        ] {
            assert!(like_failure(text) && !states_failure(text), "{text}");
        }
    }

    #[test]
    fn the_name_of_a_step_or_of_what_passed_claims_nothing() {
        for text in [
            "RegisterExecutionPolicyException /build/Products/Tern.app (in target 'Tern')",
            "[PASS] test failure and recovery (gas: 78191)",
            "  ✓ shows an error if the mutation failed",
            "ok 7 - a panic is caught",
            "✅ errors are told",
        ] {
            assert!(!like_failure(text), "{text}");
        }
        assert!(like_failure("IllegalStateException: x"));
        assert!(like_failure("a NullPointerException /srv/a"));
    }

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
