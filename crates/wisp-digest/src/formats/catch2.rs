//! Catch2 and doctest: `file.cpp:14: FAILED:` under the name of the test case.
//!
//! Written from real runs of Catch2 3.7 and doctest 2.4. A test case that should fail is printed as one that failed;
//! only the sums tell them apart.

use crate::counted::thousands;
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, leading_number, paren_place_at_start, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "catch2",
    tools: "Catch2, doctest",
    recognises: "failed assertions with their expansion under the test case's name, the sums; what was to fail is none",
    version: "Catch2 3.7, doctest 2.4",
    triggers: &[
        ": FAILED:",
        "\n----------",
        "test cases:",
        "All tests passed (",
        "[doctest]",
        "Filters: ",
        "TEST CASE:",
        "assertions:",
        ": ERROR: CHECK",
        ": FATAL ERROR: REQUIRE",
        ": ERROR: test case THREW",
    ],
    reader: || Box::<Catch>::default(),
};

#[derive(Debug, Default)]
struct Catch {
    /// The lines between two rules: a test case's name and its sections'.
    name: Option<String>,
    ruled: bool,
    open: Option<Finding>,
    blanks: u32,
    /// Failures until the sums say whether all of them were expected.
    waiting: Vec<Finding>,
}

impl Reader for Catch {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        let place = place(text).filter(|(_, rest)| is_failure(rest));
        let place = place.map(|(place, rest)| (place.location(), rest));
        let place = place.or_else(|| paren_place_at_start(text).filter(|(_, rest)| is_failure(rest)));
        if let Some((location, rest)) = place {
            self.close(report);
            let name = self.name.clone().unwrap_or_else(|| "a test case".to_owned());
            let said = rest.past(": ").trim_end_matches(':');
            self.open = Some(
                Finding::new(Kind::Test, joined![name, ": ", said], line)
                    .of(&name)
                    .at(location)
                    .because(Some(name)),
            );
            self.blanks = 0;
            return Step::Hold;
        }
        if let Some(step) = self.sums(line, report) {
            return step;
        }
        if self.open.is_some() && self.explains(line) {
            return Step::Hold;
        }
        self.close(report);
        self.names(line)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.settle(false, report);
    }
}

fn is_failure(rest: &str) -> bool {
    rest.starts_with(": FAILED:")
        || rest.starts_with(": ERROR: CHECK")
        || rest.starts_with(": FATAL ERROR: REQUIRE")
        || rest.starts_with(": ERROR: test case THREW")
}

impl Catch {
    /// The expression, its expansion and messages, up to a second blank line or a rule.
    fn explains(&mut self, line: &Line<'_>) -> bool {
        self.blanks += u32::from(line.is_blank());
        let rule = line.text.starts_with("-----")
            || line.text.starts_with("=====")
            || line.text.starts_with(".....");
        if rule || self.blanks > 1 {
            return false;
        }
        if let Some(finding) = &mut self.open {
            if finding.explain.is_empty() && finding.title.ends_with(": FAILED") {
                let name = finding.title.short_of(": FAILED").to_owned();
                finding.retitle(joined![name, ": ", line.body()]);
            }
            finding.add(line);
        }
        true
    }

    /// Rules and what stands between two of them.
    fn names(&mut self, line: &Line<'_>) -> Step {
        let text = line.text;
        if let Some(name) = text.strip_prefix("TEST CASE:") {
            self.name = Some(name.trim().to_owned());
            return Step::Take;
        }
        if text.len() == 79 && text.bytes().all(|byte| byte == b'-') {
            self.ruled = !self.ruled;
            return if self.ruled { Step::Lean } else { Step::Take };
        }
        if self.ruled && !line.is_blank() {
            match &mut self.name {
                Some(name) if line.indent() > 0 => {
                    name.push_str(" › ");
                    name.push_str(line.body());
                }
                name => *name = Some(text.to_owned()),
            }
            return Step::Lean;
        }
        Step::Pass
    }

    fn sums(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text.strip_prefix("[doctest] ").unwrap_or(line.text);
        if text.starts_with("Filters: ") {
            return Some(Step::Take);
        }
        if text.starts_with("All tests passed (") || text == "Status: SUCCESS!" {
            report.succeeded(line);
            return Some(Step::Take);
        }
        if text == "Status: FAILURE!" {
            report.failed(line);
            return Some(Step::Take);
        }
        let what = if text.starts_with("test cases:") {
            "catch2 test cases"
        } else {
            text.starts_with("assertions:").then_some("catch2 assertions")?
        };
        self.close(report);
        let counts = counts(text);
        report.set_tally(what, &counts, line);
        let count = |name| {
            counts
                .iter()
                .find(|(each, _)| *each == name)
                .map_or(0, |each| each.1)
        };
        let (failed, expected) = (count("failed"), count("failed as expected"));
        self.settle(failed == 0, report);
        if expected > 0 && what == "catch2 test cases" {
            let cases = if expected == 1 { "case" } else { "cases" };
            report.note(
                format!("{} test {cases} failed as expected", thousands(expected)),
                line.number,
            );
        }
        if failed > 0 {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
        Some(Step::Take)
    }

    /// The failures told so far were all expected, or are failures.
    fn settle(&mut self, expected: bool, report: &mut Report) {
        for finding in std::mem::take(&mut self.waiting) {
            if !expected {
                report.fail(finding);
            }
        }
    }

    fn close(&mut self, report: &mut Report) {
        let Some(finding) = self.open.take() else { return };
        if self.waiting.len() < limits::PENDING {
            self.waiting.push(finding);
        } else {
            report.fail(finding);
        }
    }
}

/// `test cases: 4 | 1 passed | 2 failed | 1 failed as expected`.
fn counts(text: &str) -> Vec<(&str, u64)> {
    let parts = text.split(['|', ':']).map(str::trim);
    parts
        .filter_map(leading_number)
        .filter_map(|(number, name)| Some((name.strip_prefix(' ')?, number)))
        .collect()
}
