//! Jest: `FAIL file`, `● name`, suites that do not load, console output of passing tests.
//!
//! Written from real runs of Jest 29 and 30. What `console.error` prints is output, not a failure; the summary at
//! the end repeats.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, leading_number, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "jest",
    tools: "jest",
    recognises: "failed tests and suites that do not load, with both sides of the assertion; console output is none of them",
    version: "Jest 30",
    triggers: &[
        "LOGGING RETRY ERRORS ",
        "FAIL ",
        "PASS ",
        "  ● ",
        "Test Suites:",
        "Tests:  ",
        "console.",
        "Ran all test suites",
        "Summary of all failing",
        "Snapshots:  ",
        " snapshot failed",
        " snapshots failed",
        "No tests found, exiting",
        "coverage threshold for",
    ],
    reader: || Box::<Jest>::default(),
};

#[derive(Debug, Default)]
struct Jest {
    file: String,
    open: Option<Open>,
    /// In console output, or in a block that is no failure.
    skipping: bool,
    /// In the tree of verdicts under a file.
    tree: bool,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    /// The first line of the message.
    message: Option<(u64, String)>,
    expected: bool,
}

impl Reader for Jest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(step) = self.marks(line, report) {
            return step;
        }
        if let Some(open) = &mut self.open {
            open.line(line);
            return Step::Hold;
        }
        self.tree &= line.indent() > 0;
        if self.tree {
            return Step::Hold;
        }
        if self.skipping && (line.is_blank() || line.indent() >= 4) {
            return Step::Hold;
        }
        self.skipping = line.text.starts_with("  console.")
            || line.text.trim_start().starts_with("console.") && line.indent() == 4;
        if self.skipping { Step::Hold } else { Step::Pass }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Jest {
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        // In colour the word has blanks around it.
        let verdict = text.strip_prefix(' ').unwrap_or(text);
        if let Some(file) = verdict
            .strip_prefix("FAIL ")
            .or_else(|| verdict.strip_prefix("PASS "))
            .map(|file| file.strip_prefix(' ').unwrap_or(file))
            .filter(|file| is_file(file))
        {
            self.close(report);
            self.tree = true;
            file.trim().before(" (").clone_into(&mut self.file);
            return Some(Step::Hold);
        }
        if let Some(name) = text.strip_prefix("  ● ") {
            self.close(report);
            return Some(self.bullet(name, line));
        }
        if text.starts_with("Test Suites:") || text.starts_with("Tests:  ") {
            self.close(report);
            sum(text, line, report);
            return Some(Step::Take);
        }
        // What a test said before it was run again; its last run counts.
        let again = line.body().starts_with("LOGGING RETRY ERRORS ")
            || (self.skipping && line.body().starts_with("RETRY "));
        if again {
            self.close(report);
            self.skipping = true;
            return Some(Step::Hold);
        }
        let alone = text.starts_with("No tests found, exiting with code 1")
            || (text.starts_with("Jest: ") && text.has(" coverage threshold for "));
        if alone {
            self.close(report);
            report.fail(Finding::new(Kind::Tool, text, line));
            return Some(Step::Take);
        }
        let snapshots = text.starts_with("Snapshots:  ") || text.starts_with(" › ");
        if snapshots
            || text.starts_with("Summary of all failing tests")
            || text.starts_with("Ran all test suites")
        {
            self.close(report);
            return Some(Step::Take);
        }
        None
    }

    fn bullet(&mut self, name: &str, line: &Line<'_>) -> Step {
        self.skipping = name.starts_with("Console")
            || name.starts_with("Deprecation")
            || name.starts_with("Validation Warning");
        if !self.skipping {
            self.open = Some(Open::new(name, &self.file, line));
        }
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        self.skipping = false;
        if let Some(open) = self.open.take() {
            report.fail(open.close());
        }
    }
}

/// A file name, perhaps with the time it took; not a sentence.
fn is_file(text: &str) -> bool {
    let name = text.trim().before(" (");
    !name.contains(' ') && name.contains('.') && !text.starts_with(' ')
}

impl Open {
    fn new(name: &str, file: &str, line: &Line<'_>) -> Self {
        let suite = name == "Test suite failed to run";
        let subject = if suite { file } else { name };
        let kind = if suite { Kind::Configure } else { Kind::Test };
        let finding = Finding::new(kind, subject, line)
            .of(subject)
            .known_as(joined!["jest ", file, " ", name]);
        Self {
            finding,
            name: subject.to_owned(),
            message: None,
            expected: false,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        if let Some(place) = body.strip_prefix("at ").and_then(own_frame) {
            if self.finding.location.is_none() {
                self.finding.location = Some(place);
            }
            return;
        }
        if body.starts_with("at ") || line.is_blank() {
            return;
        }
        let side = body.trim_start_matches(['-', '+']).trim_start();
        if side.starts_with("Expected") || side.starts_with("Received") || body.starts_with("- Snapshot") {
            if self.expected {
                self.finding.lines.reach(line.number);
            } else {
                self.finding.lines = line.span();
            }
            self.expected = true;
        } else if body.starts_with("SyntaxError: ") && self.finding.location.is_none() {
            // A file that cannot be parsed is told after a page of advice.
            self.message = Some((line.number, body.to_owned()));
            self.finding.lines = line.span();
            self.finding.location = parsed(body);
        } else if self.message.is_none() {
            self.message = Some((line.number, body.to_owned()));
            self.finding.lines = line.span();
        }
        self.finding.quote(line);
    }

    fn close(mut self) -> Finding {
        if let Some((_, message)) = self.message {
            self.finding.retitle(joined![self.name, ": ", message]);
            // Tests that share a broken hook fail at its place with its words.
            self.finding.cause = self
                .finding
                .location
                .as_ref()
                .map(|place| joined![place, " ", Quoted(&self.finding.explain)]);
        }
        self.finding
    }
}

/// `SyntaxError: /srv/a.test.js: Unexpected token (1:24)`.
fn parsed(body: &str) -> Option<Location> {
    let (_, rest) = body.part_at(": ")?;
    let (path, rest) = rest.part_at(": ")?;
    let (_, place) = rest.rsplit_once('(')?;
    let (row, column) = place.trim_end_matches(')').halves(b':')?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: Some(column.parse().ok()?),
    })
}

/// `Object.toBe (test/nest.test.js:9:57)` or a bare place, outside `node_modules`.
pub(super) fn own_frame(text: &str) -> Option<Location> {
    let inside = text
        .rsplit_once('(')
        .map_or(text, |(_, inside)| inside)
        .trim_end_matches(')');
    let (place, _) = place(inside.past("file://").trim())?;
    let foreign =
        place.path.has("node_modules") || place.path.starts_with("node:") || place.path.has("internal/");
    (!foreign).then(|| place.location())
}

/// `Tests:       1 failed, 1 skipped, 3 passed, 6 total`.
fn sum(text: &str, line: &Line<'_>, report: &mut Report) {
    let Some((what, rest)) = text.halves(b':') else {
        return;
    };
    let what = if what == "Tests" {
        "jest tests"
    } else {
        "jest suites"
    };
    let parts = rest.split(',').filter_map(|part| {
        let (number, name) = leading_number(part.trim())?;
        Some((name.trim(), number))
    });
    let counts: Vec<(&str, u64)> = parts.collect();
    report.set_tally(what, &counts, line);
    if counts
        .iter()
        .any(|(name, number)| *name == "failed" && *number > 0)
    {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
}
