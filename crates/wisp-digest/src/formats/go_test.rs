//! `go test`: trees of tests, packages, panics and races; and the same as JSON with `-json`.
//!
//! Written from real runs of Go 1.19 and 1.26 and gotestsum 1.13. A parent fails because a subtest did: only leaves
//! count. A panic ends its package, so tests after it have no result, and the digest says so.

mod json;
mod panic;
mod tree;

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, number_before};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};
use panic::Panic;
use tree::{Outcome, Tree};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "go test",
    tools: "go test, go test -json, gotestsum, panics and races of Go programs",
    recognises: "failed leaf tests with what they printed, packages that do not build, panics with the first own frame, data races",
    version: "Go 1.26",
    triggers: &[
        "=== RUN",
        "=== NAME",
        "=== CONT",
        "=== PAUSE",
        "--- FAIL",
        "--- PASS",
        "--- SKIP",
        "FAIL",
        "ok  \t",
        "?   \t",
        "panic: ",
        "DATA RACE",
        "[build failed]",
        "[setup failed]",
        "fatal error: ",
        "\"Action\":",
        "exit status ",
        "=== SKIP: ",
        "=== Failed",
        "=== Errors",
        "=== Skipped",
        "DONE ",
    ],
    reader: || Box::<GoTest>::default(),
};

/// One package's run, or several one after the other.
#[derive(Debug, Default)]
pub(super) struct GoTest {
    tree: Tree,
    current: Option<String>,
    panic: Option<Panic>,
    race: Option<Finding>,
    packages: json::Packages,
    seen: bool,
}

impl Reader for GoTest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.starts_with('{') {
            return self.packages.line(line, report);
        }
        if let Some(step) = self.package_end(line, report) {
            return step;
        }
        if let Some(panic) = &mut self.panic {
            if panic.line(line) {
                return Step::Hold;
            }
            self.end_panic(report);
        }
        if self.race.is_some() {
            return self.in_race(line, report);
        }
        self.test_line(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.end_panic(report);
        if let Some(finding) = self.race.take() {
            report.fail(finding);
        }
        self.tree.flush(report);
        self.packages.finish(report);
    }
}

impl GoTest {
    fn test_line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(name) = running(line.text) {
            self.seen = true;
            self.current = Some(name.to_owned());
            return Step::Hold;
        }
        if let Some(step) = self.summed(line, report) {
            return step;
        }
        if let Some((outcome, name)) = Outcome::of(line.body()) {
            self.seen = true;
            self.current = (outcome == Outcome::Failed).then(|| name.to_owned());
            self.tree.result(outcome, name, line, report);
            return Step::Hold;
        }
        if let Some(panic) = Panic::start(line, self.seen) {
            self.panic = Some(panic);
            return Step::Hold;
        }
        if line.text == "WARNING: DATA RACE" {
            self.race = Some(Finding::new(Kind::Crash, "data race", line));
            return Step::Hold;
        }
        self.printed(line)
    }

    /// gotestsum's summary: `=== FAIL: net TestDive/two (0.00s)` with what it printed, and `DONE 5 tests, …`.
    fn summed(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if ["=== Failed", "=== Errors", "=== Skipped"].contains(&line.text) {
            self.current = None;
            return Some(Step::Take);
        }
        if let Some(rest) = line.text.strip_prefix("DONE ").filter(|rest| rest.has(" test")) {
            self.current = None;
            self.tree.flush(report);
            return Some(done(rest, line, report));
        }
        let failed = line.text.starts_with("=== FAIL: ");
        if !failed && !line.text.starts_with("=== SKIP: ") {
            return None;
        }
        let (_, test) = line.text["=== FAIL: ".len()..].halves(b' ')?;
        let name = test.last_part_at(" (").map_or(test, |(name, _)| name).trim();
        self.seen = true;
        self.current = (!name.is_empty()).then(|| name.to_owned());
        if failed && !name.is_empty() {
            self.tree.again(name, line, report);
        }
        Some(if name.is_empty() { Step::Take } else { Step::Hold })
    }

    /// What a running test prints; lines of the form `    file_test.go:13: text` explain it.
    fn printed(&mut self, line: &Line<'_>) -> Step {
        let Some(name) = &self.current else {
            return Step::Pass;
        };
        if matches!(line.text, "PASS" | "FAIL")
            || line.text.starts_with("# ")
            || line.text.starts_with("coverage: ")
        {
            self.current = None;
            return if line.text.starts_with("# ") {
                Step::Pass
            } else {
                Step::Take
            };
        }
        self.tree.output(name, line);
        Step::Hold
    }

    fn in_race(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.starts_with("=======") {
            if let Some(finding) = self.race.take() {
                let key = joined!["go race ", finding.lines.first];
                report.fail(finding.known_as(key.as_str()));
                self.tree.raced(key);
            }
        } else if let Some(finding) = &mut self.race {
            panic::own_frame(line, finding);
            finding.add(line);
        }
        Step::Hold
    }

    /// `FAIL\tpackage`, `ok  \tpackage` and the like.
    fn package_end(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if text.starts_with("exit status ") && (self.seen || self.panic.is_some()) {
            self.end_panic(report);
            report.cascade(line);
            return Some(Step::Take);
        }
        if text == "FAIL" {
            report.cascade(line);
            self.current = None;
            return Some(Step::Take);
        }
        if let Some(package) = text.strip_prefix("FAIL\t") {
            self.failed_package(package, line, report);
            return Some(Step::Take);
        }
        if text.starts_with("ok  \t") {
            self.tree.flush(report);
            report.tally("go packages", &[("ok", 1)], line);
            report.succeeded(line);
            self.current = None;
            return Some(Step::Take);
        }
        if text.starts_with("?   \t") {
            report.tally("go packages", &[("without tests", 1)], line);
            return Some(Step::Take);
        }
        None
    }

    fn failed_package(&mut self, package: &str, line: &Line<'_>, report: &mut Report) {
        self.end_panic(report);
        self.tree.flush(report);
        self.current = None;
        report.tally("go packages", &[("failed", 1)], line);
        if package.has("[build failed]") || package.has("[setup failed]") {
            report.tally("go packages", &[("not built", 1)], line);
        }
        report.failed(line);
        report.cascade(line);
    }

    fn end_panic(&mut self, report: &mut Report) {
        let Some(panic) = self.panic.take() else {
            return;
        };
        if !panic.is_real() {
            let (number, text) = panic.claim();
            report.unclaimed(&Line { number, text });
            return;
        }
        let test = self.tree.last_failed(self.current.as_deref());
        panic.report(test, &mut self.tree, report);
    }
}

/// `5 tests, 1 skipped, 5 failures, 3 errors in 0.061s`.
fn done(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let counts: Vec<(&str, u64)> = [
        ("tests", "test"),
        ("skipped", "skipped"),
        ("failures", "failure"),
        ("errors", "error"),
    ]
    .iter()
    .filter_map(|(many, one)| {
        Some((
            *many,
            number_before(rest, many).or_else(|| number_before(rest, one))?,
        ))
    })
    .collect();
    report.set_tally("gotestsum", &counts, line);
    if counts
        .iter()
        .any(|(name, _)| matches!(*name, "failures" | "errors"))
    {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    Step::Take
}

/// The test that prints from here on.
fn running(text: &str) -> Option<&str> {
    ["=== RUN   ", "=== NAME  ", "=== CONT  ", "=== PAUSE "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .map(str::trim)
}
