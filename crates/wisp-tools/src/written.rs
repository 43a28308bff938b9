//! Arguments as models write them: what has one meaning is read as if it had been written right.
//!
//! Small models fill optional arguments with dummies, give arguments the names that other agents' tools have, and quote
//! numbers. The names are a table; a name counts only where the tool has that argument and the call gives it once.
//! Nothing is guessed: two texts for one argument are an error, and a name nobody knows is told back as before.

use serde_json::{Map, Value, json};

use crate::arguments::{Kind, Parameter};

/// Names that models give an argument: the argument, then the others, in small letters without `_`, `-` and blanks.
const NAMES: &[(&str, &[&str])] = &[
    (
        "path",
        &[
            "file",
            "filename",
            "filepath",
            "pathname",
            "targetfile",
            "absolutepath",
            "relativepath",
        ],
    ),
    (
        "command",
        &["cmd", "commandline", "shell", "shellcommand", "bash", "script"],
    ),
    (
        "workingDirectory",
        &["cwd", "workdir", "workingdir", "dir", "directory", "folder"],
    ),
    (
        "content",
        &[
            "contents",
            "text",
            "body",
            "data",
            "new",
            "newcontent",
            "newtext",
            "newstring",
            "newstr",
            "newcode",
            "replace",
            "replacement",
            "replacewith",
            "with",
            "filecontent",
            "filetext",
        ],
    ),
    (
        "find",
        &[
            "old",
            "oldcontent",
            "oldtext",
            "oldstring",
            "oldstr",
            "oldcode",
            "original",
            "originaltext",
            "search",
            "searchfor",
            "searchtext",
            "searchstring",
        ],
    ),
    ("line", &["lineno", "linenum", "linenumber"]),
    (
        "offset",
        &[
            "start",
            "startline",
            "from",
            "fromline",
            "firstline",
            "begin",
            "beginline",
            "linestart",
        ],
    ),
    (
        "limit",
        &[
            "lines",
            "count",
            "maxlines",
            "numlines",
            "linecount",
            "numberoflines",
        ],
    ),
    ("all", &["replaceall", "alloccurrences", "everywhere", "global"]),
    ("mode", &["action", "operation", "op", "editmode"]),
    ("question", &["prompt", "text"]),
    ("message", &["body", "text", "content"]),
    ("title", &["subject", "heading"]),
    ("request", &["query", "input"]),
    ("topic", &["what", "about"]),
    ("what", &["view", "topic"]),
];

/// A call's arguments with their own names, dummies taken out.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The arguments.
    pub arguments: Value,
    /// The arguments that came under another name.
    pub renamed: Vec<String>,
}

/// Reads what a model wrote for a tool with these parameters. `strict` tools are the person's own, whose arguments may
/// well be empty or 0: there only null is absent and no other names are known. `means` says of an argument that looks like
/// a dummy that it means itself. The error says which argument was given twice, in words for the model.
pub fn read(
    tool: &str,
    parameters: &[Parameter],
    given: &Value,
    strict: bool,
    means: impl Fn(&Map<String, Value>, &str) -> bool,
) -> Result<Read, String> {
    let Value::Object(map) = given else {
        return Ok(Read {
            arguments: given.clone(),
            renamed: Vec::new(),
        });
    };
    let mut out = Map::new();
    let mut renamed = Vec::new();
    // The right names first, so that what came under another one is held against them.
    let (own, other): (Vec<_>, Vec<_>) = map
        .iter()
        .partition(|(name, _)| parameters.iter().any(|p| p.name == **name));
    for (name, value) in own {
        let parameter = parameters.iter().find(|p| p.name == **name);
        let dummy =
            parameter.is_some_and(|p| is_dummy(p, value, strict) && (value.is_null() || !means(map, name)));
        if !dummy {
            out.insert(name.clone(), value.clone());
        }
    }
    let mut source = Map::new();
    for (name, value) in other {
        let Some(parameter) = meant(parameters, name, strict) else {
            out.insert(name.clone(), value.clone());
            continue;
        };
        if is_dummy(parameter, value, strict) {
            continue;
        }
        match out.get(&*parameter.name) {
            Some(same) if same == value => {}
            Some(_) => {
                let before = source.get(&*parameter.name).and_then(Value::as_str);
                return Err(format!(
                    "{tool} got two values for {}: {} and {name}; give {} once",
                    parameter.name,
                    before.unwrap_or(&parameter.name),
                    parameter.name,
                ));
            }
            None => {
                out.insert(parameter.name.to_string(), value.clone());
                source.insert(parameter.name.to_string(), Value::from(name.as_str()));
                renamed.push(parameter.name.to_string());
            }
        }
    }
    Ok(Read {
        arguments: Value::Object(out),
        renamed,
    })
}

/// The parameter that a name which is none means.
fn meant<'a>(parameters: &'a [Parameter], name: &str, strict: bool) -> Option<&'a Parameter> {
    let folded = fold(name);
    if let Some(parameter) = parameters.iter().find(|p| fold(&p.name) == folded) {
        return Some(parameter);
    }
    let mut all = parameters
        .iter()
        .filter(|p| !strict && others(&p.name).contains(&folded.as_str()));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// The other names of an argument.
fn others(name: &str) -> &'static [&'static str] {
    NAMES
        .iter()
        .find(|(own, _)| *own == name)
        .map_or(&[], |(_, others)| others)
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|char| !['_', '-', ' '].contains(char))
        .map(|char| char.to_ascii_lowercase())
        .collect()
}

/// Whether a value only fills the place of an argument that need not be given.
fn is_dummy(parameter: &Parameter, value: &Value, strict: bool) -> bool {
    if value.is_null() {
        return true;
    }
    if parameter.required || strict {
        return false;
    }
    match value {
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => is_dummy_text(parameter.kind, text.trim()),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null | Value::Bool(_) => false,
    }
}

fn is_dummy_text(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Text => ["", "null"].contains(&text),
        Kind::Texts | Kind::List => ["", "null", "[]"].contains(&text),
        Kind::Object => ["", "null", "{}"].contains(&text),
        Kind::Any => text == "null",
        Kind::Integer | Kind::Number | Kind::Boolean => {
            ["", "0", "null", "none", "undefined"].contains(&text.to_ascii_lowercase().as_str())
        }
    }
}

/// The JSON schema of a tool's arguments as it is sent, widened to all that [`read`] understands: by it a call that a
/// model wrote as text is told from other JSON. Other names stand in `alsoCalled`, which JSON schema does not have.
pub fn understood(schema: &Value) -> Value {
    let mut wide = schema.clone();
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let mut also = Map::new();
    if let Some(properties) = wide.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, property) in properties.iter_mut() {
            also.insert(name.clone(), json!(others(name)));
            widen(property, required.contains(name));
        }
    }
    wide["alsoCalled"] = Value::Object(also);
    wide
}

fn widen(property: &mut Value, required: bool) {
    let kind = property["type"].as_str().unwrap_or_default().to_owned();
    let mut kinds: Vec<&str> = match kind.as_str() {
        "integer" | "number" => vec!["integer", "number", "string"],
        "boolean" => vec!["boolean", "string", "integer"],
        "string" => vec!["string", "number", "boolean"],
        "array" => vec!["array", "string"],
        _ => return,
    };
    if !required {
        // Dummies.
        kinds.extend(["null", "integer", "string", "array", "object"]);
    }
    kinds.sort_unstable();
    kinds.dedup();
    property["type"] = json!(kinds);
    if let Some(property) = property.as_object_mut() {
        // What is in no list is answered by the tool, with the list.
        property.remove("enum");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;
    use crate::arguments::Arguments as _;

    arguments! {
        /// For the tests.
        struct Edit {
            path: String = "path", "The file";
            mode: String = "mode", "How";
            content: String = "content", "The text";
            find: Option<String> = "find", "What to replace";
            line: Option<i64> = "line", "Where";
            all: Option<bool> = "all", "Everywhere";
            tags: Option<Vec<String>> = "tags", "Texts";
        }
    }

    fn reading(given: &Value) -> Result<Read, String> {
        read("edit", Edit::PARAMETERS, given, false, |_, _| false)
    }

    #[test]
    fn dummies_in_optional_arguments_are_absent_and_in_required_ones_are_not() {
        for dummy in [
            json!(0),
            json!(0.0),
            json!(""),
            json!(" "),
            json!(null),
            json!("null"),
            json!([]),
            json!({}),
        ] {
            let given = json!({"path": "a", "mode": "write", "content": "", "find": dummy, "line": dummy, "all": dummy, "tags": dummy});
            let read = reading(&given).unwrap();
            assert_eq!(
                read.arguments,
                json!({"path": "a", "mode": "write", "content": ""}),
                "{dummy}"
            );
        }
        let given =
            json!({"path": "0", "content": "null", "line": 3, "all": false, "tags": ["x"], "find": "0"});
        assert_eq!(reading(&given).unwrap().arguments, given);
    }

    #[test]
    fn what_looks_like_a_dummy_and_means_itself_stays() {
        let given = json!({"find": "null", "line": 0, "content": null});
        let read = read("edit", Edit::PARAMETERS, &given, false, |_, name| name == "find").unwrap();
        assert_eq!(read.arguments, json!({"find": "null"}));
    }

    #[test]
    fn the_names_other_tools_have_for_it_are_the_argument() {
        for (written, name) in [
            ("file", "path"),
            ("filename", "path"),
            ("file_path", "path"),
            ("filePath", "path"),
            ("PATH", "path"),
            ("old_string", "find"),
            ("old", "find"),
            ("search", "find"),
            ("new_string", "content"),
            ("new", "content"),
            ("replace", "content"),
            ("text", "content"),
            ("line_number", "line"),
            ("replace_all", "all"),
        ] {
            let read = reading(&json!({ written: "x" })).unwrap();
            assert_eq!(read.arguments, json!({ name: "x" }), "{written}");
            assert_eq!(read.renamed, [name], "{written}");
        }
        let command = &crate::run_command::RunCommandArguments::PARAMETERS;
        for (written, name) in [
            ("cmd", "command"),
            ("cwd", "workingDirectory"),
            ("working_directory", "workingDirectory"),
        ] {
            let read = read(
                "run_command",
                command,
                &json!({ written: "ls" }),
                false,
                |_, _| false,
            )
            .unwrap();
            assert_eq!(read.arguments, json!({ name: "ls" }), "{written}");
        }
    }

    #[test]
    fn a_name_nobody_knows_and_one_argument_twice_are_not_guessed() {
        assert_eq!(
            reading(&json!({"colour": "x"})).unwrap().arguments,
            json!({"colour": "x"})
        );
        assert_eq!(
            reading(&json!({"content": "", "new_string": "y"})).unwrap_err(),
            "edit got two values for content: content and new_string; give content once"
        );
        assert_eq!(
            reading(&json!({"new": "x", "new_string": "y"})).unwrap_err(),
            "edit got two values for content: new and new_string; give content once"
        );
        assert_eq!(
            reading(&json!({"find": "", "old": "y", "new": "z", "text": "z"}))
                .unwrap()
                .arguments,
            json!({"find": "y", "content": "z"})
        );
    }

    #[test]
    fn a_tool_of_the_persons_own_gets_its_arguments_as_they_are() {
        let read = |given: Value| {
            read("edit", Edit::PARAMETERS, &given, true, |_, _| false)
                .unwrap()
                .arguments
        };
        assert_eq!(
            read(json!({"find": "", "line": 0, "all": null})),
            json!({"find": "", "line": 0})
        );
        assert_eq!(
            read(json!({"file": "x", "PATH": "y"})),
            json!({"file": "x", "path": "y"})
        );
    }

    #[test]
    fn the_schema_for_calls_written_as_text_allows_what_is_read() {
        let wide = understood(&arguments::schema(Edit::PARAMETERS));
        assert_eq!(wide["required"], json!(["path", "mode", "content"]));
        assert_eq!(
            wide["properties"]["path"]["type"],
            json!(["boolean", "number", "string"])
        );
        assert_eq!(
            wide["properties"]["line"]["type"],
            json!(["array", "integer", "null", "number", "object", "string"])
        );
        assert_eq!(
            wide["alsoCalled"]["line"],
            json!(["lineno", "linenum", "linenumber"])
        );
        assert_eq!(wide["alsoCalled"]["tags"], json!([]));
    }
}
