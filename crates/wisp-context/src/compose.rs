//! The composer: what of the record a request carries, and in what order.
//!
//! One system message, then the earlier block, the literal turns, the now block and the request. Roles
//! are kept to what every server's template accepts: the person's side is one message at a time, an assistant
//! message never follows another, each call is followed by exactly one result, in call order.

mod assemble;

use crate::blocks::Place;
use crate::entry::{Content, Entry, Revision};
use crate::message::Request;
use crate::record::ThreadRecord;
use crate::turn::{Outcome, Turn};

use assemble::Assembly;

/// Stands for the result of a call that has none.
pub const NO_RESULT: &str = "(no result: the call was interrupted or did not run)";
/// Stands for an output of no bytes, which confuses small models.
pub const NO_OUTPUT: &str = "(no output)";
/// Follows a reply that was stopped.
pub const INTERRUPTED: &str = "[interrupted before it was finished]";

impl ThreadRecord {
    /// The request as it would be sent now. Between turns: what the next turn's request starts with.
    pub fn compose(&self) -> Request {
        self.compose_at(self.revision)
    }

    /// The request that is about to be sent in the open turn, noted so that it can be composed again.
    pub fn request(&mut self) -> Request {
        let revision = self.revision;
        if let Some(turn) = self.turns.last_mut() {
            turn.requests.push(revision);
        }
        self.compose_at(revision)
    }

    /// The request numbered `index` (from 0) of turn `number`, byte for byte as it was sent; none when part of it was
    /// put away.
    pub fn recompose(&self, number: u32, index: usize) -> Option<Request> {
        let revision = *self.turn(number)?.requests.get(index)?;
        self.holds(revision).then(|| self.compose_at(revision))
    }

    /// The view at `revision`, however long ago that was.
    pub fn compose_at(&self, revision: Revision) -> Request {
        let mut assembly = Assembly::new(self, revision, self.open_at(revision));
        for place in Place::EARLIER {
            if let Some(text) = self.blocks.at(place, revision) {
                assembly.block(place.part(), text);
            }
        }
        let now = self.blocks.at(Place::Now, revision);
        for entry in self.literal(revision) {
            let begins = matches!(entry.content, Content::Prompt { .. }) && self.is_first_prompt(entry);
            if begins || matches!(entry.content, Content::Command { .. }) {
                assembly.close_turn(self.outcome_before(entry));
            }
            if begins && assembly.is_open(entry.turn) {
                assembly.now(now);
            }
            assembly.entry(entry);
        }
        if assembly.nothing_open() {
            assembly.close_turn(self.last_begun(revision).and_then(|turn| turn.outcome.as_ref()));
        }
        assembly.finish()
    }

    /// Whether a prompt begins its turn; any other of the turn was said while it was open.
    fn is_first_prompt(&self, entry: &Entry) -> bool {
        self.turn(entry.turn).is_none_or(|turn| turn.prompt == entry.id)
    }

    /// The entries a view at `revision` carries one by one, in order: those of the turns it has not dropped.
    pub(crate) fn literal(&self, revision: Revision) -> &[Entry] {
        let end = self.entries.partition_point(|entry| entry.revision <= revision);
        self.entries.range(self.literal_start(revision).min(end)..end)
    }

    /// Index of the first entry of the oldest literal turn.
    pub(crate) fn literal_start(&self, revision: Revision) -> usize {
        let applied = self
            .condensations
            .partition_point(|done| done.revision <= revision);
        let last = applied.checked_sub(1).and_then(|at| self.condensations.get(at));
        last.map_or(1, |done| done.kept_from.index())
    }

    /// The turn under way in the view at `revision`.
    fn open_at(&self, revision: Revision) -> Option<u32> {
        let turn = self.last_begun(revision)?;
        turn.ended
            .is_none_or(|ended| ended > revision)
            .then_some(turn.number)
    }

    /// The last turn that had begun in the view at `revision`.
    fn last_begun(&self, revision: Revision) -> Option<&Turn> {
        let begun = self.turns.partition_point(|turn| self.begun(turn) <= revision);
        begun.checked_sub(1).and_then(|at| self.turns.get(at))
    }

    /// The revision at which a turn's prompt was recorded.
    fn begun(&self, turn: &Turn) -> Revision {
        self.entry(turn.prompt).map_or(0, |entry| entry.revision)
    }

    /// How the turn before the one `entry` belongs to ended.
    fn outcome_before(&self, entry: &Entry) -> Option<&Outcome> {
        self.turn(entry.turn.checked_sub(1)?)?.outcome.as_ref()
    }
}
