//! Which of a few hundred literals stand in some bytes, at a cycle or two a byte.
//!
//! Each literal is known by two neighbouring grams, runs of three or four of its bytes, the rarest it has. The scan
//! looks at every second position only, so that it meets exactly one of the two; the gram there is hashed into a
//! table of marks, and only where a mark is set, which is seldom by chance, is a literal compared. A literal of
//! three bytes has one gram: where the scan passes between, it is known by two of its bytes with any before them.

use std::ops::Range;

/// One literal: its bytes and the bits it stands for.
#[derive(Debug)]
struct Literal {
    /// Its first eight bytes as a number, and which bytes of that number count.
    head: u64,
    mask: u64,
    /// What follows the first eight bytes.
    rest: Box<[u8]>,
    length: usize,
    bits: u64,
}

impl Literal {
    fn new(bytes: &[u8], bits: u64) -> Self {
        let mut head = [0; 8];
        let mut mask = [0; 8];
        for ((byte, head), mask) in bytes.iter().zip(&mut head).zip(&mut mask) {
            (*head, *mask) = (*byte, 0xFF);
        }
        Self {
            head: u64::from_le_bytes(head),
            mask: u64::from_le_bytes(mask),
            rest: bytes.get(8..).unwrap_or_default().into(),
            length: bytes.len(),
            bits,
        }
    }

    /// Whether it stands at `start` and ends before `end`.
    fn stands_at(&self, bytes: &[u8], start: usize, end: usize) -> bool {
        if start + self.length > end {
            return false;
        }
        let eight = bytes.get(start..).map_or(0, |from| {
            from.first_chunk()
                .map_or_else(|| padded(from), |eight| u64::from_le_bytes(*eight))
        });
        (eight ^ self.head) & self.mask == 0
            && (self.rest.is_empty() || bytes[start + 8..end].starts_with(&self.rest))
    }
}

/// Fewer than eight bytes as a number.
fn padded(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

/// A gram by which a literal is known.
#[derive(Debug, Clone, Copy)]
struct Entry {
    gram: u32,
    literal: u16,
    /// Where the gram begins, counted from the literal's first byte.
    offset: i16,
}

const MARKS: usize = 1 << 17;
const BUCKETS: usize = 1 << 12;
const FACTOR: u32 = 0x9E37_79B1;
/// Bytes the scan looks at in one step.
const STEP: usize = 16;
/// Bytes it may touch in one step: a gram is loaded as four bytes.
const REACH: usize = STEP + 2;

/// The entries of grams of one width, by bucket.
#[derive(Debug)]
struct Buckets {
    /// Where the entries of a bucket begin; they end where those of the next one begin.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

impl Buckets {
    /// Puts the entries in the order of their buckets by counting how many each has.
    fn new(entries: &[Entry]) -> Self {
        let mut starts = vec![0; BUCKETS + 1];
        for entry in entries {
            starts[bucket(entry.gram)] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut sorted = entries.to_vec();
        for entry in entries {
            let start = &mut starts[bucket(entry.gram)];
            *start -= 1;
            sorted[*start as usize] = *entry;
        }
        Self {
            starts,
            entries: sorted,
        }
    }

    /// The entries that this gram may be of.
    fn near(&self, gram: u32) -> &[Entry] {
        let bucket = bucket(gram);
        &self.entries[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }
}

fn bucket(gram: u32) -> usize {
    (gram.wrapping_mul(FACTOR) >> 20) as usize
}

/// A set of literals, each with bits.
#[derive(Debug)]
pub(crate) struct Literals {
    marks: Box<[u8; MARKS]>,
    /// The grams of literals of three and four bytes, and of those of more.
    threes: Buckets,
    fours: Buckets,
    list: Vec<Literal>,
}

impl Literals {
    /// The set. A literal has at least three bytes and at most 65,536 stand in a set; one that stands twice has
    /// the bits of both.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let mut known = std::collections::BTreeMap::<&[u8], u64>::new();
        for (text, bits) in rows.filter(|(text, _)| text.len() >= 3) {
            *known.entry(text.as_bytes()).or_default() |= bits;
        }
        let (mut threes, mut fours) = (Vec::new(), Vec::new());
        for (bytes, at) in known.keys().zip(0..=u16::MAX) {
            match bytes.len() {
                3 => threes.extend(of_three(bytes, at)),
                4 => threes.extend([0, 1].map(|offset| entry(&bytes[offset..offset + 3], at, offset))),
                _ => fours.extend(
                    [0, 1]
                        .map(|next| rarest(bytes) + next)
                        .map(|offset| entry(&bytes[offset..offset + 4], at, offset)),
                ),
            }
        }
        Self {
            marks: marks(&threes, &fours),
            threes: Buckets::new(&threes),
            fours: Buckets::new(&fours),
            list: known
                .into_iter()
                .map(|(bytes, bits)| Literal::new(bytes, bits))
                .collect(),
        }
    }

    /// The bits of all literals in a part of the bytes.
    pub(crate) fn bits_in(&self, bytes: &[u8], part: Range<usize>) -> u64 {
        let mut bits = 0;
        self.scan(bytes, part, |literal, start, end| {
            if literal.bits & !bits != 0 && literal.stands_at(bytes, start, end) {
                bits |= literal.bits;
            }
            false
        });
        bits
    }

    /// A position inside the first literal found in a part of the bytes.
    pub(crate) fn find_in(&self, bytes: &[u8], part: Range<usize>) -> Option<usize> {
        let mut first = None;
        self.scan(bytes, part, |literal, start, end| {
            let stands = literal.stands_at(bytes, start, end);
            first = stands.then_some(start);
            stands
        });
        first
    }

    /// Whether any literal stands in the bytes.
    pub(crate) fn any(&self, bytes: &[u8]) -> bool {
        self.find_in(bytes, 0..bytes.len()).is_some()
    }

    /// Asks of every literal that may stand somewhere, with where it would begin and the end of the part, until
    /// told to stop.
    fn scan(&self, bytes: &[u8], part: Range<usize>, mut ask: impl FnMut(&Literal, usize, usize) -> bool) {
        let mut at = part.start;
        while at + 3 <= part.end {
            let padded;
            let whole = bytes.get(at..).and_then(|from| from.first_chunk());
            let window = if let Some(window) = whole {
                window
            } else {
                padded = last_window(bytes, at);
                &padded
            };
            let marks = self.marks_in(window);
            let step = Step {
                window,
                at,
                part: &part,
            };
            if marks != 0 && self.look(&step, marks, &mut ask) {
                return;
            }
            at += STEP;
        }
    }

    /// The marks of the positions of a step, a byte each.
    #[inline]
    fn marks_in(&self, window: &[u8; REACH]) -> u64 {
        let mut marks = 0;
        for at in 0..STEP / 2 {
            marks |= u64::from(self.marks[hash(four(window, at * 2))]) << (at * 8);
        }
        marks
    }

    /// Looks closely at the marked positions of a step. True when told to stop. Not inlined, so that the scan keeps
    /// what it needs in registers.
    #[inline(never)]
    fn look(
        &self,
        step: &Step<'_>,
        mut marks: u64,
        ask: &mut impl FnMut(&Literal, usize, usize) -> bool,
    ) -> bool {
        let mut told = |entry: &Entry, gram: u32, at: usize| {
            let start = (step.at + at).wrapping_add_signed(-isize::from(entry.offset));
            entry.gram == gram
                && step.part.contains(&start)
                && ask(&self.list[usize::from(entry.literal)], start, step.part.end)
        };
        while marks != 0 {
            let index = marks.trailing_zeros() / 8;
            let mark = marks >> (index * 8);
            marks &= !(0xFF << (index * 8));
            let at = index as usize * 2;
            let gram = four(step.window, at);
            if mark & class(gram) == 0 {
                continue;
            }
            let three = gram & 0x00FF_FFFF;
            let mut threes = self.threes.near(three).iter();
            let mut fours = self.fours.near(gram).iter();
            if threes.any(|entry| told(entry, three, at)) || fours.any(|entry| told(entry, gram, at)) {
                return true;
            }
        }
        false
    }
}

/// Sixteen bytes that are looked at together.
struct Step<'a> {
    window: &'a [u8; REACH],
    at: usize,
    part: &'a Range<usize>,
}

/// Which bytes may follow the three that have a hash, a bit for each of eight classes of them.
fn marks(threes: &[Entry], fours: &[Entry]) -> Box<[u8; MARKS]> {
    let mut marks: Box<[u8; MARKS]> = vec![0; MARKS]
        .into_boxed_slice()
        .try_into()
        .expect("the table has as many marks as its type says");
    for entry in threes {
        marks[hash(entry.gram)] = u8::MAX;
    }
    for entry in fours {
        marks[hash(entry.gram)] |= class(entry.gram).to_le_bytes()[0];
    }
    marks
}

/// The class of the fourth byte, as a bit.
fn class(gram: u32) -> u64 {
    1 << (gram >> 24 & 7)
}

/// The three low bytes to seventeen bits; the highest byte is multiplied away.
#[inline]
fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(FACTOR << 8) >> 15) as usize
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

/// At most four bytes in one number, the first the lowest.
fn packed(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |packed, byte| packed << 8 | u32::from(*byte))
}

fn entry(gram: &[u8], literal: u16, offset: usize) -> Entry {
    Entry {
        gram: packed(gram),
        literal,
        offset: i16::try_from(offset).unwrap_or(i16::MAX),
    }
}

/// A literal of three bytes where the scan meets it, and where it meets the byte before it.
fn of_three(bytes: &[u8], literal: u16) -> impl Iterator<Item = Entry> {
    let (first, second) = (bytes[0], bytes[1]);
    let before = (0..=u8::MAX).map(move |any| Entry {
        offset: -1,
        ..entry(&[any, first, second], literal, 0)
    });
    before.chain([entry(bytes, literal, 0)])
}

/// Where the two neighbouring fours begin that are least likely to stand in a log.
fn rarest(bytes: &[u8]) -> usize {
    let costs: Vec<u32> = bytes.windows(3).map(frequency).collect();
    (0..bytes.len().saturating_sub(4))
        .min_by_key(|at| costs[*at] + 2 * costs[at + 1] + costs[at + 2])
        .unwrap_or(0)
}

/// Triples that stand in most logs, whatever their bytes suggest.
const FREQUENT: [[u8; 3]; 70] = [
    *b"ing", *b"err", *b"rro", *b"ror", *b"or:", *b"r: ", *b"war", *b"arn", *b"rni", *b"nin", *b"ng:",
    *b"g: ", *b"the", *b"ion", *b"tio", *b"ati", *b"ent", *b"for", *b"com", *b"omp", *b"mpi", *b"pil",
    *b"ile", *b"bui", *b"uil", *b"ild", *b"tes", *b"est", *b"ass", *b"pas", *b"fai", *b"ail", *b"led",
    *b"src", *b"rc/", *b"und", *b"nde", *b"def", *b"ter", *b"ers", *b"ver", *b"ble", *b"inc", *b"ncl",
    *b"clu", *b"lud", *b"ude", *b"fun", *b"unc", *b"nct", *b"cti", *b"sys", *b"sub", *b"lib", *b"obj",
    *b"tar", *b"con", *b"res", *b"sed", *b"Com", *b"e: ", *b"s: ", *b"-> ", *b"is ", *b" in", *b"in ",
    *b"ed ", *b"d: ", *b"/te", *b" --",
];

/// The same as numbers, which are compared many at a time.
static FREQUENT_PACKED: [u32; FREQUENT.len()] = {
    let mut packed = [0; FREQUENT.len()];
    let mut at = 0;
    while at < packed.len() {
        let [first, second, third] = FREQUENT[at];
        packed[at] = u32::from_le_bytes([first, second, third, 0]);
        at += 1;
    }
    packed
};

/// How often a triple stands in logs, roughly, for comparison.
fn frequency(triple: &[u8]) -> u32 {
    let bytes = triple.iter().map(|byte| common(*byte)).sum::<u32>();
    let same = triple.iter().all(|byte| *byte == triple[0]);
    let frequent = same || FREQUENT_PACKED.contains(&packed(triple));
    bytes + if frequent { 300 } else { 0 }
}

/// How common a byte is in logs, roughly, in parts of a thousand.
fn common(byte: u8) -> u32 {
    match byte {
        b' ' => 120,
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 60,
        b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'/' | b'.' | b'_' | b'-' => 35,
        b'0'..=b'9' | b':' | b'=' => 30,
        b'a'..=b'z' => 18,
        b'A'..=b'Z' => 8,
        _ => 5,
    }
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
            let first = set.find_in(bytes, from..to);
            prop_assert_eq!(first.is_some(), bits(set, &bytes[from..to]) != 0);
            prop_assert!(first.is_none_or(|at| (from..to).contains(&at)));
        }
    }
}
