//! `format`: unset, the word `json`, or a schema.

use crate::gojson::Json;

/// What a reply must look like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Format {
    /// Any JSON.
    Json,
    /// JSON of this schema.
    Schema(serde_json::Value),
}

/// What is wrong with a `format`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FormatFault {
    /// Neither the word nor an object; the text as the error quotes it.
    NotAFormat(String),
    /// An object no grammar can be made of.
    NotASchema(serde_json::Value),
}

/// The types a schema may name.
const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// Reads the field; `null` and `""` are unset.
pub(crate) fn parse_format(value: &Json) -> Result<Option<Format>, FormatFault> {
    match value {
        Json::Null => Ok(None),
        Json::String(text) if text.is_empty() => Ok(None),
        Json::String(text) if text == "json" => Ok(Some(Format::Json)),
        Json::Object(fields) => {
            let schema = value.to_value();
            let valid = fields
                .iter()
                .all(|(name, value)| name != "type" || valid_type(value));
            if valid {
                Ok(Some(Format::Schema(schema)))
            } else {
                Err(FormatFault::NotASchema(schema))
            }
        }
        other => Err(FormatFault::NotAFormat(other.to_value().to_string())),
    }
}

fn valid_type(value: &Json) -> bool {
    match value {
        Json::String(name) => TYPES.contains(&name.as_str()),
        Json::Array(names) => names.iter().all(valid_type),
        _ => false,
    }
}
