//! Every row of the table has a folder with four logs, and each is what its name says: `failing`, a run that failed;
//! `passing`, one that did not and is full of the words error and failed; `cascade`, a fault and what it set off;
//! `mixed`, the format inside another tool's log. What a digest says of them is checked in `fixtures.rs`.

mod common;

use std::path::{Path, PathBuf};

use common::expect::exit;
use wisp_digest::{Digest, FORMATS, Options, Verdict};

fn folder(format: &str) -> PathBuf {
    let slug: String = format
        .chars()
        .map(|each| if each.is_ascii_alphanumeric() { each } else { '-' })
        .collect();
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(slug)
}

/// The four logs of every folder, and what `.expect` must state beside each.
const LOGS: [&str; 4] = ["failing", "passing", "cascade", "mixed"];
const STATED: [&str; 6] = ["exit", "outcome", "errors", "warn", "cascade", "unexplained"];

#[test]
fn every_format_has_the_four_logs() {
    let mut faults = Vec::new();
    for format in FORMATS {
        for name in LOGS {
            let log = folder(format.name).join(name).with_extension("log");
            faults
                .extend(lacks(&log, format.name, name).map(|lack| format!("{} {name}: {lack}", format.name)));
        }
    }
    assert!(faults.is_empty(), "{} lacks\n{}", faults.len(), faults.join("\n"));
}

/// What one of the four lacks to be what its name says.
fn lacks(log: &Path, format: &str, name: &str) -> Option<String> {
    let Ok(bytes) = std::fs::read(log) else {
        return Some("no such log".to_owned());
    };
    let Ok(expected) = std::fs::read_to_string(log.with_extension("expect")) else {
        return Some("no expectations".to_owned());
    };
    if let Some(word) = STATED
        .iter()
        .find(|word| !expected.lines().any(|line| line.starts_with(&format!("{word} "))))
    {
        return Some(format!("does not state {word}"));
    }
    let digest = Digest::of(
        &bytes,
        Options {
            exit: exit(&expected),
        },
    );
    if !digest.formats.contains(&format) {
        return Some("the format read nothing in it".to_owned());
    }
    let right = match name {
        "passing" => passes(&bytes, &digest),
        "cascade" => fails(&digest) && sets_off(&digest),
        "mixed" => mixes(&digest),
        _ => fails(&digest),
    };
    (!right).then(|| format!("is not {name}"))
}

fn fails(digest: &Digest) -> bool {
    digest.outcome.verdict == Verdict::Failed && !digest.failures.is_empty()
}

/// A success that uses the words of failure: each of the two, and four of them in all.
fn passes(bytes: &[u8], digest: &Digest) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let (errors, fails) = (text.matches("error").count(), text.matches("fail").count());
    digest.outcome.verdict == Verdict::Succeeded
        && digest.failures.is_empty()
        && errors > 0
        && fails > 0
        && errors + fails >= 4
}

/// Some failure has lines that only report it, prints of it, or further diagnostics under it.
fn sets_off(digest: &Digest) -> bool {
    digest
        .failures
        .iter()
        .any(|failure| failure.cascade + failure.copies > 0 || failure.diagnostics > 1)
}

/// Another format, or a section of a wrapper, is in it too.
fn mixes(digest: &Digest) -> bool {
    digest.formats.len() > 1 || !digest.sections.is_empty()
}
