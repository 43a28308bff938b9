//! The environment, read through one door so that a test hands in its own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The variables a process was started with. Values that are not UTF-8 are left out: no variable wisp reads may
/// hold one. A clone is the same variables, not a copy of them.
#[derive(Debug, Clone, Default)]
pub struct Env(Arc<BTreeMap<String, String>>);

impl Env {
    /// This process's own environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door to the environment"
    )]
    pub fn of_process() -> Self {
        let text =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        text.collect()
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether a variable is set at all, even to nothing (`NO_COLOR` counts then).
    pub fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Where wisp keeps its files: `WISP_HOME`, else `~/.wisp`. `None` when neither `WISP_HOME` nor `HOME` is set.
    pub fn wisp_home(&self) -> Option<PathBuf> {
        let own = self.get("WISP_HOME").map(PathBuf::from);
        own.or_else(|| self.get("HOME").map(|home| PathBuf::from(home).join(".wisp")))
    }
}

impl FromIterator<(String, String)> for Env {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(Arc::new(variables.into_iter().collect()))
    }
}
