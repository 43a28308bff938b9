//! What the sandbox is asked for, and what it can do here: the second wall behind what is judged.

use serde::{Deserialize, Serialize};

use crate::level::Level;

/// What a command is confined to while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// For what was judged safe: nothing is written, no network, no credential can be read.
    Read,
    /// For what was allowed: writes in the directory of the conversation, the temporary one and those of the settings.
    Write,
}

impl Profile {
    /// The profile of something that was judged so and may run: what only reads is held to it.
    pub fn of(level: Level) -> Self {
        match level {
            Level::Safe => Self::Read,
            Level::Moderate | Level::Dangerous => Self::Write,
        }
    }
}

/// What the sandbox of this machine can enforce, found out by the runner. The default is nothing, with which more is
/// asked about: what reads a whole directory, since a credential may be in it, and what runs programs of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Whether [`Profile::Read`] holds: a write, a connection and the read of a credential fail.
    pub read: bool,
    /// Whether [`Profile::Write`] holds: a write elsewhere, and of files within that run later, fails.
    pub write: bool,
}

impl Confinement {
    /// Both profiles hold.
    pub const FULL: Self = Self {
        read: true,
        write: true,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_safe_is_held_to_reading() {
        assert_eq!(Profile::of(Level::Safe), Profile::Read);
        assert_eq!(Profile::of(Level::Moderate), Profile::Write);
        assert_eq!(Profile::of(Level::Dangerous), Profile::Write);
    }
}
