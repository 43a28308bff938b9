//! Sections within sections, as `GitLab`'s runner opens them.

use std::collections::BTreeMap;

/// Which section was opened inside which, by their places in the list of sections.
#[derive(Debug, Default, Clone)]
pub(crate) struct Nesting(BTreeMap<usize, usize>);

impl Nesting {
    /// Records that `inner` was opened inside `outer`. What would make a ring is passed over.
    pub(crate) fn open(&mut self, outer: Option<usize>, inner: Option<usize>) {
        if let Some((outer, inner)) = outer.zip(inner)
            && !self.holds(inner, outer)
        {
            self.0.entry(inner).or_insert(outer);
        }
    }

    /// Whether something in section `inner` is in section `outer`; everything is in no section.
    pub(crate) fn covers(&self, outer: Option<usize>, inner: Option<usize>) -> bool {
        match (outer, inner) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(outer), Some(inner)) => self.holds(outer, inner),
        }
    }

    fn holds(&self, outer: usize, inner: usize) -> bool {
        std::iter::successors(Some(inner), |at| self.0.get(at).copied()).any(|at| at == outer)
    }
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    #[test]
    fn what_is_inside_is_covered_and_a_ring_is_not_made() {
        let mut nesting = Nesting::default();
        nesting.open(Some(0), Some(1));
        nesting.open(Some(1), Some(2));
        nesting.open(Some(2), Some(0));
        nesting.open(Some(3), Some(3));
        assert!(
            nesting.covers(Some(0), Some(2)) && nesting.covers(None, Some(2)) && nesting.covers(None, None)
        );
        assert!(!nesting.covers(Some(2), Some(0)) && !nesting.covers(Some(0), None));
        assert!(nesting.covers(Some(3), Some(3)) && !nesting.covers(Some(3), Some(0)));
    }
}
