//! Commands of the person's that run at points of a conversation: rows of `hooks`, read and checked whole.
//!
//! The form is the one that other agents have, so that an entry can be copied: an event, groups with a `matcher` for the
//! tool, and in each group `hooks` with a `command` and a `timeout`.

use regex::Regex;
use serde_json::{Map, Value};

use crate::custom::known;

/// The points at which hooks run, by their names in the file.
pub const EVENTS: &[&str] = &["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"];

/// What other agents call wisp's tools: a matcher is held against these too.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("run_command", &["Bash", "shell"]),
    ("read_file", &["Read"]),
    ("edit_file", &["Edit", "Write", "MultiEdit", "apply_patch"]),
    ("find_files", &["Glob"]),
    ("search_text", &["Grep"]),
];

/// Seconds a hook may run unless it says otherwise, and at most.
const SECONDS: (u64, u64) = (60, 600);

/// One command.
#[derive(Debug, Clone)]
pub struct Hook {
    /// When: one of [`EVENTS`].
    pub event: String,
    /// For which tools; none for all.
    matcher: Option<Regex>,
    /// A line for `/bin/sh`.
    pub command: String,
    /// How long it may run, seconds.
    pub timeout_seconds: u64,
    /// Whether it is confined to the sandbox's write profile.
    pub sandbox: bool,
}

impl Hook {
    /// Whether it is for a tool.
    ///
    /// ```
    /// let rows = serde_json::json!({"PreToolUse": [{"matcher": "Bash|files__.*", "hooks": [{"command": "true"}]}]});
    /// let hooks = wisp_config::hooks::read(rows.as_object().unwrap()).unwrap();
    /// assert!(hooks[0].is_for("run_command") && hooks[0].is_for("files__read") && !hooks[0].is_for("edit_file"));
    /// ```
    pub fn is_for(&self, tool: &str) -> bool {
        let Some(matcher) = &self.matcher else { return true };
        let others = OTHER_NAMES.iter().find(|(own, _)| *own == tool);
        let others = others.map_or(&[][..], |(_, others)| others);
        matcher.is_match(tool)
            || others.iter().any(|other| matcher.is_match(other))
            || (tool.contains("__") && matcher.is_match(&format!("mcp__{tool}")))
    }
}

/// Reads the rows of `hooks`. The error says what is wrong, to follow the setting's name.
pub fn read(rows: &Map<String, Value>) -> Result<Vec<Hook>, String> {
    known(rows, EVENTS).map_err(|why| format!("is not understood: {why}"))?;
    let mut hooks = Vec::new();
    for (event, groups) in rows.iter().filter(|(event, _)| !event.starts_with(['_', '$'])) {
        let wrong = |why: String| format!("has a hook for {event} that cannot be used: {why}");
        let groups = groups
            .as_array()
            .ok_or_else(|| wrong("it must be a list".to_owned()))?;
        for one in groups {
            hooks.extend(group(event, one).map_err(wrong)?);
        }
    }
    Ok(hooks)
}

fn group(event: &str, row: &Value) -> Result<Vec<Hook>, String> {
    let row = row.as_object().ok_or("each entry must be an object")?;
    known(row, &["matcher", "hooks"])?;
    let matcher = match row.get("matcher") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.is_empty() || text == "*" => None,
        Some(Value::String(text)) => {
            let whole = Regex::new(&format!("^(?:{text})$"));
            Some(whole.map_err(|_| format!("its matcher {text:?} is no regular expression"))?)
        }
        Some(_) => return Err("its matcher must be text".to_owned()),
    };
    let hooks = row.get("hooks").and_then(Value::as_array);
    let hooks = hooks.ok_or("it needs hooks, a list of {\"type\": \"command\", \"command\": …}")?;
    hooks
        .iter()
        .map(|hook| {
            let hook = hook.as_object().ok_or("each of its hooks must be an object")?;
            one(event, matcher.clone(), hook)
        })
        .collect()
}

fn one(event: &str, matcher: Option<Regex>, hook: &Map<String, Value>) -> Result<Hook, String> {
    known(hook, &["type", "command", "timeout", "sandbox"])?;
    if hook.get("type").is_some_and(|kind| kind != "command") {
        return Err("its type must be command".to_owned());
    }
    let command = hook.get("command").and_then(Value::as_str);
    let command = command.filter(|line| !line.trim().is_empty() && !line.contains('\0'));
    let (usual, most) = SECONDS;
    Ok(Hook {
        event: event.to_owned(),
        matcher,
        command: command.ok_or("it needs a command")?.to_owned(),
        timeout_seconds: match hook.get("timeout") {
            None | Some(Value::Null) => usual,
            Some(value) => value
                .as_u64()
                .filter(|seconds| (1..=most).contains(seconds))
                .ok_or(format!(
                    "its timeout must be a whole number of seconds from 1 to {most}"
                ))?,
        },
        sandbox: match hook.get("sandbox") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(on)) => *on,
            Some(_) => return Err("its sandbox must be true or false".to_owned()),
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_of(rows: &Value) -> Result<Vec<Hook>, String> {
        super::read(rows.as_object().unwrap())
    }

    #[test]
    fn hooks_are_read_in_the_form_that_other_agents_have() {
        let hooks = read_of(&json!({
            "PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "fmt", "timeout": 600}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "a"}, {"command": "b", "sandbox": false}]}]
        }))
        .unwrap();
        let rows: Vec<_> = hooks
            .iter()
            .map(|h| (h.event.as_str(), h.command.as_str(), h.timeout_seconds, h.sandbox))
            .collect();
        assert_eq!(
            rows,
            [
                ("PostToolUse", "fmt", 600, true),
                ("Stop", "a", 60, true),
                ("Stop", "b", 60, false)
            ]
        );
        assert!(
            hooks[0].is_for("edit_file") && !hooks[0].is_for("run_command") && hooks[1].is_for("anything")
        );
    }

    #[test]
    fn a_matcher_is_for_the_whole_name_also_the_one_that_others_use() {
        let of = |matcher: &str, tool: &str| {
            let rows = json!({"PreToolUse": [{"matcher": matcher, "hooks": [{"command": "x"}]}]});
            read_of(&rows).unwrap()[0].is_for(tool)
        };
        assert!(
            of("", "x") && of("*", "x") && of("mcp__files__.*", "files__read") && of("Bash", "run_command")
        );
        assert!(!of("Bas", "run_command") && !of("file", "edit_file") && !of("mcp__.*", "read_file"));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_event() {
        let said = |rows: Value| read_of(&rows).unwrap_err();
        assert_eq!(
            said(json!({"PreTooluse": []})),
            "is not understood: no field is called PreTooluse; did you mean PreToolUse?"
        );
        let wrong = |group: Value| {
            said(json!({"Stop": [group]})).replace("has a hook for Stop that cannot be used: ", "")
        };
        assert_eq!(wrong(json!({"hooks": [{"command": " "}]})), "it needs a command");
        assert_eq!(
            wrong(json!({"matcher": "(", "hooks": []})),
            "its matcher \"(\" is no regular expression"
        );
        assert_eq!(
            wrong(json!({"hooks": [{"type": "prompt", "command": "x"}]})),
            "its type must be command"
        );
        assert_eq!(
            wrong(json!({"hooks": [{"command": "x", "timeout": 601}]})),
            "its timeout must be a whole number of seconds from 1 to 600"
        );
        assert_eq!(
            said(json!({"Stop": {}})),
            "has a hook for Stop that cannot be used: it must be a list"
        );
    }
}
