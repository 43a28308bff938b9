//! A file that is to be changed: found through its links, and replaced with its mode, owner and links as they were.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use wisp_host::files::Staged;

/// What kept a file from being changed. Every text names the path as it was given.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A directory stands at the path.
    #[error("path is a directory: {}; give the path of a file in it", .0.display())]
    Directory(PathBuf),
    /// The directory the file would stand in does not exist.
    #[error("cannot write {}: its directory does not exist; make it first with run_command: mkdir -p {}", .0.display(), .0.parent().unwrap_or(.0).display())]
    NoDirectory(PathBuf),
    /// A link that leads nowhere.
    #[error("file not found: {} is a link to {}, which does not exist; give the path of a file that exists", path.display(), target.display())]
    Dangling {
        /// The link.
        path: PathBuf,
        /// Where it points.
        target: PathBuf,
    },
    /// Something that is not a regular file.
    #[error("not a regular file: {}; edit_file changes text files only", .0.display())]
    Special(PathBuf),
    /// The file is marked read-only.
    #[error("cannot write {}: it is marked read-only (mode {mode:o}); tell the user, or write another file", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The system refused.
    #[error("cannot {what} {}: {source}{}", path.display(), super::text::next_step(source))]
    Io {
        /// What was being done.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl PlaceError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// A path that can be written: the real file behind any links, and what stands there now.
#[derive(Debug)]
pub struct Place {
    /// The path as it was given.
    pub given: PathBuf,
    /// The file itself, links resolved.
    pub real: PathBuf,
    /// What stands there; none when the file is to be created.
    pub existing: Option<Metadata>,
}

impl Place {
    /// Finds the file behind `path` (absolute), refusing what cannot be edited.
    pub fn find(path: &Path) -> Result<Self, PlaceError> {
        match fs::canonicalize(path) {
            Ok(real) => Self::standing(path, real),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Self::absent(path),
            Err(e) => Err(PlaceError::io("open", path)(e)),
        }
    }

    fn standing(given: &Path, real: PathBuf) -> Result<Self, PlaceError> {
        let meta = fs::metadata(&real).map_err(PlaceError::io("read", given))?;
        let mode = meta.permissions().mode() & 0o7777;
        if meta.is_dir() {
            return Err(PlaceError::Directory(given.to_owned()));
        }
        if !meta.is_file() {
            return Err(PlaceError::Special(given.to_owned()));
        }
        // Root may write anything; a file marked read-only is still refused.
        if mode & 0o222 == 0 {
            return Err(PlaceError::ReadOnly {
                path: given.to_owned(),
                mode,
            });
        }
        Ok(Self {
            given: given.to_owned(),
            real,
            existing: Some(meta),
        })
    }

    fn absent(path: &Path) -> Result<Self, PlaceError> {
        if let Ok(target) = fs::read_link(path) {
            return Err(PlaceError::Dangling {
                path: path.to_owned(),
                target,
            });
        }
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(PlaceError::Directory(path.to_owned()));
        };
        let dir = fs::canonicalize(dir).map_err(|_| PlaceError::NoDirectory(path.to_owned()))?;
        Ok(Self {
            given: path.to_owned(),
            real: dir.join(name),
            existing: None,
        })
    }

    /// The file's size in bytes, 0 when it does not exist yet.
    pub fn size(&self) -> u64 {
        self.existing.as_ref().map_or(0, Metadata::len)
    }

    /// Reads the whole file; empty when it does not exist yet.
    pub fn read(&self) -> Result<Vec<u8>, PlaceError> {
        if self.existing.is_none() {
            return Ok(Vec::new());
        }
        fs::read(&self.real).map_err(PlaceError::io("read", &self.given))
    }

    /// Reads at most so many bytes of the file's beginning.
    pub fn start(&self, most: u64) -> Result<Vec<u8>, PlaceError> {
        let io = |e| PlaceError::io("read", &self.given)(e);
        let mut start = Vec::new();
        File::open(&self.real)
            .and_then(|file| file.take(most).read_to_end(&mut start))
            .map_err(io)?;
        Ok(start)
    }

    /// Replaces the file's content in one step, mode, owner, links and hard links kept.
    pub fn write(&self, bytes: &[u8]) -> Result<(), PlaceError> {
        let io = |e| PlaceError::io("write", &self.given)(e);
        match &self.existing {
            None => self.create(bytes),
            // A rename would part a hard link from its other names, so such a file is written in place.
            Some(meta) if meta.nlink() > 1 => {
                let mut file = OpenOptions::new()
                    .write(true)
                    .truncate(true)
                    .open(&self.real)
                    .map_err(io)?;
                file.write_all(bytes).and_then(|()| file.sync_data()).map_err(io)
            }
            Some(meta) => self.swap(meta, |staged| staged.write_all(bytes)),
        }
    }

    /// Adds to the file's end without loading it: copied in blocks to a new file that replaces it.
    pub fn append(&self, bytes: &[u8]) -> Result<(), PlaceError> {
        match &self.existing {
            None => self.create(bytes),
            Some(meta) if meta.nlink() > 1 => {
                let io = |e| PlaceError::io("write", &self.given)(e);
                let mut file = OpenOptions::new().append(true).open(&self.real).map_err(io)?;
                file.write_all(bytes).and_then(|()| file.sync_data()).map_err(io)
            }
            Some(meta) => self.swap(meta, |staged| {
                let mut old = File::open(&self.real)?;
                let mut block = vec![0; 64 * 1024];
                loop {
                    match old.read(&mut block)? {
                        0 => return staged.write_all(bytes),
                        n => staged.write_all(&block[..n])?,
                    }
                }
            }),
        }
    }

    fn create(&self, bytes: &[u8]) -> Result<(), PlaceError> {
        let io = |e| PlaceError::io("create", &self.given)(e);
        // The person's own umask decides the mode of a file in their own folder.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o666)
            .open(&self.real)
            .map_err(io)?;
        file.write_all(bytes)
            .and_then(|()| file.sync_data())
            .map_err(|e| {
                let _ = fs::remove_file(&self.real);
                io(e)
            })
    }

    fn swap(
        &self,
        meta: &Metadata,
        fill: impl FnOnce(&mut Staged) -> io::Result<()>,
    ) -> Result<(), PlaceError> {
        let io = |e| PlaceError::io("write", &self.given)(e);
        let failed = |e: wisp_host::FileError| io(io::Error::other(e));
        let mut staged = Staged::beside(&self.real).map_err(failed)?;
        fill(&mut staged).map_err(io)?;
        // Another's file can be written but not given back to them without the right to; the mode still holds.
        let _ = std::os::unix::fs::fchown(staged.file(), Some(meta.uid()), Some(meta.gid()));
        staged.file().set_permissions(meta.permissions()).map_err(io)?;
        staged.commit().map_err(failed)
    }
}
