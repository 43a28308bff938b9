//! Rust's test harness and panics: `test NAME ... FAILED`, the captured output, `test result:`.
//!
//! Written from real runs of libtest of Rust 1.95, of doc tests, with `--nocapture` and `-q`. A panic counts only when
//! its test failed: a test that should panic prints one and passes. A panic of a thread that is no test counts at
//! once unless the run says otherwise.

use std::collections::VecDeque;

use super::rust_error::Causes;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, number_before, place_at_start};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "cargo test",
    tools: "cargo test (libtest, doc tests), panics of Rust programs",
    recognises: "failed tests with the panic that failed them, however many lines its message has; counts over all targets",
    version: "Rust 1.95",
    triggers: &[
        "test ",
        "\n\ntest ",
        "panicked at ",
        "failures:",
        "---- ",
        "running ",
        "RUST_BACKTRACE",
        "stack backtrace:",
        "should panic",
        " --- FAILED",
    ],
    reader: || Box::<Libtest>::default(),
};

/// What cargo says when a test program fails, perhaps in the middle of a line of the program's.
const ABORTED: &str = "error: test failed, to rerun";

#[derive(Debug, Default)]
struct Libtest {
    state: State,
    /// Panics whose test has not ended, by the name of the thread.
    panics: VecDeque<(String, Finding)>,
    /// Tests that failed and whose panic has not been seen.
    failed: Vec<(String, Finding)>,
    /// Whether tests are running, so that a panic waits for its test's end.
    running: bool,
    blanks: u32,
    /// The causes of the error in the block of a failed test, and whether its backtrace has begun.
    causes: Option<Causes>,
    traced: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    /// After `test NAME ... ` without a verdict: everything up to one is printed by the test.
    Open(String),
    /// In a `---- NAME stdout ----` block.
    Captured(String),
    /// In the message of a panic.
    Panic,
    /// In the list of names after the second `failures:`.
    Names,
    /// In a backtrace.
    Trace,
}

impl Reader for Libtest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(step) = self.marks(line, report) {
            return step;
        }
        match &self.state {
            State::Open(_) => self.open(line, report),
            State::Captured(_) => self.captured(line),
            State::Panic => self.message(line, report),
            State::Names if line.text.starts_with("    ") => Step::Hold,
            State::Trace if line.indent() > 0 && !line.is_blank() => Step::Hold,
            _ => self.between(line, report),
        }
    }

    /// `test NAME ... verdict`.
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        let stated = line.text.starts_with("test ") && line.text.has(" ... ");
        stated.then(|| self.line(line, report))
    }

    fn finish(&mut self, report: &mut Report) {
        for (_, finding) in std::mem::take(&mut self.failed)
            .into_iter()
            .chain(std::mem::take(&mut self.panics))
        {
            report.fail(finding);
        }
    }
}

impl Libtest {
    /// Lines that mean the same wherever they stand.
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(result) = line.text.strip_prefix("test result: ") {
            self.result(result, line, report);
            return Some(Step::Take);
        }
        if let Some(name) = line
            .text
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.settle_panic(report);
            (self.causes, self.traced) = (None, false);
            self.state = State::Captured(name.to_owned());
            return Some(Step::Hold);
        }
        if line.text == "failures:" {
            self.settle_panic(report);
            self.state = State::Names;
            return Some(Step::Hold);
        }
        if let Some(count) = line
            .text
            .strip_prefix("running ")
            .filter(|rest| rest.ends_with(" tests") || rest.ends_with(" test"))
        {
            self.running = !count.starts_with("0 ");
            self.state = State::Between;
            return Some(Step::Take);
        }
        None
    }

    fn between(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        self.state = State::Between;
        if let Some(step) = self.test_line(line, report) {
            return step;
        }
        // Of a quiet run only the tests that failed are named.
        if let Some(name) = line.text.strip_suffix(" --- FAILED").filter(|_| self.running) {
            self.failed_test(name, line, report);
            return Step::Take;
        }
        if self.start_panic(line) {
            return Step::Hold;
        }
        if line.text.starts_with("note: run with `RUST_BACKTRACE")
            || line.text.starts_with("note: test did not panic")
        {
            return Step::Take;
        }
        if line.text == "stack backtrace:" {
            self.state = State::Trace;
            return Step::Hold;
        }
        Step::Pass
    }

    /// `test NAME ... verdict`.
    fn test_line(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let rest = line.text.strip_prefix("test ")?;
        let (name, verdict) = rest
            .part_at(" ... ")
            .or_else(|| rest.strip_suffix(" ...").map(|name| (name, "")))?;
        let name = name.strip_suffix(" - should panic").unwrap_or(name);
        if self.verdict(name, verdict, line, report) {
            return Some(Step::Take);
        }
        if verdict.starts_with(ABORTED) {
            self.aborted(name, line, report);
            return Some(Step::Take);
        }
        self.state = State::Open(name.to_owned());
        Some(Step::Hold)
    }

    fn verdict(&mut self, name: &str, verdict: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let word = verdict.split([' ', ',', '(']).next().unwrap_or("");
        match word {
            "ok" | "ignored" | "bench:"
                if verdict.len() == word.len()
                    || word != "ok"
                    || verdict.starts_with("ok (")
                    || verdict.starts_with("ok <") =>
            {
                self.panics.retain(|(thread, _)| thread != name);
            }
            "FAILED" | "failed" => self.failed_test(name, line, report),
            _ => return false,
        }
        true
    }

    fn failed_test(&mut self, name: &str, line: &Line<'_>, report: &mut Report) {
        match self.panics.iter().position(|(thread, _)| thread == name) {
            Some(at) => {
                if let Some((_, finding)) = self.panics.remove(at) {
                    report.fail(shared(finding));
                }
            }
            None if self.failed.len() < limits::PENDING => {
                let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
                    .of(name)
                    .known_as(key(name));
                self.failed.push((name.to_owned(), finding));
            }
            None => {}
        }
    }

    /// cargo's word that the run ended while the test had not.
    fn aborted(&mut self, name: &str, line: &Line<'_>, report: &mut Report) {
        report.note(format!("{name} had not ended when the run did"), line.number);
        report.failed(line);
        report.announce(line);
        self.state = State::Between;
    }

    /// What a test prints while it runs uncaptured; its verdict stands at the start of a line or alone.
    fn open(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.starts_with("test ") && line.text.has(" ... ") {
            return self.between(line, report);
        }
        let ends = matches!(line.text, "ok" | "FAILED" | "ignored");
        let aborts = line.text.starts_with(ABORTED) || line.text.starts_with("Caused by:");
        if !ends && !aborts {
            self.note_panic(line);
            return Step::Hold;
        }
        let State::Open(name) = std::mem::take(&mut self.state) else {
            return Step::Pass;
        };
        if ends {
            self.verdict(&name, line.text, line, report);
        } else {
            self.aborted(&name, line, report);
        }
        Step::Take
    }

    fn note_panic(&mut self, line: &Line<'_>) {
        if let Some((thread, finding)) = panic_header(line) {
            let test = match &self.state {
                State::Open(name) if thread == "main" => name.clone(),
                _ => thread.to_owned(),
            };
            self.push_panic(&test, finding);
        } else if let Some((_, finding)) = self.panics.back_mut()
            && line.number <= finding.lines.last + 1
            && !line.text.starts_with("note: ")
        {
            finding.add(line);
        }
    }

    fn push_panic(&mut self, thread: &str, finding: Finding) {
        if self.panics.len() >= limits::PENDING {
            self.panics.pop_front();
        }
        self.panics.push_back((thread.to_owned(), finding));
    }

    /// A test's captured output: its panic is the root, the lines before it are what the test printed.
    fn captured(&mut self, line: &Line<'_>) -> Step {
        let State::Captured(name) = &self.state else {
            return Step::Pass;
        };
        if let Some((_, finding)) = panic_header(line) {
            let known = self.panics.iter().any(|(thread, _)| thread == name);
            if !known {
                let name = name.clone();
                self.push_panic(&name, finding.of(&name).known_as(key(&name)));
            }
            self.blanks = 0;
            return Step::Hold;
        }
        self.extend_panic(line);
        Step::Hold
    }

    fn extend_panic(&mut self, line: &Line<'_>) {
        let State::Captured(name) = &self.state else {
            return;
        };
        let ends = ["note: ", "stack backtrace:", "Stack backtrace:"];
        if ends.iter().any(|start| line.text.starts_with(start)) {
            (self.blanks, self.causes) = (2, None);
            self.traced |= line.text.starts_with("Stack backtrace:");
        }
        self.blanks += u32::from(line.is_blank());
        if let Some((_, finding)) = self.panics.iter_mut().find(|(thread, _)| thread == name) {
            if causes(&mut self.causes, finding, line) {
                return;
            }
            if self.blanks < 2 && !line.is_blank() {
                add_message(finding, line);
            }
        } else if let Some((_, finding)) = self.failed.iter_mut().find(|(test, _)| test == name) {
            // No panic: the test returned an error, printed here.
            if self.traced || causes(&mut self.causes, finding, line) {
                return;
            }
            if let Some((title, location)) = without_panic(line.text) {
                finding.retitle(joined![name, ": ", title]);
                finding.lines = line.span();
                finding.location = location;
                finding.cause = Some(joined!["returned ", title]).filter(|_| title.starts_with("Error: "));
            }
            finding.quote(line);
        }
    }

    /// A panic outside any test's output. A test's waits for its verdict; another's counts when the stream ends.
    fn start_panic(&mut self, line: &Line<'_>) -> bool {
        let Some((thread, finding)) = panic_header(line) else {
            return false;
        };
        let finding = if self.running {
            finding.of(thread).known_as(key(thread))
        } else {
            finding
        };
        self.push_panic(thread, finding);
        self.state = State::Panic;
        true
    }

    /// The lines of a panic's message, up to the note, a blank line or a backtrace.
    fn message(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let ends =
            line.is_blank() || line.text.starts_with("note: ") || line.text.starts_with("stack backtrace:");
        let fresh = line.text.starts_with("test ")
            || line.text.starts_with("thread '")
            || line.text.starts_with("error");
        if ends || fresh {
            return self.between(line, report).max_take(ends);
        }
        if let Some((_, finding)) = self.panics.back_mut() {
            add_message(finding, line);
        }
        Step::Hold
    }

    /// The run's own sum. A panic whose test did not fail belongs to one that passed.
    fn result(&mut self, result: &str, line: &Line<'_>, report: &mut Report) {
        self.settle_panic(report);
        let counts: Vec<(&str, u64)> = ["passed", "failed", "ignored"]
            .iter()
            .filter_map(|name| Some((*name, number_before(result, name)?)))
            .collect();
        report.tally("cargo test", &counts, line);
        let mut finding: Vec<Finding> = std::mem::take(&mut self.failed)
            .into_iter()
            .map(|(_, finding)| finding)
            .collect();
        finding.drain(..).for_each(|finding| report.fail(finding));
        self.panics.clear();
        self.running = false;
        self.state = State::Between;
        if result.starts_with("FAILED") {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
    }

    /// Panics of tests known to have failed are findings; they replace the bare verdict.
    fn settle_panic(&mut self, report: &mut Report) {
        let panics = std::mem::take(&mut self.panics);
        for (thread, finding) in panics {
            match self.failed.iter().position(|(name, _)| *name == thread) {
                Some(at) => {
                    self.failed.remove(at);
                    report.fail(shared(finding));
                }
                None => self.panics.push_back((thread, finding)),
            }
        }
    }
}

impl Step {
    /// A line that ended something is accounted for even when nothing else wants it.
    fn max_take(self, ends: bool) -> Self {
        if ends && self == Self::Pass {
            Self::Take
        } else {
            self
        }
    }
}

/// Whether the line is of the causes of an error that a test returned or unwrapped.
fn causes(open: &mut Option<Causes>, finding: &mut Finding, line: &Line<'_>) -> bool {
    if line.text == "Caused by:" {
        *open = Some(Causes::of(finding));
        return true;
    }
    open.as_mut().is_some_and(|open| open.line(line, finding))
}

/// The first line of a panic's message says what happened.
fn add_message(finding: &mut Finding, line: &Line<'_>) {
    if finding.explain.is_empty() && finding.title.ends_with(" panicked") {
        finding.retitle(joined![finding.title, ": ", line.body()]);
    }
    finding.add(line);
}

fn key(name: &str) -> String {
    joined!["rust test ", name]
}

/// Tests whose panics have one place and one message fail for one reason: the helper they share.
fn shared(finding: Finding) -> Finding {
    let cause = finding
        .location
        .as_ref()
        .map(|location| joined!["panic at ", location, ": ", Quoted(&finding.explain)]);
    finding.because(cause)
}

/// How a test fails that does not panic: by the error it returns, or by not doing what it should.
fn without_panic(text: &str) -> Option<(&str, Option<Location>)> {
    if text.starts_with("Error: ") {
        return Some((text, None));
    }
    let told = text.strip_prefix("note: test did not panic as expected")?;
    let place = told.strip_prefix(" at ").and_then(place_at_start);
    Some(("did not panic as expected", place.map(|(location, _)| location)))
}

/// `thread 'NAME' (ID) panicked at PATH:L:C:` and the older form with the message on the same line.
fn panic_header<'a>(line: &Line<'a>) -> Option<(&'a str, Finding)> {
    let rest = line.body().strip_prefix("thread '")?;
    let (name, rest) = rest.halves(b'\'')?;
    let (_, rest) = rest.part_at("panicked at ")?;
    let (location, message) = match place_at_start(rest) {
        Some((location, _)) => (Some(location), ""),
        None => old_form(rest),
    };
    let title = if message.is_empty() {
        joined![name, " panicked"]
    } else {
        joined![name, " panicked: ", message]
    };
    let kind = if name == "main" { Kind::Crash } else { Kind::Test };
    let mut finding = Finding::new(kind, title, line).of(name);
    finding.location = location;
    Some((name, finding))
}

/// `panicked at 'MESSAGE', PATH:L:C`.
fn old_form(rest: &str) -> (Option<Location>, &str) {
    match rest.last_part_at(", ") {
        Some((message, place)) => (
            place_at_start(place).map(|(location, _)| location),
            message.trim_matches('\''),
        ),
        None => (None, rest),
    }
}
