//! A thread: a conversation that a caller opened, with its engine once it is used.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wisp_agent::protocol::{Command, Event, NoteLevel, Phase, TurnEnd};
use wisp_agent::{Handle, Launch, Setup, ground, start};
use wisp_host::{Clock, SystemClock};

/// How a thread stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Closed,
    Evicted,
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Evicted => "evicted",
        }
    }
}

/// What is shown of a thread.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) session: String,
    pub(crate) model: Option<String>,
    pub(crate) turns: u64,
    pub(crate) created: Timestamp,
    pub(crate) last_active: Timestamp,
    pub(crate) state: State,
}

/// A thread.
pub(crate) struct Thread {
    pub(crate) id: String,
    /// Whether the caller gave instructions.
    pub(crate) instructed: bool,
    setup: Setup,
    engine: tokio::sync::Mutex<Option<Handle>>,
    facts: Mutex<Facts>,
}

/// What one prompt came to.
pub(crate) struct Said {
    /// The reply: the text after the last call.
    pub(crate) text: String,
    /// What went wrong, in lines.
    pub(crate) errors: Vec<String>,
    /// The turn's number and end; none when it never began.
    pub(crate) end: Option<(u64, TurnEnd)>,
}

impl Thread {
    pub(crate) fn new(id: String, setup: Setup) -> Self {
        let now = SystemClock.now();
        Self {
            id,
            instructed: setup.instructions.is_some(),
            setup,
            engine: tokio::sync::Mutex::default(),
            facts: Mutex::new(Facts {
                session: String::new(),
                model: None,
                turns: 0,
                created: now,
                last_active: now,
                state: State::Open,
            }),
        }
    }

    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its row in the list of threads.
    pub(crate) fn row(&self) -> Value {
        let facts = self.facts();
        json!({
            "thread_id": self.id, "model": facts.model, "turns": facts.turns, "created": facts.created.to_string(),
            "lastActive": facts.last_active.to_string(), "state": facts.state.word(),
            "uri": format!("wisp://threads/{}", self.id),
        })
    }

    /// Waits for the thread alone; calls on one thread come one after the other.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, Option<Handle>> {
        self.engine.lock().await
    }

    /// Opens the conversation when it is not yet.
    pub(crate) async fn opened<'a>(&self, engine: &'a mut Option<Handle>) -> Result<&'a mut Handle, String> {
        if engine.is_none() {
            let explained = |e: wisp_agent::OpenError| {
                let hint = e.hint().map_or_else(String::new, |hint| format!("; {hint}"));
                format!("{e}{hint}")
            };
            let ground = ground(self.setup.clone()).map_err(explained)?;
            let session = ground.audit.session().as_str().to_owned();
            let launch = Launch {
                prompts: true,
                ..Launch::default()
            };
            let handle = start(ground, launch).await.map_err(explained)?;
            // Nobody at the other end can be asked: an approval is the person's.
            let hello = Command::Hello {
                effects: Vec::new(),
                client: "wisp mcp".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            };
            let _ = handle.commands.send(hello);
            self.facts().session = session;
            *engine = Some(handle);
        }
        engine
            .as_mut()
            .ok_or_else(|| "the conversation is gone".to_owned())
    }

    /// Sends a prompt and hears the turn to its end. `told` hears what is done on the way. Cancelling stops the turn; what
    /// had arrived is kept.
    pub(crate) async fn say(
        &self,
        handle: &mut Handle,
        prompt: &str,
        stop: &CancellationToken,
        mut told: impl FnMut(String),
    ) -> Said {
        self.facts().last_active = SystemClock.now();
        let mut said = Said {
            text: String::new(),
            errors: Vec::new(),
            end: None,
        };
        let message = Command::Message {
            text: prompt.to_owned(),
        };
        if handle.commands.send(message).is_err() {
            said.errors.push("the conversation has ended".to_owned());
            return said;
        }
        let mut stopped = false;
        loop {
            let event = tokio::select! {
                biased;
                event = handle.events.recv() => event,
                () = stop.cancelled(), if !stopped => {
                    stopped = true;
                    let _ = handle.commands.send(Command::Interrupt);
                    continue;
                }
            };
            let Some(event) = event else { break };
            if self.heard(event, &mut said, &mut told) {
                break;
            }
        }
        self.facts().last_active = SystemClock.now();
        said
    }

    /// Takes what the engine says. Whether the turn is over.
    fn heard(&self, event: Event, said: &mut Said, told: &mut impl FnMut(String)) -> bool {
        match event {
            Event::Delta { text } => said.text.push_str(&text),
            Event::Discarded => said.text.clear(),
            Event::Note { text, level } => {
                if level == NoteLevel::Error {
                    said.errors.push(text.clone());
                }
                told(text);
            }
            Event::Event { kind, text, .. } => {
                if kind == "tool.call" {
                    said.text.clear();
                }
                if let Some(text) = text {
                    told(text);
                }
            }
            Event::Status(status) => self.facts().model = Some(status.model),
            Event::Turn {
                phase: Phase::End,
                turn,
                end: Some(end),
            } => {
                self.facts().turns = turn;
                said.end = Some((turn, end));
                return true;
            }
            Event::Exit { .. } => return true,
            _ => {}
        }
        false
    }

    /// Ends the conversation, which stays saved. Waits for a turn that is under way.
    pub(crate) async fn close(&self, state: State) {
        self.facts().state = state;
        let handle = self.engine.lock().await.take();
        if let Some(mut handle) = handle {
            let _ = handle.commands.send(Command::Quit);
            while let Some(event) = handle.events.recv().await {
                if matches!(event, Event::Exit { .. }) {
                    break;
                }
            }
        }
    }
}
