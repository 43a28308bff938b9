//! "What went wrong": the block in which Gradle says why a build failed, outermost first.
//!
//! Each `>` line is a cause of the one above it, and the deepest of the first chain is the root. Where the block only
//! points at what a compiler or the tests have said, it is a consequence of that.

use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, leading_number, place_at_start};
use crate::report::{Finding, Report};

/// Words of a block that says nothing itself: what failed has been said elsewhere.
const POINTS_ELSEWHERE: &[&str] = &[
    "ompilation failed",
    "Compilation error",
    "There were failing tests",
    "Lint found errors",
    "see the ",
    "See the ",
    "See log ",
    "finished with non-zero exit value",
    "A failure occurred while executing ",
    "KtLint found code style violations",
    " weighted issues",
];

/// Spotless's first line, before the files.
const FORMAT: &str = "The following files had format violations:";

/// A block being read.
#[derive(Debug)]
pub(super) struct Wrong {
    finding: Finding,
    /// Its first line.
    first: u64,
    /// The task it is of.
    task: Option<String>,
    /// How deep the chain of causes is, in blanks; none once it has ended.
    depth: Option<usize>,
    /// The compiler's or a linter's own words stand in it.
    pub(super) quotes: bool,
    /// A blank line was the last.
    blank: bool,
    /// The innermost exception of the trace after it.
    cause: Option<Quote>,
}

impl Wrong {
    /// A block that begins with this line, of the build file's place when it has one.
    pub(super) fn new(line: &Line<'_>, place: Option<Location>) -> Self {
        let mut finding = Finding::new(Kind::Configure, line.text, line);
        finding.location = place;
        let task = between(line.text, "Execution failed for task '", "'").map(str::to_owned);
        if let Some(task) = &task {
            finding = finding.of(task);
        }
        Self {
            finding,
            first: line.number,
            task,
            depth: Some(0),
            quotes: false,
            blank: false,
            cause: None,
        }
    }

    /// Takes a line of the block. False when it has ended.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if body.is_empty() {
            self.blank = true;
            return true;
        }
        if std::mem::take(&mut self.blank) && !goes_on(line) {
            return false;
        }
        if is_sum(body) {
            return true;
        }
        if let Some(cause) = body.strip_prefix("> ") {
            self.deeper(cause, line);
        } else if let Some((place, message)) = self.stated(body) {
            self.state(message, line);
            self.finding.location = place.or(self.finding.location.take());
        } else {
            if self.finding.title == FORMAT && !body.contains(' ') {
                self.finding.retitle(joined![FORMAT, " ", body]);
                self.finding.location = Some(Location {
                    path: body.to_owned(),
                    line: None,
                    column: None,
                });
            }
            self.finding.add(line);
        }
        true
    }

    /// A line of the stack trace under `* Exception is:`.
    pub(super) fn trace(&mut self, line: &Line<'_>) {
        if line.text.starts_with("Caused by: ") {
            self.cause = Some(line.quote());
        }
    }

    fn deeper(&mut self, cause: &str, line: &Line<'_>) {
        match self.depth {
            Some(depth) if line.indent() >= depth => {
                self.state(cause, line);
                self.depth = Some(line.indent() + 1);
            }
            _ => {
                self.depth = None;
                self.finding.add(line);
            }
        }
    }

    fn state(&mut self, message: &str, line: &Line<'_>) {
        self.finding.retitle(message);
        self.finding.lines = line.span();
    }

    /// A line that says with its place what the one above it only announced.
    fn stated<'a>(&mut self, body: &'a str) -> Option<(Option<Location>, &'a str)> {
        let announced = ["Android resource", "startup failed:", "Script compilation error"]
            .iter()
            .any(|start| self.finding.title.starts_with(start));
        if !announced {
            return None;
        }
        if let Some(message) = body.strip_prefix("^ ") {
            return Some((None, message));
        }
        let rest = body.strip_prefix("ERROR: ").unwrap_or(body);
        resource(rest).or_else(|| script(rest))
    }

    /// Reports the block: as a consequence where it points at what is known already or says nothing new.
    pub(super) fn close(mut self, explained: bool, report: &mut Report) {
        if self.quotes {
            // They are told once their reader has all of them.
            return report.announce(&Line {
                number: self.first,
                text: &self.finding.title,
            });
        }
        let elsewhere = POINTS_ELSEWHERE.iter().any(|words| self.finding.title.has(words));
        let known = self.finding.location.as_ref().is_some_and(|place| {
            let same = |other: &Location| other.path == place.path && other.line == place.line;
            report
                .failures
                .iter()
                .any(|failure| failure.location.as_ref().is_some_and(same))
        });
        if known || explained || (elsewhere && !report.failures.is_empty()) {
            report.cascade(&Line {
                number: self.first,
                text: &self.finding.title,
            });
            return;
        }
        self.take_cause();
        report.fail(self.finding);
    }

    /// The innermost exception is the root when the block did not say the same.
    fn take_cause(&mut self) {
        let Some(quote) = self.cause.take() else { return };
        let text = quote.text.past("Caused by: ");
        let message = text.part_at(": ").map_or(text, |(_, message)| message);
        if self.finding.title.contains(message) {
            return;
        }
        let (outer, number) = (self.finding.title.clone(), self.finding.lines.first);
        self.finding
            .retitle(joined![text, " (surfaced as ", outer, ", L", number, ")"]);
        self.finding.lines = crate::digest::Span::line(quote.line);
    }

    /// The task that it is of.
    pub(super) fn task(&self) -> Option<&str> {
        self.task.as_deref()
    }
}

/// Whether a line after a blank one is still of the block.
fn goes_on(line: &Line<'_>) -> bool {
    line.indent() > 0 || line.text.starts_with("- ") || is_sum(line.text)
}

/// `1 error`.
fn is_sum(text: &str) -> bool {
    leading_number(text).is_some_and(|(_, rest)| matches!(rest, " error" | " errors"))
}

/// `/srv/AndroidManifest.xml:32: AAPT: error: text`, `com.heron-main-5:/layout/a.xml:9: error: text`.
fn resource(text: &str) -> Option<(Option<Location>, &str)> {
    let (place, rest) = place_at_start(text)?;
    let message = rest.strip_prefix(": ").filter(|message| message.has("error: "))?;
    Some((Some(place), message))
}

/// `build file '/srv/build.gradle': 11: text @ line 11, column 14.`
fn script(text: &str) -> Option<(Option<Location>, &str)> {
    let (file, rest) = text.part_at("': ")?;
    let (_, path) = file.halves(b'\'')?;
    let (row, rest) = leading_number(rest)?;
    let message = rest.strip_prefix(": ")?;
    let column = message
        .rsplit_once(", column ")
        .and_then(|(_, column)| leading_number(column))
        .map(|(column, _)| column);
    let message = message
        .rsplit_once(" @ line ")
        .map_or(message, |(message, _)| message);
    let place = Location {
        path: path.to_owned(),
        line: Some(row),
        column,
    };
    Some((Some(place), message))
}
