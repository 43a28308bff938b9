//! Node's uncaught exceptions, and Deno's and Bun's.
//!
//! Written from real runs of Node 20 and 24, Deno 2.9 and Bun 1.4. The statement stands above the first `at` line;
//! the first frame outside `node_modules` is the place. A trace that a program prints and survives is an exception,
//! not a crash.

use super::jest::own_frame;
use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, place_at_start};
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
        "\nerror: ",
    ],
    reader: || Box::<Node>::default(),
};

#[derive(Debug, Default)]
struct Node {
    open: Option<Finding>,
    /// The last line of this stream that names an error, where others' lines stand between.
    said: Option<Quote>,
    /// The place that stands with the source above that line, and the line's number.
    source: Option<(u64, Location)>,
    /// The file that required what is not there.
    requiring: Option<Location>,
    /// Whether the braces are open that hold an error's fields, its cause and its members.
    braced: bool,
}

impl Reader for Node {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if let Some(open) = &mut self.open {
            if let Some(frame) = body.strip_prefix("at ") {
                if open.location.is_none() {
                    open.location = own_frame(frame);
                }
                self.braced |= frame.ends_with(" {");
                return Step::Hold;
            }
            if self.braced && is_member(body) {
                open.add(line);
                let sep = if open.title.has("; of: ") { "; " } else { "; of: " };
                open.retitle(joined![open.title, sep, body.short_of(" {")]);
                return Step::Hold;
            }
            if body.starts_with("[cause]: ") {
                open.add(line);
                let cause = body.past("[cause]: ");
                open.retitle(joined![open.title, "; cause: ", cause]);
                return Step::Hold;
            }
            if line.is_blank()
                || (self.braced && line.indent() > 0)
                || body.starts_with("... ")
                || body.starts_with('}')
                || (line.indent() >= 2 && body.has(": "))
            {
                return Step::Hold;
            }
            let crashed = line.text.starts_with("Node.js v");
            if let Some(finding) = &mut self.open {
                finding.kind = if crashed { Kind::Crash } else { Kind::Exception };
            }
            self.close(report);
            return if crashed { Step::Take } else { Step::Pass };
        }
        self.start(line, body, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Node {
    fn close(&mut self, report: &mut Report) {
        let requiring = self.requiring.take();
        self.braced = false;
        if let Some(mut finding) = self.open.take() {
            finding.location = finding.location.or(requiring);
            report.fail(finding);
        }
    }

    fn start(&mut self, line: &Line<'_>, body: &str, report: &mut Report) -> Step {
        let Some(frame) = body
            .strip_prefix("at ")
            .filter(|_| (4..=8).contains(&line.indent()))
        else {
            if is_statement(line.text) {
                self.said = Some(line.quote());
                forget_source(line.number, report);
                self.source = source(line, report);
            }
            return Step::Pass;
        };
        if self.said.is_none() && report.recent.is_indented_before(line.number) {
            // None of them is a statement.
            return Step::Pass;
        }
        let above: Vec<Quote> = report.recent.before(line.number);
        let near = above
            .iter()
            .rev()
            .find(|quote| is_statement(&quote.text))
            .cloned();
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
        let mut finding =
            Finding::new(Kind::Exception, stated(&quote.text), &said).known_as(joined!["node ", quote.line]);
        finding.location = own_frame(frame).or_else(|| {
            self.source
                .take()
                .filter(|(at, _)| *at == quote.line)
                .map(|(_, place)| place)
        });
        self.requiring = requiring(&above);
        self.open = Some(finding);
        Step::Hold
    }
}

/// How many lines of other streams may stand between an error's name and its first frame.
const NEAR: u64 = 8;

/// `/srv/broken.js:1` four lines above a syntax error, with the source and a caret under it.
fn source(line: &Line<'_>, report: &Report) -> Option<(u64, Location)> {
    let above = report.recent.at(line.number.checked_sub(4)?)?;
    let (place, rest) = place_at_start(&above.text)?;
    (line.text.starts_with("SyntaxError: ") && rest.is_empty()).then_some((line.number, place))
}

/// The file that required what is not there: `- /srv/load.js` under `Require stack:`.
fn requiring(above: &[Quote]) -> Option<Location> {
    let stack = above
        .iter()
        .position(|quote| quote.text.starts_with("Require stack:"))?;
    let path = above.get(stack + 1)?.text.strip_prefix("- ")?;
    Some(Location {
        path: path.to_owned(),
        line: None,
        column: None,
    })
}

/// An uncaught error has its place, the source there and a caret above it: what the source says is no failure.
fn forget_source(statement: u64, report: &mut Report) {
    let above = |lines: u64| report.recent.at(statement.checked_sub(lines)?);
    let placed = above(4).is_some_and(|quote| {
        place_at_start(&quote.text).is_some_and(|(place, rest)| place.line.is_some() && rest.is_empty())
    });
    let marked = above(2).is_some_and(|quote| quote.text.trim().bytes().all(|byte| byte == b'^'));
    if placed && marked {
        report.unknowns.forget(statement - 3);
    }
}

/// A member of an error of several: `Error: no route` inside its braces.
fn is_member(body: &str) -> bool {
    let name = body.before(":");
    body.has(": ") && name.ends_with("Error") && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The error without what its runner says before it.
fn stated(text: &str) -> &str {
    let text = text.trim_start();
    ["Uncaught ", "Exception during run: "]
        .iter()
        .find_map(|before| text.strip_prefix(before))
        .unwrap_or(text)
}

/// `TypeError: x is not a function`, `Error [ERR_X]: text`, `Uncaught Error: text`.
fn is_statement(text: &str) -> bool {
    // Deno's and Bun's.
    if text.starts_with("error: ") {
        return true;
    }
    if !text.starts_with(|first: char| first.is_ascii_uppercase())
        && !text.starts_with(" Exception during run: ")
    {
        return false;
    }
    let text = stated(text);
    let name = text.split([':', ' ', '[']).next().unwrap_or("");
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && (name.ends_with("Error") || name.ends_with("Exception"))
}
