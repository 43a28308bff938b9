//! Which of a few hundred literals stand in some bytes, at a cycle or so a byte.
//!
//! Each literal is known by two neighbouring grams, runs of four of its bytes, the rarest it has. The scan looks at
//! every second position only, so that it meets exactly one of the two. Only where the marks of [`crate::buckets`] say
//! that a gram may stand, which is seldom by chance, is a literal compared. A literal of four bytes has one gram: where
//! the scan passes over that, it is known by its last three bytes with any after them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use crate::buckets::{Buckets, CLASSES, MARKS, grams_of, hash, marks, may_follow};
use crate::frames::frame;

/// One literal and the bits it stands for.
#[derive(Debug)]
struct Literal {
    bytes: &'static [u8],
    bits: Bits,
}

/// Where a literal may begin, and whether all of it was seen there.
#[derive(Debug, Clone, Copy)]
struct Near {
    start: usize,
    whole: bool,
}

/// What a literal stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bits {
    /// Wherever it stands.
    anywhere: u64,
    /// And besides where it is the first of its part but for blanks.
    first: u64,
}

impl Bits {
    fn add(&mut self, bits: u64, first: bool) {
        *if first {
            &mut self.first
        } else {
            &mut self.anywhere
        } |= bits;
    }

    #[inline]
    fn at(self, start: usize, first: usize) -> u64 {
        if start == first {
            self.anywhere | self.first
        } else {
            self.anywhere
        }
    }
}

/// Where a part begins that may be indented.
#[inline]
pub(crate) fn first_of(bytes: &[u8], part: &Range<usize>) -> usize {
    let blanks = bytes[part.clone()]
        .iter()
        .take_while(|byte| matches!(**byte, b' ' | b'\t'));
    part.start + blanks.count()
}

impl Literal {
    fn new(text: &'static str) -> Self {
        Self {
            bytes: text.as_bytes(),
            bits: Bits::default(),
        }
    }

    /// Whether it stands at a place within a part of the bytes.
    #[inline]
    fn stands_at(&self, bytes: &[u8], place: Near, part: &Range<usize>) -> bool {
        let end = place.start.wrapping_add(self.bytes.len());
        let within = place.start >= part.start && place.start < part.end && end <= part.end;
        within
            && (place.whole || bytes.get(place.start..end) == Some(self.bytes))
            && (self.bits.anywhere != 0 || place.start == part.start || may_follow(bytes[place.start - 1]))
    }
}

/// Bytes the scan looks at in one step.
const STEP: usize = 16;
/// Bytes it may touch in one step: a gram is loaded as four bytes.
const REACH: usize = STEP + 2;

/// A set of literals, each with bits.
#[derive(Debug)]
pub(crate) struct Literals {
    marks: Box<[u8; MARKS]>,
    grams: Buckets,
    list: Vec<Literal>,
    /// Beginnings of lines that are likely of one format whatever follows.
    sure: Vec<Sure>,
}

/// A beginning of at most eight bytes.
#[derive(Debug)]
struct Sure {
    start: u64,
    mask: u64,
    bits: u64,
}

impl Sure {
    fn new(start: &[u8], bits: u64) -> Self {
        let mut eight = [0; 8];
        let mut mask = [0; 8];
        for ((byte, mask), start) in eight.iter_mut().zip(&mut mask).zip(start) {
            (*byte, *mask) = (*start, 0xFF);
        }
        Self {
            start: u64::from_le_bytes(eight),
            mask: u64::from_le_bytes(mask),
            bits,
        }
    }
}

/// A literal where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    pub start: usize,
    pub end: usize,
    bits: Bits,
}

impl Met {
    /// Its bits in a part that begins there, indentation left out.
    #[inline]
    pub(crate) fn bits(&self, first: usize) -> u64 {
        self.bits.at(self.start, first)
    }
}

impl Literals {
    /// The set. A literal has at least four bytes, and at most 16,384 stand in a set; one that stands twice has
    /// the bits of both. A line end before it says that it counts only where it is the first of a line, two that it is
    /// a sure beginning besides.
    pub(crate) fn new(rows: impl Iterator<Item = (&'static str, u64)>) -> Self {
        let mut list: Vec<Literal> = Vec::new();
        let mut places = HashMap::new();
        let mut sure = Vec::new();
        for (text, bits) in rows {
            let text = match text.strip_prefix("\n\n") {
                Some(start) => {
                    sure.push(Sure::new(start.as_bytes(), bits));
                    &text[1..]
                }
                None => text,
            };
            let (text, first) = text.strip_prefix('\n').map_or((text, false), |text| (text, true));
            let literal = match places.entry(text) {
                Entry::Occupied(place) => &mut list[*place.get()],
                Entry::Vacant(place) => {
                    place.insert(list.len());
                    list.push(Literal::new(text));
                    list.last_mut().expect("it was just put there")
                }
            };
            literal.bits.add(bits, first);
        }
        let mut grams = Vec::with_capacity(list.len() * 4);
        for (literal, at) in list.iter().zip(0..=u16::MAX) {
            grams_of(literal.bytes, at, &mut grams);
        }
        Self {
            sure,
            marks: marks(&grams),
            grams: Buckets::new(&grams),
            list,
        }
    }

    /// The bits of the format whose sure beginning a part of the bytes has. The first eight bytes tell; fewer tell
    /// nothing.
    pub(crate) fn sure(&self, bytes: &[u8], part: &Range<usize>) -> u64 {
        let line = &bytes[first_of(bytes, part)..part.end];
        let Some(start) = line.first_chunk() else {
            return 0;
        };
        let start = u64::from_le_bytes(*start);
        let found = self.sure.iter().find(|each| start & each.mask == each.start);
        found.map_or(0, |each| each.bits)
    }

    /// The bits of all literals in a part of the bytes.
    pub(crate) fn bits_in(&self, bytes: &[u8], part: Range<usize>) -> u64 {
        let first = first_of(bytes, &part);
        let mut bits = 0;
        self.scan(bytes, part.clone(), |literal, near| {
            let more = literal.bits.at(near.start, first);
            if more & !bits != 0 && literal.stands_at(bytes, near, &part) {
                bits |= more;
            }
            false
        });
        bits
    }

    /// Whether any literal stands in the bytes, where it may count.
    pub(crate) fn any(&self, bytes: &[u8]) -> bool {
        let mut any = false;
        let whole = 0..bytes.len();
        self.scan(bytes, whole.clone(), |literal, near| {
            any = literal.stands_at(bytes, near, &whole);
            any
        });
        any
    }

    /// Adds the literals that the scan knows by a gram at one of the positions, in the order of these grams; they
    /// may begin before the positions and end after them. Gives the position where the next call goes on, so that
    /// nothing is missed or met twice: the last one given, or the one after it.
    pub(crate) fn meet(&self, bytes: &[u8], positions: Range<usize>, met: &mut Vec<Met>) -> usize {
        let whole = 0..bytes.len();
        self.scan(bytes, positions, |literal, near| {
            if literal.stands_at(bytes, near, &whole) {
                met.push(Met {
                    start: near.start,
                    end: near.start + literal.bytes.len(),
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
        mut ask: impl FnMut(&Literal, Near) -> bool,
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
        ask: &mut impl FnMut(&Literal, Near) -> bool,
    ) -> bool {
        while found != 0 {
            let index = found.trailing_zeros() / 8;
            found &= !(0xFF << (index * 8));
            let at = step + index as usize * 2;
            let frame = frame(bytes, at);
            for entry in self.grams.near(frame) {
                if entry.fits(frame) {
                    let near = Near {
                        start: at.wrapping_sub(usize::from(entry.offset)),
                        whole: entry.whole,
                    };
                    if ask(&self.list[usize::from(entry.literal)], near) {
                        return true;
                    }
                }
            }
        }
        false
    }
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

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use proptest::prelude::*;

    use super::Literals;
    use crate::buckets::may_follow;
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

    /// A row's literal without the mark that it must be first.
    fn word(literal: &str) -> &str {
        literal.trim_start_matches('\n')
    }

    fn bits(set: &Literals, bytes: &[u8]) -> u64 {
        set.bits_in(bytes, 0..bytes.len())
    }

    /// The bits of a text, looked for one literal after the other.
    fn plainly(rows: &[(&str, u64)], text: &str) -> u64 {
        let body = text.trim_start_matches([' ', '\t']);
        let found = rows.iter().filter(|(literal, _)| {
            let first = literal.starts_with('\n');
            if first {
                body.starts_with(word(literal))
            } else {
                text.contains(literal)
            }
        });
        found.fold(0, |bits, (_, each)| bits | each)
    }

    #[test]
    fn a_line_that_begins_so_is_of_one_format_whatever_else_stands_in_it() {
        let set = Literals::new([("\n\nCompiling ", 1), ("test ", 2)].into_iter());
        for (text, expected) in [
            ("   Compiling test 1", 1),
            ("Compili", 0),
            ("test Compiling ", 0),
            ("", 0),
        ] {
            assert_eq!(set.sure(text.as_bytes(), &(0..text.len())), expected, "{text}");
        }
        assert_eq!(bits(&set, b"  Compiling test 1"), 3);
        assert_eq!(bits(&set, b"test Compiling "), 2);
    }

    #[test]
    fn every_literal_has_four_bytes() {
        let short = rows()
            .into_iter()
            .find(|(text, _)| text.trim_start_matches('\n').len() < 4);
        assert_eq!(short, None);
    }

    #[test]
    fn a_literal_that_must_be_first_is_found_there_and_nowhere_else() {
        let set =
            Literals::new([("\nerror: ", 1), ("error: ", 2), ("\n##[x", 4), ("\nerror: x", 8)].into_iter());
        for (text, expected) in [
            ("error: x", 11),
            ("  \terror: y", 3),
            ("x error: x", 2),
            ("##[x", 4),
            (" ##[x", 4),
            ("x##[x", 0),
            ("error: error: x", 3),
        ] {
            assert_eq!(bits(&set, text.as_bytes()), expected, "{text}");
        }
        assert_eq!(set.bits_in(b"x: error: x", 3..11), 11);
    }

    #[test]
    fn a_literal_of_four_bytes_is_found_at_even_and_odd_places_and_at_the_ends() {
        let set = Literals::new([("##[x", 1), ("\nE: U", 2), ("FAIL", 4)].into_iter());
        for (text, expected) in [
            ("##[x", 1),
            ("x##[x", 1),
            ("xx##[x", 1),
            ("xE: U", 0),
            (" E: U", 2),
            ("E: U", 2),
            ("E: ", 0),
            ("E: U##[xFAIL", 7),
            ("aFAIL", 4),
            ("aaFAI", 0),
        ] {
            assert_eq!(bits(&set, text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_first_literal_is_met_behind_a_prefix_and_behind_colour() {
        let set = Literals::new([("\n(!) ", 1)].into_iter());
        for (text, expected) in [
            ("\x1b[1m\x1b[33m(!) x", true),
            ("\x1b[K(!) x", true),
            ("[web] (!) x", true),
            ("0%\r(!) x", true),
            ("re(!) x", false),
        ] {
            assert_eq!(set.any(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_found_is_what_stands_there(picks in prop::collection::vec((0_usize..1_000, "[ -~]{0,6}"), 0..12)) {
            let rows = rows();
            let parts: Vec<String> = picks.iter().map(|(at, between)| format!("{between}{}", word(rows[at % rows.len()].0))).collect();
            let text = parts.concat();
            let any = rows.iter().any(|(literal, _)| {
                let mut places = text.match_indices(word(literal));
                places.any(|(at, _)| !literal.starts_with('\n') || at == 0 || may_follow(text.as_bytes()[at - 1]))
            });
            let set = all();
            prop_assert_eq!(bits(set, text.as_bytes()), plainly(&rows, &text));
            prop_assert_eq!(set.any(text.as_bytes()), any);
        }

        #[test]
        fn a_part_is_searched_as_if_it_stood_alone(
            picks in prop::collection::vec((0_usize..1_000, "[ -~]{0,6}"), 1..12),
            (from, to) in (0_usize..200, 0_usize..200),
        ) {
            let rows = rows();
            let parts: Vec<String> = picks.iter().map(|(at, between)| format!("{between}{}", word(rows[at % rows.len()].0))).collect();
            let text = parts.concat();
            let bytes = text.as_bytes();
            let from = from.min(bytes.len());
            let to = to.clamp(from, bytes.len().max(from));
            let set = all();
            prop_assert_eq!(set.bits_in(bytes, from..to), bits(set, &bytes[from..to]));
        }
    }
}
