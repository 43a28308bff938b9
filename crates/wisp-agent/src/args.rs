//! The arguments of a conversation, for every face that has a command line: one definition, so that a person finds the
//! same flags under the same names everywhere.

use std::path::PathBuf;

use clap::Args;
use wisp_host::Env;

use crate::saved::Resume;
use crate::{Selection, Setup};

/// Which model, with which tools.
#[derive(Debug, Clone, Default, Args)]
pub struct Talk {
    /// The model, as `ollama list` names it
    #[arg(long, short)]
    pub model: Option<String>,
    /// Run what would need your leave without asking
    #[arg(long)]
    pub yes: bool,
    /// Offer the model no tools
    #[arg(long, conflicts_with = "tool")]
    pub no_tools: bool,
    /// Offer the model just this tool; may be given several times
    #[arg(long, value_name = "NAME")]
    pub tool: Vec<String>,
}

/// Whether a conversation is saved under a name, and which one is gone on with.
#[derive(Debug, Clone, Default, Args)]
pub struct Saved {
    /// Save the conversation under this name as it goes
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,
    /// Continue a saved conversation, by its name, its id or the beginning of one; without it, the last one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "continues")]
    pub resume: Option<String>,
    /// Continue the last conversation of this directory
    #[arg(long = "continue", short = 'c', id = "continues")]
    pub continues: bool,
}

impl Talk {
    /// The setup these arguments ask for, in an absolute directory; `face` is its name for the record.
    pub fn setup(&self, env: Env, directory: PathBuf, face: &'static str) -> Setup {
        let mut setup = Setup::new(env, directory, face);
        setup.model.clone_from(&self.model);
        setup.yes = self.yes;
        setup.tools = match (self.no_tools, self.tool.is_empty()) {
            (true, _) => Selection::None,
            (false, true) => Selection::All,
            (false, false) => Selection::Named(self.tool.clone()),
        };
        setup
    }
}

impl Saved {
    /// Adds to a setup what these arguments say.
    pub fn apply(&self, setup: &mut Setup) {
        setup.saving.name.clone_from(&self.save);
        setup.saving.resume = match self.resume.as_deref() {
            None if self.continues => Some(Resume::LastOf(setup.directory.clone())),
            None => None,
            Some("") => Some(Resume::Last),
            Some(name) => Some(Resume::Named(name.to_owned())),
        };
        setup.saving.on |= self.is_given();
    }

    /// Whether any of them is given.
    pub fn is_given(&self) -> bool {
        self.save.is_some() || self.resume.is_some() || self.continues
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Face {
        #[command(flatten)]
        talk: Talk,
        #[command(flatten)]
        saved: Saved,
    }

    fn setup(words: &[&str]) -> Setup {
        let face = Face::try_parse_from([&["face"], words].concat()).unwrap();
        let mut setup = face.talk.setup(Env::default(), "/".into(), "tui");
        face.saved.apply(&mut setup);
        setup
    }

    #[test]
    fn the_flags_become_the_setup() {
        let plain = setup(&[]);
        assert_eq!((plain.model, plain.yes), (None, false));
        assert!(plain.saving.on && plain.saving.name.is_none() && plain.saving.resume.is_none());
        let named = setup(&[
            "-m", "qwen3:8b", "--yes", "--tool", "memory", "--save", "a", "--resume", "b",
        ]);
        assert_eq!((named.model.as_deref(), named.yes), (Some("qwen3:8b"), true));
        assert!(matches!(named.tools, Selection::Named(tools) if tools == ["memory"]));
        assert_eq!(named.saving.name.as_deref(), Some("a"));
        assert!(matches!(named.saving.resume, Some(Resume::Named(name)) if name == "b"));
        assert!(matches!(setup(&["--resume"]).saving.resume, Some(Resume::Last)));
        assert!(matches!(setup(&["--no-tools"]).tools, Selection::None));
    }

    #[test]
    fn no_tools_and_one_tool_exclude_each_other() {
        assert!(Face::try_parse_from(["face", "--no-tools", "--tool", "memory"]).is_err());
    }
}
