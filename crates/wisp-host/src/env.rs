//! The environment, read through one door so that a test hands in its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variables a process was started with. Values that are not UTF-8 are left out and their names kept: no variable
/// wisp reads may hold one. A clone is the same variables, not a copy of them.
#[derive(Debug, Clone, Default)]
pub struct Env(Arc<Variables>);

#[derive(Debug, Default)]
struct Variables {
    text: BTreeMap<String, String>,
    /// The names of those whose value is not UTF-8.
    not_text: BTreeSet<String>,
}

impl Env {
    /// This process's own environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door to the environment"
    )]
    pub fn of_process() -> Self {
        let mut variables = Variables::default();
        for (name, value) in std::env::vars_os() {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => drop(variables.text.insert(name, value)),
                Err(_) => drop(variables.not_text.insert(name)),
            }
        }
        Self(Arc::new(variables))
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .text
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether a variable is set at all, even to nothing (`NO_COLOR` counts then).
    pub fn is_set(&self, name: &str) -> bool {
        self.0.text.contains_key(name) || self.is_not_text(name)
    }

    /// Whether a variable is set to something that is not UTF-8, so that [`Env::get`] does not give it.
    pub fn is_not_text(&self, name: &str) -> bool {
        self.0.not_text.contains(name)
    }

    /// The names of all variables, also of those whose values [`Env::get`] does not give.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.text.keys().chain(&self.0.not_text).map(String::as_str)
    }

    /// A directory as it is shown: the home directory as `~`.
    pub fn tilde(&self, directory: &Path) -> String {
        let home = self.get("HOME").map(Path::new);
        let home = home.filter(|home| *home != Path::new("/"));
        match home.and_then(|home| directory.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => directory.display().to_string(),
        }
    }

    /// Where wisp keeps its files: `WISP_HOME`, else `~/.wisp`. `None` when neither `WISP_HOME` nor `HOME` is set,
    /// or the one that counts is not UTF-8.
    pub fn wisp_home(&self) -> Option<PathBuf> {
        if self.is_not_text("WISP_HOME") {
            return None;
        }
        let own = self.get("WISP_HOME").map(PathBuf::from);
        own.or_else(|| self.get("HOME").map(|home| PathBuf::from(home).join(".wisp")))
    }
}

impl FromIterator<(String, String)> for Env {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(Arc::new(Variables {
            text: variables.into_iter().collect(),
            not_text: BTreeSet::new(),
        }))
    }
}
