//! Making a record of what was read, whatever was read.
//!
//! Composing relies on a few things: numbers without gaps, revisions that only rise, turns that begin where their
//! entries do. A damaged file may break any of them, so each is set right here, and nothing later need check.

use std::collections::{BTreeMap, BTreeSet};

use crate::blocks::{Blocks, Version};
use crate::condense::Condensation;
use crate::earlier::Earlier;
use crate::entry::{Content, Cut, Entry, EntryId, Kind, Origin, Revision};
use crate::notes::{Note, Task};
use crate::record::{INSTRUCTIONS, LastUse, Rules, ThreadRecord};
use crate::tail::Tail;
use crate::text::Text;
use crate::turn::{Outcome, Turn};

use super::load::{Loss, SavedFile};

/// Entries a file may leave out between two it has. More is no gap but nonsense.
const LARGEST_GAP: u32 = 10_000;

/// The most entries a past that is lost is believed to have had.
const LARGEST_PAST: u32 = 1_000_000;

/// What was read of a record, in no particular order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) save: u64,
    pub(super) revision: Revision,
    pub(super) boundary: Option<Text>,
    pub(super) calls: u32,
    /// How many entries there should be.
    pub(super) expected: usize,
    /// How many of them are in the past.
    pub(super) away: usize,
    pub(super) entries: BTreeMap<EntryId, Entry>,
    pub(super) turns: BTreeMap<u32, Turn>,
    pub(super) condensations: Vec<Condensation>,
    pub(super) blocks: Vec<Version>,
    pub(super) notes: Vec<Note>,
    pub(super) tasks: Vec<Task>,
    /// Lines of a kind that is not known, as they stood.
    pub(super) later: Vec<String>,
    pub(super) ratios: BTreeMap<String, f64>,
    pub(super) sessions: BTreeSet<String>,
    pub(super) last_use: LastUse,
    /// The end line was there.
    pub(super) ended: bool,
}

/// A record of what was read. `None` when the instructions are not among it.
pub(super) fn rebuild(parts: Parts, losses: &mut Vec<Loss>) -> Option<ThreadRecord> {
    if parts.entries.get(&EntryId(1))?.kind() != Kind::Instructions {
        return None;
    }
    let entries = dense(parts.entries, largest_gap(parts.away));
    let calls = parts.calls.max(calls_in(&entries));
    if entries.len() < parts.expected {
        let missing = parts.expected - entries.len();
        losses.push(Loss {
            file: SavedFile::Store,
            line: 0,
            records: 0,
            what: format!("the last {missing} entries are missing"),
        });
    }
    let mut turns = parts.turns;
    let turns = turns_of(&entries, &mut turns);
    let condensations = ordered(parts.condensations, &entries);
    let last = entries.last().map_or(0, |entry| entry.revision);
    let ended = turns.iter().filter_map(|turn| turn.ended).max().unwrap_or(0);
    let applied = condensations.last().map_or(0, |done| done.revision);
    let mut record = ThreadRecord {
        revision: parts.revision.max(last).max(ended).max(applied),
        entries: Tail::of(entries, INSTRUCTIONS),
        turns: Tail::of(turns, 0),
        condensations: Tail::of(condensations, 0),
        blocks: blocks(parts.blocks),
        earlier: Earlier::default(),
        boundary: parts.boundary,
        calls,
        rules: Rules::default(),
        waiting: Vec::new(),
        notes: by_turn(parts.notes),
        tasks: parts.tasks,
        later: parts.later,
        past: 0,
        saves: parts.save,
        ratios: parts.ratios,
        sessions: parts.sessions,
        last_use: parts.last_use,
    };
    record.settle();
    Some(record)
}

/// The largest gap that is one: as large as the past, which may be lost, if that is no nonsense either.
fn largest_gap(away: usize) -> u32 {
    let away = u32::try_from(away).unwrap_or(u32::MAX);
    away.clamp(LARGEST_GAP, LARGEST_PAST)
}

/// Entries under numbers without gaps, what is missing marked lost, revisions and turns never falling.
fn dense(read: BTreeMap<EntryId, Entry>, gap: u32) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::with_capacity(read.len());
    for (id, mut entry) in read {
        let at = EntryId::at(entries.len());
        if id < at || id.0 - at.0 > gap {
            continue;
        }
        while EntryId::at(entries.len()) < id {
            entries.push(lost(&entry, entries.last(), EntryId::at(entries.len())));
        }
        let (turn, revision) = entries.last().map_or((0, 0), |last| (last.turn, last.revision));
        entry.turn = if matches!(entry.turn.checked_sub(turn), Some(0..=LARGEST_GAP)) {
            entry.turn
        } else {
            turn
        };
        entry.revision = entry.revision.max(revision);
        if entry.origin == Origin::Turn {
            entry.origin = Origin::Resumed;
        }
        check_cuts(&mut entry.content);
        entries.push(entry);
    }
    entries
}

/// Stands for an entry that is missing before `next`.
fn lost(next: &Entry, last: Option<&Entry>, id: EntryId) -> Entry {
    Entry {
        id,
        turn: last.map_or(0, |last| last.turn),
        origin: Origin::Resumed,
        time: next.time,
        sources: Vec::new(),
        revision: last.map_or(0, |last| last.revision),
        dropped: last
            .and_then(|last| last.dropped.clone())
            .filter(|_| !next.is_active()),
        content: Content::Lost,
    }
}

/// Lets go of cuts that do not lie in their reply, in order.
fn check_cuts(content: &mut Content) {
    if let Content::Reply { text, cuts, .. } = content {
        let inside = |cut: &Cut| text.get(cut.start..cut.end).is_some();
        let apart = cuts.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !apart || !cuts.iter().all(inside) {
            cuts.clear();
        }
    }
}

fn calls_in(entries: &[Entry]) -> u32 {
    let calls = entries.iter().map(|entry| match &entry.content {
        Content::Calls { calls, .. } => calls.len(),
        _ => 0,
    });
    u32::try_from(calls.sum::<usize>()).unwrap_or(u32::MAX)
}

/// One turn for each turn number that has entries, made from them where its own line is lost.
fn turns_of(entries: &[Entry], read: &mut BTreeMap<u32, Turn>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut index = entries.partition_point(|entry| entry.turn == 0);
    while index < entries.len() {
        let number = u32::try_from(turns.len()).unwrap_or(u32::MAX).saturating_add(1);
        let turn = entries[index].turn;
        let end = index + entries[index..].partition_point(|entry| entry.turn == turn);
        let own = &entries[index..end];
        if turn == number || !waits(own) {
            turns.extend((number..turn).map(|missing| empty(missing, &entries[index])));
            if end == entries.len() && waits(own) {
                break;
            }
            turns.push(turn_of(own, read.remove(&turn)));
        }
        index = end;
    }
    close_all_but_last(&mut turns, entries);
    turns
}

/// Whether entries are commands that wait for a turn which has not begun.
fn waits(entries: &[Entry]) -> bool {
    entries
        .iter()
        .all(|entry| matches!(entry.kind(), Kind::Command | Kind::Lost | Kind::Later))
}

/// A turn of which nothing is left, standing just before `next`.
fn empty(number: u32, next: &Entry) -> Turn {
    let at = next.id;
    let ended = Some(next.revision.saturating_sub(1));
    Turn {
        number,
        first: at,
        prompt: at,
        began: next.time,
        outcome: None,
        ended,
        requests: Vec::new(),
        asked: 0,
        grown: 0,
        own_lines: None,
    }
}

/// The turn its entries make, with what its own line adds.
fn turn_of(own: &[Entry], read: Option<Turn>) -> Turn {
    let first = own[0].id;
    let prompt = own
        .iter()
        .find(|entry| entry.kind() == Kind::Prompt)
        .unwrap_or(&own[0]);
    let last = own.last().map_or(0, |entry| entry.revision);
    match read {
        Some(turn) => Turn {
            number: own[0].turn,
            first,
            prompt: prompt.id,
            ..turn
        },
        None => Turn {
            first,
            ended: Some(last),
            grown: own
                .iter()
                .map(|entry| crate::message::size(entry.text().len()))
                .sum(),
            ..empty(own[0].turn, prompt)
        },
    }
}

/// Every turn but the last is over.
fn close_all_but_last(turns: &mut [Turn], entries: &[Entry]) {
    for index in 1..turns.len() {
        let next = entries
            .get(turns[index].prompt.index())
            .map_or(0, |entry| entry.revision);
        let ended = &mut turns[index - 1].ended;
        *ended = Some(ended.unwrap_or(next).min(next));
    }
}

/// Condensations that only go forward.
fn ordered(mut read: Vec<Condensation>, entries: &[Entry]) -> Vec<Condensation> {
    read.sort_by_key(|done| done.revision);
    let mut from = EntryId(2);
    read.retain(|done| {
        let forward = done.kept_from >= from && done.kept_from.index() <= entries.len();
        if forward {
            from = done.kept_from;
        }
        forward
    });
    read
}

fn by_turn(mut notes: Vec<Note>) -> Vec<Note> {
    notes.sort_by_key(|note| note.turn);
    notes
}

fn blocks(mut read: Vec<Version>) -> Blocks {
    read.sort_by_key(|version| version.revision);
    let mut blocks = Blocks::default();
    for version in read {
        blocks.set(version.place, version.revision, version.text);
    }
    blocks
}

impl ThreadRecord {
    /// What follows from the rest: the lines of turns that left, and the end of a turn that was open.
    fn settle(&mut self) {
        let through = self.earlier_through();
        for number in 1..=through.min(self.turn_count()) {
            let lines = self.lines_of(number);
            self.earlier.extend(lines);
        }
        if self.open_turn().is_some() {
            self.end_turn(Outcome::Interrupted);
        }
    }
}
