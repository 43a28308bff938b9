//! The threads of the server: at most so many open at once, the least recently used making room.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use wisp_agent::saved::Saving;
use wisp_agent::{Selection, Setup};
use wisp_host::{Env, IdSource, RandomIds};

use crate::queue::Queue;
use crate::thread::{State, Thread};

/// The most threads that are open at once.
pub(crate) const MOST: usize = 32;
/// The most threads that are remembered, open or not.
const REMEMBERED: usize = 256;
/// The longest name of a thread.
const NAME: usize = 64;

/// What the server is started with.
#[derive(Clone)]
pub struct Options {
    /// The environment.
    pub env: Env,
    /// wisp's home.
    pub home: PathBuf,
    /// Where threads work, absolute.
    pub directory: PathBuf,
    /// The model of threads whose caller names none.
    pub model: Option<String>,
    /// The instructions of threads whose caller gives none.
    pub instructions: Option<String>,
    /// The tools of threads whose caller names none.
    pub tools: Selection,
    /// Whether what would be asked about is allowed.
    pub yes: bool,
}

/// What a caller asks of a thread that begins.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) model: Option<String>,
}

impl Wanted {
    fn is_nothing(&self) -> bool {
        self.instructions.is_none() && self.tools.is_none() && self.model.is_none()
    }
}

/// The threads.
pub(crate) struct Threads {
    pub(crate) options: Options,
    pub(crate) queue: Queue,
    /// Cancelled when the client is gone.
    pub(crate) gone: CancellationToken,
    /// The most recently used last.
    all: Mutex<Vec<Arc<Thread>>>,
}

impl Threads {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            queue: Queue::new(),
            gone: CancellationToken::new(),
            all: Mutex::default(),
        }
    }

    pub(crate) fn all(&self) -> MutexGuard<'_, Vec<Arc<Thread>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of this name that was opened last.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Thread>> {
        self.all().iter().rev().find(|thread| thread.id == id).cloned()
    }

    /// The open thread of this name, or a new one; and whether it is new. What a new one is to be like cannot be asked of
    /// one that is open.
    pub(crate) fn open(&self, id: Option<&str>, wanted: Wanted) -> Result<(Arc<Thread>, bool), String> {
        let id = id.map_or_else(|| RandomIds.next(), str::to_owned);
        let mut evicted = Vec::new();
        let opened = {
            let mut all = self.all();
            let known = all
                .iter()
                .position(|thread| thread.id == id && thread.facts().state == State::Open);
            if let Some(at) = known {
                if !wanted.is_nothing() {
                    return Err(format!(
                        "the thread {id} is open already: instructions, tools and model are given when it begins"
                    ));
                }
                let thread = all.remove(at);
                all.push(Arc::clone(&thread));
                (thread, false)
            } else {
                let thread = Arc::new(Thread::new(id.clone(), self.setup(&id, wanted)));
                let open = all.iter().filter(|thread| thread.facts().state == State::Open);
                let over = (open.count() + 1).saturating_sub(MOST);
                let oldest = all
                    .iter()
                    .filter(|thread| thread.facts().state == State::Open)
                    .take(over);
                evicted.extend(oldest.cloned());
                all.push(Arc::clone(&thread));
                let forgotten = all.len().saturating_sub(REMEMBERED);
                all.drain(..forgotten);
                (thread, true)
            }
        };
        for thread in evicted {
            thread.facts().state = State::Evicted;
            tokio::spawn(async move { thread.close(State::Evicted).await });
        }
        Ok(opened)
    }

    /// Forgets a thread that could not be opened.
    pub(crate) fn forget(&self, thread: &Arc<Thread>) {
        self.all().retain(|known| !Arc::ptr_eq(known, thread));
    }

    /// Whether an audit session is a thread's.
    pub(crate) fn has_session(&self, session: &str) -> bool {
        self.all().iter().any(|thread| thread.facts().session == session)
    }

    fn setup(&self, id: &str, wanted: Wanted) -> Setup {
        let options = &self.options;
        let mut setup = Setup::new(options.env.clone(), options.directory.clone(), "mcp");
        setup.thread = Some(id.to_owned());
        setup.model = wanted.model.or_else(|| options.model.clone());
        setup.instructions = wanted.instructions.or_else(|| options.instructions.clone());
        setup.tools = match wanted.tools {
            None => options.tools.clone(),
            Some(names) if names.is_empty() => Selection::None,
            Some(names) => Selection::Named(names),
        };
        setup.yes = options.yes;
        setup.saving = Saving {
            on: true,
            ..Saving::default()
        };
        setup
    }

    /// Ends every thread.
    pub(crate) async fn end(&self) {
        let all: Vec<Arc<Thread>> = self.all().drain(..).collect();
        for thread in all {
            thread.close(State::Closed).await;
        }
    }
}

/// Whether a thread can have this name: letters, digits, `.`, `_` and `-`, 1 to 64 of them.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    (1..=NAME).contains(&name.len()) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads() -> Threads {
        Threads::new(Options {
            env: Env::default(),
            home: "/".into(),
            directory: "/".into(),
            model: None,
            instructions: None,
            tools: Selection::All,
            yes: false,
        })
    }

    #[test]
    fn names_have_exact_bounds() {
        assert!(is_name(&"a".repeat(64)) && is_name("A.b_c-9"));
        assert!(!is_name(&"a".repeat(65)) && !is_name("") && !is_name("a/b") && !is_name("é"));
    }

    #[tokio::test]
    async fn the_least_recently_used_makes_room_and_a_name_used_again_is_a_new_thread() {
        let threads = threads();
        for n in 0..MOST {
            threads.open(Some(&format!("t{n}")), Wanted::default()).unwrap();
        }
        let (_, created) = threads.open(Some("t0"), Wanted::default()).unwrap();
        assert!(!created);
        threads.open(Some("more"), Wanted::default()).unwrap();
        let state = |id: &str| threads.find(id).unwrap().facts().state;
        assert_eq!(
            (state("t0"), state("t1"), state("t2")),
            (State::Open, State::Evicted, State::Open)
        );
        let (_, created) = threads.open(Some("t1"), Wanted::default()).unwrap();
        assert!(created && state("t1") == State::Open);
    }

    #[test]
    fn what_begins_a_thread_is_refused_once_it_is_open() {
        let threads = threads();
        threads.open(Some("t"), Wanted::default()).unwrap();
        let wanted = Wanted {
            instructions: Some("x".to_owned()),
            ..Wanted::default()
        };
        let Err(why) = threads.open(Some("t"), wanted) else {
            panic!("it was opened")
        };
        assert!(why.contains("given when it begins"), "{why}");
    }
}
