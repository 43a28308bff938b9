//! MCP servers of the person's: rows of `mcp.servers`, read and checked whole before anything of them is used.
//!
//! The form is the one that other clients have, so that an entry can be copied: `command`, `args`, `env`, or `url` and
//! `headers`. What is wisp's own beside that: how the server is confined, which of its tools are offered, which change
//! nothing.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::custom::known;

/// The longest name of a server, in characters: it stands before the name of each of its tools.
pub const NAME: usize = 24;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started and spoken to over its standard input and output.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment beside the few variables that every program needs.
        env: BTreeMap<String, String>,
        /// Where it runs, when not in the conversation's directory; may begin with `~`.
        directory: Option<String>,
    },
    /// A server that runs already, over streamable HTTP.
    Url {
        /// Its address.
        url: String,
        /// Headers of every request, such as `Authorization`.
        headers: BTreeMap<String, String>,
    },
}

/// A server of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name: a letter, then letters, digits, `-` and single `_`, at most [`NAME`].
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether a program is confined to the sandbox's write profile.
    pub sandbox: bool,
    /// Whether a confined program has the network, unless `sandbox.network` is off.
    pub network: bool,
    /// Its tools that are offered, by the server's names; none for all.
    pub tools: Option<Vec<String>>,
    /// Its tools that change nothing, by the server's names: they are called without a question.
    pub safe: Vec<String>,
    /// Seconds one call may take; none for as long as a command.
    pub timeout_seconds: Option<u64>,
    /// Seconds the first turn waits for it: 10.
    pub start_seconds: u64,
}

const FIELDS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "workingDirectory",
    "url",
    "headers",
    "enabled",
    "sandbox",
    "network",
    "tools",
    "safe",
    "timeoutSeconds",
    "startSeconds",
];

/// Reads the rows of `mcp.servers`. The error names the server and says what is wrong with it, to follow the setting's
/// name.
pub fn read(rows: &Map<String, Value>) -> Result<Vec<McpServer>, String> {
    let one = |(name, row): (&String, &Value)| {
        server(name, row).map_err(|why| format!("has a server that cannot be used, '{}': {why}", cut(name)))
    };
    rows.iter()
        .filter(|(name, _)| !name.starts_with('$'))
        .map(one)
        .collect()
}

/// The rows with the values of variables and headers, which may be credentials, put out of sight.
pub fn hidden(value: &Value) -> Value {
    let mut value = value.clone();
    for row in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
        for field in ["env", "headers"] {
            let pairs = row.get_mut(field).and_then(Value::as_object_mut);
            for value in pairs.into_iter().flat_map(Map::values_mut) {
                *value = Value::from("(set)");
            }
        }
    }
    value
}

/// Whether a server can have this name. The error says what it must be.
pub fn check_name(name: &str) -> Result<(), String> {
    let fits = name.len() <= NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !name.contains("__")
        && !name.ends_with('_');
    if fits {
        Ok(())
    } else {
        Err(format!(
            "its name must be a letter, then letters, digits, - and single _ between them, at most {NAME} in all"
        ))
    }
}

fn server(name: &str, row: &Value) -> Result<McpServer, String> {
    check_name(name)?;
    let row = row.as_object().ok_or("it must be an object")?;
    known(row, FIELDS)?;
    Ok(McpServer {
        name: name.to_owned(),
        reach: reach(row)?,
        enabled: switch(row, "enabled")?,
        sandbox: switch(row, "sandbox")?,
        network: switch(row, "network")?,
        tools: match row.get("tools") {
            None | Some(Value::Null) => None,
            Some(_) => Some(texts(row, "tools")?),
        },
        safe: texts(row, "safe")?,
        timeout_seconds: seconds(row, "timeoutSeconds", 86_400)?,
        start_seconds: seconds(row, "startSeconds", 600)?.unwrap_or(10),
    })
}

fn reach(row: &Map<String, Value>) -> Result<Reach, String> {
    let kind = text(row, "type")?;
    let stdio = match kind.as_deref() {
        None => None,
        Some("stdio") => Some(true),
        Some("http" | "streamable-http" | "streamableHttp") => Some(false),
        Some("sse") => return Err("its type sse is the old transport; wisp speaks stdio and http".to_owned()),
        Some(_) => return Err("its type must be stdio or http".to_owned()),
    };
    match (text(row, "command")?, text(row, "url")?) {
        (Some(command), None) if stdio != Some(false) && !command.trim().is_empty() => Ok(Reach::Command {
            command,
            args: texts(row, "args")?,
            env: pairs(row, "env")?,
            directory: text(row, "workingDirectory")?,
        }),
        (None, Some(url)) if stdio != Some(true) => {
            let beside = ["args", "env", "workingDirectory"];
            if let Some(field) = beside.iter().find(|field| row.contains_key(**field)) {
                return Err(format!("its {field} is for a command, and it has a url"));
            }
            let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.contains(char::is_whitespace)) {
                return Err("its url must begin with http:// or https://".to_owned());
            }
            Ok(Reach::Url {
                url,
                headers: pairs(row, "headers")?,
            })
        }
        (Some(_), Some(_)) => Err("it has a command and a url; give one of them".to_owned()),
        _ => Err("it needs a command, with args, or a url".to_owned()),
    }
}

fn text(row: &Map<String, Value>, field: &str) -> Result<Option<String>, String> {
    match row.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
        Some(_) => Err(format!("its {field} must be text")),
    }
}

fn texts(row: &Map<String, Value>, field: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("its {field} must be a list of texts");
    match row.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().filter(|text| !text.contains('\0')))
            .map(|text| text.map(str::to_owned).ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn pairs(row: &Map<String, Value>, field: &str) -> Result<BTreeMap<String, String>, String> {
    let wrong = || format!("its {field} must be an object from name to text");
    match row.get(field) {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(name, value)| match value.as_str() {
                Some(text) if !name.is_empty() && !name.contains(['=', '\0']) && !text.contains('\0') => {
                    Ok((name.clone(), text.to_owned()))
                }
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn switch(row: &Map<String, Value>, field: &str) -> Result<bool, String> {
    match row.get(field) {
        None | Some(Value::Null) => Ok(true),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(format!("its {field} must be true or false")),
    }
}

fn seconds(row: &Map<String, Value>, field: &str, most: u64) -> Result<Option<u64>, String> {
    match row.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().filter(|seconds| (1..=most).contains(seconds)) {
            Some(seconds) => Ok(Some(seconds)),
            None => Err(format!("its {field} must be a whole number from 1 to {most}")),
        },
    }
}

fn cut(name: &str) -> String {
    name.chars().take(2 * NAME).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_of(rows: &Value) -> Result<Vec<McpServer>, String> {
        super::read(rows.as_object().expect("an object"))
    }

    fn wrong(row: &Value) -> String {
        let said = read_of(&json!({ "s": row })).unwrap_err();
        said.replace("has a server that cannot be used, 's': ", "")
    }

    #[test]
    fn a_server_is_read_in_the_form_that_other_clients_have() {
        let rows = json!({
            "files": {"command": "npx", "args": ["-y", "server", "."], "env": {"TOKEN": "${TOKEN}"}},
            "far": {"type": "http", "url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer x"},
                "enabled": false, "tools": ["a"], "safe": ["a"], "timeoutSeconds": 5, "startSeconds": 600}
        });
        let [files, far] = &read_of(&rows).unwrap()[..] else {
            panic!("two servers")
        };
        assert_eq!(
            (files.name.as_str(), files.enabled, files.sandbox),
            ("files", true, true)
        );
        assert_eq!(
            (files.start_seconds, files.timeout_seconds, files.network),
            (10, None, true)
        );
        let Reach::Command {
            command,
            args,
            env,
            directory,
        } = &files.reach
        else {
            panic!("a command")
        };
        assert_eq!(
            (command.as_str(), args.len(), env["TOKEN"].as_str()),
            ("npx", 3, "${TOKEN}")
        );
        assert_eq!(
            (directory, &files.tools, &far.tools),
            (&None, &None, &Some(vec!["a".to_owned()]))
        );
        assert_eq!(
            (far.enabled, far.start_seconds, far.timeout_seconds),
            (false, 600, Some(5))
        );
        assert!(
            matches!(&far.reach, Reach::Url { url, headers } if url.ends_with("/mcp") && headers.len() == 1)
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_servers_name() {
        assert_eq!(
            read_of(&json!({"a__b": {"command": "x"}})).unwrap_err(),
            "has a server that cannot be used, 'a__b': its name must be a letter, then letters, digits, - and single _ \
             between them, at most 24 in all"
        );
        assert_eq!(wrong(&json!({})), "it needs a command, with args, or a url");
        assert_eq!(
            wrong(&json!({"command": " "})),
            "it needs a command, with args, or a url"
        );
        assert_eq!(wrong(&json!("x")), "it must be an object");
        assert_eq!(
            wrong(&json!({"command": "x", "url": "http://h"})),
            "it has a command and a url; give one of them"
        );
        assert_eq!(
            wrong(&json!({"url": "ftp://h"})),
            "its url must begin with http:// or https://"
        );
        assert_eq!(
            wrong(&json!({"url": "http://h", "env": {}})),
            "its env is for a command, and it has a url"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "arg": []})),
            "no field is called arg; did you mean args?"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "args": [1]})),
            "its args must be a list of texts"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "env": {"A": 1}})),
            "its env must be an object from name to text"
        );
        assert_eq!(
            wrong(&json!({"url": "http://h", "type": "sse"})),
            "its type sse is the old transport; wisp speaks stdio and http"
        );
        assert_eq!(
            wrong(&json!({"command": "x", "startSeconds": 601})),
            "its startSeconds must be a whole number from 1 to 600"
        );
    }

    #[test]
    fn a_name_has_exact_bounds() {
        assert_eq!(check_name(&"a".repeat(24)), Ok(()));
        assert!(check_name(&"a".repeat(25)).is_err());
        for name in ["", "1a", "a b", "a_", "a__b", "é", "a/b"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        assert_eq!((check_name("my-files_2"), check_name("A")), (Ok(()), Ok(())));
    }

    #[test]
    fn values_that_may_be_credentials_are_put_out_of_sight() {
        let rows = json!({"s": {"command": "x", "env": {"A": "secret"}}, "t": {"url": "http://h", "headers": {"B": "secret"}}});
        let hidden = hidden(&rows);
        assert!(!hidden.to_string().contains("secret"), "{hidden}");
        assert_eq!(hidden["s"]["env"]["A"], "(set)");
    }
}
