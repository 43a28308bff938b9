//! The words of an error, however they were wrapped.
//!
//! An error's body may be empty, a web page, plain text, or JSON whose `error` is text, an object, or JSON written
//! as text again (llama-server's refusals inside Ollama's), or the print of a Go map. All of it is brought down to
//! one sentence and the few numbers that come with it.

use serde_json::{Map, Value};

use crate::lenient::whole;

/// JSON inside JSON is followed this many times.
const MAX_LEVELS: usize = 3;

/// What an error's body was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing, as when the Host header is refused.
    Empty,
    /// Not JSON: plain text or a web page.
    Text(String),
    /// An object, brought down to its words.
    Json(Told),
}

/// What the server told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The innermost words.
    pub text: String,
    /// The engine's name for it, as `exceed_context_size_error`.
    pub kind: Option<String>,
    /// Tokens of the prompt that was refused.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the window that refused it.
    pub window: Option<u64>,
    /// Where to sign in, for models that are not on this machine. Never to be opened without being asked.
    pub signin_url: Option<String>,
}

/// Reads a body.
pub fn read(bytes: &[u8]) -> Body {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.is_empty() {
        return Body::Empty;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => Body::Json(told(&object)),
        _ => Body::Text(text.to_owned()),
    }
}

/// Reads the object of an error line or body.
pub fn told(object: &Map<String, Value>) -> Told {
    let mut told = Told {
        signin_url: text_of(object, "signin_url"),
        ..Told::default()
    };
    follow(object, MAX_LEVELS, &mut told);
    if told.prompt_tokens.is_none() && told.window.is_none() {
        let mut counts = counts_in(&told.text);
        told.prompt_tokens = counts.next();
        told.window = counts.next();
    }
    told
}

fn follow(object: &Map<String, Value>, levels: usize, told: &mut Told) {
    told.kind = text_of(object, "type").or(told.kind.take());
    told.prompt_tokens = object
        .get("n_prompt_tokens")
        .and_then(whole)
        .or(told.prompt_tokens);
    told.window = object.get("n_ctx").and_then(whole).or(told.window);
    match inner(object) {
        Some(Value::Object(deeper)) if levels > 0 => follow(deeper, levels - 1, told),
        Some(Value::String(text)) => follow_text(text, levels, told),
        Some(other) => told.text = other.to_string(),
        None => told.text = Value::Object(object.clone()).to_string(),
    }
}

fn follow_text(text: &str, levels: usize, told: &mut Told) {
    let nested = serde_json::from_str::<Value>(text).ok().filter(|_| levels > 0);
    if let Some(Value::Object(deeper)) = nested
        && inner(&deeper).is_some()
    {
        return follow(&deeper, levels - 1, told);
    }
    if !follow_go_map(text, told) {
        text.clone_into(&mut told.text);
    }
}

/// What holds the words: `error`, else any key that speaks of one (`error parsing tool call`), else `message`.
fn inner(object: &Map<String, Value>) -> Option<&Value> {
    let error = object.get("error").filter(|value| !value.is_null());
    let spoken = || {
        object
            .iter()
            .find(|(key, value)| key.starts_with("error") && value.is_string())
    };
    error
        .or_else(|| spoken().map(|(_, value)| value))
        .or_else(|| object.get("message"))
}

/// Reads `… map[code:500 message:… type:…]`, Go's print of a map, whose keys are in order. `false` when it is none.
fn follow_go_map(text: &str, told: &mut Told) -> bool {
    const KEYS: [&str; 4] = [" n_ctx:", " n_prompt_tokens:", " param:", " type:"];
    let Some((_, map)) = text.split_once("map[") else {
        return false;
    };
    let map = map.trim_end().strip_suffix(']').unwrap_or(map);
    let Some((_, tail)) = map.split_once("message:") else {
        return false;
    };
    let end = KEYS.iter().filter_map(|key| tail.rfind(key)).min();
    let (message, fields) = tail.split_at(end.unwrap_or(tail.len()));
    message.clone_into(&mut told.text);
    for field in fields.split_whitespace() {
        match field.split_once(':') {
            Some(("n_ctx", value)) => told.window = value.parse().ok(),
            Some(("n_prompt_tokens", value)) => told.prompt_tokens = value.parse().ok(),
            Some(("type", value)) => told.kind = Some(value.to_owned()),
            _ => {}
        }
    }
    true
}

/// Every `(N tokens)` of a text, in order.
fn counts_in(text: &str) -> impl Iterator<Item = u64> {
    text.split('(').skip(1).filter_map(|part| {
        let (number, _) = part.split_once(" tokens)")?;
        number.parse().ok()
    })
}

fn text_of(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Body, Told, read};

    fn json(text: &str) -> Told {
        match read(text.as_bytes()) {
            Body::Json(told) => told,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn nested_json_is_unwrapped() {
        let text = r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request (9177 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9177,\"n_ctx\":4096}}"}"#;
        let told = json(text);
        assert_eq!(
            told.text,
            "request (9177 tokens) exceeds the available context size (4096 tokens), try increasing it"
        );
        assert_eq!(told.kind.as_deref(), Some("exceed_context_size_error"));
        assert_eq!((told.prompt_tokens, told.window), (Some(9177), Some(4096)));
    }

    #[test]
    fn only_three_levels_are_followed() {
        let mut text = r#"{"error":"deep"}"#.to_owned();
        for _ in 0..3 {
            text = serde_json::json!({ "error": text }).to_string();
        }
        assert_eq!(json(&text).text, "deep");
        text = serde_json::json!({ "error": text }).to_string();
        assert_eq!(json(&text).text, r#"{"error":"deep"}"#);
    }

    #[test]
    fn a_go_map_is_read() {
        let told = json(
            r#"{"error":"llama-server chat error: map[code:400 message:request (9 tokens) is too: long n_ctx:4 n_prompt_tokens:9 type:exceed_context_size_error]"}"#,
        );
        assert_eq!(told.text, "request (9 tokens) is too: long");
        assert_eq!((told.prompt_tokens, told.window), (Some(9), Some(4)));
        assert_eq!(told.kind.as_deref(), Some("exceed_context_size_error"));
    }

    #[test]
    fn counts_are_found_in_the_words() {
        let told = json(
            r#"{"error":"input length (70 tokens) exceeds the model's maximum context length (64 tokens)"}"#,
        );
        assert_eq!((told.prompt_tokens, told.window), (Some(70), Some(64)));
    }

    #[test]
    fn the_other_key_and_the_other_shapes_are_read() {
        assert_eq!(json(r#"{"error parsing tool call":"raw='x'"}"#).text, "raw='x'");
        assert_eq!(json(r#"{"error":{"message":"m","type":"t"}}"#).text, "m");
        assert_eq!(json(r#"{"error":"","x":1}"#).text, "");
        assert_eq!(json("{}").text, "{}");
        let told = json(r#"{"error":"unauthorized","signin_url":"https://ollama.com/connect"}"#);
        assert_eq!(told.signin_url.as_deref(), Some("https://ollama.com/connect"));
    }

    #[test]
    fn what_is_no_json_is_text() {
        assert_eq!(read(b" \n"), Body::Empty);
        assert_eq!(
            read(b"404 page not found\n"),
            Body::Text("404 page not found".into())
        );
        assert_eq!(read(b"<html>"), Body::Text("<html>".into()));
        assert_eq!(read(b"[1]"), Body::Text("[1]".into()));
    }
}
