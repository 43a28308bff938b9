//! Which of a few hundred literals stand in some bytes, at about a byte a cycle or two.
//!
//! Each literal is known by its rarest three bytes. The scan hashes every three bytes into a table of bits that
//! fits the fastest cache; only where a bit is set, which is nearly nowhere by chance, is a literal compared.

/// One literal: its bytes, the bits it stands for, where its rarest three bytes begin.
#[derive(Debug)]
struct Literal {
    bytes: Vec<u8>,
    bits: u64,
    offset: usize,
    triple: u32,
    /// The next literal in the same bucket.
    next: Option<u16>,
}

impl Literal {
    /// The first byte is compared before all of them are: most candidates fail there.
    fn stands_at(&self, bytes: &[u8]) -> bool {
        bytes.first() == self.bytes.first() && bytes.starts_with(&self.bytes)
    }
}

const MARKS: usize = 1 << 14;
const BUCKETS: usize = 4_096;

/// A set of literals, each with bits.
#[derive(Debug)]
pub(crate) struct Literals {
    /// Whether some literal's rarest three bytes have this hash.
    marks: Box<[bool; MARKS]>,
    buckets: Vec<Option<u16>>,
    list: Vec<Literal>,
}

impl Literals {
    /// The set. A literal has at least three bytes and at most 65,536 stand in a set; one that stands twice has
    /// the bits of both.
    pub(crate) fn new<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let mut set = Self {
            marks: Box::new([false; MARKS]),
            buckets: vec![None; BUCKETS],
            list: Vec::new(),
        };
        for (text, bits) in rows {
            match set.list.iter_mut().find(|known| known.bytes == text.as_bytes()) {
                Some(known) => known.bits |= bits,
                None => set.add(text.as_bytes(), bits),
            }
        }
        set
    }

    fn add(&mut self, bytes: &[u8], bits: u64) {
        let offset = rarest(bytes);
        let Some((triple, at)) = bytes
            .get(offset..offset + 3)
            .zip(u16::try_from(self.list.len()).ok())
        else {
            return;
        };
        let triple = packed(triple);
        let hash = hash(triple);
        self.marks[hash] = true;
        let bucket = &mut self.buckets[hash % BUCKETS];
        let next = bucket.replace(at);
        self.list.push(Literal {
            bytes: bytes.to_vec(),
            bits,
            offset,
            triple,
            next,
        });
    }

    /// The bits of all literals in the bytes.
    pub(crate) fn bits(&self, bytes: &[u8]) -> u64 {
        let mut bits = 0;
        self.scan(bytes, |found, _| {
            bits |= found;
            false
        });
        bits
    }

    /// A position inside the first literal found.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let mut first = None;
        self.scan(bytes, |_, at| {
            first = Some(at);
            true
        });
        first
    }

    /// Whether any literal stands in the bytes.
    pub(crate) fn any(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    /// Tells of every literal until told to stop.
    fn scan(&self, bytes: &[u8], mut found: impl FnMut(u64, usize) -> bool) {
        for (at, window) in bytes.windows(4).enumerate() {
            // Four bytes are one load; the fourth is shifted out.
            let four = window.first_chunk().map_or(0, |four| u32::from_be_bytes(*four));
            if self.marks[hash(four >> 8)] && self.tell(bytes, at, &mut found) {
                return;
            }
        }
        if let Some(last) = bytes.len().checked_sub(3) {
            self.tell(bytes, last, &mut found);
        }
    }

    /// Looks closely at a place. True when told to stop.
    fn tell(&self, bytes: &[u8], at: usize, found: &mut impl FnMut(u64, usize) -> bool) -> bool {
        let bits = self.at(bytes, at);
        bits != 0 && found(bits, at)
    }

    /// The bits of the literals whose rarest three bytes stand at `at`.
    #[inline(never)]
    fn at(&self, bytes: &[u8], at: usize) -> u64 {
        let triple = packed(&bytes[at..at + 3]);
        let mut next = self.buckets[hash(triple) % BUCKETS];
        let mut bits = 0;
        while let Some(literal) = next.map(|index| &self.list[usize::from(index)]) {
            next = literal.next;
            if literal.triple != triple {
                continue;
            }
            let start = at.checked_sub(literal.offset);
            if start.is_some_and(|start| literal.stands_at(&bytes[start..])) {
                bits |= literal.bits;
            }
        }
        bits
    }
}

/// Three bytes in one number.
fn packed(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |packed, byte| packed << 8 | u32::from(*byte))
}

/// Three bytes to fourteen bits.
fn hash(window: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> 18) as usize
}

/// Where the three bytes begin that are least likely to stand in a log.
fn rarest(bytes: &[u8]) -> usize {
    (0..bytes.len().saturating_sub(2))
        .min_by_key(|at| bytes[*at..at + 3].iter().map(|byte| common(*byte)).sum::<u32>())
        .unwrap_or(0)
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
    use proptest::prelude::*;

    use super::Literals;
    use crate::formats::FORMATS;
    use crate::looks;

    fn rows() -> Vec<(&'static str, u64)> {
        let formats = FORMATS
            .iter()
            .zip(0..)
            .flat_map(|(format, at)| format.triggers.iter().map(move |each| (*each, 1 << at)));
        formats
            .chain(looks::TRIGGERS.iter().map(|each| (*each, 1 << 63)))
            .collect()
    }

    #[test]
    fn every_literal_has_three_bytes() {
        assert_eq!(rows().iter().find(|(text, _)| text.len() < 3), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_found_is_what_stands_there(picks in prop::collection::vec((0_usize..1_000, "[ -~]{0,6}"), 0..12)) {
            let rows = rows();
            let parts: Vec<String> = picks.iter().map(|(at, between)| format!("{between}{}", rows[at % rows.len()].0)).collect();
            let text = parts.concat();
            let plain = rows.iter().filter(|(literal, _)| text.contains(literal)).fold(0, |bits, (_, each)| bits | each);
            let set = Literals::new(rows.iter().copied());
            prop_assert_eq!(set.bits(text.as_bytes()), plain);
            prop_assert_eq!(set.any(text.as_bytes()), plain != 0);
        }
    }
}
