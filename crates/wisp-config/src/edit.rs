//! `wisp config set` and `unset`: the file changed in one step, everything else in it kept.

use std::path::PathBuf;

use serde_json::{Map, Value};
use wisp_host::files;

use crate::error::ConfigError;
use crate::load::{Config, WAYS, insert, lookup};
use crate::nearest::nearest;
use crate::setting::Setting;
use crate::table::{SERVERS, SETTINGS, setting};

/// A change that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The setting.
    pub key: &'static str,
    /// What the file said before; `None` when it said nothing. A secret is `"(set)"`.
    pub old: Option<Value>,
    /// What it says now; `None` when it says nothing. A secret is `"(set)"`.
    pub new: Option<Value>,
    /// What the person should know about the change, when it makes wisp less careful.
    pub note: Option<&'static str>,
}

impl Config {
    /// Sets one setting from the words a person typed and writes the file; nothing is written when the setting or
    /// the value is wrong. What else is wrong in the file stays so, to be corrected one by one.
    pub fn set(&mut self, name: &str, words: &str) -> Result<Changed, ConfigError> {
        let mut file = self.file.clone();
        if let Some(model) = of_model(name) {
            let row = known(WAYS)?;
            let value = Value::from(words.trim());
            let entry = Map::from_iter([(model.to_owned(), value.clone())]);
            row.check(&entry.into()).map_err(|_| ConfigError::Refused {
                key: name.to_owned(),
                why: format!("must be native, text or guided, not {value}"),
            })?;
            set_way(&mut file, model, Some(value));
            return self.write(row, &file);
        }
        let row = known(name)?;
        let value = row.read(words).map_err(|why| ConfigError::Refused {
            key: name.to_owned(),
            why,
        })?;
        insert(&mut file, row.name, value);
        self.write(row, &file)
    }

    /// Adds an MCP server, or puts another in its place; with `None` takes it out.
    pub fn set_server(&mut self, name: &str, server: Option<Value>) -> Result<Changed, ConfigError> {
        let row = known(SERVERS)?;
        let mut file = self.file.clone();
        let mut rows = match lookup(&file, SERVERS) {
            Some(Value::Object(rows)) => rows.clone(),
            _ => Map::new(),
        };
        match server {
            Some(server) => {
                let entry = Map::from_iter([(name.to_owned(), server.clone())]);
                row.check(&entry.into()).map_err(|why| ConfigError::Refused {
                    key: SERVERS.to_owned(),
                    why,
                })?;
                rows.insert(name.to_owned(), server);
            }
            None => {
                rows.shift_remove(name);
            }
        }
        if rows.is_empty() {
            remove(&mut file, SERVERS);
        } else {
            insert(&mut file, SERVERS, Value::Object(rows));
        }
        self.write(row, &file)
    }

    /// Takes one setting out of the file, so that its default applies.
    pub fn unset(&mut self, name: &str) -> Result<Changed, ConfigError> {
        let mut file = self.file.clone();
        if let Some(model) = of_model(name) {
            set_way(&mut file, model, None);
            return self.write(known(WAYS)?, &file);
        }
        let row = known(name)?;
        remove(&mut file, row.name);
        self.write(row, &file)
    }

    fn write(&mut self, row: &'static Setting, file: &Map<String, Value>) -> Result<Changed, ConfigError> {
        let text = to_text(file);
        let (next, _) = Self::of_text(self.path(), &text)?;
        if let Some(home) = self.path().parent() {
            files::private_dir(home).map_err(ConfigError::Home)?;
        }
        let real = self.real_path();
        let written = Encoding::of(&std::fs::read(&real).unwrap_or_default()).bytes(&text);
        files::replace(&real, &written)?;
        let shown = |value: Option<&Value>| value.map(|value| row.kind.shown(value));
        let changed = Changed {
            key: row.name,
            old: shown(lookup(&self.file, row.name)),
            new: shown(lookup(file, row.name)),
            note: weakening(row.name, &next),
        };
        *self = next;
        Ok(changed)
    }

    /// The file itself where the configuration is a link to it, so that the link stays.
    fn real_path(&self) -> PathBuf {
        std::fs::canonicalize(self.path()).unwrap_or_else(|_| self.path().to_owned())
    }
}

/// How a file of text is written beside its text: what an editor of another system put there stays.
#[derive(Debug, Clone, Copy, Default)]
struct Encoding {
    /// It begins with a byte order mark.
    mark: bool,
    /// Its lines end in CR LF.
    crlf: bool,
}

impl Encoding {
    fn of(bytes: &[u8]) -> Self {
        let first = bytes.iter().position(|b| *b == b'\n').unwrap_or(0);
        Self {
            mark: bytes.starts_with(MARK),
            crlf: first > 0 && bytes[first - 1] == b'\r',
        }
    }

    /// The bytes of a text whose lines end in LF.
    fn bytes(self, text: &str) -> Vec<u8> {
        let mut bytes = if self.mark { MARK.to_vec() } else { Vec::new() };
        if self.crlf {
            bytes.extend_from_slice(text.replace('\n', "\r\n").as_bytes());
        } else {
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

fn known(name: &str) -> Result<&'static Setting, ConfigError> {
    setting(name).ok_or_else(|| ConfigError::Unknown {
        key: name.to_owned(),
        nearest: nearest(name, SETTINGS.iter().map(|row| row.name)),
    })
}

/// The model that `models.NAME.calls` names.
fn of_model(name: &str) -> Option<&str> {
    let model = name.strip_prefix("models.")?.strip_suffix(".calls")?;
    (!model.is_empty()).then_some(model)
}

/// Says in a file how a model makes calls, in `models.calls`; an entry in the other form goes.
fn set_way(file: &mut Map<String, Value>, model: &str, way: Option<Value>) {
    let models = file.entry("models").or_insert_with(|| Map::new().into());
    let Value::Object(models) = models else { return };
    if model != "calls" && models.get(model).is_some_and(Value::is_object) {
        models.shift_remove(model);
    }
    if !models.get("calls").is_some_and(Value::is_object) {
        models.shift_remove("calls");
    }
    if let Value::Object(ways) = models.entry("calls").or_insert_with(|| Map::new().into()) {
        match way {
            Some(way) => ways.insert(model.to_owned(), way),
            None => ways.shift_remove(model),
        };
        if ways.is_empty() {
            models.shift_remove("calls");
        }
    }
    if models.is_empty() {
        file.shift_remove("models");
    }
}

fn to_text(file: &Map<String, Value>) -> String {
    let pretty = serde_json::to_string_pretty(file).expect("a JSON object can be written");
    pretty + "\n"
}

/// Removes a member, and the objects that are empty without it.
fn remove(file: &mut Map<String, Value>, name: &str) {
    match name.split_once('.') {
        None => {
            file.shift_remove(name);
        }
        Some((first, rest)) => {
            let Some(Value::Object(inner)) = file.get_mut(first) else {
                return;
            };
            remove(inner, rest);
            if inner.is_empty() {
                file.shift_remove(first);
            }
        }
    }
}

fn weakening(name: &str, config: &Config) -> Option<&'static str> {
    match name {
        "approval.threshold" => match config.approval_threshold().as_str() {
            "never" => Some("no command is asked about any more; each is still judged and recorded"),
            "dangerous" => Some("commands of moderate risk run without a question"),
            _ => None,
        },
        "audit.enabled" if !config.audit() => {
            Some("nothing is recorded any more, and outputs that do not fit are not kept")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes the files wisp meets")]

    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn line_ends_and_the_byte_order_mark_stay_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        for (before, after) in [
            (
                &b"\xef\xbb\xbf{\r\n  \"model\": \"a\"\r\n}\r\n"[..],
                &b"\xef\xbb\xbf{\r\n  \"model\": \"b\"\r\n}\r\n"[..],
            ),
            (b"{\r\n\"model\": \"a\"}", b"{\r\n  \"model\": \"b\"\r\n}\r\n"),
            (b"\xef\xbb\xbf{}", b"\xef\xbb\xbf{\n  \"model\": \"b\"\n}\n"),
            (b"\n{}\r\n", b"{\n  \"model\": \"b\"\n}\n"),
        ] {
            fs::write(&path, before).unwrap();
            Config::load(&path).unwrap().set("model", "b").unwrap();
            assert_eq!(fs::read(&path).unwrap(), after);
        }
    }

    #[test]
    fn a_change_keeps_every_other_key_and_their_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        fs::write(
            &path,
            "{\"zebra\": 1, \"audit\": {\"mine\": [1], \"days\": 3}, \"model\": \"a\"}",
        )
        .unwrap();
        let mut config = Config::load(&path).unwrap();
        let changed = config.set("audit.days", "7").unwrap();
        assert_eq!(
            (changed.old, changed.new, changed.note),
            (Some(json!(3)), Some(json!(7)), None)
        );
        let text = fs::read_to_string(&path).unwrap();
        let expected = "{\n  \"zebra\": 1,\n  \"audit\": {\n    \"mine\": [\n      1\n    ],\n    \"days\": 7\n  },\n  \"model\": \"a\"\n}\n";
        assert_eq!(text, expected);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(config.audit_days(), 7);
    }

    #[test]
    fn what_is_wrong_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        let mut config = Config::load(&path).unwrap();
        let e = config.set("aproval.threshold", "never").unwrap_err();
        assert_eq!(
            (e.to_string().as_str(), e.hint().as_str()),
            (
                "no setting is called aproval.threshold",
                "did you mean approval.threshold?"
            )
        );
        let e = config.set("audit.days", "3651").unwrap_err();
        assert_eq!(
            e.to_string(),
            "audit.days must be a whole number from 0 to 3650, not 3651"
        );
        assert!(!path.exists());
    }

    #[test]
    fn unset_removes_the_objects_it_empties() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        let mut config = Config::load(&path).unwrap();
        config.set("notifications.enabled", "off").unwrap();
        assert!(!config.notifications());
        let changed = config.unset("notifications.enabled").unwrap();
        assert_eq!((changed.old, changed.new), (Some(json!(false)), None));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
    }

    #[test]
    fn a_linked_configuration_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("dotfiles.json"), dir.path().join("config.json"));
        fs::write(&real, "{}").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Config::load(&link).unwrap().set("model", "a:b").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Config::load(&real).unwrap().model(), Some("a:b".to_owned()));
    }

    #[test]
    fn being_less_careful_is_said_and_a_secret_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::load(&dir.path().join("config.json")).unwrap();
        assert!(config.set("approval.threshold", "never").unwrap().note.is_some());
        assert!(config.set("approval.threshold", "safe").unwrap().note.is_none());
        assert_eq!(
            config.set("ollama.apiKey", "hunter2").unwrap().new,
            Some(json!("(set)"))
        );
    }
}
