//! A tool of a server as a model is offered it: its schema made plain and small, and the parameters by which a call is
//! read.
//!
//! Schemas come from generators and hold much that a model does not need: titles, drafts, references. References are
//! followed, what says nothing to a model is left out, and everything is bounded, in depth, in number and in bytes: what
//! cannot be made small enough is not offered.

use serde_json::{Map, Value, json};
use wisp_tools::arguments::{Kind, Parameter};

use crate::clean::line;

/// The most bytes of a definition as it is sent.
pub(crate) const MOST_BYTES: usize = 6 * 1024;
/// The most characters of a tool's description, and of a parameter's.
const DESCRIPTION: usize = 600;
const ABOUT: usize = 200;
/// How deep a schema is followed, its references counted.
const DEEPEST: usize = 8;
/// The most properties of an object, values of an enumeration and branches of a choice.
const PROPERTIES: usize = 64;
const VALUES: usize = 64;
const BRANCHES: usize = 8;
/// The most parts of a schema that are looked at: references may multiply them.
const PARTS: usize = 2_000;

/// A tool as a server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// Its name there.
    pub(crate) name: String,
    /// What it does, in the server's words.
    pub(crate) description: String,
    /// The schema of its arguments.
    pub(crate) schema: Map<String, Value>,
    /// That it changes nothing, says the server.
    pub(crate) reads_only: bool,
    /// That it may overwrite or delete, says the server.
    pub(crate) destroys: bool,
    /// That it reaches other machines, says the server.
    pub(crate) reaches_out: bool,
}

/// A tool as it is offered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// What it does, on one line.
    pub(crate) description: String,
    /// The plain schema of its arguments.
    pub(crate) schema: Value,
    /// The parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// Whether it takes arguments that the schema does not name.
    pub(crate) open: bool,
}

impl Definition {
    /// Makes a server's tool plain. The error says why it cannot be offered.
    pub(crate) fn of(listed: &Listed) -> Result<Self, String> {
        let description = line(&listed.description, DESCRIPTION);
        let whole = Value::Object(listed.schema.clone());
        for about in [ABOUT, 60, 0] {
            let mut plain = Plain {
                root: &whole,
                parts: PARTS,
                about,
            };
            let mut schema = plain.schema(&whole, 0);
            if plain.parts == 0 {
                return Err("its arguments are too intricate".to_owned());
            }
            schema["type"] = "object".into();
            if !schema["properties"].is_object() {
                schema["properties"] = json!({});
            }
            let definition = Self {
                parameters: parameters(&schema),
                open: open(&listed.schema, &schema),
                description: description.clone(),
                schema,
            };
            if let Some(odd) = definition.parameters.iter().find(|p| !is_name(&p.name)) {
                return Err(format!(
                    "its argument {:?} has an unusual name",
                    line(&odd.name, 40)
                ));
            }
            if definition.schema.to_string().len() + definition.description.len() <= MOST_BYTES {
                return Ok(definition);
            }
        }
        Err(format!("its definition has more than {MOST_BYTES} bytes"))
    }

    /// As Ollama takes it, under a name.
    pub(crate) fn function(&self, name: &str) -> Value {
        json!({
            "type": "function",
            "function": {"name": name, "description": self.description, "parameters": self.schema},
        })
    }
}

/// A name that an argument can have: a model has to write it back.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-.$@:/".contains(c);
    !name.is_empty() && name.chars().count() <= 64 && name.chars().all(plain)
}

/// Whether arguments may have names that are not listed.
fn open(given: &Map<String, Value>, plain: &Value) -> bool {
    let none = plain["properties"].as_object().is_none_or(Map::is_empty);
    match given.get("additionalProperties") {
        Some(Value::Bool(open)) => *open,
        Some(Value::Object(_)) => true,
        _ => none,
    }
}

fn parameters(schema: &Value) -> Vec<Parameter> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|r| r == name));
    let rows = schema["properties"].as_object().into_iter().flatten();
    rows.map(|(name, row)| Parameter {
        name: name.clone().into(),
        kind: kind(row),
        required: is_required(name),
        description: row["description"].as_str().unwrap_or_default().to_owned().into(),
        one_of: one_of(row).into(),
    })
    .collect()
}

fn one_of(row: &Value) -> Vec<String> {
    let values = row["enum"].as_array().into_iter().flatten();
    let texts: Option<Vec<String>> = values.map(|v| v.as_str().map(str::to_owned)).collect();
    texts.unwrap_or_default()
}

fn kind(row: &Value) -> Kind {
    match row["type"].as_str() {
        Some("string") => Kind::Text,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array") if row["items"]["type"] == "string" => Kind::Texts,
        Some("array") => Kind::List,
        Some("object") => Kind::Object,
        _ => Kind::Any,
    }
}

struct Plain<'a> {
    /// Where references lead.
    root: &'a Value,
    /// Parts that may still be looked at.
    parts: usize,
    /// The most characters of a description; none are kept when it is 0.
    about: usize,
}

impl Plain<'_> {
    fn schema(&mut self, given: &Value, depth: usize) -> Value {
        self.parts = self.parts.saturating_sub(1);
        let mut out = json!({});
        if depth > DEEPEST || self.parts == 0 {
            return out;
        }
        let Some(map) = given.as_object() else { return out };
        if let Some(found) = map
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|r| self.referred(r))
        {
            out = self.schema(&found.clone(), depth + 1);
        }
        if let Some(kind) = type_of(map) {
            out["type"] = kind.into();
        }
        let about = map.get("description").and_then(Value::as_str);
        if let Some(about) = about.filter(|_| self.about > 0) {
            out["description"] = line(about, self.about).into();
        }
        values(map, &mut out);
        self.choice(map, &mut out, depth);
        if let Some(items) = map.get("items") {
            out["items"] = self.schema(items, depth + 1);
        }
        if let Some(Value::Object(rows)) = map.get("properties") {
            let rows = rows.iter().take(PROPERTIES);
            let rows: Map<String, Value> = rows
                .map(|(name, row)| (name.clone(), self.schema(row, depth + 1)))
                .collect();
            let named = |name: &&Value| name.as_str().is_some_and(|name| rows.contains_key(name));
            let required = map.get("required").and_then(Value::as_array);
            let required: Vec<&Value> = required.into_iter().flatten().filter(named).collect();
            if !required.is_empty() {
                out["required"] = json!(required);
            }
            out["properties"] = Value::Object(rows);
        }
        out
    }

    /// What a reference within the schema leads to.
    fn referred(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// One of several: with only one that is not null it is that one, else they stand beside each other.
    fn choice(&mut self, map: &Map<String, Value>, out: &mut Value, depth: usize) {
        let words = ["anyOf", "oneOf", "allOf"];
        let Some(branches) = words.iter().find_map(|word| map.get(*word)?.as_array()) else {
            return;
        };
        let real: Vec<&Value> = branches
            .iter()
            .filter(|branch| branch["type"] != "null")
            .collect();
        let made: Vec<Value> = real
            .iter()
            .take(BRANCHES)
            .map(|branch| self.schema(branch, depth + 1))
            .collect();
        if let [Value::Object(only)] = &made[..] {
            for (name, value) in only {
                if out.get(name).is_none() {
                    out[name] = value.clone();
                }
            }
        } else if !made.is_empty() {
            out["anyOf"] = Value::Array(made);
        }
    }
}

/// The values it may have and the one it has when it is not given.
fn values(map: &Map<String, Value>, out: &mut Value) {
    let constant = map.get("const").map(|value| vec![value.clone()]);
    let listed = map.get("enum").and_then(Value::as_array).cloned().or(constant);
    let short = |value: &Value| match value {
        Value::String(text) => line(text, 100) == *text,
        other => !other.is_array() && !other.is_object(),
    };
    if let Some(listed) = listed.filter(|all| all.len() <= VALUES && all.iter().all(short)) {
        out["enum"] = Value::Array(listed);
    }
    if let Some(default) = map
        .get("default")
        .filter(|value| !value.is_null() && short(value))
    {
        out["default"] = default.clone();
    }
}

/// The one type that is not null.
fn type_of(map: &Map<String, Value>) -> Option<String> {
    let known = |name: &&str| ["string", "integer", "number", "boolean", "array", "object"].contains(name);
    match map.get("type")? {
        Value::String(kind) => Some(kind.as_str()).filter(known).map(str::to_owned),
        Value::Array(kinds) => match kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(known)
            .collect::<Vec<_>>()[..]
        {
            [only] => Some(only.to_owned()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A tool with this schema.
    pub(crate) fn listed(name: &str, description: &str, schema: Value) -> Listed {
        let Value::Object(schema) = schema else {
            panic!("a schema is an object")
        };
        Listed {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
            reads_only: false,
            destroys: false,
            reaches_out: false,
        }
    }

    fn of(schema: Value) -> Result<Definition, String> {
        Definition::of(&listed("t", "Does it.", schema))
    }

    #[test]
    fn what_says_nothing_to_a_model_is_left_out() {
        let made = of(json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "title": "T", "type": "object",
            "additionalProperties": false, "required": ["path", "gone"],
            "properties": {
                "path": {"type": "string", "title": "Path", "description": "Where\nit is", "minLength": 1},
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null, "title": "N"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "mode": {"enum": ["a", "b"], "type": ["string", "null"]}
            }
        }))
        .unwrap();
        assert_eq!(
            made.schema,
            json!({
                "type": "object", "required": ["path"],
                "properties": {
                    "path": {"type": "string", "description": "Where it is"},
                    "n": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "mode": {"type": "string", "enum": ["a", "b"]}
                }
            })
        );
        let kinds: Vec<_> = made.parameters.iter().map(|p| (p.kind, p.required)).collect();
        assert_eq!(
            kinds,
            [
                (Kind::Text, true),
                (Kind::Integer, false),
                (Kind::Texts, false),
                (Kind::Text, false)
            ]
        );
        assert_eq!((made.parameters[3].one_of.len(), made.open), (2, false));
    }

    #[test]
    fn references_are_followed_and_a_circle_ends() {
        let made = of(json!({
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": {"type": "object", "properties": {
                "name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}}}}
        }))
        .unwrap();
        assert_eq!(
            made.schema["properties"]["node"]["properties"]["name"]["type"],
            "string"
        );
        assert_eq!(made.parameters[0].kind, Kind::Object);
        assert!(made.schema.to_string().len() < 1_000);
    }

    #[test]
    fn a_schema_that_multiplies_itself_is_refused_soon() {
        let mut defs = json!({});
        for at in 0..30 {
            let next = format!("#/$defs/d{}", at + 1);
            let rows: Map<String, Value> = (0..60)
                .map(|n| (format!("p{n}"), json!({ "$ref": next })))
                .collect();
            defs[format!("d{at}")] = json!({"type": "object", "properties": rows});
        }
        let said = of(json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs}));
        assert_eq!(said.unwrap_err(), "its arguments are too intricate");
    }

    #[test]
    fn long_descriptions_give_way_before_a_tool_does() {
        let rows: Map<String, Value> = (0..50)
            .map(|n| {
                (
                    format!("p{n}"),
                    json!({"type": "string", "description": "word ".repeat(100)}),
                )
            })
            .collect();
        let made = of(json!({"type": "object", "properties": rows})).unwrap();
        assert!(made.schema.to_string().len() <= MOST_BYTES);
        assert_eq!(made.parameters.len(), 50);
        let rows: Map<String, Value> = (0..64)
            .map(|n| {
                (
                    format!("{n:04}{}", "p".repeat(60)),
                    json!({"enum": ["x".repeat(90)]}),
                )
            })
            .collect();
        let said = of(json!({"type": "object", "properties": rows})).unwrap_err();
        assert_eq!(said, "its definition has more than 6144 bytes");
    }

    #[test]
    fn megabytes_of_description_become_a_line() {
        let made = Definition::of(&listed("t", &"\u{1b}]0;x\u{7} ".repeat(1_000_000), json!({}))).unwrap();
        assert!(made.description.chars().count() <= DESCRIPTION + 1);
        assert!(!made.description.contains('\u{1b}'));
        assert!(made.open && made.parameters.is_empty());
    }

    #[test]
    fn an_argument_that_cannot_be_written_back_keeps_the_tool_out() {
        let said = of(json!({"type": "object", "properties": {"a\u{1b}b": {}}})).unwrap_err();
        assert_eq!(said, "its argument \"a b\" has an unusual name");
    }
}
