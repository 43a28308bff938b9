//! The sandbox of a conversation's commands: which profile means what here, in this directory, with these settings.
//!
//! What confines is `wisp_exec::sandbox`. Here it is put together what a command may reach: the table of credentials
//! (`wisp_guard::credentials`) as it is found on this disk, the directories that are written, and the environment a
//! command gets.

mod environment;
mod hidden;
pub(crate) mod network;
mod places;
pub mod refused;
mod scan;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use wisp_exec::{Confinement, EnvChange, Limits, Profile, Reached, Sandbox};
use wisp_host::Env;

use hidden::Hiding;

/// Whether commands may use the network, as the settings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Not unless it is allowed for the command.
    Ask,
    /// Yes.
    On,
    /// No.
    Off,
}

/// The settings of the sandbox.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// Whether commands are confined.
    pub on: bool,
    /// Whether they may use the network.
    pub network: Network,
    /// Directories that are written beside the conversation's.
    pub writable: Vec<PathBuf>,
    /// Variables that commands get although they are shaped like credentials.
    pub pass: Vec<String>,
    /// What one command may use up.
    pub limits: Limits,
}

/// The variable that asks less of the kernel's Landlock than it has: a version, 0 for none. It is for trying what an
/// older kernel does.
const LANDLOCK: &str = "WISP_SANDBOX_LANDLOCK";

/// The variable that does without namespaces when it is `off`.
const NAMESPACES: &str = "WISP_SANDBOX_NAMESPACES";

/// The sandbox of a conversation.
pub struct Confining {
    options: SandboxOptions,
    /// The program that is the helper; none where there is none, and nothing is confined.
    helper: Option<PathBuf>,
    env: Env,
    /// wisp's own home.
    home: PathBuf,
    reached: OnceLock<Reached>,
    hiding: Mutex<Hiding>,
}

/// What is asked of the sandbox for a command.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The profile it was cleared for.
    pub profile: wisp_guard::Profile,
    /// The conversation's directory.
    pub directory: &'a Path,
    /// Where the command runs.
    pub runs_in: &'a Path,
    /// Whether the person let it use the network.
    pub network: bool,
}

/// What a command is started with.
pub struct Start {
    /// How it is confined; none when nothing confines or supervises it.
    pub sandbox: Option<Sandbox>,
    /// The changes to its environment.
    pub env: Vec<EnvChange>,
}

impl Confining {
    /// The sandbox by its settings. `helper` is wisp's own program.
    pub fn new(options: SandboxOptions, helper: Option<PathBuf>, env: Env, home: PathBuf) -> Self {
        Self {
            options,
            helper,
            env,
            home,
            reached: OnceLock::new(),
            hiding: Mutex::default(),
        }
    }

    /// Nothing is confined or supervised: for tests, whose program is no helper.
    pub fn none() -> Self {
        let options = SandboxOptions {
            on: false,
            network: Network::On,
            writable: Vec::new(),
            pass: Vec::new(),
            limits: Limits::default(),
        };
        Self::new(options, None, Env::default(), PathBuf::new())
    }

    /// What this system has of it, found out before the first command.
    pub fn reached(&self) -> Reached {
        *self.reached.get_or_init(|| {
            let found = self.helper.as_deref().map_or(Reached::NOTHING, Reached::look);
            self.asked_for(found)
        })
    }

    /// As much of what the system has as is asked for.
    fn asked_for(&self, mut reached: Reached) -> Reached {
        let most = self.env.get(LANDLOCK).and_then(|most| most.parse().ok());
        reached.landlock = reached.landlock.min(most.unwrap_or(u8::MAX));
        reached.namespaces &= self.env.get(NAMESPACES) != Some("off");
        reached
    }

    /// Whether the settings have it on.
    pub fn is_on(&self) -> bool {
        self.options.on
    }

    /// The sandbox in a few words, and what is missing of it, as it was found out (`doctor`).
    pub fn described(&self) -> (String, Vec<String>) {
        self.words_of(|| self.reached())
    }

    /// The same as it can be known without starting anything, for the beginning of a conversation.
    pub fn described_soon(&self) -> (String, Vec<String>) {
        let known = self.reached.get().copied();
        self.words_of(|| known.unwrap_or_else(|| self.asked_for(Reached::assumed())))
    }

    fn words_of(&self, reached: impl FnOnce() -> Reached) -> (String, Vec<String>) {
        if !self.options.on {
            let words = "off: commands may do whatever you may (sandbox.mode)";
            return (words.to_owned(), Vec::new());
        }
        let reached = reached();
        (reached.words(), reached.missing())
    }

    /// What the gate can rely on.
    pub fn holds(&self) -> wisp_guard::Confinement {
        let reached = self.reached();
        let on = self.options.on && reached.confines();
        wisp_guard::Confinement {
            read: on,
            write: on && (reached.namespaces || reached.sandbox_exec),
        }
    }

    /// Whether the network is a command's for the asking.
    pub fn asks_for_network(&self) -> bool {
        self.options.network == Network::Ask
    }

    /// What a cleared command is started with.
    pub fn start(&self, wanted: Wanted<'_>) -> Start {
        let profile = match wanted.profile {
            wisp_guard::Profile::Read => Profile::Read,
            wisp_guard::Profile::Write => Profile::Write,
        };
        let confines = self.options.on && self.reached().confines();
        let confinement = confines.then(|| self.confinement(profile, wanted));
        self.started(confinement, Some(profile))
    }

    /// What a command is started with that nothing confines: one the person typed, or let run outside.
    pub fn outside(&self) -> Start {
        self.started(None, None)
    }

    fn started(&self, confinement: Option<Confinement>, profile: Option<Profile>) -> Start {
        let mut limits = self.options.limits;
        if profile == Some(Profile::Read) && confinement.is_some() {
            limits = limits.least(&READING);
        }
        let sandbox = self.helper.as_ref().map(|helper| Sandbox {
            helper: helper.clone(),
            confinement,
            limits: if profile.is_some() {
                limits
            } else {
                Limits::default()
            },
        });
        Start {
            sandbox,
            env: environment::changes(&self.env, profile, &self.options.pass),
        }
    }

    fn confinement(&self, profile: Profile, wanted: Wanted<'_>) -> Confinement {
        let reached = self.reached();
        let home = self.env.get("HOME").map(PathBuf::from);
        let around = hidden::Around {
            directory: wanted.directory,
            runs_in: wanted.runs_in,
            home: home.as_deref(),
            wisp: &self.home,
            env: &self.env,
        };
        let (hidden, writable, read_only) = match profile {
            Profile::Read => {
                let mut hiding = self.hiding.lock().unwrap_or_else(PoisonError::into_inner);
                (hiding.reading(&around), Vec::new(), Vec::new())
            }
            Profile::Write => {
                let (writable, kept) = places::writable(&around, &self.options.writable);
                (Hiding::writing(&around), writable, kept)
            }
        };
        Confinement {
            profile,
            landlock: reached.landlock,
            namespaces: profile == Profile::Write && reached.namespaces,
            network: self.options.network == Network::On || (wanted.network && self.asks_for_network()),
            hidden,
            writable,
            read_only,
        }
    }
}

/// What a command that only reads may use up at most: nothing it does needs more.
const READING: Limits = Limits {
    memory: 2 << 30,
    file: 1 << 30,
    processes: 512,
};
