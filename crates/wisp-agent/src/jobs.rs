//! Jobs: work beside the turns. A job is a future with an id and a title; the user sees it in the status line while it
//! lasts and can take it back. Its result is applied to the conversation between turns, by the conversation's own task.
//!
//! ```ignore
//! let model = conversation.model.client.clone();
//! let job = Job::new(JobKind::WarmUp, "loading qwen3:8b", move |context| {
//!     let model = model.clone();
//!     async move {
//!         context.say("reading 3,000 tokens");
//!         let facts = ask(&model).await.map_err(|e| e.to_string())?;
//!         Ok(Done::new("3 facts").then(move |conversation| conversation.keep(facts)))
//!     }
//! });
//! conversation.jobs.spawn(job.with_model().retried());
//! ```
//!
//! Which jobs run is decided in `wisp_turn::Schedule`; `Runner` carries it out, and is driven by the engine's loop.

mod runner;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::{mpsc, watch};
pub use wisp_turn::{JobId, JobTerms, Preempted};

pub(crate) use runner::Runner;

use crate::conversation::Conversation;
use crate::protocol::JobStatus;

/// What a job is for: its name in the audit and in the protocol. A new kind is a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// The model is loaded and reads what every request begins with.
    WarmUp,
}

impl JobKind {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
        }
    }
}

/// A job's work, under way. Dropping it stops it, at whatever it awaits.
pub type Work = Pin<Box<dyn Future<Output = Result<Done, String>> + Send>>;

/// What is done to the conversation with a job's result.
type Apply = Box<dyn FnOnce(&mut Conversation) + Send>;

/// A job to be done.
pub struct Job {
    kind: JobKind,
    title: String,
    terms: JobTerms,
    work: Box<dyn FnMut(JobContext) -> Work + Send>,
}

impl Job {
    /// A job that runs at once, beside turns and other jobs. `work` is called for each attempt: more than once only for a
    /// job that is [`retried`](Self::retried). Its future is dropped when the job is stopped: what must not be left
    /// half-done by that is done in what [`Done::then`] is given.
    pub fn new<F>(
        kind: JobKind,
        title: impl Into<String>,
        mut work: impl FnMut(JobContext) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Done, String>> + Send + 'static,
    {
        Self {
            kind,
            title: title.into(),
            terms: JobTerms::default(),
            work: Box::new(move |context| Box::pin(work(context))),
        }
    }

    /// The same, which asks the model: it waits for the model's one place, has it between turns only, and is given up
    /// when a turn begins.
    #[must_use]
    pub fn with_model(mut self) -> Self {
        self.terms.uses_model = true;
        self
    }

    /// The same, begun anew after the turn that took the model from it, instead of given up.
    #[must_use]
    pub fn retried(mut self) -> Self {
        self.terms.when_preempted = Preempted::Retry;
        self
    }

    /// The same, asked for by the turn under way: it has the model's place beside it, and ends with it at the latest.
    #[must_use]
    pub fn for_turn(mut self) -> Self {
        self.terms.for_turn = true;
        self
    }
}

/// A job's result.
pub struct Done {
    words: String,
    apply: Option<Apply>,
}

impl Done {
    /// A job that came to its end, in a few words for the audit.
    pub fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            apply: None,
        }
    }

    /// The same, with what is done to the conversation: between turns, in the conversation's own task, as soon as none is
    /// under way. Not done when the job was stopped before.
    #[must_use]
    pub fn then(mut self, apply: impl FnOnce(&mut Conversation) + Send + 'static) -> Self {
        self.apply = Some(Box::new(apply));
        self
    }
}

/// What a job is given of its surroundings.
#[derive(Clone)]
pub struct JobContext {
    id: JobId,
    to: mpsc::UnboundedSender<News>,
}

impl JobContext {
    /// What is being done now, in place of the title.
    pub fn say(&self, title: impl Into<String>) {
        let _ = self.to.send(News::Said(self.id, title.into()));
    }
}

/// What the engine's loop is told of jobs.
pub(crate) enum News {
    /// A new one.
    Added(JobId, Box<Job>),
    /// One is to be taken back.
    Cancel(JobId),
    /// What one is doing.
    Said(JobId, String),
    /// One has come to its end; none when it was stopped.
    Ended(JobId, Option<Result<Done, String>>),
}

/// Asks for jobs; anybody may hold one, in any task.
#[derive(Clone)]
pub struct Spawner {
    to: mpsc::UnboundedSender<News>,
    count: Arc<AtomicU32>,
}

impl Spawner {
    /// Asks for a job, which begins as soon as it may. After the end of the conversation it never does.
    pub fn spawn(&self, job: Job) -> JobId {
        let id = JobId(self.count.fetch_add(1, Ordering::Relaxed) + 1);
        let _ = self.to.send(News::Added(id, Box::new(job)));
        id
    }

    /// Takes a job back. One that is over is not touched.
    pub fn cancel(&self, id: JobId) {
        let _ = self.to.send(News::Cancel(id));
    }
}

/// The jobs of a conversation, as it asks for them. They begin once an engine runs it.
pub struct Jobs {
    spawner: Spawner,
    /// The jobs that are not over, as the engine has them.
    status: watch::Receiver<Vec<JobStatus>>,
    /// For the engine, once.
    engine: Option<(mpsc::UnboundedReceiver<News>, watch::Sender<Vec<JobStatus>>)>,
}

impl Default for Jobs {
    fn default() -> Self {
        let (to, news) = mpsc::unbounded_channel();
        let (shows, status) = watch::channel(Vec::new());
        Self {
            spawner: Spawner {
                to,
                count: Arc::default(),
            },
            status,
            engine: Some((news, shows)),
        }
    }
}

impl Jobs {
    /// Asks for a job ([`Spawner::spawn`]).
    pub fn spawn(&self, job: Job) -> JobId {
        self.spawner.spawn(job)
    }

    /// Takes a job back.
    pub fn cancel(&self, id: JobId) {
        self.spawner.cancel(id);
    }

    /// The jobs that are not over, in the order they were asked for.
    pub fn status(&self) -> Vec<JobStatus> {
        self.status.borrow().clone()
    }

    /// The same, for who looks from another task.
    pub fn watched(&self) -> watch::Receiver<Vec<JobStatus>> {
        self.status.clone()
    }

    /// What asks for jobs from elsewhere: another task, a tool.
    pub fn spawner(&self) -> Spawner {
        self.spawner.clone()
    }
}
