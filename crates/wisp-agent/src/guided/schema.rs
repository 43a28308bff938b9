//! The schema that a guided reply must satisfy: one object for each action that may be taken now.
//!
//! It says no more than servers from 0.11 on turn into a grammar: `oneOf`, `const`, `enum`, required texts in their
//! order. A quotation mark or a backslash within a `const` or an `enum` makes such a server refuse the whole schema,
//! so texts that hold one are never listed.

use serde_json::{Map, Value, json};
use wisp_ollama::ToolDefinition;

use super::decode::{ACTION, ANSWER, TEXT};

/// The most characters of an answer.
const ANSWERED: usize = 2_000;

/// What a text of an action may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Takes<'a> {
    /// Any text.
    Any,
    /// Any text of at most so many characters: a small model that repeats itself is stopped there.
    UpTo(usize),
    /// One of these.
    OneOf(Vec<&'a str>),
}

/// An action on offer: its name and its texts in order.
pub type Offer<'a> = (&'static str, Vec<(&'static str, Takes<'a>)>);

/// Whether a text can be listed.
pub fn listable(text: &str) -> bool {
    !text.contains(['"', '\\']) && !text.chars().any(char::is_control)
}

/// The schema of these actions, of other tools, and of the answer.
pub fn schema(offers: &[Offer<'_>], others: &[ToolDefinition]) -> Value {
    let mut all: Vec<Value> = offers.iter().map(|(name, texts)| action(name, texts)).collect();
    all.extend(others.iter().map(other));
    all.push(action(ANSWER, &[(TEXT, Takes::UpTo(ANSWERED))]));
    json!({ "oneOf": all })
}

fn action(name: &str, texts: &[(&str, Takes<'_>)]) -> Value {
    let mut properties = Map::new();
    properties.insert(ACTION.to_owned(), json!({ "const": name }));
    for (name, takes) in texts {
        let value = match takes {
            Takes::Any => json!({"type": "string"}),
            Takes::UpTo(most) => json!({"type": "string", "maxLength": most}),
            Takes::OneOf(texts) => json!({ "enum": texts }),
        };
        properties.insert((*name).to_owned(), value);
    }
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// A tool without an action of its own: its name, then what it requires.
fn other(tool: &ToolDefinition) -> Value {
    let mut properties = Map::new();
    properties.insert(ACTION.to_owned(), json!({ "const": tool.name }));
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    for name in names {
        let row = &tool.parameters["properties"][name];
        let mut value = json!({"type": row.get("type").cloned().unwrap_or_else(|| "string".into())});
        if let Some(listed) = row.get("enum") {
            value = json!({ "enum": listed });
        }
        properties.insert(name.to_owned(), value);
    }
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": properties})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_become_objects_with_their_name_first() {
        let offers = [
            ("run", vec![("command", Takes::Any)]),
            ("read", vec![("path", Takes::OneOf(vec!["a.txt", "b.txt"]))]),
        ];
        assert_eq!(
            schema(&offers, &[]).to_string(),
            r#"{"oneOf":[{"type":"object","required":["action","command"],"properties":{"action":{"const":"run"},"command":{"type":"string"}}},{"type":"object","required":["action","path"],"properties":{"action":{"const":"read"},"path":{"enum":["a.txt","b.txt"]}}},{"type":"object","required":["action","text"],"properties":{"action":{"const":"answer"},"text":{"type":"string","maxLength":2000}}}]}"#
        );
    }

    #[test]
    fn a_text_with_a_quotation_mark_is_not_listed() {
        assert!(listable("retries = 2") && listable("é €"));
        for text in ["url = \"x\"", "a\\b", "a\tb", "a\nb"] {
            assert!(!listable(text), "{text:?}");
        }
    }
}
