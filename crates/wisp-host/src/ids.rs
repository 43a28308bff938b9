//! Identifiers: 64 random bits written as 16 hex digits, of which people are shown the first 8.

use std::sync::atomic::{AtomicU64, Ordering};

/// Where new identifiers come from.
pub trait IdSource: Send + Sync {
    /// A new identifier: 16 lower-case hex digits, never given out before by this source.
    fn next(&self) -> String;
}

/// Identifiers from the operating system's random source.
#[derive(Debug, Default, Clone, Copy)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn next(&self) -> String {
        let bits = getrandom::u64().expect("the operating system has a random source");
        format!("{bits:016x}")
    }
}

/// Counted identifiers for tests: `0000000000000001`, `0000000000000002`, …
#[derive(Debug, Default)]
pub struct FixedIds(AtomicU64);

impl IdSource for FixedIds {
    fn next(&self) -> String {
        format!("{:016x}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// How many digits of an identifier a person or a model is shown.
pub const SHOWN_DIGITS: usize = 8;

/// The part of `id` that people and models are shown: its first [`SHOWN_DIGITS`] characters.
pub fn shown(id: &str) -> &str {
    id.get(..SHOWN_DIGITS).unwrap_or(id)
}
