//! The model a conversation talks to: which one, what it can do, how much it holds, and how a request to it looks.

pub mod arriving;
pub mod call_style;
pub mod check;
pub mod convert;
pub mod disabled;
pub mod exchange;
pub mod failure;
pub mod fetch;
mod keep_alive;
pub mod known;
pub mod leave;
pub mod list;
pub mod missing;
pub mod most;
pub mod ratios;
pub mod reloads;
mod repeats;
pub mod speed;
pub mod trial;
pub mod waiting;
pub mod waits;

use crate::secrets::{MaskWhen, Masking, Secrets};
use call_style::{CallSettings, CallStyle, ToolSet};
use known::Known;
use reloads::Reloads;
use speed::Speed;
use wisp_context::message::Request;
use wisp_ollama::window::{Choice, Memory, choose, num_predict};
use wisp_ollama::{
    ChatRequest, Client, Error, Feature, KeepAlive, Loaded, Message, Options, Quirk, ServerVersion, Show,
    Think, Tools, adapt, same_model,
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
    /// The same as a person reads it after the figure: `as many as memory allows: about 9.3 GiB, of 9.8 GiB …`.
    pub said: String,
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
    /// Whether leave was given beforehand to talk to a model that runs elsewhere.
    pub elsewhere: bool,
    /// How models make calls, where the person set it.
    pub ways: CallSettings,
    /// What is known of models from before.
    pub known: Option<Known>,
    /// What masks secrets in what is sent, and when it does.
    pub masking: Option<Masking>,
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
    /// Whether the person agreed to where it runs, when that is elsewhere. Nothing is sent to it before.
    pub agreed: bool,
    /// How often it had to be loaded.
    pub reloads: Reloads,
    /// How it makes calls.
    pub calls: CallStyle,
    /// Which tools it is offered.
    pub set: ToolSet,
    /// How many of its replies wrote their calls as text.
    pub written_calls: u64,
    /// The SHA-256 of its file, when the server lists it.
    digest: Option<String>,
    preferences: Preferences,
}

impl Model {
    /// Asks the server about `name` and chooses the window. Errors are the server's: unreachable, no such model.
    pub async fn open(client: Client, name: &str, preferences: Preferences) -> Result<Self, Error> {
        let version = new_enough(&client, client.version().await?)?;
        let show = client.show(name).await?;
        let found = found(&client, name, &show, &preferences).await;
        let tools = match &preferences.known {
            Some(known) => known.calls(client.host(), name, &show),
            None => show.can("tools").unwrap_or(false),
        };
        let row = preferences
            .known
            .as_ref()
            .map(|known| known.of(client.host(), name));
        let checked = row.and_then(|row| row.call_style(found.digest.as_deref()));
        let way = CallStyle::of(&show, name, &preferences.ways, checked);
        let set = ToolSet::of(&show, name, &preferences.ways);
        let mut model = Self {
            client,
            name: name.to_owned(),
            show,
            version,
            window: found.window,
            // A model that is guided needs no template for tools.
            tools: tools || way == CallStyle::Guided,
            demo: false,
            heard: if found.warm { Heard::Loaded } else { Heard::Nothing },
            agreed: false,
            reloads: Reloads::default(),
            calls: way,
            set,
            written_calls: 0,
            digest: found.digest,
            preferences,
        };
        if model.digest.is_some() && model.row().refuses_thinking == model.digest {
            model.preferences.think = None;
        }
        Ok(model)
    }

    /// The SHA-256 of its file, when the server lists it.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// What is known of it from before.
    fn row(&self) -> known::Row {
        let known = self.preferences.known.as_ref();
        known.map_or_else(known::Row::default, |known| {
            known.of(self.client.host(), &self.name)
        })
    }

    /// How fast its server reads, as far as earlier conversations found out.
    pub fn speed(&self) -> Speed {
        Speed::of(self.row().reads)
    }

    /// Keeps how fast its server reads, tokens a second, when that differs by a tenth from what is kept.
    pub fn keep_speed(&self, speed: u64) {
        let near = self
            .row()
            .reads
            .is_some_and(|kept| kept.abs_diff(speed) * 10 <= kept);
        if let Some(known) = self.preferences.known.as_ref().filter(|_| !near && !self.demo) {
            // Without the file the next conversation measures anew.
            let _ = known.change(self.client.host(), &self.name, |row| row.reads = Some(speed));
        }
    }

    /// Whether the person agreed to where it runs: beforehand, earlier in this conversation, or for good.
    pub fn may_be_asked(&self) -> bool {
        let Some(host) = self.elsewhere() else { return true };
        self.agreed || self.preferences.elsewhere || self.row().allows(&host)
    }

    /// Keeps that the person agreed to where it runs. Errors are those of writing the file.
    pub fn keep_consent(&self, consent: known::Consent) -> Result<(), wisp_host::FileError> {
        let Some(known) = &self.preferences.known else {
            return Ok(());
        };
        known.change(self.client.host(), &self.name, |row| row.consent = Some(consent))
    }

    /// Where its prompts go to when they leave this server: the remote host, or `ollama.com` for a cloud name.
    pub fn elsewhere(&self) -> Option<String> {
        let named = self.show.remote_host.clone().filter(|host| !host.is_empty());
        self.show
            .is_cloud(&self.name)
            .then(|| named.unwrap_or_else(|| "ollama.com".to_owned()))
    }

    /// Whether it runs on another machine than this: its server is one, or forwards to one.
    pub fn is_away(&self) -> bool {
        !self.demo && (!self.client.host().is_loopback() || self.elsewhere().is_some())
    }

    /// How long the server is told to keep it loaded; none leaves that to the server.
    pub fn keep_alive(&self) -> Option<KeepAlive> {
        self.preferences.keep_alive
    }

    /// What masks the secrets in what it is sent, when that is wanted.
    pub fn masks(&self) -> Option<&Secrets> {
        let masking = self.preferences.masking.as_ref()?;
        let wanted = match masking.when {
            MaskWhen::Always => true,
            MaskWhen::Never => false,
            MaskWhen::Away => self.is_away(),
        };
        wanted.then_some(&masking.secrets)
    }

    /// Whether the server drops what does not fit without a word, or may do so.
    pub fn cuts_silently(&self) -> bool {
        !self.version.surely_supports(Feature::Truncate)
    }

    /// The request for a composed context. `prompt_tokens` is the estimate of what it costs; the reply is bounded by
    /// what it leaves, so that the window cannot overflow while the model writes.
    pub fn request(&self, composed: &Request, tools: Option<&Tools>, prompt_tokens: u64) -> ChatRequest {
        let messages = composed.messages.iter().map(convert::message).collect();
        self.request_of(messages, tools, prompt_tokens)
    }

    /// The same for messages that are in the wire's terms already.
    pub fn request_of(
        &self,
        mut messages: Vec<Message>,
        tools: Option<&Tools>,
        prompt_tokens: u64,
    ) -> ChatRequest {
        if let Some(secrets) = self.masks() {
            for message in &mut messages {
                convert::mask(message, secrets);
            }
        }
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

    /// What is sent about thinking with a request whose reply must satisfy a schema.
    pub fn think_with_format(&self) -> Option<Think> {
        adapt::think_with_format(&self.version, &self.show)
    }

    /// Whether its replies are held to the schema of an action.
    pub fn is_guided(&self) -> bool {
        self.calls == CallStyle::Guided
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

    /// The model turned out not to think: `think` is not sent again, nor in later conversations while its file is the
    /// same.
    pub fn forget_thinking(&mut self) {
        self.preferences.think = None;
        if let (Some(known), Some(digest)) = (&self.preferences.known, &self.digest) {
            // Without the file the next conversation asks once more, and nothing else.
            let _ = known.change(self.client.host(), &self.name, |row| {
                row.refuses_thinking = Some(digest.clone());
            });
        }
    }
}

/// A server that can stream calls and obey a schema, or the error that says it cannot.
fn new_enough(client: &Client, version: ServerVersion) -> Result<ServerVersion, Error> {
    if version.supports(Feature::Schema) {
        return Ok(version);
    }
    Err(Error::TooOld {
        host: client.host().to_string(),
        version: version.to_string(),
    })
}

/// What the server's lists say of a model.
struct Found {
    window: Window,
    warm: bool,
    digest: Option<String>,
}

/// Chooses the window of a conversation: what is configured, else what the model is loaded with, else what
/// this machine's memory holds, never more than the model was trained for.
async fn found(client: &Client, name: &str, show: &Show, preferences: &Preferences) -> Found {
    let loaded = client.ps().await.unwrap_or_default();
    let loaded = loaded.into_iter().find(|l| same_model(&l.name, name));
    let listed = client.tags().await.unwrap_or_default();
    let listed = listed.into_iter().find(|m| same_model(&m.name, name));
    let weights = listed.as_ref().and_then(|m| m.size);
    Found {
        window: Window::of(client, show, loaded.as_ref(), weights, preferences.window),
        warm: loaded.is_some(),
        digest: listed.map(|m| m.digest).filter(|digest| !digest.is_empty()),
    }
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
            said: reason.said(),
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
