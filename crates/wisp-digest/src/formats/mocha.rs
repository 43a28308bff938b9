//! Mocha: `1 failing` and the numbered blocks after it.
//!
//! Written from real runs of Mocha 12's spec and dot reporters. The tree above names the same tests without a reason.

use super::jest::own_frame;
use crate::digest::Kind;
use crate::joined::{Quoted, joined};
use crate::line::{Line, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "mocha",
    tools: "mocha, cypress",
    recognises: "failed tests with their full name, message and first own frame, the sums",
    version: "Mocha 12",
    triggers: &[
        " passing (",
        " failing",
        " pending",
        "    ✔ ",
        "    ✓ ",
        "Error: No test files found: ",
    ],
    reader: || Box::<Mocha>::default(),
};

#[derive(Debug, Default)]
struct Mocha {
    blocks: bool,
    /// Whether a test that passed, or a sum, has come: other lines are headings beside one.
    met: bool,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: Vec<String>,
    stated: bool,
    /// Whether its trace has begun.
    framed: bool,
}

impl Reader for Mocha {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if body.starts_with("Error: No test files found: \"") {
            report.fail(Finding::new(Kind::Tool, body, line));
            return Step::Take;
        }
        if let Some((number, rest)) = leading_number(body).filter(|_| line.indent() == 2) {
            if let Some(name) = [
                ("passing", " passing ("),
                ("failing", " failing"),
                ("pending", " pending"),
            ]
            .iter()
            .find(|(_, mark)| rest.starts_with(mark))
            .map(|(name, _)| *name)
            {
                return self.sum(name, number, line, report);
            }
            if let Some(name) = rest.strip_prefix(") ").filter(|_| self.blocks) {
                self.close(report);
                let finding = Finding::new(Kind::Test, name, line).known_as(joined!["mocha ", line.number]);
                self.open = Some(Open {
                    finding,
                    name: parts(name),
                    stated: false,
                    framed: false,
                });
                return Step::Hold;
            }
        }
        if let Some(open) = &mut self.open {
            // A message may have lines without indentation; nothing else has, before the trace.
            if line.indent() > 2 || line.is_blank() || !open.framed {
                open.line(line);
                return Step::Hold;
            }
            self.close(report);
            self.blocks = false;
        }
        if body.starts_with("✔ ") || body.starts_with("✓ ") {
            headings(line, report);
        }
        if self.blocks && line.is_blank() {
            return Step::Hold;
        }
        if body.starts_with("✔ ") || body.starts_with("✓ ") {
            self.met = true;
            Step::Lean
        } else {
            self.tree(line)
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Mocha {
    /// Headings of the tree.
    fn tree(&mut self, line: &Line<'_>) -> Step {
        if self.met && !self.blocks && line.indent() >= 2 && line.indent() <= 20 {
            Step::Lean
        } else {
            Step::Pass
        }
    }

    fn sum(&mut self, name: &str, number: u64, line: &Line<'_>, report: &mut Report) -> Step {
        self.met = true;
        report.tally("mocha", &[(name, number)], line);
        match name {
            "failing" => {
                report.failed(line);
                self.blocks = true;
                Step::Hold
            }
            "passing" => {
                report.succeeded(line);
                Step::Take
            }
            _ => Step::Take,
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            let mut finding = open.finding;
            // Tests that share a broken hook fail at its place with its words.
            finding.cause = finding
                .location
                .as_ref()
                .map(|place| joined![place, " ", Quoted(&finding.explain)]);
            report.fail(finding);
        }
    }
}

/// A part of a test's name; the last one ends with a colon, and an empty part stands after it.
fn parts(text: &str) -> Vec<String> {
    match text.strip_suffix(':') {
        Some(name) => vec![name.to_owned(), String::new()],
        None => vec![text.to_owned()],
    }
}

/// The headings above a test that passed claim nothing, whatever they are called.
fn headings(line: &Line<'_>, report: &mut Report) {
    for quote in report.recent.before(line.number) {
        let indent = quote.text.len() - quote.text.trim_start().len();
        if (2..line.indent()).contains(&indent) {
            report.unknowns.forget(quote.line);
        }
    }
}

impl Open {
    /// The rest of the name up to a blank line, then the message and the trace.
    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        let named = self.name.last().is_some_and(String::is_empty);
        if line.is_blank() {
            if !named {
                self.name.push(String::new());
            }
            return;
        }
        if !named && !self.stated {
            self.name.extend(parts(body));
            return;
        }
        if let Some(frame) = body.strip_prefix("at ") {
            self.framed = true;
            if self.finding.location.is_none() {
                self.finding.location = own_frame(frame);
            }
            return;
        }
        if !self.stated {
            self.stated = true;
            let name = self
                .name
                .iter()
                .filter(|part| !part.is_empty())
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" › ");
            self.finding.retitle(joined![name, ": ", body]);
            self.finding.subject = Some(name);
            self.finding.lines = line.span();
        }
        self.finding.quote(line);
    }
}
