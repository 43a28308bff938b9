//! pytest: failures, errors of fixtures and of collection, the sums.
//!
//! Written from real runs of pytest 9.2 in each of its styles of traceback. A failure's first `E` line is its root; what
//! surfaces later in a chain is told with it. The short summary repeats what stands above and counts only where it does
//! not.

mod block;

use self::block::Open;
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "pytest",
    tools: "pytest, pytest-xdist",
    recognises: "failed tests with their E lines, errors at setup, teardown and collection, xfail and xpass told apart, warnings",
    version: "pytest 9.2",
    triggers: &[
        "____ ",
        " FAILURES ===",
        " ERRORS ===",
        "FAILED ",
        "ERROR ",
        "s ===",
        " passed in ",
        " failed in ",
        " errors in ",
        " error in ",
        " skipped in ",
        " warning in ",
        " warnings in ",
        " deselected in ",
        "no tests ran",
        " xfailed in ",
        " xpassed in ",
        "test session starts",
        "!!!!!!",
        "warnings summary",
        "short test summary",
        "PASSED",
        "XFAIL",
        ".py::",
        " items / ",
    ],
    reader: || Box::<Pytest>::default(),
};

#[derive(Debug, Default)]
struct Pytest {
    part: Part,
    open: Option<Open>,
    /// What has been reported from the blocks: kind of header, name, key, whether the summary has repeated it.
    reported: Vec<(bool, String, String, bool)>,
    /// A failure told without its test's name, being read, and those that wait for the summary to name them.
    told: Option<Finding>,
    lines: Vec<Finding>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    Blocks,
    Warnings,
    Summary,
}

impl Reader for Pytest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(title) = bar(line.text, '=') {
            return self.section(title, line, report);
        }
        if line.text.starts_with("!!!!!!") {
            self.close(report);
            report.failed(line);
            report.cascade(line);
            if let Some(count) = number_before(line.text, "error during collection")
                .or_else(|| number_before(line.text, "errors during collection"))
            {
                report.set_tally("pytest", &[("collection errors", count)], line);
                report.note("0 tests ran: collection was interrupted", line.number);
            }
            return Step::Take;
        }
        match self.part {
            Part::Blocks => self.block(line, report),
            Part::Warnings => warning(line, report),
            Part::Summary => self.summary(line, report),
            Part::Outside => self.outside(line, report),
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        for finding in std::mem::take(&mut self.lines) {
            report.fail(finding);
        }
    }
}

/// The title in `=== title ===`.
fn bar(text: &str, mark: char) -> Option<&str> {
    let title = text.trim_matches(mark);
    let marked = text.starts_with(mark) && text.ends_with(mark) && text.len() > title.len() + 1;
    (marked && title.starts_with(' ') && title.ends_with(' ')).then(|| title.trim())
}

/// A test's header where the bar above all of them has been cut off.
fn cut_header(text: &str) -> bool {
    text.starts_with("____")
        && text.ends_with("____")
        && bar(text, '_').is_some_and(|name| !name.starts_with("_ _"))
}

impl Pytest {
    fn section(&mut self, title: &str, line: &Line<'_>, report: &mut Report) -> Step {
        self.close(report);
        self.part = match title {
            "FAILURES" | "ERRORS" => Part::Blocks,
            "PASSES" | "XFAILURES" | "XPASSES" => Part::Warnings,
            _ if title.starts_with("warnings summary") => Part::Warnings,
            _ if title.starts_with("short test summary") => Part::Summary,
            _ => Part::Outside,
        };
        if title.has(" in ") && sum(title, line, report) {
            return Step::Take;
        }
        let known = self.part != Part::Outside || title == "test session starts";
        match known {
            true if self.part == Part::Outside => Step::Take,
            true => Step::Hold,
            false => Step::Pass,
        }
    }

    fn block(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(header) = bar(line.text, '_').filter(|title| !title.starts_with("_ _")) {
            self.close(report);
            self.open = Some(Open::new(header, line));
        } else if let Some(open) = &mut self.open {
            open.line(line);
        } else {
            self.headless(line);
        }
        Step::Hold
    }

    /// With `--tb=line` a failure has no header: its `E` lines, then its place with its message.
    fn headless(&mut self, line: &Line<'_>) {
        if let Some(text) = line.text.strip_prefix("E ") {
            let finding = self
                .told
                .get_or_insert_with(|| Finding::new(Kind::Test, text, line));
            finding.add(line);
            return;
        }
        let placed =
            place_at_start(line.text).and_then(|(place, rest)| Some((place, rest.strip_prefix(": ")?)));
        let Some((location, text)) = placed else { return };
        let mut finding = self
            .told
            .take()
            .unwrap_or_else(|| Finding::new(Kind::Test, text, line));
        finding.lines.reach(line.number);
        finding.retitle(text);
        finding.location = Some(location);
        if self.lines.len() < limits::PENDING {
            self.lines.push(finding);
        }
    }

    /// The failure told in a line that the summary gives the name of: of its file, with its message or the start of it.
    fn named(&mut self, node: &str, message: &str) -> Option<Finding> {
        let start = message.strip_suffix("...").unwrap_or(message);
        let file = node.before("::");
        let starts = |each: &Finding| each.title.starts_with(start);
        let own = |each: &Finding| {
            let path = each.location.as_ref().map_or("", |place| place.path.as_str());
            starts(each) && path.ends_with(file)
        };
        let at = self
            .lines
            .iter()
            .position(own)
            .or_else(|| self.lines.iter().position(starts))?;
        Some(self.lines.remove(at))
    }

    /// `FAILED path::test - message` and `ERROR path::test - message`.
    fn summary(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let (error, rest) = match (
            line.text.strip_prefix("FAILED "),
            line.text.strip_prefix("ERROR "),
        ) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => {
                // A message may have more lines.
                return match self.quiet_sum(line, report) {
                    Step::Pass => {
                        self.part = Part::Summary;
                        Step::Lean
                    }
                    step => step,
                };
            }
        };
        self.repeated(error, rest, line, report);
        Step::Hold
    }

    fn repeated(&mut self, error: bool, rest: &str, line: &Line<'_>, report: &mut Report) {
        let (node, message) = rest.part_at(" - ").unwrap_or((rest, ""));
        let name = node
            .part_at("::")
            .map_or(node, |(_, name)| name)
            .replace("::", ".");
        let known = self
            .reported
            .iter_mut()
            .find(|each| each.0 == error && each.1 == name && !each.3);
        if let Some(each) = known {
            each.3 = true;
            report.repeat(&each.2, line.number);
        } else {
            let title = match message {
                "" => joined![node, " failed"],
                message => joined![name, ": ", message],
            };
            let key = format!("pytest node {error} {node}");
            match self.named(node, message) {
                Some(mut finding) => {
                    finding.retitle(joined![name, ": ", finding.title]);
                    report.fail(finding.of(node).known_as(key.as_str()));
                    report.repeat(&key, line.number);
                }
                None => report.fail(Finding::new(Kind::Test, title, line).of(node).known_as(key)),
            }
        }
    }

    /// Lines outside all parts: verbose verdicts and, with `-q`, the sum without a bar.
    fn outside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if cut_header(line.text) {
            self.part = Part::Blocks;
            return self.block(line, report);
        }
        // `tests/test_net.py::test_dive PASSED`, or what the test prints.
        let first = line.text.split(' ').next().unwrap_or("");
        let worker = line.text.starts_with("[gw") && line.text.has(".py::");
        if first.has(".py::") || worker || line.text.starts_with("collected ") {
            return Step::Take;
        }
        if (line.text.starts_with("FAILED ") || line.text.starts_with("ERROR ")) && line.text.has(".py::") {
            return self.summary(line, report);
        }
        self.quiet_sum(line, report)
    }

    fn quiet_sum(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        self.part = Part::Outside;
        let timed = line.text.part_at(" in ").is_some_and(|(_, time)| {
            time.starts_with(|first: char| first.is_ascii_digit()) && time.contains('s')
        });
        let counted = line.text.starts_with(|first: char| first.is_ascii_digit())
            && COUNTS.iter().any(|name| number_before(line.text, name).is_some());
        if timed && counted && sum(line.text, line, report) {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        let key = format!("pytest {} {} {}", open.error, open.name, open.finding.lines.first);
        if self.reported.len() < limits::PENDING {
            self.reported
                .push((open.error, open.name.clone(), key.clone(), false));
        }
        report.fail(open.close().known_as(key));
    }
}

/// `  /srv/otter/__init__.py:5: DeprecationWarning: message`.
fn warning(line: &Line<'_>, report: &mut Report) -> Step {
    if let Some((location, rest)) = place_at_start(line.body()).filter(|_| line.indent() == 2) {
        let text = rest.trim_start_matches(':').trim();
        let kind = text
            .split(':')
            .next()
            .filter(|kind| kind.ends_with("Warning"))
            .unwrap_or("pytest");
        report.warn(kind, Some(location), line);
    }
    Step::Hold
}

const COUNTS: &[&str] = &[
    "failed",
    "passed",
    "skipped",
    "deselected",
    "xfailed",
    "xpassed",
    "warning",
    "warnings",
    "error",
    "errors",
    "rerun",
];

/// `2 failed, 6 passed, 1 error in 0.13s`, and `no tests ran in 0.01s`.
fn sum(title: &str, line: &Line<'_>, report: &mut Report) -> bool {
    let counts: Vec<(&str, u64)> = COUNTS
        .iter()
        .filter_map(|name| Some((plural(name), number_before(title, name)?)))
        .collect();
    if counts.is_empty() && !title.starts_with("no tests ran") {
        return false;
    }
    report.set_tally("pytest", &counts, line);
    let bad = counts
        .iter()
        .any(|(name, number)| matches!(*name, "failed" | "errors") && *number > 0);
    if bad {
        report.failed(line);
    } else if !counts.is_empty() {
        report.succeeded(line);
    }
    true
}

fn plural(name: &str) -> &str {
    match name {
        "warning" => "warnings",
        "error" => "errors",
        other => other,
    }
}
