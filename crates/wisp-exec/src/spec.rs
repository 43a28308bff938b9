//! What to run, where, and how much of it to keep.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use crate::{Cancel, LiveSender, Sandbox};

/// Bytes of head and of tail kept in memory for a stream when nothing else is said.
pub const DEFAULT_BOUND: usize = 64 * 1024;

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A line for `/bin/sh -c`.
    Shell(OsString),
    /// A program, searched in `PATH` when it names no directory, and its arguments.
    Argv(Vec<OsString>),
}

/// One change to the environment the command inherits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvChange {
    /// A variable and its value.
    Set(OsString, OsString),
    /// A variable the command is not to see.
    Unset(OsString),
}

/// Where output goes that memory would drop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillTo {
    /// A private folder that exists. The spill files in it have no name: they are gone with the process, whatever
    /// ends it.
    pub dir: PathBuf,
    /// The most bytes kept of one stream. Past it, its first three quarters and its last quarter are.
    pub ceiling: u64,
}

/// A command to run. [`CommandSpec::shell`] and [`CommandSpec::argv`] fill in the usual; the fields are then set as
/// needed.
#[derive(Debug)]
pub struct CommandSpec {
    /// What is executed.
    pub program: Program,
    /// How it is confined; `None` when it is not, and nothing supervises it.
    pub sandbox: Option<Sandbox>,
    /// Where it runs; `None` for where wisp does.
    pub dir: Option<PathBuf>,
    /// Changes to the inherited environment, made after wisp's own ([`QUIET_ENVIRONMENT`](crate::QUIET_ENVIRONMENT)).
    pub env: Vec<EnvChange>,
    /// How long it may run; `None` for as long as it likes.
    pub timeout: Option<Duration>,
    /// Bytes of head, and again of tail, kept in memory for each stream: up to twice this is held whole.
    pub bound: usize,
    /// Where the rest goes; `None` to count it and drop it.
    pub spill: Option<SpillTo>,
    /// Stops it.
    pub cancel: Cancel,
    /// Is told what it prints while it prints.
    pub live: Option<LiveSender>,
}

impl CommandSpec {
    /// A line for `/bin/sh -c`, without a timeout, keeping [`DEFAULT_BOUND`] and spilling nowhere.
    pub fn shell(line: impl AsRef<OsStr>) -> Self {
        Self::of(Program::Shell(line.as_ref().to_owned()))
    }

    /// A program and its arguments, otherwise as [`CommandSpec::shell`].
    pub fn argv<S: AsRef<OsStr>>(argv: impl IntoIterator<Item = S>) -> Self {
        let argv = argv.into_iter().map(|word| word.as_ref().to_owned());
        Self::of(Program::Argv(argv.collect()))
    }

    fn of(program: Program) -> Self {
        Self {
            program,
            sandbox: None,
            dir: None,
            env: Vec::new(),
            timeout: None,
            bound: DEFAULT_BOUND,
            spill: None,
            cancel: Cancel::new(),
            live: None,
        }
    }

    /// The words to execute: the sandbox's, then the program's.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let words = self.argv_itself();
        match &self.sandbox {
            Some(sandbox) if !words.is_empty() => sandbox.wrap(words),
            _ => words,
        }
    }

    /// The program and its arguments, without a sandbox.
    pub(crate) fn argv_itself(&self) -> Vec<OsString> {
        match &self.program {
            Program::Shell(line) => vec!["/bin/sh".into(), "-c".into(), line.clone()],
            Program::Argv(argv) => argv.clone(),
        }
    }
}
