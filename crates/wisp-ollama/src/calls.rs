//! Tool calls in whatever shape they arrive.
//!
//! Ollama itself sends one shape. Other servers, proxies and the models behind them leave out the `function` object,
//! write the arguments as text or as a list of one, or forget the name. What has exactly one meaning is read; anything
//! else is a call with a [`Fault`], which is answered to the model and never run, so that no shape ends a reply.

use serde_json::{Map, Value};

use crate::message::{Fault, ToolCall};
use crate::repair;

/// Names under which arguments come, the right one first.
const ARGUMENTS: [&str; 4] = ["arguments", "parameters", "args", "input"];
/// The name of a call that has none.
pub(crate) const UNNAMED: &str = "unnamed";
/// How often arguments may be text within text.
const LAYERS: usize = 2;
/// The most bytes of what was given that a fault quotes.
const QUOTED: usize = 200;

/// The calls of a line's `tool_calls`.
pub(crate) fn read_all(value: Value) -> Vec<ToolCall> {
    read_within(value, LAYERS)
}

fn read_within(value: Value, layers: usize) -> Vec<ToolCall> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) if layers > 0 => items
            .into_iter()
            .flat_map(|item| read_within(item, layers - 1))
            .collect(),
        Value::String(text) if layers > 0 && starts_json(&text) => {
            match repair::from_slice(text.as_bytes()) {
                Ok(value) => read_within(value, layers - 1),
                Err(_) => vec![faulty(
                    UNNAMED,
                    "it is text that is no JSON object",
                    &Value::from(text),
                )],
            }
        }
        Value::Object(call) => vec![read(call)],
        other => vec![faulty(
            UNNAMED,
            &format!("it is {}, not an object", kind(&other)),
            &other,
        )],
    }
}

fn starts_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// One call: in a `function` object, beside a `function` that is the name, or without either.
pub(crate) fn read(mut call: Map<String, Value>) -> ToolCall {
    let whole = Value::Object(call.clone());
    let id = match call.remove("id") {
        Some(Value::String(id)) if !id.is_empty() => Some(id),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    let (name, given) = match call.remove("function") {
        Some(Value::Object(mut function)) => {
            let given = argument(&mut function).or_else(|| argument(&mut call));
            (function.remove("name"), given)
        }
        Some(Value::String(name)) => (Some(Value::String(name)), argument(&mut call)),
        _ => {
            let given = argument(&mut call);
            (call.remove("name"), given)
        }
    };
    let name = name.as_ref().and_then(Value::as_str).map_or("", str::trim);
    let read = match (name, object(given.unwrap_or_default(), LAYERS)) {
        ("", _) => faulty(UNNAMED, "it names no tool", &whole),
        (name, Ok(arguments)) if is_schema(&arguments) => {
            faulty(name, "its arguments are a description of arguments", &whole)
        }
        (name, Ok(arguments)) => ToolCall::new(name, arguments),
        (name, Err(why)) => faulty(name, &why, &whole),
    };
    ToolCall { id, ..read }
}

/// What stands for the arguments; the first name counts.
fn argument(map: &mut Map<String, Value>) -> Option<Value> {
    ARGUMENTS
        .into_iter()
        .find_map(|key| map.remove(key).filter(|value| !value.is_null()))
}

/// Arguments as an object: none is an empty one; text that is an object in JSON and a list of one object are it.
fn object(arguments: Value, layers: usize) -> Result<Map<String, Value>, String> {
    let what = kind(&arguments);
    match arguments {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(text) if layers > 0 => match repair::from_slice(text.as_bytes()) {
            Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => object(value, layers - 1),
            _ if starts_json(&text) => {
                Err("its arguments are a text that is no whole JSON object".to_owned())
            }
            _ => Err("its arguments are a text, not an object".to_owned()),
        },
        Value::Array(mut items) => match (items.pop(), items.is_empty()) {
            (None, _) => Ok(Map::new()),
            (Some(Value::Object(only)), true) => Ok(only),
            _ => Err("its arguments are a list, not an object".to_owned()),
        },
        _ => Err(format!("its arguments are {what}, not an object")),
    }
}

/// Whether an object describes arguments instead of giving them.
pub(crate) fn is_schema(map: &Map<String, Value>) -> bool {
    map.get("type").and_then(Value::as_str) == Some("object")
        && map.get("properties").is_some_and(Value::is_object)
}

fn faulty(name: &str, why: &str, given: &Value) -> ToolCall {
    let mut given = given.to_string();
    if given.len() > QUOTED {
        given.truncate(given.floor_char_boundary(QUOTED));
        given.push('…');
    }
    ToolCall {
        fault: Some(Box::new(Fault {
            why: why.to_owned(),
            given,
        })),
        ..ToolCall::new(name, Map::new())
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::read_all;
    use serde_json::{Value, json};

    #[test]
    fn every_shape_with_one_meaning_is_that_call() {
        for shape in [
            json!([{"function": {"name": "f", "arguments": {"a": 1}}}]),
            json!({"function": {"name": "f", "arguments": {"a": 1}}}),
            json!([[{"function": {"name": "f", "arguments": {"a": 1}}}]]),
            json!("[{\"function\": {\"name\": \"f\", \"arguments\": {\"a\": 1}}}]"),
            json!([null, {"type": "function", "function": {"name": " f ", "arguments": {"a": 1}}}]),
            json!([{"name": "f", "arguments": {"a": 1}}]),
            json!([{"function": null, "name": "f", "parameters": {"a": 1}}]),
            json!([{"function": "f", "arguments": {"a": 1}}]),
            json!([{"function": {"name": "f"}, "arguments": {"a": 1}}]),
            json!([{"function": {"name": "f", "input": {"a": 1}}}]),
            json!([{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]),
            json!([{"function": {"name": "f", "arguments": "\"{\\\"a\\\": 1}\""}}]),
            json!([{"function": {"name": "f", "arguments": [{"a": 1}]}}]),
        ] {
            let calls = read_all(shape.clone());
            assert_eq!(calls.len(), 1, "{shape}");
            assert_eq!((calls[0].name.as_str(), &calls[0].fault), ("f", &None), "{shape}");
            assert_eq!(
                Value::Object(calls[0].arguments.clone()),
                json!({"a": 1}),
                "{shape}"
            );
        }
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        for given in [json!(null), json!({}), json!(""), json!([])] {
            let calls = read_all(json!([{"function": {"name": "f", "arguments": given}}]));
            assert_eq!((calls[0].arguments.len(), &calls[0].fault), (0, &None), "{given}");
        }
        assert!(read_all(json!(null)).is_empty() && read_all(json!([])).is_empty());
    }

    #[test]
    fn anything_else_is_a_call_with_a_fault_and_its_name() {
        for (shape, name, why) in [
            (
                json!([{"function": {"name": "f", "arguments": ["ls"]}}]),
                "f",
                "its arguments are a list, not an object",
            ),
            (
                json!([{"function": {"name": "f", "arguments": [{}, {}]}}]),
                "f",
                "its arguments are a list, not an object",
            ),
            (
                json!([{"function": {"name": "f", "arguments": "ls -l"}}]),
                "f",
                "its arguments are a text, not an object",
            ),
            (
                json!([{"function": {"name": "f", "arguments": "{\"a\": "}}]),
                "f",
                "its arguments are a text that is no whole JSON object",
            ),
            (
                json!([{"function": {"name": "f", "arguments": 3}}]),
                "f",
                "its arguments are a number, not an object",
            ),
            (
                json!([{"function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]),
                "f",
                "its arguments are a description of arguments",
            ),
            (
                json!([{"function": {"arguments": {"a": 1}}}]),
                "unnamed",
                "it names no tool",
            ),
            (
                json!([{"function": {"name": 7, "arguments": {}}}]),
                "unnamed",
                "it names no tool",
            ),
            (json!([{}]), "unnamed", "it names no tool"),
            (json!(["f"]), "unnamed", "it is a text, not an object"),
            (json!(7), "unnamed", "it is a number, not an object"),
        ] {
            let calls = read_all(shape.clone());
            let fault = calls[0].fault.as_ref().unwrap_or_else(|| panic!("{shape}"));
            assert_eq!(
                (calls.len(), calls[0].name.as_str(), fault.why.as_str()),
                (1, name, why),
                "{shape}"
            );
            assert!(calls[0].arguments.is_empty(), "{shape}");
        }
        let long = read_all(json!([{"function": {"name": "f", "arguments": ["é".repeat(900)]}}]));
        let given = &long[0].fault.as_ref().expect("a fault").given;
        assert!(given.len() <= 204 && given.ends_with('…'), "{given}");
    }
}
