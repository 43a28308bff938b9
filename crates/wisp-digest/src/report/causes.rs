//! When tests that fail at different places fail for one reason.
//!
//! A service that is not there or a module that is missing fails each test where it first needs it: the exception is the
//! same word for word, and there is one thing to fix. An assertion is not: two tests may both expect 1 and find 2.

use crate::find::Find;
use crate::finding::Finding;
use crate::joined::joined;

/// Marks that test runners put before what was thrown.
const MARKS: &[&str] = &["E ", "Error: ", "→ ", "× ", "Caused by: ", "Failure: ", "> "];

/// The key of the exception that the test ended with, when it tells the cause by itself.
pub(super) fn of_test(finding: &Finding) -> Option<String> {
    let quoted = finding.explain.iter().map(|quote| quote.text.as_str());
    let thrown = quoted.chain([finding.title.as_str()]).find_map(thrown)?;
    Some(joined!["thrown ", thrown])
}

/// `ConnectionRefusedError: [Errno 111] Connection refused`: a named exception with a message of some words.
fn thrown(text: &str) -> Option<&str> {
    let mut text = text.trim();
    while let Some(rest) = MARKS.iter().find_map(|mark| text.strip_prefix(mark)) {
        text = rest.trim_start();
    }
    let (name, message) = text.part_at(": ")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'$');
    let last = name.rsplit(['.', ':', '$']).next().unwrap_or(name);
    let named = ["Error", "Exception", "Timeout"]
        .iter()
        .any(|end| last.ends_with(end));
    let asserted = ["Assert", "Expectation", "Comparison", "Mismatch"]
        .iter()
        .any(|part| last.has(part));
    let says = message.split_whitespace().nth(2).is_some();
    (named && last.len() > "Error".len() && name.bytes().all(plain) && !asserted && says).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::thrown;

    #[test]
    fn an_exception_with_a_message_tells_the_cause_and_an_assertion_does_not() {
        for (text, told) in [
            (
                "E   ConnectionRefusedError: [Errno 111] Connection refused",
                Some("ConnectionRefusedError: [Errno 111] Connection refused"),
            ),
            (
                "ModuleNotFoundError: No module named 'tide'",
                Some("ModuleNotFoundError: No module named 'tide'"),
            ),
            (
                "java.net.ConnectException: no tide gauge there",
                Some("java.net.ConnectException: no tide gauge there"),
            ),
            ("AssertionError: expected 1 to be 2", None),
            (
                "org.opentest4j.AssertionFailedError: expected: <1> but was: <2>",
                None,
            ),
            ("org.junit.ComparisonFailure: expected 1 but was 2", None),
            ("Error: it did not work", None),
            ("KeyError: 'tide'", None),
            ("a sentence: with some words", None),
        ] {
            assert_eq!(thrown(text), told, "{text}");
        }
    }
}
