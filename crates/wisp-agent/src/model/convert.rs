//! Messages of the record as messages of the wire.

use serde_json::{Map, Value};
use wisp_context::message as record;
use wisp_ollama::{Message, Role, ToolCall};

/// One message, ready to be sent. Thinking is never sent back: most templates drop it, and the rest would show it.
pub fn message(from: &record::Message) -> Message {
    let mut to = Message::new(role(from.role), from.content.as_str());
    to.tool_calls = from.tool_calls.iter().map(call).collect();
    to.tool_name = from.tool_name.as_ref().map(|name| name.as_str().to_owned());
    to.tool_call_id.clone_from(&from.tool_call_id);
    to
}

fn role(role: record::Role) -> Role {
    match role {
        record::Role::System => Role::System,
        record::Role::User => Role::User,
        record::Role::Assistant => Role::Assistant,
        record::Role::Tool => Role::Tool,
    }
}

fn call(call: &record::ToolCall) -> ToolCall {
    let mut sent = ToolCall::new(call.name.as_str(), object(&call.arguments));
    sent.id = Some(call.id.clone());
    sent
}

/// Arguments as the object every era wants.
fn object(arguments: &Value) -> Map<String, Value> {
    arguments.as_object().cloned().unwrap_or_default()
}
