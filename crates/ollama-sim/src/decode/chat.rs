//! `POST /api/chat` and the part of `/api/generate` that is the same.

use serde_json::{Map, Value};

use super::{Faults, KeepAlive, Think, ToolDef, body, key};
use crate::gojson::Json;
use crate::profile::Profile;

/// A chat request the server's decoder let through.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChatRequest {
    pub(crate) model: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) stream: Option<bool>,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) think: Think,
    /// Read later, as the server does: a bad format fails in the runner.
    pub(crate) format: Option<Json>,
    /// Read later: a wrong type is 500, after the model was found.
    pub(crate) options: Vec<(String, Json)>,
    pub(crate) keep_alive: Option<KeepAlive>,
    pub(crate) truncate: Option<bool>,
    pub(crate) shift: Option<bool>,
    pub(crate) debug_render: bool,
    /// Dotted paths of fields this release does not know.
    pub(crate) unknown: Vec<String>,
}

/// One message of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool` or whatever else was sent, in lower case.
    pub role: String,
    /// The text.
    pub content: String,
    /// The assistant's thinking.
    pub thinking: String,
    /// The assistant's calls.
    pub calls: Vec<Call>,
    /// The tool whose result this is, when said.
    pub tool_name: String,
    /// The call whose result this is, when said.
    pub tool_call_id: String,
    /// How many images came with it.
    pub images: usize,
}

/// One tool call of an assistant's message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The id, when sent.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

impl ChatRequest {
    /// Decodes a body; the error is the server's text, to be sent with status 400.
    pub(crate) fn read(bytes: &[u8], profile: &Profile) -> Result<Self, String> {
        let fields = body(bytes, "api.ChatRequest")?;
        let mut request = Self::default();
        let mut faults = Faults::new();
        for (name, value) in &fields {
            request.field(name, value, profile, &mut faults);
        }
        faults.finish()?;
        request.unknown = faults.unknown;
        Ok(request)
    }

    fn field(&mut self, name: &str, value: &Json, profile: &Profile, faults: &mut Faults) {
        match key(name).as_str() {
            "model" => self.model = faults.string(value, "ChatRequest.model"),
            "messages" => self.messages = messages(value, profile, faults),
            "stream" => self.stream = faults.boolean(value, "ChatRequest.stream"),
            "tools" => {
                let items = faults.array(value, "ChatRequest.tools", "api.Tools");
                self.tools = items
                    .iter()
                    .map(|item| ToolDef::read(item, profile, faults))
                    .collect();
            }
            "think" if profile.think != crate::profile::ThinkField::Absent => {
                match Think::read(value, profile) {
                    Ok(think) => self.think = think,
                    Err(text) => faults.note(text),
                }
            }
            "format" => self.format = Some(value.clone()),
            "options" => {
                self.options = faults
                    .object(value, "ChatRequest.options", "map[string]interface {}")
                    .to_vec();
            }
            "keep_alive" => match (value, KeepAlive::read(value)) {
                (Json::Null, _) => {}
                (_, Ok(keep)) => self.keep_alive = Some(keep),
                (_, Err(text)) => faults.note(text),
            },
            _ => self.late_field(name, value, profile, faults),
        }
    }

    /// The fields that came with later releases; older ones do not know them.
    fn late_field(&mut self, name: &str, value: &Json, profile: &Profile, faults: &mut Faults) {
        match key(name).as_str() {
            "truncate" if profile.overflow_fields => {
                self.truncate = faults.boolean(value, "ChatRequest.truncate");
            }
            "shift" if profile.overflow_fields => self.shift = faults.boolean(value, "ChatRequest.shift"),
            "_debug_render_only" if profile.debug_render => {
                self.debug_render = faults.boolean(value, "ChatRequest._debug_render_only") == Some(true);
            }
            "logprobs" | "top_logprobs" if profile.ordered_arguments => {}
            _ => faults.unknown.push(name.to_owned()),
        }
    }
}

fn messages(value: &Json, profile: &Profile, faults: &mut Faults) -> Vec<Message> {
    let items = faults.array(value, "ChatRequest.messages", "[]api.Message");
    items.iter().map(|item| message(item, profile, faults)).collect()
}

fn message(item: &Json, profile: &Profile, faults: &mut Faults) -> Message {
    let mut message = Message::default();
    for (name, value) in faults.object(item, "ChatRequest.messages", "api.Message") {
        match key(name).as_str() {
            "role" => message.role = faults.string(value, "ChatRequest.messages.role").to_lowercase(),
            "content" => message.content = faults.string(value, "ChatRequest.messages.content"),
            "thinking" if profile.think != crate::profile::ThinkField::Absent => {
                message.thinking = faults.string(value, "ChatRequest.messages.thinking");
            }
            "images" => message.images = images(value, faults),
            "tool_calls" => {
                let items = faults.array(value, "ChatRequest.messages.tool_calls", "[]api.ToolCall");
                message.calls = items.iter().map(|item| call(item, profile, faults)).collect();
            }
            "tool_name" if profile.tool_messages_apart => {
                message.tool_name = faults.string(value, "ChatRequest.messages.tool_name");
            }
            "tool_call_id" if profile.call_id != crate::profile::CallId::None => {
                message.tool_call_id = faults.string(value, "ChatRequest.messages.tool_call_id");
            }
            _ => faults.unknown.push(format!("messages.{name}")),
        }
    }
    message
}

/// Counts the images, which must be base64.
fn images(value: &Json, faults: &mut Faults) -> usize {
    let items = faults.array(value, "ChatRequest.messages.images", "[]api.ImageData");
    for item in items {
        let text = faults.string(item, "ChatRequest.messages.images");
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\r' | b'\n');
        if let Some(at) = text.bytes().position(|b| !is_base64(b)) {
            faults.note(format!("illegal base64 data at input byte {at}"));
        }
    }
    items.len()
}

fn call(item: &Json, profile: &Profile, faults: &mut Faults) -> Call {
    let mut call = Call::default();
    let at = "ChatRequest.messages.tool_calls";
    for (name, value) in faults.object(item, at, "api.ToolCall") {
        match key(name).as_str() {
            "id" if profile.call_id != crate::profile::CallId::None => {
                call.id = faults.string(value, &format!("{at}.id"));
            }
            "function" => function(value, &mut call, profile, faults),
            _ => faults.unknown.push(format!("messages.tool_calls.{name}")),
        }
    }
    call
}

fn function(value: &Json, call: &mut Call, profile: &Profile, faults: &mut Faults) {
    let at = "ChatRequest.messages.tool_calls.function";
    for (name, value) in faults.object(value, at, "api.ToolCallFunction") {
        match (key(name).as_str(), value) {
            ("name", value) => call.name = faults.string(value, &format!("{at}.name")),
            ("arguments", Json::Object(fields)) => {
                call.arguments = fields.iter().map(|(k, v)| (k.clone(), v.to_value())).collect();
            }
            ("index", _) | ("arguments", Json::Null) => {}
            ("arguments", other) if profile.ordered_arguments => faults.note(not_an_object(other)),
            ("arguments", other) => {
                faults.mismatch(other, &format!("{at}.arguments"), "api.ToolCallFunctionArguments");
            }
            _ => faults
                .unknown
                .push(format!("messages.tool_calls.function.{name}")),
        }
    }
}

/// From 0.14.0 on, arguments have a reader of their own with its own words (seen on 0.24.0 for a string that
/// holds an object).
fn not_an_object(value: &Json) -> String {
    match value {
        Json::String(text) if text.trim_start().starts_with('{') => {
            "Value looks like object, but can't find closing '}' symbol".to_owned()
        }
        _ => "Value is not object".to_owned(),
    }
}
