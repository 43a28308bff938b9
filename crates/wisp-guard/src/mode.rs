//! The mode of a conversation: how much is done without a question, beside the level at which one is asked.
//!
//! A mode never allows what the policy forbids, and never what is dangerous. What it allows without a question is only
//! what the sandbox confines, where it is a command.

use std::fmt;
use std::str::FromStr;

use crate::confine::Confinement;
use crate::gate::Request;
use crate::level::Level;

/// How much a conversation does without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What changes anything is refused, and nothing is asked.
    ReadOnly,
    /// What is at or above the threshold is asked about.
    #[default]
    Ask,
    /// As `ask`, and files of the directory are edited without a question.
    Edit,
    /// As `edit`, and commands that the sandbox confines run without one. What is dangerous is asked about.
    Auto,
}

/// What a mode makes of something that is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// As the threshold and the answers say.
    AsJudged,
    /// It is done without a question.
    Allowed,
    /// It is not done.
    Refused,
}

impl Mode {
    /// Every mode, in the order they are gone through.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::Edit, Self::Auto];

    /// Its name, as settings and commands have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Edit => "edit",
            Self::Auto => "auto",
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::ReadOnly => "nothing is changed: what is more than reading is refused",
            Self::Ask => "asks before what changes something",
            Self::Edit => "edits files of this directory without asking, asks before commands",
            Self::Auto => {
                "edits and runs what the sandbox confines without asking; asks before what is dangerous"
            }
        }
    }

    /// The mode after this one; after the last the first.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|mode| *mode == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    /// What it makes of a request of this level. `inside` is whether an edited file lies in the directory of the
    /// conversation; `held` is what the sandbox enforces here.
    pub fn rule(self, request: &Request, level: Level, inside: bool, held: Confinement) -> Ruling {
        let edit = matches!(request, Request::Edit { .. });
        let command = matches!(request, Request::Command { .. });
        match self {
            Self::ReadOnly if edit || level > Level::Safe => Ruling::Refused,
            Self::Edit | Self::Auto if level == Level::Dangerous => Ruling::AsJudged,
            Self::Edit | Self::Auto if edit && inside => Ruling::Allowed,
            Self::Auto if command && held.write => Ruling::Allowed,
            Self::ReadOnly | Self::Ask | Self::Edit | Self::Auto => Ruling::AsJudged,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        let named = |mode: &Self| mode.name() == text || (text == "readonly" && *mode == Self::ReadOnly);
        let found = Self::ALL.into_iter().find(named);
        found.ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// A text that names no mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no mode; the modes are read-only, ask, edit and auto")]
pub struct UnknownMode(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [Level; 3] = [Level::Safe, Level::Moderate, Level::Dangerous];

    fn rulings(mode: Mode, request: &Request, inside: bool, held: Confinement) -> [Ruling; 3] {
        LEVELS.map(|level| mode.rule(request, level, inside, held))
    }

    #[test]
    fn each_mode_rules_over_edits_and_commands_by_their_level() {
        use Ruling::{Allowed, AsJudged, Refused};
        let command = Request::Command {
            line: "make".to_owned(),
        };
        let edit = Request::Edit {
            path: "a".to_owned(),
            real: "/w/a".into(),
            mode: "write".to_owned(),
        };
        let none = Confinement::default();
        let full = Confinement::FULL;
        for (mode, request, inside, held, ruled) in [
            (
                Mode::ReadOnly,
                &command,
                false,
                full,
                [AsJudged, Refused, Refused],
            ),
            (Mode::ReadOnly, &edit, true, full, [Refused, Refused, Refused]),
            (Mode::Ask, &command, false, full, [AsJudged, AsJudged, AsJudged]),
            (Mode::Ask, &edit, true, full, [AsJudged, AsJudged, AsJudged]),
            (Mode::Edit, &command, false, full, [AsJudged, AsJudged, AsJudged]),
            (Mode::Edit, &edit, true, none, [Allowed, Allowed, AsJudged]),
            (Mode::Edit, &edit, false, full, [AsJudged, AsJudged, AsJudged]),
            (Mode::Auto, &command, false, full, [Allowed, Allowed, AsJudged]),
            // Without a sandbox nothing confines it.
            (Mode::Auto, &command, false, none, [AsJudged, AsJudged, AsJudged]),
            (Mode::Auto, &edit, true, none, [Allowed, Allowed, AsJudged]),
        ] {
            assert_eq!(
                rulings(mode, request, inside, held),
                ruled,
                "{mode} {request:?} {inside}"
            );
        }
    }

    #[test]
    fn modes_are_named_and_gone_through_in_a_circle() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        assert_eq!("yolo".parse::<Mode>(), Err(UnknownMode("yolo".to_owned())));
        assert_eq!(Mode::default().next(), Mode::Edit);
        assert_eq!(Mode::Auto.next(), Mode::ReadOnly);
    }
}
