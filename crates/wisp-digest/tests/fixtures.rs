//! Fixtures by format: a log in the true form of a tool, and beside it what a digest of it must say.
//!
//! Every row of the table has a folder with four logs: `failing`, a run that failed; `passing`, one that did not and is
//! full of the words error and failed; `cascade`, one fault and what it set off; `mixed`, the format inside another
//! tool's log. `common/expect.rs` says how expectations are written.

mod common;

use std::path::{Path, PathBuf};

use common::expect::check;
use wisp_digest::FORMATS;

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
