//! A chat request, and the bytes it becomes.
//!
//! [`ChatRequest::body`] is the one place a request turns into bytes, so what is audited can be what is sent. The
//! fields that stay as they are stand first and `messages` near the end: two requests of one conversation then
//! differ only where messages were added. `stream` is always true: it is the only way to cancel promptly.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::Message;

/// What `/api/chat` is asked. Everything optional is left out of the body when unset.
#[derive(Debug, Clone, Default)]
pub struct ChatRequest {
    /// The model's name, with or without its tag.
    pub model: String,
    /// The history: one system message first, never two assistant messages in a row. Never empty in a real chat:
    /// an empty history only loads the model.
    pub messages: Vec<Message>,
    /// The tools offered, serialised once. Left out of the body when there is a `format`: its grammar forbids calls.
    pub tools: Option<Tools>,
    /// Whether and how much to think; unset leaves the server's default for the model.
    pub think: Option<Think>,
    /// A JSON schema the reply must satisfy. The word `json` is not enforced everywhere, so it cannot be said.
    pub format: Option<Value>,
    /// Sampling and window.
    pub options: Options,
    /// How long the model stays loaded; unset leaves the operator's own setting.
    pub keep_alive: Option<KeepAlive>,
    /// Whether the server may drop messages that do not fit. Servers before 0.12.6 ignore it.
    pub truncate: Option<bool>,
    /// Whether the server may forget the front while it generates. From 0.30 on a change reloads the model.
    pub shift: Option<bool>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<&'a KeepAlive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shift: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a RawValue>,
    messages: &'a [Message],
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: &'a Options,
    #[serde(rename = "_debug_render_only", skip_serializing_if = "std::ops::Not::not")]
    render_only: bool,
}

impl ChatRequest {
    /// A request for `model` with a history and nothing else set.
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            ..Self::default()
        }
    }

    /// The bytes that are sent: the same request is the same bytes, always.
    pub fn body(&self) -> Vec<u8> {
        self.bytes(true, false)
    }

    /// The bytes that ask for the prompt as it would be rendered, and for no reply (0.11.5 on).
    pub(crate) fn render_body(&self) -> Vec<u8> {
        self.bytes(false, true)
    }

    fn bytes(&self, stream: bool, render_only: bool) -> Vec<u8> {
        // A grammar leaves no room for a call: with both, the model could only pretend.
        let tools = self.tools.as_ref().filter(|_| self.format.is_none());
        let body = Body {
            model: &self.model,
            stream,
            think: self.think,
            format: self.format.as_ref(),
            keep_alive: self.keep_alive.as_ref(),
            truncate: self.truncate,
            shift: self.shift,
            tools: tools.map(Tools::raw),
            messages: &self.messages,
            options: &self.options,
            render_only,
        };
        serde_json::to_vec(&body).expect("every map in a request has text for its keys")
    }
}

/// The options worth sending.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Options {
    /// The window in tokens; a change reloads the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_ctx: Option<u64>,
    /// The most tokens generated, thinking included. At least 1: zero means "unlimited" or "none", by path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_predict: Option<u64>,
    /// 0 is greedy; the server's own default is 0.8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The sampler's seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// How many of the likeliest tokens are sampled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u64>,
    /// The share of probability that is sampled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The least probability, relative to the likeliest token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_p: Option<f64>,
    /// 1.0 is no penalty; before 0.32.10 the default of 1.1 damages code and JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat_penalty: Option<f64>,
    /// Texts at which the reply ends, without them. They replace the model's own, which are to be among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// How many of the prompt's first tokens a cut keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_keep: Option<u64>,
}

impl Options {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Thinking: on, off, or a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Accepted by every model of every era that knows the field.
    Off,
    /// A 400 on a model that cannot.
    On,
    /// From 0.18.0 for every thinking model, from 0.11.0 for gpt-oss.
    Low,
    /// As `Low`.
    Medium,
    /// As `Low`.
    High,
    /// From 0.22.0.
    Max,
}

impl Think {
    /// Reads `true`, `false`, `on`, `off` and the four levels.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "false" | "off" => Some(Self::Off),
            "true" | "on" => Some(Self::On),
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            "max" => Some(Self::Max),
            _ => None,
        }
    }
}

impl Serialize for Think {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::Low => serializer.serialize_str("low"),
            Self::Medium => serializer.serialize_str("medium"),
            Self::High => serializer.serialize_str("high"),
            Self::Max => serializer.serialize_str("max"),
        }
    }
}

/// How long a model stays loaded after its last request. Always sent as a number or with a unit: the texts `"-1"`
/// and `"300"` are refused by every era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepAlive {
    /// Until something else needs the memory.
    Forever,
    /// Seconds; 0 unloads after the reply.
    Seconds(u64),
}

impl KeepAlive {
    /// Reads a configured value: seconds (`300`, negative for ever) or a duration of `h`, `m` and `s` (`1h30m`).
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<i64>() {
            return Some(u64::try_from(seconds).map_or(Self::Forever, Self::Seconds));
        }
        if let Some(rest) = text.strip_prefix('-') {
            return Self::parse(rest).map(|_| Self::Forever);
        }
        let mut total = 0_u64;
        let mut number = String::new();
        for c in text.chars() {
            let unit = match c {
                '0'..='9' => {
                    number.push(c);
                    continue;
                }
                'h' => 3600,
                'm' => 60,
                's' => 1,
                _ => return None,
            };
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
            number.clear();
        }
        (number.is_empty() && !text.is_empty()).then_some(Self::Seconds(total))
    }
}

impl Serialize for KeepAlive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Forever => serializer.serialize_i64(-1),
            Self::Seconds(seconds) => serializer.serialize_u64(*seconds),
        }
    }
}

/// One tool as the server is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Letters, digits and `_` only, and no name within another.
    pub name: String,
    /// What it is for; constraints belong here, since the server drops most of a schema's keywords.
    pub description: String,
    /// A JSON schema of type `object`.
    pub parameters: Value,
}

#[derive(Serialize)]
struct Offered<'a> {
    r#type: &'static str,
    function: &'a ToolDefinition,
}

/// A list of tools as bytes that are the same in every request of a conversation. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tools(Arc<RawValue>);

impl Tools {
    /// Serialises definitions, in their order.
    pub fn new(definitions: &[ToolDefinition]) -> Self {
        let offered: Vec<_> = definitions
            .iter()
            .map(|function| Offered {
                r#type: "function",
                function,
            })
            .collect();
        let raw = serde_json::value::to_raw_value(&offered).expect("every key of a schema is text");
        Self(raw.into())
    }

    /// Takes an array that is already serialised, byte for byte. An error when it is no JSON array.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let _: Vec<&RawValue> = serde_json::from_str(text)?;
        let raw: Box<RawValue> = serde_json::from_str(text)?;
        Ok(Self(raw.into()))
    }

    /// The bytes that are sent.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    fn raw(&self) -> &RawValue {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{ChatRequest, KeepAlive, Options, Think, ToolDefinition, Tools};
    use crate::message::Message;
    use serde_json::json;

    fn text(request: &ChatRequest) -> String {
        String::from_utf8(request.body()).expect("JSON is UTF-8")
    }

    #[test]
    fn a_configured_time_is_read_as_ollama_writes_it() {
        for (text, read) in [
            ("300", Some(KeepAlive::Seconds(300))),
            ("-1", Some(KeepAlive::Forever)),
            ("10m", Some(KeepAlive::Seconds(600))),
            ("1h30m5s", Some(KeepAlive::Seconds(5405))),
            ("-1m", Some(KeepAlive::Forever)),
            ("5", Some(KeepAlive::Seconds(5))),
            ("m", None),
            ("5x", None),
            ("1h5", None),
            ("", None),
        ] {
            assert_eq!(KeepAlive::parse(text), read, "{text}");
        }
    }

    #[test]
    fn nothing_unset_is_sent() {
        let request = ChatRequest::new("m", vec![Message::user("hi")]);
        assert_eq!(
            text(&request),
            r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#
        );
    }

    #[test]
    fn everything_set_is_sent_in_one_order() {
        let request = ChatRequest {
            tools: Some(Tools::from_json(r#"[ {"b":1.50, "a":2} ]"#).expect("an array")),
            think: Some(Think::High),
            options: Options {
                num_ctx: Some(8192),
                num_predict: Some(512),
                temperature: Some(0.0),
                seed: Some(-3),
                repeat_penalty: Some(1.0),
                ..Options::default()
            },
            keep_alive: Some(KeepAlive::Forever),
            truncate: Some(false),
            shift: Some(false),
            ..ChatRequest::new("m", vec![])
        };
        assert_eq!(
            text(&request),
            r#"{"model":"m","stream":true,"think":"high","keep_alive":-1,"truncate":false,"shift":false,"tools":[ {"b":1.50, "a":2} ],"messages":[],"options":{"num_ctx":8192,"num_predict":512,"temperature":0.0,"seed":-3,"repeat_penalty":1.0}}"#
        );
        assert_eq!(request.body(), request.clone().body());
    }

    #[test]
    fn tools_are_left_out_beside_a_format() {
        let request = ChatRequest {
            tools: Some(Tools::from_json("[]").expect("an array")),
            format: Some(json!({"type": "object"})),
            ..ChatRequest::new("m", vec![])
        };
        assert_eq!(
            text(&request),
            r#"{"model":"m","stream":true,"format":{"type":"object"},"messages":[]}"#
        );
    }

    #[test]
    fn a_longer_history_begins_with_the_shorter() {
        let mut request = ChatRequest::new("m", vec![Message::system("s"), Message::user("hi")]);
        request.options.num_predict = Some(9);
        let before = text(&request);
        request.messages.push(Message::assistant("yes"));
        request.options.num_predict = Some(8);
        let shared = before.find(']').expect("the history ends");
        assert_eq!(before.get(..shared), text(&request).get(..shared));
    }

    #[test]
    fn definitions_become_functions() {
        let tools = Tools::new(&[ToolDefinition {
            name: "now".into(),
            description: "The time".into(),
            parameters: json!({"type": "object", "properties": {}}),
        }]);
        assert_eq!(
            tools.as_str(),
            r#"[{"type":"function","function":{"name":"now","description":"The time","parameters":{"type":"object","properties":{}}}}]"#
        );
        assert!(Tools::from_json("{}").is_err());
        assert!(Tools::from_json("[1").is_err());
    }

    #[test]
    fn numbers_and_levels_have_the_types_the_server_wants() {
        assert_eq!(json!(Think::Off), json!(false));
        assert_eq!(json!(Think::On), json!(true));
        assert_eq!(json!(KeepAlive::Seconds(300)), json!(300));
        assert_eq!(Think::parse("max"), Some(Think::Max));
        assert_eq!(Think::parse("bogus"), None);
    }
}
