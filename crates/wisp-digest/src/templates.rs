//! A log by templates: entries told apart by what their messages have in common.
//!
//! Entries are lines with a time or a level; a line without either continues the entry before it, so the
//! frames of a stack trace are no messages of their own. Templates are exact up to [`limits::TEMPLATES`];
//! after that an unknown message joins the one of its severity whose first word it shares, so that memory
//! stays bounded on a log of nothing but different words.

use serde::Serialize;

use crate::digest::{Quote, Span};
use crate::hashing::{ByHash, hash};
use crate::level::{self, Severity};
use crate::limits;
use crate::line::{Line, cut};
use crate::mask::mask;
use crate::prefix::Parts;
use crate::report::list;
use crate::stamp;

/// Messages of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Template {
    /// How serious.
    pub severity: Severity,
    /// How many entries.
    pub count: u64,
    /// The message with what varies replaced by marks.
    pub template: String,
    /// The first entry.
    pub example: Quote,
    /// From its first entry to its last.
    pub lines: Span,
    /// The lines of the first few entries.
    pub entry_lines: Vec<u64>,
    /// How many lines continue its entries, such as the frames of their traces.
    pub continued: u64,
    /// The first lines of the first continuation.
    pub continuation: Vec<Quote>,
}

/// The longest time in which the log says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// How long, in milliseconds.
    pub millis: i64,
    /// The entry before it and the one after it.
    pub lines: Span,
}

/// What a log holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogShape {
    /// How many entries.
    pub entries: u64,
    /// How many of each severity, the most serious first.
    pub severities: Vec<(Severity, u64)>,
    /// The messages: serious and rare first.
    pub templates: Vec<Template>,
    /// Whether there were more kinds of message than are told apart.
    pub merged: bool,
    /// The first time, as written.
    pub first_time: Option<String>,
    /// The last time, as written.
    pub last_time: Option<String>,
    /// The longest silence, when it is far longer than the usual one.
    pub gap: Option<Gap>,
}

/// Reads entries for as long as the input looks like a log.
#[derive(Debug, Default)]
pub(crate) struct LogReader {
    templates: Vec<Template>,
    index: ByHash<usize>,
    merged: bool,
    current: Option<usize>,
    quoting: bool,
    /// How serious the last entry is.
    severity: Option<Severity>,
    last_entry: u64,
    severe: Option<Span>,
    entries: u64,
    levelled: u64,
    seen: u64,
    /// Entries that have both a time and a level, and which of the lines with something on them was the first of them.
    told: u64,
    told_from: Option<u64>,
    off: bool,
    masked: String,
    times: Times,
    /// The time of an entry of `java.util.logging`, which stands on a line before it.
    header: Option<(i64, String)>,
}

/// First and last time and the longest gap.
#[derive(Debug, Default)]
struct Times {
    first: Option<String>,
    last: Option<(i64, u64)>,
    last_text: String,
    gap: Option<Gap>,
    sum: i64,
    count: i64,
}

/// What a line is to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logged {
    /// No line of a log.
    No,
    /// An entry with a time and a level.
    Told,
    /// An entry that lacks one of them.
    Entry,
    /// A line more of the entry before it.
    More,
}

impl LogReader {
    /// Whether every line is wanted.
    pub(crate) fn is_on(&self) -> bool {
        !self.off
    }

    /// Whether the entries declare no levels, so that other readers may know them better.
    pub(crate) fn wants_readers(&self) -> bool {
        self.levelled * 4 < self.entries || self.entries < 3
    }

    /// The lines that continue the last serious entry which others continue.
    pub(crate) fn severe(&self) -> Option<Span> {
        self.severe
    }

    /// The line of the last entry, 0 when there is none.
    pub(crate) fn last_entry(&self) -> u64 {
        self.last_entry
    }

    /// Takes a line and says what it is to the log.
    pub(crate) fn line(&mut self, line: &Line<'_>, parts: &Parts<'_>, number: u64) -> Logged {
        if self.off || line.is_blank() {
            return Logged::No;
        }
        if parts.stamp.is_some() && stamp::is_java_logging(parts.stamp_text) {
            self.header = parts
                .stamp
                .map(|stamp| (stamp.millis, parts.stamp_text.to_owned()));
            return Logged::Entry;
        }
        if let Some((millis, time)) = self.header.take()
            && let Some(severity) = level::declared(line.text).filter(|_| level_then_colon(line.text))
        {
            self.seen += 1;
            self.told_from = self.told_from.or(Some(self.seen));
            self.told += 1;
            self.times.note(millis, line.number, &time);
            self.entry(line, parts, Some(severity));
            return Logged::Told;
        }
        let severity = level::declared(line.text)
            .or_else(|| parts.program.and_then(|(_, written)| level::declared(written)));
        let is_entry = !parts.by_runner
            && (parts.stamp.is_some() || severity.is_some_and(|_| !is_build_mark(line.text)));
        let more = !is_entry && self.current.is_some() && parts.stamp.is_none();
        // The frames of a trace make a log no less of one.
        self.seen += u64::from(!more || line.indent() == 0);
        if is_entry {
            let told = severity.is_some() && parts.stamp.is_some();
            self.told_from = self.told_from.or(told.then_some(self.seen));
            self.told += u64::from(told);
            self.entry(line, parts, severity);
        } else if more {
            self.continuation(line);
        }
        if number >= limits::SAMPLE && !self.is_log() {
            self.off = true;
            self.templates = Vec::new();
            self.index = ByHash::default();
        }
        match (is_entry, severity, parts.stamp) {
            (true, Some(_), Some(_)) => Logged::Told,
            (true, ..) => Logged::Entry,
            _ if more => Logged::More,
            _ => Logged::No,
        }
    }

    /// A log when two lines of five are entries; or when it begins with an entry and every entry has a time and a level:
    /// then what stands between two of them belongs to the one above, however long it is.
    pub(crate) fn is_log(&self) -> bool {
        !self.off && self.entries >= 3 && (self.is_dense() || self.is_told())
    }

    /// Whether so many lines are entries that those between them are theirs.
    pub(crate) fn is_dense(&self) -> bool {
        self.entries * 5 >= self.seen * 2
    }

    fn is_told(&self) -> bool {
        self.told_from == Some(1) && self.told == self.entries && self.entries * 20 >= self.seen
    }

    fn entry(&mut self, line: &Line<'_>, parts: &Parts<'_>, severity: Option<Severity>) {
        self.entries += 1;
        self.levelled += u64::from(severity.is_some());
        if let Some(stamp) = parts.stamp {
            self.times.note(stamp.millis, line.number, parts.stamp_text);
        }
        mask(cut(line.text, limits::TITLE), &mut self.masked);
        let severity = severity.unwrap_or_else(|| level::guessed(line.text));
        let at = self.template(severity, line);
        let template = &mut self.templates[at];
        template.count += 1;
        template.severity = template.severity.min(severity);
        template.lines.reach(line.number);
        list(&mut template.entry_lines, line.number);
        self.quoting = template.continuation.is_empty();
        self.last_entry = line.number;
        self.severity = Some(severity);
        self.current = Some(at);
    }

    fn template(&mut self, severity: Severity, line: &Line<'_>) -> usize {
        let key = hash(&self.masked);
        if let Some(at) = self.index.get(&key) {
            return *at;
        }
        if self.templates.len() >= limits::TEMPLATES {
            return self.merge(severity, line);
        }
        self.index.insert(key, self.templates.len());
        self.open(severity, line)
    }

    fn open(&mut self, severity: Severity, line: &Line<'_>) -> usize {
        self.templates.push(Template {
            severity,
            count: 0,
            template: cut(&self.masked, limits::QUOTE).to_owned(),
            example: line.quote(),
            lines: line.span(),
            entry_lines: Vec::new(),
            continued: 0,
            continuation: Vec::new(),
        });
        self.templates.len() - 1
    }

    /// Past the bound, messages are told apart by severity and first word only.
    fn merge(&mut self, severity: Severity, line: &Line<'_>) -> usize {
        self.merged = true;
        let first = self.masked.split(' ').next().unwrap_or("").to_owned();
        let key = hash(&(severity as u8, &first));
        if let Some(at) = self.index.get(&key) {
            return *at;
        }
        let room = self.templates.len() < limits::TEMPLATES * 2;
        let key = if room { key } else { hash(&(severity as u8, "*")) };
        if let Some(at) = self.index.get(&key) {
            return *at;
        }
        self.index.insert(key, self.templates.len());
        self.masked = if room {
            format!("{first} <*>")
        } else {
            "<*>".to_owned()
        };
        self.open(severity, line)
    }

    fn continuation(&mut self, line: &Line<'_>) {
        let Some(template) = self.current.and_then(|at| self.templates.get_mut(at)) else {
            return;
        };
        template.continued += 1;
        if self
            .severity
            .is_some_and(|severity| severity <= Severity::Warning)
        {
            let begun = self.severe.filter(|span| span.first > self.last_entry);
            let mut span = begun.unwrap_or(line.span());
            span.reach(line.number);
            self.severe = Some(span);
        }
        if self.quoting && template.continuation.len() < limits::EXPLAIN {
            template.continuation.push(line.quote());
        }
    }

    /// The log's shape, when it was one.
    pub(crate) fn close(mut self) -> Option<LogShape> {
        if !self.is_log() {
            return None;
        }
        self.templates
            .sort_by_key(|each| (each.severity, std::cmp::Reverse(each.count), each.lines.first));
        let (first_time, last_time, gap) = self.times.close();
        Some(LogShape {
            entries: self.entries,
            severities: severities(&self.templates),
            templates: self.templates,
            merged: self.merged,
            first_time,
            last_time,
            gap,
        })
    }
}

/// `[INFO] ` of Maven and sbt without a time is a build's mark, not a log's level.
fn is_build_mark(text: &str) -> bool {
    ["[INFO]", "[ERROR]", "[WARNING]", "[error]", "[info]", "[warn]"]
        .iter()
        .any(|mark| text.starts_with(mark))
        || level_then_colon(text)
}

/// `ERROR: failed to solve` and `error[E0308]: …` are a tool's words.
fn level_then_colon(text: &str) -> bool {
    let word = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    matches!(text.as_bytes().get(word), Some(b'[')) || text[word..].starts_with(": ")
}

fn severities(templates: &[Template]) -> Vec<(Severity, u64)> {
    [
        Severity::Fatal,
        Severity::Error,
        Severity::Warning,
        Severity::Info,
    ]
    .into_iter()
    .map(|severity| {
        (
            severity,
            templates
                .iter()
                .filter(|each| each.severity == severity)
                .map(|each| each.count)
                .sum(),
        )
    })
    .filter(|(_, count)| *count > 0)
    .collect()
}

impl Times {
    fn note(&mut self, millis: i64, line: u64, text: &str) {
        if self.first.is_none() {
            self.first = Some(text.to_owned());
        }
        if let Some((before, at)) = self.last {
            let silence = millis - before;
            self.sum += silence.max(0);
            self.count += 1;
            if silence > self.gap.map_or(0, |gap| gap.millis) {
                self.gap = Some(Gap {
                    millis: silence,
                    lines: Span {
                        first: at,
                        last: line,
                    },
                });
            }
        }
        self.last = Some((millis, line));
        self.last_text.clear();
        self.last_text.push_str(text);
    }

    fn close(self) -> (Option<String>, Option<String>, Option<Gap>) {
        let usual = if self.count > 0 { self.sum / self.count } else { 0 };
        let gap = self
            .gap
            .filter(|gap| self.count >= 3 && gap.millis >= 10_000 && gap.millis >= usual.saturating_mul(5));
        (
            self.first,
            Some(self.last_text).filter(|text| !text.is_empty()),
            gap,
        )
    }
}
