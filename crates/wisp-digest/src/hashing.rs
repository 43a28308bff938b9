//! Hashes of findings: to know a copy, and causes that are one.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::sync::OnceLock;

/// A hash under a key drawn once for the process, so that no input can be made to collide.
pub(crate) fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    static KEY: OnceLock<u64> = OnceLock::new();
    let key = *KEY.get_or_init(|| RandomState::new().hash_one("wisp-digest"));
    let mut hasher = Folding(key);
    value.hash(&mut hasher);
    hasher.finish()
}

/// Folds eight bytes at a time by a long multiplication.
struct Folding(u64);

impl Folding {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "both halves of the product are used"
    )]
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for Folding {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last));
        self.fold(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.fold(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.fold(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.fold(value as u64);
    }

    #[allow(clippy::cast_sign_loss, reason = "all bits are used")]
    fn write_isize(&mut self, value: isize) {
        self.fold(value as u64);
    }
}

/// A map whose keys are hashes already, made by [`hash`] with a keyed function: no input can make them collide.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;

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
