//! Tools of the person's own: rows of `tools.custom`, read and checked whole before anything of them is used.
//!
//! A custom tool is a shell line with places for declared arguments. Only the person's own configuration declares one; a
//! project cannot. What it runs passes policy, risk, approval, audit and the output store as `run_command` does.

mod call;
mod template;

use serde_json::{Map, Value};

use crate::nearest::nearest;
use template::is_name;
pub use template::{Template, quoted};

/// The longest description, in characters.
pub const DESCRIPTION: usize = 300;

/// Names that a tool of the person's own may not have: wisp's own tools.
pub const RESERVED: &[&str] = &[
    "current_date",
    "run_command",
    "read_file",
    "edit_file",
    "find_files",
    "search_text",
    "inspect",
    "system_info",
    "ask",
    "notify",
    "memory",
];

/// The JSON type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any text, or one of some.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// The types by their names in the file.
const TYPES: &[(&str, Type)] = &[
    ("string", Type::Text),
    ("integer", Type::Integer),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
];

/// An argument of a custom tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name, as in the command's places.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// One line for the model; may be empty.
    pub description: String,
    /// The texts it may be; empty for any.
    pub one_of: Vec<String>,
    /// Its value when a call gives none; without one it is required.
    pub default: Option<Value>,
}

impl Argument {
    /// Whether `value` is one the argument takes. The error says what it takes, to follow "must be".
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (self.kind, value) {
            (Type::Text, Value::String(text)) if !self.one_of.is_empty() => {
                return if self.one_of.contains(text) {
                    Ok(())
                } else {
                    Err(format!("one of {}", self.one_of.join(", ")))
                };
            }
            (Type::Text, Value::String(text)) => !text.contains('\0'),
            (Type::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
            (Type::Number, Value::Number(_)) | (Type::Boolean, Value::Bool(_)) => true,
            _ => false,
        };
        if fits {
            Ok(())
        } else {
            Err(self.allowed().to_owned())
        }
    }

    fn allowed(&self) -> &'static str {
        match self.kind {
            Type::Text => "a text without NUL",
            Type::Integer => "a whole number",
            Type::Number => "a number",
            Type::Boolean => "true or false",
        }
    }
}

/// A tool of the person's own.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomTool {
    /// Its name: a small letter, then small letters, digits and `_`, at most 40; none of wisp's own.
    pub name: String,
    /// What it does, for the model: 1 to [`DESCRIPTION`] characters.
    pub description: String,
    /// What it is called with, in the file's order.
    pub arguments: Vec<Argument>,
    /// What it runs.
    pub command: Template,
    /// Where, when not in the conversation's directory; may begin with `~`.
    pub directory: Option<String>,
    /// Seconds it may run; unset as long as any command.
    pub timeout_seconds: Option<u64>,
}

/// The fields of a tool, and of an argument.
const FIELDS: &[&str] = &[
    "name",
    "description",
    "arguments",
    "command",
    "workingDirectory",
    "timeoutSeconds",
];
const ARGUMENT_FIELDS: &[&str] = &["type", "description", "enum", "default"];

/// Reads the rows of `tools.custom`. The error names the tool and says what is wrong with it, to follow the setting's
/// name.
pub fn read(rows: &[Value]) -> Result<Vec<CustomTool>, String> {
    let mut tools: Vec<CustomTool> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let named = row.get("name").and_then(Value::as_str);
        let called = named.map_or_else(|| format!("number {}", at + 1), |name| format!("'{name}'"));
        let tool = tool(row).map_err(|why| format!("has a tool that cannot be used, {called}: {why}"))?;
        if tools.iter().any(|earlier| earlier.name == tool.name) {
            return Err(format!("has two tools called '{}'", tool.name));
        }
        tools.push(tool);
    }
    Ok(tools)
}

fn tool(row: &Value) -> Result<CustomTool, String> {
    let row = row.as_object().ok_or("it must be an object")?;
    known(row, FIELDS)?;
    let tool = CustomTool {
        name: name(row)?,
        description: description(row)?,
        arguments: arguments(row)?,
        command: command(row)?,
        directory: text(row, "workingDirectory")?,
        timeout_seconds: timeout(row)?,
    };
    places(&tool)?;
    Ok(tool)
}

/// Refuses a field that means nothing; names that begin with `_` or `$` are remarks.
pub(crate) fn known(row: &Map<String, Value>, fields: &[&str]) -> Result<(), String> {
    let strange = row
        .keys()
        .find(|key| !fields.contains(&key.as_str()) && !key.starts_with(['_', '$']));
    let Some(strange) = strange else {
        return Ok(());
    };
    let meant = nearest(strange, fields.iter().copied());
    let meant = meant.map_or_else(String::new, |field| format!("; did you mean {field}?"));
    Err(format!("no field is called {strange}{meant}"))
}

fn text(row: &Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match row.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("its {field} must be text")),
    }
}

fn needed(row: &Map<String, Value>, field: &str) -> Result<String, String> {
    let given = text(row, field)?.filter(|text| !text.trim().is_empty());
    given.ok_or_else(|| format!("it needs a {field}"))
}

fn name(row: &Map<String, Value>) -> Result<String, String> {
    let name = needed(row, "name")?;
    if !is_name(&name) || name.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(
            "its name must be a small letter, then small letters, digits and _, at most 40 in all".to_owned(),
        );
    }
    if RESERVED.contains(&name.as_str()) {
        return Err("wisp has a tool of this name; give yours another".to_owned());
    }
    Ok(name)
}

fn description(row: &Map<String, Value>) -> Result<String, String> {
    let description = needed(row, "description")?;
    if description.chars().count() > DESCRIPTION {
        return Err(format!("its description has more than {DESCRIPTION} characters"));
    }
    Ok(one_line(&description))
}

/// A line for the model; every tool's is in every request.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn command(row: &Map<String, Value>) -> Result<Template, String> {
    Template::read(&needed(row, "command")?).map_err(|why| format!("its command {why}"))
}

fn timeout(row: &Map<String, Value>) -> Result<Option<u64>, String> {
    match row.get("timeoutSeconds") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(seconds @ 1..=86_400) => Ok(Some(seconds)),
            _ => Err("its timeoutSeconds must be a whole number from 1 to 86400".to_owned()),
        },
    }
}

fn arguments(row: &Map<String, Value>) -> Result<Vec<Argument>, String> {
    match row.get("arguments") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(rows)) => rows
            .iter()
            .map(|(name, row)| argument(name, row).map_err(|why| format!("its argument {name} {why}")))
            .collect(),
        Some(_) => Err("its arguments must be an object from name to argument".to_owned()),
    }
}

fn argument(name: &str, row: &Value) -> Result<Argument, String> {
    if !is_name(name) {
        return Err("must be called by a small letter, then letters, digits and _, at most 40".to_owned());
    }
    let row = row.as_object().ok_or("must be an object")?;
    known(row, ARGUMENT_FIELDS).map_err(|why| format!("is not understood: {why}"))?;
    let kind = text(row, "type").map_err(|_| "must have a type")?;
    let kind = kind.as_deref().unwrap_or("string");
    let kind = TYPES.iter().find(|(word, _)| *word == kind);
    let (_, kind) = kind.ok_or("must have the type string, integer, number or boolean")?;
    let description = text(row, "description").map_err(|_| "must have text as its description")?;
    let argument = Argument {
        name: name.to_owned(),
        kind: *kind,
        description: one_line(&description.unwrap_or_default()),
        one_of: one_of(row, *kind)?,
        default: row.get("default").filter(|value| !value.is_null()).cloned(),
    };
    if let Some(Err(allowed)) = argument.default.as_ref().map(|value| argument.check(value)) {
        return Err(format!(
            "has a default that it does not take: it must be {allowed}"
        ));
    }
    Ok(argument)
}

fn one_of(row: &Map<String, Value>, kind: Type) -> Result<Vec<String>, String> {
    let texts = match row.get("enum") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect(),
        Some(_) => None,
    };
    let texts: Vec<String> = texts
        .filter(|t: &Vec<String>| !t.is_empty())
        .ok_or("has an enum that is no list of texts")?;
    if kind != Type::Text {
        return Err("has an enum, which only a string may".to_owned());
    }
    Ok(texts)
}

/// Every place has its argument, every argument its place, and a sum has no text in it.
fn places(tool: &CustomTool) -> Result<(), String> {
    for (name, sum) in tool.command.places() {
        match tool.arguments.iter().find(|argument| argument.name == name) {
            None => {
                return Err(format!(
                    "its command has {{{name}}}, which is no argument of it; {{{{{name}}}}} is the text {{{name}}}"
                ));
            }
            Some(argument) if sum && argument.kind == Type::Text => {
                return Err(format!(
                    "its command has the text {{{name}}} in ((…)), where only a number may stand"
                ));
            }
            Some(_) => {}
        }
    }
    let unused = tool
        .arguments
        .iter()
        .find(|argument| tool.command.names().all(|name| name != argument.name));
    unused.map_or(Ok(()), |argument| {
        Err(format!(
            "its command has no {{{0}}} for its argument {0}",
            argument.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wrong(tool: Value) -> String {
        read(&[tool]).unwrap_err()
    }

    fn with(field: &str, value: Value) -> Value {
        let mut tool = json!({"name": "issue", "description": "Show an issue", "command": "gh issue view"});
        tool[field] = value;
        tool
    }

    #[test]
    fn a_tool_is_read_with_its_arguments_in_order() {
        let row = json!({
            "name": "commits_of", "description": "List commits\nthat touch a path",
            "arguments": {
                "path": {"type": "string", "description": "The path"},
                "count": {"type": "integer", "default": 10},
                "order": {"enum": ["date", "topo"], "default": "date"}
            },
            "command": "git log -n {count} --{order}-order -- {path}",
            "workingDirectory": "~/src", "timeoutSeconds": 20, "_why": "mine"
        });
        let [tool] = &read(&[row]).unwrap()[..] else {
            panic!("one tool")
        };
        assert_eq!(
            (tool.name.as_str(), tool.description.as_str()),
            ("commits_of", "List commits that touch a path")
        );
        assert_eq!(
            (tool.directory.as_deref(), tool.timeout_seconds),
            (Some("~/src"), Some(20))
        );
        let kinds: Vec<_> = tool.arguments.iter().map(|a| (a.name.as_str(), a.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("path", Type::Text),
                ("count", Type::Integer),
                ("order", Type::Text)
            ]
        );
        assert_eq!(tool.arguments[2].one_of, ["date", "topo"]);
        assert_eq!(
            tool.command.names().collect::<Vec<_>>(),
            ["count", "order", "path"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_tools_name() {
        let said = |tool| wrong(tool).replace("has a tool that cannot be used, 'issue': ", "");
        assert_eq!(
            wrong(with("name", json!("ask"))),
            "has a tool that cannot be used, 'ask': wisp has a tool of this name; give yours another"
        );
        assert_eq!(
            wrong(json!({"command": "ls"})),
            "has a tool that cannot be used, number 1: it needs a name"
        );
        assert_eq!(
            said(with("comand", json!("x"))),
            "no field is called comand; did you mean command?"
        );
        assert_eq!(said(with("description", json!(""))), "it needs a description");
        assert_eq!(
            said(with("timeoutSeconds", json!(0))),
            "its timeoutSeconds must be a whole number from 1 to 86400"
        );
        assert_eq!(
            said(with("command", json!("gh {nr}"))),
            "its command has {nr}, which is no argument of it; {{nr}} is the text {nr}"
        );
        assert!(said(with("command", json!("gh '{nr}'"))).starts_with("its command has {nr} in quotes;"));
        assert_eq!(
            said(with("arguments", json!({"nr": {}}))),
            "its command has no {nr} for its argument nr"
        );
        assert_eq!(
            said(with("arguments", json!({"nr": {"type": "int"}}))),
            "its argument nr must have the type string, integer, number or boolean"
        );
        assert_eq!(
            said(with(
                "arguments",
                json!({"nr": {"type": "integer", "default": "x"}})
            )),
            "its argument nr has a default that it does not take: it must be a whole number"
        );
        assert_eq!(
            said(with(
                "arguments",
                json!({"nr": {"type": "integer", "enum": ["x"]}})
            )),
            "its argument nr has an enum, which only a string may"
        );
        assert_eq!(
            read(&[with("_", json!(1)), with("_", json!(2))]).unwrap_err(),
            "has two tools called 'issue'"
        );
    }

    #[test]
    fn lengths_are_exact() {
        assert!(read(&[with("description", json!("é".repeat(300)))]).is_ok());
        assert!(read(&[with("description", json!("é".repeat(301)))]).is_err());
        assert!(read(&[with("name", json!("a".repeat(40)))]).is_ok());
        assert!(read(&[with("name", json!("a".repeat(41)))]).is_err());
        assert!(read(&[with("name", json!("aB"))]).is_err());
        assert!(read(&[with("timeoutSeconds", json!(86_400))]).is_ok());
        assert!(read(&[with("timeoutSeconds", json!(86_401))]).is_err());
    }

    #[test]
    fn a_text_in_a_sum_is_refused_and_a_number_is_not() {
        let tool = |kind| {
            let mut tool = with("arguments", json!({"n": {"type": kind}}));
            tool["command"] = json!("echo $(({n} * 2))");
            read(&[tool])
        };
        assert!(tool("integer").is_ok());
        assert!(
            tool("string")
                .unwrap_err()
                .ends_with("in ((…)), where only a number may stand")
        );
    }
}
