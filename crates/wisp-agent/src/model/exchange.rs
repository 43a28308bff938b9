//! One request and its reply: sent, watched while nothing comes, streamed to the face, stopped when the person says.
//!
//! The server sends nothing, not even a status, while the request queues, the model loads and the prompt is
//! evaluated. What it is doing meanwhile is learnt from `/api/ps` on a second connection and said as what it is.

use std::convert::Infallible;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wisp_ollama::{ChatLine, ChatRequest, ChatStream, Client, Error, Reply, same_model};

use crate::events::Doing;
use crate::protocol::Event;

/// How often the server is asked what it is doing.
const WATCH: Duration = Duration::from_secs(2);
/// How long a stream may be silent before that is said: a call's arguments come in one piece, after all of them.
const SILENT: Duration = Duration::from_secs(3);

/// How an exchange ended.
#[derive(Debug)]
pub enum Exchanged {
    /// The whole reply.
    Whole(Reply),
    /// The person stopped it; this is what had arrived.
    Interrupted(Reply),
}

/// A reply that failed, with what had arrived of it. Nothing may be executed from it.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub error: Error,
    /// What had arrived.
    pub partial: Reply,
}

/// Sends one request and streams its reply.
pub async fn exchange(
    client: &Client,
    request: &ChatRequest,
    doing: &Doing,
    stop: &CancellationToken,
) -> Result<Exchanged, Failed> {
    doing.say("waiting for the model");
    let sent = tokio::select! {
        sent = client.chat(request) => sent,
        never = watch(client, &request.model, doing) => match never {},
        () = stop.cancelled() => return Ok(Exchanged::Interrupted(Reply::default())),
    };
    let stream = sent.map_err(|error| Failed {
        error,
        partial: Reply::default(),
    })?;
    Streaming {
        stream,
        doing,
        state: State::Waiting,
    }
    .run(stop)
    .await
}

/// Says what the server is doing for as long as it is polled.
async fn watch(client: &Client, model: &str, doing: &Doing) -> Infallible {
    let mut said = "";
    loop {
        tokio::time::sleep(WATCH).await;
        let Ok(loaded) = client.ps().await else { continue };
        let here = loaded.iter().any(|l| same_model(&l.name, model));
        let (state, words) = if here {
            ("reading", "the model is reading the prompt".to_owned())
        } else {
            ("loading", format!("loading {model}"))
        };
        if said != state {
            said = state;
            doing.say(words);
        }
    }
}

#[derive(PartialEq)]
enum State {
    Waiting,
    Thinking,
    Writing,
}

struct Streaming<'a> {
    stream: ChatStream,
    doing: &'a Doing,
    state: State,
}

impl Streaming<'_> {
    async fn run(mut self, stop: &CancellationToken) -> Result<Exchanged, Failed> {
        loop {
            let line = tokio::select! {
                line = self.stream.next() => line,
                () = tokio::time::sleep(SILENT) => {
                    self.silent();
                    continue;
                }
                () = stop.cancelled() => return Ok(Exchanged::Interrupted(self.stream.reply().clone())),
            };
            match line {
                None => return Ok(Exchanged::Whole(self.stream.reply().clone())),
                Some(Err(error)) => {
                    return Err(Failed {
                        error,
                        partial: self.stream.reply().clone(),
                    });
                }
                Some(Ok(line)) => self.show(&line),
            }
        }
    }

    fn show(&mut self, line: &ChatLine) {
        if !line.thinking.is_empty() {
            if self.state != State::Thinking {
                self.state = State::Thinking;
                self.doing.thinking();
            }
            self.doing.events().send(Event::Thinking {
                text: line.thinking.clone(),
            });
        }
        if !line.content.is_empty() {
            if self.state != State::Writing {
                self.state = State::Writing;
                self.doing.say("replying");
            }
            self.doing.events().send(Event::Delta {
                text: line.content.clone(),
            });
        }
    }

    fn silent(&self) {
        if self.state == State::Writing {
            self.doing.say("the model is writing, perhaps a tool call");
        }
    }
}
