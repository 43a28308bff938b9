//! A line too long to be held, searched in pieces that overlap.

use super::matching::{Hit, Matcher};

/// What a match may reach back into when a line arrives in pieces, in bytes.
const OVERLAP: usize = 4 * 1024;

/// A line searched in pieces.
#[derive(Default)]
pub(super) struct LongLine {
    /// The end of what came before, and where in the line it starts.
    held: String,
    held_at: u64,
    /// Bytes of the line's clean view so far.
    pub(super) length: u64,
    /// The first match, its line still unknown.
    pub(super) hit: Option<Hit>,
}

impl LongLine {
    /// Adds the next piece of the line, searching it until there is a match.
    pub(super) fn add(&mut self, piece: &str, last: bool, matcher: &Matcher) {
        let fresh = self.held.len();
        self.held.push_str(piece);
        self.length += piece.len() as u64;
        if self.hit.is_none() {
            self.search(fresh, last, matcher);
        }
        let keep = self
            .held
            .floor_char_boundary(self.held.len().saturating_sub(OVERLAP));
        self.held_at += keep as u64;
        self.held.drain(..keep);
    }

    /// Looks for a match that ends before the piece does, or, in the last piece, at its end.
    fn search(&mut self, fresh: usize, last: bool, matcher: &Matcher) {
        let mut from = self.held.floor_char_boundary(fresh.saturating_sub(OVERLAP / 2));
        if from == 0 && self.held_at > 0 {
            from = self.held.ceil_char_boundary(1);
        }
        let Some(found) = matcher.find_at(&self.held, from) else {
            return;
        };
        if !last && found.end() == self.held.len() {
            return;
        }
        let start = self
            .held
            .floor_char_boundary(found.start().saturating_sub(OVERLAP / 4));
        let end = self
            .held
            .ceil_char_boundary((found.start() + OVERLAP / 4).min(self.held.len()));
        self.hit = Some(Hit {
            line: 0,
            offset: 0,
            text: self.held[start..end].to_owned(),
            text_at: self.held_at + start as u64,
            length: 0,
            found: (
                self.held_at + found.start() as u64,
                self.held_at + found.end() as u64,
            ),
        });
    }
}
