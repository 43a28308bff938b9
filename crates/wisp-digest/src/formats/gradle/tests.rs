//! Tests under Gradle: whether one that failed passed when it was run again.
//!
//! The plugin that runs failed tests again says nothing of it: a test fails, passes when it is run again, where that is
//! printed at all, and the build is successful. So a failure is forgiven by a pass, and by a successful build unless
//! `There were failing tests` says before that failures were ignored.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::formats::java::Trace;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, leading_number};
use crate::reader::Step;
use crate::report::{Finding, Report};

/// The test that is being read, and those that may have passed when they were run again, by name.
#[derive(Debug, Default)]
pub(super) struct Tests {
    open: Option<Test>,
    failed: Vec<String>,
}

/// A test that failed, with its exception.
#[derive(Debug)]
pub(super) struct Test {
    finding: Finding,
    name: String,
    trace: Option<Trace>,
    /// After `Caused by:` on a line of its own.
    caused: bool,
}

impl Tests {
    pub(super) fn open(&mut self, test: Test) {
        self.open = Some(test);
    }

    /// Whether the line belongs to the test being read; else that one has ended.
    pub(super) fn line(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let Some(test) = &mut self.open else { return false };
        let belongs = is_under(line) || (line.is_blank() && test.trace.is_some());
        if belongs {
            test.line(line);
        } else {
            self.close(report);
        }
        belongs
    }

    fn close(&mut self, report: &mut Report) {
        let Some(test) = self.open.take() else { return };
        if self.failed.len() < limits::PENDING && !self.failed.contains(&test.name) {
            self.failed.push(test.name.clone());
        }
        report.fail(test.close());
    }

    /// They failed for good.
    pub(super) fn settle(&mut self, report: &mut Report) {
        self.close(report);
        self.failed.clear();
    }

    /// The build is successful: they passed when they were run again.
    pub(super) fn passed(&mut self, line: &Line<'_>, report: &mut Report) {
        for name in self.failed.drain(..) {
            forgive(&name, line, report);
        }
    }

    /// What is said of tests that have ended.
    pub(super) fn verdict(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.starts_with("There were failing tests") {
            self.settle(report);
            return Step::Take;
        }
        if let Some(name) = line.text.strip_suffix(" PASSED").filter(|name| name.has(" > ")) {
            if let Some(at) = self.failed.iter().position(|failed| failed == name) {
                self.failed.swap_remove(at);
                forgive(name, line, report);
            }
            return Step::Take;
        }
        sum(line, report)
    }
}

fn forgive(name: &str, line: &Line<'_>, report: &mut Report) {
    if report.forgive(&key(name)) {
        report.tally("gradle tests", &[("flaky", 1)], line);
    }
}

fn key(name: &str) -> String {
    joined!["gradle ", name]
}

/// Whether the line stands under a test's name.
pub(super) fn is_under(line: &Line<'_>) -> bool {
    line.indent() >= 4 || line.text.starts_with('\t')
}

impl Test {
    /// `GaugeTest > deep() FAILED`.
    pub(super) fn failed(line: &Line<'_>) -> Option<Self> {
        let name = line.text.strip_suffix(" FAILED")?;
        if !name.has(" > ") || name.starts_with("> ") {
            return None;
        }
        let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
            .of(name)
            .known_as(key(name));
        Some(Self {
            finding,
            name: name.to_owned(),
            trace: None,
            caused: false,
        })
    }

    /// `    java.lang.AssertionError: text at FooTest.java:12`, then frames and causes.
    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        self.finding.quote(line);
        let Some(trace) = &mut self.trace else {
            self.trace = Some(Trace::new(body, line));
            self.finding.location = at_end(body);
            return;
        };
        if std::mem::take(&mut self.caused) {
            let text = joined!["Caused by: ", body];
            let number = line.number;
            trace.line(&Line { number, text: &text });
        } else if body == "Caused by:" {
            self.caused = true;
        } else {
            trace.line(line);
        }
    }

    fn close(self) -> Finding {
        let mut finding = self.finding;
        if let Some(trace) = self.trace {
            let told = trace.finding(Kind::Test, Some(&self.name));
            finding.title = told.title;
            finding.lines = told.lines;
            finding.location = told.location.or(finding.location);
            finding.cause = told.cause;
        }
        finding
    }
}

/// The place at the end of the short form, `… at FooTest.java:12`.
fn at_end(body: &str) -> Option<Location> {
    let (path, row) = body
        .rsplit_once(" at ")
        .and_then(|(_, place)| place.halves(b':'))?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    })
}

/// `3 tests completed, 1 failed, 1 skipped`.
fn sum(line: &Line<'_>, report: &mut Report) -> Step {
    let Some((count, rest)) = leading_number(line.text).filter(|(_, rest)| rest.starts_with(" test")) else {
        let skipped = line.text.ends_with(" SKIPPED") && line.text.has(" > ");
        return if skipped { Step::Take } else { Step::Pass };
    };
    if !rest.has("completed") {
        return Step::Pass;
    }
    let number = |word| crate::line::number_before(rest, word).unwrap_or(0);
    report.tally(
        "gradle tests",
        &[
            ("completed", count),
            ("failed", number("failed")),
            ("skipped", number("skipped")),
        ],
        line,
    );
    Step::Take
}
