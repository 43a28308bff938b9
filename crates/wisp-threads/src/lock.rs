//! Who has a saved conversation open: a lock of the system's on a file that says the process.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wisp_host::{FileError, files, process};

/// How long a lock of a process that is gone is waited for: a program it was just starting has the lock's descriptor
/// too, until it is started.
const GONE: Duration = Duration::from_secs(2);
/// How often it is tried again within that time.
const AGAIN: Duration = Duration::from_millis(5);

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
    /// Takes the lock at `path`, without waiting for a process that has it.
    pub fn take(path: &Path) -> Result<Taken, FileError> {
        let began = Instant::now();
        loop {
            let mut file = files::private_append(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let by = holder(path);
                    if by.is_none_or(process::exists) || began.elapsed() >= GONE {
                        return Ok(Taken::Theirs(by));
                    }
                    std::thread::sleep(AGAIN);
                    continue;
                }
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

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "tests lay out a folder and start a program"
    )]
    use std::process::{Command, Stdio};

    use super::*;

    /// A killed process leaves its lock to what it was starting, for as long as that takes.
    #[test]
    fn a_lock_that_only_a_program_being_started_holds_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work.lock");
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        writeln!(&file, "{}", gone.id()).unwrap();
        // Its standard input is the lock's descriptor, which it has until it ends.
        let mut starting = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::from(file))
            .spawn()
            .unwrap();
        assert!(File::open(&path).unwrap().try_lock().is_err(), "it is held");
        let ending = std::thread::spawn(move || {
            starting.kill().unwrap();
            starting.wait().unwrap();
        });
        assert!(matches!(Lock::take(&path).unwrap(), Taken::Ours(_)));
        ending.join().unwrap();
    }
}
