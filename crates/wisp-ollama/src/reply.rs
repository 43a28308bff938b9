//! One line of a chat stream, and the reply the lines add up to.
//!
//! Unknown fields are ignored, missing ones are `Option`: a metric that is absent is unknown, not zero. The last
//! line may itself carry text and calls and is treated as any other first.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::calls;
use crate::lenient;
use crate::message::ToolCall;

/// What one line brought. Any of it may be empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatLine {
    /// Text for the person.
    pub content: String,
    /// What the model thought.
    pub thinking: String,
    /// Whole calls, in order; a call never comes in pieces.
    pub tool_calls: Vec<ToolCall>,
    /// Present on the last line.
    pub done: Option<Done>,
    /// The machine that really answers, when the model is remote.
    pub remote_host: Option<String>,
}

/// How a reply ended and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// Why generation stopped.
    pub reason: DoneReason,
    /// The server's counts and times.
    pub metrics: Metrics,
}

/// Why generation stopped. There is no reason for calls: it stays `Stop`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DoneReason {
    /// The model was done.
    Stop,
    /// `num_predict` or the window was reached; the server does not say which.
    Length,
    /// Only the model was loaded: the request had no messages.
    Load,
    /// The model was unloaded.
    Unload,
    /// Servers before 0.1.35, and some proxies.
    Absent,
    /// A reason this library does not know.
    Other(String),
}

/// What the server measured. Zero values are left out by the server and are `None` here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Tokens of the whole prompt after any cut, cached or not.
    pub prompt_tokens: Option<u64>,
    /// Those of them that came from the cache; newer servers only.
    pub cached_tokens: Option<u64>,
    /// Tokens generated, thinking and swallowed calls included.
    pub reply_tokens: Option<u64>,
    /// From arrival to the end; a wait behind other requests shows here alone.
    pub total: Option<Duration>,
    /// From arrival until a runner was there. The wait for a busy model that is loaded is not in it.
    pub load: Option<Duration>,
    /// Evaluating the part of the prompt that was not cached.
    pub prompt: Option<Duration>,
    /// Generating.
    pub generate: Option<Duration>,
}

/// Everything that arrived, joined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// All text.
    pub content: String,
    /// All thinking.
    pub thinking: String,
    /// All calls, in order of arrival.
    pub tool_calls: Vec<ToolCall>,
    /// `None` while the reply is not finished; nothing may be executed from it then.
    pub done: Option<Done>,
    /// The machine that answered, when that is not the server's own: the first one a line named.
    pub remote_host: Option<String>,
}

impl Reply {
    /// Adds a line.
    pub fn add(&mut self, line: &ChatLine) {
        self.content.push_str(&line.content);
        self.thinking.push_str(&line.thinking);
        self.add_calls(&line.tool_calls);
        if line.done.is_some() {
            self.done.clone_from(&line.done);
        }
        if self.remote_host.is_none() {
            self.remote_host.clone_from(&line.remote_host);
        }
    }

    /// Adds a line's calls. Servers repeat a call in a later line, as it was or more complete: one with the id and the
    /// name of a call that is there takes its place. Equal calls without ids are two calls.
    pub fn add_calls(&mut self, calls: &[ToolCall]) {
        let before = self.tool_calls.len();
        for call in calls {
            let same = |other: &ToolCall| call.id.is_some() && other.id == call.id && other.name == call.name;
            let (earlier, of_this_line) = self.tool_calls.split_at_mut(before);
            if let Some(earlier) = earlier.iter_mut().find(|other| same(other)) {
                if call.fault.is_none() && !call.arguments.is_empty() {
                    *earlier = call.clone();
                }
            } else if !of_this_line.iter().any(|other| same(other) && other == call) {
                self.tool_calls.push(call.clone());
            }
        }
    }

    /// Whether nothing at all was said.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty() && self.thinking.is_empty() && self.tool_calls.is_empty()
    }
}

/// A line as it is on the wire.
#[derive(Debug, Deserialize)]
pub(crate) struct WireLine {
    message: Option<WireMessage>,
    done: Option<bool>,
    pub(crate) error: Option<Value>,
    #[serde(default, deserialize_with = "lenient::text")]
    done_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    remote_host: Option<String>,
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_eval_cached_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    eval_count: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    total_duration: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    load_duration: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    prompt_eval_duration: Option<u64>,
    #[serde(default, deserialize_with = "lenient::count")]
    eval_duration: Option<u64>,
    #[serde(rename = "_debug_info")]
    debug: Option<DebugInfo>,
}

#[derive(Debug, Default, Deserialize)]
struct WireMessage {
    #[serde(default, deserialize_with = "lenient::text")]
    content: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    thinking: Option<String>,
    #[serde(default)]
    tool_calls: Value,
}

#[derive(Debug, Deserialize)]
struct DebugInfo {
    rendered_template: Option<String>,
}

impl WireLine {
    /// Whether the line is part of a reply. Anything else is an error, whatever its key is called.
    pub(crate) fn is_reply(&self) -> bool {
        let failed = self.error.as_ref().is_some_and(|error| !error.is_null());
        !failed && (self.message.is_some() || self.done.is_some())
    }

    /// The prompt as rendered, where that was asked for and is known.
    pub(crate) fn rendered(self) -> Option<String> {
        self.debug.and_then(|debug| debug.rendered_template)
    }

    fn metrics(&self) -> Metrics {
        Metrics {
            prompt_tokens: self.prompt_eval_count,
            cached_tokens: self.prompt_eval_cached_count,
            reply_tokens: self.eval_count,
            total: self.total_duration.map(Duration::from_nanos),
            load: self.load_duration.map(Duration::from_nanos),
            prompt: self.prompt_eval_duration.map(Duration::from_nanos),
            generate: self.eval_duration.map(Duration::from_nanos),
        }
    }

    fn done(&self) -> Option<Done> {
        self.done.unwrap_or_default().then(|| Done {
            reason: reason(self.done_reason.as_deref()),
            metrics: self.metrics(),
        })
    }
}

impl From<WireLine> for ChatLine {
    fn from(wire: WireLine) -> Self {
        let done = wire.done();
        let message = wire.message.unwrap_or_default();
        Self {
            content: message.content.unwrap_or_default(),
            thinking: message.thinking.unwrap_or_default(),
            tool_calls: calls::read_all(message.tool_calls),
            done,
            remote_host: wire.remote_host.filter(|host| !host.is_empty()),
        }
    }
}

fn reason(text: Option<&str>) -> DoneReason {
    match text {
        None | Some("") => DoneReason::Absent,
        Some("stop") => DoneReason::Stop,
        Some("length") => DoneReason::Length,
        Some("load") => DoneReason::Load,
        Some("unload") => DoneReason::Unload,
        Some(other) => DoneReason::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{ChatLine, DoneReason, Reply, WireLine};
    use crate::message::ToolCall;
    use std::time::Duration;

    fn line(text: &str) -> ChatLine {
        let wire: WireLine = serde_json::from_str(text).expect(text);
        assert!(wire.is_reply(), "{text}");
        wire.into()
    }

    #[test]
    fn the_last_line_may_carry_everything() {
        let text = r#"{"model":"m","created_at":"x","message":{"role":"assistant","content":"c","thinking":"t","tool_calls":[{"function":{"name":"a","arguments":{}}},{"function":{"name":"b","arguments":{}}}]},"done":true,"done_reason":"stop","total_duration":1000,"prompt_eval_count":7,"new_field":[1]}"#;
        let mut reply = Reply::default();
        reply.add(&line(text));
        let done = reply.done.clone().expect("done");
        assert_eq!(
            (
                reply.content.as_str(),
                reply.thinking.as_str(),
                reply.tool_calls.len()
            ),
            ("c", "t", 2)
        );
        assert_eq!(done.reason, DoneReason::Stop);
        assert_eq!(done.metrics.prompt_tokens, Some(7));
        assert_eq!(done.metrics.reply_tokens, None);
        assert_eq!(done.metrics.total, Some(Duration::from_micros(1)));
    }

    #[test]
    fn a_call_repeated_under_its_id_is_one_and_equal_calls_without_ids_are_two() {
        let of = |calls: &str| line(&format!(r#"{{"message":{{"tool_calls":{calls}}},"done":false}}"#));
        let f = |id: &str, arguments: &str| {
            format!(r#"[{{{id}"function":{{"name":"f","arguments":{arguments}}}}}]"#)
        };
        let played = |lines: &[String]| {
            let mut reply = Reply::default();
            for calls in lines {
                reply.add(&of(calls));
            }
            let arguments = |call: &ToolCall| serde_json::Value::Object(call.arguments.clone()).to_string();
            reply.tool_calls.iter().map(arguments).collect::<Vec<_>>()
        };
        let id = r#""id":"call_1","#;
        assert_eq!(
            played(&[f(id, r#"{"a":1}"#), f(id, r#"{"a":1}"#)]),
            [r#"{"a":1}"#]
        );
        assert_eq!(played(&[f(id, "{}"), f(id, r#"{"a":1}"#)]), [r#"{"a":1}"#]);
        assert_eq!(played(&[f(id, r#"{"a":1}"#), f(id, "{}")]), [r#"{"a":1}"#]);
        assert_eq!(played(&[f("", "{}"), f("", "{}")]), ["{}", "{}"]);
        let other = f(r#""id":"call_2","#, "{}");
        assert_eq!(played(&[f(id, "{}"), other]), ["{}", "{}"]);
        let in_one_line = |a: &str, b: &str| {
            let (a, b) = (f(id, a), f(id, b));
            played(&[format!(
                "{},{}",
                a.trim_end_matches(']'),
                b.trim_start_matches('[')
            )])
        };
        assert_eq!(in_one_line("{}", "{}"), ["{}"]);
        assert_eq!(
            in_one_line(r#"{"a":1}"#, r#"{"a":2}"#),
            [r#"{"a":1}"#, r#"{"a":2}"#]
        );
    }

    #[test]
    fn no_shape_of_a_message_ends_a_reply() {
        for text in [
            r#"{"message":{"content":[{"type":"text","text":"ok "},"text"]},"done":false}"#,
            r#"{"message":{"content":"ok text","thinking":{"a":1},"tool_calls":null},"done":false}"#,
        ] {
            assert_eq!(line(text).content, "ok text");
        }
        let found = line(
            r#"{"message":{"content":7,"tool_calls":[{"name":"f","arguments":"{}"},3]},"done":true,"done_reason":7}"#,
        );
        assert_eq!((found.content.as_str(), found.tool_calls.len()), ("", 2));
        assert!(found.tool_calls[0].fault.is_none() && found.tool_calls[1].fault.is_some());
    }

    #[test]
    fn missing_parts_are_empty() {
        let found = line(r#"{"message":{"role":"assistant","content":null},"done":false}"#);
        assert_eq!(found, ChatLine::default());
        let found = line(r#"{"done":true}"#);
        assert_eq!(found.done.expect("done").reason, DoneReason::Absent);
    }

    #[test]
    fn an_object_with_neither_message_nor_done_is_no_reply() {
        for text in [
            r#"{"error":"x"}"#,
            r#"{"error parsing tool call":"x"}"#,
            "{}",
            r#"{"error":"x","done":true}"#,
        ] {
            let wire: WireLine = serde_json::from_str(text).expect(text);
            assert!(!wire.is_reply(), "{text}");
        }
    }
}
