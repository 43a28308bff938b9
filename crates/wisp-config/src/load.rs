//! The configuration as it is in force: the file over the defaults.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::ConfigError;
use crate::locate::{Place, members};
use crate::nearest::nearest;
use crate::setting::{Kind, Setting};
use crate::table::{SETTINGS, setting};

/// The longest configuration that is read, in bytes.
pub const MAX_FILE: u64 = 1024 * 1024;

/// A configuration that was read and checked.
///
/// ```
/// use std::time::Duration;
/// use wisp_config::Config;
/// let config = Config::from_text("/h/config.json".as_ref(), "{\"commandTimeoutSeconds\": 5}").unwrap();
/// assert_eq!(config.command_timeout(), Some(Duration::from_secs(5)));
/// assert_eq!(config.shown_output_lines(), 10);
/// ```
#[derive(Clone, PartialEq)]
pub struct Config {
    path: PathBuf,
    exists: bool,
    /// The file as it was read, with keys wisp does not know, in its order.
    pub(crate) file: Map<String, Value>,
    /// Values by name, checked; only those the file sets.
    values: BTreeMap<&'static str, Value>,
    warnings: Vec<String>,
}

/// Without the file's text, which may hold a secret.
impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let set: Vec<&str> = self.values.keys().copied().collect();
        f.debug_struct("Config")
            .field("path", &self.path)
            .field("set", &set)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// The configuration without a file: every setting at its default.
    pub fn defaults(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            exists: false,
            file: Map::new(),
            values: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// Reads the file at `path`. No file is no error. A link is followed: it is the person's own file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let (config, wrong) = Self::load_to_correct(path)?;
        wrong.into_iter().next().map_or(Ok(config), Err)
    }

    /// Reads the file at `path` to correct it: a setting with a value that it does not take is as if it were not there,
    /// and is told of beside the rest, in the table's order.
    pub fn load_to_correct(path: &Path) -> Result<(Self, Vec<ConfigError>), ConfigError> {
        let unreadable = |source| ConfigError::Unreadable {
            path: path.to_owned(),
            source,
        };
        match read(path).map_err(unreadable)? {
            None => Ok((Self::defaults(path), Vec::new())),
            Some(bytes) => Self::of_text(path, &text(path, bytes)?),
        }
    }

    /// Checks a text as the content of `path`.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let (config, wrong) = Self::of_text(path, text)?;
        wrong.into_iter().next().map_or(Ok(config), Err)
    }

    /// A text as the content of `path`, with what is wrong about single settings.
    pub(crate) fn of_text(path: &Path, text: &str) -> Result<(Self, Vec<ConfigError>), ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = parse(path, text)?;
        let mut config = Self {
            exists: true,
            file,
            ..Self::defaults(path)
        };
        let places = members(text);
        let wrong = SETTINGS.iter().filter_map(|row| config.take(row, &places).err());
        let wrong = wrong.collect();
        config.warnings = warnings(&places);
        Ok((config, wrong))
    }

    fn take(&mut self, row: &'static Setting, places: &[(String, Place)]) -> Result<(), ConfigError> {
        let value = match row.name {
            WAYS => ways(&self.file),
            name => lookup(&self.file, name).filter(|value| !value.is_null()).cloned(),
        };
        let Some(value) = value else { return Ok(()) };
        row.check(&value).map_err(|why| ConfigError::WrongValue {
            path: self.path.clone(),
            place: place_of(row.name, places),
            key: row.name.to_owned(),
            why,
        })?;
        self.values.insert(row.name, value);
        Ok(())
    }

    /// The file this was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is there.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// What the person should know about the file: keys wisp does not know, members written twice.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The value in force: the file's, else the default, else `None`. An unknown name is `None`. A secret that is set
    /// is `"(set)"`, so that whatever prints settings cannot print one.
    pub fn get(&self, name: &str) -> Option<Value> {
        let row = setting(name)?;
        let value = self.raw(name)?;
        Some(row.kind.shown(&value))
    }

    /// The value in force, also of a secret.
    pub(crate) fn raw(&self, name: &str) -> Option<Value> {
        let row = setting(name)?;
        self.values.get(row.name).cloned().or_else(|| row.default_value())
    }

    /// Puts a value in force, without a word in the file.
    pub(crate) fn put(&mut self, name: &'static str, value: Value) {
        self.values.insert(name, value);
    }

    /// Whether the file sets it.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Everything in force as one JSON object in the table's order, secrets as `"(set)"`, no value as null.
    pub fn effective(&self) -> Value {
        let mut all = Map::new();
        for row in SETTINGS {
            let value = self.get(row.name).unwrap_or(Value::Null);
            insert(&mut all, row.name, value);
        }
        Value::Object(all)
    }
}

/// The file's bytes; `None` when there is none. Anything but a regular file is refused without being opened, so
/// that a FIFO does not hang the start.
fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let meta = match fs::metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if !meta.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if meta.len() > MAX_FILE {
        return Err(std::io::Error::other(format!(
            "it is longer than {MAX_FILE} bytes"
        )));
    }
    let mut file = fs::File::open(path)?;
    wisp_host::files::trusted(&file, path).map_err(std::io::Error::other)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// The file's text; where it is none, the place of the first byte that is not.
fn text(path: &Path, bytes: Vec<u8>) -> Result<String, ConfigError> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&e.as_bytes()[..at]);
        let line = before.rsplit('\n').next().unwrap_or_default();
        ConfigError::NotJson {
            path: path.to_owned(),
            place: Place {
                line: before.matches('\n').count() + 1,
                column: line.chars().count() + 1,
            },
            why: format!("the byte 0x{:02x} is not UTF-8", e.as_bytes()[at]),
        }
    })
}

fn parse(path: &Path, text: &str) -> Result<Map<String, Value>, ConfigError> {
    let wrong = |place, why| ConfigError::NotJson {
        path: path.to_owned(),
        place,
        why,
    };
    match serde_json::from_str(text) {
        Ok(Value::Object(file)) => Ok(file),
        Ok(_) => Err(wrong(
            Place { line: 1, column: 1 },
            "the file must be an object: { … }".to_owned(),
        )),
        Err(e) => {
            let why = e.to_string();
            let why = why.split(" at line ").next().unwrap_or_default().to_owned();
            let place = Place {
                line: e.line().max(1),
                column: e.column().max(1),
            };
            Err(wrong(place, why))
        }
    }
}

/// The setting whose entries can also be written as `models.NAME.calls`.
pub(crate) const WAYS: &str = "models.calls";

/// A member by its dotted name.
pub(crate) fn lookup<'a>(file: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => file.get(name),
        Some((first, rest)) => lookup(file.get(first)?.as_object()?, rest),
    }
}

/// Puts a value at a dotted name, making the objects on the way; a member in the way that is no object is replaced.
pub(crate) fn insert(file: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            file.insert(name.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = file.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn place_of(name: &str, places: &[(String, Place)]) -> Place {
    let found = places.iter().rev().find(|(path, _)| path == name);
    found.map_or(Place { line: 1, column: 1 }, |(_, place)| *place)
}

/// Unknown members, each once (not again for what stands inside it), and members written twice.
fn warnings(places: &[(String, Place)]) -> Vec<String> {
    let mut said = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    for (at, (path, place)) in places.iter().enumerate() {
        let Place { line, column } = *place;
        if places[..at].iter().any(|(earlier, _)| earlier == path) {
            said.push(format!(
                "line {line}, column {column}: {path} is written twice; the last one counts"
            ));
        }
        if is_known(path) || of_model(path, places) || unknown.iter().any(|outer| is_under(outer, path)) {
            continue;
        }
        unknown.push(path);
        let meant = nearest(path, SETTINGS.iter().map(|row| row.name));
        let meant = meant
            .map(|name| format!("; did you mean {name}?"))
            .unwrap_or_default();
        said.push(format!(
            "line {line}, column {column}: no setting is called {path}{meant}"
        ));
    }
    said
}

/// Whether a path is a setting, holds some, or stands inside one whose value is an object. A key that starts with
/// `$` or `_` is the person's own remark.
fn is_known(path: &str) -> bool {
    let remark = path
        .rsplit('.')
        .next()
        .is_some_and(|name| name.starts_with(['$', '_']));
    remark
        || SETTINGS.iter().any(|row| {
            row.name == path
                || is_under(path, row.name)
                || (matches!(row.kind, Kind::Map | Kind::MapOf(_) | Kind::Servers | Kind::Hooks)
                    && is_under(row.name, path))
        })
}

/// Whether a path is `models.NAME.calls`, the other way to write an entry of `models.calls`, or holds one.
fn of_model(path: &str, places: &[(String, Place)]) -> bool {
    fn model(path: &str) -> Option<&str> {
        path.strip_suffix(".calls")
            .filter(|holder| is_under("models", holder))
    }
    model(path).is_some() || places.iter().any(|(other, _)| model(other) == Some(path))
}

/// The ways to call that a file sets, as `models.calls` has them: its own entries, then those of `models.NAME.calls`.
fn ways(file: &Map<String, Value>) -> Option<Value> {
    let models = file.get("models")?.as_object()?;
    let named = models.iter().filter(|(name, _)| *name != "calls");
    let named = named.filter_map(|(name, of)| Some((name.clone(), of.as_object()?.get("calls")?.clone())));
    let named: Map<String, Value> = named.collect();
    match models.get("calls") {
        Some(Value::Object(own)) => Some(own.clone().into_iter().chain(named).collect::<Map<_, _>>().into()),
        Some(wrong) if !wrong.is_null() => Some(wrong.clone()),
        _ => (!named.is_empty()).then(|| named.into()),
    }
}

/// Whether `inner` names a member within the object `outer`.
fn is_under(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn load(text: &str) -> Result<Config, ConfigError> {
        Config::from_text(Path::new("/h/config.json"), text)
    }

    #[test]
    fn how_a_model_calls_is_set_by_its_name_in_either_form() {
        let text = r#"{"models": {"calls": {"a:1b": "text"}, "qwen2.5:1.5b": {"calls": "guided"}}}"#;
        let config = load(text).unwrap();
        assert!(config.warnings().is_empty(), "{:?}", config.warnings());
        assert_eq!(
            config.calls(),
            [
                ("a:1b".to_owned(), "text".to_owned()),
                ("qwen2.5:1.5b".to_owned(), "guided".to_owned())
            ]
            .into()
        );
        let wrong = load(r#"{"models": {"qwen": {"calls": "magic"}}}"#).unwrap_err();
        assert!(wrong.to_string().contains("native, text or guided"), "{wrong}");
        assert_eq!(
            load(r#"{"models": {"disable": []}}"#).unwrap().warnings().len(),
            1
        );
    }

    #[test]
    fn a_wrong_value_is_named_with_its_place_and_what_it_takes() {
        let e = load("{\n  \"approval\": {\n    \"threshold\": \"sometimes\"\n  }\n}").unwrap_err();
        assert_eq!(
            e.to_string(),
            "/h/config.json:3:5: approval.threshold must be safe, moderate, dangerous or never, not \"sometimes\""
        );
        assert_eq!(
            e.hint(),
            "correct it, or take it out: wisp config unset approval.threshold"
        );
        assert!(e.is_usage());
    }

    #[test]
    fn what_is_not_json_says_where() {
        let e = load("{\n  \"model\": \"a\",\n}").unwrap_err();
        assert_eq!(
            e.to_string(),
            "/h/config.json:3:1: not valid JSON: trailing comma"
        );
        let e = load("[]").unwrap_err();
        assert_eq!(
            e.to_string(),
            "/h/config.json:1:1: not valid JSON: the file must be an object: { … }"
        );
        assert!(load("").is_err());
    }

    #[test]
    fn unknown_keys_are_kept_and_said_with_the_nearest_name() {
        let config =
            load("{\"modle\": \"x\", \"aprovals\": {\"a\": 1}, \"_note\": 1, \"audit\": {\"dais\": 2}}")
                .unwrap();
        assert_eq!(
            config.warnings(),
            [
                "line 1, column 2: no setting is called modle; did you mean model?",
                "line 1, column 16: no setting is called aprovals",
                "line 1, column 60: no setting is called audit.dais; did you mean audit.days?",
            ]
        );
        assert_eq!(config.file["modle"], json!("x"));
    }

    #[test]
    fn a_member_written_twice_is_said() {
        let config = load("{\"theme\": \"dark\", \"theme\": \"light\"}").unwrap();
        assert_eq!(config.get("theme"), Some(json!("light")));
        assert_eq!(
            config.warnings(),
            ["line 1, column 19: theme is written twice; the last one counts"]
        );
    }

    #[test]
    fn the_file_goes_over_the_defaults_and_null_is_unset() {
        let config = load("{\"audit\": {\"days\": 7}, \"theme\": null}").unwrap();
        assert_eq!(config.get("audit.days"), Some(json!(7)));
        assert_eq!(config.get("audit.enabled"), Some(json!(true)));
        assert_eq!(config.get("theme"), Some(json!("auto")));
        assert!(config.is_set("audit.days") && !config.is_set("theme"));
        assert_eq!(config.get("model"), None);
        assert_eq!(config.get("nonsense"), None);
    }

    #[test]
    fn secrets_are_not_printed() {
        let config = load("{\"ollama\": {\"apiKey\": \"hunter2\"}}").unwrap();
        assert!(!config.effective().to_string().contains("hunter2"));
        assert_eq!(config.effective()["ollama"]["apiKey"], json!("(set)"));
        assert_eq!(config.get("ollama.apiKey"), Some(json!("(set)")));
        assert!(!format!("{config:?}").contains("hunter2"));
        assert_eq!(config.ollama_api_key().as_deref(), Some("hunter2"));
    }

    #[test]
    fn a_directory_or_a_missing_file() {
        let dir = tempfile::tempdir().unwrap();
        let e = Config::load(dir.path()).unwrap_err();
        assert!(e.to_string().ends_with("it is not a regular file"));
        assert!(!Config::load(&dir.path().join("none")).unwrap().exists());
    }
}
