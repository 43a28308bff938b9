//! Removing the records of sessions that are past their time.
//!
//! A start must not wait for a large folder, so at most sixteen sessions go at once and none is looked at once a tenth
//! of a second has passed; the rest waits for the next start. A session that is in use, here or in another process,
//! stays; so does one that the caller still needs, for example because a transcript refers to it.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use wisp_host::FileError;

use crate::index::index_of;
use crate::register::{self, Became};
use crate::session::{SessionFile, SessionId, seal_of, sessions};
use crate::{AuditError, Key};

/// The most sessions a sweep removes.
pub const REMOVAL_LIMIT: usize = 16;

/// How long a sweep looks at sessions.
pub const TIME_LIMIT: Duration = Duration::from_millis(100);

/// A sweep to be made (design: "Audit").
pub struct Sweep<'a> {
    /// Where the audit is.
    pub home: &'a Path,
    /// The present time.
    pub now: Timestamp,
    /// Days after its last event that a session is kept; 0 keeps everything.
    pub days: u32,
    /// Whether a session must stay whatever its age.
    pub keep: &'a dyn Fn(&SessionId) -> bool,
    /// What the register's seal is made with.
    pub key: Option<&'a Key>,
}

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Sessions removed, the oldest first.
    pub removed: Vec<SessionFile>,
    /// Sessions past their time that a bound left for the next sweep.
    pub deferred: usize,
}

impl Sweep<'_> {
    /// Removes what is past its time, within the bounds. A file that cannot be removed is left; the one error is a
    /// folder that cannot be listed, or a register that cannot be written.
    pub fn run(&self) -> Result<SweepReport, AuditError> {
        let (started, mut report) = (Instant::now(), SweepReport::default());
        let past = sessions(self.home)?.into_iter().filter(|file| self.is_past(file));
        let mut held = Vec::new();
        for file in past.rev() {
            if held.len() == REMOVAL_LIMIT || started.elapsed() >= TIME_LIMIT {
                report.deferred += 1;
            } else if !(self.keep)(&file.session)
                && let Some(lock) = locked(&file.path)
            {
                held.push((file, lock));
            }
        }
        if held.is_empty() {
            return Ok(report);
        }
        // The register has them first: one that it says is gone and that is still there is no fault.
        let names: Vec<&SessionId> = held.iter().map(|(file, _)| &file.session).collect();
        register::note(self.home, &names, Became::Swept, self.now, self.key)?;
        let removed = held.into_iter().filter(|(file, _)| remove(&file.path).is_ok());
        report.removed = removed.map(|(file, _)| file).collect();
        Ok(report)
    }

    fn is_past(&self, file: &SessionFile) -> bool {
        let Ok(modified) = Timestamp::try_from(file.modified) else {
            return false;
        };
        let age = self.now.as_second() - modified.as_second();
        self.days > 0 && age > i64::from(self.days) * 24 * 3600
    }
}

/// A session's file, held so that no log opens it; none when one has.
fn locked(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Removes a session's file, its seal and its index.
fn remove(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(|e| FileError::io("remove", path, e))?;
    // Without its file neither says anything; one that was never made is no failure.
    let _ = fs::remove_file(seal_of(path));
    let _ = fs::remove_file(index_of(path));
    Ok(())
}
