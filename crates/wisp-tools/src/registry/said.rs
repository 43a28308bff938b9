//! A call as a person reads it: what it is about first, the rest by name, long texts by their size.

use serde_json::{Map, Value};

/// Arguments that say what a call is about, in the order they are looked for.
const ABOUT: [&str; 6] = ["command", "path", "request", "question", "title", "name"];

/// Characters of a text that is shown with its name.
const SHORT: usize = 40;

/// A call's arguments on one line: `notes.txt · mode replace · find "teh" · content (1,204 bytes)`. One that has a
/// single text is that text.
pub fn said(arguments: &Value) -> String {
    let Value::Object(map) = arguments else {
        return super::one_line(arguments);
    };
    let about = ABOUT
        .iter()
        .find_map(|name| Some((*name, map.get(*name)?.as_str()?)));
    let Some((about, text)) = about else {
        return super::one_line(arguments);
    };
    let mut parts = vec![super::one_line(&Value::from(Map::from_iter([(
        about.to_owned(),
        Value::from(text),
    )])))];
    let others = map
        .iter()
        .filter(|(name, value)| *name != about && !value.is_null());
    parts.extend(others.map(|(name, value)| format!("{name} {}", shown(value))));
    parts.join(" · ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains('\n') || text.chars().count() > SHORT => {
            format!("({})", wisp_output::amount::size(text.len() as u64))
        }
        Value::String(word) if !word.is_empty() && word.chars().all(char::is_alphanumeric) => word.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_it_is_about_comes_first_and_long_texts_are_sizes() {
        let table = [
            (json!({"command": "cargo build"}), "cargo build"),
            (json!({"command": "a\nb", "timeout": 5}), "a … · timeout 5"),
            (
                json!({"content": "the", "find": "teh \"x\"", "mode": "replace", "path": "a b.txt"}),
                r#"a b.txt · content the · find "teh \"x\"" · mode replace"#,
            ),
            (
                json!({"path": "a", "content": "x\n".repeat(602), "offset": null}),
                "a · content (1.2 KiB)",
            ),
            (json!({"path": "a", "content": ""}), r#"a · content """#),
            (json!({}), ""),
            (json!({"x": 1, "y": 2}), r#"{"x":1,"y":2}"#),
            (json!([1]), "[1]"),
        ];
        for (arguments, line) in table {
            assert_eq!(said(&arguments), line);
        }
    }
}
