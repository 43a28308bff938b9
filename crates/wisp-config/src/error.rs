//! What can be wrong with a configuration or a home, each with what to do about it.

use std::path::PathBuf;

use wisp_host::FileError;

use crate::locate::Place;

/// What stopped the configuration from being used or changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is there and cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not JSON, or not an object.
    #[error("{}:{}:{}: not valid JSON: {why}", path.display(), place.line, place.column)]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where reading stopped.
        place: Place,
        /// What was found there.
        why: String,
    },
    /// A setting has a value it does not take.
    #[error("{}:{}:{}: {key} {why}", path.display(), place.line, place.column)]
    WrongValue {
        /// The file.
        path: PathBuf,
        /// Where the setting stands.
        place: Place,
        /// Its name.
        key: String,
        /// What is wrong, and what it takes.
        why: String,
    },
    /// `config set` got a value the setting does not take.
    #[error("{key} {why}")]
    Refused {
        /// The setting.
        key: String,
        /// What is wrong, and what it takes.
        why: String,
    },
    /// No setting has this name.
    #[error("no setting is called {key}")]
    Unknown {
        /// The name.
        key: String,
        /// The setting whose name is nearest.
        nearest: Option<&'static str>,
    },
    /// Neither `WISP_HOME` nor `HOME` says where wisp's files are.
    #[error("there is no home for wisp's files: neither WISP_HOME nor HOME is set")]
    NoHome,
    /// The variable that says where wisp's files are is not UTF-8.
    #[error("{0} is not UTF-8 text, so wisp's files cannot be named")]
    HomeNotText(&'static str),
    /// The variable that says where wisp's files are names another place in each directory.
    #[error("{variable} is {}, which is not absolute: wisp's files would be in another place in each directory", path.display())]
    HomeNotAbsolute {
        /// The variable.
        variable: &'static str,
        /// What it says.
        path: PathBuf,
    },
    /// wisp's home cannot be used.
    #[error("wisp's home cannot be used: {0}")]
    Home(#[source] FileError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] FileError),
}

impl ConfigError {
    /// What the person can do, in one sentence without a full stop.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { path, source } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                format!("check who owns {} and its permissions", path.display())
            }
            Self::Unreadable { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
                "set WISP_HOME to a directory".to_owned()
            }
            Self::Unreadable { path, .. } => {
                format!("move {} away to start from the defaults", path.display())
            }
            Self::NotJson { path, .. } => {
                format!(
                    "correct {}, or move it away to start from the defaults",
                    path.display()
                )
            }
            Self::WrongValue { key, .. } => format!("correct it, or take it out: wisp config unset {key}"),
            Self::Refused { key, .. } => format!("what it takes is listed by: wisp config get {key}"),
            Self::Unknown {
                nearest: Some(near), ..
            } => format!("did you mean {near}?"),
            Self::Unknown { nearest: None, .. } => "wisp config list names every setting".to_owned(),
            Self::NoHome => "set WISP_HOME to a directory".to_owned(),
            Self::HomeNotAbsolute { .. } => {
                "set WISP_HOME to an absolute path, which begins with /".to_owned()
            }
            Self::HomeNotText(_) => "set WISP_HOME to a directory whose path is UTF-8".to_owned(),
            Self::Home(_) | Self::Write(_) => {
                "make it a directory you can write to, or set WISP_HOME to another".to_owned()
            }
        }
    }

    /// Whether it is the person's input that is wrong (exit code 64) and not the machine (1).
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NotJson { .. } | Self::WrongValue { .. } | Self::Refused { .. } | Self::Unknown { .. }
        )
    }
}
