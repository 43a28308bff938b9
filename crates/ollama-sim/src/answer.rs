//! Whole answers: a status, a type, a body.

use serde_json::{Value, json};

use crate::gojson;

/// The type of a JSON answer.
pub(crate) const JSON: &str = "application/json; charset=utf-8";
/// The type of a stream.
pub(crate) const NDJSON: &str = "application/x-ndjson";
/// The type of an error that ends a stream before it began.
pub(crate) const BARE_JSON: &str = "application/json";

/// A body longer than this is sent in chunks, as Go's server does when it was not told the length.
pub(crate) const CHUNKED_FROM: usize = 2048;

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Self {
            status,
            content_type: Some(JSON),
            body: gojson::encode(value),
        }
    }

    /// Ollama's error.
    pub(crate) fn error(status: u16, text: &str) -> Self {
        Self::json(status, &json!({ "error": text }))
    }

    pub(crate) fn text(status: u16, body: &str) -> Self {
        Self {
            status,
            content_type: Some("text/plain"),
            body: body.to_owned(),
        }
    }

    /// No body and no type.
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            body: String::new(),
        }
    }
}

/// llama-server's own error, as the text that becomes the value of Ollama's `error`.
pub(crate) fn nested(code: u16, message: &str, kind: &str, more: &[(&str, u64)]) -> String {
    let mut error = json!({"code": code, "message": message, "type": kind});
    for (name, value) in more {
        error[*name] = json!(value);
    }
    json!({ "error": error }).to_string()
}
