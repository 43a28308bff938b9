//! Warnings tallied by kind, one example each.

use crate::digest::{WarningKind, Warnings};
use crate::hashing::{ByHash, hash};
use crate::limits;
use crate::line::{Line, Place};
use crate::report::list;

/// The warnings so far.
#[derive(Debug, Default)]
pub(crate) struct WarningBook {
    total: u64,
    kinds: Vec<WarningKind>,
    index: ByHash<usize>,
    /// The one counted last: warnings of a kind come in runs.
    last: usize,
}

impl WarningBook {
    /// Counts a warning under its kind; past the bound, under `other`.
    pub(crate) fn add(&mut self, kind: &str, place: Option<Place<'_>>, line: &Line<'_>) {
        self.last = self.find(kind, place, line);
        self.count(self.last, line.number);
    }

    /// The place of a kind that has been met.
    pub(crate) fn known(&mut self, kind: &str) -> Option<usize> {
        if self.kinds.get(self.last).is_none_or(|last| last.kind != kind) {
            self.last = *self.index.get(&hash(kind))?;
        }
        Some(self.last)
    }

    /// Counts a warning of a kind that has been met.
    pub(crate) fn count(&mut self, kind: usize, line: u64) {
        self.total += 1;
        let entry = &mut self.kinds[kind];
        entry.count += 1;
        list(&mut entry.lines, line);
    }

    fn find(&mut self, kind: &str, place: Option<Place<'_>>, line: &Line<'_>) -> usize {
        match self.index.get(&hash(kind)) {
            Some(at) => *at,
            None if self.kinds.len() < limits::WARNING_KINDS => self.open(kind, place, line),
            None => match self.index.get(&hash("other")) {
                Some(at) => *at,
                None => self.open("other", place, line),
            },
        }
    }

    fn open(&mut self, kind: &str, place: Option<Place<'_>>, line: &Line<'_>) -> usize {
        let entry = WarningKind {
            kind: kind.to_owned(),
            count: 0,
            example: line.quote(),
            location: place.map(|place| place.location()),
            lines: Vec::new(),
        };
        self.kinds.push(entry);
        self.index.insert(hash(kind), self.kinds.len() - 1);
        self.kinds.len() - 1
    }

    /// How many there are.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Takes a kind out, which turned out to be more than a warning: how many there were.
    pub(crate) fn forget(&mut self, kind: &str) -> u64 {
        let known = self.kinds.iter_mut().find(|each| each.kind == kind);
        let count = known.map_or(0, |kind| std::mem::take(&mut kind.count));
        self.total -= count;
        count
    }

    /// The tally, most frequent kind first.
    pub(crate) fn close(mut self) -> Warnings {
        self.kinds.retain(|kind| kind.count > 0);
        self.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
        Warnings {
            total: self.total,
            kinds: self.kinds,
        }
    }
}
