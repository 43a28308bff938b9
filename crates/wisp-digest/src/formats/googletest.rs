//! GoogleTest: `[ RUN      ]` to `[  FAILED  ]`, with everything the test printed in between.
//!
//! Written from real runs of GoogleTest 1.15. What a passing test prints is its own affair.

use crate::block::trimmed;
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, leading_number, number_before, place, without_indent};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "googletest",
    tools: "GoogleTest, gMock",
    recognises: "failed assertions by test, counts, disabled and skipped tests; a failure listed again counts once",
    version: "GoogleTest 1.15",
    triggers: &[
        "[ RUN ",
        "[  FAILED",
        " OK ] ",
        "[  PASSED",
        "===] ",
        "[-------",
        " FAILED TEST",
        "DISABLED TEST",
        "[  SKIPPED",
        "[ DISABLED",
        "Google Test filter",
    ],
    reader: || Box::<Gtest>::default(),
};

#[derive(Debug, Default)]
struct Gtest {
    /// The test that runs and the line on which it began.
    running: Option<(String, u64)>,
    open: Option<Finding>,
    /// Whether `ctest -V` writes the number of its test before every line.
    numbered: bool,
}

impl Reader for Gtest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let line = &self.bare(line);
        if line.text.starts_with("Note: Google Test filter") {
            return Step::Take;
        }
        if let Some((mark, rest)) = mark(line.text) {
            return self.mark(mark, rest, line, report);
        }
        if let Some((name, _)) = &self.running {
            if breaks_out(line.text) {
                return Step::Pass;
            }
            printed(&mut self.open, name, line);
            return Step::Hold;
        }
        if line.text.ends_with(" FAILED TESTS") || line.text.ends_with(" FAILED TEST") {
            report.cascade(line);
            return Step::Take;
        }
        if let Some(count) =
            number_before(line.text, "DISABLED TEST").or_else(|| number_before(line.text, "DISABLED TESTS"))
        {
            report.tally("googletest", &[("disabled", count)], line);
            return Step::Take;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some((name, number)) = self.running.take() {
            report.note(format!("{name} started and has no result"), number);
        }
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

fn mark(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.halves(b']')?;
    let mark = trimmed(without_indent(inside));
    let known = inside.starts_with("----")
        || inside.starts_with("====")
        || ["RUN", "FAILED", "OK", "PASSED", "SKIPPED", "DISABLED"].contains(&mark);
    known.then(|| (mark, without_indent(rest)))
}

/// Lines that say more about a running test than that it printed them.
fn breaks_out(text: &str) -> bool {
    text.starts_with("==") && text.has("ERROR: ")
        || text.has(" Test #")
        || text.trim_start().starts_with("Start ")
}

impl Gtest {
    /// The line without the number `ctest -V` puts before it.
    fn bare<'a>(&mut self, line: &Line<'a>) -> Line<'a> {
        let rest = leading_number(line.text).and_then(|(_, rest)| rest.strip_prefix(':'));
        let Some(rest) = rest else { return *line };
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        self.numbered |= mark(rest).is_some();
        Line {
            number: line.number,
            text: if self.numbered { rest } else { line.text },
        }
    }

    fn mark(&mut self, mark: &str, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        match mark {
            "RUN" => {
                self.running = Some((rest.to_owned(), line.number));
                self.open = None;
                return Step::Hold;
            }
            "OK" | "SKIPPED" => {
                self.open = None;
                self.running = None;
            }
            "FAILED" => self.failed(rest, line, report),
            "PASSED" => passed(rest, line, report),
            _ if rest.has(" ran.") => ran(rest, line, report),
            _ => {}
        }
        Step::Take
    }

    /// A test's end, the count of failed tests, or its line in the list.
    fn failed(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) {
        if let Some((count, after)) = leading_number(rest).filter(|(_, after)| after.starts_with(" test")) {
            let _ = after;
            report.tally("googletest", &[("failed", count)], line);
            report.failed(line);
            return;
        }
        let name = rest.split([' ', ',']).next().unwrap_or(rest);
        let key = joined!["gtest ", name];
        match self.running.take() {
            Some(_) => {
                let finding = self
                    .open
                    .take()
                    .unwrap_or_else(|| Finding::new(Kind::Test, joined![name, " failed"], line));
                let cause = shared(&finding);
                report.fail(finding.of(name).known_as(key).because(cause));
            }
            None if report.repeat(&key, line.number) => {}
            None => report.fail(
                Finding::new(Kind::Test, joined![name, " failed"], line)
                    .of(name)
                    .known_as(key),
            ),
        }
    }
}

/// A line the running test printed: an assertion that failed, what belongs to it, or anything.
fn printed(open: &mut Option<Finding>, name: &str, line: &Line<'_>) {
    if let Some(finding) = open {
        if finding.explain.is_empty() && finding.location.is_none() {
            finding.retitle(joined![name, ": ", line.text]);
        }
        finding.add(line);
    } else if let Some((location, _)) = failure(line.text) {
        *open = Some(Finding::new(Kind::Test, joined![name, ": ", line.text], line).at(location));
    } else if line.text == "unknown file: Failure" {
        *open = Some(Finding::new(Kind::Test, name, line));
    }
}

/// Tests that fail at one place in one way fail for one reason: what they share.
fn shared(finding: &Finding) -> Option<String> {
    let location = finding.location.as_ref()?;
    Some(joined![location, " ", Quoted(&finding.explain)])
}

/// `PATH:LINE: Failure`, and Visual C++'s `PATH(LINE): error:`.
fn failure(text: &str) -> Option<(crate::digest::Location, &str)> {
    if let Some((place, rest)) = place(text).filter(|(_, rest)| rest.starts_with(": Failure")) {
        return Some((place.location(), rest));
    }
    crate::line::paren_place_at_start(text).filter(|(_, rest)| rest.starts_with(": error:"))
}

fn passed(rest: &str, line: &Line<'_>, report: &mut Report) {
    if let Some((count, _)) = leading_number(rest) {
        report.tally("googletest", &[("passed", count)], line);
        report.succeeded(line);
    }
}

fn ran(rest: &str, line: &Line<'_>, report: &mut Report) {
    if let Some((count, _)) = leading_number(rest) {
        report.tally("googletest", &[("run", count)], line);
    }
}
