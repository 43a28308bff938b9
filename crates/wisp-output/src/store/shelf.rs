//! Finding and opening what is stored, in one session or in all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wisp_host::files;

use crate::content::FileContent;

use super::keep::record_path;
use super::{Kept, MIN_DIGITS, Record, StoreError, is_safe_id, is_safe_name};

/// The outputs of every session under one home.
#[derive(Debug, Clone)]
pub struct Shelf {
    root: PathBuf,
}

/// A stored output in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The audit session it belongs to.
    pub session: String,
    /// What it is.
    pub record: Record,
}

impl Shelf {
    /// The shelf of `home`, which need not exist.
    pub fn new(home: &Path) -> Self {
        Self {
            root: home.join("output"),
        }
    }

    /// `<home>/output`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn dir_of(&self, session: &str) -> PathBuf {
        self.root.join(session)
    }

    /// Opens the output whose id is `id`, or starts with it, in `session`.
    pub fn open_in(&self, session: &str, id: &str) -> Result<Kept, StoreError> {
        if !is_safe_name(session) {
            return Err(StoreError::BadName(session.to_owned()));
        }
        let matches = self.ids_in(session, checked(id)?)?;
        self.open_one(
            id,
            matches
                .into_iter()
                .map(|found| (session.to_owned(), found))
                .collect(),
        )
    }

    /// Opens the output whose id is `id`, or starts with it, in any session.
    pub fn open(&self, id: &str) -> Result<Kept, StoreError> {
        let prefix = checked(id)?;
        let mut matches = Vec::new();
        for session in self.sessions()? {
            let found = self.ids_in(&session, prefix)?;
            matches.extend(found.into_iter().map(|id| (session.clone(), id)));
        }
        self.open_one(id, matches)
    }

    fn open_one(&self, id: &str, mut matches: Vec<(String, String)>) -> Result<Kept, StoreError> {
        if matches.len() > 1 {
            let matches = matches.into_iter().map(|(_, id)| id).collect();
            return Err(StoreError::Ambiguous {
                prefix: id.to_owned(),
                matches,
            });
        }
        let (session, found) = matches.pop().ok_or_else(|| StoreError::NotFound(id.to_owned()))?;
        self.load(&session, &found)
    }

    /// Opens one output by its full id.
    fn load(&self, session: &str, id: &str) -> Result<Kept, StoreError> {
        let path = self.dir_of(session).join(id);
        let record = self.record(session, id)?;
        let file = files::open_own(&path)?;
        let bytes = file
            .metadata()
            .map_err(|error| StoreError::io("read", &path, error))?
            .len();
        if bytes != record.bytes {
            return Err(StoreError::Changed {
                path,
                bytes,
                recorded: record.bytes,
            });
        }
        Ok(Kept {
            content: FileContent::new(file, record.bytes),
            record,
        })
    }

    fn record(&self, session: &str, id: &str) -> Result<Record, StoreError> {
        let path = record_path(&self.dir_of(session).join(id));
        let file = files::open_own(&path)?;
        let read = serde_json::from_reader::<_, Record>(io::BufReader::new(file));
        let read = read.map(Record::numbered);
        read.map_err(|source| StoreError::Record { path, source })
    }

    /// Every stored output, the newest first. A record that cannot be read is left out.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        for session in self.sessions()? {
            for id in self.ids_in(&session, "")? {
                if let Ok(record) = self.record(&session, &id) {
                    entries.push(Entry {
                        session: session.clone(),
                        record,
                    });
                }
            }
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.record.created));
        Ok(entries)
    }

    /// Sessions with a directory of their own, in order of name; none when nothing was ever kept.
    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let mut names = names_in(&self.root)?;
        names.retain(|name| is_safe_name(name) && is_dir(&self.dir_of(name)));
        Ok(names)
    }

    /// Ids in `session` that start with `prefix` and have a record; an exact match alone.
    fn ids_in(&self, session: &str, prefix: &str) -> Result<Vec<String>, StoreError> {
        let dir = self.dir_of(session);
        if !is_dir(&self.root) || !is_dir(&dir) {
            return Ok(Vec::new());
        }
        let names = names_in(&dir)?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
        let ids = ids.filter(|id| is_safe_id(id) && id.starts_with(prefix));
        let ids: Vec<String> = ids.map(str::to_owned).collect();
        Ok(if ids.iter().any(|id| id == prefix) {
            vec![prefix.to_owned()]
        } else {
            ids
        })
    }
}

/// An id as given, if it can be one: lower-cased by whoever typed it, long enough to be told from others.
fn checked(id: &str) -> Result<&str, StoreError> {
    if !is_safe_id(id) {
        return Err(StoreError::BadName(id.to_owned()));
    }
    if id.len() < MIN_DIGITS {
        return Err(StoreError::TooShort(id.to_owned()));
    }
    Ok(id)
}

/// A directory that is no link.
fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// Names in a directory, sorted; none when it does not exist.
pub(super) fn names_in(dir: &Path) -> Result<Vec<String>, StoreError> {
    let listing = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| StoreError::io("list", dir, error))?,
    };
    let mut names: Vec<String> = listing
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}
