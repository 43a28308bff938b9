//! Asking again: what a retry changes, when there is one, and what the person is told. Nothing was executed from the
//! reply that failed.

use std::time::Duration;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Phase, Reason};
use wisp_ollama::{
    ChatRequest, DoneReason, Error, KeepAlive, Message, Quirk, Refusal, Remedy, Reply, Role, Think,
};

use wisp_output::amount::{grouped, span};
use wisp_turn::{Effect, EmptyReply, Fault, Input, Pauses, Retry};

use super::{Progress, Turn, TurnError};
use crate::conversation::Conversation;
use crate::model::arriving::ended_for;
use crate::model::exchange::Failed;
use crate::model::failure::Failure;
use crate::protocol::NoteLevel;

/// How long the server is given to unload a model that hangs.
const UNLOADING: Duration = Duration::from_secs(10);

/// What retries change about the requests of one step.
#[derive(Debug, Default, Clone)]
pub struct Changes {
    /// What was tried, and what it changes.
    pub(super) retry: Retry,
    /// A note of wisp's to the model, in this request only.
    note: Option<String>,
    /// How long the last exchange took.
    pub waited: Duration,
    /// The most tokens the last request allowed its reply.
    pub limit: Option<u64>,
}

impl Changes {
    /// None but these words to the model, when there are some.
    pub fn saying(note: Option<String>) -> Self {
        Self {
            note,
            ..Self::default()
        }
    }

    /// Whether tools are left out.
    pub fn without_tools(&self) -> bool {
        self.retry.is_without_tools()
    }

    /// Whether the request before may have left the server hanging.
    pub fn may_hang(&self) -> bool {
        self.retry.may_hang()
    }

    /// Whether the reply is asked for in its form.
    pub fn formed(&self) -> bool {
        self.retry.is_formed()
    }

    /// Bytes of the note, 0 without one.
    pub fn added(&self) -> u64 {
        self.note.as_ref().map_or(0, |note| note.len() as u64 + 2)
    }

    /// Changes a request that is about to be sent.
    pub fn apply(&self, request: &mut ChatRequest, off: Option<Think>) {
        if self.retry.is_without_think() {
            request.think = None;
        }
        if self.retry.is_think_off() {
            request.think = off;
        }
        request.options.seed = self.retry.seed();
        let Some(note) = &self.note else { return };
        match request.messages.last_mut().filter(|m| m.role == Role::User) {
            // Two of the person's messages in a row would melt into one.
            Some(last) => {
                last.content.push_str("\n\n");
                last.content.push_str(note);
            }
            None => request.messages.push(Message::user(note.as_str())),
        }
    }
}

impl Conversation {
    /// After a failed exchange: waits, changes the request or gives up.
    pub(super) async fn after(
        &mut self,
        failed: Failed,
        changes: &mut Changes,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<(), TurnError> {
        let Failed { failure, partial } = failed;
        let remedy = failure.remedy();
        let Some(pause) = self.remedied(&failure, changes, progress).await? else {
            self.keep_partial(&partial, progress.number, &failure.to_string())?;
            return Err(self.failed(failure));
        };
        let details = json!({
            "model": self.model.name, "attempt": changes.retry.tries(), "failure": failure.to_string(),
            "reason": format!("{remedy:?}").to_lowercase(), "waitSeconds": pause.as_secs(),
        });
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        self.events
            .note(NoteLevel::Warning, retried(&failure, changes.waited, pause));
        if !pause.is_zero() {
            turn.doing.say("waiting to try again");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = turn.stop.cancelled() => {}
            }
        }
        Ok(())
    }

    /// The pause before the next try; none when there is no use in one.
    async fn remedied(
        &mut self,
        failure: &Failure,
        changes: &mut Changes,
        progress: &mut Progress,
    ) -> Result<Option<Duration>, TurnError> {
        let now = Some(Duration::ZERO);
        if self.without_schema(failure, progress) {
            changes.retry.count();
            return Ok(now);
        }
        if failure.remedy() == Remedy::Condense {
            if progress.machine.on(Input::DoesNotFit) != [Effect::MakeRoom] {
                return Ok(None);
            }
            progress.grown_from = None;
            let made = self.overflowed(failure, progress)?;
            if made {
                changes.retry.count();
            }
            return Ok(now.filter(|_| made));
        }
        match changes.retry.on(self.fault(failure), &self.pauses()) {
            wisp_turn::Remedy::GiveUp => return Ok(None),
            wisp_turn::Remedy::Again(pause) => return Ok(Some(pause)),
            wisp_turn::Remedy::WithoutThink => self.model.forget_thinking(),
            wisp_turn::Remedy::WithoutTools => self.go_without_tools(),
            wisp_turn::Remedy::Unload => self.unload().await,
            wisp_turn::Remedy::Change | wisp_turn::Remedy::ThinkOff | wisp_turn::Remedy::Form => {
                if let Some(note) = corrective(failure) {
                    changes.note = Some(note);
                }
            }
        }
        Ok(now)
    }

    /// What a failed exchange is to the rules of retries.
    fn fault(&self, failure: &Failure) -> Fault {
        let may_hang = self.model.version.has(Quirk::RetryMayHang);
        match failure.remedy() {
            Remedy::Wait => Fault::Busy,
            Remedy::Once => Fault::Lost,
            Remedy::Change if matches!(failure, Failure::Hangs(_)) => Fault::Hangs { may_hang },
            Remedy::Change => Fault::Garbled { may_hang },
            Remedy::WithoutThink => Fault::NoThinking,
            Remedy::WithoutTools => Fault::NoTools,
            Remedy::Stop | Remedy::Condense => Fault::Fatal,
        }
    }

    pub(super) fn pauses(&self) -> Pauses<'_> {
        Pauses {
            busy: &self.waits.busy,
            once: self.waits.pause,
        }
    }

    /// Frees a server that hangs over a request of the model.
    async fn unload(&self) {
        let unload = self
            .model
            .client
            .load(&self.model.name, None, Some(KeepAlive::Seconds(0)));
        let _ = tokio::time::timeout(UNLOADING, unload).await;
    }

    fn go_without_tools(&mut self) {
        self.tools = None;
        self.estimator.set_tool_bytes(0);
        let text = format!(
            "{} cannot call tools; going on without them (/model chooses another)",
            self.model.name
        );
        self.events.note(NoteLevel::Warning, text);
    }

    /// The server refused the request as too long: learns from it and makes room. False when nothing can leave.
    fn overflowed(&mut self, failure: &Failure, progress: &mut Progress) -> Result<bool, TurnError> {
        let Failure::Server(Error::ContextOverflow {
            prompt_tokens,
            window,
            ..
        }) = failure
        else {
            return Ok(false);
        };
        let bytes = self.record.compose().bytes();
        // A count that would fit says that the server's window is smaller than wisp was told.
        let under = prompt_tokens.filter(|tokens| *tokens <= self.model.window.tokens);
        let window = window.or_else(|| under.map(|tokens| tokens.saturating_sub(1)));
        if let Some(window) = window.filter(|w| *w > 0 && *w < self.model.window.tokens) {
            self.shrink(window, "what the server said when a request did not fit");
        }
        match prompt_tokens {
            Some(tokens) => self.estimator.report(bytes, *tokens),
            None => self.guess_just_over(progress),
        }
        self.condense(Phase::TurnStart, Reason::Overflow, progress.number)
    }

    /// An empty reply. The model is asked once more with a word about it, then once without thinking where it can
    /// think, each time in that request only; then the turn fails.
    pub(super) fn empty(
        &self,
        reply: &Reply,
        changes: &mut Changes,
        progress: &Progress,
    ) -> Result<(), TurnError> {
        let only_thought = !reply.thinking.is_empty();
        let cut = ended_for(reply, &DoneReason::Length).then(|| self.limit(reply, changes));
        let can_turn_off = self.model.think(Think::Off).is_some()
            && (only_thought || self.model.show.can("thinking") == Some(true));
        let empty = Fault::Empty(EmptyReply {
            only_thought,
            cut: cut.is_some(),
            can_turn_off,
        });
        let how = match changes.retry.on(empty, &self.pauses()) {
            wisp_turn::Remedy::GiveUp => {
                let how = if only_thought {
                    ": it only thought, and said nothing"
                } else {
                    ""
                };
                return Err(match cut {
                    Some(limit) => TurnError::CutEmpty { limit, how },
                    None => TurnError::Empty(how),
                });
            }
            wisp_turn::Remedy::ThinkOff => "asking once more without thinking",
            _ => {
                changes.note = Some(self.nudge(cut));
                "asking once more"
            }
        };
        let details = json!({
            "model": self.model.name, "attempt": changes.retry.tries(), "reason": "empty reply", "failure": how,
        });
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        let what = match cut {
            Some(limit) => format!(
                "the reply was cut at {} tokens before it said anything",
                grouped(limit)
            ),
            None => "the model gave an empty reply".to_owned(),
        };
        self.events.note(NoteLevel::Warning, format!("{what}; {how}"));
        Ok(())
    }

    /// The tokens at which a reply that ended for its length was cut.
    fn limit(&self, reply: &Reply, changes: &Changes) -> u64 {
        let counted = reply.done.as_ref().and_then(|done| done.metrics.reply_tokens);
        changes.limit.or(counted).unwrap_or(self.model.window.tokens)
    }

    /// A reply that ended for its length inside a tool call: nothing of it is run. The model is told and asked again, as
    /// after a call that cannot be read.
    pub(super) fn cut_call(
        &self,
        reply: &Reply,
        changes: &mut Changes,
        number: u64,
    ) -> Result<(), TurnError> {
        let limit = self.limit(reply, changes);
        if changes.retry.on(Fault::CutCall, &self.pauses()) == wisp_turn::Remedy::GiveUp {
            return Err(TurnError::CutCall(limit));
        }
        let limit = grouped(limit);
        let note = format!(
            "(Your last reply was cut at {limit} tokens, inside a tool call, so the call was not run. Make it again with \
             shorter arguments, or in several calls, each with a part.)"
        );
        let what = format!("the reply was cut at {limit} tokens, inside a tool call, which was not run");
        self.once_more_with(note, &what, changes, number)
    }

    /// A reply that is nothing but a tool call which cannot be read. True when the model was told and is asked again,
    /// which is done once.
    pub(super) fn unread(&self, why: &str, changes: &mut Changes, number: u64) -> Result<bool, TurnError> {
        if changes.retry.on(Fault::CallAsText, &self.pauses()) == wisp_turn::Remedy::GiveUp {
            return Ok(false);
        }
        let note = format!(
            "(Your last reply was a tool call written as text, and it was not run: {why}. Make the call again as a tool \
             call, or answer in plain text.)"
        );
        let what = format!("the model wrote a tool call as text, which was not run: {why}");
        self.once_more_with(note, &what, changes, number)?;
        Ok(true)
    }

    /// Asks once more with a note to the model, after [`Retry::on`] allowed it.
    pub(super) fn once_more_with(
        &self,
        note: String,
        what: &str,
        changes: &mut Changes,
        number: u64,
    ) -> Result<(), TurnError> {
        changes.note = Some(note);
        let details = json!({
            "model": self.model.name, "attempt": changes.retry.tries(), "reason": "unusable call", "failure": what,
        });
        self.record_event(number, Kind::ModelRetry, details)?;
        self.events
            .note(NoteLevel::Warning, format!("{what}; asking once more"));
        Ok(())
    }

    /// A last reply that must have a form: whether it has it. If not, it is asked for once with the schema as the
    /// request's format, unless it was already, and then once more with what is wrong.
    pub(super) fn in_form(
        &self,
        reply: &Reply,
        changes: &mut Changes,
        progress: &Progress,
    ) -> Result<bool, TurnError> {
        let Some(form) = &self.terms.form else {
            return Ok(true);
        };
        let Err(why) = form.check(&reply.content) else {
            return Ok(true);
        };
        let has_tools = self.tools.is_some();
        let remedy = changes.retry.on(Fault::NotInForm { has_tools }, &self.pauses());
        if remedy == wisp_turn::Remedy::GiveUp {
            return Err(TurnError::NotInForm(why));
        }
        let first = remedy == wisp_turn::Remedy::Form;
        let note = if first {
            "(Give your final answer now, as JSON that satisfies the schema.)".to_owned()
        } else {
            format!(
                "(Your last answer does not satisfy the schema: {why}. Give the whole answer again, corrected.)"
            )
        };
        changes.note = Some(note);
        let details = json!({
            "model": self.model.name, "attempt": changes.retry.tries(), "reason": "schema", "failure": why,
        });
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        if !first {
            let text = format!("the reply does not satisfy the schema: {why}; asking once more");
            self.events.note(NoteLevel::Warning, text);
        }
        Ok(false)
    }

    fn nudge(&self, cut: Option<u64>) -> String {
        if let Some(limit) = cut {
            return format!(
                "(Your last reply was cut at {} tokens before it said anything. If it was a tool call, make it again with \
                 shorter arguments, or in several calls; else answer briefly, in plain text.)",
                grouped(limit)
            );
        }
        let names = self.registry.names().join(", ");
        match &self.tools {
            Some(_) => format!(
                "(Your last reply was empty. Answer now in plain text, or call one of these tools: {names}.)"
            ),
            None => "(Your last reply was empty. Answer now in plain text.)".to_owned(),
        }
    }
}

/// What the person is told of a try that failed: what happened, how long that took, and when the next one begins. It
/// reads right too when the person leaves during the pause.
fn retried(failure: &Failure, took: Duration, pause: Duration) -> String {
    let seconds = |time: Duration| span((time + Duration::from_millis(500)).as_secs());
    let took = match took.as_millis() {
        0..1000 => String::new(),
        _ => format!(" (after {})", seconds(took)),
    };
    let next = match pause.as_millis() {
        0..500 => "now".to_owned(),
        _ => format!("in {}", seconds(pause)),
    };
    format!("{failure}{took}; asking again {next}")
}

/// What the model is told of a call of its own that could not be read.
fn corrective(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Server(error) if error.refusal() == Some(Refusal::ToolCallSyntax) => {
            let why: String = error.to_string().chars().take(300).collect();
            Some(format!(
                "(Your last tool call could not be read: {why}. Make the call again, in correct form and with shorter arguments.)"
            ))
        }
        Failure::Repeats => Some("(Your last reply repeated itself. Answer briefly.)".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_says_how_long_the_last_try_took_and_when_the_next_begins() {
        let said = |took, pause| {
            retried(
                &Failure::Repeats,
                Duration::from_millis(took),
                Duration::from_millis(pause),
            )
        };
        let failure = Failure::Repeats.to_string();
        assert_eq!(said(40, 0), format!("{failure}; asking again now"));
        assert_eq!(said(40, 8_000), format!("{failure}; asking again in 8 s"));
        assert_eq!(
            said(95_400, 1_000),
            format!("{failure} (after 1 min 35 s); asking again in 1 s")
        );
        assert_eq!(said(1_000, 0), format!("{failure} (after 1 s); asking again now"));
    }
}
