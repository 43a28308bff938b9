//! Where a literal is looked for once the scan of [`crate::literals`] has met one of its grams.
//!
//! The first three bytes of a gram are hashed into a table of marks, whose bits say which fourth bytes may follow. Only
//! what is marked is looked up in the buckets.

use crate::frames::Entry;

/// Hashes of three bytes that are told apart.
pub(crate) const MARKS: usize = 1 << 16;
/// Buckets, a few for each entry.
const BUCKETS: usize = 1 << 13;
/// What three bytes are multiplied by for their hash.
const FACTOR: u32 = 0x9E37_79B1;

/// Whether a line's first byte that is no blank may follow this one.
#[inline]
pub(crate) fn may_follow(byte: u8) -> bool {
    matches!(byte, b'\n' | b' ' | b'\t' | b']' | b'+' | b':')
}

/// The entries, by the hash of the first three bytes of their grams and the class of the fourth.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Where the entries of a bucket begin; they end where those of the next one begin.
    starts: Box<[u32; BUCKETS + 1]>,
    entries: Vec<Entry>,
}

impl Buckets {
    /// Puts the entries in the order of their buckets by counting how many each has.
    pub(crate) fn new(entries: &[(u32, Entry)]) -> Self {
        let mut starts = boxed();
        for (gram, _) in entries {
            starts[bucket(*gram)] += 1;
        }
        let mut end = 0;
        for start in &mut *starts {
            end += *start;
            *start = end;
        }
        let mut sorted = vec![Entry::default(); entries.len()];
        for (gram, entry) in entries {
            let start = &mut starts[bucket(*gram)];
            *start -= 1;
            sorted[*start as usize] = *entry;
        }
        Self {
            starts,
            entries: sorted,
        }
    }

    /// The entries that this gram may be of.
    #[inline]
    pub(crate) fn near(&self, gram: u32) -> &[Entry] {
        let bucket = bucket(gram);
        &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

#[inline]
fn bucket(gram: u32) -> usize {
    (hash(gram) / (MARKS / BUCKETS)) ^ (class(gram) as usize * (BUCKETS / 8))
}

/// So many zeros.
fn boxed<T: Clone + Default + std::fmt::Debug, const SIZE: usize>() -> Box<[T; SIZE]> {
    vec![T::default(); SIZE]
        .into_boxed_slice()
        .try_into()
        .expect("there are as many as the type says")
}

/// Which bytes may follow the three that have a hash, a bit for each of eight classes of them.
pub(crate) fn marks(grams: &[(u32, Entry)]) -> Box<[u8; MARKS]> {
    let mut marks: Box<[u8; MARKS]> = boxed();
    for (gram, _) in grams {
        marks[hash(*gram)] |= CLASSES[(gram >> 24) as usize];
    }
    marks
}

/// The class of the fourth byte. Of such mixtures of its bits this one leaves the fewest marks in logs that no literal
/// has made.
#[inline]
const fn class(gram: u32) -> u32 {
    (gram >> 24 ^ gram >> 26) & 7
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
pub(crate) fn gram_of(frame: u64) -> u32 {
    (frame >> 16) as u32
}

/// At most four bytes in one number, the first the lowest.
fn packed(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |packed, byte| packed << 8 | u32::from(*byte))
}

/// A literal by four of its bytes.
pub(crate) fn known_by_four(bytes: &[u8], literal: u16, at: usize) -> (u32, Entry) {
    let offset = i16::try_from(at).unwrap_or(i16::MAX);
    (packed(&bytes[at..at + 4]), Entry::new(bytes, literal, offset))
}

/// A literal by three of its bytes, whatever class the fourth is of.
pub(crate) fn known_by_three(
    bytes: &[u8],
    literal: u16,
    at: usize,
) -> impl Iterator<Item = (u32, Entry)> + use<> {
    let (gram, entry) = (
        packed(&bytes[at..at + 3]),
        Entry::new(bytes, literal, i16::from(at > 0)),
    );
    // The first eight bytes are of a class each.
    (0..8).map(move |fourth| (gram | fourth << 24, entry))
}

/// A literal of three bytes where the scan meets it, and where it meets one of the bytes that may stand before it.
pub(crate) fn of_three(bytes: &[u8], literal: u16, before: &[u8]) -> impl Iterator<Item = (u32, Entry)> {
    let (three, entry) = (packed(bytes), Entry::new(bytes, literal, -1));
    let met = before
        .iter()
        .map(move |byte| (three << 8 | u32::from(*byte), entry));
    met.chain(known_by_three(bytes, literal, 0))
}

/// Every byte.
pub(crate) static ANY: [u8; 256] = {
    let mut any = [0; 256];
    let mut byte = 0_u8;
    while byte < u8::MAX {
        any[byte as usize] = byte;
        byte += 1;
    }
    any[255] = u8::MAX;
    any
};

/// What [`may_follow`] is true of: a line end, indentation, the end of a prefix.
pub(crate) const BEFORE: &[u8] = b"\n \t]+:";
