//! The server's time.
//!
//! Nothing in the simulator sleeps unless the clock says so, so a test of a ninety-second load takes no time.
//! Three kinds: *instant* (waiting moves the clock and returns), *manual* (waiting lasts until the test has
//! moved the clock far enough) and *real* (for the program and the demo model).

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The second at which the instant and the manual clock begin: 2026-01-01T00:00:00Z.
const EPOCH: i64 = 1_767_225_600;

/// A clock shared by a server and the test that drives it. Cheap to clone; clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    Instant(Mutex<Duration>),
    Manual(Manual),
    Real { started: Instant, base: jiff::Timestamp },
}

#[derive(Debug)]
struct Manual {
    now: watch::Sender<Duration>,
    /// How many wait for the clock.
    sleepers: Mutex<usize>,
    changed: Condvar,
}

impl Manual {
    fn sleepers(&self) -> MutexGuard<'_, usize> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that waits, counted while it does.
struct Sleeper<'c>(&'c Manual);

impl<'c> Sleeper<'c> {
    fn enter(clock: &'c Manual) -> Self {
        *clock.sleepers() += 1;
        clock.changed.notify_all();
        Self(clock)
    }
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        *self.0.sleepers() -= 1;
        self.0.changed.notify_all();
    }
}

impl Clock {
    /// A clock on which every wait ends at once, having moved it forward.
    pub fn instant() -> Self {
        Self(Arc::new(Kind::Instant(Mutex::new(Duration::ZERO))))
    }

    /// A clock that stands still until [`Clock::advance`].
    pub fn manual() -> Self {
        let now = watch::Sender::new(Duration::ZERO);
        Self(Arc::new(Kind::Manual(Manual {
            now,
            sleepers: Mutex::new(0),
            changed: Condvar::new(),
        })))
    }

    /// The machine's clock.
    pub fn real() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place where the program takes the machine's time"
        )]
        let base = jiff::Timestamp::now();
        Self(Arc::new(Kind::Real {
            started: Instant::now(),
            base,
        }))
    }

    /// Time since the clock began.
    pub fn now(&self) -> Duration {
        match &*self.0 {
            Kind::Instant(now) => *now.lock().unwrap_or_else(PoisonError::into_inner),
            Kind::Manual(manual) => *manual.now.borrow(),
            Kind::Real { started, .. } => started.elapsed(),
        }
    }

    /// Moves the clock forward and wakes whoever waited for that moment. Does nothing on a real clock.
    pub fn advance(&self, by: Duration) {
        match &*self.0 {
            Kind::Instant(now) => *now.lock().unwrap_or_else(PoisonError::into_inner) += by,
            Kind::Manual(manual) => manual.now.send_modify(|now| *now += by),
            Kind::Real { .. } => {}
        }
    }

    /// Waits (real time, at most `patience`) until at least `many` loads or silences of the server wait for a
    /// manual clock, so that advancing it is not too early; whether it came to be. Blocks the thread.
    pub fn wait_for_sleepers(&self, many: usize, patience: Duration) -> bool {
        let Kind::Manual(manual) = &*self.0 else {
            return false;
        };
        let enough = |sleepers: &mut usize| *sleepers < many;
        let waited = manual
            .changed
            .wait_timeout_while(manual.sleepers(), patience, enough);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= many
    }

    /// Waits `for_how_long` of this clock's time.
    pub(crate) async fn sleep(&self, for_how_long: Duration) {
        match &*self.0 {
            Kind::Instant(_) => self.advance(for_how_long),
            Kind::Manual(manual) => {
                let until = self.now() + for_how_long;
                let mut moments = manual.now.subscribe();
                let _sleeper = Sleeper::enter(manual);
                // The sender lives in `self`, so waiting can only end by reaching the moment.
                let _ = moments.wait_for(|now| *now >= until).await;
            }
            Kind::Real { .. } => tokio::time::sleep(for_how_long).await,
        }
    }

    /// The moment `after` the clock's beginning as RFC 3339 with nanoseconds, in UTC.
    pub(crate) fn stamp(&self, after: Duration) -> String {
        let base = match &*self.0 {
            Kind::Real { base, .. } => *base,
            _ => jiff::Timestamp::from_second(EPOCH).unwrap_or(jiff::Timestamp::UNIX_EPOCH),
        };
        let moment = jiff::SignedDuration::try_from(after)
            .ok()
            .and_then(|d| base.checked_add(d).ok());
        format!("{:.9}", moment.unwrap_or(jiff::Timestamp::MAX))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::instant()
    }
}
