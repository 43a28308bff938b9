//! One entry or one turn of the past, read from where it stands: what it costs does not grow with the rest.
//!
//! The numbers of entries and of turns only rise from line to line, so the place is found by halving.

use std::io;

use crate::entry::Entry;
use crate::message::size;
use crate::recall::{Recalled, Wanted};
use crate::record::ThreadRecord;

use super::Line;

/// Bytes that are read at once.
const BLOCK: u64 = 16 * 1024;
/// What a line of an entry begins with.
const ENTRY: &str = "{\"entry\":{\"id\":";
/// What stands between an entry's number and its turn's.
const TURN: &str = ",\"turn\":";

/// Reads bytes of the past from an offset on; fewer than asked for only at its end.
pub type ReadAt<'a> = &'a mut dyn FnMut(u64, &mut [u8]) -> io::Result<usize>;

impl ThreadRecord {
    /// Recalls an entry or a turn that was put away, given a way to read its past. `None` when it is not one of these, is
    /// not there or cannot be read, which the record read back whole says more of.
    pub fn recall_from(&self, wanted: &Wanted, read: ReadAt<'_>) -> Option<Recalled> {
        let mut past = Past {
            read,
            end: self.past_bytes(),
        };
        match wanted {
            Wanted::Entry(id) => {
                let entries = past.entries(|at| (at.entry, id.0)).ok()??;
                entries
                    .iter()
                    .find(|entry| entry.id == *id)
                    .map(Self::recalled_entry)
            }
            Wanted::Turn(number) => {
                let entries = past.entries(|at| (at.turn, *number)).ok()??;
                Self::recalled_turn(*number, &entries)
            }
            Wanted::Task | Wanted::Words(_) => None,
        }
    }
}

/// The numbers a line of an entry begins with.
#[derive(Clone, Copy)]
struct At {
    entry: u32,
    turn: u32,
}

impl At {
    /// The numbers at the beginning of a line; none when it is no entry's.
    fn of(line: &[u8]) -> Option<Self> {
        let head = &line[..line.len().min(64)];
        let head = std::str::from_utf8(head)
            .unwrap_or_else(|e| std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default());
        let (entry, rest) = number(head.strip_prefix(ENTRY)?)?;
        let (turn, _) = number(rest.strip_prefix(TURN)?)?;
        Some(Self { entry, turn })
    }
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..end].parse().ok()?, &text[end..]))
}

struct Past<'a> {
    read: ReadAt<'a>,
    end: u64,
}

impl Past<'_> {
    /// The entries for which both numbers that `of` gives are the same, in order; none when a line of them cannot be read.
    fn entries(&mut self, of: impl Fn(At) -> (u32, u32)) -> io::Result<Option<Vec<Entry>>> {
        let (mut from, mut to) = (0, self.end);
        while to - from > BLOCK {
            let middle = from + (to - from) / 2;
            match self.first_after(middle, to)? {
                Some((start, at)) if of(at).0 < of(at).1 => from = start,
                _ => to = middle,
            }
        }
        let mut found = Vec::new();
        let mut at = from;
        while at < self.end {
            let line = self.line(at)?;
            at += size(line.len()) + 1;
            let Some(numbers) = At::of(&line) else { continue };
            let (here, wanted) = of(numbers);
            if here > wanted {
                break;
            }
            if here == wanted {
                let Ok(Line::Entry(entry)) = serde_json::from_slice(&line) else {
                    return Ok(None);
                };
                found.push(*entry);
            }
        }
        Ok(Some(found))
    }

    /// The first line of an entry that begins behind `middle` and before `to`.
    fn first_after(&mut self, middle: u64, to: u64) -> io::Result<Option<(u64, At)>> {
        let mut start = middle + size(self.line(middle)?.len()) + 1;
        while start < to {
            if let Some(at) = At::of(&self.bytes(start, 64)?) {
                return Ok(Some((start, at)));
            }
            start += size(self.line(start)?.len()) + 1;
        }
        Ok(None)
    }

    /// What stands from `from` up to the end of its line.
    fn line(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            let block = self.bytes(from + size(line.len()), BLOCK)?;
            if let Some(end) = block.iter().position(|&byte| byte == b'\n') {
                line.extend(&block[..end]);
                return Ok(line);
            }
            if block.is_empty() {
                return Ok(line);
            }
            line.extend(&block);
        }
    }

    /// At most `most` bytes from `from` on.
    fn bytes(&mut self, from: u64, most: u64) -> io::Result<Vec<u8>> {
        let most = most.min(self.end.saturating_sub(from));
        let mut bytes = vec![0; usize::try_from(most).unwrap_or(0)];
        let count = (self.read)(from, &mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    }
}
