//! What is known of models beyond what their server says: that the person agreed to where one runs, what a check of
//! it showed, what it turned out to refuse. One small file of the home, a row for each model of each server.
//!
//! A file that cannot be read holds nothing: the person is asked again, and a model is taken for what it says it is.
//! Nothing here ever allows more than was written down for this very model on this very server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wisp_host::{FileError, files};
use wisp_ollama::{Host, Show, host_name, same_model};

use super::call_style::CallStyle;

/// A file larger than this is not one of wisp's.
const MOST_BYTES: u64 = 4 << 20;
/// The form of the file. Another one is not read, and replaced by the next change.
const VERSION: u32 = 1;
/// What a check calls the ability to call tools.
pub const TOOL_CALLING: &str = "toolCalling";

/// Leave to send conversations to where a model runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// The machine, as the server named it.
    pub host: String,
    /// The day it was given, `2026-11-30`.
    pub date: String,
}

/// What a check of a model showed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The day, `2026-11-30`.
    pub date: String,
    /// What it can do: `toolCalling`, `guidedGeneration`.
    pub passed: Vec<String>,
    /// What it cannot.
    pub failed: Vec<String>,
    /// The way in which its calls work best: `native`, `text` or `guided`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// The digest of the file that was checked; another file under the same name is another model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Tokens read and written in a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<(f64, f64)>,
}

/// What is known of one model on one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Row {
    /// Leave to talk to it although it runs elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// What a check showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The digest of the file that refused to be asked to think.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses_thinking: Option<String>,
    /// How many tokens of a prompt the server reads in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
}

impl Row {
    /// The way of calling that a check of this very file found best.
    pub fn call_style(&self, digest: Option<&str>) -> Option<CallStyle> {
        let verified = self.verified.as_ref()?;
        let same = verified.digest.is_none() || verified.digest.as_deref() == digest;
        CallStyle::parse(verified.calls.as_deref().filter(|_| same)?)
    }

    /// Whether there is leave for just this machine.
    pub fn allows(&self, host: &str) -> bool {
        let named = self.consent.as_ref().map(|consent| host_name(&consent.host));
        named.is_some_and(|named| named == host_name(host))
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    version: u32,
    /// By the server's address, then by the model's name.
    servers: BTreeMap<String, BTreeMap<String, Row>>,
}

/// The rows of one home.
#[derive(Debug, Clone)]
pub struct Known {
    file: PathBuf,
}

impl Known {
    /// The rows in a file, which need not exist.
    pub fn at(file: PathBuf) -> Self {
        Self { file }
    }

    /// What is known of a model on a server; an empty row when nothing is.
    pub fn of(&self, server: &Host, model: &str) -> Row {
        let mut kept = read(&self.file);
        let rows = kept.servers.remove(&server.to_string()).unwrap_or_default();
        let found = rows.into_iter().find(|(name, _)| same_model(name, model));
        found.map(|(_, row)| row).unwrap_or_default()
    }

    /// Changes what is known of a model. Errors are those of writing the file; then nothing has changed.
    pub fn change(&self, server: &Host, model: &str, change: impl FnOnce(&mut Row)) -> Result<(), FileError> {
        let mut kept = read(&self.file);
        kept.version = VERSION;
        let rows = kept.servers.entry(server.to_string()).or_default();
        let name = rows.keys().find(|name| same_model(name, model)).cloned();
        let name = name.unwrap_or_else(|| model.to_owned());
        let mut row = rows.remove(&name).unwrap_or_default();
        change(&mut row);
        if row != Row::default() {
            rows.insert(name, row);
        }
        kept.servers.retain(|_, rows| !rows.is_empty());
        let bytes = serde_json::to_vec_pretty(&kept).expect("every key of the file is text");
        files::replace(&self.file, &bytes)
    }

    /// Whether a model can be asked to call tools: what it declares, else what a check showed, else what its template
    /// gives away.
    pub fn calls(&self, server: &Host, model: &str, show: &Show) -> bool {
        let declared = show.capabilities.is_some();
        let verified = if declared {
            None
        } else {
            self.of(server, model).verified
        };
        match verified {
            Some(verified) => verified.passed.iter().any(|name| name == TOOL_CALLING),
            None => show.can("tools").unwrap_or(false),
        }
    }
}

fn read(file: &Path) -> Kept {
    let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
    let text = if small { std::fs::read(file).ok() } else { None };
    let kept: Option<Kept> = text.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    kept.filter(|kept| kept.version == VERSION).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Consent, Known, TOOL_CALLING, Verified};
    use serde_json::json;
    use wisp_ollama::{Host, Show};

    fn host(text: &str) -> Host {
        Host::parse(text).expect("an address")
    }

    fn consent() -> Consent {
        Consent {
            host: "https://ollama.com:443".into(),
            date: "2026-11-30".into(),
        }
    }

    #[test]
    fn leave_is_for_one_model_of_one_server_to_one_machine() {
        let home = tempfile::tempdir().expect("a directory");
        let known = Known::at(home.path().join("models.json"));
        let here = host("127.0.0.1");
        known
            .change(&here, "big:cloud", |row| row.consent = Some(consent()))
            .expect("written");
        assert!(known.of(&here, "BIG:cloud").allows("ollama.com"));
        assert!(!known.of(&here, "big:cloud").allows("ollama.com.example.org"));
        assert!(!known.of(&here, "bigger:cloud").allows("ollama.com"));
        assert!(
            !known
                .of(&host("127.0.0.1:9999"), "big:cloud")
                .allows("ollama.com")
        );
        known
            .change(&here, "big:cloud", |row| row.consent = None)
            .expect("written");
        assert!(!known.of(&here, "big:cloud").allows("ollama.com"));
        let text = std::fs::read_to_string(home.path().join("models.json")).expect("there");
        assert!(!text.contains("big"), "an empty row is none: {text}");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a damaged file is what is tested")]
    fn a_file_that_is_none_allows_nothing() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("models.json");
        let known = Known::at(file.clone());
        let here = host("127.0.0.1");
        known
            .change(&here, "big", |row| row.consent = Some(consent()))
            .expect("written");
        let whole = std::fs::read_to_string(&file).expect("there");
        for text in [
            "",
            "[]",
            "{\"servers\": 1}",
            &whole.replace("\"version\": 1", "\"version\": 2"),
        ] {
            std::fs::write(&file, text).expect("written");
            assert!(!known.of(&here, "big").allows("ollama.com"), "{text}");
        }
    }

    #[test]
    fn a_check_counts_where_nothing_is_declared() {
        let home = tempfile::tempdir().expect("a directory");
        let known = Known::at(home.path().join("models.json"));
        let here = host("127.0.0.1");
        let show = |value| -> Show { serde_json::from_value(value).expect("reads") };
        let silent = show(json!({"template": "{{ .Tools }}"}));
        assert!(known.calls(&here, "sim", &silent), "the template tells");
        let mut verified = Verified::default();
        let tell = |verified: &Verified| {
            let verified = Some(verified.clone());
            known
                .change(&here, "sim", |row| row.verified = verified)
                .expect("written");
        };
        tell(&verified);
        assert!(!known.calls(&here, "sim", &silent), "the check knows better");
        let declares = show(json!({"capabilities": ["tools"]}));
        assert!(known.calls(&here, "sim", &declares), "what is declared counts");
        verified.passed.push(TOOL_CALLING.into());
        tell(&verified);
        assert!(known.calls(&here, "sim", &show(json!({}))));
    }
}
