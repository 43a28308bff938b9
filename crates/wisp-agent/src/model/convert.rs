//! Messages of the record as messages of the wire.

use serde_json::{Map, Value};
use wisp_context::message as record;
use wisp_ollama::{Message, Role, ToolCall, ToolDefinition, Tools};

use crate::secrets::Secrets;

/// One message, ready to be sent. Thinking goes back as thinking, and only where the record has it: in the turn that
/// is under way, where some templates want it.
pub fn message(from: &record::Message) -> Message {
    let mut to = Message::new(role(from.role), from.content.as_str());
    to.thinking = from.thinking.as_ref().map(|text| text.as_str().to_owned());
    to.tool_calls = from.tool_calls.iter().map(call).collect();
    to.tool_name = from.tool_name.as_ref().map(|name| name.as_str().to_owned());
    to.tool_call_id.clone_from(&from.tool_call_id);
    to
}

/// Replaces the secrets in a message; what the instructions say stays.
pub fn mask(message: &mut Message, secrets: &Secrets) {
    if message.role == Role::System {
        return;
    }
    let texts = std::iter::once(&mut message.content).chain(message.thinking.as_mut());
    for text in texts {
        if let Some(masked) = secrets.masked(text) {
            *text = masked;
        }
    }
    for call in &mut message.tool_calls {
        let mut arguments = Value::Object(std::mem::take(&mut call.arguments));
        secrets.mask_value(&mut arguments);
        if let Value::Object(arguments) = arguments {
            call.arguments = arguments;
        }
    }
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

/// The definitions a list of tools was made of, to judge a call by, with all that is understood of their arguments; a tool that cannot be read is left out.
pub fn definitions(tools: &Tools) -> Vec<ToolDefinition> {
    let listed: Vec<Value> = serde_json::from_str(tools.as_str()).unwrap_or_default();
    let read = |tool: &Value| {
        let function = tool.get("function")?;
        Some(ToolDefinition {
            name: function.get("name")?.as_str()?.to_owned(),
            description: String::new(),
            parameters: function
                .get("parameters")
                .map(wisp_tools::written::understood)
                .unwrap_or_default(),
        })
    };
    listed.iter().filter_map(read).collect()
}
