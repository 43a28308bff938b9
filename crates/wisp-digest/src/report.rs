//! Where readers put what they find. Copies are counted once, causes are grouped, everything is bounded.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::OnceLock;

use crate::diff::DiffShape;
use crate::digest::{Failure, Kind, Location, Note, Quote, Related, Section, Span, Tally, Verdict};
use crate::limits;
use crate::line::{Line, cut};
use crate::recent::Recent;
use crate::unknown::Unknowns;
use crate::warnings::WarningBook;

/// A failure as a reader states it, before copies and causes are looked at.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub kind: Kind,
    pub title: String,
    pub subject: Option<String>,
    pub location: Option<Location>,
    pub lines: Span,
    pub explain: Vec<Quote>,
    /// Two findings of one cause have one key; none when the finding stands for itself.
    pub cause: Option<String>,
    /// Two prints of one finding have one key; by default its title and location.
    pub copy: Option<String>,
    /// Whether it goes under an earlier finding of its cause even when it comes first.
    pub secondary: bool,
}

impl Finding {
    /// A failure stated by this line.
    pub(crate) fn new(kind: Kind, title: &str, line: &Line<'_>) -> Self {
        Self {
            kind,
            title: cut(title.trim(), limits::TITLE).to_owned(),
            subject: None,
            location: None,
            lines: line.span(),
            explain: Vec::new(),
            cause: None,
            copy: None,
            secondary: false,
        }
    }

    /// Says it in other words, of at most [`limits::TITLE`] bytes.
    pub(crate) fn retitle(&mut self, text: &str) {
        cut(text.trim(), limits::TITLE).clone_into(&mut self.title);
    }

    /// Names where to look.
    pub(crate) fn at(mut self, location: Location) -> Self {
        self.location = Some(location);
        self
    }

    /// Names the test, target or module that failed.
    pub(crate) fn of(mut self, subject: &str) -> Self {
        self.subject = Some(cut(subject, limits::TITLE).to_owned());
        self
    }

    /// Gives the key of its cause.
    pub(crate) fn because(mut self, cause: Option<String>) -> Self {
        self.cause = cause;
        self
    }

    /// Gives the key under which a copy is known.
    pub(crate) fn known_as(mut self, copy: impl Into<String>) -> Self {
        self.copy = Some(copy.into());
        self
    }

    /// Adds an explaining line, and stretches the root lines over it.
    pub(crate) fn add(&mut self, line: &Line<'_>) {
        if line.is_blank() {
            return;
        }
        self.lines.reach(line.number);
        self.quote(line);
    }

    /// Adds an explaining line that is not among the root lines.
    pub(crate) fn quote(&mut self, line: &Line<'_>) {
        if self.explain.len() < limits::EXPLAIN && !line.is_blank() {
            self.explain.push(line.quote());
        }
    }

    fn copy_key(&self) -> Option<u64> {
        match (&self.copy, &self.location) {
            (Some(copy), _) => Some(hash(copy)),
            (None, Some(location)) => Some(hash(&(self.title.as_str(), location))),
            (None, None) => None,
        }
    }
}

/// A hash under a key drawn once for the process, so that no input can be made to collide.
pub(crate) fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    let key = *KEY.get_or_init(|| RandomState::new().hash_one("wisp-digest"));
    let mut hasher = Folding(key);
    value.hash(&mut hasher);
    hasher.finish()
}

/// Folds eight bytes at a time by a long multiplication.
struct Folding(u64);

impl Folding {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "both halves of the product are used"
    )]
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Folding {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last));
        self.fold(bytes.len() as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.fold(value);
    }
}

/// A map whose keys are hashes already, made by [`hash`] with a keyed function: no input can make them collide.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;

/// Passes a hash on as it is.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A line that reports a failure stated elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Orphan {
    pub quote: Quote,
    pub context: Vec<Quote>,
    pub format: &'static str,
    pub section: Option<usize>,
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
    pub more: u64,
    pub warnings: WarningBook,
    pub tallies: Vec<Tally>,
    pub sections: Vec<Section>,
    pub notes: Vec<Note>,
    pub words: LastWords,
    pub diff: Option<DiffShape>,
    pub formats: Vec<&'static str>,
    pub orphans: Vec<Orphan>,
    pub orphan_count: u64,
    /// Lines that look like failures and that no reader accounted for.
    pub unknowns: Unknowns,
    seen: ByHash<Option<usize>>,
    causes: ByHash<usize>,
    /// Failures that a later diagnostic of their cause may take the lead of.
    secondary: HashSet<usize>,
}

impl Report {
    /// Reports a failure. A copy of an earlier one is counted there; one of the same cause goes under it.
    pub(crate) fn fail(&mut self, finding: Finding) {
        let key = finding.copy_key();
        if let Some(earlier) = key.and_then(|key| self.seen.get(&key).copied()) {
            self.copy(earlier, finding.lines.first);
            return;
        }
        let place = self.place(finding);
        if let Some(key) = key.filter(|_| self.seen.len() < limits::REMEMBERED) {
            self.seen.insert(key, place);
        }
    }

    /// Whether further causes are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.failures.len() >= limits::FAILURES
    }

    /// A diagnostic when the list is full: counted unless it is a copy.
    pub(crate) fn count_only(&mut self, title: &str, location: &Location, line: u64) {
        let key = hash(&(title, location));
        if let Some(earlier) = self.seen.get(&key).copied() {
            return self.copy(earlier, line);
        }
        self.more += 1;
        if self.seen.len() < limits::REMEMBERED {
            self.seen.insert(key, None);
        }
    }

    fn place(&mut self, finding: Finding) -> Option<usize> {
        let cause = finding.cause.as_ref().map(|cause| hash(&(self.format, cause)));
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
        self.failures.push(self.failure(finding));
        self.adopt(index);
        Some(index)
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

    fn copy(&mut self, earlier: Option<usize>, line: u64) {
        if let Some(failure) = earlier.and_then(|index| self.failures.get_mut(index)) {
            failure.copies += 1;
            list(&mut failure.copy_lines, line);
        }
    }

    /// A line that repeats a failure reported under this key. False when there is none.
    pub(crate) fn repeat(&mut self, copy: &str, line: u64) -> bool {
        let earlier = self.seen.get(&hash(copy)).copied();
        if let Some(earlier) = earlier {
            self.copy(earlier, line);
        }
        earlier.is_some()
    }

    /// The failure reported under this key, to add to it.
    pub(crate) fn known(&mut self, copy: &str) -> Option<&mut Failure> {
        let index = self.seen.get(&hash(copy)).copied()??;
        self.failures.get_mut(index)
    }

    /// A line that only reports that something failed. It goes under the newest failure of its section, or
    /// waits for one.
    pub(crate) fn cascade(&mut self, line: &Line<'_>) {
        let section = self.section;
        let newest = self
            .failures
            .iter_mut()
            .rev()
            .find(|failure| failure.section == section);
        match newest {
            Some(failure) => {
                failure.cascade += 1;
                list(&mut failure.cascade_lines, line.number);
            }
            None => self.orphan(line),
        }
    }

    fn orphan(&mut self, line: &Line<'_>) {
        self.orphan_count += 1;
        if self.orphans.len() < limits::LISTED {
            let context = self.recent.before(line.number);
            self.orphans.push(Orphan {
                quote: line.quote(),
                context,
                format: self.format,
                section: self.section,
            });
        }
    }

    /// Gives the new failure the lines that waited for one in its section.
    fn adopt(&mut self, index: usize) {
        let failure = &mut self.failures[index];
        let section = failure.section;
        let before = self.orphans.len();
        self.orphans.retain(|orphan| {
            let mine = orphan.section == section;
            if mine {
                failure.cascade += 1;
                list(&mut failure.cascade_lines, orphan.quote.line);
            }
            !mine
        });
        self.orphan_count = self
            .orphan_count
            .saturating_sub((before - self.orphans.len()) as u64);
    }

    /// A warning of a kind. A copy of an earlier one does not count.
    pub(crate) fn warn(&mut self, kind: &str, location: Option<Location>, line: &Line<'_>) {
        let copy = hash(&(
            location.as_ref(),
            line.text,
            location.is_none().then_some(line.number),
        ));
        let known = self.seen.contains_key(&copy);
        if !known {
            if self.seen.len() < limits::REMEMBERED {
                self.seen.insert(copy, None);
            }
            self.warnings.add(kind, location, line);
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
        if !format.is_empty() && self.formats.last() != Some(&format) && !self.formats.contains(&format) {
            self.formats.push(format);
        }
    }
}

/// Adds a line number to a short list.
pub(crate) fn list(lines: &mut Vec<u64>, line: u64) {
    if lines.len() < limits::LISTED {
        lines.push(line);
    }
}
