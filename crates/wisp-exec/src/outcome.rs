//! How a command ended, and what it printed.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::StreamOutput;
use crate::signals::signal_name;

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ended by itself, with this exit status.
    Exited {
        /// The status, 0 to 255.
        code: i32,
    },
    /// A signal ended it that wisp did not send.
    Signalled {
        /// The signal's number on this system.
        number: i32,
        /// The signal's name, `SIGSEGV`, where it has a common one.
        name: Option<&'static str>,
    },
    /// It ran more processes at a time than it may, and was ended.
    TooManyProcesses {
        /// The most it may run.
        most: u64,
    },
    /// Its time was over, and it was stopped.
    TimedOut {
        /// The time it had been given.
        after: Duration,
    },
    /// The person stopped it.
    Cancelled,
}

impl Ending {
    /// What a process's status says of one that nobody stopped.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(number) => Self::Signalled {
                number,
                name: signal_name(number),
            },
            None => Self::Exited {
                code: status.code().unwrap_or(-1),
            },
        }
    }

    /// Whether a signal ended it, as itself or as a shell tells it (exit status over 128).
    pub fn is_by_signal(self) -> bool {
        matches!(self, Self::Signalled { .. } | Self::Exited { code: 129.. })
    }

    /// Whether this is a success: exit status 0 and nothing else.
    pub fn is_success(self) -> bool {
        self == Self::Exited { code: 0 }
    }

    /// The number a shell would give for it: the exit status, or 128 and the signal's number. `None` when wisp stopped
    /// it.
    pub fn number(self) -> Option<i32> {
        match self {
            Self::Exited { code } => Some(code),
            Self::Signalled { number, .. } => Some(128 + number),
            Self::TooManyProcesses { .. } | Self::TimedOut { .. } | Self::Cancelled => None,
        }
    }
}

/// `exit status 3`, `killed by signal 9 (SIGKILL)`, `timed out after 5 s and was stopped`, `cancelled`.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exited { code } => write!(f, "exit status {code}"),
            Self::Signalled {
                number,
                name: Some(name),
            } => write!(f, "killed by signal {number} ({name})"),
            Self::Signalled { number, name: None } => write!(f, "killed by signal {number}"),
            Self::TooManyProcesses { most } => {
                write!(f, "ended: it ran more than {most} processes at a time")
            }
            Self::TimedOut { after } => {
                write!(f, "timed out after {} s and was stopped", after.as_secs_f64())
            }
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// A process the command left running when it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftBehind {
    /// Its process id.
    pub pid: i32,
    /// Its name, as the system shows it (15 bytes at most on Linux).
    pub name: String,
    /// The TCP ports it listened on.
    pub ports: Vec<u16>,
    /// Whether it is gone now. `false` when it would not be ended: another user's, or one that cannot be killed.
    pub ended: bool,
}

/// A file that a confined command made, that other programs run by themselves, and that was given another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disabled {
    /// The path it had.
    pub path: String,
    /// The path it has.
    pub now: String,
}

/// A command that is over.
#[derive(Debug)]
pub struct Outcome {
    /// Why it is over.
    pub ending: Ending,
    /// From its start until nothing of it was left.
    pub duration: Duration,
    /// What it printed on standard output.
    pub stdout: StreamOutput,
    /// What it printed on standard error.
    pub stderr: StreamOutput,
    /// Whether another process still held its output when it had ended: what that printed later is not kept.
    pub pipe_held: bool,
    /// The processes it left running, which were then ended: SIGTERM, and SIGKILL half a second later. Empty for most
    /// commands, and for one that was stopped when nothing of it ran on.
    pub left_behind: Vec<LeftBehind>,
    /// Whether it failed when one of its processes had about as much memory as it may have.
    pub out_of_memory: bool,
    /// The files it made that other programs run by themselves, which have another name now.
    pub disabled: Vec<Disabled>,
}
