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
    hasher.write(text.as_bytes());
    hasher.write(place.path.as_bytes());
    hasher.fold(place.line.unwrap_or(u64::MAX), place.column.unwrap_or(u64::MAX));
    hasher.finish()
}

/// The key of a cause that a format knows.
pub(crate) fn hash_cause(format: &str, cause: &str) -> u64 {
    let mut hasher = Folding::new();
    hasher.write(cause.as_bytes());
    hasher.write(format.as_bytes());
    hasher.finish()
}

/// The key of a line that a tool wrote of a place, for the warnings of a log.
pub(crate) fn hash_line_of(text: &str, place: Place<'_>) -> u64 {
    let mut hasher = Folding::new();
    hasher.fold(place.line.unwrap_or(u64::MAX), place.column.unwrap_or(u64::MAX));
    hasher.write(place.path.as_bytes());
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The key of a line that stands for itself or, with a number, for its place in the input.
pub(crate) fn hash_line(text: &str, number: Option<u64>) -> u64 {
    let mut hasher = Folding::new();
    hasher.write(text.as_bytes());
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

    /// The bytes, in two lanes that need not wait for each other.
    fn bytes(&mut self, bytes: &[u8]) {
        let mut other = Self {
            state: self.key,
            key: self.state,
        };
        let (quads, rest) = bytes.as_chunks::<32>();
        for quad in quads {
            let [first, second, third, fourth] = words(quad);
            self.fold(first, second);
            other.fold(third, fourth);
        }
        let (pairs, rest) = rest.as_chunks::<16>();
        for pair in pairs {
            let [first, second] = words(pair);
            self.fold(first, second);
        }
        if let Some((first, last)) = rest.first_chunk().zip(rest.last_chunk()) {
            other.fold(u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        } else {
            let few = rest.iter().fold(0, |few, byte| few << 8 | u64::from(*byte));
            other.fold(few, 0);
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
