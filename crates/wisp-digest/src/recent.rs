//! The few lines before the current one, for a failure whose cause no reader knows: they may tell it.

use crate::clean::clean;
use crate::digest::Quote;
use crate::limits;
use crate::line::cut;
use crate::prefix;

const KEPT: usize = 4;
/// How near a line is that may tell a cause.
const NEAR: u64 = 3;
const BYTES: usize = 512;

/// A ring of raw lines. Cleaned only when asked for.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    ring: [(u64, Vec<u8>); KEPT],
    /// The oldest, which the next line takes the place of.
    oldest: usize,
}

impl Recent {
    /// Adds a line, dropping the oldest.
    pub(crate) fn add(&mut self, number: u64, raw: &[u8]) {
        let (at, bytes) = &mut self.ring[self.oldest];
        *at = number;
        bytes.clear();
        bytes.extend_from_slice(&raw[..raw.len().min(BYTES)]);
        self.oldest = (self.oldest + 1) % KEPT;
    }

    /// Adds the last lines of a stretch of whole lines, whose last has the number `last`.
    pub(crate) fn add_last_of(&mut self, passed: &[u8], last: u64) {
        let mut end = passed.len();
        let mut found: [&[u8]; KEPT] = [&[]; KEPT];
        let mut lines = 0;
        while end > 0 && lines < KEPT {
            let start = memchr::memrchr(b'\n', &passed[..end - 1]).map_or(0, |at| at + 1);
            found[lines] = &passed[start..end - 1];
            lines += 1;
            end = start;
        }
        for (back, raw) in found[..lines].iter().enumerate().rev() {
            self.add(last.saturating_sub(back as u64), raw);
        }
    }

    /// The lines just before `number`, blank ones left out.
    pub(crate) fn before(&self, number: u64) -> Vec<Quote> {
        let (newer, older) = self.ring.split_at(self.oldest);
        let near = older
            .iter()
            .chain(newer)
            .filter(|(at, _)| *at < number && at + NEAR >= number);
        near.filter_map(|(at, raw)| quote(*at, raw)).collect()
    }

    /// The line with this number, if it is one of the last four and not blank.
    pub(crate) fn at(&self, number: u64) -> Option<Quote> {
        let (at, raw) = self.ring.iter().find(|(at, _)| *at == number)?;
        quote(*at, raw)
    }
}

fn quote(line: u64, raw: &[u8]) -> Option<Quote> {
    let text = clean(raw);
    let text = cut(prefix::split(&text).written(), limits::QUOTE);
    (!text.is_empty()).then(|| Quote {
        line,
        text: text.to_owned(),
    })
}
