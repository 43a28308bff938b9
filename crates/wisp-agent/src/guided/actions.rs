//! The actions of a guided reply and the calls of tools they stand for.
//!
//! An action is what a small model writes best: a word and one or two texts. What is run is an ordinary call of a tool
//! in the registry, so that policy, approvals, the sandbox, the audit and the budget are the same as for any call.

use serde_json::{Map, Value, json};
use wisp_ollama::ToolCall;

use super::decode::ACTION;

/// The tools that actions stand for; any other tool is an action of its own name.
const RUN: &str = "run_command";
const READ: &str = "read_file";
const EDIT: &str = "edit_file";
/// The tools that have actions of their own.
pub const COVERED: &[&str] = &[RUN, READ, EDIT];

/// The call that an action stands for. `old` of a replacement may be a whole line of the file: then `line` is its number.
pub fn call(action: &str, mut given: Map<String, Value>, line: Option<usize>, ends_open: bool) -> ToolCall {
    let mut text = |name: &str| match given.shift_remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let arguments = match action {
        "run" => json!({ "command": text("command") }),
        "read" => json!({ "path": text("path") }),
        "append" => {
            let (path, text) = (text("path"), ended(text("text")));
            let gap = if ends_open { "\n" } else { "" };
            json!({"path": path, "mode": "append", "content": format!("{gap}{text}")})
        }
        "write" => json!({"path": text("path"), "mode": "write", "content": ended(text("content"))}),
        "replace" => {
            let (path, old, new) = (text("path"), text("old"), text("new"));
            match line {
                Some(line) => {
                    json!({"path": path, "mode": "replace", "line": line, "content": new.trim_end_matches('\n')})
                }
                None => json!({"path": path, "mode": "replace", "find": old, "content": new}),
            }
        }
        _ => Value::Object(given),
    };
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    ToolCall::new(tool(action), arguments)
}

/// The tool that runs an action.
pub fn tool(action: &str) -> &str {
    match action {
        "run" => RUN,
        "read" => READ,
        "append" | "write" | "replace" => EDIT,
        other => other,
    }
}

/// A call as the action that would have made it: its name and the object, for a history whose own words are gone.
pub fn action_of(tool: &str, arguments: &Value) -> (String, String) {
    let text = |name: &str| arguments.get(name).cloned().unwrap_or_else(|| "".into());
    let pairs: Vec<(&str, Value)> = match (tool, arguments.get("mode").and_then(Value::as_str)) {
        (RUN, _) => vec![(ACTION, "run".into()), ("command", text("command"))],
        (READ, _) => vec![(ACTION, "read".into()), ("path", text("path"))],
        (EDIT, Some("append")) => {
            vec![
                (ACTION, "append".into()),
                ("path", text("path")),
                ("text", text("content")),
            ]
        }
        (EDIT, Some("replace")) => vec![
            (ACTION, "replace".into()),
            ("path", text("path")),
            ("old", text("find")),
            ("new", text("content")),
        ],
        (EDIT, _) => {
            vec![
                (ACTION, "write".into()),
                ("path", text("path")),
                ("content", text("content")),
            ]
        }
        _ => {
            let given = arguments.as_object().into_iter().flatten();
            let given = given.map(|(name, value)| (name.as_str(), value.clone()));
            std::iter::once((ACTION, tool.into())).chain(given).collect()
        }
    };
    let name = pairs[0].1.as_str().unwrap_or(tool).to_owned();
    (name, object(&pairs))
}

/// An object with a blank after each colon and comma, as models write it.
pub fn object(pairs: &[(&str, Value)]) -> String {
    let members: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{}: {value}", Value::from(*name)))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// A text that ends its last line, unless it is empty.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(action: &str, given: &Value, line: Option<usize>, open: bool) -> (String, Value) {
        let given = given.as_object().cloned().expect("an object");
        let call = call(action, given, line, open);
        (call.name, Value::Object(call.arguments))
    }

    #[test]
    fn an_action_is_a_call_of_a_tool() {
        for (action, given, line, open, tool, arguments) in [
            (
                "run",
                json!({"command": "ls"}),
                None,
                false,
                RUN,
                json!({"command": "ls"}),
            ),
            (
                "read",
                json!({"path": "a.txt"}),
                None,
                false,
                READ,
                json!({"path": "a.txt"}),
            ),
            (
                "append",
                json!({"path": "a.txt", "text": "x"}),
                None,
                false,
                EDIT,
                json!({"path": "a.txt", "mode": "append", "content": "x\n"}),
            ),
            (
                "append",
                json!({"path": "a.txt", "text": "x\n"}),
                None,
                true,
                EDIT,
                json!({"path": "a.txt", "mode": "append", "content": "\nx\n"}),
            ),
            (
                "write",
                json!({"path": "a.py", "content": "print(1)"}),
                None,
                false,
                EDIT,
                json!({"path": "a.py", "mode": "write", "content": "print(1)\n"}),
            ),
            (
                "replace",
                json!({"path": "a.txt", "old": "b = 1", "new": "b = 2\n"}),
                Some(3),
                false,
                EDIT,
                json!({"path": "a.txt", "mode": "replace", "line": 3, "content": "b = 2"}),
            ),
            (
                "replace",
                json!({"path": "a.txt", "old": "1", "new": "2"}),
                None,
                false,
                EDIT,
                json!({"path": "a.txt", "mode": "replace", "find": "1", "content": "2"}),
            ),
            (
                "memory",
                json!({"action": "list"}),
                None,
                false,
                "memory",
                json!({"action": "list"}),
            ),
        ] {
            assert_eq!(made(action, &given, line, open), (tool.to_owned(), arguments));
        }
    }

    #[test]
    fn a_call_of_another_time_is_written_as_its_action() {
        assert_eq!(
            action_of(RUN, &json!({"command": "echo \"hi\""})),
            (
                "run".into(),
                r#"{"action": "run", "command": "echo \"hi\""}"#.into()
            )
        );
        assert_eq!(
            action_of(
                EDIT,
                &json!({"path": "a", "mode": "replace", "find": "x", "content": "y"})
            )
            .1,
            r#"{"action": "replace", "path": "a", "old": "x", "new": "y"}"#
        );
        assert_eq!(
            action_of("deploy", &json!({"to": "test"})).1,
            r#"{"action": "deploy", "to": "test"}"#
        );
    }
}
