//! A conversation as it was before one of its turns, to go another way from there.
//!
//! Everything in a record has the revision at which it came into force, so what it was is found by leaving out what came
//! later: the next request of the fork is, byte for byte, the one that was sent at that moment.

use crate::earlier::Earlier;
use crate::entry::{Content, Entry};
use crate::record::ThreadRecord;
use crate::tail::Tail;

impl ThreadRecord {
    /// A copy of the record as it was just before the prompt of turn `number`, commands typed before that prompt
    /// included. None when there is no such turn, or when not all of the record is in memory.
    #[must_use]
    pub fn before_turn(&self, number: u32) -> Option<Self> {
        let turn = self.turn(number).filter(|_| self.is_whole())?;
        let until = self.entry(turn.prompt)?.revision - 1;
        let mut fork = self.clone();
        let entries = self.entries.range(0..turn.prompt.index()).iter();
        let entries: Vec<Entry> = entries.map(|entry| entry.as_of(until)).collect();
        fork.entries = Tail::of(entries, crate::record::INSTRUCTIONS);
        let turns = self.turns.here().iter().filter(|one| one.number < number);
        fork.turns = Tail::of(turns.cloned().collect(), 0);
        let condensations = self.condensations.here().iter();
        let made = condensations.filter(|one| one.revision <= until).cloned();
        fork.condensations = Tail::of(made.collect(), 0);
        fork.blocks.take_back_to(until);
        fork.revision = until;
        fork.waiting.clear();
        fork.notes.retain(|note| note.turn < number);
        fork.tasks.retain(|task| task.turn < number);
        fork.saves = 0;
        if number == 1 {
            fork.last_use.first = None;
        }
        fork.earlier = Earlier::default();
        for left in 1..=fork.earlier_through() {
            let lines = fork.lines_of(left);
            fork.earlier.extend(lines);
        }
        Some(fork)
    }

    /// What the user wrote of the prompt of turn `number`: what wisp put below it (files, notices) left out. None when
    /// there is no such turn, or its prompt is not in memory.
    pub fn own_words(&self, number: u32) -> Option<String> {
        let turn = self.turn(number)?;
        let text = self.entry(turn.prompt)?.text();
        let lines = turn.own_lines.map_or(usize::MAX, |lines| lines as usize);
        Some(text.split('\n').take(lines).collect::<Vec<_>>().join("\n"))
    }

    /// Says that of the prompt of the turn under way only its first lines are the user's own words.
    pub fn set_own_lines(&mut self, lines: u32) {
        if let Some(turn) = self.turns.last_mut() {
            turn.own_lines = Some(lines);
        }
    }
}

impl Entry {
    /// The entry with the marks it had at `revision`.
    fn as_of(&self, revision: u64) -> Self {
        let mut entry = self.clone();
        entry.dropped = entry.dropped.filter(|mark| mark.revision <= revision);
        match &mut entry.content {
            Content::Output(output) => {
                output.reference = output.reference.take().filter(|mark| mark.revision <= revision);
            }
            Content::Reply {
                cuts, cut_revision, ..
            } if *cut_revision > revision => {
                cuts.clear();
                *cut_revision = 0;
            }
            _ => {}
        }
        entry
    }
}
