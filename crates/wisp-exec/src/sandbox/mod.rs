//! The sandbox: what a command can do, whatever its line says.
//!
//! A command that is to be confined is not started by wisp itself. wisp starts its own program again as a helper
//! (`wisp __sandbox serve`, [`helper`]), the launcher, once, and asks it for each command over a socket. The launcher forks
//! a supervisor, which confines a child of its own and has it execute the command: whatever the command leaves running
//! becomes the supervisor's child, in whatever session and with whatever environment, and ends with the call, or when
//! wisp is gone; should the supervisor be killed, the launcher ends it. Nothing is done between fork and exec in wisp
//! itself, which has threads; the helper has none.
//!
//! [`Sandbox`] says what is wanted. [`Reached`] says what this system has of it.

#[cfg(target_os = "linux")]
mod linux;
pub mod macos;
mod reached;
#[cfg(target_os = "linux")]
pub(crate) mod request;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

pub use reached::{NO_LANDLOCK, Reached};
pub use words::{Words, WordsError};

/// The first argument of the helper.
pub const HELPER: &str = "__sandbox";

/// The helper's only word when it is to wait for commands to start, which come over its standard input.
#[cfg(target_os = "linux")]
pub(crate) const SERVE: &str = "serve";

/// The helper's only word when it is to try whether namespaces can be made.
const TRY: &str = "try-namespaces";

/// How a command is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The program that is the helper: wisp's own.
    pub helper: PathBuf,
    /// What it may reach; `None` for everything: it is only supervised.
    pub confinement: Option<Confinement>,
    /// What it may use up.
    pub limits: Limits,
}

/// What a command may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Reading or writing.
    pub profile: Profile,
    /// The newest version of Landlock that is asked of the kernel; [`NO_LANDLOCK`] for none.
    pub landlock: u8,
    /// Whether namespaces are made: for read-only places within writable ones, and for a network of its own.
    pub namespaces: bool,
    /// Whether it may use the network. Ignored by [`Profile::Read`], which never does.
    pub network: bool,
    /// Files and directories that are not read; existing and absolute, links followed.
    pub hidden: Vec<PathBuf>,
    /// Directories whose content may change. Ignored by [`Profile::Read`].
    pub writable: Vec<PathBuf>,
    /// Files and directories within the writable ones that stay as they are. Needs namespaces.
    pub read_only: Vec<PathBuf>,
}

/// The two kinds of confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Nothing is written but a temporary directory that is the command's alone and gone with it; no network.
    Read,
    /// The writable directories are written.
    Write,
}

impl Profile {
    /// The profile in a word, for the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What a command may use up; 0 for as much as there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes of memory of one process.
    pub memory: u64,
    /// Bytes of a file that is written.
    pub file: u64,
    /// Processes it may run at a time.
    pub processes: u64,
}

impl Sandbox {
    /// The words that start `argv` under this sandbox: on Linux those of the launcher's request, elsewhere a program.
    pub(crate) fn wrap(&self, argv: Vec<OsString>) -> Vec<OsString> {
        let mut words = if cfg!(target_os = "macos") {
            self.of_macos()
        } else {
            let mut words = words::of(self);
            words.push("--".into());
            words
        };
        words.extend(argv);
        words
    }

    /// The system's own program there, with the profile as its argument.
    fn of_macos(&self) -> Vec<OsString> {
        let profile = self.confinement.as_ref().map(macos::profile);
        let words = profile.map(|profile| ["/usr/bin/sandbox-exec".into(), "-p".into(), profile.into()]);
        words.into_iter().flatten().collect()
    }
}

impl Limits {
    /// The smaller of each.
    #[must_use]
    pub fn least(self, other: &Self) -> Self {
        let least = |one: u64, other: u64| match (one, other) {
            (0, limit) | (limit, 0) => limit,
            (one, other) => one.min(other),
        };
        Self {
            memory: least(self.memory, other.memory),
            file: least(self.file, other.file),
            processes: least(self.processes, other.processes),
        }
    }
}

/// Bytes of memory this machine has; 0 when that is not known.
pub fn memory() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let info = rustix::system::sysinfo();
        u64::from(info.mem_unit) * info.totalram
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Whether this program is its own helper: its `main` asked [`helper`] first.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Runs as the helper when this program was started as one: before anything else in `main`, while there is one thread.
/// `None` when it was not.
pub fn helper() -> Option<ExitCode> {
    ASKED.store(true, Ordering::Relaxed);
    let mut args = std::env::args_os().skip(1);
    if args.next()? != HELPER {
        return None;
    }
    Some(run(&args.collect::<Vec<_>>()))
}

/// This program as the helper, when it can be one. On Linux it is the program that runs, also after an update has put
/// another in its place.
pub fn own_helper() -> Option<PathBuf> {
    let asked = ASKED.load(Ordering::Relaxed);
    let path = if cfg!(target_os = "linux") {
        Some(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe().ok()
    };
    path.filter(|_| asked)
}

#[cfg(target_os = "linux")]
fn run(args: &[OsString]) -> ExitCode {
    match args {
        [word] if word == SERVE => linux::serve(),
        [word] if word == TRY => ExitCode::from(u8::from(!linux::try_namespaces())),
        _ => ExitCode::from(64),
    }
}

/// Elsewhere the system's own program confines.
#[cfg(not(target_os = "linux"))]
fn run(_: &[OsString]) -> ExitCode {
    ExitCode::from(64)
}
