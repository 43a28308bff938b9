//! Going through a folder: ignore files respected, `.git` and wisp's home left out, bounded in time, sorted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder};

/// The longest a search may take.
const LIMIT: Duration = Duration::from_secs(20);

/// What is gone through, and until when.
pub struct Scope {
    /// The folder or the file, real.
    pub root: PathBuf,
    /// The folder that paths are told relative to; empty for absolute ones.
    pub under: PathBuf,
    /// wisp's home, real, which is left out.
    pub own: PathBuf,
    /// How long it may take.
    pub limit: Duration,
    /// Whether it is to stop.
    pub stop: Box<dyn Fn() -> bool + Send>,
}

/// What was met on the way.
#[derive(Debug, Default)]
pub struct Seen {
    /// Files that hold credentials, as told, and were left out.
    pub credentials: Vec<String>,
    /// Files and folders that could not be read.
    pub unread: u64,
    /// Whether the time was over before the end.
    pub late: bool,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

impl Scope {
    /// All of a folder, told relative to it, for at most 20 s.
    pub fn of(root: PathBuf) -> Self {
        Self {
            under: root.clone(),
            root,
            own: PathBuf::new(),
            limit: LIMIT,
            stop: Box::new(|| false),
        }
    }

    /// A path as it is told: relative to the folder it is told under, else absolute.
    pub fn told(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.under).unwrap_or(path);
        if relative.as_os_str().is_empty() {
            ".".to_owned()
        } else {
            relative.display().to_string()
        }
    }

    /// Hands over every file and folder below the root, sorted, until `each` says that it is enough. Links are handed over
    /// and not followed.
    pub fn walk(&self, mut each: impl FnMut(&DirEntry, &mut Seen) -> bool) -> Seen {
        let mut seen = Seen::default();
        let until = Instant::now() + self.limit;
        for entry in self.builder().build() {
            if (self.stop)() {
                seen.stopped = true;
                break;
            }
            if Instant::now() > until {
                seen.late = true;
                break;
            }
            match entry {
                Ok(entry) if entry.depth() == 0 && entry.path().is_dir() => {}
                Ok(entry) => {
                    if !each(&entry, &mut seen) {
                        break;
                    }
                }
                Err(_) => seen.unread += 1,
            }
        }
        seen
    }

    fn builder(&self) -> WalkBuilder {
        let mut builder = WalkBuilder::new(&self.root);
        builder
            .hidden(false)
            .follow_links(false)
            .require_git(false)
            .sort_by_file_name(OsStr::cmp);
        let own = self.own.clone();
        builder.filter_entry(move |entry| {
            let is_own = !own.as_os_str().is_empty() && entry.path() == own;
            !is_own && entry.file_name() != OsStr::new(".git")
        });
        builder
    }
}

/// Whether an entry is a regular file.
pub fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

/// Whether an entry is a folder.
pub fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
}

/// Whether a path is one that `read_file` asks about because it may hold credentials.
pub fn holds_credentials(path: &Path) -> bool {
    wisp_guard::credentials::is_path(&path.to_string_lossy())
}
