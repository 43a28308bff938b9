//! `CTest`: `1/6 Test #1: spines ....***Failed` and the sums at the end.
//!
//! Written from real runs of `CTest` 3.25 and 3.31 with `--output-on-failure` and `-V`. When the test's own output
//! states the failures, `CTest`'s line is their consequence; a crash, a timeout and a program that is not there are
//! stated by `CTest` alone.

use std::collections::VecDeque;

use crate::digest::{Kind, Quote, Span};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, number_before};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ctest",
    tools: "ctest",
    recognises: "failed, crashed, timed out and missing tests; disabled tests are none of them",
    version: "CTest 3.31",
    triggers: &[
        " Test #",
        "    Start ",
        "% tests passed",
        "The following tests ",
        "Could not find executable",
        "Unable to find executable",
        "Errors while running CTest",
        "Test project ",
        "(Failed)",
        "(Timeout)",
        "(SEGFAULT)",
        "(Not Run)",
        "(Disabled)",
        "Use \"--rerun-failed",
        ": Test command: ",
    ],
    reader: || Box::<Ctest>::default(),
};

#[derive(Debug, Default)]
struct Ctest {
    /// A test whose status says that it failed, and how many failures were known then.
    open: Option<(Finding, u64)>,
    /// How many failures were known when the last test started or ended.
    known: u64,
    /// The line that says that a program is missing.
    missing: Option<Finding>,
    named: Vec<String>,
    listing: bool,
    /// A test that failed and is run again, and the line that started it.
    tried: Option<(String, u64)>,
    /// The line that started the last test.
    started: u64,
    /// With `-V` each line that a test prints has its number before it: the last of them.
    printed: Option<VecDeque<(String, Quote)>>,
}

/// The most lines that tests printed under `-V` that are remembered, and that are quoted of one.
const PRINTED: usize = 64;
const QUOTED: usize = 8;

impl Reader for Ctest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if body.starts_with("Use \"--rerun-failed ") {
            return Step::Take;
        }
        if let Some((count, rest)) = body.part_at("Test #") {
            let again = count.is_empty() && rest.has(" ..");
            if again || is_count(count) {
                return self.status(rest, again, line, report);
            }
        }
        if body.starts_with("Start ") && line.indent() >= 4 {
            self.start(body, line, report);
            return Step::Take;
        }
        if let Some(step) = self.verbose(line) {
            return step;
        }
        if body.has("% tests passed") {
            self.sum(line, report);
            return Step::Take;
        }
        self.others(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        if let Some(finding) = self.missing.take() {
            report.fail(finding);
        }
    }
}

impl Ctest {
    /// `    Start 12: gauge`.
    fn start(&mut self, body: &str, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        self.known = report.total();
        self.started = line.number;
        let name = body.part_at(": ").map_or("", |(_, name)| name);
        self.tried = self.tried.take().filter(|(tried, _)| tried == name);
    }

    /// `2: error count: 3`, what test 2 prints with `-V`. It is the test's, whatever it says.
    fn verbose(&mut self, line: &Line<'_>) -> Option<Step> {
        let (number, text) = line.text.part_at(": ")?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if text.starts_with("Test command: ") {
            self.printed.get_or_insert_default();
            return Some(Step::Lean);
        }
        let printed = self.printed.as_mut()?;
        if text.starts_with("Test timeout computed") || text.starts_with("Working Directory: ") {
            return Some(Step::Lean);
        }
        if printed.len() == PRINTED {
            printed.pop_front();
        }
        printed.push_back((number.to_owned(), line.quote()));
        Some(Step::Lean)
    }

    /// The last lines that a test printed, by the number before its name.
    fn said(&self, number: &str) -> Vec<Quote> {
        let printed = self.printed.iter().flatten();
        let mut said: Vec<Quote> = printed
            .filter(|(of, _)| of == number)
            .map(|(_, quote)| quote.clone())
            .collect();
        said.drain(..said.len().saturating_sub(QUOTED));
        said
    }

    /// How a test ended. One without a count is run again, as `ctest --repeat` does: what it said then counts only
    /// where the last run does not pass.
    fn status(&mut self, rest: &str, again: bool, line: &Line<'_>, report: &mut Report) -> Step {
        if self.open.is_some() {
            self.close(report);
            self.known = report.total();
        }
        let Some((number, rest)) = rest.part_at(": ") else {
            return Step::Pass;
        };
        let said = self.said(number.trim());
        let name = rest.split([' ', '.']).next().unwrap_or(rest).to_owned();
        if rest.has("***Not Run (Disabled)") {
            report.tally("ctest", &[("disabled", 1)], line);
            return Step::Take;
        }
        let Some((_, status)) = rest.part_at("***") else {
            self.known = report.total();
            if let Some((_, first)) = self.tried.take().filter(|(tried, _)| !again && *tried == name) {
                let last = line.number;
                report.forgive_lines(Span { first, last });
                report.tally("ctest", &[("flaky", 1)], line);
            }
            // What the tests beside it print goes on.
            return if self.printed.is_some() {
                Step::Lean
            } else {
                Step::Take
            };
        };
        if again && self.tried.is_none() {
            self.tried = Some((name.clone(), self.started));
        }
        let words = status.before("  ").trim();
        let kind = if words.starts_with("Exception") {
            Kind::Crash
        } else {
            Kind::Test
        };
        let title = joined![name, ": ", words, limit(status, words)];
        if let Some(finding) = self.missing.take().filter(|_| words.starts_with("Not Run")) {
            report.fail(finding.of(&name));
            report.cascade(line);
        } else {
            let mut finding = Finding::new(kind, title, line)
                .of(&name)
                .known_as(joined!["ctest ", name]);
            finding.explain.extend(said);
            self.open = Some((finding, self.known));
        }
        self.remember(name);
        Step::Lean
    }

    fn remember(&mut self, name: String) {
        if self.named.len() < crate::limits::PENDING {
            self.named.push(name);
        }
    }

    /// The test's output has ended: did anything in it state a failure?
    fn close(&mut self, report: &mut Report) {
        let Some((finding, before)) = self.open.take() else {
            return;
        };
        if finding.kind == Kind::Test && report.total() > before {
            let number = finding.lines.first;
            report.cascade(&Line {
                number,
                text: &finding.title,
            });
        } else {
            report.fail(finding);
        }
    }

    fn sum(&mut self, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        let failed = number_before(line.text, "tests failed").unwrap_or(0);
        let run = line
            .text
            .last_part_at("out of ")
            .and_then(|(_, count)| count.trim().parse::<u64>().ok())
            .unwrap_or(failed);
        let counts = [
            ("run", run),
            ("passed", run.saturating_sub(failed)),
            ("failed", failed),
        ];
        report.tally("ctest", &counts, line);
        if failed > 0 {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
    }

    fn others(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("Could not find executable") || text.starts_with("Unable to find executable") {
            if self.missing.is_none() {
                self.missing = Some(Finding::new(Kind::Test, text, line));
            }
            return Step::Lean;
        }
        if text.starts_with("The following tests ") {
            self.listing = true;
            return Step::Hold;
        }
        if self.listing && (line.is_blank() || line.indent() > 0) {
            self.listed(line, report);
            return Step::Hold;
        }
        self.listing = false;
        if text.starts_with("Errors while running CTest") {
            report.cascade(line);
            return Step::Take;
        }
        self.output(line)
    }

    /// A test in the list at the end; one whose status line is not in the input is a failure known only here.
    fn listed(&mut self, line: &Line<'_>, report: &mut Report) {
        let Some((_, rest)) = line.body().part_at(" - ") else {
            return;
        };
        let Some((name, status)) = rest.last_part_at(" (") else {
            return;
        };
        if !status.starts_with("Disabled") && !self.named.iter().any(|known| known == name) {
            let title = joined![name, ": ", status.trim_end_matches(')')];
            report.fail(
                Finding::new(Kind::Test, title, line)
                    .of(name)
                    .known_as(joined!["ctest ", name]),
            );
        }
    }

    /// What the failed test printed.
    fn output(&mut self, line: &Line<'_>) -> Step {
        if let Some((finding, _)) = &mut self.open
            && self.printed.is_none()
        {
            finding.quote(line);
            return Step::Lean;
        }
        if self.missing.is_some() {
            Step::Lean
        } else {
            Step::Pass
        }
    }
}

/// The `1/6 ` before `Test #1`.
fn is_count(text: &str) -> bool {
    text.trim_end().halves(b'/').is_some_and(|(at, of)| {
        let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        number(at) && number(of)
    })
}

fn limit(status: &str, words: &str) -> String {
    match status.strip_prefix("Timeout") {
        Some(rest) if words.starts_with("Timeout") => joined![" after ", rest.trim()],
        _ => String::new(),
    }
}
