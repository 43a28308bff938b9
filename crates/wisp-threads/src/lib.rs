//! Saved conversations: where they are, which may be opened, and how one is replaced as it grows.
//!
//! A conversation is a pair of files under `transcripts/`: `NAME.store` holds the record, `NAME.json` the part
//! the model still sees, as a second copy. A save writes both beside their targets, syncs both, and only then puts
//! the store in place and after it the transcript, so that a crash at any byte leaves the last complete save to be
//! read. What has left the context never changes again: it is appended to a third file, `NAME.past`, of which the
//! store names the bytes that are its own, and leaves memory, so that a turn costs the same however long the
//! conversation is. `NAME.lock` says which process has the conversation open; the lock itself is the system's, so a process that
//! was killed leaves nothing that blocks the next one.
//!
//! A conversation the person named is kept until they delete it. One they did not name is kept under its audit
//! session, so that `--resume` without a name goes on where they left.

mod damage;
mod folder;
mod lock;
mod overview;
pub mod sweep;
mod thread;

use std::path::PathBuf;

use wisp_context::LoadError;
use wisp_host::FileError;

pub use folder::{Folder, Listed};
pub use lock::Lock;
pub use overview::{Overview, age};
pub use sweep::{Sweep, SweepReport};
pub use thread::{Resumed, Thread, open};

/// The most characters of a name.
pub const NAME_CHARS: usize = 64;

/// Whether and under what name a conversation is saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saving {
    /// Whether it is saved at all: a single question is not.
    pub on: bool,
    /// The name to save it under; none for an unnamed one.
    pub name: Option<String>,
    /// The saved conversation to go on with.
    pub resume: Option<Resume>,
}

/// Which saved conversation to go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// The one saved last.
    Last,
    /// The one saved last of those that were held in this directory.
    LastOf(PathBuf),
    /// The one whose name is, or begins with, this.
    Named(String),
}

/// Why a conversation cannot be saved under a name, or not be resumed.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// A name that no file is given.
    #[error("{name:?} is no name for a conversation: {why}")]
    Name {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nothing is saved under this name.
    #[error("no conversation is saved as {name}{near}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// `; did you mean …?`, or nothing.
        near: String,
    },
    /// There is no last conversation.
    #[error("no conversation is saved yet")]
    NothingSaved,
    /// There is none of this directory.
    #[error("no conversation of {} is saved yet", .0.display())]
    NothingHere(PathBuf),
    /// More than one begins so.
    #[error("{name} is the beginning of several conversations: {among}")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Their names.
        among: String,
    },
    /// A new conversation would take the place of a saved one.
    #[error("a conversation is saved as {name} already")]
    Exists {
        /// The name.
        name: String,
    },
    /// Another process has it open.
    #[error("the conversation {name} is open in another wisp{by}")]
    Held {
        /// The name.
        name: String,
        /// ` (process 1234)`, or nothing when it does not say.
        by: String,
    },
    /// Its files cannot be read back.
    #[error("transcript '{name}' cannot be resumed: {why}")]
    Unreadable {
        /// The name.
        name: String,
        /// Why.
        why: LoadError,
    },
    /// What left the context cannot be read back.
    #[error("what has left the context cannot be read back: {name}.past is damaged")]
    PastUnreadable {
        /// The conversation's name.
        name: String,
    },
    /// The system refused an operation.
    #[error(transparent)]
    File(#[from] FileError),
}

impl SavedError {
    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Name { .. } => "letters, digits, - _ and . make a name".to_owned(),
            Self::NotFound { .. } => "wisp threads lists what is saved".to_owned(),
            Self::NothingHere(_) => {
                "wisp threads lists those of other directories; --resume NAME continues one".to_owned()
            }
            Self::Ambiguous { .. } => "give more of its name".to_owned(),
            Self::NothingSaved => "wisp chat starts a conversation".to_owned(),
            Self::Exists { name } => {
                format!("go on with it with --resume {name}, or choose another name")
            }
            Self::Held { name, .. } => {
                format!("leave it there first, or take a copy along with --resume {name} --save OTHER")
            }
            Self::Unreadable { .. } => {
                "its files are left as they are; wisp chat starts a new conversation".to_owned()
            }
            Self::PastUnreadable { name } => format!("--resume {name} reads what is left of it"),
            Self::File(error) if error.is_full() => "make room on the disk".to_owned(),
            Self::File(_) => return None,
        })
    }

    /// Whether it is the command line, or what it names, that is wrong.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

/// Characters of a conversation's first message in lists.
const FIRST_CHARS: usize = 80;

/// The first words of a message, for lists: of its first line that has any.
pub fn first_words(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().chars().take(FIRST_CHARS).collect()
}

/// A name as it may stand in a file's name.
pub fn checked(name: &str) -> Result<&str, SavedError> {
    let no = |why| {
        Err(SavedError::Name {
            name: name.to_owned(),
            why,
        })
    };
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        no("it is empty")
    } else if name.starts_with('.') || name.starts_with('-') {
        no("it begins with a full stop or a dash")
    } else if name.chars().count() > NAME_CHARS {
        no("it has more than 64 characters")
    } else if !name.chars().all(fine) {
        no("only letters, digits, - _ and . are taken")
    } else {
        Ok(name)
    }
}
