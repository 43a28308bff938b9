//! Following a file as it grows.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use wisp_host::files;

use crate::lines::BLOCK;
use crate::{AuditError, Record};

/// A place in a session's file, moved along by [`Follower::poll`]. How often to look is the caller's to decide;
/// nothing here waits.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<File>,
    /// Where the next block is read.
    offset: u64,
    /// The start of a line whose end has not been written yet.
    open_line: Vec<u8>,
}

impl Follower {
    /// Follows from the file's present end, or from its start. A file that does not exist yet is followed from its
    /// start once it does.
    pub fn new(path: &Path, from_start: bool) -> Result<Self, AuditError> {
        let mut follower = Self {
            path: path.to_owned(),
            file: None,
            offset: 0,
            open_line: Vec::new(),
        };
        if path.exists() && !from_start {
            let file = files::open_own(path)?;
            let meta = file.metadata().map_err(|e| AuditError::read(path, e))?;
            follower.offset = meta.len();
            follower.file = Some(file);
        }
        Ok(follower)
    }

    /// The events written since the last call, in order; empty when there are none. A line still being written waits
    /// for its end. Lines that are not events are passed over.
    pub fn poll(&mut self) -> Result<Vec<Record>, AuditError> {
        if self.file.is_none() && self.path.exists() {
            self.file = Some(files::open_own(&self.path)?);
        }
        let mut events = Vec::new();
        let Some(file) = &self.file else {
            return Ok(events);
        };
        let mut block = vec![0; BLOCK];
        loop {
            let read = file.read_at(&mut block, self.offset);
            let read = read.map_err(|e| AuditError::read(&self.path, e))?;
            if read == 0 {
                return Ok(events);
            }
            self.offset += read as u64;
            take_lines(&mut self.open_line, &block[..read], &mut events);
        }
    }
}

/// Adds `bytes` to the open line, and the events of the lines that ends to `events`.
fn take_lines(open_line: &mut Vec<u8>, bytes: &[u8], events: &mut Vec<Record>) {
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        open_line.extend_from_slice(piece);
        if open_line.ends_with(b"\n") {
            events.extend(serde_json::from_slice::<Record>(open_line).ok());
            open_line.clear();
        }
    }
}
