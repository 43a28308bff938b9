//! cargo-nextest: `FAIL [ 0.004s] binary test` with the test's output under it.
//!
//! Written from real runs of nextest 0.9.143, and seen in runs of 0.9.70 to 0.9.143 that its users posted. A test tried
//! again counts by its last try; the list after the summary repeats.

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "nextest",
    tools: "cargo nextest",
    recognises: "failed, timed out and crashed tests with their panic, the summary",
    version: "nextest 0.9.143; 0.9.70 and later (runs posted by their users)",
    triggers: &[
        "FAIL [",
        " PASS [",
        " TIMEOUT [",
        " SIGSEGV [",
        " SIGABRT [",
        " SIGKILL [",
        " Summary [",
        "error: test run failed",
        " LEAK [",
        " ABORT SIG ",
        "FLAKY ",
        " tests were not run due to ",
    ],
    reader: || Box::<Nextest>::default(),
};

#[derive(Debug, Default)]
struct Nextest {
    open: Option<Open>,
    /// Tests that failed and may be tried again.
    tried: Vec<Open>,
    /// The sum has been read; what follows repeats.
    summed: bool,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    panicked: bool,
    in_message: bool,
    /// Whether it may be tried again.
    again: bool,
}

/// `FAIL [   0.004s] heron::cli test_name`: the mark and the name.
fn status(text: &str) -> Option<(&str, &str)> {
    let (mark, rest) = text.trim_start().part_at(" [")?;
    let (time, name) = rest.part_at("] ")?;
    let word = mark.rsplit([' ', '-']).next().unwrap_or(mark);
    let known = [
        "PASS",
        "FAIL",
        "XFAIL",
        "TIMEOUT",
        "LEAK",
        "SLOW",
        "TERMINATING",
        "ABORT",
        "SKIP",
    ]
    .contains(&word)
        || word.starts_with("SIG")
        || mark.starts_with("ABORT SIG ")
        || mark.starts_with("FLAKY ");
    (known && time.ends_with('s')).then_some((
        mark,
        name.trim()
            .trim_start_matches(|each: char| {
                each == '(' || each == ')' || each == '/' || each.is_ascii_digit()
            })
            .trim_start(),
    ))
}

impl Reader for Nextest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some((mark, name)) = status(line.text) {
            self.close(report);
            return self.status(mark, name, line, report);
        }
        if line.body().starts_with("Summary [") {
            self.close(report);
            self.summed = true;
            sum(line, report);
            return Step::Take;
        }
        if line.text.starts_with("warning: ") && line.text.has(" tests were not run due to ") {
            return Step::Take;
        }
        if line.text == "error: test run failed" {
            report.cascade(line);
            return Step::Take;
        }
        let Some(open) = &mut self.open else {
            return Step::Pass;
        };
        if line.text.starts_with("────────────") && line.text.chars().all(|each| each == '─')
        {
            self.close(report);
            return Step::Take;
        }
        open.line(line);
        Step::Hold
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        for tried in std::mem::take(&mut self.tried) {
            report.fail(tried.close());
        }
    }
}

impl Nextest {
    fn status(&mut self, mark: &str, name: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let failed =
            mark.has("FAIL") || mark.ends_with("TIMEOUT") || mark.has("SIG") || mark.starts_with("ABORT");
        let tried = self.tried.iter().position(|tried| tried.name == name);
        let tried = tried.map(|at| self.tried.swap_remove(at));
        if !failed {
            return Step::Take;
        }
        let again = mark.starts_with("TRY ") && !self.summed;
        if let Some(tried) = tried.filter(|_| !again) {
            report.fail(tried.close());
        }
        if report.repeat(&key(name), line.number) {
            return Step::Take;
        }
        let kind = if mark.starts_with("SIG") || mark.starts_with("ABORT") {
            Kind::Crash
        } else {
            Kind::Test
        };
        let finding = Finding::new(kind, joined![name, ": ", mark], line)
            .of(name)
            .known_as(key(name));
        self.open = Some(Open {
            finding,
            name: name.to_owned(),
            panicked: false,
            in_message: false,
            again: again && self.tried.len() < crate::limits::PENDING,
        });
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        match self.open.take() {
            Some(open) if open.again => self.tried.push(open),
            Some(open) => report.fail(open.close()),
            None => {}
        }
    }
}

fn key(name: &str) -> String {
    joined!["nextest ", name]
}

impl Open {
    fn close(self) -> Finding {
        let mut finding = self.finding;
        // Tests whose panics have one place and one message fail for one reason: the helper they share.
        finding.cause = finding
            .location
            .as_ref()
            .map(|place| joined![place, " ", Quoted(&finding.explain)]);
        finding
    }

    /// A line of the test's output: its panic is the root.
    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        let panic = body
            .strip_prefix("thread '")
            .and_then(|rest| rest.part_at("panicked at "));
        if let Some((_, place)) = panic.filter(|_| !self.panicked) {
            self.panicked = true;
            self.in_message = true;
            self.finding.lines = line.span();
            self.finding.location = place_at_start(place).map(|(location, _)| location);
        } else if self.in_message {
            self.in_message =
                !(line.is_blank() || body.starts_with("note: ") || body.starts_with("stack backtrace"));
            if self.in_message {
                self.message(body, line);
            }
        } else if body.starts_with("Error: ") && !self.panicked {
            self.finding.retitle(joined![self.name, ": ", body]);
            self.finding.lines = line.span();
        }
    }

    fn message(&mut self, body: &str, line: &Line<'_>) {
        if self.finding.explain.is_empty() {
            self.finding.retitle(joined![self.name, " panicked: ", body]);
        }
        self.finding.add(line);
    }
}

/// The sums of the run.
fn sum(line: &Line<'_>, report: &mut Report) {
    let names = [
        ("passed", "passed"),
        ("failed", "failed"),
        ("timed out", "timed out"),
        ("skipped", "skipped"),
        ("flaky", "flaky"),
    ];
    let counts: Vec<(&str, u64)> = names
        .iter()
        .filter_map(|(name, word)| Some((*name, number_before(line.text, word)?)))
        .collect();
    report.set_tally("nextest", &counts, line);
    if line.text.has(" failed") || line.text.has(" timed out") {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
}
