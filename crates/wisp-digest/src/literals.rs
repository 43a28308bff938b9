//! Which of a few hundred literals stand in some bytes, at a cycle or two a byte.
//!
//! Each literal is known by two neighbouring grams, runs of three or four of its bytes, the rarest it has. The scan
//! looks at every second position only, so that it meets exactly one of the two. The first three bytes there are
//! hashed into a table of marks, whose bits say which fourth bytes may follow, and only where that bit is set, which
//! is seldom by chance, is a literal compared. A literal of three bytes has one gram: where the scan passes between,
//! it is known by all of its bytes with any before them.

use std::ops::Range;

use crate::frames::{Entry, frame};
use crate::grams::rarest;

/// One literal and the bits it stands for.
#[derive(Debug)]
struct Literal {
    bytes: Box<[u8]>,
    bits: u64,
}

impl Literal {
    /// Whether it stands at `start` within a part of the bytes.
    #[inline]
    fn stands_at(&self, bytes: &[u8], start: usize, part: &Range<usize>) -> bool {
        start >= part.start
            && bytes[..part.end]
                .get(start..)
                .is_some_and(|from| from.starts_with(&self.bytes))
    }
}

const MARKS: usize = 1 << 16;
const BUCKETS: usize = 1 << 12;
const FACTOR: u32 = 0x9E37_79B1;
/// Bytes the scan looks at in one step.
const STEP: usize = 16;
/// Bytes it may touch in one step: a gram is loaded as four bytes.
const REACH: usize = STEP + 2;

/// The entries, by the hash of the first three bytes of their grams and the class of the fourth.
#[derive(Debug)]
struct Buckets {
    /// Where the entries of a bucket begin; they end where those of the next one begin.
    starts: Box<[u32; BUCKETS + 1]>,
    entries: Vec<Entry>,
}

impl Buckets {
    /// Puts the entries in the order of their buckets by counting how many each has.
    fn new(entries: &[(u32, Entry)]) -> Self {
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
    fn near(&self, gram: u32) -> &[Entry] {
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

/// A set of literals, each with bits.
#[derive(Debug)]
pub(crate) struct Literals {
    marks: Box<[u8; MARKS]>,
    grams: Buckets,
    list: Vec<Literal>,
}

/// A literal where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub start: usize,
    pub end: usize,
    pub bits: u64,
}

impl Literals {
    /// The set. A literal has at least three bytes and at most 65,536 stand in a set; one that stands twice has
    /// the bits of both.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let mut known = std::collections::BTreeMap::<&[u8], u64>::new();
        for (text, bits) in rows.filter(|(text, _)| text.len() >= 3) {
            *known.entry(text.as_bytes()).or_default() |= bits;
        }
        let mut grams = Vec::with_capacity(known.len() * 8);
        for (bytes, literal) in known.keys().zip(0..=u16::MAX) {
            match bytes.len() {
                3 => grams.extend(of_three(bytes, literal)),
                4 => grams.extend(
                    [0, 1]
                        .into_iter()
                        .flat_map(|at| known_by_three(bytes, literal, at)),
                ),
                _ => grams.extend([0, 1].map(|next| known_by_four(bytes, literal, rarest(bytes) + next))),
            }
        }
        Self {
            marks: marks(&grams),
            grams: Buckets::new(&grams),
            list: known
                .into_iter()
                .map(|(bytes, bits)| Literal {
                    bytes: bytes.into(),
                    bits,
                })
                .collect(),
        }
    }

    /// The bits of all literals in a part of the bytes.
    pub(crate) fn bits_in(&self, bytes: &[u8], part: Range<usize>) -> u64 {
        let mut bits = 0;
        self.scan(bytes, part.clone(), |literal, start| {
            if literal.bits & !bits != 0 && literal.stands_at(bytes, start, &part) {
                bits |= literal.bits;
            }
            false
        });
        bits
    }

    /// Whether any literal stands in the bytes.
    pub(crate) fn any(&self, bytes: &[u8]) -> bool {
        let mut any = false;
        let whole = 0..bytes.len();
        self.scan(bytes, whole.clone(), |literal, start| {
            any = literal.stands_at(bytes, start, &whole);
            any
        });
        any
    }

    /// Adds the literals that the scan knows by a gram at one of the positions, in the order of these grams; they
    /// may begin before the positions and end after them. Gives the position where the next call goes on, so that
    /// nothing is missed or met twice: the last one given, or the one after it.
    pub(crate) fn meet(&self, bytes: &[u8], positions: Range<usize>, met: &mut Vec<Met>) -> usize {
        let whole = 0..bytes.len();
        self.scan(bytes, positions, |literal, start| {
            if literal.stands_at(bytes, start, &whole) {
                met.push(Met {
                    start,
                    end: start + literal.bytes.len(),
                    bits: literal.bits,
                });
            }
            false
        })
    }

    /// Asks of every literal that has a gram at one of the positions whether it stands, with where it would begin,
    /// until told to stop. Gives the next position to look at.
    #[inline]
    fn scan(
        &self,
        bytes: &[u8],
        positions: Range<usize>,
        mut ask: impl FnMut(&Literal, usize) -> bool,
    ) -> usize {
        let mut look = |at: usize, found: u64| found != 0 && self.look(bytes, at, found, &mut ask);
        let mut at = positions.start;
        while at + STEP <= positions.end
            && let Some(window) = bytes.get(at..).and_then(|from| from.first_chunk())
        {
            if look(at, self.marked_in(window)) {
                return at;
            }
            at += STEP;
        }
        while at < positions.end {
            let padded;
            let window = if let Some(window) = bytes.get(at..).and_then(|from| from.first_chunk()) {
                window
            } else {
                padded = last_window(bytes, at);
                &padded
            };
            let left = (positions.end - at).div_ceil(2).min(STEP / 2);
            let unwanted = STEP / 2 - left;
            let found = self.marked_in(window) << (unwanted * 8) >> (unwanted * 8);
            if look(at, found) {
                return at;
            }
            at += left * 2;
        }
        at
    }

    /// Which positions of a step are marked, a byte each.
    #[inline]
    fn marked_in(&self, window: &[u8; REACH]) -> u64 {
        let mut found = 0;
        for at in 0..STEP / 2 {
            let gram = four(window, at * 2);
            let mark = self.marks[hash(gram)] & CLASSES[usize::from(window[at * 2 + 3])];
            found |= u64::from(mark) << (at * 8);
        }
        found
    }

    /// Looks closely at the marked positions of a step. True when told to stop. Not inlined, so that the scan keeps
    /// what it needs in registers.
    #[inline(never)]
    fn look(
        &self,
        bytes: &[u8],
        step: usize,
        mut found: u64,
        ask: &mut impl FnMut(&Literal, usize) -> bool,
    ) -> bool {
        while found != 0 {
            let index = found.trailing_zeros() / 8;
            found &= !(0xFF << (index * 8));
            let at = step + index as usize * 2;
            let frame = frame(bytes, at);
            for entry in self.grams.near(gram_of(frame)) {
                if entry.fits(frame) {
                    let start = at.wrapping_add_signed(-isize::from(entry.offset));
                    if ask(&self.list[usize::from(entry.literal)], start) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Which bytes may follow the three that have a hash, a bit for each of eight classes of them.
fn marks(grams: &[(u32, Entry)]) -> Box<[u8; MARKS]> {
    let mut marks: Box<[u8; MARKS]> = boxed();
    for (gram, _) in grams {
        marks[hash(*gram)] |= CLASSES[(gram >> 24) as usize];
    }
    marks
}

/// The class of the fourth byte.
#[inline]
fn class(gram: u32) -> u32 {
    gram >> 24 & 7
}

/// The same of any byte, as a bit.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = 1 << (byte & 7);
        byte += 1;
    }
    classes
};

/// The three low bytes to sixteen bits; the highest byte is multiplied away.
#[inline]
fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(FACTOR << 8) >> 16) as usize
}

/// The four bytes at a position of a step.
#[inline]
fn four(window: &[u8; REACH], at: usize) -> u32 {
    window[at..]
        .first_chunk()
        .map_or(0, |four| u32::from_le_bytes(*four))
}

/// What is left of the bytes, filled up with zeros.
fn last_window(bytes: &[u8], at: usize) -> [u8; REACH] {
    let mut window = [0; REACH];
    let left = &bytes[at..bytes.len().min(at + REACH)];
    window[..left.len()].copy_from_slice(left);
    window
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

/// A literal by four of its bytes.
fn known_by_four(bytes: &[u8], literal: u16, at: usize) -> (u32, Entry) {
    let offset = i16::try_from(at).unwrap_or(i16::MAX);
    (packed(&bytes[at..at + 4]), Entry::new(bytes, literal, offset))
}

/// A literal by three of its bytes, whatever class the fourth is of.
fn known_by_three(bytes: &[u8], literal: u16, at: usize) -> impl Iterator<Item = (u32, Entry)> + use<> {
    let (gram, entry) = (
        packed(&bytes[at..at + 3]),
        Entry::new(bytes, literal, i16::from(at > 0)),
    );
    (0..8).map(move |class| (gram | class << 24, entry))
}

/// A literal of three bytes where the scan meets it, and where it meets the byte before it.
fn of_three(bytes: &[u8], literal: u16) -> impl Iterator<Item = (u32, Entry)> + use<> {
    let (three, before) = (packed(bytes), Entry::new(bytes, literal, -1));
    let any = (0..=u8::MAX).map(move |any| (three << 8 | u32::from(any), before));
    any.chain(known_by_three(bytes, literal, 0))
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::Literals;
    use crate::formats::FORMATS;
    use crate::looks;

    /// The set of all formats, made once.
    fn all() -> &'static Literals {
        static ALL: OnceLock<Literals> = OnceLock::new();
        ALL.get_or_init(|| Literals::new(rows().into_iter()))
    }

    fn rows() -> Vec<(&'static str, u64)> {
        let formats = FORMATS
            .iter()
            .zip(0..)
            .flat_map(|(format, at)| format.triggers.iter().map(move |each| (*each, 1 << at)));
        formats
            .chain(looks::TRIGGERS.iter().map(|each| (*each, 1 << 63)))
            .collect()
    }

    fn bits(set: &Literals, bytes: &[u8]) -> u64 {
        set.bits_in(bytes, 0..bytes.len())
    }

    #[test]
    fn every_literal_has_three_bytes() {
        assert_eq!(rows().iter().find(|(text, _)| text.len() < 3), None);
    }

    #[test]
    fn a_literal_of_three_bytes_is_found_at_even_and_odd_places_and_at_the_ends() {
        let set = Literals::new([("##[", 1), ("E: ", 2), ("FAIL", 4)].into_iter());
        for (text, expected) in [
            ("##[", 1),
            ("x##[", 1),
            ("xx##[", 1),
            ("xE: ", 2),
            ("E: ", 2),
            ("E:", 0),
            ("#E: ##[FAIL", 7),
            ("aFAIL", 4),
            ("aaFAI", 0),
        ] {
            assert_eq!(bits(&set, text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_found_is_what_stands_there(picks in prop::collection::vec((0_usize..1_000, "[ -~]{0,6}"), 0..12)) {
            let rows = rows();
            let parts: Vec<String> = picks.iter().map(|(at, between)| format!("{between}{}", rows[at % rows.len()].0)).collect();
            let text = parts.concat();
            let plain = rows.iter().filter(|(literal, _)| text.contains(literal)).fold(0, |bits, (_, each)| bits | each);
            let set = all();
            prop_assert_eq!(bits(set, text.as_bytes()), plain);
            prop_assert_eq!(set.any(text.as_bytes()), plain != 0);
        }

        #[test]
        fn a_part_is_searched_as_if_it_stood_alone(
            picks in prop::collection::vec((0_usize..1_000, "[ -~]{0,6}"), 1..12),
            (from, to) in (0_usize..200, 0_usize..200),
        ) {
            let rows = rows();
            let parts: Vec<String> = picks.iter().map(|(at, between)| format!("{between}{}", rows[at % rows.len()].0)).collect();
            let text = parts.concat();
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let to = to.clamp(from, bytes.len().max(from));
            let set = all();
            prop_assert_eq!(set.bits_in(bytes, from..to), bits(set, &bytes[from..to]));
        }
    }
}
