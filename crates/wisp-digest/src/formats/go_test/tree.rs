//! A top-level test and its subtests, until the next one: only leaves count.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::{Kind, Quote};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, place_at_start};
use crate::report::{Finding, Report};

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl Outcome {
    /// `--- FAIL: TestSum/two (0.00s)`.
    pub(super) fn of(body: &str) -> Option<(Self, &str)> {
        let (outcome, rest) = if let Some(rest) = body.strip_prefix("--- FAIL: ") {
            (Self::Failed, rest)
        } else if let Some(rest) = body.strip_prefix("--- PASS: ") {
            (Self::Passed, rest)
        } else {
            (Self::Skipped, body.strip_prefix("--- SKIP: ")?)
        };
        Some((outcome, rest.last_part_at(" (").map_or(rest, |(name, _)| name)))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// The tests of the current top-level test.
#[derive(Debug, Default)]
pub(super) struct Tree {
    results: Vec<(Outcome, String, u64)>,
    /// The top-level test they belong to.
    top: String,
    /// The keys of the races reported since the last failed test.
    races: Vec<String>,
    /// The failed tests reported, by name, for a summary that lists them again.
    reported: BTreeMap<String, String>,
    parents: BTreeSet<String>,
    printed: BTreeMap<String, Vec<Quote>>,
    /// The failed test a panic has been reported for.
    panicked: Option<String>,
}

impl Tree {
    /// A test has ended. A top-level one closes the tree before it.
    pub(super) fn result(&mut self, outcome: Outcome, name: &str, line: &Line<'_>, report: &mut Report) {
        let top = name.split('/').next().unwrap_or(name);
        if top != self.top {
            self.flush_but(top, report);
            top.clone_into(&mut self.top);
        }
        // A subtest's own name may have a slash in it.
        for (at, _) in name.match_indices('/') {
            self.parents.insert(name[..at].to_owned());
        }
        if self.results.len() >= limits::PENDING * 16 {
            self.flush(report);
        }
        self.results.push((outcome, name.to_owned(), line.number));
    }

    /// A failed test in gotestsum's summary: it is one of those above, or all that is told of it.
    pub(super) fn again(&mut self, name: &str, line: &Line<'_>, report: &mut Report) {
        match self.reported.get(name) {
            Some(key) => _ = report.repeat(key, line.number),
            None => self.result(Outcome::Failed, name, line, report),
        }
    }

    /// A data race has been reported under this key.
    pub(super) fn raced(&mut self, key: String) {
        if self.races.len() < limits::LISTED {
            self.races.push(key);
        }
    }

    /// A line a test printed.
    pub(super) fn output(&mut self, name: &str, line: &Line<'_>) {
        if line.is_blank() || self.printed.len() > limits::PENDING {
            return;
        }
        match self.printed.get_mut(name) {
            Some(quotes) if quotes.len() < limits::EXPLAIN => quotes.push(line.quote()),
            Some(_) => {}
            None => _ = self.printed.insert(name.to_owned(), vec![line.quote()]),
        }
    }

    /// The test a panic belongs to: the one that failed last, or the one that is running.
    pub(super) fn last_failed(&self, running: Option<&str>) -> Option<String> {
        let failed = self
            .results
            .iter()
            .rev()
            .find(|(outcome, _, _)| *outcome == Outcome::Failed);
        failed
            .map(|(_, name, _)| name.clone())
            .or_else(|| running.map(str::to_owned))
    }

    /// The panic has been reported as the failure of this test.
    pub(super) fn took_panic(&mut self, name: &str) {
        self.panicked = Some(name.to_owned());
    }

    /// Reports the leaves.
    pub(super) fn flush(&mut self, report: &mut Report) {
        self.flush_but("", report);
        self.top.clear();
    }

    /// Reports the leaves, and keeps what the test that comes next has printed already.
    fn flush_but(&mut self, next: &str, report: &mut Report) {
        for (outcome, name, number) in std::mem::take(&mut self.results) {
            if self.parents.contains(&name) {
                continue;
            }
            let line = Line { number, text: "" };
            report.tally("go test", &[(outcome.word(), 1)], &line);
            if outcome == Outcome::Failed && self.panicked.as_deref() != Some(&name) {
                let printed = self.printed.remove(&name).unwrap_or_default();
                let races = std::mem::take(&mut self.races);
                let finding = failure(&name, number, printed);
                if races.is_empty() || !finding.title.ends_with(RACED) {
                    if let Some(key) = finding
                        .copy
                        .clone()
                        .filter(|_| self.reported.len() < limits::PENDING)
                    {
                        self.reported.insert(name, key);
                    }
                    report.fail(finding);
                } else {
                    for key in races {
                        if let Some(race) = report.known(&key) {
                            race.subject = Some(name.clone());
                        }
                    }
                    report.cascade(&line);
                }
            }
        }
        self.parents.clear();
        self.panicked = None;
        self.printed
            .retain(|name, _| !next.is_empty() && (name == next || name.starts_with(&joined![next, "/"])));
    }
}

/// All that a test says which failed for a race told above it.
const RACED: &str = "race detected during execution of test";

/// The first line a test printed with a place states why it failed.
fn failure(name: &str, number: u64, printed: Vec<Quote>) -> Finding {
    let stated = printed.iter().find_map(|quote| {
        let (location, rest) = place_at_start(quote.text.trim_start())?;
        Some((
            quote.line,
            location,
            rest.trim_start_matches(':').trim().to_owned(),
        ))
    });
    let line = Line { number, text: "" };
    // Tests that share a helper or a table fail at its place with its words.
    let cause = stated
        .as_ref()
        .filter(|(_, _, message)| !message.is_empty())
        .map(|(_, place, _)| joined![place, " ", Quoted(&printed)]);
    let mut finding = match stated {
        Some((at, location, message)) => {
            let title = if message.is_empty() {
                joined![name, " failed"]
            } else {
                joined![name, ": ", message]
            };
            Finding::new(Kind::Test, title, &Line { number: at, text: "" }).at(location)
        }
        None => Finding::new(Kind::Test, joined![name, " failed"], &line),
    };
    finding.explain = printed;
    finding
        .of(name)
        .because(cause)
        .known_as(joined!["go ", name, " ", number])
}
