//! What carries out which jobs run: one task each, recorded at its beginning and its end, shown while it lasts.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use wisp_audit::{AuditLog, Kind};
use wisp_turn::{JobEffect, JobId, JobInput, JobOver, Schedule};

use super::{Apply, Done, Job, JobContext, Jobs, News};
use crate::events::Events;
use crate::protocol::{Event, JobStatus};

/// A job that is not over.
struct Running {
    job: Job,
    /// What it says it is doing.
    title: String,
    /// How often it was begun.
    attempt: u32,
    began: Instant,
    /// Whether a beginning is recorded whose end is not.
    is_open: bool,
    /// Its task, once it was begun.
    task: Option<AbortHandle>,
    /// What came of it, until the schedule says that it is over.
    result: Option<Result<Done, String>>,
}

/// The jobs of one conversation, owned by its engine.
pub(crate) struct Runner {
    to: mpsc::UnboundedSender<News>,
    news: mpsc::UnboundedReceiver<News>,
    schedule: Schedule,
    jobs: BTreeMap<JobId, Running>,
    audit: AuditLog,
    events: Events,
    /// What the front end was told last.
    shown: watch::Sender<Vec<JobStatus>>,
    /// Results that wait for the turn under way to end.
    ready: Vec<Apply>,
}

impl Runner {
    /// What runs the jobs of a conversation. Those asked for before begin with the first [`take`](Self::take).
    pub fn new(jobs: &mut Jobs, audit: AuditLog, events: Events) -> Self {
        // A conversation has one engine; for another one of it nothing comes.
        let nothing = || (mpsc::unbounded_channel().1, watch::Sender::default());
        let (news, shown) = jobs.engine.take().unwrap_or_else(nothing);
        Self {
            to: jobs.spawner.to.clone(),
            news,
            schedule: Schedule::default(),
            jobs: BTreeMap::new(),
            audit,
            events,
            shown,
            ready: Vec::new(),
        }
    }

    /// The next thing that happens to a job. Nothing is lost when this is dropped.
    pub async fn next(&mut self) -> News {
        match self.news.recv().await {
            Some(news) => news,
            // Only without jobs: this holds a sender itself.
            None => std::future::pending().await,
        }
    }

    /// Takes what has happened to a job.
    pub fn take(&mut self, news: News) {
        self.note(news);
        self.show();
    }

    fn note(&mut self, news: News) {
        match news {
            News::Added(id, job) => {
                let terms = job.terms;
                self.jobs.insert(id, Running::of(*job));
                self.feed(JobInput::Added(id, terms));
            }
            News::Cancel(id) => self.feed(JobInput::Cancel(id)),
            News::Said(id, title) => {
                if let Some(running) = self.jobs.get_mut(&id) {
                    running.title = title;
                }
            }
            News::Ended(id, result) => {
                let was_stopped = result.is_none();
                if let Some(running) = self.jobs.get_mut(&id) {
                    running.task = None;
                    running.result = result;
                }
                self.feed(if was_stopped {
                    JobInput::Stopped(id)
                } else {
                    JobInput::Ended(id)
                });
            }
        }
    }

    /// Takes what has happened so far, and waits for nothing.
    pub fn see(&mut self) {
        self.catch_up();
        self.show();
    }

    /// A turn begins: the model is its own.
    pub fn turn_begins(&mut self) {
        self.catch_up();
        self.feed(JobInput::TurnBegins);
        self.show();
    }

    /// The turn is over.
    pub fn turn_ends(&mut self) {
        self.catch_up();
        self.feed(JobInput::TurnEnds);
        self.show();
    }

    /// The conversation ends: every job is stopped, and recorded as stopped.
    pub fn close(&mut self) {
        self.catch_up();
        self.feed(JobInput::Close);
        let left: Vec<JobId> = self.jobs.keys().copied().collect();
        for id in left {
            self.feed(JobInput::Stopped(id));
        }
        self.show();
    }

    /// The results to be applied to the conversation, now that it is free, in the order they came.
    pub fn ready(&mut self) -> Vec<Apply> {
        std::mem::take(&mut self.ready)
    }

    fn status(&self) -> Vec<JobStatus> {
        let status = |(id, job): (&JobId, &Running)| JobStatus {
            id: id.to_string(),
            kind: job.job.kind.name().to_owned(),
            title: job.title.clone(),
            running: self.schedule.is_running(*id) == Some(true),
        };
        self.jobs.iter().map(status).collect()
    }

    /// Takes what is known already: a job asked for just before a turn counts as before it.
    fn catch_up(&mut self) {
        while let Ok(news) = self.news.try_recv() {
            self.note(news);
        }
    }

    fn feed(&mut self, input: JobInput) {
        for effect in self.schedule.on(input) {
            match effect {
                JobEffect::Start(id) => self.start(id),
                JobEffect::Stop(id) => {
                    if let Some(task) = self.jobs.get(&id).and_then(|running| running.task.as_ref()) {
                        task.abort();
                    }
                }
                JobEffect::Pause(id) => {
                    if let Some(running) = self.jobs.get_mut(&id) {
                        record_end(&self.audit, id, running, "paused");
                    }
                }
                JobEffect::Over(id, over) => self.over(id, over),
            }
        }
    }

    fn start(&mut self, id: JobId) {
        let Some(running) = self.jobs.get_mut(&id) else {
            return;
        };
        running.attempt += 1;
        running.began = Instant::now();
        running.result = None;
        let details = json!({
            "job": id.to_string(), "kind": running.job.kind.name(), "title": running.title,
            "usesModel": running.job.terms.uses_model, "forTurn": running.job.terms.for_turn,
            "attempt": running.attempt,
        });
        // What cannot be recorded is not done.
        if let Err(error) = record(&self.audit, Kind::JobStart, details) {
            let _ = self.to.send(News::Ended(id, Some(Err(error))));
            return;
        }
        running.is_open = true;
        let context = JobContext {
            id,
            to: self.to.clone(),
        };
        let work = tokio::spawn((running.job.work)(context));
        running.task = Some(work.abort_handle());
        let to = self.to.clone();
        tokio::spawn(async move {
            let result = match work.await {
                Ok(result) => Some(result),
                Err(error) if error.is_cancelled() => None,
                Err(_) => Some(Err("it panicked".to_owned())),
            };
            let _ = to.send(News::Ended(id, result));
        });
    }

    fn over(&mut self, id: JobId, over: JobOver) {
        let Some(mut running) = self.jobs.remove(&id) else {
            return;
        };
        if let Some(task) = running.task.take() {
            task.abort();
        }
        let outcome = match (over, running.result.take()) {
            (JobOver::Ended, Some(Ok(done))) => {
                self.ready.extend(done.apply);
                running.title = done.words;
                "done"
            }
            (JobOver::Ended, Some(Err(why))) => {
                running.title = why;
                "failed"
            }
            (JobOver::Preempted, _) => "preempted",
            (JobOver::Ended | JobOver::Cancelled, _) => "cancelled",
        };
        record_end(&self.audit, id, &mut running, outcome);
    }

    /// Tells the front end, when something changed.
    fn show(&mut self) {
        let jobs = self.status();
        if *self.shown.borrow() != jobs {
            self.shown.send_replace(jobs.clone());
            self.events.send(Event::Jobs { jobs });
        }
    }
}

impl Running {
    fn of(job: Job) -> Self {
        Self {
            title: job.title.clone(),
            job,
            attempt: 0,
            began: Instant::now(),
            is_open: false,
            task: None,
            result: None,
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        for running in self.jobs.values() {
            if let Some(task) = &running.task {
                task.abort();
            }
        }
    }
}

/// Records the end of an attempt; of a job that waits there is none. Nothing can be done about an end that cannot be
/// recorded: the work is done.
fn record_end(audit: &AuditLog, id: JobId, running: &mut Running, outcome: &str) {
    if !std::mem::take(&mut running.is_open) {
        return;
    }
    let details = json!({
        "job": id.to_string(), "kind": running.job.kind.name(), "outcome": outcome, "words": running.title,
        "seconds": running.began.elapsed().as_secs_f64(),
    });
    let _ = record(audit, Kind::JobEnd, details);
}

fn record(audit: &AuditLog, kind: Kind, details: Value) -> Result<(), String> {
    audit
        .append(wisp_audit::Event::new(kind, details))
        .map(drop)
        .map_err(|error| format!("the audit cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::sync::Notify;

    use super::super::JobKind;
    use super::*;

    /// A runner whose recorded events are at hand: `job.start j1 1`, `job.end j1 done`.
    struct Stage {
        jobs: Jobs,
        runner: Runner,
        events: mpsc::UnboundedReceiver<Event>,
        recorded: Arc<Mutex<Vec<String>>>,
    }

    impl Stage {
        fn new() -> Self {
            let (to, events) = mpsc::unbounded_channel();
            let audit = AuditLog::off();
            let recorded = Arc::new(Mutex::new(Vec::new()));
            let seen = recorded.clone();
            audit.subscribe(move |record| {
                assert_eq!(
                    record.known().map(|kind| kind.undeclared(&record.details).len()),
                    Some(0)
                );
                let how = record
                    .text("outcome")
                    .map_or_else(|| record.details["attempt"].to_string(), str::to_owned);
                let job = record.text("job").unwrap_or_default();
                seen.lock()
                    .expect("one thread")
                    .push(format!("{} {job} {how}", record.kind));
            });
            let mut jobs = Jobs::default();
            let runner = Runner::new(&mut jobs, audit, Events::new(to));
            Self {
                jobs,
                runner,
                events,
                recorded,
            }
        }

        /// Takes so many things that happen to jobs.
        async fn take(&mut self, count: usize) {
            for _ in 0..count {
                let news = self.runner.next().await;
                self.runner.take(news);
            }
        }

        fn recorded(&self) -> Vec<String> {
            self.recorded.lock().expect("one thread").clone()
        }

        /// What the front end was told: titles of each list, with `…` for one that waits.
        fn shown(&mut self) -> Vec<String> {
            let mut shown = Vec::new();
            while let Ok(event) = self.events.try_recv() {
                let Event::Jobs { jobs } = event else { continue };
                let title = |job: &JobStatus| format!("{}{}", job.title, if job.running { "" } else { "…" });
                shown.push(jobs.iter().map(title).collect::<Vec<_>>().join(", "));
            }
            shown
        }
    }

    fn quick(title: &str) -> Job {
        Job::new(JobKind::WarmUp, title, |_| async {
            Ok(Done::new("well").then(|_| ()))
        })
    }

    /// One that never ends by itself, and tells when it was begun.
    fn endless(title: &str, begun: &Arc<Notify>) -> Job {
        let begun = begun.clone();
        Job::new(JobKind::WarmUp, title, move |_| {
            begun.notify_one();
            std::future::pending()
        })
    }

    #[tokio::test]
    async fn a_job_is_recorded_shown_while_it_lasts_and_its_result_waits_to_be_applied() {
        let mut stage = Stage::new();
        stage.jobs.spawn(quick("loading"));
        stage.take(2).await;
        assert_eq!(stage.recorded(), ["job.start j1 1", "job.end j1 done"]);
        assert_eq!(stage.shown(), ["loading", ""]);
        assert_eq!(stage.runner.ready().len(), 1);
        assert_eq!(stage.runner.ready().len(), 0);
    }

    #[tokio::test]
    async fn what_a_job_says_stands_in_place_of_its_title() {
        let mut stage = Stage::new();
        stage
            .jobs
            .spawn(Job::new(JobKind::WarmUp, "loading", |context| async move {
                context.say("reading");
                std::future::pending().await
            }));
        stage.take(2).await;
        assert_eq!(stage.shown(), ["loading", "reading"]);
        assert_eq!(stage.jobs.status()[0].title, "reading");
    }

    #[tokio::test]
    async fn a_turn_pauses_a_job_that_is_retried_and_its_second_attempt_is_recorded() {
        let (mut stage, begun) = (Stage::new(), Arc::new(Notify::new()));
        stage.jobs.spawn(endless("facts", &begun).with_model().retried());
        stage.take(1).await;
        stage.runner.turn_begins();
        stage.take(1).await;
        stage.runner.turn_ends();
        let all = ["job.start j1 1", "job.end j1 paused", "job.start j1 2"];
        assert_eq!(stage.recorded(), all);
        assert_eq!(stage.shown(), ["facts", "facts…", "facts"]);
    }

    #[tokio::test]
    async fn a_job_asked_for_just_before_a_turn_does_not_run_in_it() {
        let (mut stage, begun) = (Stage::new(), Arc::new(Notify::new()));
        stage.jobs.spawn(endless("warm-up", &begun).with_model());
        stage.runner.turn_begins();
        stage.take(1).await;
        assert_eq!(stage.recorded(), ["job.start j1 1", "job.end j1 preempted"]);
    }

    #[tokio::test]
    async fn a_job_that_panics_has_failed_and_one_that_fails_says_why() {
        let mut stage = Stage::new();
        let fails = Job::new(JobKind::WarmUp, "fails", |_| async {
            Err("no server".to_owned())
        });
        stage.jobs.spawn(fails);
        let panics = Job::new(JobKind::WarmUp, "panics", |context| async move {
            assert_eq!(context.id, JobId(1), "it is the second");
            Ok(Done::new("never"))
        });
        stage.jobs.spawn(panics);
        stage.take(4).await;
        let mut ends = stage.recorded();
        ends.retain(|line| line.starts_with("job.end"));
        ends.sort();
        assert_eq!(ends, ["job.end j1 failed", "job.end j2 failed"]);
        assert!(stage.runner.ready().is_empty());
    }

    #[tokio::test]
    async fn a_job_that_is_taken_back_is_dropped_and_its_result_is_not_applied() {
        let (mut stage, begun) = (Stage::new(), Arc::new(Notify::new()));
        let id = stage.jobs.spawn(endless("long", &begun));
        stage.take(1).await;
        begun.notified().await;
        stage.jobs.cancel(id);
        stage.take(2).await;
        assert_eq!(stage.recorded(), ["job.start j1 1", "job.end j1 cancelled"]);
        assert_eq!(stage.shown(), ["long", ""]);
    }

    #[tokio::test]
    async fn the_end_of_the_conversation_ends_every_job_in_the_audit() {
        let (mut stage, begun) = (Stage::new(), Arc::new(Notify::new()));
        stage.jobs.spawn(endless("one", &begun));
        stage.jobs.spawn(endless("two", &begun).with_model());
        stage.take(2).await;
        stage.runner.close();
        let mut recorded = stage.recorded();
        recorded.sort();
        let ends = ["job.end j1 cancelled", "job.end j2 cancelled"];
        assert_eq!(recorded, [ends[0], ends[1], "job.start j1 1", "job.start j2 1"]);
    }
}
