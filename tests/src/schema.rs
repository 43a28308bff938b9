//! JSON against a JSON Schema, for the keywords that schemas made from Rust types use. Stricter than the standard on
//! purpose: a member that no schema names is a fault (where one names any), so that what is sent and what is documented cannot drift apart.
//! A keyword that is not known here fails too.

use serde_json::Value;

/// Keywords that say nothing about what is valid.
const REMARKS: [&str; 5] = ["description", "default", "format", "title", "$schema"];

/// What is wrong with `value` by `schema`; `root` holds the definitions. Nothing when it is valid.
pub fn fault(value: &Value, schema: &Value, root: &Value) -> Option<String> {
    let mut known = Vec::new();
    if let Some(why) = check(value, schema, root, &mut known) {
        return Some(why);
    }
    if known.is_empty() {
        return None;
    }
    let members = value.as_object()?;
    let stranger = members.keys().find(|name| !known.contains(*name));
    stranger.map(|name| format!("the member {name} is in no schema: {value}"))
}

/// Checks one value; `known` gathers the members that schemas of this object name.
fn check(value: &Value, schema: &Value, root: &Value, known: &mut Vec<String>) -> Option<String> {
    let Some(keywords) = schema.as_object() else {
        return (schema != &Value::Bool(true)).then(|| format!("nothing is valid here: {value}"));
    };
    keywords.iter().find_map(|(keyword, wanted)| {
        let wrong = |what: &str| Some(format!("{what} {wanted}: {value}"));
        match keyword.as_str() {
            "$ref" => check(value, definition(wanted, root), root, known),
            "type" if !has_type(value, wanted) => wrong("not of type"),
            "const" if value != wanted => wrong("is not"),
            "enum" if !wanted.as_array().is_some_and(|all| all.contains(value)) => wrong("none of"),
            "minimum" if value.is_number() && value.as_f64() < wanted.as_f64() => wrong("less than"),
            "maximum" if value.is_number() && value.as_f64() > wanted.as_f64() => wrong("more than"),
            "required" => missing(value, wanted),
            "properties" => members(value, wanted, root, known),
            "items" => value
                .as_array()?
                .iter()
                .find_map(|item| fault(item, wanted, root)),
            "oneOf" | "anyOf" => one_of(value, wanted, root, known),
            "allOf" => wanted
                .as_array()?
                .iter()
                .find_map(|part| check(value, part, root, known)),
            "type" | "const" | "enum" | "minimum" | "maximum" | "$defs" => None,
            remark if REMARKS.contains(&remark) => None,
            other => Some(format!("the keyword {other} is not known to the test")),
        }
    })
}

fn definition<'a>(reference: &Value, root: &'a Value) -> &'a Value {
    let path = reference.as_str().and_then(|text| text.strip_prefix('#'));
    path.and_then(|path| root.pointer(path))
        .unwrap_or(&Value::Bool(false))
}

fn has_type(value: &Value, wanted: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => false,
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

fn missing(value: &Value, wanted: &Value) -> Option<String> {
    let members = value.as_object()?;
    let absent = wanted
        .as_array()?
        .iter()
        .find(|name| !members.contains_key(name.as_str().unwrap_or("")));
    absent.map(|name| format!("{name} is missing: {value}"))
}

fn members(value: &Value, schemas: &Value, root: &Value, known: &mut Vec<String>) -> Option<String> {
    let (members, schemas) = (value.as_object()?, schemas.as_object()?);
    known.extend(schemas.keys().cloned());
    schemas.iter().find_map(|(name, schema)| {
        let member = members.get(name)?;
        let why = fault(member, schema, root)?;
        Some(format!("{name}: {why}"))
    })
}

/// The first alternative that fits; what is wrong with the one whose `type` is that of the value, else with the last.
fn one_of(value: &Value, alternatives: &Value, root: &Value, known: &mut Vec<String>) -> Option<String> {
    let mut said = None;
    for alternative in alternatives.as_array()? {
        let mut names = Vec::new();
        let Some(why) = check(value, alternative, root, &mut names) else {
            known.extend(names);
            return None;
        };
        let kind = alternative.pointer("/properties/type/const");
        if kind.is_some() && kind == value.get("type") {
            return Some(why);
        }
        said = Some(why);
    }
    said
}
