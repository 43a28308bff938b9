//! Findings of which only the number is wanted: they are counted together, and before anything else asks.

use super::Report;
use crate::hashing::hash_placed;
use crate::line::Place;
use crate::seen::{TOGETHER, Waiting};

impl Report {
    /// A diagnostic when the list is full: counted unless it is a copy.
    pub(crate) fn count_only(&mut self, title: &str, place: Place<'_>, line: u64) {
        let key = hash_placed(title, place);
        self.count(Waiting {
            key,
            line,
            kind: None,
        });
    }

    /// Counts a finding, at the latest when something asks.
    pub(super) fn count(&mut self, finding: Waiting) {
        self.waiting.push(finding);
        if self.waiting.len() == TOGETHER {
            self.settle();
        }
    }

    /// Counts what waits, and of each but the first of its copies only that it is one.
    pub(crate) fn settle(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for Waiting { key, line, kind } in waiting.drain(..) {
            match (self.seen.meet(key), kind) {
                (Some(earlier), None) => self.copy(earlier, line),
                (Some(_), Some(_)) => {}
                (None, Some(kind)) => self.warnings.count(kind, line),
                (None, None) => self.more += 1,
            }
        }
        self.waiting = waiting;
    }

    /// How many failures there are besides those told.
    pub(crate) fn more(&mut self) -> u64 {
        self.settle();
        self.more
    }

    /// How many failures there are.
    pub(crate) fn total(&mut self) -> u64 {
        self.failures.len() as u64 + self.more()
    }
}
