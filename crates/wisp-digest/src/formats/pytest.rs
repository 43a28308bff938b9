//! pytest: failures, errors of fixtures and of collection, the sums.
//!
//! Written from real runs of pytest 9.2. A failure's first `E` line is its root; what surfaces later in a chain is
//! told with it. The short summary repeats what stands above and counts only where it does not.

use crate::digest::{Kind, Location};
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
        "s =",
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
    ],
    reader: || Box::<Pytest>::default(),
};

#[derive(Debug, Default)]
struct Pytest {
    part: Part,
    open: Option<Open>,
    /// What has been reported from the blocks: kind of header, name, key, whether the summary has repeated it.
    reported: Vec<(bool, String, String, bool)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    Blocks,
    Warnings,
    Summary,
}

#[derive(Debug)]
struct Open {
    error: bool,
    name: String,
    finding: Finding,
    root: Option<(u64, String)>,
    surfaced: Option<(u64, String)>,
    /// Whether the last line was an `E` line, which more of them continue.
    in_root: bool,
    captured: bool,
    place: Option<Location>,
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
        if title.contains(" in ") && sum(title, line, report) {
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
        }
        Step::Hold
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
                return if line.is_blank() || line.indent() > 0 {
                    Step::Hold
                } else {
                    self.quiet_sum(line, report)
                };
            }
        };
        self.repeated(error, rest, line, report);
        Step::Hold
    }

    fn repeated(&mut self, error: bool, rest: &str, line: &Line<'_>, report: &mut Report) {
        let (node, message) = rest.split_once(" - ").unwrap_or((rest, ""));
        let name = node
            .split_once("::")
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
            let title = if message.is_empty() {
                format!("{node} failed")
            } else {
                format!("{name}: {message}")
            };
            report.fail(
                Finding::new(Kind::Test, &title, line)
                    .of(node)
                    .known_as(format!("pytest node {error} {node}")),
            );
        }
    }

    /// Lines outside all parts: verbose verdicts and, with `-q`, the sum without a bar.
    fn outside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if cut_header(line.text) {
            self.part = Part::Blocks;
            return self.block(line, report);
        }
        let verbose = line.text.contains(".py::")
            && ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"]
                .iter()
                .any(|word| line.text.contains(word));
        if verbose && !line.text.starts_with("FAILED ") && !line.text.starts_with("ERROR ") {
            return Step::Take;
        }
        if (line.text.starts_with("FAILED ") || line.text.starts_with("ERROR "))
            && line.text.contains(".py::")
        {
            return self.summary(line, report);
        }
        self.quiet_sum(line, report)
    }

    fn quiet_sum(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        self.part = Part::Outside;
        let timed = line.text.split_once(" in ").is_some_and(|(_, time)| {
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

impl Open {
    fn new(header: &str, line: &Line<'_>) -> Self {
        let error = header.starts_with("ERROR ");
        let name = ["ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "]
            .iter()
            .find_map(|mark| header.strip_prefix(mark));
        let name = name.unwrap_or(header).to_owned();
        let mut finding = Finding::new(Kind::Test, header, line).of(&name);
        if header.starts_with("ERROR collecting ") {
            finding.kind = Kind::Configure;
        }
        Self {
            error,
            name,
            finding,
            root: None,
            surfaced: None,
            in_root: false,
            captured: false,
            place: None,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if line.text.starts_with("-----") {
            self.captured = true;
        }
        if self.captured {
            return;
        }
        if line.text == "E" && self.in_root {
            return;
        }
        if let Some(text) = line.text.strip_prefix("E ") {
            self.error_line(text.trim(), line);
            return;
        }
        self.in_root = false;
        if let Some((location, rest)) = place_at_start(line.text).filter(|(_, rest)| rest.starts_with(':')) {
            if self.root.is_some() && self.finding.location.is_none() {
                self.finding.location = Some(location.clone());
            }
            let _ = rest;
            self.place = Some(location);
        } else if self.finding.location.is_none() && line.text.starts_with('>') && self.root.is_none() {
            self.finding.quote(line);
        }
    }

    fn error_line(&mut self, text: &str, line: &Line<'_>) {
        if self.root.is_none() {
            self.root = Some((line.number, text.to_owned()));
            self.finding.lines = line.span();
            self.finding.quote(line);
        } else if self.in_root {
            self.finding.quote(line);
        } else {
            self.surfaced = Some((line.number, text.to_owned()));
            self.finding.quote(line);
        }
        self.in_root = true;
    }

    fn close(self) -> Finding {
        let mut finding = self.finding;
        if let Some((_, root)) = &self.root {
            let surfaced = self.surfaced.map_or(String::new(), |(at, text)| {
                format!(" (surfaced as {text}, L{at})")
            });
            let header = std::mem::take(&mut finding.title);
            finding.retitle(&format!("{header}: {root}{surfaced}"));
        }
        finding.location = finding.location.or(self.place);
        // Tests that share a broken fixture or helper fail at its place with its words.
        finding.cause = finding
            .location
            .as_ref()
            .zip(self.root)
            .map(|(place, (_, root))| format!("{place} {root}"));
        finding
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
