//! Node's uncaught exceptions, and Deno's and Bun's.
//!
//! Written from Node 20 and 22. The statement stands above the first `at` line; the first frame outside
//! `node_modules` is the place. A trace that a program prints and survives is an exception, not a crash.

use super::jest::own_frame;
use crate::digest::{Kind, Quote};
use crate::line::Line;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "node",
    tools: "node, deno, bun",
    recognises: "uncaught exceptions and rejections with the first own frame",
    version: "Node 22",
    triggers: &["    at ", "Node.js v", "[cause]: "],
    reader: || Box::<Node>::default(),
};

#[derive(Debug, Default)]
struct Node {
    open: Option<Finding>,
}

impl Reader for Node {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if let Some(open) = &mut self.open {
            if let Some(frame) = body.strip_prefix("at ") {
                if open.location.is_none() {
                    open.location = own_frame(frame);
                }
                return Step::Hold;
            }
            if body.starts_with("[cause]: ") {
                open.add(line);
                return Step::Hold;
            }
            if line.is_blank() || body.starts_with('}') || (line.indent() >= 2 && body.contains(": ")) {
                return Step::Hold;
            }
            let crashed = line.text.starts_with("Node.js v");
            if let Some(mut finding) = self.open.take() {
                finding.kind = if crashed { Kind::Crash } else { Kind::Exception };
                report.fail(finding);
            }
            return if crashed { Step::Take } else { Step::Pass };
        }
        self.start(line, body, report)
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

impl Node {
    fn start(&mut self, line: &Line<'_>, body: &str, report: &mut Report) -> Step {
        let Some(frame) = body
            .strip_prefix("at ")
            .filter(|_| line.text.starts_with("    at "))
        else {
            return Step::Pass;
        };
        let above: Vec<Quote> = report.recent.before(line.number);
        let Some(quote) = above.iter().rev().find(|quote| is_statement(&quote.text)) else {
            return Step::Pass;
        };
        report.unknowns.forget(quote.line);
        let said = Line {
            number: quote.line,
            text: &quote.text,
        };
        let mut finding = Finding::new(Kind::Exception, quote.text.trim_start_matches("Uncaught "), &said)
            .known_as(format!("node {}", quote.line));
        finding.location = own_frame(frame);
        self.open = Some(finding);
        Step::Hold
    }
}

/// `TypeError: x is not a function`, `Error [ERR_X]: text`, `Uncaught Error: text`.
fn is_statement(text: &str) -> bool {
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let name = text.split([':', ' ', '[']).next().unwrap_or("");
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && (name.ends_with("Error") || name.ends_with("Exception"))
}
