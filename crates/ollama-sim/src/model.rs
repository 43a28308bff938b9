//! The models a server has.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

/// What a model can do; the names are those of `/api/show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Chat and text.
    Completion,
    /// Tool calls.
    Tools,
    /// Thinking apart from content.
    Thinking,
    /// Images.
    Vision,
    /// Embeddings.
    Embedding,
    /// Fill in the middle.
    Insert,
}

impl Capability {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Tools => "tools",
            Self::Thinking => "thinking",
            Self::Vision => "vision",
            Self::Embedding => "embedding",
            Self::Insert => "insert",
        }
    }
}

/// How a model's tool-call text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parser {
    /// By the tag of a Go template: a call to a tool that was not offered, or without an arguments object, is
    /// swallowed.
    #[default]
    Generic,
    /// A built-in XML parser (qwen3-coder): any name is delivered, malformed text fails the request.
    Xml,
    /// gpt-oss: any name is delivered, malformed text fails the request, calls come on the last line.
    Harmony,
}

/// One installed model. Build it with [`Model::new`] and the `with_` methods.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts about a model, each of which a script may set by itself"
)]
pub struct Model {
    /// Name and tag; the tag is `latest` when none is written.
    pub name: String,
    /// The file its weights are in; models of one file share a runner. The name, when not said.
    #[serde(default)]
    pub weights: Option<String>,
    /// What it can do where Ollama renders its prompt.
    #[serde(default = "completion_and_tools")]
    pub capabilities: Vec<Capability>,
    /// What it can do on the native path, when that differs.
    #[serde(default)]
    pub native_capabilities: Option<Vec<Capability>>,
    /// The longest window it was trained for, in tokens.
    #[serde(default = "trained")]
    pub context_length: u64,
    /// `PARAMETER num_ctx` of the model file.
    #[serde(default)]
    pub num_ctx: Option<u64>,
    /// How its calls are read.
    #[serde(default)]
    pub parser: Parser,
    /// Whether its template gathers all system messages into one block at the front.
    #[serde(default = "yes")]
    pub gathers_system: bool,
    /// Whether its own template, on the native path, refuses a system message that is not the first.
    #[serde(default = "yes")]
    pub strict_system: bool,
    /// What its own template, on the native path, puts where no system message was sent.
    #[serde(default = "own_system")]
    pub native_system: String,
    /// How long a load takes on the server's clock, in milliseconds.
    #[serde(default)]
    pub load_ms: u64,
    /// The error a load ends with, when it does.
    #[serde(default)]
    pub load_error: Option<String>,
    /// Weights and window together, in bytes.
    #[serde(default = "a_gigabyte")]
    pub size: u64,
    /// The part of that on a GPU.
    #[serde(default)]
    pub size_vram: u64,
    /// A model that runs on another host.
    #[serde(default)]
    pub remote: Option<Remote>,
    /// Whether only its replies say where it runs, and no list does.
    #[serde(default)]
    pub hides_remote: bool,
    /// `PARAMETER repeat_penalty` of the model file.
    #[serde(default)]
    pub repeat_penalty: Option<f64>,
    /// Other `PARAMETER`s of the model file, by name; a list is one row an item.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// A text of this many bytes as licence, for `/api/show`.
    #[serde(default)]
    pub licence_bytes: usize,
    /// Whether `/api/show` has `model_info`.
    #[serde(default = "yes")]
    pub has_model_info: bool,
    /// The `SYSTEM` of its model file.
    #[serde(default)]
    pub system: String,
    /// How many parameters it has, as `/api/show` and the lists say.
    #[serde(default = "eight_billion")]
    pub parameter_count: u64,
}

/// Where a cloud model runs, and what the account may do.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// `remote_host`.
    pub host: String,
    /// `remote_model`.
    pub model: String,
    /// Whether this machine is signed in; if not, 401 with a `signin_url`.
    #[serde(default)]
    pub signed_in: bool,
    /// The text of a 429, when the quota is used up.
    #[serde(default)]
    pub quota: Option<String>,
}

fn completion_and_tools() -> Vec<Capability> {
    vec![Capability::Completion, Capability::Tools]
}

fn trained() -> u64 {
    32_768
}

fn own_system() -> String {
    "You are a helpful assistant, and this text is the template's own.".to_owned()
}

fn a_gigabyte() -> u64 {
    1 << 30
}

fn eight_billion() -> u64 {
    8_030_261_248
}

fn yes() -> bool {
    true
}

impl Model {
    /// A model with completion and tools, trained for 32,768 tokens, that loads at once.
    pub fn new(name: &str) -> Self {
        let name = if name.contains(':') {
            name.to_owned()
        } else {
            format!("{name}:latest")
        };
        Self {
            name,
            weights: None,
            capabilities: completion_and_tools(),
            native_capabilities: None,
            context_length: trained(),
            num_ctx: None,
            parser: Parser::Generic,
            gathers_system: true,
            strict_system: true,
            native_system: own_system(),
            load_ms: 0,
            load_error: None,
            size: a_gigabyte(),
            size_vram: 0,
            remote: None,
            hides_remote: false,
            repeat_penalty: None,
            parameters: BTreeMap::new(),
            licence_bytes: 0,
            has_model_info: true,
            system: String::new(),
            parameter_count: eight_billion(),
        }
    }

    /// The same model with so many parameters.
    #[must_use]
    pub fn with_parameters(mut self, count: u64) -> Self {
        self.parameter_count = count;
        self
    }

    /// The same model with these capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: &[Capability]) -> Self {
        self.capabilities = capabilities.to_vec();
        self
    }

    /// The same model trained for this many tokens.
    #[must_use]
    pub fn with_context_length(mut self, tokens: u64) -> Self {
        self.context_length = tokens;
        self
    }

    /// The same model, taking this long to load.
    #[must_use]
    pub fn with_load(mut self, delay: Duration) -> Self {
        self.load_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// The same model, failing to load with this text.
    #[must_use]
    pub fn with_load_error(mut self, text: &str) -> Self {
        self.load_error = Some(text.to_owned());
        self
    }

    /// The same model, its calls read by this parser.
    #[must_use]
    pub fn with_parser(mut self, parser: Parser) -> Self {
        self.parser = parser;
        self
    }

    /// Where it runs, as far as the lists say.
    pub(crate) fn listed_remote(&self) -> Option<&Remote> {
        self.remote.as_ref().filter(|_| !self.hides_remote)
    }

    /// The key of its runner.
    pub(crate) fn weights(&self) -> &str {
        self.weights.as_deref().unwrap_or(&self.name)
    }

    /// What it can do on this path.
    pub(crate) fn capabilities_on(&self, native: bool) -> &[Capability] {
        match &self.native_capabilities {
            Some(own) if native => own,
            _ => &self.capabilities,
        }
    }

    /// A digest that stays the same for the same name.
    pub(crate) fn digest(&self) -> String {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut out = String::new();
        for round in 0..4_u64 {
            for byte in self.name.bytes() {
                state = (state ^ u64::from(byte))
                    .wrapping_mul(0x0100_0000_01b3)
                    .rotate_left(17)
                    ^ round;
            }
            // Writing to a string cannot fail.
            let _ = write!(out, "{state:016x}");
        }
        out
    }
}
