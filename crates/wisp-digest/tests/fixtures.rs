//! Fixtures by format: a log in the true form of a tool, and beside it what a digest of it must say.
//!
//! A `.expect` file has one statement a line: `exit N` or `exit -`; `fail FIRST[-LAST] PLACE TITLE`, in order, with
//! `-` for no place and the title a part of the real one; `errors N`; `warn`, `cascade` and `copies` with line
//! numbers; `tally NAME: 1 failed, 2 passed`; `note TEXT`; `section NAME`; `diff FILES +ADDED -REMOVED`;
//! `unexplained N`. What is not stated is not checked, but for the failures: none may be missing or added.

mod common;

use std::path::{Path, PathBuf};

use common::{cascades, copies, places, roots, tally, warning_lines};
use wisp_digest::{Digest, FORMATS, Options, View};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    found.sort();
    found
}

#[test]
fn every_fixture_says_what_is_expected() {
    let mut faults = Vec::new();
    for log in entries(&folder())
        .iter()
        .flat_map(|folder| entries(folder))
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
    {
        let expected =
            std::fs::read_to_string(log.with_extension("expect")).expect("each log has its expectations");
        let found = check(&std::fs::read(&log).expect("the log"), &expected);
        faults.extend(found.into_iter().map(|fault| {
            format!(
                "{}: {fault}",
                log.strip_prefix(folder()).expect("inside").display()
            )
        }));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_format_has_a_folder_of_fixtures() {
    let missing: Vec<&str> = FORMATS
        .iter()
        .map(|format| format.name)
        .filter(|name| !folder().join(slug(name)).is_dir())
        .collect();
    assert!(missing.is_empty(), "no fixtures for {missing:?}");
}

fn slug(name: &str) -> String {
    name.chars()
        .map(|each| if each.is_ascii_alphanumeric() { each } else { '-' })
        .collect()
}

/// What the digest says otherwise than expected.
fn check(bytes: &[u8], expected: &str) -> Vec<String> {
    let exit = expected
        .lines()
        .find_map(|line| line.strip_prefix("exit "))
        .and_then(|exit| exit.parse().ok());
    let digest = Digest::of(bytes, Options { exit });
    let mut faults = failures(&digest, expected);
    for line in expected.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let fault = match word {
            "errors" => differs(&digest.errors().to_string(), rest),
            "warn" => differs(&join(&warning_lines(&digest)), rest),
            "cascade" => differs(&join(&cascades(&digest)), rest),
            "copies" => differs(&join(&copies(&digest)), rest),
            "unexplained" => differs(&digest.unexplained.count.to_string(), rest),
            "tally" => tally_differs(&digest, rest),
            "note" => {
                (!digest.notes.iter().any(|note| note.text.contains(rest))).then(|| format!("no note {rest}"))
            }
            "section" => (!digest.sections.iter().any(|section| section.name == rest))
                .then(|| format!("no section {rest}")),
            "diff" => differs(
                &digest.diff.as_ref().map_or(String::new(), |diff| {
                    format!("{} +{} -{}", diff.count, diff.added, diff.removed)
                }),
                rest,
            ),
            _ => None,
        };
        faults.extend(fault.map(|fault| format!("{word}: {fault}")));
    }
    if !faults.is_empty() {
        faults.push(digest.render(4096, View::Notable));
    }
    faults
}

fn join(lines: &[u64]) -> String {
    lines
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

fn differs(found: &str, expected: &str) -> Option<String> {
    (found != expected).then(|| format!("found {found}, expected {expected}"))
}

fn tally_differs(digest: &Digest, rest: &str) -> Option<String> {
    let (what, counts) = rest.split_once(": ").expect("a name and numbers");
    let found: Vec<String> = tally(digest, what)
        .iter()
        .map(|(name, number)| format!("{number} {name}"))
        .collect();
    differs(&found.join(", "), counts)
}

fn failures(digest: &Digest, expected: &str) -> Vec<String> {
    let wanted: Vec<&str> = expected
        .lines()
        .filter_map(|line| line.strip_prefix("fail "))
        .collect();
    let mut faults = Vec::new();
    if wanted.len() != digest.failures.len() {
        faults.push(format!(
            "{} failures, expected {}",
            digest.failures.len(),
            wanted.len()
        ));
    }
    let found = roots(digest)
        .into_iter()
        .zip(places(digest))
        .zip(&digest.failures);
    for (((span, place), failure), wanted) in found.zip(wanted) {
        let mut parts = wanted.splitn(3, ' ');
        let lines = parts.next().unwrap_or("");
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let place = if place.is_empty() { "-".to_owned() } else { place };
        let right = (span.0.to_string(), span.1.to_string()) == (first.to_owned(), last.to_owned());
        if !right
            || Some(place.as_str()) != parts.next()
            || !failure.title.contains(parts.next().unwrap_or(""))
        {
            faults.push(format!(
                "found {}-{} {place} {}, expected {wanted}",
                span.0, span.1, failure.title
            ));
        }
    }
    faults
}
