//! Messages and tool calls as `/api/chat` takes and gives them.
//!
//! The fields serialise in one fixed order and an empty one is left out, so the same message is the same bytes in
//! every request: that is what lets the server reuse its prompt cache. A call's arguments are always an object
//! here; a string in their place is a 400 on every era.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::calls;

/// Who speaks. The server accepts other roles silently; these four are the ones templates know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions; exactly one, first.
    System,
    /// The person, or whoever asks.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// One message of the history. Content is always text, never a list of parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The text; may be empty.
    #[serde(default)]
    pub content: String,
    /// Images that go with the text, as base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// What the model thought before it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The calls of an assistant message, in the order they were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// On a tool message: the function that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// On a tool message: the call that is answered. Servers before 0.12.10 ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    /// A message of plain text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            images: Vec::new(),
            thinking: None,
            tool_calls: Vec::new(),
            tool_name: None,
            tool_call_id: None,
        }
    }

    /// The instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    /// A request.
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// A reply.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// What a tool returned, naming both the function and the call: templates read one, the other, or neither.
    pub fn tool(name: impl Into<String>, call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool_name: Some(name.into()),
            tool_call_id: Some(call_id.into()),
            ..Self::new(Role::Tool, content)
        }
    }
}

/// One call of a tool. On the wire the name and the arguments stand inside a `function` object.
///
/// The server's `index` is not kept: it is left out, or 0 on every call, by several eras and parsers. The order of
/// arrival is the order of the calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The server's id, from 0.12.10 on; the caller makes its own where there is none.
    pub id: Option<String>,
    /// The function the model named; it may be none that was offered.
    pub name: String,
    /// The arguments in the order they came. They may lack required ones and have the wrong types.
    pub arguments: Map<String, Value>,
    /// Why the call cannot be read, when it cannot: it is answered with that and never run.
    pub fault: Option<Box<Fault>>,
}

/// What is wrong with a call that has no one meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// In words that go on from "the call cannot be read: ".
    pub why: String,
    /// The call as it came, cut at 200 bytes.
    pub given: String,
}

impl ToolCall {
    /// A call without an id.
    pub fn new(name: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments,
            fault: None,
        }
    }
}

#[derive(Serialize)]
struct CallOut<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    function: FunctionOut<'a>,
}

#[derive(Serialize)]
struct FunctionOut<'a> {
    name: &'a str,
    arguments: &'a Map<String, Value>,
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let function = FunctionOut {
            name: &self.name,
            arguments: &self.arguments,
        };
        let id = self.id.as_deref();
        CallOut { id, function }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(calls::read(Map::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, ToolCall};
    use serde_json::json;

    fn json(message: &Message) -> String {
        serde_json::to_string(message).expect("serialises")
    }

    #[test]
    fn a_message_is_always_the_same_bytes() {
        assert_eq!(json(&Message::user("hi")), r#"{"role":"user","content":"hi"}"#);
        let mut call = ToolCall::new(
            "read",
            json!({"z": 1, "a": 2}).as_object().expect("object").clone(),
        );
        call.id = Some("c1".into());
        let mut reply = Message::assistant("");
        reply.thinking = Some("hm".into());
        reply.tool_calls.push(call);
        assert_eq!(
            json(&reply),
            r#"{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"z":1,"a":2}}}]}"#
        );
        assert_eq!(
            json(&Message::tool("read", "c1", "x")),
            r#"{"role":"tool","content":"x","tool_name":"read","tool_call_id":"c1"}"#
        );
    }
}
