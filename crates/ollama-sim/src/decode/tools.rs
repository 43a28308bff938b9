//! `tools`: what the server keeps of a tool, and what it drops without a word.

use serde_json::{Map, Value};

use super::{Faults, key};
use crate::gojson::Json;
use crate::profile::Profile;

/// A tool as the server understood it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolDef {
    /// The function's name.
    pub(crate) name: String,
    /// What it does.
    pub(crate) description: String,
    /// The parameters, with only the keys the server keeps.
    pub(crate) parameters: Value,
}

/// The keys kept of the parameters object.
const KEPT: [&str; 5] = ["type", "$defs", "items", "required", "properties"];

impl ToolDef {
    /// Reads one item of `tools`.
    pub(crate) fn read(item: &Json, profile: &Profile, faults: &mut Faults) -> Self {
        let mut tool = Self {
            name: String::new(),
            description: String::new(),
            parameters: Value::Object(Map::new()),
        };
        for (name, value) in faults.object(item, "ChatRequest.tools", "api.Tool") {
            match key(name).as_str() {
                "function" => tool.function(value, profile, faults),
                "type" => _ = faults.string(value, "ChatRequest.tools.type"),
                "items" => {}
                _ => faults.unknown.push(format!("tools.{name}")),
            }
        }
        tool
    }

    fn function(&mut self, value: &Json, profile: &Profile, faults: &mut Faults) {
        for (name, value) in faults.object(value, "ChatRequest.tools.function", "api.ToolFunction") {
            match key(name).as_str() {
                "name" => self.name = faults.string(value, "ChatRequest.tools.function.name"),
                "description" => {
                    self.description = faults.string(value, "ChatRequest.tools.function.description");
                }
                "parameters" => self.parameters = parameters(value, profile, faults),
                _ => faults.unknown.push(format!("tools.function.{name}")),
            }
        }
    }

    /// The tool as the template prints it.
    pub(crate) fn to_value(&self) -> Value {
        serde_json::json!({
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        })
    }
}

/// All tools as the template prints them, one a line.
pub(crate) fn tools_to_value(tools: &[ToolDef]) -> String {
    tools
        .iter()
        .map(|tool| tool.to_value().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

fn parameters(value: &Json, profile: &Profile, faults: &mut Faults) -> Value {
    let at = "ChatRequest.tools.function.parameters";
    let mut kept = Map::new();
    for (name, value) in faults.object(value, at, "api.ToolFunctionParameters") {
        if !KEPT.contains(&name.as_str()) {
            faults.unknown.push(format!("tools.function.parameters.{name}"));
            continue;
        }
        let value = match name.as_str() {
            "properties" => properties(value, profile, faults),
            "type" => Value::String(faults.string(value, &format!("{at}.type"))),
            "required" => strings(value, &format!("{at}.required"), faults),
            _ => value.to_value(),
        };
        kept.insert(name.clone(), value);
    }
    Value::Object(kept)
}

fn properties(value: &Json, profile: &Profile, faults: &mut Faults) -> Value {
    let at = "ChatRequest.tools.function.parameters.properties";
    let mut kept = Map::new();
    for (name, value) in faults.object(value, at, "map[string]api.ToolProperty") {
        kept.insert(name.clone(), property(value, profile, faults));
    }
    Value::Object(kept)
}

fn property(value: &Json, profile: &Profile, faults: &mut Faults) -> Value {
    let at = "ChatRequest.tools.function.parameters.properties";
    let mut kept = Map::new();
    for (name, value) in faults.object(value, at, "api.ToolProperty") {
        if !profile.property_keys.contains(&name.as_str()) {
            faults
                .unknown
                .push(format!("tools.function.parameters.properties.{name}"));
            continue;
        }
        let value = match (name.as_str(), value) {
            ("type", Json::String(_)) => value.to_value(),
            ("type", Json::Array(_)) if profile.array_types => strings(value, &format!("{at}.type"), faults),
            ("type", other) => Value::String(faults.string(other, &format!("{at}.type"))),
            ("description", value) => Value::String(faults.string(value, &format!("{at}.description"))),
            ("properties", value) => properties(value, profile, faults),
            _ => value.to_value(),
        };
        kept.insert(name.clone(), value);
    }
    Value::Object(kept)
}

fn strings(value: &Json, path: &str, faults: &mut Faults) -> Value {
    let items = faults.array(value, path, "[]string");
    Value::Array(
        items
            .iter()
            .map(|item| Value::String(faults.string(item, path)))
            .collect(),
    )
}
