//! Failures of tests that passed when they were run again.

use std::collections::HashSet;

use super::Report;
use crate::digest::{Failure, Span};
use crate::hashing::hash;
use crate::limits;
use crate::seen::Met;

/// The tests forgiven: the place of each one's failure and its key.
#[derive(Debug, Default)]
pub(super) struct Forgiven {
    tests: HashSet<(usize, u64)>,
    /// Lines in which a test said what counts no more, each with its section.
    lines: Vec<(Span, Option<usize>)>,
}

impl Forgiven {
    /// The failure at this place is met again: it was not the last try.
    pub(super) fn revoke(&mut self, index: usize) {
        if !self.tests.is_empty() {
            self.tests.retain(|(at, _)| *at != index);
        }
    }

    /// Whether all tests are forgiven whose failure stands at this place.
    fn covers(&self, index: usize, failure: &Failure) -> bool {
        let tests = self.tests.iter().filter(|(at, _)| *at == index);
        let inside = |lines: &Span| {
            let told = failure.copies == failure.copy_lines.len() as u64;
            told && lines.holds(failure.lines.first)
                && failure.copy_lines.iter().all(|line| lines.holds(*line))
        };
        let mut said = self
            .lines
            .iter()
            .filter(|(_, section)| *section == failure.section);
        tests.count() as u64 >= failure.diagnostics || said.any(|(lines, _)| inside(lines))
    }
}

impl Report {
    /// The test whose failure was reported under this key has passed after all, in a run of the same test that was
    /// made because it had failed. Whether there was such a failure. It counts again when it is met again.
    pub(crate) fn forgive(&mut self, copy: &str) -> bool {
        self.settle();
        let key = hash(copy);
        let Some(index) = self.seen.get(key).and_then(Met::place) else {
            return false;
        };
        let room = self.forgiven.tests.len() < limits::PENDING;
        room && self.forgiven.tests.insert((index, key))
    }

    /// What stands in these lines was said by a test that has passed after all.
    pub(crate) fn forgive_lines(&mut self, lines: Span) {
        if self.forgiven.lines.len() < limits::PENDING {
            self.forgiven.lines.push((lines, self.section));
        }
    }

    /// Takes out the failures all of whose tests are forgiven.
    pub(crate) fn drop_forgiven(&mut self) {
        let forgiven = std::mem::take(&mut self.forgiven);
        if forgiven.tests.is_empty() && forgiven.lines.is_empty() {
            return;
        }
        let failures = std::mem::take(&mut self.failures).into_iter().enumerate();
        let logged = std::mem::take(&mut self.logged_failures);
        for (at, failure) in failures {
            if !forgiven.covers(at, &failure) {
                if logged.contains(&at) {
                    self.logged_failures.insert(self.failures.len());
                }
                self.failures.push(failure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Digest, Options};

    const STARTED: &str = "Test Case '-[HeronTests.GaugeTests testDepth]' started";
    const ENDED: &str = "Test Case '-[HeronTests.GaugeTests testDepth]'";

    fn failures(log: &str) -> usize {
        Digest::of(log.as_bytes(), Options::default()).failures.len()
    }

    #[test]
    fn what_passes_when_it_is_run_again_is_no_failure() {
        let failed = format!("{STARTED} (Iteration 1 of 2).\n{ENDED} failed (0.021 seconds).\n");
        let passed = format!("{STARTED} (Iteration 2 of 2).\n{ENDED} passed (0.001 seconds).\n");
        assert_eq!(failures(&failed), 1);
        assert_eq!(failures(&(failed.clone() + &passed)), 0);
        assert_eq!(failures(&(failed.clone() + &passed + &failed)), 1);
        // On another device it only passed there.
        let elsewhere = format!("{STARTED}.\n{ENDED} passed (0.001 seconds).\n");
        assert_eq!(failures(&(failed + &elsewhere)), 1);
    }
}
