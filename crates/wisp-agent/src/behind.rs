//! What stands behind a tool's call: the conversation's record, its model and its state, each seen through the
//! trait that `wisp-tools` asks for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wisp_audit::{AuditLog, Event, Kind};
use wisp_config::Config;
use wisp_context::message::{Message, Request, Role};
use wisp_context::{Action, Author, Basis, EntryId, Gauge, ThreadRecord, Time, reserve};
use wisp_ollama::Think;
use wisp_output::amount::grouped;
use wisp_tools::behind::{Answered, NoAnswer, Plain, Recalled, Recollection, State, Wanted};

use crate::model::{Model, most};
use crate::saved::Thread;

/// The record, to be recalled from and noted in. The calls of a reply run one after another, so nobody ever waits.
pub(crate) struct Record<'a> {
    all: Mutex<&'a mut ThreadRecord>,
    thread: Option<&'a Thread>,
    time: Time,
}

impl<'a> Record<'a> {
    /// A record, where it is saved, and the time that notes are made at.
    pub(crate) fn new(record: &'a mut ThreadRecord, thread: Option<&'a Thread>, time: Time) -> Self {
        Self {
            all: Mutex::new(record),
            thread,
            time,
        }
    }

    fn lock(&self) -> MutexGuard<'_, &'a mut ThreadRecord> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Recalls from memory, or what was put away from the files: an entry or a turn from where it stands.
    fn recalled(&self, wanted: &wisp_context::Wanted) -> Result<wisp_context::Recalled, String> {
        let record = self.lock();
        match self.thread.filter(|_| record.is_away(wanted)) {
            None => record.recall(wanted),
            Some(thread) => {
                if let Some(recalled) = thread.recalled(&record, wanted) {
                    return Ok(recalled);
                }
                let whole = thread.whole(&record);
                whole.map_err(|error| format!("memory: {error}"))?.recall(wanted)
            }
        }
    }
}

impl Recollection for Record<'_> {
    fn keeps(&self, id: &str) -> bool {
        let record = self.lock();
        let shown = wisp_host::ids::shown(id);
        if record.keeps(id, shown) {
            return true;
        }
        // What was put away is only looked through for what is not in memory.
        let whole = self.thread.filter(|_| !record.is_whole());
        whole.is_some_and(|thread| thread.whole(&record).is_ok_and(|whole| whole.keeps(id, shown)))
    }

    fn note(&self, text: &str) -> Result<String, String> {
        self.lock().note(text, self.time)
    }

    fn set_task(&self, text: &str) -> Result<String, String> {
        self.lock().set_task(text, Author::Model, self.time)
    }

    fn recall(&self, wanted: &Wanted) -> Result<Recalled, String> {
        let recalled = self.recalled(&asked(wanted))?;
        Ok(Recalled {
            header: recalled.header,
            text: recalled.text,
            kept: recalled.kept.map(|id| id.as_str().to_owned()),
            printed: recalled
                .printed
                .map(|printed| (printed.bytes, (printed.out_lines, printed.lines))),
            entries: recalled.entries.len(),
        })
    }
}

/// A number too large to be one is the number of nothing.
fn asked(wanted: &Wanted) -> wisp_context::Wanted {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    match wanted {
        Wanted::Entry(number) => wisp_context::Wanted::Entry(EntryId(small(*number))),
        Wanted::Turn(number) => wisp_context::Wanted::Turn(small(*number)),
        Wanted::Task => wisp_context::Wanted::Task,
        Wanted::Words(words) => wisp_context::Wanted::Words(words.clone()),
    }
}

/// The model, asked by itself: no tools, nothing of the conversation, nothing of it in the record.
pub(crate) struct Aside<'a> {
    /// The conversation's model, in the window it is loaded with.
    pub model: &'a Model,
    /// Where each request and answer is recorded.
    pub audit: &'a AuditLog,
    /// The turn.
    pub turn: u64,
    /// What pressure is measured with.
    pub gauge: Gauge<'a>,
    /// Cancelled when the turn is stopped.
    pub stop: CancellationToken,
}

impl wisp_tools::behind::Model for Aside<'_> {
    fn ask(&self, question: Plain, call: &str) -> Answered<'_> {
        let call = call.to_owned();
        Box::pin(async move { self.answer(question, &call).await })
    }
}

impl Aside<'_> {
    async fn answer(&self, question: Plain, call: &str) -> Result<String, NoAnswer> {
        let composed = Request {
            messages: vec![
                Message::new(Role::System, question.instructions.as_str()),
                Message::new(Role::User, &*wisp_template_tokens::inert(&question.prompt)),
            ],
            parts: Vec::new(),
        };
        let bytes = composed.bytes();
        let estimate = self.weighed(&composed, call)?;
        let mut request = self.model.request(&composed, None, estimate);
        let room = request.options.num_predict.unwrap_or(u64::MAX);
        request.options.num_predict = Some(room.min(question.most_tokens));
        if self.model.show.can("thinking") == Some(true) {
            request.think = Some(Think::Off);
        }
        let details = json!({
            "model": self.model.name, "messages": 2, "bytes": bytes, "tokens": estimate, "tools": false,
            "contextSize": self.model.window.tokens, "purpose": question.purpose,
        });
        self.record(Kind::ModelRequest, details, call)?;
        let reply = async { self.model.client.chat(&request).await?.finish().await };
        let reply = tokio::select! {
            reply = reply => reply.map_err(|e| NoAnswer::Failed(e.to_string()))?,
            () = self.stop.cancelled() => return Err(NoAnswer::Stopped),
        };
        let metrics = reply.done.as_ref().map(|done| &done.metrics);
        let usage = json!({
            "input": metrics.and_then(|m| m.prompt_tokens), "output": metrics.and_then(|m| m.reply_tokens),
        });
        self.record(
            Kind::Response,
            json!({"text": reply.content, "usage": usage}),
            call,
        )?;
        Ok(reply.content)
    }

    /// The tokens a question is counted with, recorded as pressure like those of any request. One that may not fit is
    /// not asked: nothing of it can be left out.
    fn weighed(&self, composed: &Request, call: &str) -> Result<u64, NoAnswer> {
        let (window, gauge) = (self.model.window.tokens, &self.gauge);
        let likely = gauge.estimator.tokens(composed.bytes());
        let tokens = if self.model.cuts_silently() {
            likely.max(most::in_request(composed, "", None))
        } else {
            likely
        };
        let fits = tokens + reserve(window) <= window;
        let details = json!({
            "phase": "aside", "estimate": tokens, "basis": Basis::Bytes, "window": window,
            "budget": gauge.target.budget(window), "headroom": 0, "fits": fits,
            "action": if fits { Action::Send } else { Action::Refuse },
        });
        self.record(Kind::ContextPressure, details, call)?;
        if fits {
            Ok(tokens)
        } else {
            let (tokens, window) = (grouped(tokens), grouped(window));
            let why = format!("about {tokens} tokens do not fit the model's window of {window}");
            Err(NoAnswer::Failed(why))
        }
    }

    fn record(&self, kind: Kind, details: Value, call: &str) -> Result<(), NoAnswer> {
        let event = Event::new(kind, details).in_turn(self.turn).of_call(call);
        let recorded = self.audit.append(event);
        recorded
            .map(drop)
            .map_err(|e| NoAnswer::Failed(format!("the audit cannot be written: {e}")))
    }
}

/// The state of the conversation, as `inspect` shows it.
pub(crate) struct Situation<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// What `status` says, made before the call.
    pub status: Value,
}

impl State for Situation<'_> {
    fn config(&self) -> Value {
        self.config.effective()
    }

    fn status(&self) -> Value {
        self.status.clone()
    }
}
