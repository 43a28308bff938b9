//! MCP servers in a conversation: started as it is opened, waited for at the first turn, their tools brought up to date
//! between turns, and ended with it.

use std::time::Duration;

use wisp_mcp::{Around, Offer, Servers};

use crate::conversation::Conversation;
use crate::instructions;
use crate::open::confining;
use crate::protocol::NoteLevel;
use crate::turn::Turn;

/// The servers of a conversation.
#[derive(Default)]
pub struct Foreign {
    /// None when none are configured, or the conversation has no tools.
    servers: Option<Servers>,
    /// The window in which the tools were offered last: in another they are offered anew, in the same only with news, so
    /// that what every request begins with stays as it is.
    offered: Option<u64>,
}

/// How long servers have to end with the conversation.
const ENDING: Duration = Duration::from_millis(1_500);

/// The most bytes of the instructions and the tools of the first request.
const FIRST_REQUEST: usize = 8 * 1024 - 256;
/// The share of the window that the tools of servers may fill with their definitions: a tenth.
const SHARE: u64 = 10;
/// Bytes of a token of JSON, about.
const TOKEN_BYTES: u64 = 3;

impl Foreign {
    /// Starts the servers that are configured, in the background.
    pub(crate) fn start(conversation: &Conversation) -> Self {
        let Conversation {
            config,
            env,
            directory,
            ..
        } = conversation;
        let configured = config.mcp_servers();
        if configured.is_empty() {
            return Self::default();
        }
        let events = conversation.events.clone();
        let around = Around {
            directory: directory.clone(),
            env: env.clone(),
            confining: confining(config, env, conversation.paths.home(), directory),
            audit: conversation.audit.clone(),
            tell: Box::new(move |told| {
                let level = if told.bad {
                    NoteLevel::Warning
                } else {
                    NoteLevel::Info
                };
                events.note(level, told.text);
            }),
        };
        Self {
            servers: Some(Servers::start(configured, around)),
            offered: None,
        }
    }

    /// The servers.
    pub(crate) fn servers(&self) -> Option<&Servers> {
        self.servers.as_ref()
    }

    /// Ends the servers.
    pub(crate) async fn end(&mut self) {
        if let Some(servers) = self.servers.take() {
            servers.end(ENDING).await;
        }
    }
}

impl Conversation {
    /// Waits for servers that are being started, and takes their tools as they are now. Before a turn, so that the tools
    /// of one turn are the same in all its requests.
    pub(crate) async fn see_servers(&mut self, turn: &Turn<'_>) {
        let Some(servers) = &mut self.foreign.servers else {
            return;
        };
        let doing = |names: &str| turn.doing.say(format!("waiting for the MCP server {names}"));
        tokio::select! {
            biased;
            () = turn.stop.cancelled() => {}
            () = servers.settled(doing) => {}
        }
        self.take_foreign_tools();
    }

    /// Brings the tools of servers up to date, when they or the room for them have changed.
    pub(crate) fn take_foreign_tools(&mut self) {
        let (offer, window) = (self.foreign_offer(), self.model.window.tokens);
        let Some(servers) = &mut self.foreign.servers else {
            return;
        };
        if !servers.has_news() && self.foreign.offered == Some(window) {
            return;
        }
        self.foreign.offered = Some(window);
        let own = self.registry.own_names();
        let tools = servers.tools(offer, |name| own.iter().any(|known| known == name));
        self.registry.set_foreign(tools);
        self.set_tools();
    }

    /// How the tools of servers are offered (`mcp.offer`).
    fn foreign_offer(&self) -> Offer {
        match self.config.mcp_offer().as_str() {
            "each" => Offer::Each,
            "one" => Offer::One,
            _ => {
                let fixed = instructions::full(&self.config, self.registry.has_memory()).len();
                let room = FIRST_REQUEST.saturating_sub(fixed + self.registry.own_definitions().len());
                let share = self.model.window.tokens * TOKEN_BYTES / SHARE;
                Offer::Within(room.min(usize::try_from(share).unwrap_or(usize::MAX)))
            }
        }
    }
}
