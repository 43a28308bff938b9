//! Node's own test runner with its spec reporter.
//!
//! Written from real runs of Node 20 and 24. The tree names the tests; the list after `failing
//! tests:` has each failure again with its place, and without the parents that failed because of it. Where the list
//! is missing, the tree counts.

use super::jest::own_frame;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "node test",
    tools: "node --test (spec reporter; for its TAP see tap)",
    recognises: "failed tests with message and place, parents told from leaves, the counts",
    version: "Node 24",
    triggers: &[
        "\n✖ ",
        "\n✔ ",
        "\n﹣ ",
        "\n▶ ",
        "\nℹ ",
        "failing tests:",
        "test at ",
    ],
    reader: || Box::<NodeTest>::default(),
};

#[derive(Debug, Default)]
struct NodeTest {
    listing: bool,
    place: Option<Location>,
    open: Option<Open>,
    /// Failures of the tree, until the list tells them better.
    tree: Vec<Finding>,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    stated: bool,
    /// What its error says, the place of its first frame, and the error's innermost cause.
    error: Option<(u64, String)>,
    frame: Option<Location>,
    reason: Option<(u64, String)>,
    /// The line with its mark.
    marked: u64,
}

impl Reader for NodeTest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if body == "✖ failing tests:" {
            self.close(report);
            self.tree.clear();
            self.listing = true;
            return Step::Hold;
        }
        if let Some(rest) = body.strip_prefix("ℹ ") {
            self.close(report);
            return counted(rest, line, report);
        }
        if let Some(place) = body.strip_prefix("test at ").filter(|_| self.listing) {
            self.close(report);
            self.place = place_at_start(place).map(|(location, _)| location);
            return Step::Hold;
        }
        self.test(body, line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        for finding in std::mem::take(&mut self.tree) {
            report.fail(finding);
        }
    }
}

/// `✖ inner fails (17.785342ms)`: the name.
fn timed<'a>(body: &'a str, mark: &str) -> Option<&'a str> {
    let (name, time) = body.strip_prefix(mark)?.last_part_at(" (")?;
    time.ends_with("ms)").then_some(name)
}

/// `✔ inner passes (0.312977ms)`; Mocha's times have no fraction.
fn passed(body: &str) -> bool {
    timed(body, "✔ ").is_some()
        && body
            .last_part_at(" (")
            .is_some_and(|(_, time)| time.contains('.'))
}

impl NodeTest {
    fn test(&mut self, body: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let listed = body
            .strip_prefix("✖ ")
            .filter(|_| self.listing && line.indent() == 0);
        if let Some(name) = timed(body, "✖ ").or(listed) {
            self.close(report);
            let mut finding = Finding::new(Kind::Test, joined![name, " failed"], line)
                .of(name)
                .counted_when(report.is_full());
            finding.location = self.place.take();
            finding.copy = Some(joined!["node test ", line.number, " ", name]);
            self.open = Some(Open {
                finding,
                name: name.to_owned(),
                stated: false,
                error: None,
                frame: None,
                reason: None,
                marked: line.number,
            });
            return Step::Lean;
        }
        if body.starts_with("﹣ ") || body.starts_with("▶ ") || passed(body) {
            self.close(report);
            return Step::Lean;
        }
        let Some(open) = &mut self.open else {
            return if self.listing && line.is_blank() {
                Step::Lean
            } else {
                Step::Pass
            };
        };
        if line.is_blank() || line.indent() > 0 {
            open.line(body, line);
            return Step::Lean;
        }
        self.close(report);
        Step::Pass
    }

    fn close(&mut self, report: &mut Report) {
        let Some(mut open) = self.open.take() else { return };
        open.explained();
        if self.listing && open.finding.title.has("was cancelled") {
            // Its suite's hook failed, and is told after it.
            report.announce(&Line {
                number: open.marked,
                text: &open.finding.title,
            });
        } else if self.listing {
            report.fail(open.finding);
        } else if open.stated && self.tree.len() < limits::PENDING {
            self.tree.push(open.finding);
        }
    }
}

impl Open {
    fn line(&mut self, body: &str, line: &Line<'_>) {
        if body.is_empty() {
            return;
        }
        if let Some(frame) = body.strip_prefix("at ") {
            self.frame = self.frame.take().or_else(|| own_frame(frame));
            self.finding.location = self.finding.location.take().or_else(|| own_frame(frame));
            return;
        }
        if body == "}" || (body.starts_with("... ") && body.has(" stack trace ")) {
            return;
        }
        if let Some(cause) = body.strip_prefix("[cause]: ") {
            self.reason = Some((line.number, cause.short_of(" {").replace(" [Error]: ", ": ")));
        }
        if !self.stated {
            self.stated = true;
            self.finding.lines = line.span();
            self.finding.retitle(joined![self.name, ": ", body]);
            self.error = Some((line.number, body.short_of(" {").to_owned()));
        }
        self.finding.quote(line);
    }

    /// The innermost cause is the reason. Tests whose errors come from one place with one text have one cause.
    fn explained(&mut self) {
        let Some((number, error)) = self.error.take() else {
            return;
        };
        let reason = self.reason.take();
        if let Some((line, reason)) = &reason {
            let surfaced = joined![" (surfaced as ", error, ", L", number, ")"];
            self.finding.retitle(joined![self.name, ": ", reason, surfaced]);
            self.finding.lines = crate::digest::Span::line(*line);
        }
        let text = reason.map_or(error, |(_, reason)| reason);
        self.finding.cause = self.frame.take().map(|place| joined![place, " ", text]);
    }
}

/// `ℹ fail 3`.
fn counted(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let Some((name, number)) = rest.halves(b' ') else {
        return Step::Take;
    };
    let known = ["tests", "pass", "fail", "cancelled", "skipped", "todo"].contains(&name);
    if let Some((number, _)) = leading_number(number).filter(|_| known) {
        report.tally("node test", &[(name, number)], line);
        match (name, number) {
            ("fail", 0) => report.succeeded(line),
            ("fail", _) => report.failed(line),
            _ => {}
        }
    }
    Step::Take
}
