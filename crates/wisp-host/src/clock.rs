//! The time of day, as a value that a test can fix.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Where the time of day comes from. Elapsed times within a process use `std::time::Instant` instead.
pub trait Clock: Send + Sync {
    /// The present moment, UTC.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one door to the clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still until it is moved: for tests, and for runs whose record must not depend on the day.
#[derive(Debug)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock standing at an RFC 3339 time.
    ///
    /// # Panics
    /// When `time` is not one: the caller is a test with a literal.
    pub fn at(time: &str) -> Self {
        let at: Timestamp = time.parse().expect("an RFC 3339 time");
        Self(AtomicI64::new(at.as_millisecond()))
    }

    /// Moves the clock forward by `millis` milliseconds.
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::Relaxed)).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}
