//! `approvals.json`: what a person allowed for a project or for always, shared by every wisp in one home.
//!
//! Read afresh for each use, changed under a lock on a file beside it and replaced whole, so that two processes
//! never lose each other's answers. A file that cannot be read allows nothing.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use wisp_host::{FileError, files};

use crate::approvals::Approval;

/// What stopped a change of the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// What stands there is no list of answers.
    #[error("{} is not a list of approvals; hint: move it away, and what was allowed is asked about again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// No approval has this id.
    #[error("no approval has the id {id}")]
    Unknown {
        /// The id, or the beginning of one.
        id: String,
    },
}

/// The file of stored approvals.
#[derive(Debug, Clone)]
pub struct ApprovalFile {
    path: PathBuf,
}

impl ApprovalFile {
    /// The file at a path; nothing is touched.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Why the file allows nothing although it is there: others can write it.
    pub fn mistrusted(&self) -> Option<FileError> {
        let file = files::open_own(&self.path).ok()?;
        files::trusted(&file, &self.path).err()
    }

    /// What is allowed now, newest first. A missing or unreadable file allows nothing.
    pub fn load(&self, now: Timestamp) -> Vec<Approval> {
        self.read(now).unwrap_or_default()
    }

    /// The same; a file that is there and cannot be used is an error, with what to do about it.
    pub fn read(&self, now: Timestamp) -> Result<Vec<Approval>, StoreError> {
        if std::fs::symlink_metadata(&self.path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound) {
            return Ok(Vec::new());
        }
        let mut file = files::open_own(&self.path)?;
        files::trusted(&file, &self.path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|e| FileError::io("read", &self.path, e))?;
        let damaged = |_| StoreError::Damaged {
            path: self.path.clone(),
        };
        let all: Vec<Approval> = serde_json::from_str(&text).map_err(damaged)?;
        let mut alive: Vec<Approval> = all
            .into_iter()
            .filter(|approval| approval.scope.is_stored() && approval.expires_at.is_some_and(|end| now < end))
            .collect();
        alive.sort_by_key(|approval| std::cmp::Reverse(approval.granted_at));
        Ok(alive)
    }

    /// Adds an approval in place of one for the same thing and place.
    pub fn add(&self, approval: Approval, now: Timestamp) -> Result<(), StoreError> {
        self.change(now, |all| {
            all.retain(|old| {
                old.pattern != approval.pattern || old.working_directory != approval.working_directory
            });
            all.push(approval);
            Ok(())
        })
    }

    /// Takes back the approval with this id, or the only one whose id starts so.
    pub fn revoke(&self, id: &str, now: Timestamp) -> Result<Approval, StoreError> {
        let mut revoked = None;
        self.change(now, |all| {
            let mut found = all
                .iter()
                .enumerate()
                .filter(|(_, approval)| approval.id.starts_with(id));
            let (Some((at, _)), None, false) = (found.next(), found.next(), id.is_empty()) else {
                return Err(StoreError::Unknown { id: id.to_owned() });
            };
            revoked = Some(all.remove(at));
            Ok(())
        })?;
        revoked.ok_or_else(|| StoreError::Unknown { id: id.to_owned() })
    }

    /// Takes back everything; the result is how many there were.
    pub fn clear(&self, now: Timestamp) -> Result<usize, StoreError> {
        let mut count = 0;
        self.change(now, |all| {
            count = all.len();
            all.clear();
            Ok(())
        })?;
        Ok(count)
    }

    /// Reads, changes and replaces the file under its lock. What has expired goes.
    fn change(
        &self,
        now: Timestamp,
        edit: impl FnOnce(&mut Vec<Approval>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        // One that cannot be used is not written over: what it holds would be lost.
        let mut all = self.read(now)?;
        edit(&mut all)?;
        let text = serde_json::to_vec_pretty(&all).expect("approvals can be written as JSON");
        files::replace(&self.path, &text)?;
        Ok(())
    }

    fn lock(&self) -> Result<File, FileError> {
        if let Some(home) = self.path.parent() {
            files::private_dir(home)?;
        }
        let beside: &Path = &self.path.with_extension("json.lock");
        let file = files::private_append(beside)?;
        file.lock().map_err(|e| FileError::io("lock", beside, e))?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes the files wisp meets")]

    use super::*;
    use crate::approvals::Scope;
    use crate::level::Level;
    use crate::pattern::Pattern;

    const NOW: &str = "2026-11-30T09:00:00Z";

    fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    fn approval(id: &str, program: &str, end: &str) -> Approval {
        Approval {
            id: id.to_owned(),
            pattern: Pattern::Program(program.to_owned()),
            working_directory: None,
            scope: Scope::Always,
            level: Level::Moderate,
            granted_at: now(),
            expires_at: Some(end.parse().unwrap()),
            source: "chat".to_owned(),
        }
    }

    #[test]
    fn answers_are_kept_replaced_and_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = ApprovalFile::new(dir.path().join("home/approvals.json"));
        assert!(file.load(now()).is_empty());
        file.add(approval("aa11", "git push", "2026-12-30T09:00:00Z"), now())
            .unwrap();
        file.add(approval("aa22", "cargo test", "2026-12-30T09:00:00Z"), now())
            .unwrap();
        file.add(approval("aa33", "cargo test", "2026-12-31T09:00:00Z"), now())
            .unwrap();
        let ids = |file: &ApprovalFile| file.load(now()).into_iter().map(|a| a.id).collect::<Vec<_>>();
        assert_eq!(ids(&file), ["aa11", "aa33"]);
        assert!(matches!(
            file.revoke("aa", now()),
            Err(StoreError::Unknown { .. })
        ));
        assert!(matches!(file.revoke("", now()), Err(StoreError::Unknown { .. })));
        assert_eq!(file.revoke("aa1", now()).unwrap().id, "aa11");
        assert_eq!(file.clear(now()).unwrap(), 1);
        assert!(ids(&file).is_empty());
    }

    #[test]
    fn what_has_expired_or_cannot_be_read_allows_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approvals.json");
        let file = ApprovalFile::new(&path);
        file.add(approval("aa11", "git push", NOW), now()).unwrap();
        assert!(file.load(now()).is_empty());
        std::fs::write(&path, "not json").unwrap();
        assert!(file.load(now()).is_empty());
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(file.load(now()).is_empty());
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_and_not_written_over() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approvals.json");
        let file = ApprovalFile::new(&path);
        let one = || approval("aa11", "git push", "2026-12-30T09:00:00Z");
        file.add(one(), now()).unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        for open in [0o620, 0o602, 0o666] {
            mode(open);
            let error = file.add(one(), now()).unwrap_err().to_string();
            assert!(error.contains("chmod go-w"), "{error}");
            assert!(file.read(now()).is_err() && file.clear(now()).is_err() && file.load(now()).is_empty());
        }
        mode(0o600);
        assert_eq!(file.read(now()).unwrap().len(), 1, "nothing was lost");
        std::fs::write(&path, "not json").unwrap();
        let error = file.add(one(), now()).unwrap_err().to_string();
        assert!(error.contains("move it away"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not json");
    }

    #[test]
    fn many_writers_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("approvals.json");
        std::thread::scope(|scope| {
            for n in 0..8 {
                let file = ApprovalFile::new(&path);
                scope.spawn(move || {
                    file.add(
                        approval(&format!("{n}"), &format!("p{n}"), "2027-01-01T00:00:00Z"),
                        now(),
                    )
                    .unwrap();
                });
            }
        });
        assert_eq!(ApprovalFile::new(&path).load(now()).len(), 8);
    }
}
