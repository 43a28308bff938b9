//! Terraform and `OpenTofu`: diagnostics in a box.
//!
//! Written from Terraform 1.9 and `OpenTofu` 1.8.

use crate::digest::{Kind, Location};
use crate::line::{Line, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "terraform",
    tools: "terraform, tofu",
    recognises: "errors with file, line and explanation, warnings, applied and planned changes",
    version: "Terraform 1.9",
    triggers: &[
        "│ Error: ",
        "│ Warning: ",
        "Apply complete!",
        "Plan: ",
        "No changes.",
    ],
    reader: || Box::<Terraform>::default(),
};

#[derive(Debug, Default)]
struct Terraform {
    open: Option<Finding>,
    warning: bool,
}

impl Reader for Terraform {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
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
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// `on main.tf line 4, in resource "x" "y":`.
fn place(body: &str) -> Option<Location> {
    let (path, rest) = body.strip_prefix("on ")?.split_once(" line ")?;
    let line = leading_number(rest)?.0;
    Some(Location {
        path: path.to_owned(),
        line: Some(line),
        column: None,
    })
}
