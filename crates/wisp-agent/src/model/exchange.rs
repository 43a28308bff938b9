//! One request and its reply: sent, watched while nothing comes, put right and streamed to the face, stopped when the
//! person says.

use std::time::Instant;

use tokio_util::sync::CancellationToken;
use wisp_ollama::{ChatRequest, ChatStream, Client, Reply, ToolDefinition};

use super::arriving::{Arrived, Arriving, Shown};
use super::failure::{Failure, not_a_reply};
use super::waiting::{Reads, Waiting};
use super::waits::Waits;
use crate::events::Doing;
use crate::protocol::{Event, NoteLevel};

/// A request and what has to be known to read its reply.
#[expect(clippy::struct_excessive_bools, reason = "each is known from another place")]
pub struct Ask<'a> {
    /// The server.
    pub client: &'a Client,
    /// The request.
    pub request: &'a ChatRequest,
    /// The tools it offers.
    pub offered: &'a [ToolDefinition],
    /// Whether its prompt opens the thinking.
    pub opens_thinking: bool,
    /// Whether the model was loaded when it was last heard of.
    pub warm: bool,
    /// Whether the wait for the first byte is bounded: the request follows one that may have left the server hanging.
    pub may_hang: bool,
    /// Tokens of the prompt that the server has to read, and how many it reads in a second, where that is known.
    pub reads: Option<Reads>,
    /// Whether the reply is held to the schema of an action.
    pub guided: bool,
    /// How long is waited for what.
    pub waits: &'a Waits,
}

/// How an exchange ended.
#[derive(Debug)]
pub enum Exchanged {
    /// The whole reply.
    Whole(Arrived),
    /// The person stopped it; this is what had arrived.
    Interrupted(Reply),
}

/// A reply that failed, with what had arrived of it. Nothing may be executed from it.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub failure: Failure,
    /// What had arrived.
    pub partial: Box<Reply>,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            partial: Box::default(),
        }
    }
}

/// Sends one request and streams its reply.
pub async fn exchange(ask: &Ask<'_>, doing: &Doing, stop: &CancellationToken) -> Result<Exchanged, Failed> {
    doing.say("waiting for the model");
    let waiting = Waiting {
        client: ask.client,
        model: &ask.request.model,
        doing,
        waits: ask.waits,
        warm: ask.warm,
        reads: ask.reads,
    };
    let sent = tokio::select! {
        sent = ask.client.chat(ask.request) => sent,
        never = waiting.watch() => match never {},
        () = tokio::time::sleep(ask.waits.hang), if ask.may_hang => {
            return Err(Failure::Hangs(ask.waits.hang).into());
        }
        () = stop.cancelled() => return Ok(Exchanged::Interrupted(Reply::default())),
    };
    let stream = sent.map_err(|error| Failed::from(Failure::Server(error)))?;
    let streaming = Streaming {
        stream,
        arriving: Arriving::new(ask.opens_thinking, ask.offered).guided(ask.guided),
        doing,
        waits: ask.waits,
        state: State::Waiting,
    };
    streaming.run(stop).await
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    Waiting,
    Thinking,
    Writing,
    /// Something is written that is not shown: a call, as far as one can know.
    Hidden,
}

struct Streaming<'a> {
    stream: ChatStream,
    arriving: Arriving<'a>,
    doing: &'a Doing,
    waits: &'a Waits,
    state: State,
}

impl Streaming<'_> {
    async fn run(mut self, stop: &CancellationToken) -> Result<Exchanged, Failed> {
        let mut heard = Instant::now();
        loop {
            let line = tokio::select! {
                line = self.stream.next() => line,
                () = tokio::time::sleep(self.waits.silent) => {
                    self.silent(heard);
                    continue;
                }
                () = stop.cancelled() => return Ok(Exchanged::Interrupted(self.arriving.partial())),
            };
            heard = Instant::now();
            match line {
                None => return self.whole(),
                Some(Err(error)) => return Err(self.failed(error.into())),
                Some(Ok(line)) => {
                    self.doing.token();
                    let shown = self.arriving.take(&line);
                    self.show(shown);
                }
            }
            if self.arriving.is_repetition() {
                return Err(self.failed(Failure::Repeats));
            }
        }
    }

    fn whole(mut self) -> Result<Exchanged, Failed> {
        let arriving = std::mem::replace(&mut self.arriving, Arriving::new(false, &[]));
        let (arrived, shown) = arriving.finish();
        self.show(shown);
        if arrived.recovered && !arrived.reply.content.is_empty() {
            // The call was shown as it came, among the prose that stays.
            let events = self.doing.events();
            events.send(Event::Discarded);
            let text = arrived.reply.content.clone();
            events.send(Event::Delta { text });
        }
        match not_a_reply(&arrived.reply) {
            Some(failure) => Err(Failed {
                failure,
                partial: Box::new(arrived.reply),
            }),
            None => Ok(Exchanged::Whole(arrived)),
        }
    }

    fn failed(self, failure: Failure) -> Failed {
        let partial = Box::new(self.arriving.partial());
        Failed { failure, partial }
    }

    fn show(&mut self, shown: Shown) {
        let events = self.doing.events();
        if shown.was_thinking {
            events.send(Event::Discarded);
            let text =
                "what was shown so far of this reply was the model's thinking, and is none of its answer";
            events.note(NoteLevel::Info, text);
        }
        if !shown.thinking.is_empty() {
            if self.state != State::Thinking {
                self.state = State::Thinking;
                self.doing.thinking();
            }
            events.send(Event::Thinking { text: shown.thinking });
        }
        if !shown.content.is_empty() {
            if self.state != State::Writing {
                self.state = State::Writing;
                self.doing.say("replying");
            }
            events.send(Event::Delta { text: shown.content });
        } else if self.arriving.is_holding() && self.state != State::Hidden {
            self.state = State::Hidden;
            self.doing.say("the model is writing a tool call, as it seems");
        }
    }

    /// Says that nothing comes any more, which is what a call looks like while it is written.
    fn silent(&mut self, heard: Instant) {
        if self.state == State::Hidden || heard.elapsed() < self.waits.silent {
            return;
        }
        self.state = State::Hidden;
        self.doing
            .say("the model is silent: writing a tool call, as it seems");
    }
}
