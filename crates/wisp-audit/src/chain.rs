//! The chain: each event holds the hash of the line before it, and a seal beside the file holds the hash of the
//! last.
//!
//! The chain alone cannot tell that the last line was changed or removed, since nothing follows it. The seal closes
//! that end: `<session>.seal` is one line of fixed length, written over in place after each event. Who can rewrite the
//! whole file and the seal can forge both, unless the seal has a code that a [`Key`] made. Without one, what they show is
//! every change that was not made with that intent and care.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};

use crate::Key;

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

/// The bytes of a seal without a key: 16 hex digits, a space, 64 hex digits, a newline.
const SEAL_BYTES: usize = 16 + 1 + 64 + 1;

/// What a key adds to them: a space and 64 hex digits.
const CODE_BYTES: usize = 1 + 64;

impl End {
    /// The end of a file without events.
    pub(crate) fn start(session: &str) -> Self {
        Self {
            seq: 0,
            hash: hash(session.as_bytes()),
        }
    }

    /// What a seal states.
    fn text(&self) -> String {
        format!("{:016x} {}", self.seq, self.hash)
    }
}

/// What is known of a file's end, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) end: End,
    /// The code that a key made of it.
    code: Option<String>,
}

impl Seal {
    /// The seal of a file by its session's name.
    pub(crate) fn of(end: &End, name: &str, key: Option<&Key>) -> Self {
        Self {
            end: end.clone(),
            code: key.map(|key| key.sign(name, &end.text())),
        }
    }

    /// Whether this key made it.
    pub(crate) fn is_of(&self, name: &str, key: &Key) -> bool {
        let code = self.code.as_deref();
        code.is_some_and(|code| key.vouches(name, &self.end.text(), code))
    }

    /// The seal as it stands in its file.
    pub(crate) fn line(&self) -> String {
        let code = self
            .code
            .as_ref()
            .map_or_else(String::new, |code| format!(" {code}"));
        format!("{}{code}\n", self.end.text())
    }

    /// Writes the seal over the one before. One of the same length is never seen half written.
    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        let line = self.line();
        file.write_all_at(line.as_bytes(), 0)?;
        if file.metadata()?.len() > line.len() as u64 {
            file.set_len(line.len() as u64)?;
        }
        Ok(())
    }

    /// Reads a seal; `None` when it is empty, longer, or not one to the byte.
    pub(crate) fn read(file: &File) -> Option<Self> {
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        if length != SEAL_BYTES && length != SEAL_BYTES + CODE_BYTES {
            return None;
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let mut words = text.strip_suffix('\n')?.split(' ');
        let seq = u64::from_str_radix(words.next()?, 16).ok()?;
        let hash = words.next()?.to_owned();
        let code = words.next().map(str::to_owned);
        let seal = Self {
            end: End { seq, hash },
            code,
        };
        (seal.line() == text).then_some(seal)
    }
}
