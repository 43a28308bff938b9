//! Applying a plan: the only place where entries leave what the model sees.

use thiserror::Error;

use crate::blocks::Place;
use crate::earlier::{self, Earlier, Frame, Line};
use crate::entry::{Dropped, EntryId, Revision};
use crate::record::{INSTRUCTIONS, ThreadRecord};
use crate::reference::Referenced;
use crate::text::Text;

use super::{Condensation, Plan, Step};

/// The record has changed since the plan was made, which is therefore not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the conversation has changed since the condensation was planned (change {planned}, now {now})")]
pub struct StalePlan {
    /// The change the plan was made at.
    pub planned: u64,
    /// The last change.
    pub now: u64,
}

impl ThreadRecord {
    /// Applies a plan under the id of its `context.condensation` event. All of it takes effect at one revision; on
    /// an error nothing has changed.
    pub fn condense(
        &mut self,
        plan: Plan,
        event: impl Into<Text>,
    ) -> Result<(Condensation, Vec<Referenced>), StalePlan> {
        if plan.revision != self.revision {
            return Err(StalePlan {
                planned: plan.revision,
                now: self.revision,
            });
        }
        let from = self.literal_start(self.revision);
        let revision = self.change();
        let turn = self.turn_count();
        let event = event.into();
        for (id, text) in &plan.references {
            self.mark_reference(*id, text.clone(), (turn, revision));
        }
        let referenced = plan
            .references
            .iter()
            .filter_map(|(id, _)| self.entry(*id).and_then(Referenced::of))
            .collect();
        for number in &plan.leaving {
            let lines = self.lines_of(*number);
            self.earlier.extend(lines);
        }
        self.earlier.keep_for(earlier::room(Some(plan.window)));
        if plan.kept_from.index() > from {
            for entry in self.entries.range_mut(from..plan.kept_from.index()) {
                entry.dropped = Some(Dropped {
                    turn,
                    event: event.clone(),
                    revision,
                });
            }
        }
        if let Some(text) = &plan.earlier {
            self.blocks.set(Place::Earlier, revision, text.clone());
        }
        let done = plan.into_condensation(event, revision, turn);
        self.condensations.push(done.clone());
        Ok((done, referenced))
    }

    /// Gives the earlier block its room back from `revision` on, when it was squeezed for a request of the turn that
    /// ends here: the next turn may need less.
    pub(crate) fn unsqueeze(&mut self, revision: Revision) {
        let turn = self.turn_count();
        let squeezed = |step: &Step| matches!(step, Step::Squeezed | Step::DroppedLast);
        let Some(done) = self.condensations.last() else {
            return;
        };
        if done.turn != turn || !done.steps.iter().any(squeezed) {
            return;
        }
        let frame = Frame {
            room: earlier::room(Some(done.window)),
            through: self.earlier_through(),
            memory: self.rules.memory,
        };
        let text = self.earlier.block(&[], frame);
        if self.blocks.at(Place::Earlier, revision) != Some(&text) {
            self.blocks.set(Place::Earlier, revision, text);
        }
    }

    /// The lines turn `number` leaves behind: what the person said, then what the model noted.
    pub(crate) fn lines_of(&self, number: u32) -> Vec<Line> {
        let prompt = self.turn(number).map_or(EntryId(1), |turn| turn.prompt);
        let first = self.notes.partition_point(|note| note.turn < number);
        let notes = self.notes[first..].iter().take_while(|note| note.turn == number);
        let mut lines = earlier::of_turn(self.entries_of(number));
        lines.extend(notes.map(|note| Line::note(note, prompt)));
        lines
    }

    /// Takes the lines of the turns that left from `whole`, which is this record with all of it in memory. To be done
    /// before a larger window is gone on with: what is held was enough for the block of the smaller one.
    pub fn list_again(&mut self, whole: &Self) {
        self.earlier = Earlier::default();
        for number in 1..=self.earlier_through() {
            self.earlier.extend(whole.lines_of(number));
        }
    }

    /// The last turn whose lines are in the earlier block, 0 when none is.
    pub(crate) fn earlier_through(&self) -> u32 {
        self.left_through(EntryId::at(self.literal_start(self.revision)))
    }

    /// The last turn before entry `kept_from`, where only whole turns stand before it.
    pub(crate) fn left_through(&self, kept_from: EntryId) -> u32 {
        if kept_from.index() <= INSTRUCTIONS {
            return 0;
        }
        let kept = self.entry(kept_from);
        kept.map_or(self.turn_count(), |entry| entry.turn.saturating_sub(1))
    }

    /// The first entry after turn `number`, whether or not it exists yet.
    pub(crate) fn after_turns(&self, number: u32) -> EntryId {
        let Some(turn) = self.turn(number) else {
            return EntryId(2);
        };
        EntryId::at(turn.first.index() + self.entries_of(number).len())
    }

    /// The assistant message whose calls were made last.
    pub(crate) fn latest_calls(&self) -> EntryId {
        let last = self
            .entries
            .here()
            .iter()
            .rev()
            .find(|entry| entry.kind() == crate::entry::Kind::Calls);
        last.map_or(EntryId(0), |entry| entry.id)
    }
}

impl Plan {
    fn into_condensation(self, event: Text, revision: u64, turn: u32) -> Condensation {
        Condensation {
            event,
            revision,
            turn,
            kept_from: self.kept_from,
            reason: self.reason,
            turns_before: self.turns_before,
            turns_after: self.turns_after,
            window: self.window,
            goal: self.goal,
            fill_before: self.fill_before,
            fill_after: self.fill_after,
            headroom: self.headroom,
            steps: self.steps,
            floor: self.floor,
        }
    }
}
