//! The Test Anything Protocol, versions 12 to 14, with nested tests.
//!
//! Written from TAP 14's specification and real runs of Node 20's tap reporter and of prove; bats from documentation.
//! A parent fails because a child did; what is marked TODO has not failed.

use super::jest::own_frame;
use super::test_more;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "tap",
    tools: "node --test, prove, bats, any TAP producer",
    recognises: "failed points with their diagnostics, nested tests, TODO and SKIP, a run that bailed out",
    version: "TAP 14",
    triggers: &[
        "not ok ",
        "TAP version ",
        "\nok 1",
        "Bail out!",
        "Dubious, test returned",
        " subtests",
        "(Wstat: ",
        "  Failed test",
        "# Looks like you",
        "  Parse errors: ",
        "Files=",
        "Result: ",
    ],
    reader: || Box::<Tap>::default(),
};

#[derive(Debug, Default)]
struct Tap {
    on: bool,
    open: Option<Open>,
    /// The indentation of the last failed point, while its parents are outstanding.
    failed_at: Option<usize>,
    /// The names and keys of failed tests that comments of the current file told and no point has yet.
    told: Vec<(String, String)>,
    /// Whether something failed in the current file.
    bad: bool,
}

/// What has been read of a failed point's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Missing,
    /// It ends in a colon: its two sides stand on a line below it.
    Announced,
    Said,
}

/// A title takes so many comments: a heading and two sides.
const SIDES: u8 = 3;

#[derive(Debug)]
struct Open {
    finding: Finding,
    indent: usize,
    yaml: bool,
    message: Message,
    block: bool,
    /// How many comments about its two sides the title has taken; none before its place is known.
    sides: Option<u8>,
    /// Whether a comment opened it: those after it are its own lines.
    told: bool,
}

impl Reader for Tap {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let body = line.body();
        if body.starts_with("TAP version ") {
            self.on = true;
            return Step::Lean;
        }
        if let Some(rest) = body.strip_prefix("not ok ") {
            self.close(report);
            self.on = true;
            self.failed(rest, line, report);
            return Step::Lean;
        }
        if let Some(rest) = body
            .strip_prefix("ok ")
            .filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        {
            self.close(report);
            self.on = true;
            let skipped = rest.to_ascii_uppercase().has("# SKIP");
            report.tally("tap", &[(if skipped { "skipped" } else { "ok" }, 1)], line);
            return Step::Lean;
        }
        if body.starts_with("Bail out!") {
            report.failed(line);
            report.fail(Finding::new(Kind::Test, body, line));
            return Step::Take;
        }
        if let Some(step) = self.perl(body, line, report) {
            return step;
        }
        if let Some(step) = prove(body, line, report) {
            self.close(report);
            self.told.clear();
            self.bad = false;
            return step;
        }
        self.others(body, line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// What prove says of the files it ran.
fn prove(body: &str, line: &Line<'_>, report: &mut Report) -> Option<Step> {
    let failed = body.starts_with("Dubious, test returned ")
        || (body.starts_with("Failed ") && body.ends_with(" subtests"))
        || body.starts_with("Parse errors: ")
        || body == "Result: FAIL";
    if failed {
        report.failed(line);
        report.cascade(line);
        return Some(Step::Take);
    }
    if body == "Result: PASS" {
        report.succeeded(line);
        return Some(Step::Take);
    }
    if let Some((files, rest)) = body.strip_prefix("Files=").and_then(leading_number)
        && let Some((tests, _)) = rest.strip_prefix(", Tests=").and_then(leading_number)
    {
        report.tally("prove", &[("files", files), ("tests", tests)], line);
        return Some(Step::Take);
    }
    (body.has(" (Wstat: ") || body.starts_with("Failed test:") || body.starts_with("Failed tests:"))
        .then_some(Step::Take)
}

impl Tap {
    fn failed(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) {
        let indent = line.indent();
        let name = leading_number(rest)
            .map_or(rest, |(_, name)| name)
            .trim_start_matches([' ', '-']);
        if name.to_ascii_uppercase().has("# TODO") {
            report.tally("tap", &[("todo", 1)], line);
            return;
        }
        if self.is_parent(line, report) {
            return;
        }
        self.failed_at = Some(indent);
        self.bad = true;
        report.failed(line);
        report.tally("tap", &[("not ok", 1)], line);
        if let Some(at) = self.told.iter().position(|(told, _)| told == name) {
            let (_, key) = self.told.swap_remove(at);
            report.repeat(&key, line.number);
            return;
        }
        self.open = Some(Open::new(name, line, report.is_full()));
    }

    /// Whether what failed here is the parent of what failed before it.
    fn is_parent(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let indent = line.indent();
        let parent = self.failed_at.is_some_and(|below| below > indent);
        if parent {
            self.failed_at = Some(indent).filter(|indent| *indent > 0);
            report.cascade(line);
        }
        parent
    }

    /// Comments of `Test::More` that state a failure, or report one.
    fn perl(&mut self, body: &str, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(name) = test_more::failed_test(body) {
            if self.open.as_ref().is_some_and(|open| open.wants(name)) {
                return None;
            }
            self.close(report);
            return Some(self.diagnosed(name, line, report));
        }
        let looks = body.strip_prefix("# Looks like you")?;
        self.close(report);
        report.failed(line);
        if looks.starts_with("r test exited with ") {
            test_more::died(line, report);
        } else if looks.starts_with(" planned ") && !self.bad {
            report.fail(Finding::new(Kind::Test, body.past("# "), line));
        } else {
            report.cascade(line);
        }
        Some(Step::Take)
    }

    /// A failed test of which the point has not been seen.
    fn diagnosed(&mut self, name: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if self.is_parent(line, report) {
            return Step::Take;
        }
        self.failed_at = Some(line.indent());
        self.bad = true;
        report.failed(line);
        let mut open = Open::new(name, line, report.is_full());
        open.told = true;
        open.line(line.body(), line);
        if self.told.len() < limits::PENDING {
            let key = open.finding.copy.clone().unwrap_or_default();
            self.told.push((name.to_owned(), key));
        }
        self.open = Some(open);
        Step::Hold
    }

    /// Diagnostics under a failed point, and the plan and comments around.
    fn others(&mut self, body: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if !self.on && self.open.is_none() {
            return Step::Pass;
        }
        if let Some(open) = &mut self.open {
            if open.line(body, line) {
                return Step::Lean;
            }
            self.close(report);
            if !self.on {
                return Step::Pass;
            }
        }
        let around = body.starts_with('#')
            || body.starts_with("1..")
            || line.is_blank()
            || body == "---"
            || body == "..."
            || line.indent() > 0;
        if around { Step::Lean } else { Step::Pass }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            report.fail(open.finding);
        }
    }
}

/// What begins or announces a point of a test within.
fn is_point(body: &str) -> bool {
    body.starts_with("ok ") || body.starts_with("not ok ") || body.starts_with("1..") || body == "---"
}

impl Open {
    fn new(name: &str, line: &Line<'_>, full: bool) -> Self {
        let title = if name.is_empty() { "a test" } else { name };
        let finding = Finding::new(Kind::Test, joined![title, " failed"], line)
            .of(name)
            .known_as(joined!["tap ", line.number])
            .counted_when(full);
        Self {
            finding,
            indent: line.indent(),
            yaml: false,
            message: Message::Missing,
            block: false,
            sides: None,
            told: false,
        }
    }

    /// Whether a comment about a test of this name is about this point.
    fn wants(&self, name: &str) -> bool {
        let same = self.finding.subject.as_deref() == Some(name);
        same && self.finding.location.is_none() && self.message == Message::Missing
    }

    /// A line of the YAML block or a comment. False when it is neither.
    fn line(&mut self, body: &str, line: &Line<'_>) -> bool {
        if body == "---" && line.indent() > self.indent {
            self.yaml = true;
            return true;
        }
        if body == "..." {
            self.yaml = false;
            return true;
        }
        if !self.yaml && !body.starts_with('#') {
            return !self.told && self.plain(body, line);
        }
        if self.told {
            self.finding.add(line);
        } else {
            self.finding.quote(line);
        }
        for key in ["location: ", "at: ", "file: "] {
            let place = body
                .strip_prefix(key)
                .and_then(|rest| place_at_start(rest.trim_matches(['\'', '"'])));
            if let Some((location, _)) = place {
                self.finding.location = Some(location);
            }
        }
        if let Some(location) = test_more::place(body).filter(|_| self.sides.is_none()) {
            self.finding.location = Some(location);
            self.sides = Some(0);
        } else {
            self.side(body);
        }
        if let Some((path, row)) = body
            .part_at("in test file ")
            .and_then(|(_, rest)| rest.trim_end_matches(')').last_part_at(", line "))
        {
            self.finding.location = Some(Location {
                path: path.to_owned(),
                line: row.parse().ok(),
                column: None,
            });
        }
        self.said(body);
        true
    }

    /// A line of a message without YAML, as Mocha writes it: deeper than its point.
    fn plain(&mut self, body: &str, line: &Line<'_>) -> bool {
        if line.is_blank() || line.indent() <= self.indent || is_point(body) {
            return line.is_blank() && self.message != Message::Missing;
        }
        if let Some(frame) = body.strip_prefix("at ") {
            self.finding.location = self.finding.location.take().or_else(|| own_frame(frame));
            return true;
        }
        if self.message == Message::Missing {
            self.message = Message::Said;
            let name = self.finding.subject.clone().unwrap_or_default();
            self.finding.retitle(joined![name, ": ", body]);
        }
        self.finding.quote(line);
        true
    }

    /// `#          got: '3'` and `#     expected: '4'`, under the place.
    fn side(&mut self, body: &str) {
        let Some(taken) = self.sides.filter(|taken| *taken < SIDES) else {
            return;
        };
        let Some(side) = body
            .strip_prefix('#')
            .map(str::trim)
            .filter(|side| !side.is_empty())
        else {
            return;
        };
        self.sides = Some(taken + 1);
        let title = match taken {
            0 => {
                let name = self.finding.title.short_of(" failed");
                joined![name, ": ", side]
            }
            _ => joined![self.finding.title, " ", side],
        };
        self.finding.retitle(title);
    }

    /// The message: after its key, or on the line after `error: |-`.
    fn said(&mut self, body: &str) {
        if self.message == Message::Announced && !body.is_empty() {
            self.message = Message::Said;
            if body.has(" !== ") || body.has(" === ") {
                self.finding.retitle(joined![self.finding.title, " ", body]);
            }
        }
        let said = ["error: ", "message: "]
            .iter()
            .find_map(|key| body.strip_prefix(key))
            .map(|said| said.trim_matches(['\'', '"']));
        let said = if std::mem::take(&mut self.block) {
            Some(body)
        } else {
            said
        };
        match said {
            Some("|-" | "|" | ">-") => self.block = true,
            Some(said) if self.message == Message::Missing => {
                self.message = if said.ends_with(':') {
                    Message::Announced
                } else {
                    Message::Said
                };
                let name = self.finding.subject.clone().unwrap_or_default();
                self.finding.retitle(joined![name, ": ", said]);
            }
            _ => {}
        }
    }
}
