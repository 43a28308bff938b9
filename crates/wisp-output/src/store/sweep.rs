//! Removing the outputs of sessions that nobody has used for a while.
//!
//! A start must not wait for a large store, so a sweep removes at most sixteen sessions and looks at none once a
//! tenth of a second has passed; the rest waits for the next start. It never touches the session in use, nor
//! anything wisp did not write: a directory goes only when its name is safe and all it holds are regular files with
//! safe names.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::shelf::names_in;
use super::{Shelf, StoreError, is_safe_name};

/// Days after its last use that a session's outputs are kept, unless the person sets otherwise.
pub const DEFAULT_DAYS: u32 = 30;

/// The most sessions a start removes.
pub const REMOVAL_LIMIT: usize = 16;

/// How long a start looks at sessions.
pub const TIME_LIMIT: Duration = Duration::from_millis(100);

/// How old a file without a record is when it counts as debris: no command being kept takes that long.
const DEBRIS_HOURS: i64 = 24;

/// A session whose outputs were, or would be, removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The audit session.
    pub session: String,
    /// Bytes of its files.
    pub bytes: u64,
}

/// What a sweep did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Sessions removed, the oldest first.
    pub removed: Vec<Swept>,
    /// Sessions past their time that a bound left for the next start.
    pub deferred: usize,
    /// Files without a record that were removed: what a crash left.
    pub debris: usize,
}

impl SweepReport {
    /// Bytes of the sessions removed.
    pub fn bytes(&self) -> u64 {
        self.removed.iter().map(|swept| swept.bytes).sum()
    }

    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.deferred == 0 && self.debris == 0
    }
}

/// What the store holds, for `wisp doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Sessions with outputs.
    pub sessions: usize,
    /// Bytes of their files.
    pub bytes: u64,
    /// What the next sweep would remove.
    pub next: SweepReport,
    /// Names in the store that are not wisp's and are left alone.
    pub foreign: Vec<String>,
}

/// A sweep to be made.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    /// What is swept.
    pub shelf: &'a Shelf,
    /// The session in use, which stays.
    pub current: Option<&'a str>,
    /// The present time.
    pub now: Timestamp,
    /// Days after its last use that a session is kept; 0 keeps everything.
    pub days: u32,
    /// How long sessions are looked at.
    pub time_limit: Duration,
}

impl Sweep<'_> {
    /// Removes what is past its time, within the bounds. What cannot be removed is left; the one error is a store
    /// that cannot be listed.
    pub fn run(&self) -> Result<SweepReport, StoreError> {
        self.pass(true)
    }

    /// What [`Sweep::run`] would remove and what the store holds, changing nothing and without a time limit.
    pub fn survey(&self) -> Result<Survey, StoreError> {
        let unhurried = Sweep {
            time_limit: Duration::MAX,
            ..self.clone()
        };
        let mut survey = Survey {
            next: unhurried.pass(false)?,
            ..Survey::default()
        };
        for name in names_in(self.shelf.root())? {
            match Folder::read(&self.shelf.dir_of(&name), &name) {
                Some(folder) => {
                    survey.sessions += 1;
                    survey.bytes += folder.bytes();
                }
                None => survey.foreign.push(name),
            }
        }
        Ok(survey)
    }

    fn pass(&self, remove: bool) -> Result<SweepReport, StoreError> {
        let started = Instant::now();
        let mut report = SweepReport::default();
        let candidates = self.candidates()?;
        for (_, name) in candidates.aged {
            if report.removed.len() == REMOVAL_LIMIT || started.elapsed() >= self.time_limit {
                report.deferred += 1;
                continue;
            }
            report.removed.extend(self.sweep_one(&name, remove));
        }
        for name in candidates.recent {
            if started.elapsed() >= self.time_limit {
                break;
            }
            report.debris += self.sweep_debris(&name, remove);
        }
        Ok(report)
    }

    /// Sessions whose directory is past its time, the oldest first, and the others; never the one in use.
    fn candidates(&self) -> Result<Candidates, StoreError> {
        let mut found = Candidates::default();
        for name in names_in(self.shelf.root())? {
            let dir = self.shelf.dir_of(&name);
            let Some(used) = modified(&dir).filter(|_| self.current != Some(&name) && is_safe_name(&name))
            else {
                continue;
            };
            if self.is_past(used) {
                found.aged.push((used, name));
            } else {
                found.recent.push(name);
            }
        }
        found.aged.sort();
        Ok(found)
    }

    fn is_past(&self, used: Timestamp) -> bool {
        let days = i64::from(self.days);
        self.days > 0 && self.now.as_second() - used.as_second() > days * 24 * 3600
    }

    /// Removes a session whose files are past their time too.
    fn sweep_one(&self, name: &str, remove: bool) -> Option<Swept> {
        let dir = self.shelf.dir_of(name);
        let folder = Folder::read(&dir, name).filter(|folder| self.is_past(folder.used))?;
        if remove {
            for file in &folder.files {
                fs::remove_file(&file.path).ok()?;
            }
            fs::remove_dir(&dir).ok()?;
        }
        Some(Swept {
            session: name.to_owned(),
            bytes: folder.bytes(),
        })
    }

    /// Removes files without a record that nobody has written to for a day; returns how many.
    fn sweep_debris(&self, name: &str, remove: bool) -> usize {
        let Some(folder) = Folder::read(&self.shelf.dir_of(name), name) else {
            return 0;
        };
        let old = |used: Timestamp| self.now.as_second() - used.as_second() > DEBRIS_HOURS * 3600;
        let debris = folder
            .files
            .iter()
            .filter(|file| file.is_debris(&folder) && old(file.used));
        debris
            .filter(|file| !remove || fs::remove_file(&file.path).is_ok())
            .count()
    }
}

/// Sessions by the age of their directory.
#[derive(Default)]
struct Candidates {
    aged: Vec<(Timestamp, String)>,
    recent: Vec<String>,
}

/// A session's directory that holds nothing but what wisp writes.
struct Folder {
    files: Vec<Listed>,
    /// The newest time among the directory and its files.
    used: Timestamp,
}

struct Listed {
    path: PathBuf,
    name: String,
    bytes: u64,
    used: Timestamp,
}

impl Listed {
    /// Whether this is no record and has none.
    fn is_debris(&self, folder: &Folder) -> bool {
        let record = format!("{}.json", self.name);
        let is_record = Path::new(&self.name)
            .extension()
            .is_some_and(|ending| ending == "json");
        !is_record && !folder.files.iter().any(|file| file.name == record)
    }
}

impl Folder {
    /// Reads a session's directory; `None` when it is a link, or anything in it is not wisp's.
    fn read(dir: &Path, name: &str) -> Option<Self> {
        if !is_safe_name(name) || !fs::symlink_metadata(dir).ok()?.is_dir() {
            return None;
        }
        let mut folder = Self {
            files: Vec::new(),
            used: modified(dir)?,
        };
        for entry in fs::read_dir(dir).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let meta = entry.metadata().ok()?;
            // wisp's own names, and those of a record that was being written when the machine stopped.
            if !meta.is_file() || !(is_safe_name(&name) || name.starts_with(".wisp-")) {
                return None;
            }
            let used = Timestamp::try_from(meta.modified().ok()?).ok()?;
            folder.used = folder.used.max(used);
            folder.files.push(Listed {
                path: entry.path(),
                name,
                bytes: meta.len(),
                used,
            });
        }
        Some(folder)
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// When a directory, not a link to one, was last changed.
fn modified(dir: &Path) -> Option<Timestamp> {
    let meta = fs::symlink_metadata(dir).ok().filter(fs::Metadata::is_dir)?;
    Timestamp::try_from(meta.modified().ok()?).ok()
}
