//! What a `.expect` file says of the log beside it, and whether a digest says the same.
//!
//! One statement a line: `exit N`, or `exit -` when it is not known; `outcome failed`, `succeeded` or `unknown`;
//! `fail FIRST[-LAST] PLACE TITLE`, in order, with `-` for no place and the title a part of the real one; `errors N`;
//! `warn`, `cascade` and `copies` with line numbers, or `-` for none; `tally NAME: 1 failed, 2 passed`; `note TEXT`;
//! `section NAME`; `says LINE` of the tool's own words on how it ended, `read NAMES` of the formats, `-` for none; `diff FILES +ADDED -REMOVED`; `unexplained N`. What is not stated is not checked, but for the
//! failures: none may be missing or added.

use super::{cascades, copies, places, roots, tally, warning_lines};
use wisp_digest::{Digest, Options, Verdict, View};

/// The exit status the expectations state.
pub(crate) fn exit(expected: &str) -> Option<i32> {
    expected
        .lines()
        .find_map(|line| line.strip_prefix("exit "))
        .and_then(|exit| exit.parse().ok())
}

/// What the digest says otherwise than expected.
pub(crate) fn check(bytes: &[u8], expected: &str) -> Vec<String> {
    let digest = Digest::of(bytes, Options { exit: exit(expected) });
    let mut faults = failures(&digest, expected);
    for line in expected.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let fault = match word {
            "outcome" => differs(verdict(&digest), rest),
            "errors" => differs(&digest.errors().to_string(), rest),
            "warn" => differs(&join(&warning_lines(&digest)), rest),
            "cascade" => differs(&join(&cascades(&digest)), rest),
            "copies" => differs(&join(&copies(&digest)), rest),
            "unexplained" => differs(&digest.unexplained.count.to_string(), rest),
            "tally" => tally_differs(&digest, rest),
            "says" => differs(&said(&digest), rest),
            "read" => differs(&formats(&digest), rest),
            "exit" | "fail" => None,
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
            _ => Some("no such statement".to_owned()),
        };
        faults.extend(fault.map(|fault| format!("{word}: {fault}")));
    }
    if !faults.is_empty() {
        faults.push(digest.render(4096, View::Notable));
    }
    faults
}

fn said(digest: &Digest) -> String {
    let word = digest.outcome.last_word.as_ref();
    word.map_or("-".to_owned(), |quote| quote.line.to_string())
}

fn formats(digest: &Digest) -> String {
    if digest.formats.is_empty() {
        return "-".to_owned();
    }
    digest.formats.join(", ")
}

fn verdict(digest: &Digest) -> &'static str {
    match digest.outcome.verdict {
        Verdict::Failed => "failed",
        Verdict::Succeeded => "succeeded",
        Verdict::Unknown => "unknown",
    }
}

fn join(lines: &[u64]) -> String {
    if lines.is_empty() {
        return "-".to_owned();
    }
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
