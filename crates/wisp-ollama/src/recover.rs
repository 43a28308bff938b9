//! Tool calls that a model wrote as text, under a strict rule.
//!
//! A parser on the server's side misses calls: a model writes its JSON without the tag the template looks for, or in
//! another family's syntax. Such text is taken for calls only when the *whole* reply is one, every name is an offered
//! tool and every set of arguments satisfies its schema. One thing may stand among prose: small models announce a call
//! and write it in a code fence, so the only fence of a reply is read when it holds exactly one call. Bare JSON is never
//! mined out of prose. Recovered calls are subject to the same approval as any other.

use serde_json::{Map, Value};

use crate::calls;
use crate::message::ToolCall;
use crate::repair;
use crate::request::ToolDefinition;
use crate::schema::satisfies;

const TOOL_CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const FUNCTION: (&str, &str) = ("<function=", "</function>");
const PARAMETER: (&str, &str) = ("<parameter=", "</parameter>");
const MARKER: &str = "[TOOL_CALLS]";
const ARGS: &str = "[ARGS]";
const FENCE: &str = "```";
const PYTHON: &str = "<|python_tag|>";
const CHANNEL: &str = "<|channel|>commentary to=functions.";

/// The calls a reply consists of, or `None` when it is anything else. To be asked when tools were offered, no call
/// came, and the reply is finished.
///
/// One JSON object (bare, fenced, or alone in a list) is one call. In tags and in Mistral's form (`name[ARGS]{…}`)
/// there may be several, with nothing but white space around them. The end of the last tag may be missing when the
/// call within is whole. A call in the reply's only fence may have prose before and after it.
pub fn calls_in(content: &str, offered: &[ToolDefinition]) -> Option<Vec<ToolCall>> {
    let text = content.trim();
    FORMS
        .iter()
        .find_map(|form| form(text, offered))
        .filter(|calls| !calls.is_empty())
}

/// A way in which models write calls: the calls of a text that is nothing else.
type Form = fn(&str, &[ToolDefinition]) -> Option<Vec<ToolCall>>;

const FORMS: [Form; 5] = [
    tagged,
    mistral,
    harmony,
    |text, offered| {
        let text = text.strip_prefix(PYTHON).unwrap_or(text);
        Some(vec![json_call(unfenced(text), offered)?])
    },
    |text, offered| Some(vec![json_call(only_fence(text)?.inside, offered)?]),
];

/// A code fence among prose.
struct Fence<'a> {
    before: &'a str,
    inside: &'a str,
    after: &'a str,
}

/// The one fence of a text, when its marks stand at the beginning of lines and its label is one that calls have.
fn only_fence(text: &str) -> Option<Fence<'_>> {
    let starts = |text: &str| text.is_empty() || text.ends_with('\n');
    let (before, rest) = text.split_once(FENCE)?;
    let (inside, after) = rest.split_once(FENCE)?;
    let (label, body) = inside.split_once('\n')?;
    let one =
        starts(before.trim_end_matches(' ')) && starts(body.trim_end_matches(' ')) && !after.contains(FENCE);
    let fence = Fence {
        before,
        inside: body.trim(),
        after,
    };
    (one && is_label(label.trim_end()) && !fence.is_example()).then_some(fence)
}

/// Words, in small letters, by which a reply shows a call and does not make it.
const EXAMPLE: [&str; 10] = [
    "example",
    "for instance",
    "e.g.",
    "you can ",
    "you could ",
    "you would ",
    "looks like",
    "look like",
    "would send",
    "did not",
];

impl Fence<'_> {
    /// Whether the prose speaks of a call that somebody could make.
    fn is_example(&self) -> bool {
        let prose = [self.before.to_lowercase(), self.after.to_lowercase()];
        prose
            .iter()
            .any(|prose| EXAMPLE.iter().any(|word| prose.contains(word)))
    }
}

/// The prose around a call that stands in the reply's only fence, which stays the reply's text; empty for a call without.
pub fn prose_around(content: &str) -> String {
    let text = content.trim();
    if unfenced(text) != text {
        return String::new();
    }
    let Some(fence) = only_fence(text) else {
        return String::new();
    };
    let parts = [fence.before.trim(), fence.after.trim()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Whether the beginning of a reply could still become calls, so that it is better not shown yet; also calls in a form
/// that is not read, since the model may be asked for another.
pub fn could_become_calls(beginning: &str, offered: &[ToolDefinition]) -> bool {
    let seen = beginning.trim_start();
    let may_open = |opener: &str| opener.starts_with(seen) || seen.starts_with(opener);
    let fixed = ["{", TOOL_CALL.0, FUNCTION.0, MARKER, PYTHON, CHANNEL];
    fixed.into_iter().any(may_open)
        || is_list_of_objects(seen)
        || offered.iter().any(|tool| may_open(&format!("[{}(", tool.name)))
        || may_be_fenced(seen)
        || offered.iter().any(|tool| {
            [ARGS, "("]
                .iter()
                .any(|opens| may_open(&format!("{}{opens}", tool.name)))
        })
}

fn is_list_of_objects(seen: &str) -> bool {
    let inside = seen.strip_prefix('[').map(str::trim_start);
    inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('{'))
}

fn may_be_fenced(seen: &str) -> bool {
    let Some(inside) = seen.strip_prefix(FENCE) else {
        return FENCE.starts_with(seen);
    };
    match inside.split_once('\n') {
        Some((label, body)) => {
            let body = body.trim_start();
            let opens = body.is_empty() || body.starts_with('{') || is_list_of_objects(body);
            is_label(label.trim_end()) && opens
        }
        None => {
            inside.trim_end().is_empty() || LABELS.iter().any(|label| label.starts_with(inside.trim_end()))
        }
    }
}

const LABELS: [&str; 3] = ["json", "tool_call", ""];

fn is_label(label: &str) -> bool {
    LABELS.contains(&label)
}

/// What stands in a code fence, when the whole text is one.
pub(crate) fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix(FENCE)
        .and_then(|rest| rest.strip_suffix(FENCE))
        .and_then(|rest| rest.split_once('\n'));
    match inside {
        Some((label, body)) if is_label(label.trim_end()) => body.trim(),
        _ => text,
    }
}

/// `{"name": …, "arguments": {…}}`, with `parameters` as the other name some models use, within a `function` object
/// or not, alone in a list or not, and nothing else in it.
fn json_call(text: &str, offered: &[ToolDefinition]) -> Option<ToolCall> {
    value_call(repair::from_slice(text.as_bytes()).ok()?, offered)
}

fn value_call(value: Value, offered: &[ToolDefinition]) -> Option<ToolCall> {
    match value {
        Value::Object(object) => object_call(object, offered),
        Value::Array(list) => {
            let [only]: [Value; 1] = list.try_into().ok()?;
            object_call(only.as_object()?.clone(), offered)
        }
        _ => None,
    }
}

fn object_call(object: Map<String, Value>, offered: &[ToolDefinition]) -> Option<ToolCall> {
    let has = |map: &Map<String, Value>, key: &str| map.contains_key(key);
    let own =
        |map: &Map<String, Value>| has(map, "name") && (has(map, "arguments") != has(map, "parameters"));
    let known = |map: &Map<String, Value>, more: &[&str]| {
        let names = ["name", "arguments", "parameters"];
        map.keys()
            .all(|key| names.contains(&key.as_str()) || more.contains(&key.as_str()))
    };
    let whole = match object.get("function") {
        Some(Value::Object(function)) => {
            let around = object
                .keys()
                .all(|key| ["id", "type", "function"].contains(&key.as_str()));
            around && own(function) && known(function, &[])
        }
        Some(_) => false,
        None => own(&object) && known(&object, &["id", "type"]),
    };
    let call = whole
        .then(|| calls::read(object))
        .filter(|call| call.fault.is_none())?;
    offered_call(&call.name, Value::Object(call.arguments), offered)
}

/// A call of an offered tool whose arguments satisfy its schema.
fn offered_call(name: &str, arguments: Value, offered: &[ToolDefinition]) -> Option<ToolCall> {
    let tool = offered.iter().find(|tool| tool.name == name)?;
    match arguments {
        Value::Object(map) if satisfies(&tool.parameters, &Value::Object(map.clone())) => {
            Some(ToolCall::new(name, map))
        }
        _ => None,
    }
}

/// `<tool_call>…</tool_call>` or `<function=…>…</function>`, one after the other.
fn tagged(mut text: &str, offered: &[ToolDefinition]) -> Option<Vec<ToolCall>> {
    let mut calls = Vec::new();
    while !text.is_empty() {
        let (inside, rest) = match tool_call_block(text) {
            Some(found) => found,
            None => function_block(text)?,
        };
        let inside = inside.trim();
        let call = json_call(inside, offered).or_else(|| xml_call(inside, offered))?;
        calls.push(call);
        text = rest.trim_start();
    }
    Some(calls)
}

/// What stands in the first `<tool_call>`, and what follows. JSON is taken whole, so that it may speak of the tags; where
/// the end is missing, everything is inside.
fn tool_call_block(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix(TOOL_CALL.0)?;
    let mut values = serde_json::Deserializer::from_str(inside).into_iter::<Value>();
    if let Some(Ok(Value::Object(_) | Value::Array(_))) = values.next() {
        let (json, rest) = inside.split_at(values.byte_offset());
        let rest = rest.trim_start();
        return match rest.strip_prefix(TOOL_CALL.1) {
            Some(rest) => Some((json, rest)),
            None if rest.is_empty() => Some((json, rest)),
            None => None,
        };
    }
    Some(inside.split_once(TOOL_CALL.1).unwrap_or((inside, "")))
}

fn between<'a>(text: &'a str, (open, close): (&str, &str)) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close)
}

/// A whole `<function=…>…</function>`, its tags kept, and what follows.
fn function_block(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = between(text, FUNCTION)?;
    Some(text.split_at(text.len() - rest.len()))
}

/// `<function=name><parameter=key>value</parameter>…</function>`: values are typed by the tool's schema.
fn xml_call(text: &str, offered: &[ToolDefinition]) -> Option<ToolCall> {
    let inside = text.strip_prefix(FUNCTION.0)?.strip_suffix(FUNCTION.1)?;
    let (name, mut body) = inside.split_once('>')?;
    let tool = offered.iter().find(|tool| tool.name == name.trim())?;
    let mut arguments = Map::new();
    body = body.trim();
    while !body.is_empty() {
        let (parameter, rest) = between(body, PARAMETER)?;
        let (key, value) = parameter.split_once('>')?;
        let typed = xml_value(&tool.parameters, key.trim(), value)?;
        arguments.insert(key.trim().to_owned(), typed);
        body = rest.trim_start();
    }
    offered_call(&tool.name, Value::Object(arguments), offered)
}

/// A parameter's value: text as it stands but for one newline at each end, anything else as JSON.
fn xml_value(schema: &Value, key: &str, text: &str) -> Option<Value> {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let property = schema.get("properties")?.get(key)?;
    let as_text = Value::String(text.to_owned());
    if satisfies(property, &as_text) {
        return Some(as_text);
    }
    serde_json::from_str(text.trim()).ok()
}

/// `name[ARGS]{…}` once or more, or a list of calls, behind an optional `[TOOL_CALLS]`.
fn mistral(text: &str, offered: &[ToolDefinition]) -> Option<Vec<ToolCall>> {
    let marked = text.strip_prefix(MARKER);
    let mut text = marked.unwrap_or(text).trim_start();
    if marked.is_some() && text.starts_with('[') {
        let list: Vec<Map<String, Value>> = repair::from_slice(text.as_bytes()).ok()?;
        return list
            .into_iter()
            .map(|object| object_call(object, offered))
            .collect();
    }
    let mut calls = Vec::new();
    while !text.is_empty() {
        text = text.strip_prefix(MARKER).unwrap_or(text);
        let (name, rest) = text.split_once(ARGS)?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let arguments = values.next()?.ok()?;
        calls.push(offered_call(name.trim(), arguments, offered)?);
        text = rest.get(values.byte_offset()..)?.trim_start();
    }
    Some(calls)
}

/// `<|channel|>commentary to=functions.name …<|message|>{…}<|call|>`, as gpt-oss writes a call.
fn harmony(text: &str, offered: &[ToolDefinition]) -> Option<Vec<ToolCall>> {
    let (head, body) = text.strip_prefix(CHANNEL)?.split_once("<|message|>")?;
    let name: String = head
        .chars()
        .take_while(|char| char.is_ascii_alphanumeric() || *char == '_')
        .collect();
    let body = body.trim();
    let arguments = repair::from_slice(body.strip_suffix("<|call|>").unwrap_or(body).as_bytes()).ok()?;
    Some(vec![offered_call(&name, arguments, offered)?])
}

#[cfg(test)]
mod tests {
    use super::{calls_in, could_become_calls};
    use crate::request::ToolDefinition;
    use serde_json::json;

    fn offered() -> Vec<ToolDefinition> {
        let tool = |name: &str, parameters| ToolDefinition {
            name: name.into(),
            description: String::new(),
            parameters,
        };
        let path = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"}, "depth": {"type": "integer"}, "all": {"type": "boolean"}}});
        vec![
            tool("list_dir", path),
            tool("now", json!({"type": "object", "properties": {}})),
        ]
    }

    fn names(text: &str) -> Option<Vec<String>> {
        Some(
            calls_in(text, &offered())?
                .into_iter()
                .map(|call| call.name)
                .collect(),
        )
    }

    #[test]
    fn a_reply_that_is_nothing_but_a_call_is_one() {
        for text in [
            r#"{"name": "list_dir", "arguments": {"path": "src"}}"#,
            r#"{"name": "list_dir", "parameters": {"path": "src"}, "type": "function"}"#,
            "```json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}\n```",
            "\n```\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}\n```\n",
            r#"<tool_call>{"name": "list_dir", "arguments": {"path": "src"}}</tool_call>"#,
            "<function=list_dir>\n<parameter=path>\nsrc\n</parameter>\n</function>",
            "<tool_call>\n<function=list_dir><parameter=path>src</parameter></function>\n</tool_call>",
            r#"list_dir[ARGS]{"path": "src"}"#,
            r#"[TOOL_CALLS]list_dir[ARGS]{"path": "src"}"#,
            r#"[TOOL_CALLS] [{"name": "list_dir", "arguments": {"path": "src"}}]"#,
            "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}",
            "<tool_call>\n<function=list_dir><parameter=path>src</parameter></function>",
            r#"{"type":"function","function":{"name":"list_dir","arguments":{"path":"src"}}}"#,
            r#"{"function":{"name":"list_dir","parameters":{"path":"src"}}}"#,
            r#"{"name": "list_dir", "arguments": "{\"path\": \"src\"}"}"#,
            r#"{"name": "list_dir", "arguments": [{"path": "src"}]}"#,
            r#"[{"name": "list_dir", "arguments": {"path": "src"}}]"#,
            "```json\n[{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}]\n```",
            r#"<|python_tag|>{"name": "list_dir", "parameters": {"path": "src"}}"#,
            r#"<|channel|>commentary to=functions.list_dir <|constrain|>json<|message|>{"path":"src"}<|call|>"#,
        ] {
            let calls = calls_in(text, &offered()).expect(text);
            assert_eq!((calls.len(), calls[0].name.as_str()), (1, "list_dir"), "{text}");
            assert_eq!(calls[0].arguments["path"], "src", "{text}");
        }
    }

    #[test]
    fn the_only_fence_of_a_reply_may_have_prose_around_it() {
        let call = "```json\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"src\"}}\n```";
        for (text, prose) in [
            (format!("I will list it.\n\n{call}"), "I will list it."),
            (format!("{call}\nThis lists the files."), "This lists the files."),
            (format!("First:\n  {call}\n\nThen more."), "First:\n\nThen more."),
            (call.to_owned(), ""),
        ] {
            let calls = calls_in(&text, &offered()).expect(&text);
            assert_eq!(calls[0].arguments["path"], "src", "{text}");
            assert_eq!(super::prose_around(&text), prose, "{text}");
        }
        for text in [
            format!("First {call}"),
            format!("One:\n{call}\nTwo:\n{call}"),
            format!("{call}\n```sh\nls\n```"),
            call.replace("json", "python"),
            call.replace("list_dir", "rm") + "\nso",
            "So:\n```json\n{\"name\": \"now\", \"arguments\": {}}\n{\"name\": \"now\", \"arguments\": {}}\n```".to_owned(),
            "So:\n```json\n{\"name\": \"now\", \"arguments\": {}}".to_owned(),
            "So:\n{\"name\": \"now\", \"arguments\": {}}".to_owned(),
            format!("You can send this:\n{call}"),
            format!("A call looks like this:\n{call}"),
            format!("{call}\nis an example."),
        ] {
            assert_eq!(names(&text), None, "{text}");
        }
    }

    #[test]
    fn tags_may_hold_several() {
        let two = "<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"list_dir\",\"arguments\":{\"path\":\".\"}}</tool_call>";
        assert_eq!(names(two), Some(vec!["now".into(), "list_dir".into()]));
        let two = "[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]list_dir[ARGS]{\"path\":\"[ARGS]\"}";
        assert_eq!(names(two), Some(vec!["now".into(), "list_dir".into()]));
    }

    #[test]
    fn anything_else_is_a_reply() {
        for text in [
            "",
            "{}",
            "Call this: {\"name\": \"now\", \"arguments\": {}}",
            "{\"name\": \"now\", \"arguments\": {}} as you asked",
            "{\"name\": \"now\", \"arguments\": {}}{\"name\": \"now\", \"arguments\": {}}",
            r#"{"name": "rm", "arguments": {}}"#,
            r#"{"name": "now", "arguments": {"extra": 1}}"#,
            r#"{"name": "now", "arguments": "now"}"#,
            r#"{"name": "now", "arguments": [1]}"#,
            r#"{"name": "now", "arguments": {}, "parameters": {}}"#,
            r#"{"type": "function", "function": {"name": "now", "description": "d", "parameters": {}}}"#,
            r#"{"name": "list_dir", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}"#,
            r#"{"function": "now", "arguments": {}}"#,
            r#"{"name": "now"}"#,
            r#"{"name": "now", "arguments": {}, "version": "1.0"}"#,
            r#"{"name": "list_dir", "arguments": {}}"#,
            r#"{"name": "list_dir", "arguments": {"path": 3}}"#,
            r#"[{"name": "now", "arguments": {}}, {"name": "now", "arguments": {}}]"#,
            r#"[[{"name": "now", "arguments": {}}]]"#,
            "```rust\n{\"name\": \"now\", \"arguments\": {}}\n```",
            "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call> done",
            "<tool_call>{\"name\": \"now\", \"arguments\": {}} done",
            "<tool_call>{\"name\": \"now\", \"arguments\": {",
            "<tool_call><function=list_dir><parameter=path>x",
            "<|channel|>commentary to=functions.rm <|message|>{}<|call|>",
            "<|channel|>final<|message|>{}",
            "<function=list_dir><parameter=path>x</parameter><parameter=depth>two</parameter></function>",
            "use now[ARGS]{} for the time",
            "now[ARGS]{} is the form",
        ] {
            assert_eq!(names(text), None, "{text}");
        }
    }

    #[test]
    fn a_call_may_speak_of_its_own_tags() {
        let text = r#"<tool_call>{"name":"list_dir","arguments":{"path":"</tool_call>"}}</tool_call>"#;
        let calls = calls_in(text, &offered()).expect("a call");
        assert_eq!(calls[0].arguments["path"], "</tool_call>");
    }

    #[test]
    fn values_in_tags_are_typed_by_the_schema() {
        let text = "<function=list_dir>\n<parameter=path>\n12\n</parameter>\n<parameter=depth>\n3\n</parameter>\n<parameter=all>true</parameter></function>";
        let calls = calls_in(text, &offered()).expect("a call");
        assert_eq!(
            serde_json::Value::Object(calls[0].arguments.clone()),
            json!({"path": "12", "depth": 3, "all": true})
        );
    }

    #[test]
    fn a_beginning_is_held_only_while_it_could_be_a_call() {
        for (text, held) in [
            ("", true),
            ("{\"na", true),
            ("<tool", true),
            ("list_di", true),
            ("list_dir[ARGS]{", true),
            ("```", true),
            ("```js", true),
            ("```json\n", true),
            ("```json\n{", true),
            ("```json\n[", true),
            ("```json\n[1", false),
            ("[ {\"na", true),
            ("[link](x)", false),
            ("[list_dir(pa", true),
            ("now(", true),
            ("now (", false),
            ("<|python", true),
            ("<|channel|>comm", true),
            ("<|channel|>final", false),
            ("```rust", false),
            ("``", true),
            ("[TOOL", true),
            ("The", false),
            ("list the", false),
        ] {
            assert_eq!(could_become_calls(text, &offered()), held, "{text:?}");
        }
    }
}
