//! The folder of saved conversations: listed, read, deleted.

use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wisp_context::{LastUse, Loaded, SavedFile, load_with_past};
use wisp_host::{FileError, files};

use crate::lock::{Lock, Taken};
use crate::{SavedError, checked};

/// The most bytes of a store's first line: it has no text of the conversation but its first words.
const HEADER_BYTES: u64 = 256 * 1024;
/// Where the id begins in the name of an unnamed conversation, after its time.
const ID_AT: usize = 16;
/// Names in an error that says that several begin so.
const NAMED: usize = 4;

/// `transcripts/` under wisp's home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// One saved conversation, as far as its files' names say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name; the audit session's for an unnamed one.
    pub name: String,
    /// Whether the person named it.
    pub named: bool,
    /// When it was last saved.
    pub saved: SystemTime,
    /// Bytes of its files.
    pub bytes: u64,
}

/// The bytes of a conversation's files, as they were found.
pub struct Pair {
    /// `NAME.json`; empty when it is not there.
    pub transcript: Vec<u8>,
    /// `NAME.store`; empty when it is not there.
    pub store: Vec<u8>,
    /// `NAME.past`; empty when it is not there.
    pub past: Vec<u8>,
}

impl Pair {
    /// The bytes of one of the files.
    pub fn bytes(&self, file: SavedFile) -> &[u8] {
        match file {
            SavedFile::Store => &self.store,
            SavedFile::Transcript => &self.transcript,
            SavedFile::Past => &self.past,
        }
    }
}

impl Folder {
    /// The folder at `root`, which need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a conversation with this ending.
    pub fn file(&self, name: &str, ending: &str) -> PathBuf {
        self.root.join(format!("{name}.{ending}"))
    }

    /// Whether something is saved under a name.
    pub fn has(&self, name: &str) -> bool {
        ["store", "json"]
            .iter()
            .any(|ending| fs::symlink_metadata(self.file(name, ending)).is_ok())
    }

    /// Every saved conversation, the one saved last first.
    pub fn list(&self) -> Result<Vec<Listed>, FileError> {
        let entries = match fs::read_dir(&self.root) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|e| FileError::io("read", &self.root, e))?,
        };
        let mut listed: Vec<Listed> = Vec::new();
        for entry in entries.flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some((name, "store" | "json" | "past")) = file.rsplit_once('.') else {
                continue;
            };
            let Ok(meta) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            if checked(name).is_err() || !meta.is_file() {
                continue;
            }
            let saved = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match listed.iter_mut().find(|one| one.name == name) {
                Some(one) => {
                    one.bytes += meta.len();
                    one.saved = one.saved.max(saved);
                }
                None => listed.push(Listed {
                    name: name.to_owned(),
                    named: !is_session(name),
                    saved,
                    bytes: meta.len(),
                }),
            }
        }
        // A past alone is what a deletion left that was stopped in the middle.
        listed.retain(|one| self.has(&one.name));
        listed.sort_by(|a, b| (b.saved, &b.name).cmp(&(a.saved, &a.name)));
        Ok(listed)
    }

    /// The full name of the conversation that is called so, or whose name, or the part of it after the time, begins so.
    /// Errors: none, or several.
    pub fn find(&self, name: &str) -> Result<String, SavedError> {
        checked(name)?;
        if self.has(name) {
            return Ok(name.to_owned());
        }
        let listed = self.list()?;
        let mut among: Vec<&str> = listed
            .iter()
            .map(|one| one.name.as_str())
            .filter(|own| own.starts_with(name) || called(own).starts_with(name))
            .collect();
        if let Some(exact) = among.iter().find(|own| called(own) == name) {
            return Ok((*exact).to_owned());
        }
        match among[..] {
            [one] => Ok(one.to_owned()),
            [] => Err(self.not_found(name)),
            _ => {
                let more = among.len().saturating_sub(NAMED);
                among.truncate(NAMED);
                let more = (more > 0).then(|| format!(" and {more} more"));
                Err(SavedError::Ambiguous {
                    name: name.to_owned(),
                    among: among.join(", ") + &more.unwrap_or_default(),
                })
            }
        }
    }

    /// The conversation saved last of those held in this directory.
    pub fn last_of(&self, directory: &Path) -> Result<String, SavedError> {
        let here = directory.display().to_string();
        let held_here = |one: &Listed| {
            self.last_use(&one.name)
                .is_some_and(|last| last.directory.as_ref() == Some(&here))
        };
        let last = self.list()?.into_iter().find(held_here);
        last.map(|one| one.name)
            .ok_or_else(|| SavedError::NothingHere(directory.to_owned()))
    }

    /// With what a conversation was last held, from the first line of its store alone; none when that cannot be read.
    pub fn last_use(&self, name: &str) -> Option<LastUse> {
        let file = files::open_own(&self.file(name, "store")).ok()?;
        let mut line = Vec::new();
        let mut file = io::BufReader::new(file.take(HEADER_BYTES));
        file.read_until(b'\n', &mut line).ok()?;
        LastUse::of_store(&line)
    }

    fn not_found(&self, name: &str) -> SavedError {
        SavedError::NotFound {
            name: name.to_owned(),
            near: self.near(name),
        }
    }

    /// The bytes of a conversation's files.
    pub fn pair(&self, name: &str) -> Result<Pair, SavedError> {
        checked(name)?;
        if !self.has(name) {
            return Err(self.not_found(name));
        }
        Ok(Pair {
            transcript: read(&self.file(name, "json"))?,
            store: read(&self.file(name, "store"))?,
            past: read(&self.file(name, SavedFile::Past.ending()))?,
        })
    }

    /// Reads a conversation without opening it.
    pub fn load(&self, name: &str) -> Result<Loaded, SavedError> {
        let pair = self.pair(name)?;
        load_with_past(&pair.transcript, &pair.store, &pair.past).map_err(|why| SavedError::Unreadable {
            name: name.to_owned(),
            why,
        })
    }

    /// Takes the lock of a conversation.
    pub fn lock(&self, name: &str) -> Result<Lock, SavedError> {
        files::private_dir(&self.root)?;
        match Lock::take(&self.file(name, "lock"))? {
            Taken::Ours(lock) => Ok(lock),
            Taken::Theirs(by) => Err(SavedError::Held {
                name: name.to_owned(),
                by: by.map_or_else(String::new, |pid| format!(" (process {pid})")),
            }),
        }
    }

    /// Deletes a conversation nobody has open. Outputs kept for it stay until they are swept.
    pub fn delete(&self, name: &str) -> Result<(), SavedError> {
        self.pair(name)?;
        let _lock = self.lock(name)?;
        self.remove(name)
    }

    /// Removes the files of a conversation whose lock is held: the transcript first and the past last, so that what is
    /// left after a crash can still be resumed, or is nothing to resume.
    pub(crate) fn remove(&self, name: &str) -> Result<(), SavedError> {
        for ending in ["json", "store", "past"] {
            files::remove(&self.file(name, ending))?;
        }
        Ok(())
    }

    /// The bytes of the past of a conversation that is open here.
    pub(crate) fn past(&self, name: &str) -> Result<Vec<u8>, FileError> {
        read(&self.file(name, SavedFile::Past.ending()))
    }

    fn near(&self, name: &str) -> String {
        let listed = self.list().unwrap_or_default();
        let near = wisp_config::nearest(name, listed.iter().map(|one| one.name.as_str()));
        near.map_or_else(String::new, |near| format!("; did you mean {near}?"))
    }
}

/// A whole file of wisp's own; empty when it is not there.
fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let file = match files::open_own(path) {
        Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        file => file?,
    };
    let mut bytes = Vec::new();
    let read = io::BufReader::new(file).read_to_end(&mut bytes);
    read.map_err(|e| FileError::io("read", path, e))?;
    Ok(bytes)
}

/// A name as it is given to `--resume`: of an audit session the id, without the time.
pub(super) fn called(name: &str) -> &str {
    if is_session(name) { &name[ID_AT..] } else { name }
}

/// Whether a name is one an audit session has, with a number after a full stop for those after `/new`:
/// `20261130T090000-1a2b3c4d.2`.
pub(crate) fn is_session(name: &str) -> bool {
    let name = name.split_once('.').map_or(name, |(session, _)| session);
    let bytes = name.as_bytes();
    let digits = |from: usize, to: usize| bytes[from..to].iter().all(u8::is_ascii_digit);
    bytes.len() == 24
        && digits(0, 8)
        && bytes[8] == b'T'
        && digits(9, 15)
        && bytes[15] == b'-'
        && bytes[16..].iter().all(u8::is_ascii_hexdigit)
}
