//! What the scripted model sees of a request: the prompt that was left after every cut, and nothing else.

use serde_json::Value;

use crate::decode::Message;
use crate::profile::Profile;

/// One request, as it reached the model.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The model's name and tag.
    pub model: String,
    /// The server it runs on.
    pub profile: Profile,
    /// The messages that were left, system messages first.
    pub messages: Vec<Message>,
    /// The rendered prompt that was left, to the last token cut.
    pub prompt: String,
    /// Tokens of that prompt.
    pub prompt_tokens: u64,
    /// The tools offered, as the server kept them.
    pub tools: Vec<Value>,
    /// The whole request as it was sent.
    pub request: Value,
}

impl Seen {
    /// The names of the tools offered, in order.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools
            .iter()
            .filter_map(|tool| tool.pointer("/function/name")?.as_str())
    }

    /// The schema of a tool that was offered.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools
            .iter()
            .find(|tool| tool.pointer("/function/name").and_then(Value::as_str) == Some(name))
    }

    /// Whether the tool was offered.
    pub fn offers(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// The last message.
    pub fn last(&self) -> Option<&Message> {
        self.messages.last()
    }

    /// The last message of a role.
    pub fn last_of(&self, role: &str) -> Option<&Message> {
        self.messages.iter().rev().find(|m| m.role == role)
    }
}
