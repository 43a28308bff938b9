//! What can go wrong with an audit file.

use std::io;
use std::path::{Path, PathBuf};

use wisp_host::FileError;

/// Why an audit file could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file or its folder could not be made or opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process writes this session's file.
    #[error("{} is being written by another wisp", path.display())]
    InUse {
        /// The session's file.
        path: PathBuf,
    },
    /// An event could not be written: it is not in the file.
    #[error("cannot write to {}: {source}", path.display())]
    Write {
        /// The session's file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The session's file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A key that is too easily guessed.
    #[error("{} is no key for the audit: it needs at least {} bytes; hint: head -c 32 /dev/urandom | base64 > {}", path.display(), crate::KEY_MIN, path.display())]
    ShortKey {
        /// The key's file.
        path: PathBuf,
    },
    /// A session's name that could not be a file's.
    #[error(
        "{name:?} is not the name of an audit session: 1 to 100 letters, digits, '.', '-' and '_', not starting with '.'"
    )]
    SessionName {
        /// The name that was given.
        name: String,
    },
}

impl AuditError {
    /// Whether the disk (or a quota) is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::File(error) => error.is_full(),
            Self::Write { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ),
            _ => false,
        }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Write { path, source }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Read { path, source }
    }
}
