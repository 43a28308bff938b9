//! Where each thing wisp keeps is, under its home.

use std::path::{Path, PathBuf};

use wisp_host::{Env, files};

use crate::error::ConfigError;

/// The files and directories under wisp's home. Making the value touches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    home: PathBuf,
}

impl Paths {
    /// The paths under a home.
    pub fn under(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// The paths under the home the environment names, which must be absolute: a home that is another in each directory
    /// would lose what was allowed and recorded in the one before.
    pub fn of(env: &Env, _cwd: &Path) -> Result<Self, ConfigError> {
        let Some(home) = env.wisp_home() else {
            let unread = ["WISP_HOME", "HOME"]
                .into_iter()
                .find(|name| env.is_not_text(name));
            return Err(unread.map_or(ConfigError::NoHome, ConfigError::HomeNotText));
        };
        if home.is_relative() {
            let variable = if env.get("WISP_HOME").is_some() {
                "WISP_HOME"
            } else {
                "HOME"
            };
            return Err(ConfigError::HomeNotAbsolute { variable, path: home });
        }
        Ok(Self::under(home))
    }

    /// Makes the home and sees that it can be written to: private, the person's own, on a disk with room for a
    /// file. Commands that only read do not call this and so never make a home.
    pub fn prepare(&self) -> Result<(), ConfigError> {
        files::private_dir(&self.home).map_err(ConfigError::Home)?;
        let probe = files::Staged::beside(&self.home.join("probe"));
        probe.map(drop).map_err(ConfigError::Home)
    }

    /// The home itself.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Settings.
    pub fn config(&self) -> PathBuf {
        self.home.join("config.json")
    }

    /// One file an audit session.
    pub fn audit(&self) -> PathBuf {
        self.home.join("audit")
    }

    /// One directory an audit session, with the outputs kept in it.
    pub fn output(&self) -> PathBuf {
        self.home.join("output")
    }

    /// Saved conversations.
    pub fn transcripts(&self) -> PathBuf {
        self.home.join("transcripts")
    }

    /// Contexts saved to be looked at.
    pub fn contexts(&self) -> PathBuf {
        self.home.join("context")
    }

    /// What was typed in chat.
    pub fn history(&self) -> PathBuf {
        self.home.join("history")
    }

    /// Approvals for a project or for always.
    pub fn approvals(&self) -> PathBuf {
        self.home.join("approvals.json")
    }

    /// Permanent facts.
    pub fn facts(&self) -> PathBuf {
        self.home.join("facts.json")
    }

    /// Questions waiting to be answered from another face.
    pub fn pending(&self) -> PathBuf {
        self.home.join("pending")
    }

    /// What was learned of how many bytes a model's tokens have.
    pub fn estimates(&self) -> PathBuf {
        self.home.join("estimates.json")
    }

    /// What is known of models beyond what their server says: leave to talk to one elsewhere, what a check showed.
    pub fn models(&self) -> PathBuf {
        self.home.join("models.json")
    }

    /// The contents of `AGENTS.md` files that were agreed to.
    pub fn agents(&self) -> PathBuf {
        self.home.join("agents.json")
    }

    /// Diagnostics.
    pub fn logs(&self) -> PathBuf {
        self.home.join("logs")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes the homes wisp meets")]

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn the_environment_names_the_home() {
        let cwd = Path::new("/work");
        let of = |pairs: &[(&str, &str)]| Paths::of(&env(pairs), cwd).map(|p| p.config());
        assert_eq!(of(&[("HOME", "/h")]).unwrap(), Path::new("/h/.wisp/config.json"));
        assert_eq!(
            of(&[("HOME", "/h"), ("WISP_HOME", "/w")]).unwrap(),
            Path::new("/w/config.json")
        );
        for (pairs, said) in [
            (
                [("HOME", "/h"), ("WISP_HOME", "w")],
                "WISP_HOME is w, which is not absolute",
            ),
            (
                [("HOME", "../h"), ("OTHER", "")],
                "HOME is ../h/.wisp, which is not absolute",
            ),
        ] {
            let error = of(&pairs).unwrap_err();
            assert!(error.to_string().starts_with(said), "{error}");
            assert!(error.hint().contains("an absolute path"));
        }
        assert!(matches!(of(&[]), Err(ConfigError::NoHome)));
    }

    #[test]
    fn a_home_that_is_a_file_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::write(&home, "").unwrap();
        let said = Paths::under(&home).prepare().unwrap_err();
        assert!(said.to_string().contains(&home.display().to_string()), "{said}");
        assert!(matches!(said, ConfigError::Home(_)));
    }

    #[test]
    fn preparing_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::under(dir.path().join("a/b"));
        paths.prepare().unwrap();
        assert_eq!(std::fs::read_dir(paths.home()).unwrap().count(), 0);
    }
}
