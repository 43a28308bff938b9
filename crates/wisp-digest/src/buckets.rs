//! Where a literal is looked for once the scan of [`crate::literals`] has met one of its grams.
//!
//! The first three bytes of a gram are hashed into a table of marks, whose bits say which fourth bytes may follow. Only
//! what is marked is looked up in the buckets.

use crate::frames::Entry;
use crate::grams::rarest;

/// Hashes of three bytes that are told apart.
pub(crate) const MARKS: usize = 1 << 16;
/// Buckets, a few for each entry.
const BUCKETS: usize = 1 << 13;
/// What three bytes are multiplied by for their hash.
const FACTOR: u32 = 0x9E37_79B1;

/// What the scan meets of a literal at a position, as far as the literal says it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gram {
    /// Four of its bytes.
    Four(u32),
    /// Its last three bytes.
    Three(u32),
}

/// Whether a line's first byte that is no blank may follow this one: a line end, indentation, the end of a prefix or
/// of an escape sequence that is not taken off yet.
#[inline]
pub(crate) fn may_follow(byte: u8) -> bool {
    !matches!(byte, b'a'..=b'l' | b'n'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/')
}

/// The entries, by their grams.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Where the entries of a bucket begin; they end where those of the next one begin.
    starts: Box<[u16; BUCKETS + 1]>,
    entries: Vec<Entry>,
}

impl Buckets {
    /// Puts the entries, at most 65,535, in the order of their buckets by counting how many each has.
    pub(crate) fn new(entries: &[(Gram, Entry)]) -> Self {
        let mut starts = boxed();
        for (gram, _) in entries {
            starts[gram.bucket()] += 1;
        }
        let mut end = 0;
        for start in &mut *starts {
            end += *start;
            *start = end;
        }
        let mut sorted = vec![Entry::default(); entries.len()];
        for (gram, entry) in entries {
            let start = &mut starts[gram.bucket()];
            *start -= 1;
            sorted[usize::from(*start)] = *entry;
        }
        Self {
            starts,
            entries: sorted,
        }
    }

    /// The entries whose grams begin with the three bytes that this frame's does.
    #[inline]
    pub(crate) fn near(&self, frame: u64) -> &[Entry] {
        let bucket = Gram::Four(gram_of(frame)).bucket();
        &self.entries[usize::from(self.starts[bucket])..usize::from(self.starts[bucket + 1])]
    }
}

impl Gram {
    #[inline]
    fn bucket(self) -> usize {
        let (Self::Four(gram) | Self::Three(gram)) = self;
        hash(gram) / (MARKS / BUCKETS)
    }

    /// Which bytes may follow the first three.
    fn mark(self) -> u8 {
        match self {
            Self::Four(gram) => CLASSES[(gram >> 24) as usize],
            Self::Three(_) => u8::MAX,
        }
    }
}

/// So many zeros.
fn boxed<T: Clone + Default + std::fmt::Debug, const SIZE: usize>() -> Box<[T; SIZE]> {
    vec![T::default(); SIZE]
        .into_boxed_slice()
        .try_into()
        .expect("there are as many as the type says")
}

/// Which bytes may follow the three that have a hash, a bit for each of eight classes of them.
pub(crate) fn marks(grams: &[(Gram, Entry)]) -> Box<[u8; MARKS]> {
    let mut marks: Box<[u8; MARKS]> = boxed();
    for (gram, _) in grams {
        let (Gram::Four(three) | Gram::Three(three)) = gram;
        marks[hash(*three)] |= gram.mark();
    }
    marks
}

/// The class of the fourth byte. Of such mixtures of its bits this one leaves the fewest marks in logs that no literal
/// has made.
#[inline]
const fn class(gram: u32) -> u32 {
    (gram >> 24 ^ gram >> 27) & 7
}

/// The same of any byte, as a bit.
pub(crate) static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u32;
    while byte < 256 {
        classes[byte as usize] = 1 << class(byte << 24);
        byte += 1;
    }
    classes
};

/// The three low bytes to sixteen bits; the highest byte is multiplied away.
#[inline]
pub(crate) fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(FACTOR << 8) >> 16) as usize
}

/// The gram in the middle of a frame.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "four bytes are meant")]
fn gram_of(frame: u64) -> u32 {
    (frame >> 16) as u32
}

/// At most four bytes in one number, the first the lowest.
fn packed(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |packed, byte| packed << 8 | u32::from(*byte))
}

/// Adds what a literal is known by: whether the position of its first byte is even or odd, the scan meets one of them.
pub(crate) fn grams_of(bytes: &[u8], literal: u16, grams: &mut Vec<(Gram, Entry)>) {
    let first = rarest(bytes);
    for at in [first, first + 1] {
        let gram = packed(&bytes[at..bytes.len().min(at + 4)]);
        let gram = if at + 4 <= bytes.len() {
            Gram::Four(gram)
        } else {
            Gram::Three(gram)
        };
        let offset = u16::try_from(at).unwrap_or(u16::MAX);
        grams.push((gram, Entry::new(bytes, literal, offset)));
    }
}
