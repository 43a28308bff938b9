//! Asking again: what a retry changes, when there is one, and what the person is told. Nothing was executed from the
//! reply that failed.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Phase, Reason};
use wisp_ollama::{
    ChatRequest, DoneReason, Error, KeepAlive, Message, Quirk, Refusal, Remedy, Reply, Role, Think,
};

use wisp_output::amount::{grouped, span};

use super::{Progress, Turn, TurnError};
use crate::conversation::Conversation;
use crate::model::arriving::ended_for;
use crate::model::exchange::Failed;
use crate::model::failure::Failure;
use crate::protocol::NoteLevel;

/// Retries with a changed request after the model wrote a call that cannot be read.
const CHANGES: u32 = 2;
/// How long the server is given to unload a model that hangs.
const UNLOADING: Duration = Duration::from_secs(10);

/// What is done at most once for one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Once {
    /// `think` is left out.
    WithoutThink,
    /// `tools` are left out.
    WithoutTools,
    /// The model was told that its reply was empty.
    Nudged,
    /// The model was told that its call, written as text, cannot be read.
    Unread,
    /// The model is asked not to think.
    ThinkOff,
    /// The model was unloaded because it hung.
    Unloaded,
    /// The request before may have left the server hanging.
    MayHang,
    /// The reply must have its form: the request has the schema as its `format`, and no tools.
    Formed,
    /// The model was told why its reply does not satisfy the schema.
    FormExplained,
}

/// What retries change about the requests of one step.
#[derive(Debug, Default, Clone)]
pub struct Changes {
    seed: Option<i64>,
    done: BTreeSet<Once>,
    /// A note of wisp's to the model, in this request only.
    note: Option<String>,
    tries: u32,
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
        self.done.contains(&Once::WithoutTools)
    }

    /// Whether the request before may have left the server hanging.
    pub fn may_hang(&self) -> bool {
        self.done.contains(&Once::MayHang)
    }

    /// Whether the reply is asked for in its form.
    pub fn formed(&self) -> bool {
        self.done.contains(&Once::Formed)
    }

    /// Bytes of the note, 0 without one.
    pub fn added(&self) -> u64 {
        self.note.as_ref().map_or(0, |note| note.len() as u64 + 2)
    }

    /// Changes a request that is about to be sent.
    pub fn apply(&self, request: &mut ChatRequest, off: Option<Think>) {
        if self.done.contains(&Once::WithoutThink) {
            request.think = None;
        }
        if self.done.contains(&Once::ThinkOff) {
            request.think = off;
        }
        request.options.seed = self.seed;
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
        changes.tries += 1;
        let details = json!({
            "model": self.model.name, "attempt": changes.tries, "failure": failure.to_string(),
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
            return Ok(now);
        }
        Ok(match failure.remedy() {
            Remedy::Wait => self.waits.busy.get(changes.tries as usize).copied(),
            Remedy::Once => (changes.tries == 0).then_some(self.waits.pause),
            Remedy::Change => self.changed(failure, changes).await.then_some(Duration::ZERO),
            Remedy::WithoutThink if changes.done.insert(Once::WithoutThink) => {
                self.model.forget_thinking();
                now
            }
            Remedy::WithoutTools if changes.done.insert(Once::WithoutTools) => {
                self.go_without_tools();
                now
            }
            Remedy::Condense if !progress.condensed => {
                progress.condensed = true;
                progress.grown_from = None;
                self.overflowed(failure, progress)?.then_some(Duration::ZERO)
            }
            Remedy::Stop | Remedy::WithoutThink | Remedy::WithoutTools | Remedy::Condense => None,
        })
    }

    /// Another request after one the model failed at: a word about what was wrong and another seed, twice at most. A
    /// server that hangs over it is freed once by unloading the model.
    async fn changed(&self, failure: &Failure, changes: &mut Changes) -> bool {
        if matches!(failure, Failure::Hangs(_)) {
            if !changes.done.insert(Once::Unloaded) {
                return false;
            }
            let unload = self
                .model
                .client
                .load(&self.model.name, None, Some(KeepAlive::Seconds(0)));
            let _ = tokio::time::timeout(UNLOADING, unload).await;
        } else if changes.tries >= CHANGES {
            return false;
        }
        changes.seed = Some(i64::from(changes.tries) + 1);
        if self.model.version.has(Quirk::RetryMayHang) {
            changes.done.insert(Once::MayHang);
        }
        if let Some(note) = corrective(failure) {
            changes.note = Some(note);
        }
        true
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
        // A reply that ran out of room while thinking would only do so again.
        let ran_out = only_thought && cut.is_some();
        let can_turn_off = self.model.think(Think::Off).is_some()
            && (only_thought || self.model.show.can("thinking") == Some(true));
        let may_nudge = !(ran_out && can_turn_off);
        let how = if may_nudge && changes.done.insert(Once::Nudged) {
            changes.note = Some(self.nudge(cut));
            "asking once more"
        } else if can_turn_off && changes.done.insert(Once::ThinkOff) {
            "asking once more without thinking"
        } else {
            let how = if only_thought {
                ": it only thought, and said nothing"
            } else {
                ""
            };
            return Err(match cut {
                Some(limit) => TurnError::CutEmpty { limit, how },
                None => TurnError::Empty(how),
            });
        };
        changes.tries += 1;
        changes.seed = Some(i64::from(changes.tries));
        let details = json!({
            "model": self.model.name, "attempt": changes.tries, "reason": "empty reply", "failure": how,
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
        if changes.tries >= CHANGES {
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
        if !changes.done.insert(Once::Unread) {
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

    pub(super) fn once_more_with(
        &self,
        note: String,
        what: &str,
        changes: &mut Changes,
        number: u64,
    ) -> Result<(), TurnError> {
        changes.note = Some(note);
        changes.tries += 1;
        changes.seed = Some(i64::from(changes.tries));
        let details = json!({
            "model": self.model.name, "attempt": changes.tries, "reason": "unusable call", "failure": what,
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
        let first = changes.done.insert(Once::Formed) && self.tools.is_some();
        if !first && !changes.done.insert(Once::FormExplained) {
            return Err(TurnError::NotInForm(why));
        }
        let note = if first {
            "(Give your final answer now, as JSON that satisfies the schema.)".to_owned()
        } else {
            format!(
                "(Your last answer does not satisfy the schema: {why}. Give the whole answer again, corrected.)"
            )
        };
        changes.note = Some(note);
        changes.tries += 1;
        let details = json!({
            "model": self.model.name, "attempt": changes.tries, "reason": "schema", "failure": why,
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
