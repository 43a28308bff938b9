//! What stops an output from being stored or read back, in words a note can carry.

use std::io;
use std::path::{Path, PathBuf};

use wisp_host::FileError;

use crate::amount::grouped;

/// A failure of the output store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or directory of the store could not be made, written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A session or output id that is no safe file name.
    #[error("`{0}` is not an output id")]
    BadName(String),
    /// No stored output has this id.
    #[error("no stored output has the id {0}")]
    NotFound(String),
    /// Several outputs have an id that starts so.
    #[error("{prefix} is the start of several output ids: {}", matches.join(", "))]
    Ambiguous {
        /// The digits that were given.
        prefix: String,
        /// The ids that start with them.
        matches: Vec<String>,
    },
    /// Too few digits were given to find an output by.
    #[error("`{0}` is too short: an output id has at least {min} digits", min = super::MIN_DIGITS)]
    TooShort(String),
    /// The record beside an output cannot be read.
    #[error("the record {} cannot be read: {source}", path.display())]
    Record {
        /// The record's file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A stored file no longer has the size its record gives.
    #[error("the stored output {} has {} bytes, not the {} of its record", path.display(), grouped(*bytes), grouped(*recorded))]
    Changed {
        /// The output's file.
        path: PathBuf,
        /// Its size now.
        bytes: u64,
        /// The size in its record.
        recorded: u64,
    },
    /// A spilled stream could not be read while it was being stored.
    #[error("the command's output could not be read back: {0}")]
    Source(io::Error),
}

impl StoreError {
    /// Wraps a system error at `path`.
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File(FileError::io(what, path, source))
    }

    /// What the person can do about it, where something can be done.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BadName(_) | Self::NotFound(_) | Self::TooShort(_) => {
                Some("wisp outputs lists what is kept".to_owned())
            }
            Self::Ambiguous { .. } => Some("give more of the one that is meant".to_owned()),
            Self::Changed { .. } | Self::Record { .. } => {
                Some("the file was changed from outside; wisp outputs lists what is kept".to_owned())
            }
            Self::File(_) | Self::Source(_) => None,
        }
    }

    /// Why an output was not kept, for the note on its result: `the disk is full`, or the error itself.
    pub fn reason(&self) -> String {
        match self {
            Self::File(error) if error.is_full() => "the disk is full".to_owned(),
            Self::File(FileError::Io { source, .. })
                if source.kind() == io::ErrorKind::ReadOnlyFilesystem =>
            {
                "the disk is read-only".to_owned()
            }
            Self::File(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
                "wisp may not write to its home".to_owned()
            }
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_gives_the_reason_in_a_persons_words() {
        let failed = |kind| {
            StoreError::io(
                "write",
                Path::new("/home/me/.wisp/output/x"),
                io::Error::from(kind),
            )
            .reason()
        };
        assert_eq!(failed(io::ErrorKind::StorageFull), "the disk is full");
        assert_eq!(failed(io::ErrorKind::QuotaExceeded), "the disk is full");
        assert_eq!(failed(io::ErrorKind::ReadOnlyFilesystem), "the disk is read-only");
        assert_eq!(
            failed(io::ErrorKind::PermissionDenied),
            "wisp may not write to its home"
        );
        assert!(failed(io::ErrorKind::TimedOut).starts_with("cannot write /home/me/.wisp/output/x: "));
    }
}
