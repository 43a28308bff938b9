//! The smallest value a schema allows: what a model without ideas says when asked for structured output.

use serde_json::{Map, Value, json};

/// The smallest value of a schema; `null` for one that names no type.
pub(super) fn smallest(schema: &Value) -> Value {
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|e| e.get(0)) {
        return first.clone();
    }
    if let Some(first) = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))
        .and_then(|a| a.get(0))
    {
        return smallest(first);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("object") => object(schema),
        Some("array") => array(schema),
        Some("string") => json!(""),
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        Some("boolean") => json!(false),
        _ => Value::Null,
    }
}

fn object(schema: &Value) -> Value {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let fields = required.iter().filter_map(|name| {
        let name = name.as_str()?;
        Some((name.to_owned(), smallest(&schema["properties"][name])))
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

fn array(schema: &Value) -> Value {
    let least = schema["minItems"].as_u64().unwrap_or(0);
    Value::Array((0..least).map(|_| smallest(&schema["items"])).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_required_is_there() {
        let schema = json!({
            "type": "object",
            "properties": {"facts": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"},
                           "kind": {"enum": ["a", "b"]}},
            "required": ["facts", "kind"],
        });
        assert_eq!(smallest(&schema), json!({"facts": [], "kind": "a"}));
    }
}
