//! What is printed, read and pasted: texts without a digit, from a seed, and the acts that a conversation is made of.

use proptest::prelude::*;

/// What something printed, or what a file or a message holds: two streams, of which the second may be empty.
#[derive(Debug, Clone, Default)]
pub struct Thing {
    pub out: String,
    pub err: String,
    pub exit: u8,
}

impl Thing {
    /// The lines as they are numbered: stdout's, then stderr's.
    pub fn lines(&self) -> Vec<&str> {
        self.out.lines().chain(self.err.lines()).collect()
    }

    pub fn bytes(&self) -> usize {
        self.out.len() + self.err.len()
    }

    /// Bytes of some lines, their newlines included where they have one.
    pub fn bytes_of(&self, from: usize, to: usize) -> usize {
        let all = self
            .out
            .split_inclusive('\n')
            .chain(self.err.split_inclusive('\n'));
        all.skip(from - 1).take(to + 1 - from).map(str::len).sum()
    }
}

/// What something prints, by a seed: so many lines, the last of them ended or not. It is said in short when a test
/// fails, which the text itself would not be.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    seed: u64,
    lines: usize,
    ended: bool,
}

impl Stream {
    pub fn text(self) -> String {
        let mut random = Random(self.seed);
        let lines: Vec<String> = (0..self.lines).map(|_| random.line()).collect();
        let text = lines.join("\n");
        if self.ended && !text.is_empty() {
            text + "\n"
        } else {
            text
        }
    }
}

/// Numbers from a seed: a linear congruence, whose high bits are good enough for lines of text.
struct Random(u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    pub fn word(&mut self, letters: &str, length: u64) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..length)
            .map(|_| letters[usize::try_from(self.below(letters.len() as u64)).unwrap()])
            .collect()
    }

    pub fn line(&mut self) -> String {
        const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
        match self.below(200) {
            0..18 => String::new(),
            18..36 => "stderr:".to_owned(),
            36..54 => "error: it broke".to_owned(),
            54..58 => {
                let length = 200 + self.below(700);
                self.word("abcdefghijklmnopqrstuvwxyzé漢", length)
            }
            _ => {
                let length = 1 + self.below(30);
                self.word(LETTERS, length)
            }
        }
    }
}

pub fn stream() -> impl Strategy<Value = Stream> {
    let lines = prop_oneof![3 => 0..6_usize, 3 => 0..400_usize, 1 => 2_000..4_000_usize];
    (any::<u64>(), lines, any::<bool>()).prop_map(|(seed, lines, ended)| Stream { seed, lines, ended })
}

/// A command: what it prints to its two streams, and its exit status.
#[derive(Debug, Clone, Copy)]
pub struct Prints(Stream, Stream, u8);

impl Prints {
    pub fn thing(self) -> Thing {
        Thing {
            out: self.0.text(),
            err: self.1.text(),
            exit: self.2,
        }
    }
}

/// One thing that is done in a conversation.
#[derive(Debug, Clone)]
pub enum Act {
    /// The model calls commands in one reply.
    Batch(Vec<Prints>),
    /// The model reads a file.
    Read(Stream),
    /// The model asks `memory` about the output at this place among those it was shown; the verb is by number.
    Recall(usize, u8),
    /// The person types a command.
    Typed(Prints),
    /// The person pastes a text.
    Paste(Stream),
    /// The person looks at an output: `/show`, `/last`, `/summarise`, `/outputs`, pages of it.
    Look(usize, u8),
}

pub fn act() -> impl Strategy<Value = Act> {
    let exit = || prop_oneof![Just(0_u8), Just(1), Just(7)];
    let command = || (stream(), stream(), exit()).prop_map(|(out, err, exit)| Prints(out, err, exit));
    prop_oneof![
        3 => proptest::collection::vec(command(), 1..4).prop_map(Act::Batch),
        1 => stream().prop_map(Act::Read),
        4 => (any::<usize>(), any::<u8>()).prop_map(|(at, verb)| Act::Recall(at, verb)),
        2 => command().prop_map(Act::Typed),
        1 => stream().prop_map(Act::Paste),
        3 => (any::<usize>(), any::<u8>()).prop_map(|(at, how)| Act::Look(at, how)),
    ]
}
