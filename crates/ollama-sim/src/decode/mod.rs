//! Request bodies into typed requests, refused where and as Ollama refuses them.
//!
//! Go's decoder walks the body in its order, remembers the first thing of a wrong type and goes on; that first
//! complaint is the answer. [`Fields`] does the same. Unknown fields are let through and listed.

pub(crate) mod chat;
mod duration;
mod format;
mod name;
mod options;
mod think;
mod tools;

pub(crate) use chat::ChatRequest;
pub use chat::{Call, Message};
pub(crate) use duration::KeepAlive;
pub(crate) use format::{Format, FormatFault, parse_format};
pub(crate) use name::{ModelName, NameFault};
pub(crate) use options::Options;
pub(crate) use think::Think;
pub(crate) use tools::{ToolDef, tools_to_value};

use crate::gojson::Json;

/// One pass over an object's fields that collects the first type error and the unknown names.
pub(crate) struct Faults {
    first: Option<String>,
    /// Dotted paths of fields the server does not know.
    pub(crate) unknown: Vec<String>,
}

impl Faults {
    pub(crate) fn new() -> Self {
        Self {
            first: None,
            unknown: Vec::new(),
        }
    }

    /// Remembers a complaint unless there is an earlier one.
    pub(crate) fn note(&mut self, complaint: String) {
        self.first.get_or_insert(complaint);
    }

    /// The complaint Go makes of a value that does not fit its field.
    pub(crate) fn mismatch(&mut self, value: &Json, path: &str, go_type: &str) {
        self.note(format!(
            "json: cannot unmarshal {} into Go struct field {path} of type {go_type}",
            value.kind()
        ));
    }

    /// The first complaint, if any.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        self.first.take().map_or(Ok(()), Err)
    }

    /// A string field: `null` leaves it empty.
    pub(crate) fn string(&mut self, value: &Json, path: &str) -> String {
        match value {
            Json::String(text) => return text.clone(),
            Json::Null => {}
            other => self.mismatch(other, path, "string"),
        }
        String::new()
    }

    /// A boolean field: `null` leaves it unset.
    pub(crate) fn boolean(&mut self, value: &Json, path: &str) -> Option<bool> {
        match value {
            Json::Bool(b) => return Some(*b),
            Json::Null => {}
            other => self.mismatch(other, path, "bool"),
        }
        None
    }

    /// The items of an array field: `null` is none.
    pub(crate) fn array<'j>(&mut self, value: &'j Json, path: &str, go_type: &str) -> &'j [Json] {
        match value {
            Json::Array(items) => return items,
            Json::Null => {}
            other => self.mismatch(other, path, go_type),
        }
        &[]
    }

    /// The fields of an object: `null` is none.
    pub(crate) fn object<'j>(&mut self, value: &'j Json, path: &str, go_type: &str) -> &'j [(String, Json)] {
        match value {
            Json::Object(fields) => return fields,
            Json::Null => {}
            other => self.mismatch(other, path, go_type),
        }
        &[]
    }
}

/// A field's name as Go matches it.
pub(crate) fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// What is wrong with a body that is no chat: a missing body, a syntax error, or not an object.
pub(crate) fn body(bytes: &[u8], go_type: &str) -> Result<Vec<(String, Json)>, String> {
    match crate::gojson::parse(bytes) {
        Ok(Json::Object(fields)) => Ok(fields),
        Ok(Json::Null) => Ok(Vec::new()),
        Ok(other) => Err(format!(
            "json: cannot unmarshal {} into Go value of type {go_type}",
            other.kind()
        )),
        Err(text) if text == "EOF" => Err("missing request body".to_owned()),
        Err(text) => Err(text),
    }
}
