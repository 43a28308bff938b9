//! Node's uncaught exceptions, and Deno's and Bun's.
//!
//! Written from real runs of Node 20 and 24, Deno 2.9 and Bun 1.4. The statement stands above the first `at` line;
//! the first frame outside `node_modules` is the place. A trace that a program prints and survives is an exception,
//! not a crash.

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
    version: "Node 24, Deno 2.9, Bun 1.4",
    triggers: &[
        "    at ",
        "Node.js v",
        "[cause]: ",
        "Error: ",
        "Error [",
        "error: ",
    ],
    reader: || Box::<Node>::default(),
};

#[derive(Debug, Default)]
struct Node {
    open: Option<Finding>,
    /// The last line of this stream that names an error, where others' lines stand between.
    said: Option<Quote>,
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
                let cause = body.trim_start_matches("[cause]: ");
                open.retitle(&format!("{}; cause: {cause}", open.title));
                return Step::Hold;
            }
            if line.is_blank()
                || body.starts_with("... ")
                || body.starts_with('}')
                || (line.indent() >= 2 && body.contains(": "))
            {
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
            .filter(|_| (4..=8).contains(&line.indent()))
        else {
            if is_statement(line.text) {
                self.said = Some(line.quote());
            }
            return Step::Pass;
        };
        let above: Vec<Quote> = report.recent.before(line.number);
        let near = above.into_iter().rev().find(|quote| is_statement(&quote.text));
        let said = self
            .said
            .take()
            .filter(|said| said.line + NEAR > line.number && own_frame(frame).is_some());
        let Some(quote) = said.or(near) else {
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

/// How many lines of other streams may stand between an error's name and its first frame.
const NEAR: u64 = 8;

/// `TypeError: x is not a function`, `Error [ERR_X]: text`, `Uncaught Error: text`.
fn is_statement(text: &str) -> bool {
    // Deno's and Bun's.
    if text.starts_with("error: ") {
        return true;
    }
    if !text.starts_with(|first: char| first.is_ascii_uppercase()) {
        return false;
    }
    let text = text.strip_prefix("Uncaught ").unwrap_or(text);
    let name = text.split([':', ' ', '[']).next().unwrap_or("");
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && (name.ends_with("Error") || name.ends_with("Exception"))
}
