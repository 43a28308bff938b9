//! The table written out: for the documentation, for `config.example.json`, for completion.

use serde_json::{Map, Value};

use crate::load::insert;
use crate::setting::Kind;
use crate::table::SETTINGS;

/// What an example shows where a setting has no default.
const EXAMPLES: &[(&str, &str)] = &[
    ("model", "\"qwen3:8b\""),
    ("systemPromptExtension", "\"Answer in British English.\""),
    ("ollama.baseURL", "\"http://127.0.0.1:11434\""),
    ("ollama.contextLength", "16384"),
    ("ollama.keepAlive", "\"10m\""),
    ("ollama.think", "false"),
    ("models.calls", "{\"qwen2.5-coder:1.5b\": \"guided\"}"),
    ("commandMaxOutputBytes", "65536"),
    ("sandbox.memoryMiB", "4096"),
    ("ui", "\"plain\""),
    (
        "tools.custom",
        r#"[{
            "name": "commits_of",
            "description": "List the latest commits that touch a path.",
            "arguments": {
                "path": {"type": "string", "description": "A file or directory of the repository"},
                "count": {"type": "integer", "description": "How many commits", "default": 10}
            },
            "command": "git log --oneline -n {count} -- {path}",
            "workingDirectory": "~",
            "timeoutSeconds": 20
        }]"#,
    ),
    (
        "mcp.servers",
        r#"{
            "files": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
                "safe": ["read_text_file", "list_directory", "search_files"],
                "enabled": false
            }
        }"#,
    ),
    (
        "hooks",
        r#"{
            "PostToolUse": [
                {"matcher": "edit_file", "hooks": [{"type": "command", "command": "cargo fmt 2>/dev/null; true", "timeout": 30}]}
            ]
        }"#,
    ),
    // A file that is not there would stop every conversation.
    ("audit.key", "null"),
];

/// The settings as a Markdown table: name, what it takes, default, what it does.
pub fn markdown() -> String {
    let head = "| setting | takes | default | |\n| --- | --- | --- | --- |\n".to_owned();
    SETTINGS.iter().fold(head, |text, row| {
        let default = if row.default.is_empty() {
            "unset".to_owned()
        } else {
            format!("`{}`", row.default)
        };
        let about = row.about.replace('|', "\\|");
        text + &format!("| `{}` | {} | {default} | {about} |\n", row.name, row.allowed())
    })
}

/// A configuration with every setting in it: the defaults, and an example where there is none. Secrets are left
/// out, so that nobody is led to keep one in a file that is copied about.
pub fn example() -> String {
    let mut file = Map::new();
    for row in SETTINGS.iter().filter(|row| row.kind != Kind::Secret) {
        let given = EXAMPLES.iter().find(|(name, _)| *name == row.name);
        let text = given.map_or(row.default, |(_, text)| text);
        let value: Value = serde_json::from_str(text).expect("the examples are read by a test");
        insert(&mut file, row.name, value);
    }
    serde_json::to_string_pretty(&file).expect("a JSON object can be written") + "\n"
}

/// Names of settings that start with `prefix`, for completion.
pub fn names_starting(prefix: &str) -> impl Iterator<Item = &'static str> {
    SETTINGS
        .iter()
        .map(|row| row.name)
        .filter(move |name| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::load::Config;

    #[test]
    fn the_example_at_the_root_is_this_one_and_loads_without_a_warning() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config.example.json");
        let written = std::fs::read_to_string(&root).unwrap_or_default();
        assert_eq!(
            written,
            example(),
            "write the example out again: {}",
            root.display()
        );
        let config = Config::load(&root).unwrap();
        assert_eq!(config.warnings(), [""; 0]);
    }

    #[test]
    fn the_documentation_has_this_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
        let written = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(
            written.contains(&markdown()),
            "write the table out again: {}",
            page.display()
        );
    }

    #[test]
    fn every_setting_is_documented_and_completed() {
        let text = markdown();
        assert_eq!(text.lines().count(), SETTINGS.len() + 2);
        assert!(text.contains(
            "| `audit.days` | a whole number from 0 to 3650 | `90` | Days an audit file is kept; 0 for ever |"
        ));
        assert_eq!(
            names_starting("audit.").collect::<Vec<_>>(),
            ["audit.enabled", "audit.days", "audit.key"]
        );
    }
}
