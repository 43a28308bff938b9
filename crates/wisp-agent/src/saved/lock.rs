//! Who has a saved conversation open: a lock of the system's on a file that says the process.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use wisp_host::{FileError, files};

/// A lock that is held. It ends when it is dropped or the process does, also by a kill.
#[derive(Debug)]
pub struct Lock {
    /// Kept open: the lock is this descriptor's.
    _file: File,
    path: PathBuf,
}

/// What came of asking for a lock.
#[derive(Debug)]
pub enum Taken {
    /// It is ours.
    Ours(Lock),
    /// Another process has it; which, when its file says so.
    Theirs(Option<u32>),
}

impl Lock {
    /// Takes the lock at `path`, without waiting.
    pub fn take(path: &Path) -> Result<Taken, FileError> {
        loop {
            let mut file = files::private_append(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Taken::Theirs(holder(path))),
                Err(TryLockError::Error(e)) => return Err(FileError::io("lock", path, e)),
            }
            // The holder before may have removed the file between our opening and our locking it.
            if !is_at(&file, path) {
                continue;
            }
            let written = file
                .set_len(0)
                .and_then(|()| writeln!(file, "{}", std::process::id()));
            // The number is for the message only: the lock holds without it, also on a full disk.
            drop(written);
            return Ok(Taken::Ours(Self {
                _file: file,
                path: path.to_owned(),
            }));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is still held, so that the file removed is ours.
        let _ = files::remove(&self.path);
    }
}

/// Whether an open file is the one that stands at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

/// The process a lock's file names.
fn holder(path: &Path) -> Option<u32> {
    let mut text = String::new();
    files::open_own(path)
        .ok()?
        .take(32)
        .read_to_string(&mut text)
        .ok()?;
    text.trim().parse().ok()
}
