//! The chain: each event holds the hash of the line before it, and a seal beside the file holds the hash of the
//! last.
//!
//! The chain alone cannot tell that the last line was changed or removed, since nothing follows it. The seal closes
//! that end: `<session>.seal` is one line of fixed length, written over in place after each event. Neither is
//! signed: who can rewrite the whole file and the seal can forge both. What they show is every change that was not
//! made with that intent and care.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

/// SHA-256 as 64 lower-case hex digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// Where a file ends: the number of its last event and the hash of that event's line. In a new file, 0 and the
/// hash of the session's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

/// The bytes of a seal: 16 hex digits, a space, 64 hex digits, a newline.
const SEAL_BYTES: usize = 16 + 1 + 64 + 1;

impl End {
    /// The end of a file without events.
    pub(crate) fn start(session: &str) -> Self {
        Self {
            seq: 0,
            hash: hash(session.as_bytes()),
        }
    }

    /// The seal as it stands in its file.
    fn line(&self) -> String {
        format!("{:016x} {}\n", self.seq, self.hash)
    }

    /// Writes the seal over the one before.
    pub(crate) fn seal(&self, file: &File) -> io::Result<()> {
        file.write_all_at(self.line().as_bytes(), 0)
    }

    /// Reads a seal; `None` when it is empty, longer, or not one to the byte.
    pub(crate) fn sealed(file: &File) -> Option<Self> {
        let mut bytes = [0; SEAL_BYTES];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let (seq, hash) = text.strip_suffix('\n')?.split_once(' ')?;
        let seq = u64::from_str_radix(seq, 16).ok()?;
        let hash = hash.to_owned();
        let end = Self { seq, hash };
        let exact = end.line() == text && file.metadata().ok()?.len() == SEAL_BYTES as u64;
        exact.then_some(end)
    }
}
