//! Runners: loading, queueing, keeping alive, and the cache of the last prompt.
//!
//! A model has one slot. Requests for it wait in order without a byte; the one that has the slot loads the model
//! if it is absent, expired, or loaded with other load-time options. The slot holds the tokens of the last
//! prompt and reply, and the next prompt reuses the prefix they share.

mod guards;
mod lease;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::decode::KeepAlive;
use crate::model::Model;
use crate::window::Window;
use guards::{Loading, Waiting};
pub(crate) use lease::Lease;

/// How long a model stays when nobody says otherwise.
const KEEP: KeepAlive = KeepAlive::For(Duration::from_mins(5));
/// What finding a loaded runner takes.
const FIND: Duration = Duration::from_micros(1500);

/// What happened to requests and models, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Loads that ended well.
    pub loads: u32,
    /// Of those, loads that replaced the same model with other options.
    pub reloads: u32,
    /// Models dropped: expired, asked to go, evicted or crashed.
    pub unloads: u32,
    /// Clients that went while their request waited.
    pub left_queue: u32,
    /// Clients that went while the model loaded, which aborted the load.
    pub left_load: u32,
    /// Clients that went while the model replied.
    pub left_reply: u32,
    /// Requests refused because too many waited.
    pub refused: u32,
    /// Requests that wait at this moment.
    pub waiting: usize,
}

/// A runner's launch options; a request with others loads the model again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Launch {
    pub(crate) window: Window,
    /// The other load-time options.
    pub(crate) options: String,
    /// Set where `shift` is a launch option.
    pub(crate) shift: Option<bool>,
}

/// A loaded model, as `/api/ps` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The model that loaded it; others of the same weights may use it.
    name: String,
    pub(crate) launch: Launch,
    keep: KeepAlive,
    last_used: Duration,
    /// When its load was over.
    since: Duration,
    busy: bool,
}

impl Loaded {
    /// The moment it will be dropped; `None` is never.
    pub(crate) fn expires(&self) -> Option<Duration> {
        match self.keep {
            KeepAlive::Forever => None,
            KeepAlive::Now => Some(self.last_used),
            KeepAlive::For(d) => Some(self.last_used + d),
        }
    }
}

#[derive(Default)]
struct Runner {
    slot: Arc<tokio::sync::Mutex<Vec<u64>>>,
    loaded: Option<Loaded>,
    loading: Option<(String, Window)>,
}

/// Why no runner was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoRunner {
    /// Too many requests wait: 503.
    Busy,
    /// The load failed with this text: 500.
    Load(String),
}

/// All runners of a server.
#[derive(Clone)]
pub(crate) struct Scheduler(Arc<Inner>);

struct Inner {
    clock: Clock,
    max_queue: usize,
    max_loaded: usize,
    state: Mutex<State>,
    /// How many loads are going on.
    loads: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    runners: BTreeMap<String, Runner>,
    counters: Counters,
}

impl Scheduler {
    pub(crate) fn new(clock: Clock, max_queue: usize, max_loaded: usize) -> Self {
        let loads = watch::Sender::new(0);
        Self(Arc::new(Inner {
            clock,
            max_queue,
            max_loaded,
            state: Mutex::default(),
            loads,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counters(&self) -> Counters {
        self.state().counters
    }

    /// Ends when no model is loading.
    pub(crate) async fn loads_over(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.loads.subscribe().wait_for(|n| *n == 0).await;
    }

    /// Drops the models whose time is up, then lists the others by name: loaded, or still loading (`None`).
    pub(crate) fn list(&self) -> Vec<(String, Window, Option<Loaded>)> {
        let mut state = self.state();
        self.expire(&mut state);
        let rows = state.runners.values().filter_map(|runner| {
            let loaded = runner.loaded.as_ref();
            let row = runner
                .loading
                .clone()
                .or(loaded.map(|l| (l.name.clone(), l.launch.window)));
            row.map(|(name, window)| (name, window, loaded.cloned()))
        });
        rows.collect()
    }

    fn expire(&self, state: &mut State) {
        let now = self.0.clock.now();
        let State {
            runners, counters, ..
        } = state;
        for runner in runners.values_mut() {
            let over = |l: &Loaded| !l.busy && l.expires().is_some_and(|end| end <= now);
            if runner.loaded.as_ref().is_some_and(over) {
                runner.loaded = None;
                counters.unloads += 1;
            }
        }
    }

    /// Drops a model now; whether it was loaded.
    pub(crate) fn unload(&self, model: &str) -> bool {
        let mut state = self.state();
        let was = state
            .runners
            .get_mut(model)
            .and_then(|r| r.loaded.take())
            .is_some();
        state.counters.unloads += u32::from(was);
        was
    }

    /// Waits for the model's slot, loading the model when needed.
    pub(crate) async fn acquire(
        &self,
        model: &Model,
        launch: Launch,
        keep: Option<KeepAlive>,
    ) -> Result<Lease, NoRunner> {
        let arrived = self.0.clock.now();
        let waiting = Waiting::enter(self, model.weights())?;
        let slot = Arc::clone(&waiting.slot).lock_owned().await;
        waiting.leave();
        let loaded = self.load_if_needed(model, launch, keep).await?;
        let now = self.0.clock.now();
        // A request that waits for a busy, loaded model has its runner from the start: the wait is no load.
        let there = self.loaded_since(model.weights()).unwrap_or(now).max(arrived);
        let mut lease = Lease {
            scheduler: self.clone(),
            model: model.weights().to_owned(),
            slot: Some(slot),
            keep,
            load: there.saturating_sub(arrived) + FIND,
            queued: now.saturating_sub(there),
            loaded,
            finished: false,
        };
        if loaded && let Some(slot) = &mut lease.slot {
            slot.clear();
        }
        Ok(lease)
    }

    /// Whether a load was needed.
    async fn load_if_needed(
        &self,
        model: &Model,
        launch: Launch,
        keep: Option<KeepAlive>,
    ) -> Result<bool, NoRunner> {
        if self.take_loaded(model.weights(), &launch) {
            return Ok(false);
        }
        let loading = Loading::enter(self, model, launch.window);
        self.0.clock.sleep(Duration::from_millis(model.load_ms)).await;
        loading.leave();
        if let Some(text) = &model.load_error {
            return Err(NoRunner::Load(text.clone()));
        }
        let mut state = self.state();
        state.counters.loads += 1;
        let now = self.0.clock.now();
        if let Some(runner) = state.runners.get_mut(model.weights()) {
            let keep = keep.unwrap_or(KEEP);
            runner.loaded = Some(Loaded {
                name: model.name.clone(),
                launch,
                keep,
                last_used: now,
                since: now,
                busy: true,
            });
        }
        self.evict(&mut state, model.weights());
        Ok(true)
    }

    /// When the runner of these weights was loaded; none without one.
    fn loaded_since(&self, weights: &str) -> Option<Duration> {
        let state = self.state();
        state
            .runners
            .get(weights)?
            .loaded
            .as_ref()
            .map(|loaded| loaded.since)
    }

    /// Marks the model busy if it is loaded as wanted; drops it if it is loaded otherwise.
    fn take_loaded(&self, name: &str, launch: &Launch) -> bool {
        let mut state = self.state();
        self.expire(&mut state);
        let State {
            runners, counters, ..
        } = &mut *state;
        let Some(runner) = runners.get_mut(name) else {
            return false;
        };
        match &mut runner.loaded {
            Some(loaded) if loaded.launch == *launch => {
                loaded.busy = true;
                true
            }
            Some(_) => {
                runner.loaded = None;
                counters.reloads += 1;
                counters.unloads += 1;
                false
            }
            None => false,
        }
    }

    /// Drops the idle models used longest ago while there are too many.
    fn evict(&self, state: &mut State, keep: &str) {
        loop {
            let loaded = state.runners.iter().filter(|(_, r)| r.loaded.is_some()).count();
            let idle = state
                .runners
                .iter_mut()
                .filter(|(name, r)| name.as_str() != keep && r.loaded.as_ref().is_some_and(|l| !l.busy));
            let oldest = idle.min_by_key(|(_, r)| r.loaded.as_ref().map(|l| l.last_used));
            match oldest {
                Some((_, runner)) if loaded > self.0.max_loaded => {
                    runner.loaded = None;
                    state.counters.unloads += 1;
                }
                _ => return,
            }
        }
    }
}
