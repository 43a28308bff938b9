//! What a program says of itself when it ends: `cp: cannot stat 'x': No such file or directory`.
//!
//! The GNU coding standards ask for `program: message` on the standard error, and nearly every Unix tool does so, whatever
//! its output is otherwise. In a run that ended with a bad exit status and that no reader explains, the last such line with
//! words for a fault is quoted as the tool's own; one that only reports that there were faults (`tar: Exiting with
//! failure status due to previous errors`) only where none says which.

use crate::digest::Quote;
use crate::find::Find;
use crate::looks;
use crate::prefix;

/// The last of these lines that gives a reason, else the last that says that there was one.
pub(super) fn reason(last: &[Quote]) -> Option<&Quote> {
    let fault = |quote: &&Quote| is_fault(&quote.text);
    last.iter()
        .rev()
        .filter(fault)
        .find(|quote| !only_reports(&quote.text))
        .or_else(|| last.iter().rev().find(fault))
        .or_else(|| last.last().filter(|quote| is_refusal(&quote.text)))
}

/// Whether the line only reports that something else failed.
pub(super) fn only_reports(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "previous error",
        "exiting now",
        "returned error exit status",
        "returned exit code",
        "returned status ",
        "were encountered while processing",
        "aborted due to compilation errors",
        "cannot make progress due to",
        "failed to push some refs",
        "terminated because of error",
    ];
    let lower = text.to_lowercase();
    WORDS.iter().any(|words| lower.has(words))
}

/// Whether a program, or the word error before a message, says on the line what is wrong.
fn is_fault(text: &str) -> bool {
    let text = prefix::split(text).written().trim();
    if looks::passes(text) {
        return false;
    }
    // `meson.build:1:8: ERROR: …`, `ERROR    InvalidDistribution: …`
    if text.has(": ERROR: ") || text.has(": error: ") || text.starts_with("ERROR ") {
        return true;
    }
    let Some((program, message)) = text.part_at(": ") else {
        return false;
    };
    let message = message.trim();
    is_program(program) && !is_advice(message) && (program_is_word(program) || has_fault(message))
}

/// `cp`, `/usr/bin/ld`, `dpkg-deb`, `clang-16`: one word in small letters, or `Error`.
fn is_program(program: &str) -> bool {
    const LONGEST: usize = 40;
    const NO: &[&str] = &[
        "warning", "note", "hint", "info", "debug", "help", "usage", "http", "https", "file", "total",
    ];
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+');
    let starts = name.starts_with(|first: char| first.is_ascii_lowercase()) || program_is_word(program);
    starts
        && program.len() <= LONGEST
        && program.bytes().all(|byte| plain(byte) || byte == b'/')
        && !NO.contains(&name)
}

fn program_is_word(program: &str) -> bool {
    ["error", "Error", "ERROR", "fatal", "Fatal", "FATAL", "failure"].contains(&program)
}

/// `try 'curl --help' …` says nothing of what is wrong, nor does what goes on below.
fn is_advice(message: &str) -> bool {
    const STARTS: &[&str] = &[
        "try ",
        "usage: ",
        "warning: ",
        "note: ",
        "hint: ",
        "see ",
        "info: ",
    ];
    let lower = message.to_lowercase();
    message.is_empty() || message.ends_with(':') || STARTS.iter().any(|start| lower.starts_with(start))
}

/// Words by which messages say that something is wrong, in the wording of the C library and of common tools.
fn has_fault(message: &str) -> bool {
    const WORDS: &[&str] = &[
        "cannot",
        "can't",
        "couldn't",
        "not",
        "no",
        "unable",
        "invalid",
        "unknown",
        "unrecognized",
        "unrecognised",
        "missing",
        "unexpected",
        "must",
        "denied",
        "refused",
        "unterminated",
        "illegal",
        "bad",
        "unsupported",
        "undefined",
        "expected",
        "exists",
        "busy",
        "exceeded",
        "error",
        "errors",
        "failed",
        "failure",
        "fatal",
        "timeout",
        "corrupt",
        "corrupted",
        "broken",
        "unreachable",
        "ambiguous",
        "reset",
        "closed",
        "required",
        "mismatch",
        "incorrect",
        "malformed",
        "wrong",
        "nothing",
        "unreadable",
        "too",
        "is a directory",
    ];
    let lower = message.to_lowercase();
    let mut words = lower
        .split(|each: char| !each.is_alphanumeric() && each != '\'')
        .filter(|word| !word.is_empty());
    words.any(|word| WORDS.contains(&word))
        || lower.has("is a directory")
        || lower.has("timed out")
        || lower.has("out of ")
}

/// A sentence that ends the output and denies something: `Device "nope0" does not exist.`
fn is_refusal(text: &str) -> bool {
    const DENIALS: &[&str] = &[
        " does not ",
        " do not ",
        " did not ",
        " not found",
        "cannot ",
        "Cannot ",
        "could not ",
        "Could not ",
        "Unable to ",
        "unable to ",
        " is not ",
        "No such ",
        "no such ",
        "Expecting ",
        "Unknown ",
        "unknown ",
        "Invalid ",
        "invalid ",
    ];
    let text = prefix::split(text).written().trim();
    text.len() <= super::SENTENCE
        && text.starts_with(char::is_uppercase)
        && !text.ends_with([':', '?', ','])
        && !looks::passes(text)
        && DENIALS.iter().any(|denial| text.has(denial))
}

#[cfg(test)]
mod tests {
    use crate::{Digest, Options};

    fn says(log: &str) -> Option<u64> {
        let digest = Digest::of(log.as_bytes(), Options { exit: Some(2) });
        assert!(digest.failures.is_empty(), "{:?}", digest.failures);
        digest.outcome.last_word.map(|quote| quote.line)
    }

    #[test]
    fn what_a_program_says_of_itself_is_quoted() {
        for (log, line) in [
            (
                "'a' -> 't/a'\ncp: cannot stat 'b': No such file or directory\n",
                2,
            ),
            (
                "mv: cannot stat 'b': No such file or directory\nrenamed 'a' -> 't/a'\n",
                1,
            ),
            (
                "mkdir: cannot create directory 't': File exists\nmkdir: created directory 'd'\n",
                1,
            ),
            (
                "t/a\ntar: b: Cannot stat: No such file or directory\ntar: Exiting with failure status due to previous errors\n",
                2,
            ),
            (
                "\ngzip: stdin: not in gzip format\ntar: Child returned status 1\ntar: Error is not recoverable: exiting now\n",
                2,
            ),
            (
                "dpkg-deb: error: 'tide.deb' is not a Debian format archive\ndpkg: error processing archive tide.deb (--install):\n dpkg-deb --control subprocess returned error exit status 2\nErrors were encountered while processing:\n tide.deb\n",
                1,
            ),
            (
                "dpkg-query: no packages found matching tide\nii  bash  5.2  amd64  GNU Bourne Again SHell\n",
                1,
            ),
            (
                "curl: option --tide: is unknown\ncurl: try 'curl --help' or 'curl --manual' for more information\n",
                1,
            ),
            ("curl: (6) Could not resolve host: tide.invalid\n", 1),
            ("t/a\nfind: ‘quay’: No such file or directory\n", 2),
            ("sed: -e expression #1, char 4: unterminated `s' command\n", 1),
            ("awk: line 2: missing } near end of file\n", 1),
            (
                "Archive:  a\nunzip:  cannot find zipfile directory in one of a\n",
                2,
            ),
            ("Device \"nope0\" does not exist.\n", 1),
            ("Expecting value: line 1 column 12 (char 11)\n", 1),
            (
                "hint: x\nerror: src refspec main does not match any\nerror: failed to push some refs to 'origin'\n",
                2,
            ),
            ("Error: in prepare, no such table: tide\n", 1),
            (
                "scons: *** [tide.o] Source `tide.c' not found, needed by target `tide.o'.\nscons: building terminated because of errors.\n",
                1,
            ),
            (
                "tide.build:1:8: ERROR: Double quotes are not supported.\n\nA full log can be found at /tide/log.txt\n",
                1,
            ),
            ("ERROR Source tide is not a directory\n", 1),
        ] {
            assert_eq!(says(log), Some(line), "{log}");
        }
    }

    #[test]
    fn what_is_no_reason_is_not_quoted() {
        for log in [
            "mkdir: created directory 'd'\n",
            "warning: not a tide\n",
            "https://tide.invalid/not: no\n",
            "The gauges are listed below:\nno such gauge\n",
            "ok 3 cp: cannot stat 'b'\n",
        ] {
            assert_eq!(says(log), None, "{log}");
        }
    }

    #[test]
    fn a_run_that_succeeded_has_no_reason_for_a_failure() {
        let digest = Digest::of(
            b"rm: cannot remove 'a': No such file or directory\n",
            Options { exit: Some(0) },
        );
        assert_eq!(digest.outcome.last_word, None);
    }
}
