//! The environment of a command: inherited, and made quiet. Nobody sits at its terminal, since it has none, so what
//! would page, edit or ask is pointed at something that passes text through or fails at once.

use std::ffi::OsString;

use tokio::process::Command;
use wisp_host::Env;

use crate::{CommandSpec, EnvChange};

/// The variables every command finds, over what it inherits.
pub const QUIET_ENVIRONMENT: &[(&str, &str)] = &[
    // Programs that draw ask this first.
    ("TERM", "dumb"),
    // Pagers: `git log`, `man`, `systemctl`, `aws` print instead.
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", "cat"),
    // Editors: `git commit` without a message fails instead of waiting. vi starts even without a terminal, for ever.
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    // Questions: passwords, host keys, package configuration.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GCM_INTERACTIVE", "never"),
    ("GH_PROMPT_DISABLED", "1"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// The variable that marks a command's processes, also those that leave its session, so that they can be found and
/// ended. A wisp inside a wisp adds its own mark behind the outer one's.
pub const MARK: &str = "WISP_COMMAND";

/// What a command's environment has other than wisp's: the quiet variables, the caller's changes, the mark.
pub(crate) fn changes(spec: &CommandSpec, mark: &str) -> Vec<EnvChange> {
    let quiet = QUIET_ENVIRONMENT.iter();
    let mut changes: Vec<EnvChange> = quiet
        .map(|(name, value)| EnvChange::Set(name.into(), value.into()))
        .collect();
    changes.extend_from_slice(&spec.env);
    let outer = Env::of_process().get(MARK).map(|outer| format!("{outer}:{mark}"));
    let mark = outer.map_or_else(|| OsString::from(mark), OsString::from);
    changes.push(EnvChange::Set(MARK.into(), mark));
    changes
}

/// Makes these changes.
pub(crate) fn prepare(command: &mut Command, changes: Vec<EnvChange>) {
    for change in changes {
        match change {
            EnvChange::Set(name, value) => command.env(name, value),
            EnvChange::Unset(name) => command.env_remove(name),
        };
    }
}
