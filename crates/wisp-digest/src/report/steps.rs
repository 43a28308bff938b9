//! The failed steps of a build that tells of each before what its command printed, as ninja does.
//!
//! Which failure a step is can be said once every reader has reported: the first that stands between its line and the next
//! step's. Where none does and the build says that it stopped, the step is a failure of its own.

use super::{Report, list};
use crate::digest::{Kind, Quote};
use crate::find::Find;
use crate::finding::Finding;
use crate::limits;
use crate::line::Line;

/// The failed steps so far, at most [`limits::LISTED`].
#[derive(Debug, Default)]
pub(crate) struct Steps {
    failed: Vec<Failed>,
    /// The line on which the build says that it stopped.
    stopped: Option<u64>,
}

/// `FAILED: x.o`, and the first line that its command printed.
#[derive(Debug)]
struct Failed {
    step: Quote,
    printed: Option<Quote>,
    format: &'static str,
    section: Option<usize>,
}

impl Report {
    /// A step failed; what it printed follows.
    pub(crate) fn step_failed(&mut self, line: &Line<'_>) {
        if self.steps.failed.len() >= limits::LISTED {
            return self.announce(line);
        }
        self.steps.failed.push(Failed {
            step: line.quote(),
            printed: None,
            format: self.format,
            section: self.section,
        });
    }

    /// The first line that the command of the last failed step printed.
    pub(crate) fn step_printed(&mut self, line: &Line<'_>) {
        if let Some(failed) = self.steps.failed.last_mut() {
            failed.printed.get_or_insert_with(|| line.quote());
        }
    }

    /// The build says that it stopped for what failed.
    pub(crate) fn steps_stopped(&mut self, line: &Line<'_>) {
        self.steps.stopped = Some(line.number);
    }

    /// All readers have reported: each step goes with its failure.
    pub(crate) fn settle_steps(&mut self) {
        self.settle();
        let Steps { failed, stopped } = std::mem::take(&mut self.steps);
        for (at, each) in failed.iter().enumerate() {
            let end = stopped.unwrap_or(u64::MAX);
            let until = failed.get(at + 1).map_or(end, |next| next.step.line);
            if self.goes_with(each.step.line, until) {
                continue;
            }
            let line = Line {
                number: each.step.line,
                text: &each.step.text,
            };
            (self.format, self.section) = (each.format, each.section);
            if stopped.is_none() || self.is_full() {
                self.announce(&line);
            } else {
                self.fail_step(each, &line);
            }
        }
    }

    /// Puts the line under the first failure that is told, as its own or as another sight of its cause, between it and
    /// line `until`. False where there is none.
    fn goes_with(&mut self, line: u64, until: u64) -> bool {
        let within = |at: u64| line < at && at < until;
        let found = self.failures.iter_mut().find(|failure| {
            within(failure.lines.first)
                || failure.related.iter().any(|related| within(related.line))
                || failure.copy_lines.iter().any(|copy| within(*copy))
        });
        let Some(failure) = found else { return false };
        failure.cascade += 1;
        list(&mut failure.cascade_lines, line);
        true
    }

    fn fail_step(&mut self, failed: &Failed, line: &Line<'_>) {
        // Since ninja 1.12: `FAILED: [code=3] x.o`.
        let target = line.text.past("FAILED: ");
        let target = target.part_at("] ").map_or(target, |(_, target)| target).trim();
        let printed = failed.printed.as_ref();
        let title = printed.map_or(line.text, |printed| printed.text.as_str());
        let mut finding = Finding::new(Kind::Tool, title, line).of(target);
        if let Some(printed) = printed {
            finding.lines.reach(printed.line);
            finding.explain.push(printed.clone());
            self.unknowns.forget(printed.line);
        }
        self.fail(finding);
    }
}
