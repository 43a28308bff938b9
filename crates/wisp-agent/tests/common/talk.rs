//! Whole conversations against a scripted server: the real engine, real tools, a home of its own.
#![allow(dead_code, reason = "each program uses a part")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    unreachable_pub,
    reason = "tests and measurements"
)]

use std::path::Path;

use ollama_sim::{ChatAccount, Config, Model, Profile, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_agent::protocol::{Command, Event, NoteLevel};
use wisp_agent::{Handle, Launch, OpenError, Setup, ground, start};
use wisp_host::Env;

/// A conversation that is open.
pub struct Talk {
    handle: Handle,
    /// What came before the first wish for a line.
    pub opening: Vec<Event>,
}

impl Talk {
    /// Opens a conversation in `home` on the server, in a window of so many tokens.
    pub async fn open(
        home: &Path,
        server: &Server,
        window: u64,
        edit: impl FnOnce(&mut Setup),
    ) -> Result<Self, OpenError> {
        let root = home.join("wisp");
        std::fs::create_dir_all(&root).unwrap();
        let config = json!({"model": "sim", "ollama": {"contextLength": window}});
        let path = root.join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        // Whatever umask is set: settings that others can write are refused.
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let env: Env = [
            ("HOME", home.display().to_string()),
            ("WISP_HOME", root.display().to_string()),
            ("OLLAMA_HOST", server.url()),
            ("PATH", std::env::var("PATH").unwrap_or_default()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        let mut setup = Setup::new(env, home.to_owned(), "chat");
        setup.yes = true;
        edit(&mut setup);
        let handle = start(ground(setup)?, Launch::default()).await?;
        let mut talk = Self {
            handle,
            opening: Vec::new(),
        };
        talk.opening = talk.until_status().await;
        Ok(talk)
    }

    /// Sends a line and gives everything up to the next wish for one.
    pub async fn say(&mut self, line: &str) -> Vec<Event> {
        self.send(Command::Message {
            text: line.to_owned(),
        });
        self.until_status().await
    }

    pub fn send(&self, command: Command) {
        self.handle.commands.send(command).unwrap();
    }

    pub async fn next(&mut self) -> Event {
        self.handle.events.recv().await.unwrap()
    }

    async fn until_status(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            match self.next().await {
                Event::Status(_) | Event::Exit { .. } => return events,
                event => events.push(event),
            }
        }
    }

    /// Leaves, and waits until the engine has let go of everything.
    pub async fn leave(mut self) {
        self.send(Command::Quit);
        while let Some(event) = self.handle.events.recv().await {
            if matches!(event, Event::Exit { .. }) {
                break;
            }
        }
        self.handle.commands.closed().await;
    }
}

/// The notes of some level among events.
pub fn notes(events: &[Event], wanted: NoteLevel) -> Vec<String> {
    let note = |event: &Event| match event {
        Event::Note { text, level } if *level == wanted => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(note).collect()
}

/// A server of one model that answers by a rule.
pub fn serve(profile: Profile, rule: impl FnMut(&Seen) -> Reply + Send + 'static) -> Server {
    let model = Model::new("sim").with_context_length(131_072);
    Server::start(Config::new(rule).profile(profile).models([model])).unwrap()
}

/// The chats a model answered, in order: the messages of each and its account.
pub fn chats(server: &Server) -> Vec<(Vec<Value>, ChatAccount)> {
    let chats = server.chats().into_iter().filter_map(|chat| {
        let messages = chat.json?["messages"].as_array()?.clone();
        Some((messages, chat.chat?))
    });
    chats.collect()
}

/// All text of a request.
pub fn text_of(messages: &[Value]) -> String {
    let texts = messages.iter().filter_map(|m| m["content"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
