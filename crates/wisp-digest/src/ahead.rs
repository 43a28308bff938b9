//! Looking for literals ahead of the line being read.
//!
//! A line by itself is short: starting and ending a search costs as much as the search, and a line found by a search
//! for the next literal would be searched again for all of them. So the bytes of a block are searched once, many lines
//! at a time, and what was met is handed out line by line. A reader in the middle of its own block knows its lines
//! without, and they need no search: it goes as far beyond a line as lines in succession were asked about before it,
//! so that at most as much is searched for nothing as was of use.
//!
//! No literal has a line end in it, so that each lies within a line, and the order in which the search meets them is
//! the order of their lines.

use std::ops::Range;

use crate::buckets::may_follow;
use crate::literals::{Literals, Met, first_of};

/// The most bytes searched ahead of a line.
const AHEAD: usize = 1_024;
/// Bytes searched first where the next literal may be near.
const NEAR: usize = 16;

/// What was met in a block of lines, as far as it was searched.
#[derive(Debug)]
pub(crate) struct Ahead {
    triggers: &'static Literals,
    /// The next position to search.
    searched: usize,
    met: Vec<Met>,
    /// The first of them that may lie in a line to come.
    next: usize,
    /// Where the last line ended that was asked about, and where the first began of those in succession.
    asked: usize,
    since: usize,
}

impl Ahead {
    pub(crate) fn new(triggers: &'static Literals) -> Self {
        Self {
            triggers,
            searched: 0,
            met: Vec::new(),
            next: 0,
            asked: 0,
            since: 0,
        }
    }

    /// What is looked for.
    pub(crate) fn triggers(&self) -> &'static Literals {
        self.triggers
    }

    /// Begins with another block.
    pub(crate) fn begin(&mut self) {
        (self.searched, self.asked, self.since) = (0, 0, 0);
        self.forget();
    }

    fn forget(&mut self) {
        self.met.clear();
        self.next = 0;
    }

    /// The bits of all literals in a part of the line that begins there. Lines are asked about in their order, and not
    /// all need be.
    pub(crate) fn bits(&mut self, block: &[u8], line: usize, part: &Range<usize>) -> u64 {
        if line > self.asked + 2 {
            self.since = line;
        }
        self.asked = part.end;
        if part.is_empty() {
            return 0;
        }
        if part.start > line && !may_follow(block[part.start - 1]) {
            // A prefix without a blank after it: what is first now was not when the block was searched.
            return self.triggers.bits_in(block, part.clone());
        }
        self.pass_over(part.start);
        if self.searched < part.end {
            self.search(block, line, part);
            self.pass_over(part.start);
        }
        let met = self.met[self.next..]
            .iter()
            .take_while(|met| met.start < part.end)
            .filter(|met| met.start >= part.start && met.end <= part.end);
        let first = first_of(block, part);
        met.fold(0, |bits, met| bits | met.bits(first))
    }

    /// Searches the part of the line, and beyond it when the lines before it were asked about.
    fn search(&mut self, block: &[u8], line: usize, part: &Range<usize>) {
        if self.next == self.met.len() {
            self.forget();
        }
        let from = if self.searched < line {
            part.start
        } else {
            self.searched
        };
        let beyond = (line - self.since).min(AHEAD);
        let end = (part.end + beyond).min(block.len());
        self.searched = self.triggers.meet(block, from..end, &mut self.met);
    }

    /// Where the first literal begins that stands at or after a line's start.
    #[inline]
    pub(crate) fn first(&mut self, block: &[u8], line: usize) -> Option<usize> {
        if self.triggers.sure(block, &(line..block.len())) != 0 {
            return Some(line);
        }
        self.first_met(block, line)
    }

    /// The same where no sure beginning is looked for first. The literal may stand near: the search goes on in pieces
    /// that grow.
    pub(crate) fn first_met(&mut self, block: &[u8], line: usize) -> Option<usize> {
        let mut piece = NEAR;
        loop {
            self.pass_over(line);
            if let Some(met) = self.met.get(self.next) {
                return Some(met.start);
            }
            self.forget();
            let from = self.searched.max(line);
            if from >= block.len() {
                return None;
            }
            let end = (from + piece).min(block.len());
            self.searched = self.triggers.meet(block, from..end, &mut self.met);
            piece = AHEAD.min(piece * 2);
        }
    }

    fn pass_over(&mut self, line: usize) {
        while self.met.get(self.next).is_some_and(|met| met.start < line) {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::Ahead;
    use crate::cues::triggers;
    use crate::formats::FORMATS;
    use crate::literals::Literals;

    fn all() -> &'static Literals {
        static ALL: OnceLock<Literals> = OnceLock::new();
        ALL.get_or_init(|| triggers(FORMATS))
    }

    /// The lines of a block, each with its newline.
    fn lines(block: &str) -> Vec<Range<usize>> {
        let mut end = 0;
        let ends = block.split_inclusive('\n').map(|line| {
            end += line.len();
            end - line.len()..end
        });
        ends.collect()
    }

    /// A line of literals and what stands between them.
    fn line() -> impl Strategy<Value = String> {
        let literals: Vec<&str> = FORMATS
            .iter()
            .flat_map(|format| format.triggers)
            .map(|literal| literal.trim_start_matches('\n'))
            .collect();
        let word = prop_oneof![
            prop::sample::select(literals).prop_map(str::to_owned),
            "[ -~]{0,9}"
        ];
        prop::collection::vec(word, 0..5).prop_map(|words| words.concat() + "\n")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_line_has_the_literals_it_has_by_itself(
            block in prop::collection::vec(line(), 1..60),
            asked in prop::collection::vec((any::<bool>(), 0_usize..6, 0_usize..3), 60),
            stretches in 1_usize..9,
        ) {
            let block = block.concat();
            let bytes = block.as_bytes();
            let mut ahead = Ahead::new(all());
            ahead.begin();
            for (at, line) in lines(&block).into_iter().enumerate() {
                let (random, from, less) = asked[at];
                if random && at / stretches % 2 == 1 {
                    continue;
                }
                let end = line.end - 1;
                let part = (line.start + from).min(end)..end;
                let part = part.start..part.end.saturating_sub(less).max(part.start);
                let alone = all().bits_in(bytes, part.clone());
                prop_assert_eq!(ahead.bits(bytes, line.start, &part), alone, "{:?}", &block[part]);
            }
        }

        #[test]
        fn the_first_literal_is_in_the_first_line_that_has_one(block in prop::collection::vec(line(), 1..60)) {
            let block = block.join("neither here nor there\n");
            let bytes = block.as_bytes();
            let mut ahead = Ahead::new(all());
            ahead.begin();
            let lines = lines(&block);
            let mut left = &lines[..];
            while let Some(first) = left.first() {
                let with = left.iter().position(|line| all().any(&bytes[line.clone()]));
                let found = ahead.first(bytes, first.start);
                let at = found.and_then(|found| left.iter().position(|line| line.contains(&found)));
                prop_assert_eq!(at, with);
                let passed = with.map_or(left.len(), |at| at + 1);
                left = &left[passed..];
            }
        }
    }
}
