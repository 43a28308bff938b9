//! Hashes of findings: to know a copy, and causes that are one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::OnceLock;

use crate::line::Place;

/// A hash under keys drawn once for the process, so that no input can be made to collide.
pub(crate) fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = Folding::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The key of what is said of a place. By hand, since every failure of a log is looked up by it.
pub(crate) fn hash_placed(text: &str, place: Place<'_>) -> u64 {
    let mut hasher = Folding::new();
    hasher.bytes(text.as_bytes());
    hasher.bytes(place.path.as_bytes());
    hasher.fold(place.line.unwrap_or(u64::MAX), place.column.unwrap_or(u64::MAX));
    hasher.finish()
}

/// The key of a cause that a format knows.
pub(crate) fn hash_cause(format: &str, cause: &str) -> u64 {
    let mut hasher = Folding::new();
    hasher.bytes(cause.as_bytes());
    hasher.bytes(format.as_bytes());
    hasher.finish()
}

/// The key of a line that a tool wrote of a place, for the warnings of a log.
pub(crate) fn hash_line_of(text: &str, place: Place<'_>) -> u64 {
    let mut hasher = Folding::new();
    hasher.fold(place.line.unwrap_or(u64::MAX), place.column.unwrap_or(u64::MAX));
    hasher.bytes(place.path.as_bytes());
    hasher.bytes(text.as_bytes());
    hasher.finish()
}

/// The key of a line that stands for itself or, with a number, for its place in the input.
pub(crate) fn hash_line(text: &str, number: Option<u64>) -> u64 {
    let mut hasher = Folding::new();
    hasher.bytes(text.as_bytes());
    hasher.fold(number.unwrap_or(u64::MAX), 1);
    hasher.finish()
}

/// Folds up to sixteen bytes at a time by a long multiplication. Both its factors hold bytes, and neither can be known
/// from them.
struct Folding {
    state: u64,
    key: u64,
}

impl Folding {
    fn new() -> Self {
        static KEYS: OnceLock<[u64; 2]> = OnceLock::new();
        let [state, key] = *KEYS.get_or_init(|| [(); 2].map(|()| RandomState::new().hash_one("wisp-digest")));
        Self { state, key }
    }

    /// The bytes, in two lanes that need not wait for each other. Those at the end that fill no step are folded with
    /// some of those before them once more, so that nothing is looked at byte by byte: the length tells such ends apart.
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        // Turned, or the same words in both lanes would leave nothing where the lanes come together.
        let mut other = Self {
            state: self.key.rotate_left(32),
            key: self.state,
        };
        if let Some(last) = bytes.last_chunk::<16>() {
            let (quads, rest) = bytes.as_chunks::<32>();
            for quad in quads {
                let [first, second, third, fourth] = words(quad);
                self.fold(first, second);
                other.fold(third, fourth);
            }
            if let Some(pair) = rest.first_chunk::<16>() {
                let [first, second] = words(pair);
                self.fold(first, second);
            }
            let [first, second] = words(last);
            other.fold(first, second);
        } else {
            let (first, second) = few(bytes);
            other.fold(first, second);
        }
        self.fold(other.state, bytes.len() as u64);
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "both halves of the product are used"
    )]
    #[inline]
    fn fold(&mut self, low: u64, high: u64) {
        let product = u128::from(self.state ^ low) * u128::from(self.key ^ high);
        self.state = (product as u64) ^ ((product >> 64) as u64);
    }
}

/// Less than sixteen bytes as two words.
#[inline]
fn few(bytes: &[u8]) -> (u64, u64) {
    if let Some((first, last)) = bytes.first_chunk::<8>().zip(bytes.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let Some((first, last)) = bytes.first_chunk::<4>().zip(bytes.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
        return (first, last);
    }
    let few = bytes.iter().fold(0, |few, byte| few << 8 | u64::from(*byte));
    (few, 0)
}

/// The words that some bytes begin with.
#[inline]
fn words<const COUNT: usize>(bytes: &[u8]) -> [u64; COUNT] {
    let mut words = [0; COUNT];
    for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*chunk);
    }
    words
}

impl Hasher for Folding {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
    }

    fn write_u8(&mut self, value: u8) {
        self.fold(u64::from(value), 0);
    }

    fn write_u64(&mut self, value: u64) {
        self.fold(value, 0);
    }

    fn write_usize(&mut self, value: usize) {
        self.fold(value as u64, 0);
    }

    #[allow(clippy::cast_sign_loss, reason = "all bits are used")]
    fn write_isize(&mut self, value: isize) {
        self.fold(value as u64, 0);
    }
}

/// A map whose keys are hashes already, made by [`hash`] with a keyed function: no input can make them collide.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;

/// A set of such hashes.
pub(crate) type Hashes = HashSet<u64, BuildHasherDefault<AsIs>>;

/// Passes a hash on as it is.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{hash_line, hash_placed};
    use crate::line::Place;

    #[test]
    fn every_byte_of_a_text_and_its_length_tell() {
        let mut hashes = HashSet::new();
        for length in 0..100 {
            let text = "a".repeat(length);
            assert!(hashes.insert(hash_line(&text, None)), "{length}");
            assert_eq!(hash_line(&text, None), hash_line(&text.clone(), None));
            for at in 0..length {
                let other = format!("{}b{}", &text[..at], &text[at + 1..]);
                assert!(hashes.insert(hash_line(&other, None)), "{at} of {length}");
            }
            // Words that are all the same, in both lanes.
            assert!(length == 0 || hashes.insert(hash_line(&"c".repeat(length), None)));
        }
    }

    #[test]
    fn a_text_and_its_place_are_told_apart() {
        let place = |path, line| Place {
            path,
            line,
            column: None,
        };
        let keys = [
            hash_placed("ab", place("c", Some(1))),
            hash_placed("a", place("bc", Some(1))),
            hash_placed("ab", place("c", Some(2))),
            hash_placed("ab", place("c", None)),
            hash_placed("abc", place("", Some(1))),
        ];
        assert_eq!(HashSet::from(keys).len(), 5);
    }
}
