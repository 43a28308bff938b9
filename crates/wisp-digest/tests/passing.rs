//! Logs of runs that passed and are full of the words error and failed: no failure may be reported in any. They are
//! those of `passing/`, and of every format's fixtures `passing.log` and the green runs of the real tools.

mod common;

use common::bytes;
use wisp_digest::{Digest, Options, Verdict, View, first_error};

/// The paths of all of them, below `tests/`.
fn corpus() -> Vec<String> {
    let mut paths: Vec<String> = names("passing")
        .into_iter()
        .map(|name| format!("passing/{name}"))
        .collect();
    for folder in names("fixtures") {
        let green = |name: &String| {
            name.strip_suffix(".log")
                .is_some_and(|name| name == "passing" || name.starts_with("real-green"))
        };
        let logs = names(&format!("fixtures/{folder}")).into_iter().filter(green);
        paths.extend(logs.map(|name| format!("fixtures/{folder}/{name}")));
    }
    paths
}

fn names(folder: &str) -> Vec<String> {
    let folder = format!("{}/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the corpus is in the repository")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn there_are_at_least_forty() {
    assert!(corpus().len() >= 40, "{}", corpus().len());
}

#[test]
fn with_exit_zero_nothing_failed() {
    for name in corpus() {
        let digest = Digest::of(&bytes(&name), Options { exit: Some(0) });
        let text = digest.render(16 * 1024, View::Notable);
        assert!(digest.failures.is_empty(), "{name}:\n{text}");
        assert_eq!(digest.outcome.verdict, Verdict::Succeeded, "{name}");
        assert!(!text.starts_with("failed"), "{name}:\n{text}");
    }
}

#[test]
fn without_an_exit_status_nothing_failed() {
    for name in corpus() {
        let digest = Digest::of(&bytes(&name), Options::default());
        let text = digest.render(16 * 1024, View::Notable);
        assert!(digest.failures.is_empty(), "{name}:\n{text}");
        assert_ne!(digest.outcome.verdict, Verdict::Failed, "{name}:\n{text}");
        let known = first_error(&bytes(&name)).filter(|first| first.known);
        assert_eq!(known, None, "{name}");
    }
}

#[test]
fn a_success_with_lines_left_over_says_so() {
    for name in corpus() {
        let digest = Digest::of(&bytes(&name), Options { exit: Some(0) });
        let text = digest.render(16 * 1024, View::Notable);
        let clean = text.starts_with("succeeded");
        assert_eq!(clean, digest.unexplained.count == 0, "{name}:\n{text}");
    }
}
