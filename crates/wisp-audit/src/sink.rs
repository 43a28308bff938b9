//! The file behind a log: locked for one writer, written an event at a time, and mended when it did not end whole.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wisp_host::faults::{self, Step};
use wisp_host::files::{self, Staged};

use crate::chain::{End, Seal};
use crate::index::{Index, index_of};
use crate::lines::{BLOCK, Backward};
use crate::{AuditError, Key, Record, SessionId, find, session};

/// An open session file.
#[derive(Debug)]
pub(crate) struct Sink {
    path: PathBuf,
    file: File,
    seal: File,
    /// The file's length, to which a failed write is taken back.
    len: u64,
    /// Set when a failed write could not be taken back: what stands at the end is not an event.
    torn: bool,
    index: Index,
    /// The session, and the key its seal is made with.
    name: String,
    key: Option<Key>,
}

/// What an opened file ends with, and what must be said about it.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The last whole event.
    pub(crate) end: End,
    /// What was found that should not be; `None` when the file ended as it was left.
    pub(crate) damage: Option<Damage>,
}

/// How a file's end differs from what was written.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// Bytes after the last whole event, with the newline that now ends them.
    pub(crate) bytes: u64,
    /// SHA-256 of those bytes.
    pub(crate) sha256: String,
    /// The end that the seal states; `None` when there is no seal.
    pub(crate) sealed: Option<End>,
}

impl Sink {
    /// Makes the folders that session files lie in, where they are missing.
    pub(crate) fn prepare(home: &Path) -> Result<(), AuditError> {
        files::private_dir(home)?;
        Ok(files::private_dir(&session::folder(home))?)
    }

    /// Opens or makes the session's file and takes the lock. Errors: [`AuditError::InUse`] when another process has
    /// it, [`AuditError::File`] when it cannot be made.
    pub(crate) fn open(
        home: &Path,
        session: &SessionId,
        key: Option<Key>,
    ) -> Result<(Self, Opened), AuditError> {
        Self::prepare(home)?;
        let path = session::file_of(home, session);
        let file = files::private_append(&path)?;
        lock(&file, &path)?;
        let seal_path = session::seal_of(&path);
        let sealed = files::open_own(&seal_path)
            .ok()
            .and_then(|seal| Seal::read(&seal))
            .map(|seal| seal.end);
        let len = file.metadata().map_err(|e| AuditError::read(&path, e))?.len();
        let end = last_whole(&file, len, session.as_str()).map_err(|e| AuditError::read(&path, e))?;
        // The old seal is what the damage is told from: it stands until an event is written behind it.
        let stated = sealed.clone().or_else(|| (len == 0).then(|| end.0.clone()));
        let stated = stated.map(|end| Seal::of(&end, session.as_str(), key.as_ref()));
        let (seal, index) = (new_seal(&seal_path, stated)?, Index::open(&path));
        let mut sink = Self {
            path,
            file,
            seal,
            len,
            torn: false,
            index,
            name: session.as_str().to_owned(),
            key,
        };
        let opened = sink.mend(end, sealed)?;
        Ok((sink, opened))
    }

    /// Compares the end found with the seal, and ends with a newline what stands after the last whole event.
    fn mend(&mut self, (end, from): (End, u64), sealed: Option<End>) -> Result<Opened, AuditError> {
        let as_left =
            from == self.len && (sealed.as_ref() == Some(&end) || self.len == 0 && sealed.is_none());
        if as_left {
            return Ok(Opened { end, damage: None });
        }
        let mut damage = Damage {
            sealed,
            ..Damage::default()
        };
        if from < self.len {
            self.end_line()?;
            damage.bytes = self.len - from;
            damage.sha256 = self
                .hash_from(from)
                .map_err(|e| AuditError::read(&self.path, e))?;
        }
        Ok(Opened {
            end,
            damage: Some(damage),
        })
    }

    /// Writes a newline unless the file ends with one.
    fn end_line(&mut self) -> Result<(), AuditError> {
        let mut last = [0];
        let read = self.file.read_exact_at(&mut last, self.len - 1);
        read.map_err(|e| AuditError::read(&self.path, e))?;
        if last != *b"\n" {
            self.put(b"\n")?;
        }
        Ok(())
    }

    fn hash_from(&self, from: u64) -> io::Result<String> {
        let (mut hasher, mut block, mut at) = (Sha256::new(), vec![0; BLOCK], from);
        while at < self.len {
            let read = self.file.read_at(&mut block, at)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            hasher.update(&block[..read]);
            at += read as u64;
        }
        Ok(base16ct::lower::encode_string(&hasher.finalize()))
    }

    /// Whether a failed write left something behind that must be mended before the next event.
    pub(crate) fn is_torn(&self) -> bool {
        self.torn
    }

    /// Mends the end after a failed write that could not be taken back; `end` is the last event written whole.
    pub(crate) fn recover(&mut self, end: End) -> Result<Opened, AuditError> {
        let meta = self
            .file
            .metadata()
            .map_err(|e| AuditError::read(&self.path, e))?;
        let from = self.len;
        self.len = meta.len();
        let opened = self.mend((end.clone(), from), Some(end))?;
        self.torn = false;
        Ok(opened)
    }

    /// Appends `line`, which ends with a newline, in one write. When it fails, nothing of it is left in the file.
    pub(crate) fn put(&mut self, line: &[u8]) -> Result<(), AuditError> {
        let written = faults::pass(Step::Write, &self.path).and_then(|()| self.file.write_all(line));
        if let Err(e) = written {
            self.torn = self.file.set_len(self.len).is_err();
            return Err(AuditError::write(&self.path, e));
        }
        self.len += line.len() as u64;
        Ok(())
    }

    /// Remembers where the event just written is, and seals the file behind it.
    pub(crate) fn seal(&mut self, record: &Record, line: &[u8], end: &End) -> Result<(), AuditError> {
        let start = self.len - line.len() as u64;
        self.index.add(record.id.as_str(), start);
        Seal::of(end, &self.name, self.key.as_ref())
            .write(&self.seal)
            .map_err(|e| AuditError::write(&session::seal_of(&self.path), e))
    }

    /// The event with this id, where the index says it is, or searched for from the end.
    pub(crate) fn find(&self, id: &str) -> Result<Option<Record>, AuditError> {
        let found = find::event(&self.file, self.len, id, self.index.look_up(id));
        found.map_err(|e| AuditError::read(&self.path, e))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&self) -> Result<(), AuditError> {
        let synced = self.file.sync_data().and_then(|()| self.seal.sync_data());
        synced.map_err(|e| AuditError::write(&self.path, e))
    }
}

/// A file whose first event could not be written goes again, while its lock is still held: it says nothing.
impl Drop for Sink {
    fn drop(&mut self) {
        let empty = self
            .file
            .metadata()
            .is_ok_and(|meta| meta.is_file() && meta.len() == 0);
        if empty && self.len == 0 {
            for path in [
                session::seal_of(&self.path),
                index_of(&self.path),
                self.path.clone(),
            ] {
                // What stays is an empty session, which verifies.
                let _ = files::remove(&path);
            }
        }
    }
}

fn lock(file: &File, path: &Path) -> Result<(), AuditError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(AuditError::InUse {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(e)) => Err(AuditError::write(path, e)),
    }
}

/// A seal file that states this or nothing, put in place of the old one as one step, and open for writing over.
fn new_seal(path: &Path, seal: Option<Seal>) -> Result<File, AuditError> {
    let staged = Staged::beside(path)?;
    let file = staged
        .file()
        .try_clone()
        .map_err(|e| AuditError::write(path, e))?;
    seal.map_or(Ok(()), |seal| seal.write(&file))
        .map_err(|e| AuditError::write(path, e))?;
    staged.commit()?;
    Ok(file)
}

/// The last whole event of this session, and where the line after it starts.
fn last_whole(file: &File, len: u64, session: &str) -> io::Result<(End, u64)> {
    for line in Backward::new(file, len)? {
        let line = line?;
        let event = line.ended.then(|| serde_json::from_slice::<Record>(&line.bytes));
        if let Some(Ok(record)) = event
            && record.session == session
        {
            let hash = crate::chain::hash(&line.bytes);
            let next = line.offset + line.bytes.len() as u64 + 1;
            return Ok((
                End {
                    seq: record.seq,
                    hash,
                },
                next,
            ));
        }
    }
    Ok((End::start(session), 0))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
impl Sink {
    /// Writes to another file from now on, as when the disk changes its mind. Returns the one before.
    pub(crate) fn swap(&mut self, file: File) -> File {
        std::mem::replace(&mut self.file, file)
    }
}
