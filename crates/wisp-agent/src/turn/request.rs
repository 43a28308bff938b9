//! One request of a turn: measured before it is sent, condensed when due, retried where that is safe.

use std::time::{Duration, Instant};

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::truncation::{Counts, Verdict, verdict};
use wisp_context::{Phase, Reason, Request, Stamp};
use wisp_ollama::{ChatRequest, DoneReason, Error, Remedy, Reply};

use super::{Progress, Step, Turn, TurnError};
use crate::conversation::Conversation;
use crate::model::exchange::{Exchanged, Failed, exchange};
use crate::protocol::NoteLevel;

/// Pauses between tries while a server is busy.
const BUSY: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(8),
];
/// The pause before the one retry after a crash or a lost connection.
const PAUSE: Duration = Duration::from_secs(1);
/// Retries with a changed request after the model wrote a call that cannot be read.
const CHANGES: u32 = 2;

/// What a retry changes about a request.
#[derive(Debug, Default, Clone)]
struct Changes {
    seed: Option<i64>,
    without_think: bool,
    without_tools: bool,
    tries: u32,
}

impl Conversation {
    /// Sends the next request of the turn and gives its whole reply, or what had arrived when it was stopped.
    pub(super) async fn ask(
        &mut self,
        step: u32,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Exchanged, TurnError> {
        let mut changes = Changes::default();
        loop {
            self.make_room(step, progress.number)?;
            let composed = self.record.request();
            let request = self.prepared(&composed, &changes);
            self.record_request(&request, &composed, step, progress.number)?;
            let began = Instant::now();
            match exchange(&self.model.client, &request, &turn.doing, &turn.stop).await {
                Ok(Exchanged::Whole(reply)) => {
                    if !self.was_cut(&composed, &reply, progress)? {
                        return Ok(Exchanged::Whole(reply));
                    }
                }
                Ok(stopped) => return Ok(stopped),
                Err(failed) => self.after(failed, &mut changes, turn, progress, began).await?,
            }
        }
    }

    /// The request for a composed context, with what retries changed.
    fn prepared(&self, composed: &Request, changes: &Changes) -> ChatRequest {
        let estimate = self.estimator.estimate(composed.bytes()).tokens;
        let tools = self.tools.as_ref().filter(|_| !changes.without_tools);
        let mut request = self.model.request(composed, tools, estimate);
        if changes.without_think {
            request.think = None;
        }
        request.options.seed = changes.seed;
        request
    }

    fn record_request(
        &self,
        request: &ChatRequest,
        composed: &Request,
        step: u32,
        number: u64,
    ) -> Result<(), TurnError> {
        let details = json!({
            "model": request.model,
            "step": step,
            "messages": composed.messages.len(),
            "bytes": composed.bytes(),
            "tokens": self.estimator.estimate(composed.bytes()).tokens,
            "tools": self.tools.is_some(),
            "contextSize": self.model.window.tokens,
        });
        self.record_event(number, Kind::ModelRequest, details)?;
        Ok(())
    }

    /// Measures the request that is about to be sent, and makes it fit.
    pub(super) fn make_room(&mut self, step: u32, number: u64) -> Result<(), TurnError> {
        let phase = if step == 1 {
            Phase::TurnStart
        } else {
            Phase::ToolLoop
        };
        self.condense_if_due(phase, number)
    }

    /// Looks at the counts of a whole reply. True when the server cut the prompt: room was made, and the request is
    /// to be sent again; nothing of the reply is used.
    fn was_cut(
        &mut self,
        composed: &Request,
        reply: &Reply,
        progress: &mut Progress,
    ) -> Result<bool, TurnError> {
        let Some(metrics) = reply.done.as_ref().map(|d| &d.metrics) else {
            return Ok(false);
        };
        let Some(prompt) = metrics.prompt_tokens else {
            return Ok(false);
        };
        let counts = Counts {
            prompt,
            reply: metrics.reply_tokens,
        };
        let bytes = composed.bytes();
        match verdict(&self.estimator, bytes, counts, self.model.window.tokens) {
            Verdict::Whole | Verdict::Shifted => {
                self.estimator.report(bytes, prompt);
                Ok(false)
            }
            Verdict::Cut { counted, estimated } if progress.condensed => {
                Err(TurnError::SilentCut { counted, estimated })
            }
            Verdict::Cut { counted, estimated } => {
                progress.condensed = true;
                let text = format!(
                    "the server read only {counted} of about {estimated} tokens; asking again with a shorter conversation"
                );
                self.events.note(NoteLevel::Warning, text);
                self.estimator.forget_report();
                self.condense(Phase::TurnStart, Reason::Overflow, progress.number)?;
                Ok(true)
            }
        }
    }

    /// After a failed exchange: waits, changes the request or gives up. Nothing was executed from the reply.
    async fn after(
        &mut self,
        failed: Failed,
        changes: &mut Changes,
        turn: &Turn<'_>,
        progress: &mut Progress,
        began: Instant,
    ) -> Result<(), TurnError> {
        let remedy = failed.error.remedy();
        let again = self.remedied(&failed.error, remedy, changes, progress)?;
        let Some(pause) = again else {
            self.keep_partial(&failed.partial, progress.number, &failed.error.to_string())?;
            return Err(failed.error.into());
        };
        changes.tries += 1;
        let details = json!({
            "model": self.model.name, "attempt": changes.tries, "failure": failed.error.to_string(),
            "reason": format!("{remedy:?}").to_lowercase(), "waitSeconds": pause.as_secs(),
        });
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        let text = format!(
            "{}; trying once more after {:.0} s",
            failed.error,
            began.elapsed().as_secs_f64()
        );
        self.events.note(NoteLevel::Warning, text);
        turn.doing.say("waiting to try again");
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = turn.stop.cancelled() => {}
        }
        Ok(())
    }

    /// The pause before the next try; none when there is no use in one.
    fn remedied(
        &mut self,
        error: &Error,
        remedy: Remedy,
        changes: &mut Changes,
        progress: &mut Progress,
    ) -> Result<Option<Duration>, TurnError> {
        Ok(match remedy {
            Remedy::Stop => None,
            Remedy::Wait => BUSY.get(changes.tries as usize).copied(),
            Remedy::Once => (changes.tries == 0).then_some(PAUSE),
            Remedy::Change if changes.tries < CHANGES => {
                changes.seed = Some(i64::from(changes.tries) + 1);
                Some(Duration::ZERO)
            }
            Remedy::WithoutThink if !changes.without_think => {
                changes.without_think = true;
                self.model.forget_thinking();
                Some(Duration::ZERO)
            }
            Remedy::WithoutTools if !changes.without_tools => {
                changes.without_tools = true;
                self.tools = None;
                let text = format!(
                    "{} cannot call tools; going on without them (/model chooses another)",
                    self.model.name
                );
                self.events.note(NoteLevel::Warning, text);
                Some(Duration::ZERO)
            }
            Remedy::Condense if !progress.condensed => {
                progress.condensed = true;
                self.overflowed(error, progress.number)?;
                Some(Duration::ZERO)
            }
            Remedy::Change | Remedy::WithoutThink | Remedy::WithoutTools | Remedy::Condense => None,
        })
    }

    /// The server refused the request as too long: learns from it and makes room.
    fn overflowed(&mut self, error: &Error, number: u64) -> Result<(), TurnError> {
        let Error::ContextOverflow {
            prompt_tokens,
            window,
            ..
        } = error
        else {
            return Ok(());
        };
        let bytes = self.record.compose().bytes();
        if let Some(window) = window.filter(|w| *w > 0 && *w < self.model.window.tokens) {
            self.model.window.tokens = window;
            "what the server said when a request did not fit".clone_into(&mut self.model.window.why);
            self.registry.services().budget.set_window(window);
        }
        self.estimator
            .overflowed(bytes, *prompt_tokens, self.model.window.tokens);
        self.condense(Phase::TurnStart, Reason::Overflow, number)
    }

    /// An empty reply: the model is asked once more, then the turn fails.
    pub(super) fn empty(&mut self, reply: &Reply, progress: &mut Progress) -> Result<Step, TurnError> {
        let loaded = matches!(
            reply.done.as_ref().map(|d| &d.reason),
            Some(DoneReason::Load | DoneReason::Unload)
        );
        if loaded || progress.nudged {
            let how = if reply.thinking.is_empty() {
                ""
            } else {
                ": it only thought, and said nothing"
            };
            return Err(TurnError::Empty(how));
        }
        progress.nudged = true;
        progress.retried += 1;
        let details = json!({"model": self.model.name, "attempt": 1, "reason": "empty reply"});
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        self.events.note(
            NoteLevel::Warning,
            "the model gave an empty reply; asking once more",
        );
        self.model.turn_thinking_off();
        Ok(Step::Called)
    }

    /// Records a reply, or what had arrived of one.
    pub(super) fn response(
        &self,
        reply: &Reply,
        step: u32,
        number: u64,
        interrupted: bool,
    ) -> Result<Stamp, TurnError> {
        let metrics = reply.done.as_ref().map(|d| &d.metrics);
        let usage = json!({
            "input": metrics.and_then(|m| m.prompt_tokens),
            "output": metrics.and_then(|m| m.reply_tokens),
            "cached": metrics.and_then(|m| m.cached_tokens),
        });
        let mut details = json!({"text": reply.content, "step": step, "usage": usage});
        if interrupted {
            details["interrupted"] = true.into();
        }
        Ok(self.stamped(number, Kind::Response, details)?)
    }
}
