//! What the tests of the digest share: reading a case and asking the few questions all of them ask.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::disallowed_methods, reason = "tests read their fixtures")]

pub(crate) mod expect;

use wisp_digest::{Digest, Options, Verdict, View};

/// The bytes of a file under `tests/`.
pub(crate) fn bytes(path: &str) -> Vec<u8> {
    let path = format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("the fixture is in the repository")
}

/// The digest of a given case with its exit status; a failed one must not read as a success.
pub(crate) fn case(name: &str, exit: i32) -> Digest {
    let digest = Digest::of(&bytes(&format!("cases/{name}")), Options { exit: Some(exit) });
    let text = digest.render(64 * 1024, View::Notable);
    if exit == 0 {
        assert!(digest.failures.is_empty(), "{name}: invented {text}");
        assert!(text.starts_with("succeeded"), "{name}: {text}");
    } else {
        assert_eq!(digest.outcome.verdict, Verdict::Failed);
        assert!(text.starts_with("failed"), "{name}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{name}: colour codes reached the text");
    assert!(
        !text.contains("no errors") && !text.contains("no tests"),
        "{name}: {text}"
    );
    digest
}

/// The root lines of every cause, first and last.
pub(crate) fn roots(digest: &Digest) -> Vec<(u64, u64)> {
    digest
        .failures
        .iter()
        .map(|failure| (failure.lines.first, failure.lines.last))
        .collect()
}

/// The first line of every cause.
pub(crate) fn root_lines(digest: &Digest) -> Vec<u64> {
    digest
        .failures
        .iter()
        .map(|failure| failure.lines.first)
        .collect()
}

/// Where each cause points.
pub(crate) fn places(digest: &Digest) -> Vec<String> {
    digest
        .failures
        .iter()
        .map(|failure| {
            failure
                .location
                .as_ref()
                .map_or(String::new(), ToString::to_string)
        })
        .collect()
}

/// The lines of all warnings, in order.
pub(crate) fn warning_lines(digest: &Digest) -> Vec<u64> {
    let mut lines: Vec<u64> = digest
        .warnings
        .kinds
        .iter()
        .flat_map(|kind| kind.lines.clone())
        .collect();
    lines.sort_unstable();
    lines
}

/// The lines that only report each cause.
pub(crate) fn cascades(digest: &Digest) -> Vec<u64> {
    let mut lines: Vec<u64> = digest
        .failures
        .iter()
        .flat_map(|failure| failure.cascade_lines.clone())
        .collect();
    lines.sort_unstable();
    lines
}

/// The lines on which causes are printed again.
pub(crate) fn copies(digest: &Digest) -> Vec<u64> {
    let mut lines: Vec<u64> = digest
        .failures
        .iter()
        .flat_map(|failure| failure.copy_lines.clone())
        .collect();
    lines.sort_unstable();
    lines
}

/// The numbers of a tally.
pub(crate) fn tally(digest: &Digest, what: &str) -> Vec<(String, u64)> {
    digest
        .tallies
        .iter()
        .find(|tally| tally.what == what)
        .map(|tally| tally.counts.clone())
        .unwrap_or_default()
}

/// Expected numbers, in the order of the tally.
pub(crate) fn counts(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected
        .iter()
        .map(|(name, number)| ((*name).to_owned(), *number))
        .collect()
}

/// Whether some note says this.
pub(crate) fn notes(digest: &Digest, part: &str) -> bool {
    digest.notes.iter().any(|note| note.text.contains(part))
}
