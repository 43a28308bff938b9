//! The model a conversation talks to: which one, what it can do, how much it holds, and how a request to it looks.

pub mod arriving;
pub mod check;
pub mod convert;
pub mod disabled;
pub mod exchange;
pub mod failure;
pub mod list;
pub mod most;
pub mod ratios;
mod repeats;
mod waiting;
pub mod waits;

use wisp_context::message::Request;
use wisp_ollama::window::{Choice, Memory, choose, num_predict};
use wisp_ollama::{
    ChatRequest, Client, Error, Feature, KeepAlive, Loaded, Options, Quirk, ServerVersion, Show, Think,
    Tools, adapt, same_model,
};

/// The most tokens a reply is given when the window leaves more.
const MOST_REPLY: u64 = 16_384;

/// How much a model holds, and why that number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Tokens, sent as `num_ctx` with every request of the conversation.
    pub tokens: u64,
    /// What it was trained for, when the server says.
    pub trained: Option<u64>,
    /// Where the number comes from, in words: `set by ollama.contextLength`, `already loaded with it`, …
    pub why: String,
    /// The same in one or two words, for a table: `config`, `server`, `memory`, `default`.
    pub from: &'static str,
}

/// What the person set about models.
#[derive(Debug, Clone, Default)]
pub struct Preferences {
    /// The window, tokens.
    pub window: Option<u64>,
    /// Whether and how much to think.
    pub think: Option<Think>,
    /// How long the server keeps the model loaded.
    pub keep_alive: Option<KeepAlive>,
}

/// What was last heard of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It is not in the server's memory, as far as is known.
    Nothing,
    /// It is in the server's memory.
    Loaded,
    /// It has replied, and its loaded window was looked at.
    Replied,
}

/// A model that is ready to be talked to.
#[derive(Debug, Clone)]
pub struct Model {
    /// The server.
    pub client: Client,
    /// Its name, as the server lists it.
    pub name: String,
    /// What the server says of it.
    pub show: Show,
    /// The server's version.
    pub version: ServerVersion,
    /// How much it holds.
    pub window: Window,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it is the built-in demo model.
    pub demo: bool,
    /// What was last heard of it.
    pub heard: Heard,
    preferences: Preferences,
}

impl Model {
    /// Asks the server about `name` and chooses the window. Errors are the server's: unreachable, no such model.
    pub async fn open(client: Client, name: &str, preferences: Preferences) -> Result<Self, Error> {
        let version = client.version().await?;
        let show = client.show(name).await?;
        let (window, warm) = window(&client, name, &show, &preferences).await;
        // A server from before 0.6.4 declares nothing: the template tells.
        let tools = show
            .can("tools")
            .unwrap_or_else(|| show.template.contains(".Tools"));
        let name = name.to_owned();
        Ok(Self {
            client,
            name,
            show,
            version,
            window,
            tools,
            demo: false,
            heard: if warm { Heard::Loaded } else { Heard::Nothing },
            preferences,
        })
    }

    /// Where its prompts go to when they leave this server: the remote host, or `ollama.com` for a cloud name.
    pub fn elsewhere(&self) -> Option<String> {
        let named = self.show.remote_host.clone().filter(|host| !host.is_empty());
        self.show
            .is_cloud(&self.name)
            .then(|| named.unwrap_or_else(|| "ollama.com".to_owned()))
    }

    /// Whether the server drops what does not fit without a word, or may do so.
    pub fn cuts_silently(&self) -> bool {
        !self.version.surely_supports(Feature::Truncate)
    }

    /// The request for a composed context. `prompt_tokens` is the estimate of what it costs; the reply is bounded by
    /// what it leaves, so that the window cannot overflow while the model writes.
    pub fn request(&self, composed: &Request, tools: Option<&Tools>, prompt_tokens: u64) -> ChatRequest {
        let messages = composed.messages.iter().map(convert::message).collect();
        let mut request = ChatRequest::new(&self.name, messages);
        request.tools = tools.cloned();
        request.think = self.preferences.think.and_then(|wish| self.think(wish));
        request.keep_alive = self.preferences.keep_alive;
        request.truncate = Some(false);
        request.shift = self.version.shift();
        request.options = Options {
            num_ctx: Some(self.window.tokens),
            num_predict: Some(num_predict(self.window.tokens, prompt_tokens, Some(MOST_REPLY))),
            repeat_penalty: adapt::repeat_penalty(&self.version, &self.show),
            ..Options::default()
        };
        request
    }

    /// What this server and this model can be sent of a wish about thinking.
    pub fn think(&self, wish: Think) -> Option<Think> {
        adapt::think(wish, &self.version, &self.show)
    }

    /// Whether a reply to a request begins inside a block of thinking that the prompt opened. Not where the server
    /// takes the thinking out itself.
    pub fn opens_thinking(&self, request: &ChatRequest) -> bool {
        let asked = match request.think {
            Some(think) => think != Think::Off,
            None => self.version.has(Quirk::ThinksUnasked),
        };
        let able = self.show.can("thinking") == Some(true);
        let separates = self.version.supports(Feature::Think) && able && asked;
        self.show.opens_thinking() && !separates && request.think != Some(Think::Off)
    }

    /// The model turned out not to think: `think` is not sent again.
    pub fn forget_thinking(&mut self) {
        self.preferences.think = None;
    }
}

/// Chooses the window of a conversation (ADR 0043): what is configured, else what the model is loaded with, else what
/// this machine's memory holds, never more than the model was trained for.
async fn window(client: &Client, name: &str, show: &Show, preferences: &Preferences) -> (Window, bool) {
    let loaded = client.ps().await.unwrap_or_default();
    let loaded = loaded.into_iter().find(|l| same_model(&l.name, name));
    let listed = client.tags().await.unwrap_or_default();
    let weights = listed
        .into_iter()
        .find(|m| same_model(&m.name, name))
        .and_then(|m| m.size);
    let window = Window::of(client, show, loaded.as_ref(), weights, preferences.window);
    (window, loaded.is_some())
}

impl Window {
    /// The window a model gets, from what the server says of it, its entry in `/api/ps`, the bytes of its file, and
    /// the configured window.
    pub fn of(
        client: &Client,
        show: &Show,
        loaded: Option<&Loaded>,
        weights: Option<u64>,
        configured: Option<u64>,
    ) -> Self {
        // Only a server on this machine shares this machine's memory.
        let memory = if client.host().is_loopback() {
            memory()
        } else {
            None
        };
        let known = Choice {
            for_all: configured,
            ..Choice::of(show, loaded, weights, memory)
        };
        let (tokens, reason) = choose(&known);
        Self {
            tokens,
            trained: known.trained,
            why: reason.to_string(),
            from: reason.word(),
        }
    }
}

/// The machine's memory now; none where the system does not say.
fn memory() -> Option<Memory> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    Some(Memory {
        available: system.available_memory(),
        total: system.total_memory(),
        held: 0,
    })
}
