//! What a setting is: one row of the table, and the check of a value against it.

use serde_json::Value;

use crate::{custom, hooks, servers};

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Switch,
    /// Any text.
    Text,
    /// Text that is never printed.
    Secret,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `true`, `false` or one of these words.
    SwitchOr(&'static [&'static str]),
    /// A whole number within bounds, both included.
    Whole {
        /// The least.
        min: i64,
        /// The most.
        max: i64,
    },
    /// A number within bounds, both included.
    Number {
        /// The least.
        min: f64,
        /// The most.
        max: f64,
    },
    /// A list of texts.
    Texts,
    /// A list of regular expressions in the dialect of Rust's `regex` crate.
    Patterns,
    /// An object from name to text.
    Map,
    /// An object from name to one of these words.
    MapOf(&'static [&'static str]),
    /// A list of tools of the person's own: see [`crate::custom`].
    Tools,
    /// An object from event to hooks: see [`crate::hooks`].
    Hooks,
    /// An object from name to MCP server: see [`crate::servers`].
    Servers,
}

impl Kind {
    /// A value as it may be printed and recorded: of a secret and of what may hold one only that it is set.
    pub fn shown(self, value: &Value) -> Value {
        match self {
            Self::Secret => Value::from("(set)"),
            Self::Servers => servers::hidden(value),
            _ => value.clone(),
        }
    }
}

/// One setting: a row of [`crate::SETTINGS`].
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name, with a dot for each object it stands in.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Its default as JSON; empty when it has none.
    pub default: &'static str,
    /// What it does, in one sentence without a full stop, with the unit.
    pub about: &'static str,
}

impl Setting {
    /// The default; `None` when the setting has none.
    pub fn default_value(&self) -> Option<Value> {
        (!self.default.is_empty())
            .then(|| serde_json::from_str(self.default).expect("the table's defaults are read by a test"))
    }

    /// Whether a value from the file is one the setting takes. The error says what is wrong, to follow the name.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (self.kind, value) {
            (Kind::Switch | Kind::SwitchOr(_), Value::Bool(_))
            | (Kind::Text | Kind::Secret, Value::String(_)) => true,
            (Kind::Choice(words) | Kind::SwitchOr(words), Value::String(word)) => {
                words.contains(&word.as_str())
            }
            (Kind::Whole { min, max }, Value::Number(n)) => {
                n.as_i64().is_some_and(|n| (min..=max).contains(&n))
            }
            (Kind::Number { min, max }, Value::Number(n)) => {
                n.as_f64().is_some_and(|n| (min..=max).contains(&n))
            }
            (Kind::Texts, Value::Array(items)) => items.iter().all(Value::is_string),
            (Kind::Patterns, Value::Array(items)) => return check_patterns(items),
            (Kind::Tools, Value::Array(rows)) => return custom::read(rows).map(|_| ()),
            (Kind::Hooks, Value::Object(rows)) => return hooks::read(rows).map(|_| ()),
            (Kind::Servers, Value::Object(rows)) => return servers::read(rows).map(|_| ()),
            (Kind::Map, Value::Object(pairs)) => pairs.values().all(Value::is_string),
            (Kind::MapOf(words), Value::Object(pairs)) => {
                let one = |value: &Value| value.as_str().is_some_and(|word| words.contains(&word));
                pairs.values().all(one)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.wrong(value)) }
    }

    fn wrong(&self, value: &Value) -> String {
        let found = match (self.kind, value) {
            (Kind::Secret | Kind::Servers, _) => "what it is".to_owned(),
            (_, value) => shorten(&value.to_string()),
        };
        format!("must be {}, not {found}", self.allowed())
    }

    /// What the setting takes, in words.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Switch => "true or false".to_owned(),
            Kind::Text | Kind::Secret => "text".to_owned(),
            Kind::Choice(words) => one_of(words),
            Kind::SwitchOr(words) => format!("true, false, {}", one_of(words)),
            Kind::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Number { min, max } => format!("a number from {min} to {max}"),
            Kind::Texts => "a list of texts".to_owned(),
            Kind::Patterns => "a list of regular expressions".to_owned(),
            Kind::Map => "an object from name to text".to_owned(),
            Kind::MapOf(words) => format!("an object from name to {}", one_of(words)),
            Kind::Tools => "a list of tools".to_owned(),
            Kind::Servers => "an object from name to server".to_owned(),
            Kind::Hooks => "an object from event to hooks".to_owned(),
        }
    }

    /// Reads the words of `wisp config set`: `on`, `off`, `yes` and `no` for switches; a list as a JSON array or
    /// separated by commas. The value is checked.
    pub fn read(&self, words: &str) -> Result<Value, String> {
        let word = words.trim();
        let value = match self.kind {
            Kind::Switch | Kind::SwitchOr(_) => switch(word).unwrap_or_else(|| Value::from(word)),
            Kind::Text | Kind::Secret | Kind::Choice(_) => Value::from(word),
            Kind::Whole { .. } | Kind::Number { .. } => {
                serde_json::from_str(word).unwrap_or_else(|_| Value::from(word))
            }
            Kind::Texts | Kind::Patterns if word.starts_with('[') => json(word)?,
            Kind::Texts => word.split(',').map(str::trim).filter(|w| !w.is_empty()).collect(),
            // A comma is part of many patterns: several need a JSON array.
            Kind::Patterns => Value::from(vec![word]),
            Kind::Map | Kind::MapOf(_) | Kind::Tools | Kind::Servers | Kind::Hooks => json(word)?,
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Words that complete the value in a shell or in chat.
    pub fn completions(&self) -> Vec<&'static str> {
        match self.kind {
            Kind::Switch => vec!["true", "false"],
            Kind::Choice(words) => words.to_vec(),
            Kind::SwitchOr(words) => ["true", "false"]
                .into_iter()
                .chain(words.iter().copied())
                .collect(),
            _ => Vec::new(),
        }
    }
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("is not JSON: {e}"))
}

fn switch(word: &str) -> Option<Value> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" => Some(Value::Bool(true)),
        "false" | "off" | "no" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn check_patterns(items: &[Value]) -> Result<(), String> {
    for item in items {
        let pattern = item.as_str().ok_or_else(|| {
            format!(
                "must be a list of regular expressions, but has {}",
                shorten(&item.to_string())
            )
        })?;
        if let Err(e) = regex::Regex::new(pattern) {
            let why = e.to_string();
            let why = why.lines().last().unwrap_or_default().trim();
            return Err(format!(
                "has a pattern that cannot be read: {} ({})",
                shorten(pattern),
                why.trim_start_matches("error: ")
            ));
        }
    }
    Ok(())
}

/// `a, b or c`.
fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A value short enough for a message.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn setting(kind: Kind) -> Setting {
        Setting {
            name: "x",
            kind,
            default: "",
            about: "",
        }
    }

    #[test]
    fn bounds_are_exact() {
        let whole = setting(Kind::Whole { min: 0, max: 3650 });
        assert!(whole.check(&json!(0)).is_ok() && whole.check(&json!(3650)).is_ok());
        assert_eq!(
            whole.check(&json!(3651)).unwrap_err(),
            "must be a whole number from 0 to 3650, not 3651"
        );
        assert!(whole.check(&json!(-1)).is_err() && whole.check(&json!(1.5)).is_err());
        let share = setting(Kind::Number { min: 0.1, max: 0.8 });
        assert!(share.check(&json!(0.8)).is_ok() && share.check(&json!(0.81)).is_err());
    }

    #[test]
    fn words_typed_are_read_as_the_setting_needs_them() {
        assert_eq!(setting(Kind::Switch).read("Off"), Ok(json!(false)));
        assert_eq!(setting(Kind::SwitchOr(&["low"])).read("low"), Ok(json!("low")));
        assert_eq!(setting(Kind::Texts).read("a, b,"), Ok(json!(["a", "b"])));
        assert_eq!(setting(Kind::Texts).read("[\"a,b\"]"), Ok(json!(["a,b"])));
        assert_eq!(setting(Kind::Patterns).read("a{1,2}"), Ok(json!(["a{1,2}"])));
        assert_eq!(setting(Kind::Text).read(" 5 "), Ok(json!("5")));
        assert_eq!(
            setting(Kind::Choice(&["a", "b", "c"])).read("d"),
            Err("must be a, b or c, not \"d\"".to_owned())
        );
        assert_eq!(
            setting(Kind::Whole { min: 1, max: 2 }).read("x"),
            Err("must be a whole number from 1 to 2, not \"x\"".to_owned())
        );
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_named_and_a_secret_is_not() {
        let said = setting(Kind::Patterns).check(&json!(["ok", "("])).unwrap_err();
        assert_eq!(said, "has a pattern that cannot be read: ( (unclosed group)");
        assert!(
            !setting(Kind::Secret)
                .check(&json!(12345))
                .unwrap_err()
                .contains("12345")
        );
    }
}
