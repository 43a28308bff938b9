//! Where readers put what they find. Copies are counted once, causes are grouped, everything is bounded.

mod causes;
mod counting;
mod forgiving;
mod steps;

use std::collections::HashSet;

use forgiving::Forgiven;
pub(crate) use steps::Steps;

use crate::diff::DiffShape;
use crate::digest::{Failure, Kind, Location, Note, Quote, Related, Section, Span, Tally, Verdict};
pub(crate) use crate::finding::Finding;
use crate::hashing::{ByHash, hash, hash_cause, hash_line, hash_line_of};
use crate::limits;
use crate::line::{Line, Place, cut};
use crate::nesting::Nesting;
use crate::recent::Recent;
use crate::seen::{Met, Seen, Waiting};
use crate::unknown::Unknowns;
use crate::warnings::WarningBook;

/// A line that reports a failure stated elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Orphan {
    pub quote: Quote,
    pub context: Vec<Quote>,
    pub format: &'static str,
    pub section: Option<usize>,
    /// Whether the failure may come after the line.
    pub announces: bool,
}

/// The log's own words on how it ended, the last of each verdict.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    pub failed: Option<Quote>,
    pub succeeded: Option<Quote>,
}

/// What the readers have found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The format whose reader is at work; set by the stream.
    pub format: &'static str,
    /// The section being read; set by the stream and by readers of CI marks.
    pub section: Option<usize>,
    /// The lines just before the current one, for a failure without a cause.
    pub recent: Recent,
    pub failures: Vec<Failure>,
    more: u64,
    pub warnings: WarningBook,
    /// The warnings that may have failed the run, with their kinds.
    advice: Vec<(String, Failure)>,
    pub tallies: Vec<Tally>,
    pub sections: Vec<Section>,
    /// Which of them lie in which.
    pub nesting: Nesting,
    pub notes: Vec<Note>,
    pub words: LastWords,
    pub diff: Option<DiffShape>,
    pub formats: Vec<&'static str>,
    pub orphans: Vec<Orphan>,
    /// The failed steps of a build that tells of each before its output.
    pub steps: Steps,
    /// Lines that look like failures and that no reader accounted for.
    pub unknowns: Unknowns,
    /// Bytes of lines that readers were shown, as often as they were: the work that a log makes.
    pub shown: u64,
    /// The lines that continue the last serious entry of a log; set by the digester.
    pub logged: Option<Span>,
    /// The failures that stand in such lines.
    logged_failures: HashSet<usize>,
    seen: Seen,
    /// Findings to be counted.
    waiting: Vec<Waiting>,
    causes: ByHash<usize>,
    /// Failures that a later diagnostic of their cause may take the lead of.
    secondary: HashSet<usize>,
    forgiven: Forgiven,
}

impl Report {
    /// Reports a failure. A copy of an earlier one is counted there; one of the same cause goes under it.
    pub(crate) fn fail(&mut self, finding: Finding) {
        self.settle();
        let key = finding.copy_key();
        if let Some(earlier) = key.and_then(|key| self.seen.get(key)) {
            self.again(earlier, finding);
            return;
        }
        let place = self.place(finding);
        if let Some(key) = key {
            self.seen.remember(key, place);
        }
    }

    /// Whether further causes are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.failures.len() >= limits::FAILURES
    }

    /// Whether a failure of this cause is among those told.
    pub(crate) fn knows(&self, cause: &str) -> bool {
        self.causes.contains_key(&hash_cause(self.format, cause))
    }

    fn place(&mut self, mut finding: Finding) -> Option<usize> {
        if finding.kind == Kind::Test {
            finding.cause = causes::of_test(&finding).or(finding.cause);
        }
        let cause = finding.cause.as_ref().map(|cause| hash_cause(self.format, cause));
        if let Some(index) = cause.and_then(|cause| self.causes.get(&cause).copied()) {
            self.join(index, finding);
            return Some(index);
        }
        if self.is_full() {
            self.more += 1;
            return None;
        }
        let index = self.failures.len();
        if let Some(cause) = cause {
            self.causes.insert(cause, index);
        }
        if finding.secondary {
            self.secondary.insert(index);
        }
        if self.logged.is_some_and(|lines| lines.holds(finding.lines.first)) {
            self.logged_failures.insert(index);
        }
        self.failures.push(self.failure(finding));
        self.used();
        self.adopt(index);
        Some(index)
    }

    /// Takes the failures out, and with each whether a serious entry of a log holds it.
    pub(crate) fn take_failures(&mut self) -> Vec<(Failure, bool)> {
        let failures = std::mem::take(&mut self.failures).into_iter().enumerate();
        failures
            .map(|(at, failure)| (failure, self.logged_failures.contains(&at)))
            .collect()
    }

    fn failure(&self, finding: Finding) -> Failure {
        Failure {
            format: self.format,
            kind: finding.kind,
            title: finding.title,
            subject: finding.subject,
            location: finding.location,
            lines: finding.lines,
            explain: finding.explain,
            diagnostics: 1,
            related: Vec::new(),
            copies: 0,
            copy_lines: Vec::new(),
            cascade: 0,
            cascade_lines: Vec::new(),
            section: self.section,
        }
    }

    /// Another diagnostic of a cause already known. The one that is not secondary states the cause.
    fn join(&mut self, index: usize, finding: Finding) {
        let secondary = finding.secondary;
        let mut other = self.failure(finding);
        let failure = &mut self.failures[index];
        failure.diagnostics += 1;
        let lead = !secondary && self.secondary.remove(&index);
        if lead {
            std::mem::swap(&mut failure.title, &mut other.title);
            std::mem::swap(&mut failure.location, &mut other.location);
            std::mem::swap(&mut failure.lines, &mut other.lines);
            std::mem::swap(&mut failure.explain, &mut other.explain);
        }
        if failure.related.len() < limits::RELATED {
            let related = Related {
                line: other.lines.first,
                title: other.title,
                location: other.location,
            };
            failure.related.push(related);
        }
    }

    /// A print of a failure known already. Streams end late: the print that stands first is the root.
    fn again(&mut self, earlier: Met, finding: Finding) {
        let section = self.section;
        let line = finding.lines.first;
        let before = |failure: &&mut Failure| line < failure.lines.first;
        let Some((index, failure)) = earlier.place().and_then(|index| {
            let failure = self.failures.get_mut(index);
            Some((index, failure.filter(before)?))
        }) else {
            return self.copy(earlier, line);
        };
        let later = failure.lines.first;
        failure.lines = finding.lines;
        failure.explain = finding.explain;
        failure.section = section;
        self.copy(earlier, later);
        self.adopt(index);
    }

    fn copy(&mut self, earlier: Met, line: u64) {
        let Some(index) = earlier.place() else { return };
        if let Some(failure) = self.failures.get_mut(index) {
            failure.copies += 1;
            list(&mut failure.copy_lines, line);
            self.forgiven.revoke(index);
        }
    }

    /// A line that repeats a failure reported under this key. False when there is none.
    pub(crate) fn repeat(&mut self, copy: &str, line: u64) -> bool {
        self.settle();
        let earlier = self.seen.get(hash(copy));
        if let Some(earlier) = earlier {
            self.copy(earlier, line);
        }
        earlier.is_some()
    }

    /// The failure reported under this key, to add to it.
    pub(crate) fn known(&mut self, copy: &str) -> Option<&mut Failure> {
        self.settle();
        let index = self.seen.get(hash(copy))?.place()?;
        self.failures.get_mut(index)
    }

    /// A line that only reports that something failed before it. It goes under the newest failure of its
    /// section; where there is none yet, it waits for one that began before it.
    pub(crate) fn cascade(&mut self, line: &Line<'_>) {
        self.follow(line, false);
    }

    /// A line that reports a failure which may come after it.
    pub(crate) fn announce(&mut self, line: &Line<'_>) {
        self.follow(line, true);
    }

    fn follow(&mut self, line: &Line<'_>, announces: bool) {
        let section = self.section;
        let newest = self
            .failures
            .iter_mut()
            .rev()
            .find(|failure| self.nesting.covers(section, failure.section));
        if let Some(failure) = newest {
            failure.cascade += 1;
            list(&mut failure.cascade_lines, line.number);
        } else if self.orphans.len() < limits::LISTED {
            let context = self.recent.before(line.number);
            self.orphans.push(Orphan {
                quote: line.quote(),
                context,
                format: self.format,
                section,
                announces,
            });
        }
    }

    /// A failure of which only the report is known: the lines before it may tell the cause.
    pub(crate) fn unknown(&mut self, orphan: Orphan) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        let line = Line {
            number: orphan.quote.line,
            text: &orphan.quote.text,
        };
        let mut finding = Finding::new(Kind::Unknown, line.text, &line);
        finding.explain = orphan.context;
        let mut failure = self.failure(finding);
        (failure.format, failure.section) = (orphan.format, orphan.section);
        self.failures.push(failure);
    }

    /// Gives the new failure the lines that waited for one.
    fn adopt(&mut self, index: usize) {
        let failure = &mut self.failures[index];
        self.orphans.retain(|orphan| {
            let same = orphan.section == failure.section
                || (orphan.section.is_some() && self.nesting.covers(orphan.section, failure.section));
            let mine = same && (orphan.announces || failure.lines.first <= orphan.quote.line);
            if mine {
                failure.cascade += 1;
                list(&mut failure.cascade_lines, orphan.quote.line);
            }
            !mine
        });
    }

    /// A warning of a kind. A copy of an earlier one does not count.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "readers that have a location have no more use for it"
    )]
    pub(crate) fn warn(&mut self, kind: &str, location: Option<Location>, line: &Line<'_>) {
        self.warn_at(kind, location.as_ref().map(Place::of), line);
    }

    /// A warning that fails the run when nothing else in it does: some linters end with an error for any remark.
    pub(crate) fn advise(&mut self, kind: &str, finding: Finding, line: &Line<'_>) {
        self.settle();
        let known = self.warnings.total();
        self.warn_at(kind, finding.location.as_ref().map(Place::of), line);
        self.settle();
        if self.warnings.total() > known && self.advice.len() < limits::FAILURES {
            self.advice.push((kind.to_owned(), self.failure(finding)));
        }
    }

    /// The run failed and nothing but advice says why.
    pub(crate) fn heed(&mut self) {
        self.settle();
        let mut forgotten = 0;
        for (kind, failure) in std::mem::take(&mut self.advice) {
            forgotten += self.warnings.forget(&kind);
            self.failures.push(failure);
        }
        self.more += forgotten.saturating_sub(self.failures.len() as u64);
    }

    /// As [`Report::warn`], of a place that is copied only where it is told.
    pub(crate) fn warn_at(&mut self, kind: &str, place: Option<Place<'_>>, line: &Line<'_>) {
        // Where the line says the place itself, no other place has the same line.
        let copy = match place {
            Some(place) if line.text.starts_with(place.path) => hash_line(line.text, None),
            Some(place) => hash_line_of(line.text, place),
            None => hash_line(line.text, Some(line.number)),
        };
        if let Some(kind) = self.warnings.known(kind) {
            return self.count(Waiting {
                key: copy,
                line: line.number,
                kind: Some(kind),
            });
        }
        self.settle();
        if self.seen.meet(copy).is_none() {
            self.warnings.add(kind, place, line);
        }
    }

    /// Adds numbers to the tally of this name.
    pub(crate) fn tally(&mut self, what: &str, counts: &[(&str, u64)], line: &Line<'_>) {
        let Some(tally) = self.tally_of(what, line) else {
            return;
        };
        tally.lines.reach(line.number);
        for (name, number) in counts {
            match tally.counts.iter().position(|(each, _)| each == name) {
                Some(at) => tally.counts[at].1 += number,
                None if tally.counts.len() < limits::LISTED => {
                    tally.counts.push(((*name).to_owned(), *number));
                }
                None => {}
            }
        }
    }

    /// Sets the tally of this name, where a tool prints a running or repeated sum.
    pub(crate) fn set_tally(&mut self, what: &str, counts: &[(&str, u64)], line: &Line<'_>) {
        if let Some(tally) = self.tally_of(what, line) {
            tally.counts.clear();
            tally.lines = line.span();
        }
        self.tally(what, counts, line);
    }

    fn tally_of(&mut self, what: &str, line: &Line<'_>) -> Option<&mut Tally> {
        let known = self.tallies.iter().position(|tally| tally.what == what);
        if known.is_none() && self.tallies.len() < limits::TALLIES {
            self.tallies.push(Tally {
                what: what.to_owned(),
                counts: Vec::new(),
                lines: line.span(),
            });
        }
        let index = known.or_else(|| {
            self.tallies
                .len()
                .checked_sub(1)
                .filter(|last| self.tallies[*last].what == what)
        })?;
        self.tallies.get_mut(index)
    }

    /// The log's own word that it failed.
    pub(crate) fn failed(&mut self, line: &Line<'_>) {
        self.words.failed = Some(line.quote());
        self.mark_section(Verdict::Failed);
    }

    /// The log's own word that it succeeded.
    pub(crate) fn succeeded(&mut self, line: &Line<'_>) {
        self.words.succeeded = Some(line.quote());
    }

    fn mark_section(&mut self, verdict: Verdict) {
        if let Some(section) = self.section.and_then(|index| self.sections.get_mut(index)) {
            section.verdict = verdict;
        }
    }

    /// Opens a section, or finds the open one of that name, and makes it the current one.
    pub(crate) fn enter(&mut self, name: &str, line: u64) {
        self.section = self.section_named(name, line);
    }

    /// The section being read goes on to this line.
    pub(crate) fn reach(&mut self, line: u64) {
        if let Some(section) = self.section.and_then(|at| self.sections.get_mut(at)) {
            section.lines.reach(line);
        }
    }

    /// The section of that name, made if need be; none when there are too many.
    pub(crate) fn section_named(&mut self, name: &str, line: u64) -> Option<usize> {
        let known = self.sections.iter().position(|section| section.name == name);
        if known.is_some() {
            return known;
        }
        if self.sections.len() >= limits::SECTIONS {
            return None;
        }
        let name = cut(name, limits::QUOTE).to_owned();
        self.sections.push(Section {
            name,
            lines: Span::line(line),
            verdict: Verdict::Unknown,
        });
        Some(self.sections.len() - 1)
    }

    /// A line that a reader took for its own and that was not; it is looked at as if no reader knew it.
    pub(crate) fn unclaimed(&mut self, line: &Line<'_>) {
        if crate::looks::like_failure(line.text) {
            self.unknowns.add(line, false);
        }
    }

    /// Something worth saying.
    pub(crate) fn note(&mut self, text: impl Into<String>, line: u64) {
        let text = text.into();
        let known = self.notes.iter().any(|note| note.text == text);
        if !known && self.notes.len() < limits::NOTES {
            self.notes.push(Note { text, line });
        }
    }

    /// Records that the format at work has read something.
    pub(crate) fn used(&mut self) {
        let format = self.format;
        if !format.is_empty() && !self.formats.contains(&format) {
            self.formats.push(format);
        }
    }
}

/// Adds a line number to a short list in order.
pub(crate) fn list(lines: &mut Vec<u64>, line: u64) {
    if lines.len() < limits::LISTED {
        lines.insert(lines.partition_point(|each| *each <= line), line);
    }
}
