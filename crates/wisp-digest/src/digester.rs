//! The driver: bytes in, lines found, prefixes taken off, each line shown to the readers it concerns.
//!
//! While no reader waits for the next line and the input is no log, whole stretches without a trigger are
//! passed over; only their newlines are counted.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::ahead::Ahead;
use crate::block::{self, Block};
use crate::clean::clean;
use crate::closing;
use crate::cues::{self, Cues};
use crate::digest::Digest;
use crate::document::Documents;
use crate::encoding::Encoding;
use crate::formats::FORMATS;
use crate::held::{Held, Pieces};
use crate::limits;
use crate::line::Line;
use crate::literals::Literals;
use crate::looks;
use crate::next::{self, Place};
use crate::page::Page;
use crate::prefix::{self, Parts};
use crate::report::Report;
use crate::rest::Rest;
use crate::stream::Stream;
use crate::templates::{LogReader, Logged};
use crate::unknown::Ends;

/// What the caller knows about an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// The exit status of what wrote it, when known. 128 + N stands for a death by signal N.
    pub exit: Option<i32>,
}

/// Reads an input piece by piece.
#[derive(Debug)]
pub struct Digester {
    options: Options,
    bytes: u64,
    encoding: Encoding,
    lines: u64,
    held: Held,
    ahead: Ahead,
    work: Work,
    documents: Documents,
    ends: Ends,
}

/// What is at work on whole lines, apart from what waits so that both can be borrowed.
#[derive(Debug)]
struct Work {
    triggers: &'static Literals,
    plain: Stream,
    labelled: BTreeMap<String, Labelled>,
    busy: usize,
    report: Report,
    log: LogReader,
    page: Page,
}

#[derive(Debug)]
struct Labelled {
    stream: Stream,
    section: Option<usize>,
    /// The section in which it began.
    outer: Option<usize>,
}

fn triggers() -> &'static Literals {
    static TRIGGERS: OnceLock<Literals> = OnceLock::new();
    TRIGGERS.get_or_init(|| cues::triggers(FORMATS))
}

impl Digester {
    /// Starts on an empty input.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            bytes: 0,
            encoding: Encoding::default(),
            lines: 0,
            held: Held::default(),
            ahead: Ahead::new(triggers()),
            work: Work::new(),
            documents: Documents::default(),
            ends: Ends::default(),
        }
    }

    /// Takes the next bytes; they may end anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut encoding = std::mem::take(&mut self.encoding);
        encoding.push(bytes, |text| self.read(text));
        self.encoding = encoding;
    }

    /// Reads what waits and the bytes after it, as far as of each line the next is whole.
    fn read(&mut self, bytes: &[u8]) {
        self.documents.push(bytes);
        self.ends.push(bytes);
        let mut held = std::mem::take(&mut self.held);
        let rest = held.complete(bytes, |line, next| self.read_apart(line, Some(next)));
        let pieces = Pieces::of(rest);
        let mut from = 0;
        while from < pieces.last {
            let block = block::next(&pieces.lines[from..], pieces.last - from);
            self.read_block(&block);
            from += block.bytes.len();
        }
        held.keep(&pieces);
        self.held = held;
    }

    /// Reads a line that lies in no block.
    fn read_apart(&mut self, line: &[u8], next: Option<&[u8]>) {
        self.lines += 1;
        self.work.apart(self.lines, line, Place::Apart(next));
    }

    fn read_block(&mut self, block: &Block<'_>) {
        if let Some(line) = block.long_line() {
            return self.read_apart(line, Some(block::first_line(block.rest())));
        }
        self.ahead.begin();
        let (mut at, mut length) = (0, 0);
        let mut kept = 0;
        while at < block.bytes.len() {
            if self.lines >= limits::SAMPLE && self.work.may_skim() {
                at = self.skim(block.bytes, at);
            }
            let Some((end, tabs)) = block::line_end(block.bytes, at, length) else {
                break;
            };
            length = end - at;
            let recent = &mut self.work.report.recent;
            recent.add(&block.bytes[std::mem::replace(&mut kept, at)..at], self.lines);
            self.lines += 1;
            at = self.read_line(block, at..end, tabs);
        }
        let recent = &mut self.work.report.recent;
        recent.add(&block.bytes[kept..], self.lines);
    }

    /// Reads a line of the block, and what its reader reads on: where the next one begins.
    fn read_line(&mut self, block: &Block<'_>, line: Range<usize>, tabs: bool) -> usize {
        let next = line.end + 1;
        if let Some(text) = block.plain(line.clone()) {
            let part = line.start..line.start + text.len();
            let cues = Cues::ahead(&mut self.ahead, block, part);
            self.work.read(self.lines, text, tabs, cues);
            self.read_on(block, next)
        } else {
            let after = Place::Block(block, line.end);
            self.work.line(self.lines, &block.bytes[line], after);
            next
        }
    }

    /// Lets the reader that holds the stream read on from `at`: where it has stopped.
    fn read_on(&mut self, block: &Block<'_>, at: usize) -> usize {
        if block.text().is_none() || !self.work.may_read_on() {
            return self.pass_bare(block, at);
        }
        let mut rest = Rest::new(block, at, self.lines, self.work.triggers);
        let report = &mut self.work.report;
        self.work.plain.read_on(FORMATS, &mut rest, report);
        self.taken(&rest)
    }

    /// Lets the reader that leans on the stream pass over lines without a trigger from `at`: where it has stopped.
    /// Diagnostics begin no line with a blank: where one comes after the other nothing is searched.
    fn pass_bare(&mut self, block: &Block<'_>, at: usize) -> usize {
        if block.bytes.get(at) == Some(&b' ') && self.work.may_pass_bare() {
            self.let_pass_bare(block, at)
        } else {
            at
        }
    }

    fn let_pass_bare(&mut self, block: &Block<'_>, at: usize) -> usize {
        let found = self.ahead.first_met(block.bytes, at);
        let end = found.map_or(block.bytes.len(), |found| {
            memchr::memrchr(b'\n', &block.bytes[at..found]).map_or(at, |end| at + end + 1)
        });
        let mut rest = Rest::new(block, at, self.lines, self.work.triggers).until(end);
        self.work.plain.pass_bare(&mut rest);
        self.taken(&rest)
    }

    /// Counts the lines that a reader has taken by itself: where the next one begins.
    fn taken(&mut self, rest: &Rest<'_>) -> usize {
        let (end, last, shown) = rest.taken();
        self.lines = last;
        self.work.report.shown += shown;
        end
    }

    /// Passes over the lines before the next trigger: where the line with it begins.
    fn skim(&mut self, lines: &[u8], from: usize) -> usize {
        let found = self.ahead.first(lines, from);
        let start = found.map_or(lines.len(), |at| {
            memchr::memrchr(b'\n', &lines[from..at]).map_or(from, |at| from + at + 1)
        });
        self.lines += memchr::memchr_iter(b'\n', &lines[from..start]).count() as u64;
        start
    }

    /// The digest of everything pushed.
    pub fn finish(mut self) -> Digest {
        let mut encoding = std::mem::take(&mut self.encoding);
        encoding.finish(|text| self.read(text));
        std::mem::take(&mut self.held).finish(|line, next| self.read_apart(line, next));
        self.work.finish();
        closing::close(closing::Parts {
            options: self.options,
            bytes: self.bytes,
            lines: self.lines,
            report: self.work.report,
            log: self.work.log,
            documents: self.documents,
            ends: self.ends,
        })
    }
}

impl Work {
    fn new() -> Self {
        Self {
            triggers: triggers(),
            plain: Stream::new(FORMATS),
            labelled: BTreeMap::new(),
            busy: 0,
            report: Report::default(),
            log: LogReader::default(),
            page: Page::default(),
        }
    }

    /// Whether lines without a trigger concern nobody.
    fn may_skim(&self) -> bool {
        self.busy == 0 && self.plain.is_idle() && !self.log.is_on() && !self.page.is_one()
    }

    /// Whether lines without a prefix concern only the reader that holds their stream.
    fn may_read_on(&self) -> bool {
        self.plain.is_held() && !self.log.is_on() && !self.page.is_one()
    }

    /// Whether lines with neither a prefix nor a trigger concern only a reader that leans on their stream, and that
    /// passes over them by itself.
    fn may_pass_bare(&self) -> bool {
        self.plain.passes_bare() && !self.log.is_on() && !self.page.is_one()
    }

    /// Reads a line that lies in no block, unless it would have been passed over in one.
    fn apart(&mut self, number: u64, raw: &[u8], next: Place<'_>) {
        let skims = number > limits::SAMPLE && self.may_skim();
        if !skims || self.triggers.any(raw) {
            self.line(number, raw, next);
        }
        self.report.recent.add_line(number, raw);
    }

    /// Cleans a line and reads it.
    fn line(&mut self, number: u64, raw: &[u8], next: Place<'_>) {
        let text = clean(raw);
        let cues = Cues::alone(self.triggers, text.as_bytes(), &next);
        self.read(number, &text, true, cues);
    }

    /// Reads a cleaned line, in which tabs may stand or not. A log's own entries with a level are the log reader's
    /// alone.
    fn read<'a>(&mut self, number: u64, text: &'a str, tabs: bool, mut cues: Cues<'a>) {
        if self.page.quotes(text) {
            return;
        }
        if !self.log.is_on() && !prefix::may_have_one(text, tabs) {
            let line = Line { number, text };
            let explained = self.plain.line(FORMATS, &mut cues, &line, &mut self.report);
            return self.tell_unknown(&line, explained, &mut cues, false);
        }
        let mut parts = prefix::split(text);
        let (marks, rest) = prefix::section_marks(parts.text);
        if !marks.is_empty() {
            self.mark(number, marks);
            if rest.is_empty() {
                return;
            }
            parts.text = rest;
        }
        let line = Line {
            number,
            text: parts.text,
        };
        let logged = self.log.line(&line, &parts, number);
        let told = logged == Logged::Told;
        if told && self.plain.is_idle() && self.busy == 0 && !self.log.wants_readers() {
            return;
        }
        if logged == Logged::More {
            self.report.logged = self.log.severe();
        }
        let text = prefix::unmatched(parts.written());
        let line = Line { number, text };
        cues.keep_last(text.len());
        let explained = self.show(&line, &parts, &mut cues);
        self.tell_unknown(&line, explained || told, &mut cues, logged != Logged::No);
    }

    /// Notes a line that looks like a failure and that no reader has explained.
    fn tell_unknown(&mut self, line: &Line<'_>, explained: bool, cues: &mut Cues<'_>, logged: bool) {
        if !explained && cues.has_words() && looks::like_failure(line.text) {
            self.report.unknowns.add(line, logged);
        }
    }

    /// Shows a runner's section marks: no tool prints across the end of its section.
    fn mark(&mut self, number: u64, marks: &str) {
        let line = Line { number, text: marks };
        let next = Place::Unknown;
        let mut cues = Cues::alone(self.triggers, marks.as_bytes(), &next);
        self.plain.interrupt(FORMATS, &mut cues, &mut self.report);
        self.plain.line(FORMATS, &mut cues, &line, &mut self.report);
    }

    /// Shows the line to its stream.
    fn show<'a>(&mut self, line: &Line<'_>, parts: &Parts<'a>, cues: &mut Cues<'a>) -> bool {
        if line.text.starts_with("##[") || line.text.starts_with("[Pipeline] ") {
            self.plain.interrupt(FORMATS, cues, &mut self.report);
        }
        cues.belong_to(next::stream(parts));
        match (parts.label, parts.program) {
            (Some(label), _) => self.show_labelled(label, line, cues),
            // A program of the system's log is only listened to when it says something that a reader knows.
            (None, Some((program, _))) => {
                (self.labelled.contains_key(program) || cues.calls_any())
                    && self.show_labelled(program, line, cues)
            }
            (None, None) => self.plain.line(FORMATS, cues, line, &mut self.report),
        }
    }

    /// Begins a label's stream, inside the step of the runner that is being read.
    fn open_labelled(&mut self, label: &str, number: u64) {
        let outer = self.report.section;
        let section = self.report.section_named(label, number);
        self.report.nesting.open(outer, section);
        let stream = Stream::new(FORMATS);
        let labelled = Labelled {
            stream,
            section,
            outer,
        };
        self.labelled.insert(label.to_owned(), labelled);
    }

    /// A label met again in another step of the runner is another tool's.
    fn end_with_step(&mut self, label: &str, number: u64) {
        let step = self.report.section;
        let ended =
            |labelled: &&mut Labelled| step.is_some() && labelled.outer.is_some() && labelled.outer != step;
        let Some(labelled) = self.labelled.get_mut(label).filter(ended) else {
            return;
        };
        self.busy -= usize::from(!labelled.stream.is_idle());
        self.report.section = labelled.section;
        labelled.stream.finish(FORMATS, &mut self.report);
        self.report.section = step;
        self.open_labelled(label, number);
    }

    fn show_labelled(&mut self, label: &str, line: &Line<'_>, cues: &mut Cues<'_>) -> bool {
        if !self.labelled.contains_key(label) {
            if self.labelled.len() >= limits::SECTIONS {
                return self.plain.line(FORMATS, cues, line, &mut self.report);
            }
            self.open_labelled(label, line.number);
        }
        self.end_with_step(label, line.number);
        let Some(labelled) = self.labelled.get_mut(label) else {
            return false;
        };
        let outer = std::mem::replace(&mut self.report.section, labelled.section);
        let idle = labelled.stream.is_idle();
        let taken = labelled.stream.line(FORMATS, cues, line, &mut self.report);
        self.busy = self.busy + usize::from(idle) - usize::from(labelled.stream.is_idle());
        if let Some(section) = labelled
            .section
            .and_then(|index| self.report.sections.get_mut(index))
        {
            section.lines.reach(line.number);
        }
        self.report.section = outer;
        taken
    }

    fn finish(&mut self) {
        self.plain.finish(FORMATS, &mut self.report);
        for labelled in self.labelled.values_mut() {
            self.report.section = labelled.section;
            labelled.stream.finish(FORMATS, &mut self.report);
        }
        self.report.section = None;
    }
}

/// What a test counts.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// Bytes of lines that readers were shown, as often as they were.
    pub shown: u64,
    /// Failures, notes, sections and lines that wait for a failure.
    pub found: usize,
    /// Bytes that the readers keep, written out.
    pub kept: usize,
}

#[cfg(test)]
impl Digester {
    pub(crate) fn count(&self) -> Counted {
        let report = &self.work.report;
        let streams = self.work.labelled.values().map(|labelled| &labelled.stream);
        Counted {
            shown: report.shown,
            found: report.failures.len() + report.orphans.len() + report.sections.len() + report.notes.len(),
            kept: streams.chain([&self.work.plain]).map(Stream::kept).sum(),
        }
    }
}
