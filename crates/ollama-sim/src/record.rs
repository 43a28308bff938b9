//! What the server remembers of each request, for the test that sent it.

use std::time::Duration;

use serde_json::Value;

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// Not yet.
    #[default]
    Open,
    /// The answer was written to its end.
    Answered,
    /// The script lost the connection.
    Lost,
    /// The client went away before the end.
    ClientLeft,
}

/// One request as it came, and what became of it.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// The connection it came on, counted from 0.
    pub connection: u64,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The headers, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
    /// The body as JSON, when it is.
    pub json: Option<Value>,
    /// When it came, on the server's clock.
    pub at: Duration,
    /// When it ended, on the server's clock.
    pub ended_at: Option<Duration>,
    /// The status that was sent, once it was.
    pub status: Option<u16>,
    /// How it ended.
    pub ended: Ended,
    /// What the model was given and gave, for a chat that reached a model.
    pub chat: Option<ChatAccount>,
}

impl Received {
    /// A header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The account of one chat: what was cut, what was reused, what was generated. Counts are tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatAccount {
    /// The prompt the model saw, after every cut.
    pub prompt: String,
    /// Tokens of the whole conversation as sent, before any cut.
    pub tokens_sent: u64,
    /// Tokens of the prompt the model saw: `prompt_eval_count`.
    pub prompt_tokens: u64,
    /// Of those, tokens found in the slot.
    pub cached_tokens: u64,
    /// Messages dropped from the front.
    pub dropped_messages: usize,
    /// Tokens cut out of the prompt after that.
    pub cut_tokens: u64,
    /// The window shown by `/api/ps`.
    pub window: u64,
    /// Tokens generated: `eval_count`.
    pub generated: u64,
    /// Whether the front of the window was forgotten while generating.
    pub shifted: bool,
    /// Whether this request loaded the model.
    pub loaded: bool,
    /// Fields and options this release does not know, as dotted paths.
    pub unknown: Vec<String>,
}

impl ChatAccount {
    /// Whether anything the client sent was silently lost.
    pub fn was_cut(&self) -> bool {
        self.dropped_messages > 0 || self.cut_tokens > 0
    }
}
