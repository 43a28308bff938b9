//! Which findings have been met, to tell a copy.
//!
//! The table is larger than a near cache, and to wait for it at every finding would take longer than to read the
//! finding. So those of which only the number is wanted wait until there are a few, and are looked up together: the
//! processor waits for all of them at once.

use crate::hashing::{ByHash, Hashes};
use crate::limits;

/// How many findings are looked up together.
pub(crate) const TOGETHER: usize = 16;

/// A finding that is only counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    /// The hash under which a copy is known.
    pub key: u64,
    /// Its line.
    pub line: u64,
    /// Of a warning, the place of its kind; none for a failure.
    pub kind: Option<usize>,
}

/// The hashes of at most [`limits::REMEMBERED`] findings. Few of them have a place among the failures.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    known: Hashes,
    places: ByHash<usize>,
}

/// Where a finding stands that has been met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// At this place among the failures.
    Told(usize),
    /// Nowhere: it was only counted.
    Counted,
}

impl Met {
    /// Its place among the failures.
    pub(crate) fn place(self) -> Option<usize> {
        match self {
            Self::Told(place) => Some(place),
            Self::Counted => None,
        }
    }
}

impl Seen {
    /// Where the finding stands, if it has been met.
    pub(crate) fn get(&self, key: u64) -> Option<Met> {
        self.known.contains(&key).then(|| self.met(key))
    }

    /// Where the finding stands, if it has been met; if not, it is remembered as one that is only counted.
    pub(crate) fn meet(&mut self, key: u64) -> Option<Met> {
        let new = if self.has_room() {
            self.known.insert(key)
        } else {
            !self.known.contains(&key)
        };
        (!new).then(|| self.met(key))
    }

    fn met(&self, key: u64) -> Met {
        let place = self.places.get(&key);
        place.map_or(Met::Counted, |place| Met::Told(*place))
    }

    /// Remembers what was found.
    pub(crate) fn remember(&mut self, key: u64, place: Option<usize>) {
        if self.has_room() {
            self.known.insert(key);
            if let Some(place) = place {
                self.places.insert(key, place);
            }
        }
    }

    /// Whether more can be remembered. When it is very many the table grows once more, not by doublings that each move
    /// all of it.
    fn has_room(&mut self) -> bool {
        const MANY: usize = 7_000;
        let known = self.known.len();
        if known == MANY {
            self.known.reserve(limits::REMEMBERED - known);
        }
        known < limits::REMEMBERED
    }
}
