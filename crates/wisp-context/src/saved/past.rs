//! The past: what has left the context, in a file that only grows.
//!
//! A turn must not cost the more the longer the conversation is, neither to save nor to hold. What a condensation
//! dropped never changes again, so it is appended to `<name>.past` once; from then on the store names how many bytes
//! of that file are its own and leaves those entries out, and memory lets go of them. What stands behind those bytes
//! was written by a save that never came to its end, and the next save writes over it.

use crate::entry::{Entry, EntryId, Revision};
use crate::record::{INSTRUCTIONS, ThreadRecord};

use super::masked::Mask;
use super::{Files, Lines, salvage};

/// The latest turns stay in memory whether or not they left: their sizes are what the headroom is the mean of.
const TURNS_HERE: usize = 64;

/// Up to where a save hands what left to the past, each as a place in the whole list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) entries: usize,
    pub(crate) turns: usize,
    pub(crate) condensations: usize,
    /// Versions of blocks that another took the place of by then.
    pub(crate) revision: Revision,
    /// Notes, and versions of the task but the last, of turns up to this one.
    pub(crate) turn: u32,
}

impl ThreadRecord {
    /// Whether all of it is in memory.
    pub fn is_whole(&self) -> bool {
        self.past == 0
    }

    /// Bytes of the file of the past that belong to the record; 0 while it is whole.
    pub fn past_bytes(&self) -> u64 {
        self.past
    }

    /// Whether the view at `revision` can be composed from what is in memory.
    pub(crate) fn holds(&self, revision: Revision) -> bool {
        self.is_whole() || self.literal_start(revision) >= self.entries.away() + INSTRUCTIONS
    }

    /// Lets go of what a save handed to the past. Call it once all files of that save are in place.
    pub fn put_away(&mut self, saved: &Files) {
        let marks = saved.marks;
        self.entries.put_away(marks.entries);
        self.turns.put_away(marks.turns);
        self.condensations.put_away(marks.condensations);
        self.blocks.let_go(marks.revision);
        self.notes.retain(|note| note.turn > marks.turn);
        let older = self.older_tasks(marks.turn);
        self.tasks.drain(..older);
        self.past = saved.past_at + crate::message::size(saved.past.len());
    }

    /// The record with all of it in memory again, given the bytes of its past. None when they are not that.
    #[must_use]
    pub fn rejoined(&self, past: &[u8]) -> Option<Self> {
        let mut whole = self.clone();
        if self.is_whole() {
            return Some(whole);
        }
        let past = past.get(..usize::try_from(self.past).ok()?)?;
        let read = salvage::read_past(past);
        if !read.losses.is_empty() {
            return None;
        }
        let parts = read.parts;
        let entries: Vec<Entry> = parts.entries.into_values().collect();
        let mut numbered = entries.iter().zip(INSTRUCTIONS..);
        if !numbered.all(|(entry, at)| entry.id == EntryId::at(at)) {
            return None;
        }
        whole.entries = whole.entries.rejoined(entries)?;
        whole.turns = whole.turns.rejoined(parts.turns.into_values().collect())?;
        whole.condensations = whole.condensations.rejoined(parts.condensations)?;
        whole.blocks = whole.blocks.with_older(parts.blocks);
        whole.notes.splice(0..0, parts.notes);
        whole.tasks.splice(0..0, parts.tasks);
        whole.past = 0;
        Some(whole)
    }

    /// Up to where a save may hand things to the past: up to the first turn that is still sent.
    pub(super) fn marks(&self) -> Marks {
        let kept_from = EntryId::at(self.literal_start(self.revision));
        let turn = self.left_through(kept_from);
        let left = usize::try_from(turn).unwrap_or(0);
        Marks {
            entries: kept_from.index(),
            turns: left.min(self.turns.len().saturating_sub(TURNS_HERE)),
            condensations: self.condensations.len().saturating_sub(1),
            revision: self.condensations.last().map_or(0, |done| done.revision),
            turn,
        }
    }

    /// The lines the past is to grow by.
    pub(super) fn past_lines(&self, marks: &Marks, mask: Mask<'_>) -> Vec<u8> {
        let mut out = Lines {
            mask,
            ..Lines::default()
        };
        out.add("entry", self.entries.until(marks.entries));
        out.add("turn", self.turns.until(marks.turns));
        out.add("condensation", self.condensations.until(marks.condensations));
        out.add("block", &self.blocks.older(marks.revision));
        let notes = self.notes.iter().take_while(|note| note.turn <= marks.turn);
        out.add("note", notes);
        out.add("task", &self.tasks[..self.older_tasks(marks.turn)]);
        out.bytes
    }

    /// How many versions of the task are of turns up to `turn`, the last one never counted.
    pub(super) fn older_tasks(&self, turn: u32) -> usize {
        if turn == 0 {
            return 0;
        }
        let older = self.tasks.iter().take_while(|task| task.turn <= turn).count();
        older.min(self.tasks.len().saturating_sub(1))
    }
}
