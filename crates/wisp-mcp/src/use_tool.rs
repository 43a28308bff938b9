//! One tool for many: in a window that the definitions of all would fill, a model is given their names and a line each,
//! and asks for the definition of the one it needs.

use serde_json::{Map, Value, json};
use wisp_tools::arguments::{Kind, Parameter, missing, unknown};
use wisp_tools::{Call, Descriptor, Returned, Running, Tool};

use crate::clean::line;
use crate::tool::ForeignTool;

/// The name of the tool.
pub const USE_TOOL: &str = "use_tool";

/// The most bytes of its definition beside the frame.
const DESCRIPTION: usize = 1_600;
/// The most characters of a tool's line.
const LINE: usize = 60;

const INTRODUCTION: &str = "Call one of the tools below. Give only `tool` to get its definition, then `tool` and \
                            `arguments` to call it.";

/// The tool.
pub(crate) struct UseTool {
    all: Vec<ForeignTool>,
    description: String,
}

impl UseTool {
    pub(crate) fn new(all: Vec<ForeignTool>) -> Self {
        let rows: Vec<(&str, &str)> = all
            .iter()
            .map(|tool| (tool.name.as_str(), tool.offered.definition.description.as_str()))
            .collect();
        let description = described(&rows);
        Self { all, description }
    }

    /// The tool that a name means: its own, or the part after the server's where only one tool has it.
    fn meant(&self, name: &str) -> Option<&ForeignTool> {
        let name = name.trim();
        if let Some(tool) = self.all.iter().find(|tool| tool.name == name) {
            return Some(tool);
        }
        let mut alike = self
            .all
            .iter()
            .filter(|tool| tool.name.split_once("__").is_some_and(|(_, own)| own == name));
        let first = alike.next()?;
        alike.next().is_none().then_some(first)
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.all.iter().map(|tool| tool.name.as_str()).collect();
        names.join(", ")
    }

    async fn used(&self, given: &Value, call: &mut Call<'_>) -> Returned {
        let name = given["tool"].as_str().unwrap_or_default();
        let Some(tool) = self.meant(name) else {
            let name = line(name, 64);
            return Returned::error(format!(
                "there is no tool {name:?}; the tools are: {}",
                self.names()
            ));
        };
        let Some(arguments) = arguments(given) else {
            return Returned::text(tool.definition()["function"].to_string());
        };
        let strange =
            unknown(&tool.name, tool.parameters(), &arguments).filter(|_| !tool.offered.definition.open);
        if let Some(why) = missing(&tool.name, tool.parameters(), &arguments).or(strange) {
            let definition = tool.definition()["function"]["parameters"].to_string();
            return Returned::error(format!("{why}; its arguments are {definition}"));
        }
        tool.call(&arguments, call).await
    }
}

/// The arguments that a call gives: under their name, as text of JSON, or beside the tool's name. None when it gives none.
fn arguments(given: &Value) -> Option<Value> {
    match given.get("arguments") {
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Some(Value::Object(map)),
            _ => None,
        },
        Some(Value::Null) | None => {
            let mut beside: Map<String, Value> = given.as_object().cloned().unwrap_or_default();
            beside.retain(|name, value| name != "tool" && name != "arguments" && !value.is_null());
            (!beside.is_empty()).then_some(Value::Object(beside))
        }
        Some(other) => Some(other.clone()),
    }
}

/// The description: an introduction and a line for each tool, as long as there is room; then the names alone, and at last
/// how many more there are.
fn described(rows: &[(&str, &str)]) -> String {
    for most in [LINE, 40, 24, 0] {
        let mut text = INTRODUCTION.to_owned();
        for (name, about) in rows {
            text.push('\n');
            text.push_str(name);
            // The first sentence says most.
            let first = about.split(". ").next().unwrap_or_default().trim_end_matches('.');
            if most > 0 && !first.is_empty() {
                text.push_str(": ");
                text.push_str(&line(first, most));
            }
        }
        if text.len() <= DESCRIPTION {
            return text;
        }
    }
    let mut text = INTRODUCTION.to_owned();
    for (at, (name, _)) in rows.iter().enumerate() {
        let end = format!(
            "\n… and {} more: give a name that is none to get all names",
            rows.len() - at
        );
        if text.len() + 1 + name.len() + end.len() > DESCRIPTION {
            return text + &end;
        }
        text.push('\n');
        text.push_str(name);
    }
    text
}

impl Tool for UseTool {
    fn descriptor(&self) -> Descriptor {
        let parameter = |name: &'static str, kind, required, about: &'static str| Parameter {
            name: name.into(),
            kind,
            required,
            description: about.into(),
            one_of: [][..].into(),
        };
        Descriptor {
            name: USE_TOOL.into(),
            description: self.description.clone().into(),
            parameters: vec![
                parameter("tool", Kind::Text, true, "A name from the list"),
                parameter("arguments", Kind::Object, false, "Its arguments"),
            ]
            .into(),
            limits: "a tool of an MCP server".to_owned(),
            example: "Use the tool that lists a directory.".into(),
            reads_only: false,
        }
    }

    fn definition(&self) -> Value {
        let arguments = json!({"type": "object", "description": "Its arguments"});
        let mut definition = self.descriptor().definition();
        definition["function"]["parameters"]["properties"]["arguments"] = arguments;
        definition
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn takes_others(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(self.used(arguments, call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_a_line_as_long_as_there_is_room() {
        let text = described(&[("s__a", "Does a. And more."), ("s__b", "")]);
        assert_eq!(text, format!("{INTRODUCTION}\ns__a: Does a\ns__b"));
    }

    #[test]
    fn many_tools_stay_within_the_bound_and_none_is_lost_without_a_word() {
        for many in [20, 40, 60, 256] {
            let names: Vec<String> = (0..many)
                .map(|n| format!("everything__tool_number_{n}"))
                .collect();
            let rows: Vec<(&str, &str)> = names
                .iter()
                .map(|name| (name.as_str(), "Does one thing or another, and well"))
                .collect();
            let text = described(&rows);
            assert!(text.len() <= DESCRIPTION, "{many}: {}", text.len());
            let listed = text
                .lines()
                .filter(|line| line.starts_with("everything__"))
                .count();
            let more = text.lines().last().and_then(|last| last.strip_prefix("… and "));
            let more = more.and_then(|rest| rest.split(' ').next()?.parse().ok());
            assert_eq!(listed + more.unwrap_or(0), many);
        }
    }

    #[test]
    fn arguments_are_found_where_models_put_them() {
        let of = |given: Value| arguments(&given);
        assert_eq!(of(json!({"tool": "t"})), None);
        assert_eq!(of(json!({"tool": "t", "arguments": null})), None);
        assert_eq!(of(json!({"tool": "t", "arguments": {}})), Some(json!({})));
        assert_eq!(
            of(json!({"tool": "t", "arguments": "{\"a\":1}"})),
            Some(json!({"a": 1}))
        );
        assert_eq!(of(json!({"tool": "t", "a": 1})), Some(json!({"a": 1})));
    }
}
