//! Many blocks sought at once in a stream of lines (Aho–Corasick, with whole lines for letters).

use std::collections::HashMap;

use super::lines::Lines;
use crate::message::size;

/// A line that no block has.
const OTHER: u32 = u32::MAX;

/// An automaton over the lines of a reply's blocks. Built once, it reads any number of outputs.
#[derive(Debug)]
pub(super) struct Search {
    /// The letter of each line that some block has.
    letters: HashMap<Vec<u8>, u32>,
    /// The trie: where a state goes on a letter.
    next: HashMap<(u32, u32), u32>,
    /// Per state: where to go on when a letter does not fit.
    fail: Vec<u32>,
    /// Per state: the nearest state along `fail` at which a block ends.
    shorter: Vec<u32>,
    /// Per state: the blocks that end there.
    ends: Vec<Vec<usize>>,
    /// How many blocks there are.
    blocks: usize,
    /// Longest line of any block.
    longest: usize,
    numbers: bool,
    /// What building it and every scan took: bytes read, bytes of lines looked up, and moves from state to state.
    work: u64,
}

impl Search {
    /// An automaton for `blocks`, each a list of normalised lines. A block without lines is never found.
    pub(super) fn new(blocks: impl Iterator<Item = Vec<Vec<u8>>>, numbers: bool) -> Self {
        let mut search = Self {
            letters: HashMap::new(),
            next: HashMap::new(),
            fail: vec![0],
            shorter: vec![0],
            ends: vec![Vec::new()],
            blocks: 0,
            longest: 0,
            numbers,
            work: 0,
        };
        let mut children = vec![Vec::new()];
        for block in blocks {
            search.add(block, &mut children);
        }
        search.link(&children);
        search
    }

    fn add(&mut self, block: Vec<Vec<u8>>, children: &mut Vec<Vec<(u32, u32)>>) {
        let mut state = 0;
        let filled = !block.is_empty();
        for line in block {
            self.work += size(line.len()) + 1;
            self.longest = self.longest.max(line.len());
            let fresh = u32::try_from(self.letters.len()).unwrap_or(OTHER);
            let letter = *self.letters.entry(line).or_insert(fresh);
            state = match self.next.get(&(state, letter)) {
                Some(&next) => next,
                None => self.grow(state, letter, children),
            };
        }
        if filled {
            self.ends[index(state)].push(self.blocks);
        }
        self.blocks += 1;
    }

    fn grow(&mut self, state: u32, letter: u32, children: &mut Vec<Vec<(u32, u32)>>) -> u32 {
        let fresh = u32::try_from(self.fail.len()).unwrap_or(OTHER);
        self.next.insert((state, letter), fresh);
        self.fail.push(0);
        self.shorter.push(0);
        self.ends.push(Vec::new());
        children[index(state)].push((letter, fresh));
        children.push(Vec::new());
        fresh
    }

    /// Sets the failure links, nearest states first.
    fn link(&mut self, children: &[Vec<(u32, u32)>]) {
        let mut queue: std::collections::VecDeque<u32> = std::iter::once(0).collect();
        while let Some(state) = queue.pop_front() {
            for &(letter, child) in &children[index(state)] {
                let fail = if state == 0 {
                    0
                } else {
                    let mut moves = 0;
                    let fail = self.step(self.fail[index(state)], letter, &mut moves);
                    self.work += moves;
                    fail
                };
                self.fail[index(child)] = fail;
                let ended = !self.ends[index(fail)].is_empty();
                self.shorter[index(child)] = if ended { fail } else { self.shorter[index(fail)] };
                queue.push_back(child);
            }
        }
    }

    /// Where `state` goes on `letter`; adds to `moves` the states that were tried.
    fn step(&self, mut state: u32, letter: u32, moves: &mut u64) -> u32 {
        loop {
            *moves += 1;
            if let Some(&next) = self.next.get(&(state, letter)) {
                return next;
            }
            if state == 0 {
                return 0;
            }
            state = self.fail[index(state)];
        }
    }

    /// Which blocks the streamed text has, line after line.
    pub(super) fn scan<'a>(&mut self, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<bool> {
        let mut found = vec![false; self.blocks];
        let mut seen = vec![false; self.ends.len()];
        let (mut state, mut moves, mut read) = (0, 0, 0);
        let mut each = |line: &[u8]| {
            let letter = self.letters.get(line).copied().unwrap_or(OTHER);
            moves += size(line.len());
            state = if letter == OTHER {
                0
            } else {
                self.step(state, letter, &mut moves)
            };
            self.mark(state, (&mut seen, &mut found), &mut moves);
        };
        // A table row shrinks when its bars go, by less than four times.
        let mut lines = Lines::new(self.numbers, self.longest.saturating_mul(4).saturating_add(64));
        for chunk in chunks {
            read += size(chunk.len());
            lines.feed(chunk, &mut each);
        }
        lines.finish(&mut each);
        self.work += read + moves;
        found
    }

    /// What building it and every scan took, in bytes and moves.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// Notes every block that ends at `state`; each state once, so all of it stays linear.
    fn mark(&self, mut state: u32, (seen, found): (&mut [bool], &mut [bool]), moves: &mut u64) {
        *moves += 1;
        while state != 0 && !std::mem::replace(&mut seen[index(state)], true) {
            *moves += 1 + size(self.ends[index(state)].len());
            for &block in &self.ends[index(state)] {
                found[block] = true;
            }
            state = self.shorter[index(state)];
        }
    }
}

fn index(state: u32) -> usize {
    usize::try_from(state).unwrap_or(usize::MAX)
}
