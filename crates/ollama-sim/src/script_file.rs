//! Script files: the same steps as JSON, for the program.

use serde::Deserialize;

use crate::chunker::{Chunker, Dressing};
use crate::model::Model;
use crate::profile::Profile;
use crate::script::{CutAt, End, Event, Foreign, Loss, Match, Reply, Script, Step};

/// Why a script file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFileError {
    /// It is not the JSON it should be; the text names the place.
    #[error("not a script: {0}")]
    Json(#[from] serde_json::Error),
    /// No such release.
    #[error("no profile is called {0:?}")]
    Profile(String),
}

/// A script file, read.
#[derive(Debug)]
pub struct ScriptFile {
    /// The release to imitate, when the file says.
    pub profile: Option<Profile>,
    /// The models, when the file has any.
    pub models: Vec<Model>,
    /// How streams are cut.
    pub chunker: Chunker,
    /// What is done to their lines.
    pub dressing: Dressing,
    /// The steps.
    pub script: Script,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    models: Vec<Model>,
    #[serde(default)]
    chunker: Chunker,
    #[serde(default)]
    dressing: Dressing,
    steps: Vec<FileStep>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct FileStep {
    expect: Vec<Match>,
    reply: Vec<Event>,
    end: End,
    cut: Option<(CutAt, Loss)>,
    foreign: Option<Foreign>,
    after_done: String,
    whenever: bool,
    repeat: bool,
}

impl From<FileStep> for Step {
    fn from(step: FileStep) -> Self {
        let reply = Reply {
            events: step.reply,
            end: step.end,
            cut: step.cut,
            foreign: step.foreign,
            after_done: step.after_done,
        };
        Self {
            expect: step.expect,
            reply,
            whenever: step.whenever || step.repeat,
            repeat: step.repeat,
        }
    }
}

impl ScriptFile {
    /// Reads a script file's text.
    pub fn parse(text: &str) -> Result<Self, ScriptFileError> {
        let file: File = serde_json::from_str(text)?;
        let profile = match file.profile {
            Some(name) => Some(Profile::named(&name).ok_or(ScriptFileError::Profile(name))?),
            None => None,
        };
        let models = file.models.into_iter().map(|m| Model {
            name: crate::full_name(&m.name),
            ..m
        });
        let script = file
            .steps
            .into_iter()
            .fold(Script::new(), |script, step| script.step(step.into()));
        Ok(Self {
            profile,
            models: models.collect(),
            chunker: file.chunker,
            dressing: file.dressing,
            script,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_steps() {
        let text = r#"{
            "profile": "0.32.15-native",
            "models": [{"name": "small", "context_length": 4096}],
            "chunker": {"bytes": 3},
            "steps": [
                {"expect": [{"last_role": "user"}, "no_tools"],
                 "reply": [{"thinking": "hm"}, {"content": "yes"}, {"silence_ms": 5},
                           {"call": {"name": "run", "arguments": {"a": 1}}}, "crash"],
                 "cut": [{"line": 2}, "reset"]},
                {"repeat": true, "reply": [{"content": "again"}], "end": "length"}
            ]
        }"#;
        let file = ScriptFile::parse(text).unwrap();
        assert_eq!(file.profile.unwrap().name, "0.32.15-native");
        assert_eq!(file.models[0].name, "small:latest");
        assert_eq!(file.chunker, Chunker::Bytes(3));
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        assert!(ScriptFile::parse(r#"{"steps": [{"replies": []}]}"#).is_err());
        let unknown = ScriptFile::parse(r#"{"profile": "9.9", "steps": []}"#);
        assert_eq!(unknown.unwrap_err().to_string(), "no profile is called \"9.9\"");
    }
}
