//! Which files of a directory tree are shaped like credentials, asked before every command. A directory is read again
//! only when it has changed since.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use wisp_guard::credentials::is_file_name;
use wisp_host::{Clock, SystemClock};

/// How long ago, in nanoseconds, a directory must have changed for what was read of it to hold: file systems count time
/// in steps.
const SETTLED: i128 = 20_000_000;

/// Directories that hold only what tools made and fetched; there is no end to them, and nobody's keys are kept there.
const PASSED: &[&str] = &[
    "node_modules",
    "target",
    ".git",
    "__pycache__",
    ".venv",
    ".tox",
    ".mypy_cache",
];

/// How far a tree is looked through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Levels of directories below the first.
    pub(super) depth: usize,
    /// Directories.
    pub(super) directories: usize,
}

/// What a tree has.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files that are shaped like credentials.
    pub(super) credentials: Vec<PathBuf>,
    /// The directories that were looked through.
    pub(super) directories: Vec<PathBuf>,
    /// Whether the bounds left nothing out.
    pub(super) whole: bool,
}

/// What is known of directories.
#[derive(Debug, Default)]
pub(super) struct Scan {
    known: HashMap<PathBuf, Known>,
}

#[derive(Debug)]
struct Known {
    /// Time of the last change of the directory itself, in nanoseconds, and which it is.
    changed: (i128, u64, u64),
    directories: Vec<PathBuf>,
    credentials: Vec<PathBuf>,
    /// Whether a change would be seen by its time.
    settled: bool,
}

impl Scan {
    /// The credentials below a directory, those nearer first, but for what is in `without`.
    pub(super) fn credentials(&mut self, root: &Path, bounds: Bounds, without: &Path) -> Found {
        let mut found = Found::default();
        let mut level = vec![root.to_owned()];
        for _ in 0..=bounds.depth {
            let mut below = Vec::new();
            for directory in level {
                if directory == without {
                    continue;
                }
                if found.directories.len() == bounds.directories {
                    return found;
                }
                if let Some(known) = self.directory(&directory) {
                    found.credentials.extend_from_slice(&known.credentials);
                    below.extend_from_slice(&known.directories);
                }
                found.directories.push(directory);
            }
            level = below;
        }
        found.whole = level.is_empty();
        found
    }

    /// The files in the directories that were looked through which are one of these by another name.
    pub(super) fn other_names(&self, of: &BTreeSet<(u64, u64)>) -> Vec<PathBuf> {
        let same = |path: &PathBuf| {
            let meta = path.symlink_metadata();
            meta.is_ok_and(|meta| meta.is_file() && of.contains(&(meta.dev(), meta.ino())))
        };
        let mut found = Vec::new();
        for directory in self.known.keys() {
            let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
            let alike = entries.filter(|entry| of.iter().any(|(_, file)| *file == entry.ino()));
            found.extend(alike.map(|entry| entry.path()).filter(same));
        }
        found
    }

    fn directory(&mut self, path: &Path) -> Option<&Known> {
        let meta = path.symlink_metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let nanoseconds = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
        let changed = (nanoseconds, meta.dev(), meta.ino());
        let holds = |known: &Known| known.settled && known.changed == changed;
        if !self.known.get(path).is_some_and(holds) {
            let known = read(path, changed);
            self.known.insert(path.to_owned(), known);
        }
        self.known.get(path)
    }
}

fn read(path: &Path, changed: (i128, u64, u64)) -> Known {
    let mut known = Known {
        changed,
        directories: Vec::new(),
        credentials: Vec::new(),
        settled: is_settled(changed.0),
    };
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(kind) = entry.file_type() else { continue };
        if is_file_name(&name) {
            // A link is hidden by what it leads to.
            known.credentials.extend(entry.path().canonicalize());
        } else if kind.is_dir() && !PASSED.contains(&name.as_ref()) {
            known.directories.push(entry.path());
        }
    }
    known
}

/// Whether a directory's last change lies so far back that the next would have another time.
fn is_settled(changed: i128) -> bool {
    SystemClock.now().as_nanosecond() - changed > SETTLED
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test lays out a tree")]

    use std::fs;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        depth: 5,
        directories: 100,
    };

    fn names(scan: &mut Scan, root: &Path, bounds: Bounds) -> (Vec<String>, bool) {
        let found = scan.credentials(root, bounds, Path::new("/none"));
        let root = root.canonicalize().unwrap();
        let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
        (found.credentials.iter().map(name).collect(), found.whole)
    }

    #[test]
    fn credentials_are_found_at_any_depth_and_as_soon_as_they_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("node_modules/x")).unwrap();
        fs::write(root.join("a/b/.env.local"), "").unwrap();
        fs::write(root.join("node_modules/x/.env"), "").unwrap();
        fs::write(root.join("a/.env.example"), "").unwrap();
        fs::write(root.join("real"), "").unwrap();
        std::os::unix::fs::symlink("real", root.join("id_rsa")).unwrap();
        let mut scan = Scan::default();
        let first = names(&mut scan, root, BOUNDS).0;
        assert_eq!(first, ["real", "a/b/.env.local"]);
        for round in 0..50 {
            let name = format!("a/{round}.pem");
            fs::write(root.join(&name), "").unwrap();
            assert!(names(&mut scan, root, BOUNDS).0.contains(&name), "{name}");
        }
    }

    #[test]
    fn what_is_beyond_the_bounds_is_said() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/.env"), "").unwrap();
        let mut scan = Scan::default();
        let bounds = |depth, directories| Bounds { depth, directories };
        assert_eq!(names(&mut scan, dir.path(), bounds(1, 9)), (vec![], false));
        assert_eq!(names(&mut scan, dir.path(), bounds(9, 2)), (vec![], false));
        assert_eq!(
            names(&mut scan, dir.path(), bounds(2, 3)),
            (vec!["a/b/.env".into()], true)
        );
    }
}
