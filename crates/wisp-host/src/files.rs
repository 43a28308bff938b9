//! The only writes wisp makes under its home: private (0600 in 0700), never through a link, and replaced whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::faults::{self, Step};

/// What stopped a private file from being made. Every variant names the path.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The directory is a link, a file, or somebody else's.
    #[error("{} is not a directory of yours: {why}", path.display())]
    NotOurs {
        /// The directory that was refused.
        path: PathBuf,
        /// What it is instead.
        why: &'static str,
    },
    /// Somebody else can write it, and could so decide what wisp does.
    #[error("{} is not used: {why}; hint: {fix}", path.display())]
    Loose {
        /// The file.
        path: PathBuf,
        /// Who can write it.
        why: &'static str,
        /// The command that puts that right.
        fix: String,
    },
    /// The system refused an operation.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was being done, in the infinitive.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl FileError {
    /// Wraps a system error with what was being done, to which path.
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the disk (or a quota) is full.
    pub fn is_full(&self) -> bool {
        let Self::Io { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }
}

/// Makes `path` and its missing parents 0700, and refuses one that is a link, not a directory, another user's, or a
/// directory that all users share. One that others may read or write is made 0700.
pub fn private_dir(path: &Path) -> Result<(), FileError> {
    let made = || DirBuilder::new().recursive(true).mode(0o700).create(path);
    let made = faults::pass(Step::MakeFolder, path).and_then(|()| made());
    made.map_err(|e| FileError::io("create", path, e))?;
    let meta = fs::symlink_metadata(path).map_err(|e| FileError::io("read", path, e))?;
    let why = if meta.is_symlink() {
        "it is a symbolic link"
    } else if !meta.is_dir() {
        "it is not a directory"
    } else if meta.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user"
    } else if meta.mode() & STICKY != 0 {
        "all users share it"
    } else if meta.mode() & OTHERS == 0 {
        return Ok(());
    } else {
        let own = fs::Permissions::from_mode(meta.mode() & 0o7777 & !OTHERS);
        return fs::set_permissions(path, own).map_err(|e| FileError::io("make private", path, e));
    };
    Err(FileError::NotOurs {
        path: path.to_owned(),
        why,
    })
}

/// The mark of a directory that all users share, such as the one for temporary files.
const STICKY: u32 = 0o1000;
/// What others than the owner may do.
const OTHERS: u32 = 0o077;

/// Refuses an open file that decides what wisp does and that others than its owner, or than root, can write.
pub fn trusted(file: &File, path: &Path) -> Result<(), FileError> {
    let meta = file.metadata().map_err(|e| FileError::io("read", path, e))?;
    let loose = |why, fix| FileError::Loose {
        path: path.to_owned(),
        why,
        fix,
    };
    let own = rustix::process::geteuid().as_raw();
    if meta.uid() != own && meta.uid() != 0 {
        let fix = format!("chown {own} {}", path.display());
        return Err(loose("it belongs to another user", fix));
    }
    if meta.mode() & 0o022 != 0 {
        let fix = format!("chmod go-w {}", path.display());
        return Err(loose("others can write it", fix));
    }
    Ok(())
}

/// Refuses an open file that holds a secret and that others than its owner, or than root, can read or write.
pub fn secret(file: &File, path: &Path) -> Result<(), FileError> {
    if is_open_to_others(file) {
        return Err(FileError::Loose {
            path: path.to_owned(),
            why: "others can read or write it",
            fix: format!("chmod 600 {}", path.display()),
        });
    }
    trusted(file, path)
}

fn is_open_to_others(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| meta.mode() & OTHERS != 0)
}

/// The flags of every open below: not through a link, and not inherited by a child.
fn no_follow() -> i32 {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    i32::try_from(flags.bits()).expect("open flags fit a C int")
}

/// Makes a new private file for writing and reading. Fails when something stands at `path` already.
pub fn private_new(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(no_follow());
    let opened = faults::pass(Step::Create, path).and_then(|()| options.open(path));
    opened.map_err(|e| FileError::io("create", path, e))
}

/// Opens a private file for appending, making it when it is not there.
pub fn private_append(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(no_follow());
    let opened = faults::pass(Step::Open, path).and_then(|()| options.open(path));
    opened.map_err(|e| FileError::io("open", path, e))
}

/// Opens a private file for writing anywhere in it, making it when it is not there. What stands in it stays.
pub fn private_in_place(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow());
    let opened = faults::pass(Step::Open, path).and_then(|()| options.open(path));
    opened.map_err(|e| FileError::io("open", path, e))
}

/// Makes `bytes` what stands in a private file from byte `at` on, and syncs it; what stood there and behind is gone. The
/// file is made when it is not there, and before `at` nothing changes, whatever fails.
pub fn rewrite_from(path: &Path, at: u64, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = private_append(path)?;
    faults::pass(Step::Cut, path)
        .and_then(|()| file.set_len(at))
        .and_then(|()| write(&mut file, path, bytes))
        .and_then(|()| faults::pass(Step::Sync, path))
        .and_then(|()| file.sync_data())
        .map_err(|e| FileError::io("write", path, e))
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match faults::pass(Step::Remove, path).and_then(|()| fs::remove_file(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(FileError::io("delete", path, e)),
        _ => Ok(()),
    }
}

/// Writes all of `bytes`.
fn write(file: &mut impl Write, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Err(refused) = faults::pass(Step::Write, path) {
        file.write_all(&bytes[..bytes.len() / 2])?;
        return Err(refused);
    }
    file.write_all(bytes)
}

/// Opens a file of wisp's own for reading, refusing links and anything but a regular file.
pub fn open_own(path: &Path) -> Result<File, FileError> {
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).expect("open flags fit a C int");
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(no_follow() | nonblock);
    let file = options.open(path).map_err(|e| FileError::io("open", path, e))?;
    let regular = file
        .metadata()
        .map_err(|e| FileError::io("read", path, e))?
        .is_file();
    if regular {
        Ok(file)
    } else {
        Err(FileError::io(
            "open",
            path,
            io::Error::other("it is not a regular file"),
        ))
    }
}

/// Replaces `path` by `bytes` as one step: readers see the old file or the new one, also after a crash. The new
/// file is 0600; the folder is synced so that the rename itself survives a power loss.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut staged = Staged::beside(path)?;
    staged
        .write_all(bytes)
        .map_err(|e| FileError::io("write", path, e))?;
    staged.commit()
}

/// A file being written beside its target, which it replaces at [`Staged::commit`]; dropped, it is removed.
#[derive(Debug)]
pub struct Staged {
    file: tempfile::NamedTempFile,
    target: PathBuf,
}

impl Staged {
    /// Starts a private file in the folder of `target`.
    pub fn beside(target: &Path) -> Result<Self, FileError> {
        let dir = target.parent().unwrap_or(Path::new("."));
        let made = || tempfile::Builder::new().prefix(".wisp-").tempfile_in(dir);
        let file = faults::pass(Step::Create, target).and_then(|()| made());
        let file = file.map_err(|e| FileError::io("create a file in", dir, e))?;
        Ok(Self {
            file,
            target: target.to_owned(),
        })
    }

    /// The open file, for what `Write` does not cover (its mode, its length).
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Syncs the file.
    pub fn sync(&self) -> io::Result<()> {
        faults::pass(Step::Sync, &self.target)?;
        self.file.as_file().sync_data()
    }

    /// Syncs the file, renames it over its target and syncs the folder.
    pub fn commit(self) -> Result<(), FileError> {
        self.sync().map_err(|e| FileError::io("sync", &self.target, e))?;
        let Self { file, target } = self;
        faults::pass(Step::Replace, &target)
            .and_then(|()| file.persist(&target).map_err(|e| e.error))
            .map_err(|e| FileError::io("replace", &target, e))?;
        let dir = target.parent().unwrap_or(Path::new("."));
        let synced = || File::open(dir).and_then(|d| d.sync_all());
        let synced = faults::pass(Step::SyncFolder, dir).and_then(|()| synced());
        synced.map_err(|e| FileError::io("sync", dir, e))
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write(&mut self.file, &self.target, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes the files wisp meets")]

    use super::*;

    #[test]
    fn a_replaced_file_is_private_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_others_may_read_is_made_private_and_a_shared_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        private_dir(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o700);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).unwrap();
        let refused = private_dir(&path).unwrap_err().to_string();
        assert!(refused.ends_with("all users share it"), "{refused}");
        assert_eq!(
            fs::metadata(&path).unwrap().mode() & 0o7777,
            0o1777,
            "left as it was"
        );
    }

    #[test]
    fn a_file_that_others_can_write_is_refused_with_the_command_that_helps() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        fs::write(&path, "{}").unwrap();
        for (mode, fine) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let said = trusted(&open_own(&path).unwrap(), &path);
            assert_eq!(said.is_ok(), fine, "{mode:o}");
            if let Err(error) = said {
                let fix = format!("others can write it; hint: chmod go-w {}", path.display());
                assert!(error.to_string().ends_with(&fix), "{error}");
            }
        }
    }

    #[test]
    fn a_link_in_place_of_a_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        private_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(matches!(private_dir(&link), Err(FileError::NotOurs { .. })));
    }

    #[test]
    fn a_link_in_place_of_a_file_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
        assert!(private_append(&link).is_err());
        assert!(open_own(&link).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }
}
