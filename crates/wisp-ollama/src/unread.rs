//! Text that is a tool call for whoever reads it, and that [`recover`](crate::recover) does not take for one.
//!
//! Nothing is run from such text. But a model that meant a call waits for its result, and the person waits for an
//! answer: both are to be told. So this only asks whether a call was *meant*, and errs on the side of no.

use serde_json::Value;

use crate::calls;
use crate::recover::{calls_in, unfenced};
use crate::repair;
use crate::request::ToolDefinition;
use crate::schema::property_of;

/// A call that was written as text and not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// The reply is nothing else; why it cannot be read, in words for the model.
    Whole(String),
    /// The reply ends in one, which could be read had it stood alone.
    AtEnd,
}

/// What only a call begins with.
const MARKS: [&str; 5] = [
    "<tool_call>",
    "<function=",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<|channel|>commentary to=",
];
/// Keys under which models name a tool, and under which they give its arguments.
const NAMES: [&str; 5] = ["name", "tool", "tool_name", "action", "function"];
const GIVEN: [&str; 7] = [
    "arguments",
    "parameters",
    "args",
    "input",
    "action_input",
    "tool_input",
    "params",
];
/// The most places of a reply that are looked at for a call at its end.
const PLACES: usize = 32;
const OTHER_FORM: &str = "it is in no form that can be read";

/// The call a finished reply means and that [`calls_in`] does not give.
pub fn unread(content: &str, offered: &[ToolDefinition]) -> Option<Unread> {
    let text = content.trim();
    if offered.is_empty() || calls_in(text, offered).is_some() {
        return None;
    }
    if let Some(why) = whole(text, offered) {
        return Some(Unread::Whole(why));
    }
    let starts = line_starts(text).filter(|line| {
        MARKS
            .iter()
            .chain(&["{", "[", "```"])
            .any(|mark| line.starts_with(mark))
    });
    let places: Vec<&str> = starts.collect();
    let at_end = places
        .iter()
        .rev()
        .take(PLACES)
        .any(|rest| calls_in(rest, offered).is_some());
    at_end.then_some(Unread::AtEnd)
}

/// Whether a reply that was cut ends inside a call: one that it began with, or one behind a mark that only calls have.
pub fn ends_inside_call(content: &str, offered: &[ToolDefinition]) -> bool {
    let text = content.trim();
    if offered.is_empty() || calls_in(text, offered).is_some() {
        return false;
    }
    let marked = line_starts(text).any(|line| is_marked(line) && !line.contains("</tool_call>"));
    let json = text
        .trim_start_matches("```json")
        .trim_start_matches("```")
        .trim_start();
    marked || (json.starts_with(['{', '[']) && names_a_tool(json, offered))
}

fn line_starts(text: &str) -> impl Iterator<Item = &str> {
    let after = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    std::iter::once(0).chain(after).map(|at| text[at..].trim_start())
}

/// Whether a text begins with a mark and goes on as a call does.
fn is_marked(text: &str) -> bool {
    let rest = MARKS
        .iter()
        .find_map(|mark| Some((*mark, text.strip_prefix(mark)?)));
    rest.is_some_and(|(mark, rest)| {
        let rest = rest.trim_start();
        mark != "<tool_call>" || rest.is_empty() || rest.starts_with(['{', '[', '<'])
    })
}

/// Why a text that is nothing but a call cannot be read; none when it is no call.
fn whole(text: &str, offered: &[ToolDefinition]) -> Option<String> {
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    if is_marked(text) {
        let inner = text
            .trim_start_matches("<tool_call>")
            .trim_end_matches("</tool_call>");
        return ['}', ']', '>']
            .contains(&last)
            .then(|| mismatch(inner.trim(), offered));
    }
    let json = unfenced(text);
    if json.starts_with(['{', '[']) && json.ends_with(['}', ']']) {
        let described = json.contains("properties") && json.contains("\"type\"");
        let meant = !described && names_a_tool(json, offered) && gives_arguments(json);
        return (meant || is_pythonic(json, offered)).then(|| mismatch(json, offered));
    }
    (first.is_ascii_alphabetic() && last == ')' && is_pythonic(text, offered)).then(|| OTHER_FORM.to_owned())
}

/// `"name": "run_command"`, in either kind of quotes, for any tool that is offered.
fn names_a_tool(text: &str, offered: &[ToolDefinition]) -> bool {
    let bare: String = text
        .chars()
        .filter(|char| !char.is_whitespace())
        .collect::<String>()
        .replace('\'', "\"");
    NAMES.iter().any(|key| {
        offered
            .iter()
            .any(|tool| bare.contains(&format!("\"{key}\":\"{}\"", tool.name)))
    })
}

fn gives_arguments(text: &str) -> bool {
    GIVEN
        .iter()
        .any(|key| text.contains(&format!("\"{key}\"")) || text.contains(&format!("'{key}'")))
}

/// `[run_command(command="ls")]`, on one line.
fn is_pythonic(text: &str, offered: &[ToolDefinition]) -> bool {
    let text = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let call = |tool: &ToolDefinition| {
        text.strip_prefix(tool.name.as_str())
            .is_some_and(|rest| rest.starts_with('(') && rest.ends_with(')'))
    };
    !text.contains('\n') && offered.iter().any(call)
}

/// What keeps a call from being read, as far as that can be said.
fn mismatch(text: &str, offered: &[ToolDefinition]) -> String {
    let Ok(Value::Object(object)) = repair::from_slice::<Value>(text.as_bytes()) else {
        return OTHER_FORM.to_owned();
    };
    let call = calls::read(object);
    match call.fault {
        Some(_) if call.name == calls::UNNAMED => return OTHER_FORM.to_owned(),
        Some(fault) => return fault.why,
        None => {}
    }
    let Some(tool) = offered.iter().find(|tool| tool.name == call.name) else {
        let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
        return format!(
            "there is no tool {:?}; the tools are: {}",
            call.name,
            names.join(", ")
        );
    };
    let required = tool.parameters["required"].as_array().into_iter().flatten();
    let missing = required.filter_map(Value::as_str).find(|name| {
        !call
            .arguments
            .keys()
            .any(|key| property(&tool.parameters, key) == *name)
    });
    if let Some(missing) = missing {
        return format!("{} needs the argument {missing}", call.name);
    }
    let unknown = call.arguments.keys().find(|key| {
        tool.parameters["properties"]
            .get(property(&tool.parameters, key))
            .is_none()
    });
    match unknown {
        Some(unknown) => format!("{} has no argument {unknown:?}", call.name),
        None => OTHER_FORM.to_owned(),
    }
}

/// The argument that a key means.
fn property<'a>(schema: &'a Value, key: &'a str) -> &'a str {
    schema.as_object().map_or(key, |schema| property_of(schema, key))
}

#[cfg(test)]
mod tests {
    use super::{OTHER_FORM, Unread, ends_inside_call, unread};
    use crate::request::ToolDefinition;
    use serde_json::json;

    fn offered() -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "run_command".into(),
            description: String::new(),
            parameters: json!({"type": "object", "required": ["command"], "properties": {"command": {"type": "string"}}}),
        }]
    }

    const CALL: &str = r#"{"name": "run_command", "arguments": {"command": "ls"}}"#;

    #[test]
    fn a_reply_that_is_a_call_in_another_form_is_named_with_what_is_wrong() {
        let two = format!("{CALL}\n{CALL}");
        for (text, why) in [
            (
                "{'name': 'run_command', 'arguments': {'command': 'ls'}}",
                OTHER_FORM,
            ),
            (
                r#"{"name": "run_command", "arguments": {"command": "ls",}}"#,
                OTHER_FORM,
            ),
            (
                r#"{"action": "run_command", "action_input": {"command": "ls"}}"#,
                OTHER_FORM,
            ),
            (
                r#"{"tool": "run_command", "args": {"command": "ls"}}"#,
                OTHER_FORM,
            ),
            (r#"[run_command(command="ls")]"#, OTHER_FORM),
            (r#"run_command(command="ls")"#, OTHER_FORM),
            (two.as_str(), OTHER_FORM),
            (
                r#"{"name": "run_command", "arguments": {}}"#,
                "run_command needs the argument command",
            ),
            (
                r#"{"name": "run_command", "arguments": {"command": "ls", "cwd": "/"}}"#,
                "run_command has no argument \"cwd\"",
            ),
            (
                r#"{"name": "run_command", "arguments": "ls"}"#,
                "its arguments are a text, not an object",
            ),
            (
                r#"<tool_call>{"name": "rm", "arguments": {}}</tool_call>"#,
                "there is no tool \"rm\"; the tools are: run_command",
            ),
        ] {
            assert_eq!(
                unread(text, &offered()),
                Some(Unread::Whole(why.into())),
                "{text}"
            );
        }
    }

    #[test]
    fn a_call_after_other_text_is_only_noticed() {
        for text in [
            format!("I will run it now.\n\n{CALL}"),
            format!("For example:\n```json\n{CALL}\n```"),
            format!("So:\n<tool_call>\n{CALL}\n</tool_call>"),
        ] {
            assert_eq!(unread(&text, &offered()), Some(Unread::AtEnd), "{text}");
        }
    }

    #[test]
    fn answers_examples_and_descriptions_are_none() {
        let example = format!("You would send:\n```json\n{CALL}\n```\nbut I did not.");
        for text in [
            "",
            "fine",
            CALL,
            example.as_str(),
            r#"{"name": "tide", "arguments": 3}"#,
            r#"{"name": "WebSearch", "arguments": {"query": "x"}}"#,
            r#"{"name": "run_command", "description": "d", "parameters": {"type": "object", "properties": {}}}"#,
            r#"{"name": "run_command"}"#,
            "<tool_call> is the tag of a call",
            "run_command(s) are run (in order)\nby the shell (sh)",
        ] {
            assert_eq!(unread(text, &offered()), None, "{text}");
        }
        assert_eq!(unread(r#"{"tool": "run_command", "args": {}}"#, &[]), None);
    }

    #[test]
    fn a_cut_reply_ends_inside_a_call_that_it_began() {
        for (text, inside) in [
            (
                r#"{"name": "run_command", "arguments": {"command": "cat > x <<E"#,
                true,
            ),
            ("```json\n{\"name\": \"run_command\", \"arg", true),
            ("<tool_call>\n{\"name", true),
            ("Now I write it.\n<tool_call>\n{\"name\": \"run_command\"", true),
            ("<function=run_command><parameter=command>cat", true),
            (CALL, false),
            (r#"{"a": [1, 2,"#, false),
            ("The answer is", false),
            ("Write `<tool_call>` before", false),
        ] {
            assert_eq!(ends_inside_call(text, &offered()), inside, "{text}");
        }
    }
}
