//! What a digest says: plain data, ready to be drawn, counted in a test, or written as JSON.
//!
//! Every point carries the lines it came from, counted from 1 in the input as it was given. Lists are
//! bounded; a number beside each says how many there were in all.

use serde::Serialize;

use crate::diff::DiffShape;
use crate::shape::JsonShape;
use crate::templates::LogShape;

/// A stretch of lines, both ends included, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// The first line.
    pub first: u64,
    /// The last line; the same as `first` for one line.
    pub last: u64,
}

impl Span {
    /// One line.
    pub const fn line(number: u64) -> Self {
        Self {
            first: number,
            last: number,
        }
    }

    /// Stretches the span so that it holds `number`.
    pub fn reach(&mut self, number: u64) {
        self.first = self.first.min(number);
        self.last = self.last.max(number);
    }

    /// Whether `number` lies in the span.
    pub fn holds(&self, number: u64) -> bool {
        self.first <= number && number <= self.last
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(out, "L{}", self.first)
        } else {
            write!(out, "L{}–{}", self.first, self.last)
        }
    }
}

/// A place in a source file, as the tool named it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Location {
    /// The path, as written.
    pub path: String,
    /// The line in that file, when the tool gave one.
    pub line: Option<u64>,
    /// The column, when the tool gave one.
    pub column: Option<u64>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(out, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(out, ":{column}")?;
        }
        Ok(())
    }
}

/// A line quoted from the input, cleaned of colour and prefixes and cut at 240 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The line's number in the input.
    pub line: u64,
    /// Its cleaned text.
    pub text: String,
}

/// What sort of thing went wrong. The order is the order of blame where one line must go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A process was killed, ran out of memory or crashed.
    Crash,
    /// A configuration step failed before anything was built.
    Configure,
    /// A dependency could not be resolved or fetched.
    Dependency,
    /// A compiler, type checker or linter in error mode rejected the source.
    Compile,
    /// The linker could not put the program together.
    Link,
    /// A linter's error.
    Lint,
    /// An exception that nobody caught.
    Exception,
    /// A test failed.
    Test,
    /// A tool or command failed for another reason.
    Tool,
    /// Something reported a failure whose cause stands in no line a reader knows.
    Unknown,
}

/// A root cause: the first line that states it, what explains it, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The name of the format that read it, as in [`crate::FORMATS`].
    pub format: &'static str,
    /// What sort of failure it is.
    pub kind: Kind,
    /// One line that states it.
    pub title: String,
    /// The test, target, module or package that failed, when the log names one.
    pub subject: Option<String>,
    /// Where to look.
    pub location: Option<Location>,
    /// The root lines.
    pub lines: Span,
    /// The lines that explain it, at most [`crate::limits::EXPLAIN`].
    pub explain: Vec<Quote>,
    /// How many different diagnostics have this one cause, at least 1.
    pub diagnostics: u64,
    /// Where the other diagnostics of this cause stand, at most [`crate::limits::RELATED`].
    pub related: Vec<Related>,
    /// How often it is printed again, in a summary or for another target.
    pub copies: u64,
    /// The lines of the first few copies.
    pub copy_lines: Vec<u64>,
    /// How many lines only report that this failed.
    pub cascade: u64,
    /// The lines of the first few of those.
    pub cascade_lines: Vec<u64>,
    /// The section it stands in, an index into [`Digest::sections`].
    pub section: Option<usize>,
}

/// Another diagnostic of the same cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Related {
    /// Its first line in the input.
    pub line: u64,
    /// What it says.
    pub title: String,
    /// Its place in the source.
    pub location: Option<Location>,
}

/// Warnings of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WarningKind {
    /// The lint's or flag's name, or the format's when there is none.
    pub kind: String,
    /// How many different ones there were.
    pub count: u64,
    /// The first of them.
    pub example: Quote,
    /// Where the first one points.
    pub location: Option<Location>,
    /// The lines of the first few.
    pub lines: Vec<u64>,
}

/// The warnings of the whole input, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warnings {
    /// How many different warnings there were.
    pub total: u64,
    /// By kind, most frequent first, at most [`crate::limits::WARNING_KINDS`].
    pub kinds: Vec<WarningKind>,
}

/// Counts a tool gave, or that were counted from its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// What was counted and by whom, such as `cargo test` or `jest suites`.
    pub what: String,
    /// Names and numbers in the order in which the tool gives them.
    pub counts: Vec<(String, u64)>,
    /// The lines the numbers came from.
    pub lines: Span,
}

impl Tally {
    /// The number beside `name`.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.counts
            .iter()
            .find(|(each, _)| each == name)
            .map(|(_, number)| *number)
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The exit status or the log's own last word says that it failed.
    Failed,
    /// It says that it succeeded.
    Succeeded,
    /// Nothing says either.
    Unknown,
}

/// How it ended and how one knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The exit status, when the caller knew it.
    pub exit: Option<i32>,
    /// The log's own last word on it.
    pub last_word: Option<Quote>,
}

/// A part of the input with a reader state of its own: a CI step, a container's output, a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Its name as the input gives it.
    pub name: String,
    /// From its first line to its last; parallel sections overlap.
    pub lines: Span,
    /// How it ended.
    pub verdict: Verdict,
}

/// Something worth saying that is neither a failure nor a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// The line it comes from.
    pub line: u64,
}

/// What the input as a whole is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Nothing at all.
    Empty,
    /// Not text.
    Binary,
    /// A build's or test run's output in a known format.
    Build,
    /// A log: entries with times or levels.
    Log,
    /// One JSON document.
    Json,
    /// One JSON document a line.
    JsonLines,
    /// A unified diff.
    Diff,
    /// Text that no reader knows.
    Text,
}

/// Lines that look like failures and that no reader accounted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unexplained {
    /// How many there are.
    pub count: u64,
    /// The first few.
    pub first: Vec<Quote>,
}

/// What there is to say about an input. Made by [`Digest::of`] or a [`crate::Digester`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Digest {
    /// What the input is.
    pub content: Content,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its lines, as `grep -c ''` counts them.
    pub lines: u64,
    /// The formats that read something in it, in the order of first use.
    pub formats: Vec<&'static str>,
    /// How it ended.
    pub outcome: Outcome,
    /// The root causes, to be fixed first to last, at most [`crate::limits::FAILURES`].
    pub failures: Vec<Failure>,
    /// How many causes more there were.
    pub more_failures: u64,
    /// The warnings.
    pub warnings: Warnings,
    /// The tools' own counts.
    pub tallies: Vec<Tally>,
    /// The parts of a mixed input.
    pub sections: Vec<Section>,
    /// Other things worth saying.
    pub notes: Vec<Note>,
    /// A log's messages by template.
    pub log: Option<LogShape>,
    /// The outline of a JSON document.
    pub json: Option<JsonShape>,
    /// The files of a diff.
    pub diff: Option<DiffShape>,
    /// The first lines, for an input no reader knows.
    pub head: Vec<Quote>,
    /// The last lines, likewise.
    pub tail: Vec<Quote>,
    /// What looks like a failure and was not accounted for.
    pub unexplained: Unexplained,
}

impl Digest {
    /// How many different errors there were: the diagnostics of every cause kept.
    pub fn errors(&self) -> u64 {
        self.failures
            .iter()
            .map(|failure| failure.diagnostics)
            .sum::<u64>()
            + self.more_failures
    }

    /// The number a tool gave, by the tally's name and the count's.
    pub fn count(&self, what: &str, name: &str) -> Option<u64> {
        self.tallies.iter().find(|tally| tally.what == what)?.get(name)
    }

    /// The first root cause, in the order of the input.
    pub fn first_failure(&self) -> Option<&Failure> {
        self.failures.iter().min_by_key(|failure| failure.lines.first)
    }

    /// The digest as JSON. Numbers of a JSON document's outline stay as they were written.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or(serde_json::Value::Null)
    }
}
