//! Judging a whole reply by its counts: whether the server read all it was sent, and what was learned from that.

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::truncation::{Counts, Verdict, verdict};
use wisp_context::{Phase, Reason, Request, Stamp};
use wisp_ollama::window::{Observation, SilentCut, silent_cut};
use wisp_ollama::{Done, DoneReason, Quirk, Reply, same_model};
use wisp_output::amount::grouped;
use wisp_turn::{Effect, Input};

use super::{Progress, TurnError};
use crate::conversation::Conversation;
use crate::model::most::Counted;
use crate::model::reloads;
use crate::protocol::NoteLevel;

/// How a reply came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Whole.
    Whole,
    /// Whole, and the model forgot the beginning of the prompt while it wrote: the counts exceed the window.
    Shifted,
    /// Whole, its calls written as text and recovered from it.
    Recovered,
    /// Not whole.
    Interrupted,
}

/// A request as it was sent: what was composed, and the bytes a retry added to it.
#[derive(Clone, Copy)]
pub struct Sent<'a> {
    /// What was composed.
    pub composed: &'a Request,
    /// Bytes of wisp's own note to the model, 0 without one.
    pub added: u64,
}

impl Conversation {
    /// Looks at the counts of a whole reply. True when the server cut the prompt: room was made, and the request is
    /// to be sent again; nothing of the reply is used.
    pub(super) fn was_cut(
        &mut self,
        sent: Sent<'_>,
        reply: &Reply,
        progress: &mut Progress,
    ) -> Result<bool, TurnError> {
        let Some(counts) = reply.done.as_ref().and_then(counts) else {
            return Ok(false);
        };
        if let Some(usual) = progress.before_guess.take() {
            self.estimator = usual;
        }
        let verdict = self.judged(sent, reply, counts, progress);
        if verdict == Verdict::Whole {
            self.see_speed(sent, reply, progress);
        }
        match verdict {
            Verdict::Whole => {
                self.learned(sent, counts.prompt, progress);
                Ok(false)
            }
            Verdict::Shifted => {
                self.learned(sent, counts.prompt, progress);
                self.shifted(reply, counts, progress)
            }
            Verdict::Cut { counted, estimated } => {
                let text = format!(
                    "the server read only {} of about {} tokens",
                    grouped(counted),
                    grouped(estimated)
                );
                self.once_more(&text, TurnError::SilentCut { counted, estimated }, progress)
            }
        }
    }

    /// The verdict of the estimate, and where the server may cut silently also that of the bare counts.
    fn judged(&self, sent: Sent<'_>, reply: &Reply, counts: Counts, progress: &Progress) -> Verdict {
        let window = self.model.window.tokens;
        let mut what = wisp_context::truncation::Sent::from(sent.composed);
        what.bytes += sent.added;
        let verdict = verdict(&self.estimator, what, counts, window);
        let version = &self.model.version;
        if verdict == Verdict::Shifted && !self.may_have_shifted(counts) {
            return Verdict::Whole;
        }
        // What the server allots may hold a prompt that is a little over the window, and not its reply.
        let allotted = window.next_multiple_of(256);
        if verdict == Verdict::Whole
            && (window + 1..=allotted).contains(&counts.prompt)
            && self.may_have_shifted(counts)
        {
            return Verdict::Shifted;
        }
        if verdict != Verdict::Whole || !self.model.cuts_silently() {
            return verdict;
        }
        let seen = Observation {
            window,
            era: version.is_known().then(|| version.era()),
            estimate: self
                .estimator
                .is_calibrated()
                .then(|| self.estimator.estimate(what.bytes).tokens),
            prompt_tokens: Some(counts.prompt).filter(|_| !version.has(Quirk::CountsUncachedOnly)),
            reply_tokens: reply.done.as_ref().and_then(|d| d.metrics.reply_tokens),
            grown_from: grown_from(sent.composed, progress),
        };
        let most = self.most(sent.composed) + sent.added;
        match silent_cut(&seen) {
            // A prompt that surely fits was not cut, whatever its count looks like.
            Some(SilentCut::CutSize { .. }) if most < window => Verdict::Whole,
            Some(SilentCut::CutSize { read, sent }) => Verdict::Cut {
                counted: read,
                estimated: sent,
            },
            Some(SilentCut::Shrank { read, before }) => Verdict::Cut {
                counted: read,
                estimated: before,
            },
            Some(SilentCut::Shifted { .. }) => Verdict::Shifted,
            // A count far below the average may be another kind of text; the estimate's own verdict knows better.
            Some(SilentCut::FarBelow { .. }) | None => Verdict::Whole,
        }
    }

    /// Whether the server forgets the front at all, and the counts are more than it really allots: servers of the
    /// newest era round the window up to 256 tokens.
    fn may_have_shifted(&self, counts: Counts) -> bool {
        let held = counts.prompt + counts.reply.unwrap_or(0);
        self.model.version.shift() != Some(false) && held > self.model.window.tokens.next_multiple_of(256) + 1
    }

    fn learned(&mut self, sent: Sent<'_>, tokens: u64, progress: &mut Progress) {
        self.estimator.report(sent.composed.bytes() + sent.added, tokens);
        let messages = sent.composed.messages.clone();
        progress.grown_from = (sent.added == 0).then(|| (messages.clone(), tokens));
        self.counted = Some(Counted {
            messages,
            tool_bytes: self.estimator.tool_bytes(),
            tokens,
        });
    }

    /// The front was forgotten while the model wrote. Text is shown with a warning; calls written without the
    /// instructions in sight are not run.
    fn shifted(&mut self, reply: &Reply, counts: Counts, progress: &mut Progress) -> Result<bool, TurnError> {
        let window = self.model.window.tokens;
        let text = format!(
            "the reply grew past the window of {} tokens, and the model forgot its beginning",
            grouped(window)
        );
        if reply.tool_calls.is_empty() {
            progress.shifted = true;
            self.events.note(NoteLevel::Warning, text);
            return Ok(false);
        }
        let error = TurnError::SilentCut {
            counted: window,
            estimated: counts.prompt + counts.reply.unwrap_or(0),
        };
        self.once_more(&text, error, progress)
    }

    /// Makes room and says so, once a turn; the second time it is the turn's error.
    fn once_more(
        &mut self,
        text: &str,
        error: TurnError,
        progress: &mut Progress,
    ) -> Result<bool, TurnError> {
        if progress.machine.on(Input::DoesNotFit) != [Effect::MakeRoom] {
            return Err(error);
        }
        progress.grown_from = None;
        self.events.note(
            NoteLevel::Warning,
            format!(
                "{text}; nothing of it is used, and the model is asked again with a shorter conversation"
            ),
        );
        let details = json!({
            "model": self.model.name, "attempt": 1, "reason": "silent cut", "failure": error.to_string(),
        });
        self.record_event(progress.number, Kind::ModelRetry, details)?;
        self.estimator.forget_report();
        self.counted = None;
        self.guess_just_over(progress);
        if self.condense(Phase::TurnStart, Reason::Overflow, progress.number)? {
            Ok(true)
        } else {
            Err(error)
        }
    }

    /// The request was too long by a count nobody knows: it is taken to be just over the window. That is a guess, to
    /// make room by and not to judge later counts by.
    pub(super) fn guess_just_over(&mut self, progress: &mut Progress) {
        let bytes = self.record.compose().bytes();
        progress.before_guess = Some(self.estimator.clone());
        self.estimator.overflowed(bytes, None, self.model.window.tokens);
    }

    /// After the first reply of a model, to a prompt of `read` tokens: whether the server gave it the window that was
    /// asked for. One that is smaller is taken from then on, unless more than that was just read.
    pub(super) async fn see_loaded_window(&mut self, read: Option<u64>) {
        let Ok(loaded) = self.model.client.ps().await else {
            return;
        };
        let here = loaded.iter().find(|l| same_model(&l.name, &self.model.name));
        let granted = here.and_then(|l| l.context_length);
        let (asked, read) = (self.model.window.tokens, read.unwrap_or(0));
        if let Some(granted) = granted.filter(|g| *g > 0 && *g < asked && read <= *g) {
            // What nobody asked for is nothing to warn of.
            let level = if self.model.window.from.ends_with("config") {
                NoteLevel::Warning
            } else {
                NoteLevel::Info
            };
            self.shrink(granted, "what the server loaded the model with");
            let text = format!(
                "the server granted a window of {} tokens instead of {}",
                grouped(granted),
                grouped(asked)
            );
            self.events.note(level, text);
        }
    }

    /// Learns how fast the server reads, before what was read is noted as known.
    fn see_speed(&mut self, sent: Sent<'_>, reply: &Reply, progress: &mut Progress) {
        let Some(done) = &reply.done else { return };
        let before = grown_from(sent.composed, progress).filter(|_| sent.added == 0);
        let grown = before.map(|prompt| prompt + progress.written);
        self.speed.learn(&done.metrics, grown);
        progress.written = done.metrics.reply_tokens.unwrap_or(0);
        self.bound_outputs();
    }

    /// Says once when the model had to be loaded for one turn after the other.
    pub(super) fn see_reload(&mut self, reply: &Reply, number: u64) {
        let load = reply.done.as_ref().and_then(|done| done.metrics.load);
        if self.model.reloads.again(number, load) {
            let window = self.model.window.tokens;
            let text = reloads::words(&self.model.name, load.unwrap_or_default(), window);
            self.events.note(NoteLevel::Warning, text);
        }
    }

    /// Takes a smaller window.
    pub(super) fn shrink(&mut self, window: u64, why: &str) {
        self.model.window.tokens = window;
        self.model.window.from = "server";
        why.clone_into(&mut self.model.window.why);
        why.clone_into(&mut self.model.window.said);
        self.registry.services().budget.set_window(window);
    }

    /// Records a reply, or what had arrived of one.
    pub(super) fn response(
        &self,
        reply: &Reply,
        step: u32,
        number: u64,
        how: How,
    ) -> Result<Stamp, TurnError> {
        let metrics = reply.done.as_ref().map(|d| &d.metrics);
        let usage = json!({
            "input": metrics.and_then(|m| m.prompt_tokens),
            "output": metrics.and_then(|m| m.reply_tokens),
            "cached": metrics.and_then(|m| m.cached_tokens),
        });
        let mut details = json!({"text": reply.content, "step": step, "usage": usage});
        if self.condensed {
            details["condensed"] = true.into();
        }
        match how {
            How::Whole => {}
            How::Shifted => details["shifted"] = true.into(),
            How::Recovered => details["recovered"] = true.into(),
            How::Interrupted => details["interrupted"] = true.into(),
        }
        if let Some(DoneReason::Length) = reply.done.as_ref().map(|d| &d.reason) {
            details["finish"] = "length".into();
        }
        Ok(self.stamped(number, Kind::Response, details)?)
    }
}

fn counts(done: &Done) -> Option<Counts> {
    Some(Counts {
        prompt: done.metrics.prompt_tokens?,
        reply: done.metrics.reply_tokens,
    })
}

/// The count of the request before, when this one is that one and more.
fn grown_from(composed: &Request, progress: &Progress) -> Option<u64> {
    let (before, tokens) = progress.grown_from.as_ref()?;
    composed.messages.starts_with(before).then_some(*tokens)
}
