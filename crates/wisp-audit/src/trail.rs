//! A bounded memory of recent events, for who wants to look back without reading the file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{AuditLog, Record};

/// The last events of a log, at most as many as it was made for. Clones share one memory.
#[derive(Debug, Clone)]
pub struct Trail {
    kept: Arc<Mutex<VecDeque<Record>>>,
}

impl Trail {
    /// Starts remembering the last `capacity` events of `log` (at least one), also of a log that is off.
    pub fn of(log: &AuditLog, capacity: usize) -> Self {
        let capacity = capacity.max(1);
        let trail = Self {
            kept: Arc::new(Mutex::new(VecDeque::with_capacity(capacity.min(1024)))),
        };
        let kept = Arc::clone(&trail.kept);
        log.subscribe(move |record| {
            let mut kept = lock(&kept);
            if kept.len() == capacity {
                kept.pop_front();
            }
            kept.push_back(record.clone());
        });
        trail
    }

    /// What is remembered, the oldest first.
    pub fn events(&self) -> Vec<Record> {
        lock(&self.kept).iter().cloned().collect()
    }
}

/// The memory stays usable after a panic elsewhere: it only ever holds whole events.
fn lock(kept: &Mutex<VecDeque<Record>>) -> MutexGuard<'_, VecDeque<Record>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
