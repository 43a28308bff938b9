//! Where each event is: 16 bytes an event in `<session>.ids`, its id and its place in the session's file.
//!
//! The index is a hint. What it says is checked against the file, and an event it does not know is searched for, so
//! it may be missing, short or wrong without harm, and nothing has to be repaired after a crash.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem;
use wisp_host::files;

/// The bytes of an entry: the id's 64 bits and the offset, both little-endian.
const ENTRY: usize = 16;

/// How many bytes are searched at once.
const BLOCK: u64 = 64 * 1024;

/// The index of a session's file: `<session>.ids` beside `<session>.jsonl`.
pub fn index_of(file: &Path) -> PathBuf {
    file.with_extension("ids")
}

/// An index being written.
#[derive(Debug)]
pub(crate) struct Index {
    /// `None` when it could not be opened, or a write failed: later events are then searched for.
    file: Option<File>,
}

impl Index {
    /// Opens or makes the index beside a session's file.
    pub(crate) fn open(session_file: &Path) -> Self {
        let file = files::private_append(&index_of(session_file)).ok();
        let whole = file.filter(|file| whole_entries(file).is_ok());
        Self { file: whole }
    }

    /// Notes where an event is. Ids that are not 64 bits of hex are not noted.
    pub(crate) fn add(&mut self, id: &str, offset: u64) {
        let Some(entry) = bits(id).map(|id| entry(id, offset)) else {
            return;
        };
        let written = self.file.as_mut().map(|file| file.write_all(&entry));
        if matches!(written, Some(Err(_))) {
            self.file = None;
        }
    }

    /// Where the event may be.
    pub(crate) fn look_up(&self, id: &str) -> Option<u64> {
        look_up(self.file.as_ref()?, id)
    }
}

/// Where an index says the event is. The last entry for an id counts. What cannot be read says nothing.
pub(crate) fn look_up(index: &File, id: &str) -> Option<u64> {
    let wanted = bits(id)?.to_le_bytes();
    let finder = memmem::Finder::new(&wanted);
    let len = index.metadata().ok()?.len();
    let mut end = len - len % ENTRY as u64;
    let mut block = Vec::new();
    while end > 0 {
        let from = end.saturating_sub(BLOCK);
        block.resize(usize::try_from(end - from).ok()?, 0);
        index.read_exact_at(&mut block, from).ok()?;
        // The bytes may also stand across two entries, or in an offset.
        let found = finder.find_iter(&block).filter(|at| at % ENTRY == 0).last();
        if let Some(at) = found {
            return Some(u64::from_le_bytes(block[at + 8..at + ENTRY].try_into().ok()?));
        }
        end = from;
    }
    None
}

/// Cuts off an entry that a crash left unfinished, so that the next ones are in step.
fn whole_entries(file: &File) -> io::Result<()> {
    let len = file.metadata()?.len();
    match len % ENTRY as u64 {
        0 => Ok(()),
        rest => file.set_len(len - rest),
    }
}

fn bits(id: &str) -> Option<u64> {
    let hex = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u64::from_str_radix(id, 16).ok())?
}

fn entry(id: u64, offset: u64) -> [u8; ENTRY] {
    let mut entry = [0; ENTRY];
    entry[..8].copy_from_slice(&id.to_le_bytes());
    entry[8..].copy_from_slice(&offset.to_le_bytes());
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_across_blocks_and_after_a_torn_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut index = Index::open(&path);
        let count = 2 * BLOCK / ENTRY as u64 + 3;
        for n in 1..=count {
            index.add(&format!("{n:016x}"), n * 10);
        }
        for n in [1, BLOCK / ENTRY as u64, count] {
            assert_eq!(index.look_up(&format!("{n:016x}")), Some(n * 10));
        }
        assert_eq!(index.look_up("ffffffffffffffff"), None);
        assert_eq!(index.look_up("not an id"), None);
        files::private_append(&index_of(&path))
            .unwrap()
            .write_all(b"torn")
            .unwrap();
        let mut index = Index::open(&path);
        index.add("aaaaaaaaaaaaaaaa", 7);
        assert_eq!(index.look_up("aaaaaaaaaaaaaaaa"), Some(7));
        assert_eq!(index.look_up("0000000000000001"), Some(10));
    }
}
