//! Removing conversations that nobody named and nobody has gone on with for a while.
//!
//! A start must not wait for a large folder, so at most sixteen conversations go, and none is looked at once a tenth
//! of a second has passed; the rest waits for the next start. A named conversation is never touched, nor one that is
//! open: its lock is taken first. What crashes left beside the conversations, and the contexts kept of condensations,
//! go by the same age.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use wisp_context::SavedFile;
use wisp_host::FileError;

use crate::folder::{Folder, Listed, is_session};

/// What stands in the name of a kept context of a condensation, between its audit session and its number.
pub const CONTEXT_MARK: &str = "-condensed";
/// The most conversations a start removes.
pub const REMOVAL_LIMIT: usize = 16;
/// How long a start looks.
pub const TIME_LIMIT: Duration = Duration::from_millis(100);
/// The most unnamed conversations that are kept, however young.
pub const MOST_UNNAMED: usize = 200;
/// Days after which what a killed save left beside the conversations is removed.
const DEBRIS_DAYS: u32 = 1;
/// How the files of an unfinished save begin.
const DEBRIS: &str = ".wisp-";

/// A sweep to be made.
#[derive(Debug, Clone)]
pub struct Sweep<'a> {
    /// The saved conversations.
    pub folder: &'a Folder,
    /// Where contexts of condensations are kept.
    pub contexts: &'a Path,
    /// The present time.
    pub now: Timestamp,
    /// Days after its last save that an unnamed conversation is kept; 0 keeps everything.
    pub days: u32,
    /// How long is looked.
    pub time_limit: Duration,
}

/// What a sweep did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Conversations removed, the oldest first.
    pub removed: Vec<String>,
    /// Bytes of their files.
    pub bytes: u64,
    /// Conversations past their time that a bound left for the next start.
    pub deferred: usize,
    /// Conversations past their time that are open elsewhere.
    pub open: usize,
    /// Files of unfinished saves and of old condensations that were removed.
    pub files: usize,
}

impl SweepReport {
    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.deferred == 0 && self.files == 0
    }
}

impl Sweep<'_> {
    /// Removes what is past its time, within the bounds. What cannot be removed is left; the one error is a folder
    /// that cannot be listed.
    pub fn run(&self) -> Result<SweepReport, FileError> {
        let began = Instant::now();
        let mut report = SweepReport::default();
        for one in self.past()? {
            if report.removed.len() == REMOVAL_LIMIT || began.elapsed() >= self.time_limit {
                report.deferred += 1;
                continue;
            }
            match self.folder.delete(&one.name) {
                Ok(()) => {
                    report.bytes += one.bytes;
                    report.removed.push(one.name);
                }
                Err(super::SavedError::Held { .. }) => report.open += 1,
                // A folder that cannot be written is said by the next save.
                Err(_) => {}
            }
        }
        report.files = self.debris(began);
        Ok(report)
    }

    /// The unnamed conversations past their time, the oldest first.
    pub fn past(&self) -> Result<Vec<Listed>, FileError> {
        if self.days == 0 {
            return Ok(Vec::new());
        }
        let mut unnamed = self.folder.list()?;
        unnamed.retain(|one| !one.named);
        let mut past: Vec<Listed> = unnamed
            .into_iter()
            .enumerate()
            .filter(|(at, one)| *at >= MOST_UNNAMED || self.is_past(one.saved, self.days))
            .map(|(_, one)| one)
            .collect();
        past.reverse();
        Ok(past)
    }

    /// Whether a time lies more than so many days back.
    fn is_past(&self, then: SystemTime, days: u32) -> bool {
        let then = Timestamp::try_from(then).unwrap_or(self.now);
        self.now.as_second() - then.as_second() > i64::from(days) * 24 * 3600
    }

    /// Removes what unfinished saves left, and contexts of condensations past their time.
    fn debris(&self, began: Instant) -> usize {
        let left = |name: &str| is_debris(name) || self.is_lone_past(name);
        let saves = (self.folder.root(), DEBRIS_DAYS, &left as &dyn Fn(&str) -> bool);
        let contexts = (self.contexts, self.days, &is_context as &dyn Fn(&str) -> bool);
        let mut removed = 0;
        for (folder, days, ours) in [saves, contexts] {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            for file in files.filter(|_| days > 0) {
                if began.elapsed() >= self.time_limit {
                    break;
                }
                let Ok(meta) = fs::symlink_metadata(file.path()) else {
                    continue;
                };
                let old = meta.modified().is_ok_and(|then| self.is_past(then, days));
                let named = file.file_name().to_str().is_some_and(ours);
                if old && named && meta.is_file() && fs::remove_file(file.path()).is_ok() {
                    removed += 1;
                }
            }
        }
        removed
    }

    /// `work.past` of which neither the store nor the transcript is there: what a deletion left that was stopped in the
    /// middle.
    fn is_lone_past(&self, file: &str) -> bool {
        let past = file.rsplit_once('.');
        past.is_some_and(|(name, ending)| ending == SavedFile::Past.ending() && !self.folder.has(name))
    }
}

/// `.wisp-a1B2c3`: a file of a save that never came to its end.
fn is_debris(name: &str) -> bool {
    name.starts_with(DEBRIS)
}

/// `20261130T090000-1a2b3c4d-condensed3-before.md`: a context kept of a condensation.
fn is_context(name: &str) -> bool {
    let session = name.split_once(CONTEXT_MARK).map(|(session, _)| session);
    session.is_some_and(is_session) && Path::new(name).extension().is_some_and(|ending| ending == "md")
}

#[cfg(test)]
mod tests {
    use super::{is_context, is_debris};

    #[test]
    fn only_what_is_ours_is_debris() {
        assert!(is_context("20261130T090000-1a2b3c4d-condensed3-before.md"));
        assert!(is_context("20261130T090000-1a2b3c4d.2-condensed12-after.md"));
        for name in [
            "20261130T090000-1a2b3c4d-turn3.md",
            "mine-condensed3-before.md",
            "20261130T090000-1a2b3c4d-condensed3-before.txt",
        ] {
            assert!(!is_context(name), "{name}");
        }
        assert!(is_debris(".wisp-Ab12xy") && !is_debris("wisp-Ab12xy.store"));
    }
}
