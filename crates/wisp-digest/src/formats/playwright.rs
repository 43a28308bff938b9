//! Playwright: `  1) [chromium] › file.spec.ts:10:5 › name ───` and the list at the end.
//!
//! Written from real runs of Playwright 1.65's list reporter.

use super::jest::own_frame;
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "playwright",
    tools: "playwright test",
    recognises: "failed tests with project, message and place, the sums; flaky ones told apart",
    version: "Playwright 1.65",
    triggers: &[
        " › ",
        "  Error: ",
        " tests using ",
        " test using ",
        " failed",
        " passed (",
        "Error: No tests found",
    ],
    reader: || Box::<Playwright>::default(),
};

#[derive(Debug, Default)]
struct Playwright {
    running: bool,
    open: Option<(Finding, String, bool)>,
    listing: bool,
    /// Whether the list is of tests that passed when they were run again.
    flaky: bool,
    /// Failures with their names, until the lists say which tests were flaky.
    waiting: Vec<(String, Finding)>,
}

impl Reader for Playwright {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("Running ") && text.has(" tests using ")
            || text.starts_with("Running ") && text.has(" test using ")
        {
            self.running = true;
            return Step::Take;
        }
        if text == "Error: No tests found." {
            // Where a file does not load, that is why there are none.
            if report.failures.is_empty() {
                report.fail(Finding::new(Kind::Tool, text, line));
            } else {
                report.cascade(line);
            }
            return Step::Take;
        }
        if !self.running {
            return Step::Pass;
        }
        if let Some((name, place)) = header(line) {
            self.close(report);
            let mut finding = Finding::new(Kind::Test, &name, line)
                .of(&name)
                .known_as(joined!["playwright ", name]);
            finding.location = place;
            self.open = Some((finding, name, false));
            return Step::Hold;
        }
        if let Some(step) = self.sum(line, report) {
            return step;
        }
        self.inside(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.settle(report);
    }
}

/// `  1) [chromium] › example.spec.ts:10:5 › get started ─────`.
fn header(line: &Line<'_>) -> Option<(String, Option<crate::digest::Location>)> {
    let (_, rest) = leading_number(line.body()).filter(|_| line.indent() == 2)?;
    let name = rest.strip_prefix(") ")?.trim_end_matches(['─', ' ']).to_owned();
    let place = name
        .split(" › ")
        .find_map(|part| place_at_start(part).map(|(location, _)| location));
    (name.has(" › ") && place.is_some()).then_some((name, place))
}

impl Playwright {
    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.listing && line.indent() >= 4 {
            let name = line.body().trim_end_matches(['─', ' ']);
            if self.flaky {
                self.waiting.retain(|(waiting, _)| waiting != name);
                report.note(format!("flaky: {name}"), line.number);
            }
            return Step::Hold;
        }
        self.listing = false;
        if let Some((finding, name, stated)) = &mut self.open {
            if line.is_blank() {
                return Step::Hold;
            }
            if line.indent() >= 4 {
                explain(line, finding, name, stated);
                return Step::Hold;
            }
            self.close(report);
        }
        let tree = line.indent() >= 2 && line.text.has(" › ");
        if tree { Step::Take } else { Step::Pass }
    }

    /// `  1 failed`, `  2 passed (6.5s)`, `  1 flaky`.
    fn sum(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let (number, rest) = leading_number(line.body()).filter(|_| line.indent() == 2)?;
        let words = [
            "failed",
            "passed",
            "flaky",
            "skipped",
            "interrupted",
            "did not run",
        ];
        let rest = rest.strip_prefix(' ')?;
        let word = *words.iter().find(|word| {
            rest.strip_prefix(**word)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        })?;
        self.close(report);
        self.flaky = word == "flaky";
        report.tally("playwright", &[(word, number)], line);
        match word {
            "failed" => report.failed(line),
            "passed" => {
                self.settle(report);
                report.succeeded(line);
            }
            _ => {}
        }
        self.listing = true;
        Some(Step::Hold)
    }

    fn close(&mut self, report: &mut Report) {
        let Some((mut finding, name, stated)) = self.open.take() else {
            return;
        };
        // Tests that share a broken hook or helper fail at its place with its words.
        finding.cause = finding
            .location
            .as_ref()
            .filter(|_| stated)
            .map(|place| joined![place, " ", Quoted(&finding.explain)]);
        if self.waiting.len() < limits::PENDING {
            self.waiting.push((name, finding));
        } else {
            report.fail(finding);
        }
    }

    /// What has not turned out to be flaky has failed.
    fn settle(&mut self, report: &mut Report) {
        for (_, finding) in std::mem::take(&mut self.waiting) {
            report.fail(finding);
        }
    }
}

fn explain(line: &Line<'_>, finding: &mut Finding, name: &str, stated: &mut bool) {
    let body = line.body();
    if let Some(frame) = body.strip_prefix("at ") {
        if let Some(place) = own_frame(frame) {
            finding.location = Some(place);
        }
        return;
    }
    if !*stated {
        *stated = true;
        finding.lines = line.span();
        finding.retitle(joined![name, ": ", body]);
    }
    finding.quote(line);
}
