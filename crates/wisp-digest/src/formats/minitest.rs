//! minitest and Rails' runner.
//!
//! Written from real runs of minitest 5.17 and 5.25; Rails 8 from documentation.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, leading_number, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "minitest",
    tools: "minitest, test-unit, rails test",
    recognises: "failures and errors with message and place, the sum",
    version: "minitest 5.25",
    triggers: &[
        ") Failure:",
        ") Skipped:",
        ") Error:",
        "Failure:",
        "Error:",
        " runs, ",
        " tests, ",
        "# Running:",
        "rake aborted!",
        "Command failed with status (",
    ],
    reader: || Box::<Minitest>::default(),
};

#[derive(Debug, Default)]
struct Minitest {
    open: Option<Open>,
    running: bool,
    /// In the block of a skipped test.
    skipped: bool,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: Option<String>,
    stated: bool,
}

impl Reader for Minitest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text == "rake aborted!" || line.text.starts_with("Command failed with status (") {
            self.close(report);
            report.cascade(line);
            return Step::Take;
        }
        if line.text == "# Running:" {
            self.running = true;
            return Step::Take;
        }
        let body = line.body();
        let number = leading_number(body).map_or("", |(_, rest)| rest);
        let numbered = number == ") Failure:" || number == ") Error:";
        if number == ") Skipped:" {
            self.close(report);
            self.skipped = true;
            return Step::Hold;
        }
        let skipped = self.skipped;
        self.skipped &= !line.is_blank();
        if skipped {
            return Step::Hold;
        }
        let rails = self.running && matches!(line.text, "Failure:" | "Error:");
        if numbered || rails {
            self.close(report);
            self.open = Some(Open {
                finding: Finding::new(Kind::Test, body, line),
                name: None,
                stated: false,
            });
            return Step::Hold;
        }
        if sum(line, report) {
            self.close(report);
            self.running = false;
            return Step::Take;
        }
        if let Some(open) = &mut self.open {
            if open.stated && line.is_blank() {
                self.close(report);
                return Step::Take;
            }
            open.line(line);
            return Step::Hold;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Minitest {
    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        let mut finding = open.finding;
        // Tests that share a broken setup fail at its place with its words.
        let name = open.name.as_deref().unwrap_or("");
        let told = finding.title.strip_prefix(name).unwrap_or(&finding.title);
        finding.cause = finding.location.as_ref().map(|place| joined![place, " ", told]);
        report.fail(finding);
    }
}

impl Open {
    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        if self.name.is_none() && !line.is_blank() {
            let name = body
                .split([' ', ':'])
                .next()
                .unwrap_or(body)
                .split('[')
                .next()
                .unwrap_or(body);
            self.finding.subject = Some(name.to_owned());
            self.finding.location = between(body, "[", "]").and_then(bracketed);
            self.name = Some(name.to_owned());
            return;
        }
        if line.is_blank() {
            return;
        }
        if self.stated {
            self.finding.add(line);
        } else {
            self.stated = true;
            self.finding.lines = line.span();
            self.finding
                .retitle(joined![self.name.as_deref().unwrap_or("test"), ": ", body]);
        }
        if self.finding.location.is_none() && line.indent() > 0 {
            self.finding.location = place_at_start(body)
                .map(|(location, _)| location)
                .filter(|location| !location.path.has("/gems/"));
        }
    }
}

/// `test/nest_test.rb:9`.
fn bracketed(text: &str) -> Option<Location> {
    place_at_start(text).map(|(location, _)| location)
}

/// `5 runs, 6 assertions, 1 failures, 0 errors, 1 skips`.
fn sum(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if !line.body().starts_with(|first: char| first.is_ascii_digit()) || !text.has("assertions") {
        return false;
    }
    let runs = number_before(text, "runs").or_else(|| number_before(text, "tests"));
    let (Some(runs), Some(_), Some(failures), Some(errors)) = (
        runs,
        number_before(text, "assertions"),
        number_before(text, "failures"),
        number_before(text, "errors"),
    ) else {
        return false;
    };
    report.set_tally(
        "minitest",
        &[
            ("runs", runs),
            ("failures", failures),
            ("errors", errors),
            ("skips", number_before(text, "skips").unwrap_or(0)),
        ],
        line,
    );
    if failures + errors > 0 {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    true
}
