//! Terraform and `OpenTofu`: diagnostics in a box.
//!
//! Written from real runs of Terraform 1.11, in boxes and without colour.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "terraform",
    tools: "terraform, tofu",
    recognises: "errors with file, line and explanation, warnings, applied and planned changes",
    version: "Terraform 1.11",
    triggers: &[
        "│ Error: ",
        "│ Warning: ",
        "Apply complete!",
        "Plan: ",
        "No changes.",
        "Error: ",
        "Warning: ",
        "  on ",
        "  with ",
        "Terraform will perform",
        " encountered an error while ",
        "failed running terraform ",
        "Terraform exited with code ",
    ],
    reader: || Box::<Terraform>::default(),
};

#[derive(Debug, Default)]
struct Terraform {
    open: Option<Finding>,
    warning: bool,
    /// Without colour there is no box: the last `Error: ` or `Warning: `, until its place shows whose it is.
    header: Option<(u64, String)>,
    bare: Option<Bare>,
    /// In a plan, whose values may be any text.
    plan: bool,
}

/// An error written without a box: its words, its place, and a paragraph of explanation.
#[derive(Debug)]
struct Bare {
    finding: Finding,
    error: bool,
    explained: bool,
}

impl Reader for Terraform {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if reports(line.text) {
            self.close(report);
            report.failed(line);
            report.announce(line);
            return Step::Take;
        }
        if let Some(step) = self.bare(line, report) {
            return step;
        }
        let boxed = line.text.strip_prefix('│').map(str::trim_start);
        if let Some(body) = boxed {
            return self.boxed(body, line, report);
        }
        if self.open.is_some() || self.warning {
            self.close(report);
            return if line.text == "╵" {
                Step::Take
            } else {
                Step::Pass
            };
        }
        if line.text.starts_with("Apply complete!") || line.text.starts_with("No changes.") {
            report.succeeded(line);
            return Step::Take;
        }
        self.plan |= line
            .text
            .starts_with("Terraform will perform the following actions");
        if self.plan && (line.indent() > 0 || line.is_blank() || line.text.starts_with("Terraform will")) {
            return Step::Lean;
        }
        self.plan = false;
        if line.text.starts_with("Plan: ") {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Terraform {
    /// `Error: Unsupported attribute`, a blank line, `  on main.tf line 12, in output "x":`, the source, a blank
    /// line, and a paragraph.
    fn bare(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(bare) = &mut self.bare {
            if bare.takes(line) {
                return Some(Step::Hold);
            }
            self.close(report);
        }
        if line.text.starts_with("Error: ") || line.text.starts_with("Warning: ") {
            self.close(report);
            self.header = Some((line.number, line.text.to_owned()));
            return None;
        }
        let placed = line.text.starts_with("  on ") || line.text.starts_with("  with ");
        let (number, text) = self.header.take_if(|_| placed)?;
        if number + 3 < line.number {
            return None;
        }
        report.unknowns.forget(number);
        let header = Line { number, text: &text };
        let mut bare = Bare {
            finding: Finding::new(Kind::Configure, &text, &header),
            error: text.starts_with("Error: "),
            explained: false,
        };
        bare.takes(line);
        self.bare = Some(bare);
        Some(Step::Hold)
    }

    fn boxed(&mut self, body: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if body.starts_with("Error: ") {
            self.close(report);
            report.failed(line);
            self.open = Some(Finding::new(Kind::Configure, body, line));
            return Step::Hold;
        }
        if body.starts_with("Warning: ") {
            self.close(report);
            self.warning = true;
            report.warn("terraform", None, line);
            return Step::Hold;
        }
        if let Some(open) = &mut self.open {
            open.add(line);
            if let Some(place) = place(body) {
                open.location = Some(place);
            }
            return Step::Hold;
        }
        if self.warning { Step::Hold } else { Step::Pass }
    }

    fn close(&mut self, report: &mut Report) {
        self.warning = false;
        if let Some(bare) = self.bare.take() {
            bare.report(report);
        }
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

impl Bare {
    /// Whether the line is part of it.
    fn takes(&mut self, line: &Line<'_>) -> bool {
        if line.is_blank() {
            return !self.explained;
        }
        let body = line.body();
        if line.indent() > 0 {
            if let Some(place) = place(body) {
                self.finding.location = Some(place);
            }
            self.finding.add(line);
            return true;
        }
        if line.text.starts_with("Error: ") || line.text.starts_with("Warning: ") {
            return false;
        }
        self.explained = true;
        self.finding.add(line);
        true
    }

    fn report(self, report: &mut Report) {
        let header = Line {
            number: self.finding.lines.first,
            text: &self.finding.title,
        };
        if self.error {
            report.failed(&header);
            report.fail(self.finding);
        } else {
            report.warn("terraform", self.finding.location, &header);
        }
    }
}

/// `Planning failed. Terraform encountered an error while generating this plan.`, which stands before the error it
/// speaks of, and what HCP Terraform and the action that wraps the command say after it.
fn reports(text: &str) -> bool {
    let planning = text.starts_with("Planning failed. ") && text.has(" encountered an error while ");
    let wrapped = ["Error: ", "##[error]"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text);
    planning
        || text.starts_with("Operation failed: failed running terraform ")
        || wrapped.starts_with("Terraform exited with code ")
}

/// `on main.tf line 4, in resource "x" "y":`.
fn place(body: &str) -> Option<Location> {
    let (path, rest) = body.strip_prefix("on ")?.part_at(" line ")?;
    let line = leading_number(rest)?.0;
    Some(Location {
        path: path.to_owned(),
        line: Some(line),
        column: None,
    })
}
