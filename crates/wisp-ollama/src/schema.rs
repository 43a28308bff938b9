//! Whether arguments satisfy a tool's schema: the few keywords tools are described with, and no others.

use serde_json::{Map, Value};

/// Whether a value satisfies a schema. `type`, `enum`, `const`, `anyOf`, `items`, `properties` and `required` are
/// looked at. A key that `properties` does not name is refused unless `additionalProperties` allows it: text is only
/// taken for a call when every word of it was asked for. `alsoCalled`, which JSON schema does not have, gives further
/// names of a property, to be written in any case and with or without `_` and `-`.
pub(crate) fn satisfies(schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return schema != &Value::Bool(false);
    };
    let typed = schema.get("type").is_none_or(|kind| has_type(kind, value));
    let listed = schema
        .get("enum")
        .and_then(Value::as_array)
        .is_none_or(|list| list.contains(value));
    let same = schema.get("const").is_none_or(|only| only == value);
    let any = schema
        .get("anyOf")
        .and_then(Value::as_array)
        .is_none_or(|branches| branches.iter().any(|branch| satisfies(branch, value)));
    typed && listed && same && any && inside(schema, value)
}

fn inside(schema: &Map<String, Value>, value: &Value) -> bool {
    match value {
        Value::Object(object) => has_properties(schema, object),
        Value::Array(list) => schema
            .get("items")
            .is_none_or(|items| list.iter().all(|item| satisfies(items, item))),
        _ => true,
    }
}

fn has_properties(schema: &Map<String, Value>, object: &Map<String, Value>) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let given: Vec<&str> = object.keys().map(|key| property_of(schema, key)).collect();
    let complete = required.is_none_or(|names| {
        names
            .iter()
            .filter_map(Value::as_str)
            .all(|name| given.contains(&name))
    });
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return complete;
    };
    let others = schema.get("additionalProperties").unwrap_or(&Value::Bool(false));
    let fits = object
        .iter()
        .zip(given)
        .all(|((_, value), name)| satisfies(properties.get(name).unwrap_or(others), value));
    complete && fits
}

/// The property that a key names, by its own name or by one of `alsoCalled`; else the key.
pub(crate) fn property_of<'a>(schema: &'a Map<String, Value>, key: &'a str) -> &'a str {
    let Some(also) = schema.get("alsoCalled").and_then(Value::as_object) else {
        return key;
    };
    if also.contains_key(key) {
        return key;
    }
    let folded = fold(key);
    let names = |others: &Value| {
        others
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .any(|other| fold(other) == folded)
    };
    let mut meant = also
        .iter()
        .filter(|(name, others)| fold(name) == folded || names(others));
    match (meant.next(), meant.next()) {
        (Some((name, _)), None) => name,
        _ => key,
    }
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|char| !['_', '-', ' '].contains(char))
        .map(|char| char.to_ascii_lowercase())
        .collect()
}

fn has_type(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::String(name) => is(name, value),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(|name| is(name, value)),
        _ => true,
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::satisfies;
    use serde_json::json;

    #[test]
    fn the_keywords_of_tools_are_looked_at() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "depth": {"type": ["integer", "null"]},
            "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
            "at": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
        }});
        for (value, good) in [
            (json!({"path": "x"}), true),
            (json!({"path": "x", "depth": 3, "kinds": ["a"], "at": true}), true),
            (json!({"path": "x", "depth": null}), true),
            (json!({}), false),
            (json!({"path": 3}), false),
            (json!({"path": "x", "depth": 1.5}), false),
            (json!({"path": "x", "kinds": ["c"]}), false),
            (json!({"path": "x", "at": 1}), false),
            (json!({"path": "x", "other": 1}), false),
            (json!([1]), false),
        ] {
            assert_eq!(satisfies(&schema, &value), good, "{value}");
        }
        let open = json!({"properties": {}, "additionalProperties": true});
        assert!(satisfies(&open, &json!({"other": 1})));
    }

    #[test]
    fn a_property_may_have_further_names() {
        let schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "startLine": {"type": "integer"}, "text": {"type": "string"}, "body": {"type": "string"}},
            "alsoCalled": {"path": ["file", "filepath"], "startLine": [], "text": ["with"], "body": ["with"]}});
        for (value, good) in [
            (json!({"file": "x"}), true),
            (json!({"file_path": "x", "start_line": 3}), true),
            (json!({"File-Path": "x"}), true),
            (json!({"file": 3}), false),
            (json!({"start_line": 3}), false),
            (json!({"path": "x", "with": "two meanings"}), false),
            (json!({"path": "x", "colour": "red"}), false),
        ] {
            assert_eq!(satisfies(&schema, &value), good, "{value}");
        }
    }
}
