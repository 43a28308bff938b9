//! One request of a turn: measured before it is sent, condensed when due, sent, judged, and sent again where that is
//! safe.

use std::time::Instant;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Phase, Reason, Request};
use wisp_ollama::unread::Unread;
use wisp_ollama::{ChatRequest, Reply, Think, ToolDefinition};
use wisp_turn::Fault;

use super::again::Changes;
use super::judge::Sent;
use super::{Progress, Turn, TurnError};
use crate::conversation::Conversation;
use crate::form::Form;
use crate::model::arriving::Arrived;
use crate::model::exchange::{Ask, Exchanged, exchange};
use crate::model::waiting::Reads;
use crate::model::{Heard, convert};
use crate::protocol::{Event, NoteLevel};

/// Tokens that a reply may have, with what is kept free beside it, although the prompt might be as long as it can be.
const SURE_REPLY: u64 = 768;
/// How often room is made for a request that may not fit, before it is given up.
const ROOM_TRIES: u32 = 4;

impl Conversation {
    /// Sends the next request of the turn and gives its whole reply, or what had arrived when it was stopped.
    pub(super) async fn ask(
        &mut self,
        step: u32,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Exchanged, TurnError> {
        let mut changes = Changes::saying(progress.told.take());
        loop {
            self.leave(turn).await?;
            self.make_room(step, progress.number)?;
            let composed = self.surely_fitting(&changes, progress)?;
            self.show_request();
            let request = self.prepared(&composed, &changes, progress);
            changes.limit = request.options.num_predict;
            self.record_request(&request, &composed, step, progress.number)?;
            let began = Instant::now();
            let reads = self.reads(&composed);
            match self
                .exchanged(&request, &changes, (progress.guide.is_some(), reads), turn)
                .await
            {
                Ok(Exchanged::Whole(arrived)) => {
                    let sent = Sent {
                        composed: &composed,
                        added: changes.added() + self.image_bytes(&composed),
                    };
                    if self.usable(sent, &arrived, &mut changes, progress).await? {
                        return Ok(Exchanged::Whole(arrived));
                    }
                }
                Ok(Exchanged::Interrupted(partial)) => {
                    self.came_from_elsewhere(&partial, progress.number)?;
                    return Ok(Exchanged::Interrupted(partial));
                }
                Err(failed) => {
                    changes.waited = began.elapsed();
                    self.came_from_elsewhere(&failed.partial, progress.number)?;
                    self.after(failed, &mut changes, turn, progress).await?;
                }
            }
            self.events.send(Event::Discarded);
        }
    }

    async fn exchanged(
        &self,
        request: &ChatRequest,
        changes: &Changes,
        (guided, reads): (bool, Reads),
        turn: &Turn<'_>,
    ) -> Result<Exchanged, crate::model::exchange::Failed> {
        let offered = request.tools.as_ref().map(convert::definitions);
        let ask = Ask {
            client: &self.model.client,
            request,
            offered: offered.as_deref().unwrap_or(&[] as &[ToolDefinition]),
            opens_thinking: self.model.opens_thinking(request),
            warm: self.model.heard != Heard::Nothing,
            may_hang: changes.may_hang(),
            reads: Some(reads),
            guided: guided && self.form_now(changes).is_none(),
            waits: &self.waits,
        };
        exchange(&ask, &turn.doing, &turn.stop).await
    }

    /// What the server has to read of a request: all but what the last one it counted had.
    fn reads(&self, composed: &Request) -> Reads {
        let warm = self.model.heard != Heard::Nothing;
        let known = self.counted.as_ref().filter(|known| {
            warm && known.tool_bytes == self.estimator.tool_bytes()
                && composed.messages.starts_with(&known.messages)
        });
        Reads {
            tokens: self.estimator.estimate(composed.bytes()).tokens,
            cached: known.map_or(0, |known| known.tokens),
            speed: self.speed.tokens(),
        }
    }

    /// Whether a whole reply can be used. One to a prompt that was cut, and an empty one, are asked for again.
    async fn usable(
        &mut self,
        sent: Sent<'_>,
        arrived: &Arrived,
        changes: &mut Changes,
        progress: &mut Progress,
    ) -> Result<bool, TurnError> {
        let reply = &arrived.reply;
        if std::mem::replace(&mut self.model.heard, Heard::Replied) != Heard::Replied {
            let read = reply.done.as_ref().and_then(|done| done.metrics.prompt_tokens);
            self.see_loaded_window(read).await;
        }
        self.see_reload(reply, progress.number);
        if self.came_from_elsewhere(reply, progress.number)? && !reply.tool_calls.is_empty() {
            return Ok(false);
        }
        if self.was_cut_or_formed(sent, reply, changes, progress)? {
            return Ok(false);
        }
        if reply.tool_calls.is_empty() && reply.content.trim().is_empty() {
            self.empty(reply, changes, progress)?;
            return Ok(false);
        }
        if arrived.cut_call {
            self.cut_call(reply, changes, progress.number)?;
            return Ok(false);
        }
        if let Some(note) = Self::refused_answer(arrived, progress) {
            changes.retry.on(Fault::AnswerRefused, &self.pauses());
            self.once_more_with(
                note.to_owned(),
                "the answer lacks what was asked for",
                changes,
                progress.number,
            )?;
            return Ok(false);
        }
        if let Some(unread) = &arrived.unread {
            return self.as_text(unread, arrived, changes, progress);
        }
        if reply.tool_calls.is_empty() {
            return self.in_form(reply, changes, progress);
        }
        Ok(true)
    }

    /// Whether the prompt was cut. A request for a reply in its form has no tools, and its count says nothing of the next
    /// one, which has them.
    fn was_cut_or_formed(
        &mut self,
        sent: Sent<'_>,
        reply: &Reply,
        changes: &Changes,
        progress: &mut Progress,
    ) -> Result<bool, TurnError> {
        if !changes.formed() {
            return self.was_cut(sent, reply, progress);
        }
        let tools = self.estimator.tool_bytes();
        self.estimator.set_tool_bytes(0);
        let cut = self.was_cut(sent, reply, progress);
        self.estimator.set_tool_bytes(tools);
        self.estimator.forget_report();
        self.counted = None;
        progress.grown_from = None;
        cut
    }

    /// A reply that holds a call which was not read: whether it is taken as it is. The person is told each time.
    fn as_text(
        &self,
        unread: &Unread,
        arrived: &Arrived,
        changes: &mut Changes,
        progress: &Progress,
    ) -> Result<bool, TurnError> {
        if let Unread::Whole(why) = unread
            && self.unread(why, changes, progress.number)?
        {
            return Ok(false);
        }
        if !arrived.unshown.is_empty() {
            self.events.send(Event::Delta {
                text: arrived.unshown.clone(),
            });
        }
        let text = "the reply holds a tool call written as text, which was not run";
        self.events.note(NoteLevel::Warning, text);
        Ok(true)
    }

    /// The request for a composed context, with what retries changed.
    fn prepared(&self, composed: &Request, changes: &Changes, progress: &Progress) -> ChatRequest {
        let tools = self.tools.as_ref().filter(|_| !changes.without_tools());
        let tokens = self.cost(composed) + changes.added() + self.image_bytes(composed);
        let form = self.form_now(changes);
        let mut request = match &progress.guide {
            Some(guide) if form.is_none() => self.guided(composed, guide, tokens),
            Some(_) => self.unguided(composed, tokens),
            None => self.model.request(composed, tools, tokens),
        };
        changes.apply(&mut request, self.model.think(Think::Off));
        self.attach(&mut request);
        if let Some(form) = form {
            request.format = Some(form.schema().clone());
            request.think = self.model.think_with_format();
            // They would not be sent; and what the reply holds is then no call written as text.
            request.tools = None;
        }
        request
    }

    /// The form that the next reply is held to: once the model is done with its tools, or when it has none.
    fn form_now(&self, changes: &Changes) -> Option<&Form> {
        let calls = self.tools.is_some() && !changes.without_tools();
        self.terms.form.as_ref().filter(|_| changes.formed() || !calls)
    }

    /// The tokens a request is counted with when the reply is bounded: never fewer than it may have. Where the server
    /// forgets the front when the window fills, as many as it can have, as long as that leaves a reply worth having.
    fn cost(&self, composed: &Request) -> u64 {
        let estimate = self.estimator.estimate(composed.bytes());
        let likely = estimate.tokens + estimate.uncounted / 8;
        if self.model.cuts_silently() {
            likely.max(self.most(composed))
        } else if self.model.version.shift() != Some(false) {
            let enough = self.model.window.tokens.saturating_sub(SURE_REPLY);
            likely.max(self.most(composed).min(enough))
        } else {
            likely
        }
    }

    /// The next request. On a server that drops what does not fit without a word it must fit however its text is
    /// split into tokens, or it is not sent.
    fn surely_fitting(&mut self, changes: &Changes, progress: &mut Progress) -> Result<Request, TurnError> {
        for _ in 0..ROOM_TRIES {
            let composed = self.record.request();
            let most = self.most(&composed) + changes.added() + self.image_bytes(&composed);
            if self.surely_fits(most) {
                return Ok(composed);
            }
            let usual = self.assume_the_worst(&composed, most);
            let made = self.condense(Phase::TurnStart, Reason::Overflow, progress.number);
            self.estimator = usual;
            if !made? {
                break;
            }
            progress.grown_from = None;
        }
        let bytes = self.record.compose().bytes();
        Err(self.too_long(self.estimator.estimate(bytes).tokens))
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
            "messages": request.messages.len(),
            "bytes": composed.bytes(),
            "tokens": self.estimator.estimate(composed.bytes()).tokens,
            "tools": request.tools.is_some(),
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
}
