//! Python's unittest, and Django's test runner, which prints the same.
//!
//! Written from real runs of Python 3.13; Django 5 from documentation. A traceback a passing test logs is not a
//! failure of the run.

use super::python::{frame, is_link};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "unittest",
    tools: "python -m unittest, manage.py test",
    recognises: "failed tests and errors with the exception and its innermost frame, the sums",
    version: "Python 3.13",
    triggers: &["FAIL: ", "ERROR: ", "\nRan ", "FAILED (", ") ... "],
    reader: || Box::<Unittest>::default(),
};

#[derive(Debug, Default)]
struct Unittest {
    open: Option<Open>,
    ran: bool,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    frame: Option<Location>,
    stated: bool,
    /// The first exception of a chain: the reason.
    reason: Option<String>,
    /// Whether the words came that announce the exception which the one before it surfaced as.
    linked: bool,
    /// Whether the rule that unittest draws under the name has come. Other runners print the same header without one,
    /// and what went wrong indented below it.
    ruled: bool,
}

impl Reader for Unittest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(name) = header(text) {
            self.close(report);
            let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
                .of(name)
                .known_as(joined!["unittest ", line.number, " ", name]);
            self.open = Some(Open {
                finding,
                name: name.to_owned(),
                frame: placed(name),
                stated: false,
                reason: None,
                linked: false,
                ruled: false,
            });
            return Step::Hold;
        }
        if let Some((count, rest)) = text
            .strip_prefix("Ran ")
            .and_then(leading_number)
            .filter(|(_, rest)| seconds(rest))
        {
            let _ = rest;
            self.close(report);
            self.ran = true;
            report.set_tally("unittest", &[("run", count)], line);
            return Step::Hold;
        }
        if std::mem::take(&mut self.ran) && line.is_blank() {
            self.ran = true;
            return Step::Hold;
        }
        if let Some(step) = verdict(line, report) {
            return step;
        }
        self.inside(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// ` tests in 0.012s`, and no more: other tools count tests in other sentences.
fn seconds(rest: &str) -> bool {
    let time = rest
        .strip_prefix(" tests in ")
        .or_else(|| rest.strip_prefix(" test in "));
    let number = time.and_then(|time| time.trim_end().strip_suffix('s'));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// `FAIL: test_x (tests.T.test_x)`.
fn header(text: &str) -> Option<&str> {
    let rest = text
        .strip_prefix("FAIL: ")
        .or_else(|| text.strip_prefix("ERROR: "))?;
    let (name, module) = rest.part_at(" (")?;
    let named = !name.contains([' ', '/']) && module.contains(')') && module.contains('.')
        || name == "setUpClass"
        || name == "tearDownClass";
    named.then_some(rest)
}

/// `OK (skipped=1)`, `FAILED (failures=1, errors=1)`, and a verbose run's `… ok`.
fn verdict(line: &Line<'_>, report: &mut Report) -> Option<Step> {
    let text = line.text;
    if text == "OK" {
        report.succeeded(line);
        return Some(Step::Take);
    }
    if let Some(rest) = text.strip_prefix("OK (").filter(|rest| rest.contains('=')) {
        counts(rest, line, report);
        report.succeeded(line);
        return Some(Step::Take);
    }
    if let Some(rest) = text.strip_prefix("FAILED (").filter(|rest| rest.contains('=')) {
        counts(rest, line, report);
        report.failed(line);
        return Some(Step::Take);
    }
    let (name, end) = line.body().part_at(") ... ")?;
    let ends = [
        "ok",
        "FAIL",
        "ERROR",
        "skipped",
        "expected failure",
        "unexpected success",
    ];
    let named = ["test", "setUp", "tearDown"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.has(" (unittest.loader._FailedTest.");
    (named && ends.iter().any(|word| end.starts_with(word))).then_some(Step::Take)
}

/// `failures=1, skipped=2)`.
fn counts(rest: &str, line: &Line<'_>, report: &mut Report) {
    for part in rest.trim_end_matches(')').split(", ") {
        if let Some((name, number)) = part.halves(b'=') {
            report.tally("unittest", &[(name, number.parse().unwrap_or(0))], line);
        }
    }
}

impl Unittest {
    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let Some(open) = &mut self.open else {
            return Step::Pass;
        };
        let rule = line.text.starts_with("-----");
        if line.text.starts_with("=====") || (rule && open.stated) {
            self.close(report);
            return Step::Take;
        }
        open.ruled |= rule;
        if !open.ruled && !holds(line) {
            self.close(report);
            return Step::Pass;
        }
        open.line(line);
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            let mut finding = open.finding;
            finding.location = finding.location.or(open.frame);
            // Tests that share a broken setup fail at its place with its words.
            finding.cause = finding.location.as_ref().map(|place| {
                let told = finding.title.strip_prefix(&open.name).unwrap_or("");
                joined![place, " ", open.reason.as_deref().unwrap_or(told)]
            });
            report.fail(finding);
        }
    }
}

/// The place in `test_x (tests/t.py:88)`.
fn placed(name: &str) -> Option<Location> {
    let (_, inside) = name.strip_suffix(')')?.last_part_at(" (")?;
    let (place, rest) = place_at_start(inside)?;
    (rest.is_empty() && place.line.is_some() && place.path.contains('.')).then_some(place)
}

/// `AssertionError: text` and `tern.errors.NoTable: text`.
fn is_exception(text: &str) -> bool {
    let name = text.before(":");
    !name.contains(' ') && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether the line is of this failure where no rule has come: indented, or an exception or its trace.
fn holds(line: &Line<'_>) -> bool {
    line.indent() > 0 || line.text.starts_with("Traceback (most recent call last)") || is_exception(line.text)
}

impl Open {
    /// The frames, the exception, and what follows it.
    fn line(&mut self, line: &Line<'_>) {
        if let Some(frame) = frame(line.body()) {
            let foreign = frame.path.has("/unittest/")
                || frame.path.has("/django/test/")
                || frame.path.has("site-packages");
            if !foreign {
                self.frame = Some(frame);
            }
            return;
        }
        let plain = line.indent() == 0
            && !line.is_blank()
            && !line.text.starts_with("-----")
            && !line.text.starts_with("Traceback")
            && !line.text.starts_with("The above")
            && !line.text.starts_with("During handling");
        let plain = plain && (!self.stated || is_exception(line.text));
        self.linked |= self.stated && is_link(line.text);
        if let Some(reason) = self.reason.as_ref().filter(|_| plain && self.linked) {
            // The exception that surfaced is told beside its reason, which has the place.
            let surfaced = joined![" (surfaced as ", line.body(), ", L", line.number, ")"];
            self.finding.retitle(joined![self.name, ": ", reason, surfaced]);
            self.finding.quote(line);
            self.frame = None;
            return;
        }
        if plain || (!self.ruled && !self.stated && is_exception(line.body())) {
            self.stated = true;
            self.reason = Some(line.body().to_owned());
            self.finding.retitle(joined![self.name, ": ", line.body()]);
            self.finding.lines = line.span();
            self.finding.location = self.frame.take();
        }
        let heading = line.body().starts_with("Traceback") || line.text.starts_with("The above");
        let source = self.linked && line.indent() > 0;
        if self.stated && !heading && !source && !line.text.starts_with("During handling") {
            self.finding.quote(line);
        }
    }
}
