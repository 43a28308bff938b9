//! A conversation on a stage: a home of its own, a scripted Ollama over real HTTP, a fixed clock, and everything the
//! face was told.

#![allow(
    dead_code,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "each test file uses a part of this; a test may write files and stop at what it does not expect"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ollama_sim::{ChatAccount, Received};
use ollama_sim::{Config, Server};
use serde_json::Value;
use wisp_agent::model::waits::Waits;
use wisp_agent::protocol::{Command, Decision, Event, NoteLevel, Phase, TurnEnd};
use wisp_agent::{Handle, Launch, OpenError, Setup, ground, start};
use wisp_host::{Env, FixedClock, FixedIds};

/// How long anything may take before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A home, a working directory and a server.
pub struct Stage {
    pub dir: tempfile::TempDir,
    pub server: Server,
    pub env: Vec<(String, String)>,
    pub model: Option<String>,
    pub yes: bool,
    /// The value that is chosen when there is a choice.
    pub choose: Option<String>,
    /// New identifiers: counted ones, unless a test needs them to differ in their first digits.
    pub ids: Arc<dyn wisp_host::IdSource>,
    /// Whether models are warmed up.
    pub warms: bool,
    /// Whether the conversation is saved as it goes.
    pub saves: bool,
}

impl Stage {
    /// A stage on which this server plays, with these settings.
    pub fn new(config: Config, settings: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("work")).unwrap();
        std::fs::create_dir_all(dir.path().join("home")).unwrap();
        let home = dir.path().join("home");
        std::fs::set_permissions(&home, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let path = home.join("config.json");
        std::fs::write(&path, settings.to_string()).unwrap();
        // Whatever umask is set: settings that others can write are refused.
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let server = Server::start(config).unwrap();
        let env = vec![
            ("WISP_HOME".to_owned(), home.display().to_string()),
            ("OLLAMA_HOST".to_owned(), server.url()),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ];
        let model = Some("sim".to_owned());
        Self {
            dir,
            server,
            env,
            model,
            yes: false,
            choose: None,
            ids: Arc::new(FixedIds::default()),
            warms: false,
            saves: false,
        }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn setup(&self) -> Setup {
        let env: Env = self.env.iter().cloned().collect();
        let mut setup = Setup::new(env, self.work(), "test");
        setup.model.clone_from(&self.model);
        setup.yes = self.yes;
        setup.saving.on = self.saves;
        setup.clock = Arc::new(FixedClock::at("2026-01-01T00:00:00Z"));
        setup.ids = Arc::clone(&self.ids);
        setup.waits = quick();
        setup
    }

    /// Opens a conversation of one who can be asked.
    pub async fn chat(&self) -> Chat {
        self.launch(true).await.unwrap()
    }

    /// Opens a conversation; `chooses` when a person is there to choose.
    pub async fn launch(&self, chooses: bool) -> Result<Chat, OpenError> {
        let launch = Launch {
            chooses,
            warms: self.warms,
            ..Launch::default()
        };
        let handle = start(ground(self.setup())?, launch).await?;
        let mut chat = Chat {
            handle,
            events: Vec::new(),
            choose: self.choose.clone(),
        };
        chat.until(|e| matches!(e, Event::Status(_) | Event::Exit { .. }))
            .await;
        Ok(chat)
    }

    /// The audit of the only session, event by event.
    pub fn audit(&self) -> Vec<Value> {
        let folder = self.home().join("audit");
        let mut lines = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "jsonl") {
                let text = std::fs::read_to_string(path).unwrap();
                lines.extend(text.lines().map(|l| serde_json::from_str(l).unwrap()));
            }
        }
        lines
    }

    /// The audit's events of one kind.
    pub fn audited(&self, kind: &str) -> Vec<Value> {
        let mut events = self.audit();
        events.retain(|e| e["kind"] == kind);
        events
    }

    /// The chats that reached a model.
    pub fn accounts(&self) -> Vec<ChatAccount> {
        self.server.chats().into_iter().filter_map(|r| r.chat).collect()
    }

    /// The bodies of the chats, load requests left out.
    pub fn bodies(&self) -> Vec<Value> {
        let full = |r: &Received| r.json.as_ref().is_some_and(|j| j["messages"][0].is_object());
        let chats = self.server.chats().into_iter();
        chats.filter(full).map(|r| r.json.unwrap()).collect()
    }

    /// Writes a file into the working directory.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.work().join(name), text).unwrap();
    }
}

/// Sends a request by hand, as another program would, and waits for the whole answer.
pub async fn post(server: &Server, path: &str, body: &Value) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let text = body.to_string();
    let address = ("127.0.0.1", server.port());
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Waits of a test: nothing is waited for that need not be.
pub fn quick() -> Waits {
    let short = Duration::from_millis(20);
    Waits {
        poll: short,
        silent: short,
        long: Duration::from_secs(30),
        busy: vec![Duration::from_millis(5); 5],
        pause: Duration::from_millis(5),
        hang: Duration::from_millis(300),
    }
}

/// A running conversation and what it told.
pub struct Chat {
    pub handle: Handle,
    pub events: Vec<Event>,
    /// The value that is chosen when there is a choice.
    pub choose: Option<String>,
}

impl Chat {
    pub fn send(&self, command: Command) {
        let _ = self.handle.commands.send(command);
    }

    /// The next event; questions are answered on the way.
    pub async fn next(&mut self) -> Option<Event> {
        let event = tokio::time::timeout(PATIENCE, self.handle.events.recv())
            .await
            .expect("an event in time")?;
        match &event {
            Event::Approval(asked) => self.send(Command::Answer {
                id: asked.id.clone(),
                decision: Decision::Once,
                reason: None,
            }),
            Event::Choice(choice) => self.send(Command::Choose {
                id: choice.id.clone(),
                value: self.choose.clone(),
                values: None,
            }),
            _ => {}
        }
        self.events.push(event.clone());
        Some(event)
    }

    /// Everything up to the next event that is so.
    pub async fn until(&mut self, holds: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the conversation goes on");
            if holds(&event) {
                return event;
            }
        }
    }

    /// Says something and waits for the turn's end.
    pub async fn say(&mut self, text: &str) -> TurnEnd {
        self.send(Command::Message { text: text.into() });
        self.turn_end().await
    }

    pub async fn turn_end(&mut self) -> TurnEnd {
        let at_end = |e: &Event| {
            matches!(
                e,
                Event::Turn {
                    phase: Phase::End,
                    ..
                }
            )
        };
        let ended = self.until(at_end).await;
        self.until(|e| matches!(e, Event::Status(_))).await;
        match ended {
            Event::Turn { end: Some(end), .. } => end,
            _ => unreachable!("an end has its account"),
        }
    }

    /// Runs a slash command and gives what it printed.
    pub async fn slash(&mut self, line: &str) -> String {
        let from = self.events.len();
        self.send(Command::Message { text: line.into() });
        self.until(|e| matches!(e, Event::Status(_))).await;
        let printed = self.events[from..].iter().filter_map(|e| match e {
            Event::Output { text } | Event::Note { text, .. } => Some(text.as_str()),
            _ => None,
        });
        printed.collect::<Vec<_>>().join("\n")
    }

    /// Leaves, and waits until the engine has.
    pub async fn quit(&mut self) {
        self.send(Command::Quit);
        while self
            .next()
            .await
            .is_some_and(|e| !matches!(e, Event::Exit { .. }))
        {}
    }

    /// The text of the reply, as the face was sent it.
    pub fn reply(&self) -> String {
        let deltas = self.events.iter().filter_map(|e| match e {
            Event::Delta { text } => Some(text.as_str()),
            _ => None,
        });
        deltas.collect()
    }

    /// The thinking, as the face was sent it.
    pub fn thinking(&self) -> String {
        let parts = self.events.iter().filter_map(|e| match e {
            Event::Thinking { text } => Some(text.as_str()),
            _ => None,
        });
        parts.collect()
    }

    /// The notes of a level, a line each.
    pub fn notes(&self, wanted: NoteLevel) -> String {
        let notes = self.events.iter().filter_map(|e| match e {
            Event::Note { text, level } if *level == wanted => Some(text.as_str()),
            _ => None,
        });
        notes.collect::<Vec<_>>().join("\n")
    }

    /// What was said to be done, in order.
    pub fn doing(&self) -> Vec<String> {
        let doing = self.events.iter().filter_map(|e| match e {
            Event::Activity(activity) => activity.doing.clone(),
            _ => None,
        });
        doing.collect()
    }

    /// Whether a tool was called.
    pub fn called(&self) -> bool {
        self.events
            .iter()
            .any(|e| matches!(e, Event::Event { kind, .. } if kind == "tool.call"))
    }
}

/// The bytes of a file of the stage's home.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
