//! What each part of the next request costs, turn by turn.

use std::collections::HashSet;

use crate::entry::EntryId;
use crate::message::{PartKind, Request, size};
use crate::record::ThreadRecord;
use crate::reference;
use crate::text::Text;

/// An output that could become a reference.
#[derive(Debug, Clone)]
pub(super) struct Referable {
    pub(super) entry: EntryId,
    pub(super) text: Text,
    /// Bytes that would save.
    pub(super) saves: u64,
}

/// One literal turn that is over.
#[derive(Debug, Clone)]
pub(super) struct LiteralTurn {
    pub(super) number: u32,
    pub(super) bytes: u64,
    /// Its outputs that are still whole.
    pub(super) whole: Vec<Referable>,
}

impl LiteralTurn {
    /// Its bytes once its outputs are references.
    pub(super) fn referenced_bytes(&self) -> u64 {
        // A file that was damaged may say more of an output than its turn sends.
        self.bytes
            .saturating_sub(self.whole.iter().map(|output| output.saves).sum::<u64>())
    }
}

/// The next request's bytes, by what could be done about them.
#[derive(Debug, Clone, Default)]
pub(super) struct Sizes {
    /// Instructions and blocks other than the earlier lines: never touched here.
    pub(super) fixed: u64,
    /// The earlier lines as they stand.
    pub(super) earlier: u64,
    /// Turns that are over, oldest first.
    pub(super) turns: Vec<LiteralTurn>,
    /// The turn under way, or commands that wait for the next.
    pub(super) open: u64,
    /// Outputs of the turn under way that could become references if all else fails, oldest first.
    pub(super) open_whole: Vec<Referable>,
}

impl Sizes {
    pub(super) fn of(record: &ThreadRecord, request: &Request) -> Self {
        let mut sizes = Self::default();
        let open = record
            .open_turn()
            .map_or(record.turn_count() + 1, |turn| turn.number);
        let mut current = open;
        for part in &request.parts {
            let entry = part.entry.and_then(|id| record.entry(id));
            match (part.kind, entry) {
                (PartKind::Earlier, _) => sizes.earlier += part.bytes,
                (PartKind::Instructions | PartKind::Facts | PartKind::Summary, _) => {
                    sizes.fixed += part.bytes;
                }
                (PartKind::Now, _) => sizes.open += part.bytes,
                (_, entry) => {
                    current = entry.map_or(current, |entry| entry.turn);
                    sizes.add(current, open, part.bytes);
                }
            }
        }
        let sent = request.parts.iter().filter(|part| part.kind == PartKind::Output);
        sizes.find_whole(record, open, &sent.filter_map(|part| part.entry).collect());
        sizes
    }

    fn add(&mut self, turn: u32, open: u32, bytes: u64) {
        if turn >= open {
            self.open += bytes;
            return;
        }
        match self.turns.last_mut() {
            Some(last) if last.number == turn => last.bytes += bytes,
            _ => self.turns.push(LiteralTurn {
                number: turn,
                bytes,
                whole: Vec::new(),
            }),
        }
    }

    /// Finds which of the outputs that are sent whole could become references, where the rules have references at all.
    fn find_whole(&mut self, record: &ThreadRecord, open: u32, sent: &HashSet<EntryId>) {
        if !record.rules.references {
            return;
        }
        for turn in &mut self.turns {
            turn.whole = referable(record, turn.number, sent);
        }
        self.open_whole = referable(record, open, sent);
        let latest = record.latest_calls();
        self.open_whole.retain(|output| output.entry < latest);
    }
}

fn referable(record: &ThreadRecord, turn: u32, sent: &HashSet<EntryId>) -> Vec<Referable> {
    let mut texts = reference::texts(record.entries_of(turn), record.rules.memory);
    texts.retain(|(entry, _)| sent.contains(entry));
    let saved = |id: EntryId, text: &Text| {
        let shown = record
            .entry(id)
            .and_then(|entry| entry.output())
            .map_or(0, |output| output.shown.len());
        size(shown.saturating_sub(text.len()))
    };
    texts
        .into_iter()
        .map(|(entry, text)| Referable {
            entry,
            saves: saved(entry, &text),
            text,
        })
        .collect()
}
