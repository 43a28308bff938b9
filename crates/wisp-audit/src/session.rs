//! The names of audit sessions, and where their files are.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wisp_host::{Clock, FileError, IdSource, ids};

use crate::AuditError;

/// The most bytes a session's name may have.
pub const NAME_MAX: usize = 100;

/// The name under which a conversation's events and outputs are filed. It is a file name and nothing else: no
/// separator, no leading dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// A new name: the time to the second and 8 random hex digits, `20261130T090000-1a2b3c4d`, so that names sort
    /// by age.
    pub fn new(clock: &dyn Clock, ids: &dyn IdSource) -> Self {
        let time = clock.now().strftime("%Y%m%dT%H%M%S").to_string();
        let id = ids.next();
        Self(format!("{time}-{}", ids::shown(&id)))
    }

    /// A new name for a thread that a caller opened: the thread's own, then 8 random hex digits, so that a thread id
    /// used again later has a file of its own. Characters that a file name may not have become `_`.
    pub fn of_thread(thread: &str, ids: &dyn IdSource) -> Self {
        let clean: String = thread
            .chars()
            .take(NAME_MAX - 9)
            .map(|c| if allowed(c) { c } else { '_' })
            .collect();
        let clean = clean.trim_start_matches('.');
        let id = ids.next();
        Self(format!("{clean}-{}", ids::shown(&id)))
    }

    /// A name from outside, checked. Errors: [`AuditError::SessionName`].
    pub fn parse(name: &str) -> Result<Self, AuditError> {
        let fits = (1..=NAME_MAX).contains(&name.len());
        if fits && !name.starts_with('.') && name.chars().all(allowed) {
            Ok(Self(name.to_owned()))
        } else {
            Err(AuditError::SessionName {
                name: name.to_owned(),
            })
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SessionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The folder of all audit files: `<home>/audit`.
pub fn folder(home: &Path) -> PathBuf {
    home.join("audit")
}

/// A session's file: `<home>/audit/<session>.jsonl`.
pub fn file_of(home: &Path, session: &SessionId) -> PathBuf {
    folder(home).join(format!("{session}.jsonl"))
}

/// The file that says where a session's file ends: `<session>.seal` beside `<session>.jsonl`.
pub fn seal_of(file: &Path) -> PathBuf {
    file.with_extension("seal")
}

/// One session's file, as [`sessions`] lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The session.
    pub session: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// The file's size.
    pub bytes: u64,
    /// When it was last written to.
    pub modified: SystemTime,
}

/// The sessions that have a file, the one written to last first; of the same moment, by name backwards. A home
/// without an audit folder has none. Files with names wisp would not give are passed over.
pub fn sessions(home: &Path) -> Result<Vec<SessionFile>, AuditError> {
    let dir = folder(home);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(FileError::io("list", &dir, e).into()),
    };
    let mut found: Vec<_> = entries.filter_map(|entry| listed(&entry.ok()?.path())).collect();
    found.sort_by(|a, b| (b.modified, &b.session).cmp(&(a.modified, &a.session)));
    Ok(found)
}

fn listed(path: &Path) -> Option<SessionFile> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let session = SessionId::parse(name).ok()?;
    let meta = fs::symlink_metadata(path).ok()?;
    meta.is_file().then_some(())?;
    Some(SessionFile {
        session,
        path: path.to_owned(),
        bytes: meta.len(),
        modified: meta.modified().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use wisp_host::{FixedClock, FixedIds};

    use super::*;

    #[test]
    fn a_new_name_is_the_time_and_eight_digits() {
        let clock = FixedClock::at("2026-11-30T09:00:00Z");
        let session = SessionId::new(&clock, &FixedIds::default());
        assert_eq!(session.as_str(), "20261130T090000-00000000");
        assert_eq!(SessionId::parse(session.as_str()).unwrap(), session);
    }

    #[test]
    fn a_thread_has_a_name_of_its_own() {
        let ids = FixedIds::default();
        assert_eq!(SessionId::of_thread("../a b", &ids).as_str(), "_a_b-00000000");
        let long = SessionId::of_thread(&"x".repeat(300), &ids);
        assert_eq!(long.as_str().len(), NAME_MAX);
        assert!(SessionId::parse(long.as_str()).is_ok());
    }

    #[test]
    fn a_name_that_leaves_the_folder_is_refused() {
        for name in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "é"] {
            assert!(SessionId::parse(name).is_err(), "{name}");
        }
        assert!(SessionId::parse(&"x".repeat(NAME_MAX)).is_ok());
        assert!(SessionId::parse(&"x".repeat(NAME_MAX + 1)).is_err());
    }
}
