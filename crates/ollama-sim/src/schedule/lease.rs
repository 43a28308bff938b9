//! The slot of a loaded model, held by one request.

use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use super::Scheduler;
use crate::decode::KeepAlive;

/// The slot of a loaded model. Dropping it frees the slot and starts the idle time.
pub(crate) struct Lease {
    pub(super) scheduler: Scheduler,
    pub(super) model: String,
    pub(super) slot: Option<OwnedMutexGuard<Vec<u64>>>,
    pub(super) keep: Option<KeepAlive>,
    /// From the request's arrival until there was a runner.
    pub(crate) load: Duration,
    /// From then until the runner was free.
    pub(crate) queued: Duration,
    /// Whether this request loaded the model.
    pub(crate) loaded: bool,
    pub(super) finished: bool,
}

impl Lease {
    /// How many tokens of the prompt are in the slot already: the common prefix, but never all of it.
    pub(crate) fn reuse(&self, prompt: &[u64]) -> usize {
        let held = self.slot.as_deref().map_or(&[][..], Vec::as_slice);
        let common = held.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        common.min(prompt.len().saturating_sub(1))
    }

    /// Puts the tokens into the slot.
    pub(crate) fn hold(&mut self, tokens: Vec<u64>) {
        if let Some(slot) = &mut self.slot {
            **slot = tokens;
        }
    }

    /// The reply ended, in whatever way the server meant it to.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    /// The runner died.
    pub(crate) fn crash(&mut self) {
        self.hold(Vec::new());
        self.scheduler.unload(&self.model);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.counters.left_reply += u32::from(!self.finished);
        let now = self.scheduler.0.clock.now();
        if let Some(loaded) = state.runners.get_mut(&self.model).and_then(|r| r.loaded.as_mut()) {
            loaded.busy = false;
            loaded.last_used = now;
            loaded.keep = self.keep.unwrap_or(loaded.keep);
        }
        self.scheduler.expire(&mut state);
    }
}
