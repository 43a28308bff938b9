//! No text in this crate tells a model to run something again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn nothing_says_to_run_a_command_again() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20);
    let allowed = "do not run the command again to see it";
    let mut seen = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap().to_lowercase();
        seen += text.matches(allowed).count();
        let text = text.replace(allowed, "");
        let banned = [
            "run it again",
            "run again",
            "rerun",
            "re-run",
            "run the command",
            "call again",
            "call it again",
            "once more to see",
            "try again",
            "repeat the command",
        ];
        for words in banned {
            assert!(!text.contains(words), "{} says `{words}`", file.display());
        }
    }
    assert!(seen >= 1, "the one sentence that forbids it is there");
}
