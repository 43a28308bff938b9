//! The output store: one directory an audit session, one file an output, a record beside each.
//!
//! `<home>/output/<audit session>/<id>` holds the bytes as the tool produced them and `<id>.json` says what they
//! are. Directories are 0700 and files 0600, nothing is opened through a link, and no descriptor is inherited.
//! The record is written, by rename, after the file is complete, so a file without one is what a crash left and is
//! never served. Two processes share a home without knowing of each other: each writes only under its own
//! session and its own ids.

mod ceiling;
mod error;
mod keep;
mod record;
mod scan;
mod shelf;
mod sweep;

pub use error::StoreError;
pub use keep::{Draft, Kept};
pub use record::{About, Record};
pub use shelf::{Entry, Shelf};
pub use sweep::{DEFAULT_DAYS, REMOVAL_LIMIT, Survey, Sweep, SweepReport, Swept, TIME_LIMIT};

use std::path::{Path, PathBuf};

/// The ceiling of one output unless the person sets another (`context.outputCeiling`), in bytes.
pub const DEFAULT_CEILING: u64 = 16 << 20;

/// The highest ceiling a person may set, in bytes.
pub const MAX_CEILING: u64 = 4 << 30;

/// The fewest digits an output is found by.
pub const MIN_DIGITS: usize = 4;

/// The outputs of one audit session, open for keeping.
#[derive(Debug, Clone)]
pub struct Store {
    shelf: Shelf,
    session: String,
    ceiling: u64,
}

impl Store {
    /// The store of `session` under `home`. Makes nothing: directories appear with the first output kept. Fails
    /// when `session` is no safe file name.
    pub fn new(home: &Path, session: &str) -> Result<Self, StoreError> {
        if !is_safe_name(session) {
            return Err(StoreError::BadName(session.to_owned()));
        }
        Ok(Self {
            shelf: Shelf::new(home),
            session: session.to_owned(),
            ceiling: DEFAULT_CEILING,
        })
    }

    /// Sets the most bytes one output may take, at most [`MAX_CEILING`].
    #[must_use]
    pub fn with_ceiling(mut self, bytes: u64) -> Self {
        self.ceiling = bytes.min(MAX_CEILING);
        self
    }

    /// The most bytes one output may take.
    pub fn ceiling(&self) -> u64 {
        self.ceiling
    }

    /// The audit session whose outputs these are.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// All sessions' outputs.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Where this session's outputs are.
    pub fn dir(&self) -> PathBuf {
        self.shelf.dir_of(&self.session)
    }

    /// The stored output of this session whose id is `id` or starts with it.
    pub fn open(&self, id: &str) -> Result<Kept, StoreError> {
        self.shelf.open_in(&self.session, id)
    }
}

/// Whether `name` can stand as one component of a path and nothing else: letters, digits, `-`, `_` and inner
/// dots, at most 128 bytes.
pub(crate) fn is_safe_name(name: &str) -> bool {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && name.bytes().all(safe)
}

/// Whether `name` can be an output's id: a safe name without a dot, so that no id ends in `.json`.
pub(crate) fn is_safe_id(name: &str) -> bool {
    is_safe_name(name) && !name.contains('.')
}
