//! What a model does in answer: what it generates, how it ends, where the connection is lost.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One thing a model does while it replies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Thinks this text.
    Thinking(String),
    /// Writes this text, a token a line.
    Content(String),
    /// Writes this text in one line.
    Line(String),
    /// A line with empty content.
    Empty,
    /// Calls a tool.
    Call {
        /// The tool.
        name: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Map<String, Value>,
    },
    /// Writes this text, which goes through the server's parser: a tag becomes a call, an unknown tool is
    /// swallowed, a malformed call fails as the model's parser fails.
    Raw(String),
    /// Is silent for so many milliseconds of the server's clock.
    SilenceMs(u64),
    /// Fails with this text: a status before the first line (by release), a line after it.
    Error(String),
    /// Fails with an object of this key and text, as some releases of gpt-oss did.
    ErrorKey {
        /// The key, such as `error parsing tool call`.
        key: String,
        /// The text.
        text: String,
    },
    /// The runner dies: its own texts, before and after the first line, and the model is unloaded.
    Crash,
    /// These bytes on the wire, as they are.
    Bytes(String),
    /// Silent for ever: nothing more comes, the connection stays open.
    Stall,
    /// The stream ends cleanly without its last line.
    EofWithoutDone,
}

/// How a reply ends when nothing in it ended it before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The model was done.
    #[default]
    Stop,
    /// The model was cut off, as if `num_predict` had been reached.
    Length,
    /// The last line without a `done_reason`.
    NoReason,
    /// The last line twice.
    DoneTwice,
}

/// How a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Closed in order.
    Fin,
    /// Reset.
    Reset,
    /// Left open, silent.
    Stall,
}

/// Where a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutAt {
    /// Before the status line.
    BeforeHeaders,
    /// After the headers, before the body.
    AfterHeaders,
    /// After so many bytes of the body.
    Byte(usize),
    /// After so many whole lines of the body.
    Line(usize),
    /// In the middle of line `n`, counted from 0.
    MidLine(usize),
}

/// An answer that is not Ollama's: a proxy's page, a plain-text error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// The status. A success must not be JSON: that would be an answer of Ollama's, which nobody may write.
    pub status: u16,
    /// The content type, when there is one.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The body.
    #[serde(default)]
    pub body: String,
}

impl Foreign {
    /// Whether it could be taken for a success of Ollama's own.
    pub(crate) fn feigns_success(&self) -> bool {
        let json = self
            .content_type
            .as_deref()
            .is_none_or(|kind| kind.contains("json"));
        (200..300).contains(&self.status) && json
    }
}

/// What the model does in answer to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it does, in order.
    pub events: Vec<Event>,
    /// How it ends.
    pub end: End,
    /// Where and how the connection is lost, when it is.
    pub cut: Option<(CutAt, Loss)>,
    /// Something else than the server answers.
    pub foreign: Option<Foreign>,
    /// Bytes written after the last line.
    pub after_done: String,
}

impl Reply {
    /// A reply that does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reply of this text.
    pub fn text(text: &str) -> Self {
        Self::new().content(text)
    }

    /// A reply of one call. Arguments that are not an object become an empty one.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new().and_call(name, arguments)
    }

    /// And then this event.
    #[must_use]
    pub fn event(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// And then this text.
    #[must_use]
    pub fn content(self, text: &str) -> Self {
        self.event(Event::Content(text.to_owned()))
    }

    /// And then this thought.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.event(Event::Thinking(text.to_owned()))
    }

    /// And then this call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        self.event(Event::Call {
            name: name.to_owned(),
            arguments,
        })
    }

    /// And then silence, in milliseconds of the server's clock.
    #[must_use]
    pub fn silence_ms(self, ms: u64) -> Self {
        self.event(Event::SilenceMs(ms))
    }

    /// And then this error.
    #[must_use]
    pub fn error(self, text: &str) -> Self {
        self.event(Event::Error(text.to_owned()))
    }

    /// Ending so.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// The connection lost there, so.
    #[must_use]
    pub fn cut(mut self, at: CutAt, how: Loss) -> Self {
        self.cut = Some((at, how));
        self
    }

    /// Answered by something else than the server.
    #[must_use]
    pub fn foreign(status: u16, content_type: Option<&str>, body: &str) -> Self {
        let content_type = content_type.map(str::to_owned);
        Self {
            foreign: Some(Foreign {
                status,
                content_type,
                body: body.to_owned(),
            }),
            ..Self::default()
        }
    }
}
