//! A request's stay in the queue and in a load, counted while it lasts; one that ends early is a client that left.

use std::sync::Arc;

use super::{NoRunner, Scheduler};
use crate::model::Model;
use crate::window::Window;

/// A request in the queue; dropping it unfinished is a client that left.
pub(super) struct Waiting<'s> {
    scheduler: &'s Scheduler,
    pub(super) slot: Arc<tokio::sync::Mutex<Vec<u64>>>,
    left: bool,
}

impl<'s> Waiting<'s> {
    pub(super) fn enter(scheduler: &'s Scheduler, model: &str) -> Result<Self, NoRunner> {
        let mut state = scheduler.state();
        let slot = Arc::clone(&state.runners.entry(model.to_owned()).or_default().slot);
        if slot.try_lock().is_err() && state.counters.waiting >= scheduler.0.max_queue {
            state.counters.refused += 1;
            return Err(NoRunner::Busy);
        }
        state.counters.waiting += 1;
        drop(state);
        Ok(Self {
            scheduler,
            slot,
            left: true,
        })
    }

    pub(super) fn leave(mut self) {
        self.left = false;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.counters.waiting -= 1;
        state.counters.left_queue += u32::from(self.left);
    }
}

/// A load going on; dropping it unfinished aborts the load.
pub(super) struct Loading<'s> {
    scheduler: &'s Scheduler,
    model: String,
    left: bool,
}

impl<'s> Loading<'s> {
    pub(super) fn enter(scheduler: &'s Scheduler, model: &Model, window: Window) -> Self {
        if let Some(runner) = scheduler.state().runners.get_mut(model.weights()) {
            runner.loading = Some((model.name.clone(), window));
        }
        scheduler.0.loads.send_modify(|n| *n += 1);
        Self {
            scheduler,
            model: model.weights().to_owned(),
            left: true,
        }
    }

    pub(super) fn leave(mut self) {
        self.left = false;
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        state.counters.left_load += u32::from(self.left);
        if let Some(runner) = state.runners.get_mut(&self.model) {
            runner.loading = None;
        }
        self.scheduler.0.loads.send_modify(|n| *n -= 1);
    }
}
