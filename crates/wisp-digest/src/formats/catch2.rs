//! Catch2 and doctest: `file.cpp:14: FAILED:` under the name of the test case.
//!
//! Written from Catch2 3.5 and doctest 2.4.

use crate::digest::Kind;
use crate::line::{Line, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "catch2",
    tools: "Catch2, doctest",
    recognises: "failed assertions with their expansion under the test case's name, the sums",
    version: "Catch2 3.5, doctest 2.4",
    triggers: &[
        ": FAILED:",
        "----------",
        "test cases:",
        "All tests passed (",
        "[doctest]",
        "TEST CASE:",
        "assertions:",
        ": ERROR: CHECK",
        ": FATAL ERROR: REQUIRE",
    ],
    reader: || Box::<Catch>::default(),
};

#[derive(Debug, Default)]
struct Catch {
    /// The last line between two rules, which is a test case's name.
    name: Option<String>,
    ruled: bool,
    open: Option<Finding>,
    blanks: u32,
}

impl Reader for Catch {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some((location, rest)) = place_at_start(text).filter(|(_, rest)| {
            rest.starts_with(": FAILED:")
                || rest.starts_with(": ERROR: CHECK")
                || rest.starts_with(": FATAL ERROR: REQUIRE")
        }) {
            self.close(report);
            let name = self.name.clone().unwrap_or_else(|| "a test case".to_owned());
            let said = rest.trim_start_matches(": ").trim_end_matches(':');
            self.open = Some(
                Finding::new(Kind::Test, &format!("{name}: {said}"), line)
                    .of(&name)
                    .at(location),
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
    }
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
        if text.len() >= 70 && text.bytes().all(|byte| byte == b'-') {
            self.ruled = !self.ruled;
            return if self.ruled { Step::Lean } else { Step::Take };
        }
        if self.ruled && !line.is_blank() {
            if line.indent() == 0 {
                self.name = Some(text.to_owned());
            }
            return Step::Lean;
        }
        Step::Pass
    }

    fn sums(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text.strip_prefix("[doctest] ").unwrap_or(line.text);
        if text.starts_with("All tests passed (") {
            report.succeeded(line);
            return Some(Step::Take);
        }
        let what = if text.starts_with("test cases:") {
            "catch2 test cases"
        } else {
            text.starts_with("assertions:").then_some("catch2 assertions")?
        };
        self.close(report);
        let counts: Vec<(&str, u64)> = ["passed", "failed", "skipped"]
            .iter()
            .filter_map(|name| Some((*name, number_before(text, name)?)))
            .collect();
        report.set_tally(what, &counts, line);
        if counts
            .iter()
            .any(|(name, number)| *name == "failed" && *number > 0)
        {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
        Some(Step::Take)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}
