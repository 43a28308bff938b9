//! A list that keeps its numbering when its oldest items are put away.
//!
//! What has left the context need not stay in memory once it is on the disk. The items that are here keep the numbers
//! they had, so that "entry 7" is entry 7 for ever; those away are asked for of the record read back whole.

use std::ops::Range;

/// Items by their place in the whole list. The first `keep` never go; after them `away` are missing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tail<T> {
    items: Vec<T>,
    keep: usize,
    away: usize,
}

impl<T> Tail<T> {
    /// A list of all its items, of which the first `keep` are never put away.
    pub(crate) fn of(items: Vec<T>, keep: usize) -> Self {
        Self { items, keep, away: 0 }
    }

    /// How many items there are, those away included.
    pub(crate) fn len(&self) -> usize {
        self.items.len() + self.away
    }

    /// How many are away.
    pub(crate) fn away(&self) -> usize {
        self.away
    }

    /// The items that are here.
    pub(crate) fn here(&self) -> &[T] {
        &self.items
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.items.get(self.place(index)?)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = self.place(index)?;
        self.items.get_mut(place)
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.items.last()
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        self.items.last_mut()
    }

    pub(crate) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// The items of a range that are here; a range that begins among those that never go stands alone there.
    pub(crate) fn range(&self, range: Range<usize>) -> &[T] {
        let (from, to) = (self.bound(range.start), self.bound(range.end));
        self.items.get(from..to).unwrap_or_default()
    }

    pub(crate) fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        let (from, to) = (self.bound(range.start), self.bound(range.end));
        self.items.get_mut(from..to).unwrap_or_default()
    }

    /// The place in the whole list before which `holds` is true of every item that is here.
    pub(crate) fn partition_point(&self, holds: impl FnMut(&T) -> bool) -> usize {
        match self.items.partition_point(holds) {
            at if at < self.keep => at,
            at => at + self.away,
        }
    }

    /// The items from those that never go up to `until` that are here.
    pub(crate) fn until(&self, until: usize) -> &[T] {
        self.range(self.keep..until.max(self.keep))
    }

    /// Lets go of the items up to `until`.
    pub(crate) fn put_away(&mut self, until: usize) {
        let to = self.bound(until).max(self.keep.min(self.items.len()));
        let gone = self.items.drain(self.keep.min(self.items.len())..to).count();
        self.away += gone;
        if gone > 0 {
            self.items.shrink_to(self.items.len() * 2);
        }
    }

    /// The same list with those away among it again; none when it is not their number.
    pub(crate) fn rejoined(mut self, away: Vec<T>) -> Option<Self> {
        if away.len() != self.away {
            return None;
        }
        self.items.splice(self.keep..self.keep, away);
        self.away = 0;
        Some(self)
    }

    /// Where an item stands among those here.
    fn place(&self, index: usize) -> Option<usize> {
        if index < self.keep {
            return Some(index);
        }
        index.checked_sub(self.away).filter(|place| *place >= self.keep)
    }

    /// The place among those here that an end of a range falls on.
    fn bound(&self, index: usize) -> usize {
        let place = if index <= self.keep {
            index
        } else {
            index.saturating_sub(self.away).max(self.keep)
        };
        place.min(self.items.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn numbers_stay_when_items_go() {
        let mut tail = Tail::of((0..10).collect::<Vec<u32>>(), 1);
        tail.put_away(4);
        assert_eq!(
            (tail.len(), tail.away(), tail.here()),
            (10, 3, &[0, 4, 5, 6, 7, 8, 9][..])
        );
        assert_eq!([tail.get(0), tail.get(1), tail.get(3)], [Some(&0), None, None]);
        assert_eq!(
            [tail.get(4), tail.get(9), tail.get(10)],
            [Some(&4), Some(&9), None]
        );
        assert_eq!(
            (tail.range(2..4), tail.range(3..6), tail.range(8..99)),
            (&[][..], &[4, 5][..], &[8, 9][..])
        );
        assert_eq!((tail.range(0..1), tail.until(6)), (&[0][..], &[4, 5][..]));
        assert_eq!(tail.partition_point(|n| *n < 6), 6);
        assert_eq!(tail.partition_point(|_| false), 0);
        tail.push(10);
        tail.put_away(6);
        tail.put_away(2);
        assert_eq!((tail.len(), tail.away(), tail.get(10)), (11, 5, Some(&10)));
        assert_eq!(tail.clone().rejoined(vec![1, 2]), None);
        let whole = tail.rejoined(vec![1, 2, 3, 4, 5]).unwrap();
        assert_eq!(whole.here(), (0..=10).collect::<Vec<u32>>());
    }

    #[test]
    fn all_of_it_may_go_and_nothing_of_nothing_does() {
        let mut tail = Tail::of(vec![1, 2, 3], 0);
        tail.put_away(99);
        assert_eq!((tail.len(), tail.here(), tail.last()), (3, &[][..], None));
        let mut empty: Tail<u32> = Tail::of(Vec::new(), 1);
        empty.put_away(5);
        assert_eq!((empty.len(), empty.away()), (0, 0));
    }
}
