//! The loop: compose, send, stream, run the calls in order, record, again, until the model replies without a call.

mod again;
mod elsewhere;
mod failure;
mod guiding;
mod hooked;
mod judge;
mod place;
mod request;
pub(crate) mod tools;

use std::time::Duration;

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Estimator, Outcome};
use wisp_exec::Cancel;
use wisp_ollama::{DoneReason, Reply};
use wisp_turn::{Effect, End, Input, Machine};

use crate::cited;
use crate::conversation::Conversation;
use crate::engine::desk::Asker;
use crate::events::Doing;
use crate::form::Form;
use crate::guided::GuidedTurn;
use crate::model::arriving::Arrived;
use crate::model::exchange::Exchanged;
use crate::protocol::{Event, NoteLevel, Phase, TurnEnd, TurnOutcome};
use crate::receipt::Receipt;
use judge::How;

pub use failure::TurnError;

/// The most requests of one turn, unless the command line says otherwise.
pub const MAX_STEPS: u32 = 50;

/// What a turn is run with: the face's clock, the person, and the way to stop it.
pub struct Turn<'a> {
    /// Says what is being done.
    pub doing: Doing,
    /// Whom the turn and its tools can ask.
    pub person: &'a Asker,
    /// Stops the turn and what it runs.
    pub cancel: Cancel,
    /// Cancelled by the first press of `cancel`.
    pub stop: tokio_util::sync::CancellationToken,
}

/// What a turn has come to so far.
#[derive(Debug)]
struct Progress {
    number: u64,
    /// What decides: steps, calls, repeats, the end.
    machine: Machine,
    receipt: Receipt,
    /// What the person asked.
    asked: String,
    reply: String,
    /// What the model is told of a call it repeats, in its next request, as the user's words.
    told: Option<String>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// How long the server generated for those, where it says so.
    generated: Duration,
    /// The estimator as it was before a refusal without figures was guessed to be just over the window.
    before_guess: Option<Estimator>,
    /// Whether the reply just read was shifted.
    shifted: bool,
    /// What guides the replies of a model that is held to a schema.
    guide: Option<Box<GuidedTurn>>,
    /// Tokens of the last reply, which the server has read by writing them.
    written: u64,
    /// The last whole request of this turn and its count, while nothing left it since.
    grown_from: Option<(Vec<wisp_context::message::Message>, u64)>,
}

impl Progress {
    fn new(number: u64, asked: &str, max_steps: u32) -> Self {
        Self {
            number,
            machine: Machine::new(max_steps),
            receipt: Receipt::default(),
            asked: asked.to_owned(),
            reply: String::new(),
            told: None,
            input_tokens: None,
            output_tokens: None,
            generated: Duration::ZERO,
            before_guess: None,
            shifted: false,
            guide: None,
            written: 0,
            grown_from: None,
        }
    }
}

/// How many lines of a prompt the user wrote; none when all of it is theirs, or when it does not begin with their words
/// (a message that was too long is kept as an output).
fn own_lines(own: &str, prompt: &str) -> Option<u32> {
    let below = prompt.strip_prefix(own)?;
    let lines = || u32::try_from(own.split('\n').count()).ok();
    below.starts_with("\n\n").then(lines).flatten()
}

impl Conversation {
    /// Runs one turn to its end and tells the face. Whatever happens, what had arrived is recorded.
    pub async fn turn(&mut self, prompt: &str, turn: &Turn<'_>) -> TurnEnd {
        let mut progress = Progress::new(self.turn_number() + 1, prompt, self.terms.max_steps);
        self.events.send(Event::Turn {
            phase: Phase::Start,
            turn: progress.number,
            end: None,
        });
        self.notice_agents(turn.person).await;
        self.see_servers(turn).await;
        let prompt = self.within_budget(prompt);
        let ended = self.run_turn(&prompt, turn, &mut progress).await;
        if let Some(usual) = progress.before_guess.take() {
            // No count came to judge the guess by; the next turn is not to be measured with it.
            self.estimator = usual;
        }
        let (outcome, recorded) = match ended {
            Ok(TurnOutcome::Interrupted) => (TurnOutcome::Interrupted, Outcome::Interrupted),
            Ok(outcome) => (outcome, Outcome::Completed),
            Err(error) => {
                self.report(&error, progress.number);
                let outcome = match error {
                    TurnError::TooManySteps(_) => TurnOutcome::Limit,
                    _ => TurnOutcome::Error,
                };
                (outcome, Outcome::Failed(error.to_string()))
            }
        };
        self.end_record(recorded, progress.number);
        self.condensed = false;
        self.ratios.keep(&self.model.name, &self.estimator);
        if let Some(speed) = self.speed.measured() {
            self.model.keep_speed(speed);
        }
        self.save();
        self.tell_masked();
        let end = self.ended(&progress, outcome, &turn.doing);
        self.speed
            .end_turn(end.tokens_per_second, end.first_token_seconds);
        self.stop_hooked(outcome, turn).await;
        turn.doing.nothing();
        self.events.send(Event::Turn {
            phase: Phase::End,
            turn: progress.number,
            end: Some(end.clone()),
        });
        end
    }

    async fn run_turn(
        &mut self,
        prompt: &str,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<TurnOutcome, TurnError> {
        let notice = self.beside.notice.take().map(|notice| format!("[{notice}]"));
        let files = self.guide(prompt, progress);
        let rule = self.terms.form.as_ref().map(Form::rule);
        let hooked = self.prompt_hooked(prompt, turn).await?;
        let attached = self.attached(prompt);
        let beside = [attached, notice, files, rule, hooked].into_iter().flatten();
        let whole = beside.fold(prompt.to_owned(), |text, line| format!("{text}\n\n{line}"));
        self.begin(&whole, progress.number)?;
        let mut effects = progress.machine.on(Input::Begin);
        loop {
            match effects.pop() {
                Some(Effect::Ask { step }) => effects = self.step(step, turn, progress).await?,
                Some(Effect::End(end)) => return outcome(end),
                other => unreachable!("between steps the machine asks or ends: {other:?}"),
            }
        }
    }

    fn begin(&mut self, prompt: &str, number: u64) -> Result<(), TurnError> {
        let stamp = self.stamped(number, Kind::Prompt, json!({ "text": prompt }))?;
        let started = self.record.begin_turn(prompt, stamp);
        if let Some(lines) = self.beside.own.take().and_then(|own| own_lines(&own, prompt)) {
            self.record.set_own_lines(lines);
        }
        for referenced in started.referenced {
            let details = self.reference_details(&referenced);
            self.record_event(number, Kind::ContextReference, details)?;
        }
        // Always, however slow the disk is: what the person wrote is what they would miss most.
        self.save();
        Ok(())
    }

    async fn step(
        &mut self,
        step: u32,
        turn: &Turn<'_>,
        progress: &mut Progress,
    ) -> Result<Vec<Effect>, TurnError> {
        let arrived = match self.ask(step, turn, progress).await? {
            Exchanged::Whole(arrived) => arrived,
            Exchanged::Interrupted(partial) => {
                self.keep_partial(&partial, progress.number, "stopped by the person")?;
                return Ok(progress.machine.on(Input::Interrupted));
            }
        };
        count(&arrived.reply, progress);
        if arrived.reply.tool_calls.is_empty() {
            return self.replied(&arrived, step, progress);
        }
        self.run_calls(arrived, step, turn, progress).await
    }

    /// A reply without calls ends the turn.
    fn replied(
        &mut self,
        arrived: &Arrived,
        step: u32,
        progress: &mut Progress,
    ) -> Result<Vec<Effect>, TurnError> {
        let (reply, raw) = (&arrived.reply, arrived.raw.as_deref());
        let cut = reply
            .done
            .as_ref()
            .is_some_and(|d| d.reason == DoneReason::Length);
        let how = if std::mem::take(&mut progress.shifted) {
            How::Shifted
        } else {
            How::Whole
        };
        let stamp = self.response(reply, step, progress.number, how)?;
        let thinking = self.stamp();
        self.record.record_thinking(reply.thinking.as_str(), thinking);
        self.record.record_reply(reply.content.as_str(), false, stamp);
        if let Some(raw) = raw {
            self.raw.keep(&reply.content, raw);
        }
        if cut {
            let note = "the reply was cut at the most tokens the window leaves; say \"go on\" to continue";
            self.events.note(NoteLevel::Warning, note);
        }
        progress.reply.push_str(&reply.content);
        Ok(progress.machine.on(Input::Replied))
    }

    /// Keeps what had arrived of a reply that did not come to its end. No call of it is run.
    pub(crate) fn keep_partial(
        &mut self,
        partial: &Reply,
        number: u64,
        reason: &str,
    ) -> Result<(), TurnError> {
        let details = json!({
            "reason": reason, "bytes": partial.content.len(), "calls": partial.tool_calls.len(),
        });
        self.record_event(number, Kind::TurnInterrupted, details)?;
        if partial.content.is_empty() {
            return Ok(());
        }
        let stamp = self.response(partial, 0, number, How::Interrupted)?;
        self.record.record_reply(partial.content.as_str(), true, stamp);
        Ok(())
    }

    fn end_record(&mut self, outcome: Outcome, number: u64) {
        for cut in self.record.end_turn(outcome) {
            let details = json!({
                "entry": cut.reply, "output": cut.cut.output, "tool": cut.cut.tool,
                "response": self.source(cut.reply), "result": self.source(cut.cut.output), "bytes": cut.saved,
                "tokens": self.estimator.tokens(cut.saved), "words": cut.cut.words,
                // Only whole lines that are the output's are cut.
                "coverage": 1,
            });
            // The cut is in the record, which is what requests are composed from.
            let _ = self.record_event(number, Kind::ContextCut, details);
        }
    }

    fn ended(&self, progress: &Progress, outcome: TurnOutcome, doing: &Doing) -> TurnEnd {
        let offered = self.tools.is_some() && outcome == TurnOutcome::Ok;
        let names = if offered {
            self.registry.names()
        } else {
            Vec::new()
        };
        let last = self.record.entry_count();
        TurnEnd {
            seconds: doing.seconds(),
            outcome,
            input_tokens: progress.input_tokens,
            output_tokens: progress.output_tokens,
            tokens_per_second: rate(progress),
            first_token_seconds: doing.first_token(),
            ran: progress.receipt.line(
                &progress.asked,
                &progress.reply,
                &names.iter().map(String::as_str).collect::<Vec<_>>(),
            ),
            cited: cited::missing(&progress.reply, last),
        }
    }
}

/// Tokens in a second of generating; none when the server did not say how long it generated.
fn rate(progress: &Progress) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "replies stay far below 2^53 tokens")]
    let tokens = progress.output_tokens.filter(|tokens| *tokens > 0)? as f64;
    let seconds = progress.generated.as_secs_f64();
    (seconds > 0.0).then(|| tokens / seconds)
}

/// What the end that the machine decided is to the caller.
fn outcome(end: End) -> Result<TurnOutcome, TurnError> {
    match end {
        End::Replied => Ok(TurnOutcome::Ok),
        End::Interrupted => Ok(TurnOutcome::Interrupted),
        End::TooManySteps(steps) => Err(TurnError::TooManySteps(steps)),
        End::Repeated { tool, times } => Err(TurnError::Repeated { tool, times }),
        End::Failed => unreachable!("what fails is returned where it fails, with its reason"),
    }
}

/// Adds a reply's tokens to the turn's.
fn count(reply: &Reply, progress: &mut Progress) {
    let Some(done) = &reply.done else { return };
    let add = |sum: Option<u64>, more: Option<u64>| match (sum, more) {
        (None, None) => None,
        (sum, more) => Some(sum.unwrap_or(0) + more.unwrap_or(0)),
    };
    progress.input_tokens = add(progress.input_tokens, done.metrics.prompt_tokens);
    progress.output_tokens = add(progress.output_tokens, done.metrics.reply_tokens);
    progress.generated += done.metrics.generate.unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wisp_host::{Env, FixedClock, FixedIds};

    use super::*;
    use crate::events::Events;
    use crate::saved::Folder;
    use crate::{Setup, engine, ground};

    async fn conversation(home: &std::path::Path) -> Conversation {
        let env: Env = [
            ("WISP_HOME", home.display().to_string()),
            ("OLLAMA_HOST", "127.0.0.1:1".into()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        let mut setup = Setup::new(env, home.to_owned(), "chat");
        setup.demo = true;
        setup.clock = Arc::new(FixedClock::at("2026-01-01T00:00:00Z"));
        setup.ids = Arc::new(FixedIds::default());
        let (to, _) = tokio::sync::mpsc::unbounded_channel();
        engine::start::start(ground(setup).expect("a home"), &Events::new(to), None)
            .await
            .expect("a conversation with the demo model")
    }

    /// A kill at any later moment of the turn finds the prompt saved, however slow the disk was before.
    #[tokio::test]
    async fn a_prompt_is_saved_as_its_turn_begins_also_after_a_save_that_took_long() {
        let home = tempfile::tempdir().expect("a directory of its own");
        let mut conversation = conversation(home.path()).await;
        conversation.begin("the first prompt", 1).expect("an audit");
        let thread = conversation.thread.as_mut().expect("a chat is saved");
        thread.seem_slow();
        let name = thread.name().to_owned();
        conversation.begin("the second prompt", 2).expect("an audit");
        let saved = Folder::new(conversation.paths.transcripts()).load(&name);
        assert_eq!(saved.expect("a saved conversation").record.turn_count(), 2);
    }
}
