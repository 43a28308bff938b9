//! The server: a port, a thread, and everything the two share with the test.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::chunker::{Chunker, Dressing};
use crate::clock::Clock;
use crate::http::{Connection, Request};
use crate::model::Model;
use crate::profile::Profile;
use crate::record::{Ended, Received};
use crate::routes;
use crate::schedule::{Counters, Scheduler};
use crate::script::{Respond, Script};
use crate::wire::{Closed, Wire};

/// What a server is to be. Everything but the responder has a default.
pub struct Config {
    /// Which release it imitates.
    pub profile: Profile,
    /// The models it has, newest first.
    pub models: Vec<Model>,
    /// Who answers.
    pub script: Box<dyn Respond>,
    /// How streams are cut.
    pub chunker: Chunker,
    /// What is done to their lines.
    pub dressing: Dressing,
    /// Its time.
    pub clock: Clock,
    /// The port; 0 is any.
    pub port: u16,
    /// How many requests may wait before 503.
    pub max_queue: usize,
    /// How many models may be loaded at once.
    pub max_loaded: usize,
    /// Closes each connection after its answer without having said so.
    pub closes_idle: bool,
    /// `Ollama cloud is disabled`.
    pub cloud_disabled: bool,
    /// How many requests are remembered; older ones are forgotten. A test wants all of them.
    pub remembers: usize,
}

impl Config {
    /// One model `sim`, release 0.24.0, instant clock, lines as chunks.
    pub fn new(script: impl Respond + 'static) -> Self {
        Self {
            profile: Profile::default(),
            models: vec![Model::new("sim")],
            script: Box::new(script),
            chunker: Chunker::default(),
            dressing: Dressing::default(),
            clock: Clock::default(),
            port: 0,
            max_queue: 512,
            max_loaded: 3,
            closes_idle: false,
            cloud_disabled: false,
            remembers: usize::MAX,
        }
    }

    /// The same, imitating this release.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The same with these models.
    #[must_use]
    pub fn models(mut self, models: impl IntoIterator<Item = Model>) -> Self {
        self.models = models.into_iter().collect();
        self
    }

    /// The same with its streams cut so.
    #[must_use]
    pub fn chunker(mut self, chunker: Chunker) -> Self {
        self.chunker = chunker;
        self
    }

    /// The same with its lines dressed so.
    #[must_use]
    pub fn dressing(mut self, dressing: Dressing) -> Self {
        self.dressing = dressing;
        self
    }

    /// The same on this clock.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new(Script::new())
    }
}

/// Why [`Server::finish`] is not content: each line is one unexpected or one missing request.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the script was not kept: {}", .0.join("; "))]
pub struct ScriptNotKept(pub Vec<String>);

/// A running server. Dropping it closes the port and every connection.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// What the connections share.
pub(crate) struct Shared {
    pub(crate) profile: Profile,
    pub(crate) clock: Clock,
    pub(crate) chunker: Chunker,
    pub(crate) dressing: Dressing,
    pub(crate) scheduler: Scheduler,
    pub(crate) cloud_disabled: bool,
    closes_idle: bool,
    remembers: usize,
    models: Mutex<Vec<Model>>,
    script: Mutex<Box<dyn Respond>>,
    log: Mutex<Log>,
    changed: Condvar,
}

#[derive(Default)]
struct Log {
    requests: Vec<Received>,
    /// How many were forgotten.
    forgotten: usize,
    failures: Vec<String>,
    /// The request whose reply broke off over a call that could not be read, and the loads there had been.
    wedged: Option<(Vec<u8>, u32)>,
    connections: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(crate) fn models(&self) -> MutexGuard<'_, Vec<Model>> {
        lock(&self.models)
    }

    /// The script, for one answer.
    pub(crate) fn script(&self) -> MutexGuard<'_, Box<dyn Respond>> {
        lock(&self.script)
    }

    /// Remembers that the script was not kept.
    pub(crate) fn fail(&self, text: String) {
        lock(&self.log).failures.push(text);
        self.changed.notify_all();
    }

    /// Changes the record of a request.
    pub(crate) fn note(&self, at: usize, change: impl FnOnce(&mut Received)) {
        let mut log = lock(&self.log);
        let place = at.checked_sub(log.forgotten);
        if let Some(record) = place.and_then(|place| log.requests.get_mut(place)) {
            change(record);
        }
        drop(log);
        self.changed.notify_all();
    }

    /// Remembers a request whose reply broke off in the middle over a call that could not be read.
    pub(crate) fn wedge(&self, body: &[u8]) {
        if self.profile.wedges {
            lock(&self.log).wedged = Some((body.to_vec(), self.scheduler.counters().loads));
        }
    }

    /// Whether the same request, sent again to the same runner, hangs.
    pub(crate) fn is_wedged(&self, body: &[u8]) -> bool {
        let loads = self.scheduler.counters().loads;
        lock(&self.log)
            .wedged
            .as_ref()
            .is_some_and(|(wedged, then)| wedged == body && *then == loads)
    }

    /// How often this model was asked to be pulled, this time included.
    pub(crate) fn pulls(&self, name: &str) -> usize {
        let named = |r: &&Received| {
            let json = r.json.as_ref();
            let asked = json.and_then(|j| j["model"].as_str().or(j["name"].as_str()));
            r.path == "/api/pull" && asked == Some(name)
        };
        lock(&self.log).requests.iter().filter(named).count()
    }

    fn record(&self, connection: u64, request: &Request) -> usize {
        let mut log = lock(&self.log);
        log.requests.push(Received {
            connection,
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            json: crate::gojson::parse(&request.body)
                .ok()
                .map(|json| json.to_value()),
            at: self.clock.now(),
            ..Received::default()
        });
        if log.requests.len() > self.remembers {
            log.requests.remove(0);
            log.forgotten += 1;
        }
        let at = log.forgotten + log.requests.len() - 1;
        drop(log);
        self.changed.notify_all();
        at
    }
}

impl Server {
    /// Starts a server on a port of 127.0.0.1, in a thread of its own: it needs no runtime of the caller's and
    /// serves child processes as well. Fails when the port cannot be had.
    pub fn start(config: Config) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Arc::new(Shared {
            profile: config.profile,
            scheduler: Scheduler::new(config.clock.clone(), config.max_queue, config.max_loaded),
            clock: config.clock,
            chunker: config.chunker,
            dressing: config.dressing,
            cloud_disabled: config.cloud_disabled,
            closes_idle: config.closes_idle,
            remembers: config.remembers,
            models: Mutex::new(config.models),
            script: Mutex::new(config.script),
            log: Mutex::default(),
            changed: Condvar::new(),
        });
        let (stop, stopped) = watch::channel(false);
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("ollama-sim".to_owned())
            .spawn(move || {
                runtime.block_on(accept(listener, for_thread, stopped));
            })?;
        Ok(Self {
            address,
            shared,
            stop,
            thread: Some(thread),
        })
    }

    /// Starts a server that follows a script, everything else by default.
    pub fn scripted(script: Script) -> io::Result<Self> {
        Self::start(Config::new(script))
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The server's clock.
    pub fn clock(&self) -> Clock {
        self.shared.clock.clone()
    }

    /// Every request so far that is remembered, in order of arrival.
    pub fn requests(&self) -> Vec<Received> {
        lock(&self.shared.log).requests.clone()
    }

    /// The requests to `/api/chat` so far.
    pub fn chats(&self) -> Vec<Received> {
        let mut requests = self.requests();
        requests.retain(|r| r.path == "/api/chat");
        requests
    }

    /// Loads, unloads and clients that went.
    pub fn counters(&self) -> Counters {
        self.shared.scheduler.counters()
    }

    /// What was unexpected so far.
    pub fn failures(&self) -> Vec<String> {
        lock(&self.shared.log).failures.clone()
    }

    /// Drops a model from memory, as a crash or another program's request would.
    pub fn evict(&self, model: &str) -> bool {
        let weights = {
            let models = self.shared.models();
            let found = models.iter().find(|m| crate::same_model(&m.name, model));
            found.map(|m| m.weights().to_owned())
        };
        weights.is_some_and(|weights| self.shared.scheduler.unload(&weights))
    }

    /// Waits (real time, at most `patience`) until what the server has seen is so; whether it came to be. This
    /// blocks the thread; it is meant for tests and returns as soon as the condition holds.
    pub fn wait_until(&self, patience: Duration, holds: impl Fn(&[Received]) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut log = lock(&self.shared.log);
        while !holds(&log.requests) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(log, left);
            log = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Whether the script was kept: no unexpected request, none missing.
    pub fn finish(&self) -> Result<(), ScriptNotKept> {
        let mut faults = self.failures();
        faults.extend(self.shared.script().left_over());
        if faults.is_empty() {
            Ok(())
        } else {
            Err(ScriptNotKept(faults))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic in the thread has been printed; there is nothing to add in a drop.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    // Without this, one-byte chunks would wait for each other's acknowledgement.
                    let _ = stream.set_nodelay(true);
                    connections.spawn(serve(Arc::clone(&shared), Connection::new(stream)));
                }
            }
        }
    }
}

async fn serve(shared: Arc<Shared>, connection: Connection) {
    let number = {
        let mut log = lock(&shared.log);
        log.connections += 1;
        log.connections - 1
    };
    while let Ok(Some(request)) = connection.request().await {
        let record = shared.record(number, &request);
        let mut wire = Wire::new(&connection, &request, shared.chunker, shared.dressing);
        let outcome = {
            let answering = routes::answer(&shared, &request, &mut wire, record);
            tokio::select! {
                outcome = answering => Some(outcome),
                () = connection.gone() => None,
            }
        };
        let status = wire.written.status;
        let ended = match outcome {
            Some(Ok(())) => Ended::Answered,
            Some(Err(Closed::Script)) => Ended::Lost,
            Some(Err(Closed::Client)) | None => Ended::ClientLeft,
        };
        let now = shared.clock.now();
        shared.note(record, |r| {
            r.status = status;
            r.ended = ended;
            r.ended_at = Some(now);
        });
        if ended != Ended::Answered || request.closes() || shared.closes_idle {
            return;
        }
    }
}
