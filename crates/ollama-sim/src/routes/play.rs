//! A reply on its way out: events into tokens, tokens into lines, lines onto the wire, the counts at the end.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Exchange;
use super::check::Checked;
use super::line::{self, Counts, finish_fields};
use super::refuse::fail_first;
use crate::answer::{Answer, NDJSON};
use crate::generate::{Generator, Piece, Setting, Stopped};
use crate::gojson;
use crate::model::Parser;
use crate::profile::{Era, Profile};
use crate::schedule::Lease;
use crate::script::{End, Event, Loss, Reply};
use crate::tokens;
use crate::window::{Prompt, Window};
use crate::wire::Closed;

/// A runner that died before its first word.
const DEAD_BEFORE: &str = "model runner has unexpectedly stopped, this may be due to resource limitations or an \
                           internal error, check ollama server logs for details";
/// A runner that died in the middle.
const DEAD_DURING: &str = "an error was encountered while running the model: unexpected EOF";

/// What a reply is played on.
pub(super) struct Play<'a> {
    pub(super) checked: &'a Checked,
    pub(super) window: Window,
    pub(super) prompt: &'a Prompt,
    /// Whether a `format` is set.
    pub(super) constrained: bool,
    pub(super) lease: &'a mut Lease,
}

/// How the events of a reply ended.
enum Outcome {
    /// They all happened.
    Through,
    /// The window or `num_predict` stopped them.
    Length,
    /// The reply ended otherwise and has been written to its end.
    Over,
}

/// Plays a reply.
pub(super) async fn play(x: &mut Exchange<'_, '_>, on: Play<'_>, reply: Reply) -> Result<(), Closed> {
    x.wire.cut = reply.cut;
    let prompt_ids = tokens::ids(&on.prompt.text);
    let cached = on.lease.reuse(&prompt_ids) as u64;
    on.lease.hold(prompt_ids);
    let mut player = Player::new(x, &on, cached);
    let outcome = player.events(&reply.events, on.lease).await;
    let outcome = match outcome {
        Ok(Outcome::Through) => player.finish(reply.end, &reply.after_done).await,
        Ok(Outcome::Length) => player.finish(End::Length, &reply.after_done).await,
        Ok(Outcome::Over) => Ok(()),
        Err(closed) => Err(closed),
    };
    let text = format!("{}{}", on.prompt.text, player.generator.text);
    let (generated, shifted) = (player.generator.tokens, player.generator.shifted);
    if !player.crashed {
        on.lease.hold(tokens::ids(&text));
    }
    x.shared.note(x.record, |r| {
        if let Some(chat) = &mut r.chat {
            chat.generated = generated;
            chat.shifted = shifted;
        }
    });
    outcome
}

struct Player<'p, 'x, 'c> {
    x: &'p mut Exchange<'x, 'c>,
    checked: &'p Checked,
    generator: Generator<'p>,
    prompt_tokens: u64,
    cached: u64,
    load: Duration,
    queued: Duration,
    /// What waits for the last line.
    last: Piece,
    crashed: bool,
}

impl<'p, 'x, 'c> Player<'p, 'x, 'c> {
    fn new(x: &'p mut Exchange<'x, 'c>, on: &Play<'p>, cached: u64) -> Self {
        let checked = on.checked;
        let keep = checked.options.integer("num_keep").unwrap_or(4);
        let profile: &'p Profile = &checked.profile;
        let setting = Setting {
            profile,
            model: &checked.model,
            tools: &checked.request.tools,
            think: &checked.request.think,
            window: on.window,
            shift: checked.request.shift.unwrap_or(true),
            num_predict: checked.options.integer("num_predict"),
            num_keep: u64::try_from(keep).unwrap_or(on.window.asked),
            prompt_tokens: on.prompt.tokens,
            constrained: on.constrained,
        };
        Self {
            x,
            checked,
            generator: Generator::new(setting),
            prompt_tokens: on.prompt.tokens,
            cached,
            load: on.lease.load,
            queued: on.lease.queued,
            last: Piece::default(),
            crashed: false,
        }
    }

    async fn events(&mut self, events: &[Event], lease: &mut Lease) -> Result<Outcome, Closed> {
        for event in events {
            let (pieces, stopped) = match event {
                Event::Content(text) => self.generator.content(text, true),
                Event::Line(text) => self.generator.content(text, false),
                Event::Empty => (vec![Piece::default()], Ok(())),
                Event::Thinking(text) => self.generator.thinking(text),
                Event::Call { name, arguments } => self.generator.call(name, arguments),
                Event::Raw(text) => self.generator.raw(text),
                other => {
                    if self.happen(other, lease).await? {
                        return Ok(Outcome::Over);
                    }
                    continue;
                }
            };
            for piece in pieces {
                self.emit(piece).await?;
            }
            match stopped {
                Ok(()) => {}
                Err(Stopped::Length) => return Ok(Outcome::Length),
                Err(Stopped::Repeats) => return self.clean_end().await,
                Err(Stopped::Parse(text)) => {
                    if self.x.wire.started() {
                        self.x.shared.wedge(&self.x.request.body);
                    }
                    self.fail("error", &text).await?;
                    return Ok(Outcome::Over);
                }
            }
        }
        Ok(Outcome::Through)
    }

    /// What is not generated. Whether the reply is over.
    async fn happen(&mut self, event: &Event, lease: &mut Lease) -> Result<bool, Closed> {
        match event {
            Event::SilenceMs(ms) => {
                self.x.wire.flush().await?;
                self.x.shared.clock.sleep(Duration::from_millis(*ms)).await;
                return Ok(false);
            }
            Event::Bytes(bytes) => {
                self.begin().await?;
                self.x.wire.raw(bytes.as_bytes()).await?;
                return Ok(false);
            }
            Event::Error(text) => self.fail("error", text).await?,
            Event::ErrorKey { key, text } => self.fail(key, text).await?,
            Event::Crash => {
                lease.crash();
                self.crashed = true;
                let text = if self.x.wire.started() {
                    DEAD_DURING
                } else {
                    DEAD_BEFORE
                };
                self.fail("error", text).await?;
            }
            Event::Stall => {
                self.x.wire.flush().await?;
                return Err(self.x.wire.lose(Loss::Stall).await);
            }
            _ => {
                self.clean_end().await?;
            }
        }
        Ok(true)
    }

    /// The stream ends without its last line.
    async fn clean_end(&mut self) -> Result<Outcome, Closed> {
        if self.checked.stream {
            self.begin().await?;
            self.x.wire.end().await?;
        } else {
            // Without a last event the server has nothing to join and answers with what there is.
            let body = self.object(&self.last);
            self.x.send(Answer::json(200, &Value::Object(body))).await?;
        }
        Ok(Outcome::Over)
    }

    /// An error: a status before the first line, a line after it.
    async fn fail(&mut self, key: &str, text: &str) -> Result<(), Closed> {
        if !self.x.wire.started() && key == "error" {
            return fail_first(self.x, self.checked.stream, 500, text).await;
        }
        if !self.checked.stream {
            return self.x.send(Answer::error(500, text)).await;
        }
        self.begin().await?;
        let line = json!({ key: text });
        self.x.wire.line(&gojson::encode(&line)).await?;
        self.x.wire.end().await
    }

    async fn begin(&mut self) -> Result<(), Closed> {
        if !self.x.wire.started() {
            self.x.wire.start(200, NDJSON).await?;
        }
        Ok(())
    }

    /// A piece on its way: into a line, or kept for the last one.
    async fn emit(&mut self, piece: Piece) -> Result<(), Closed> {
        let profile = &self.checked.profile;
        let calls_last = profile.era == Era::E4Native || self.checked.model.parser == Parser::Harmony;
        let text_last = profile.holds_text_with_tools && !self.checked.request.tools.is_empty();
        let waits = !self.checked.stream
            || (calls_last && !piece.calls.is_empty())
            || (text_last && piece.calls.is_empty());
        if waits {
            self.last.content.push_str(&piece.content);
            self.last.thinking.push_str(&piece.thinking);
            self.last.calls.extend(piece.calls);
            return Ok(());
        }
        if text_last {
            // Once a call was read, the text before it is dropped.
            self.last.content.clear();
        }
        let mut object = self.object(&piece);
        object.insert("done".into(), json!(false));
        self.begin().await?;
        self.x.wire.line(&gojson::encode(&Value::Object(object))).await
    }

    /// The last line, with everything that waited and the counts.
    async fn finish(&mut self, end: End, after: &str) -> Result<(), Closed> {
        let stopped = if end == End::Length {
            Err(Stopped::Length)
        } else {
            self.generator.stop()
        };
        let reason = match (end, stopped) {
            (End::NoReason, _) => None,
            (_, Err(_)) => Some("length"),
            (_, Ok(())) => Some("stop"),
        };
        let last = std::mem::take(&mut self.last);
        let mut object = self.object(&last);
        let reason_first = self.checked.profile.reason_before_done && !self.checked.generate;
        finish_fields(&mut object, reason_first, reason);
        let counts = Counts {
            era: self.checked.profile.era,
            load: self.load,
            queued: self.queued,
            prompt: self.prompt_tokens,
            cached: self.cached,
            generated: self.generator.tokens,
        };
        counts.write(&mut object);
        let line = gojson::encode(&Value::Object(object));
        if !self.checked.stream {
            let answer = Answer {
                status: 200,
                content_type: Some(crate::answer::JSON),
                body: line,
            };
            return self.x.send(answer).await;
        }
        self.begin().await?;
        self.x.wire.line(&line).await?;
        if end == End::DoneTwice {
            self.x.wire.line(&line).await?;
        }
        if !after.is_empty() {
            self.x.wire.raw(after.as_bytes()).await?;
        }
        self.x.wire.end().await
    }

    /// A line without its end.
    fn object(&self, piece: &Piece) -> Map<String, Value> {
        let clock = &self.x.shared.clock;
        let stamp = clock.stamp(clock.now() + line::generating(self.generator.tokens));
        line::object(self.checked, stamp, self.x.record, piece)
    }
}
