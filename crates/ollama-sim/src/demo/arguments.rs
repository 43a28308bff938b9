//! Arguments under the names the offered tool has for them.

use serde_json::{Map, Value};

use crate::seen::Seen;

/// One argument: the rule's name for it, and its value.
pub(super) type Given = Vec<(&'static str, Value)>;

/// Other names a schema may have for an argument.
const ALIASES: [(&str, &[&str]); 6] = [
    ("command", &["cmd", "script"]),
    ("workingDirectory", &["working_directory", "cwd", "directory"]),
    ("path", &["file", "file_path", "filename"]),
    ("content", &["text", "new_text"]),
    ("find", &["old_text", "old"]),
    ("request", &["query", "input"]),
];

/// Puts the arguments under the names of the tool's `properties`; the error is what to tell the person.
pub(super) fn fit(seen: &Seen, tool: &str, given: &Given) -> Result<Map<String, Value>, String> {
    let Some(offered) = seen.tool(tool) else {
        return Err(format!(
            "The tool {tool} is not offered in this conversation, so I cannot do that."
        ));
    };
    let properties = offered
        .pointer("/function/parameters/properties")
        .and_then(Value::as_object);
    let mut arguments = Map::new();
    for (name, value) in given {
        let known = |name: &str| properties.is_none_or(|p| p.contains_key(name));
        let aliases = ALIASES
            .iter()
            .find(|(n, _)| n == name)
            .map_or(&[][..], |(_, others)| others);
        let Some(name) = std::iter::once(name).chain(aliases).find(|name| known(name)) else {
            return Err(format!(
                "The tool {tool} has no argument {name}, so I cannot do that."
            ));
        };
        arguments.insert((*name).to_owned(), value.clone());
    }
    Ok(arguments)
}
