//! A conversation's place among the saved ones, from its opening to its end.

use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use wisp_context::{
    Files, Loaded, Masking, Recalled, Revision, SavedFile, ThreadRecord, Wanted, load_with_past,
};
use wisp_host::FileError;
use wisp_host::files::{self, Staged};

use crate::damage::set_aside;
use crate::folder::{Folder, called, is_session};
use crate::lock::Lock;
use crate::{Resume, SavedError, Saving, checked};

/// Where a conversation is saved, and up to which change it is.
#[derive(Debug)]
pub struct Thread {
    folder: Folder,
    name: String,
    /// Taken at the first save of an unnamed conversation, else at once.
    lock: Option<Lock>,
    saved: Option<Revision>,
    /// Whether a save without a past is in place, so that what stands in the file of the past is nobody's.
    apart: bool,
    /// Whether the last save failed.
    failed: bool,
    /// How long the last save took.
    took: Duration,
}

/// A save that takes longer is made when the turn ends, and not within it.
const MIDWAY: Duration = Duration::from_millis(50);

/// A conversation read back.
#[derive(Debug)]
pub struct Resumed {
    /// The record.
    pub record: ThreadRecord,
    /// The name it was saved under.
    pub name: String,
    /// One sentence on what was damaged, when something was.
    pub damage: Option<String>,
    /// One sentence on records that a later wisp wrote, when there are any.
    pub later: Option<String>,
    /// Outputs from before admission whose excerpt was decided now.
    pub normalised: usize,
}

/// Opens what is asked for: the place to save to, none when nothing is saved, and the conversation to go on with.
/// Everything that can be wrong is found before a conversation starts.
pub fn open(
    saving: &Saving,
    folder: Folder,
    session: &str,
) -> Result<(Option<Thread>, Option<Resumed>), SavedError> {
    if !saving.on {
        return Ok((None, None));
    }
    if let Some(name) = &saving.name {
        checked(name)?;
    }
    let wanted = match &saving.resume {
        None => None,
        Some(Resume::Named(name)) => Some(folder.find(name)?),
        Some(Resume::LastOf(directory)) => Some(folder.last_of(directory)?),
        Some(Resume::Last) => {
            let last = folder.list()?.into_iter().next();
            Some(last.ok_or(SavedError::NothingSaved)?.name)
        }
    };
    match (wanted, &saving.name) {
        (Some(from), Some(to)) if *to != from => {
            let resumed = read(&folder, &from)?;
            let thread = Thread::named(folder, to)?;
            Ok((Some(thread), Some(resumed)))
        }
        (Some(name), _) => {
            let (thread, resumed) = Thread::resumed(folder, &name)?;
            Ok((Some(thread), Some(resumed)))
        }
        (None, Some(name)) => Ok((Some(Thread::named(folder, name)?), None)),
        (None, None) => Ok((Some(Thread::unnamed(folder, session, 1)), None)),
    }
}

/// Reads a conversation; damaged files are set aside first.
fn read(folder: &Folder, name: &str) -> Result<Resumed, SavedError> {
    let pair = folder.pair(name)?;
    let Loaded {
        record,
        losses,
        normalised,
        later,
    } = load_with_past(&pair.transcript, &pair.store, &pair.past).map_err(|why| SavedError::Unreadable {
        name: name.to_owned(),
        why,
    })?;
    let damage = if losses.is_empty() {
        None
    } else {
        Some(set_aside(folder, name, &pair, &losses)?)
    };
    Ok(Resumed {
        record,
        name: name.to_owned(),
        damage,
        later: later_kinds(name, later),
        normalised,
    })
}

/// What is said of `count` records that only a later wisp can read.
fn later_kinds(name: &str, count: usize) -> Option<String> {
    let records = match count {
        0 => return None,
        1 => "1 record of a kind".to_owned(),
        count => format!("{} records of kinds", wisp_output::amount::grouped(count as u64)),
    };
    Some(format!(
        "{name} has {records} that this wisp does not know: kept as they are, for the newer wisp that wrote them"
    ))
}

impl Thread {
    fn at(folder: Folder, name: String, lock: Option<Lock>) -> Self {
        Self {
            folder,
            name,
            lock,
            saved: None,
            apart: false,
            failed: false,
            took: Duration::ZERO,
        }
    }

    /// A new conversation under a name. Errors: the name is taken, or open elsewhere.
    pub fn named(folder: Folder, name: &str) -> Result<Self, SavedError> {
        checked(name)?;
        let lock = folder.lock(name)?;
        if folder.has(name) {
            return Err(SavedError::Exists {
                name: name.to_owned(),
            });
        }
        Ok(Self::at(folder, name.to_owned(), Some(lock)))
    }

    /// The saved conversation of this whole name, held from now on. Errors: there is none, it is open elsewhere, or
    /// damaged.
    pub fn resumed(folder: Folder, name: &str) -> Result<(Self, Resumed), SavedError> {
        // A name nothing is saved under must not leave a lock's file behind.
        folder.pair(name)?;
        let lock = folder.lock(name)?;
        let resumed = read(&folder, name)?;
        let mut thread = Self::at(folder, name.to_owned(), Some(lock));
        thread.saved = Some(resumed.record.revision());
        Ok((thread, resumed))
    }

    /// A new conversation without a name: the `number`th of its audit session.
    pub fn unnamed(folder: Folder, session: &str, number: u32) -> Self {
        let name = match number {
            0 | 1 => session.to_owned(),
            number => format!("{session}.{number}"),
        };
        Self::at(folder, name, None)
    }

    /// The name it is saved under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether anything of it is saved.
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// The name as it is given to `--resume`: of an unnamed one its id, without the time.
    pub fn called(&self) -> &str {
        called(&self.name)
    }

    /// Whether the person gave it.
    pub fn is_named(&self) -> bool {
        !is_session(&self.name)
    }

    /// The folder it is in.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether the record has changed since it was last saved.
    pub fn is_behind(&self, record: &ThreadRecord) -> bool {
        self.saved != Some(record.revision())
    }

    /// Saves the record: what left the context appended to the past, both other files written beside their targets,
    /// all of it synced, then the store put in place, then the transcript. On an error what was saved last is still
    /// there: the past behind the bytes its store names is nobody's. What is in the past then leaves memory.
    /// Secrets are written as `mask` has them.
    pub fn save(&mut self, record: &mut ThreadRecord, mask: Masking) -> Result<(), SavedError> {
        let done = self.write(record, mask);
        self.failed = done.is_err();
        done
    }

    fn write(&mut self, record: &mut ThreadRecord, mask: Masking) -> Result<(), SavedError> {
        if self.lock.is_none() {
            self.lock = Some(self.folder.lock(&self.name)?);
        }
        let began = Instant::now();
        let revision = record.revision();
        let saved = record.save_masked(self.apart, mask);
        if let Err(error) = self.put(&saved) {
            // The store in place may be the last save's or this one's, each with bytes of the past that are its own: none
            // of them may be touched before a save without a past is in place.
            self.apart = false;
            return Err(error.into());
        }
        record.put_away(&saved);
        self.apart = true;
        self.saved = Some(revision);
        self.took = began.elapsed();
        Ok(())
    }

    /// Makes the last save one that took long, as on a slow disk.
    #[cfg(feature = "slow")]
    pub fn seem_slow(&mut self) {
        self.took = 2 * MIDWAY;
    }

    /// Whether a save costs so little that it can be made within a turn as well.
    pub fn is_cheap(&self) -> bool {
        self.took <= MIDWAY
    }

    /// Whether the last save failed.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Writes all three files.
    fn put(&self, saved: &Files) -> Result<(), FileError> {
        if !saved.past.is_empty() {
            // Over what an unfinished save may have left there.
            let path = self.folder.file(&self.name, SavedFile::Past.ending());
            files::rewrite_from(&path, saved.past_at, &saved.past)?;
        }
        let store = self.staged(SavedFile::Store, &saved.store)?;
        let transcript = self.staged(SavedFile::Transcript, &saved.transcript)?;
        store.commit()?;
        transcript.commit()
    }

    /// The record with all of it in memory, what was put away read back.
    pub fn whole(&self, record: &ThreadRecord) -> Result<ThreadRecord, SavedError> {
        let past = self.folder.past(&self.name)?;
        record.rejoined(&past).ok_or_else(|| SavedError::PastUnreadable {
            name: self.name.clone(),
        })
    }

    /// An entry or a turn that was put away, read from its place in the past.
    pub fn recalled(&self, record: &ThreadRecord, wanted: &Wanted) -> Option<Recalled> {
        let path = self.folder.file(&self.name, SavedFile::Past.ending());
        let file = files::open_own(&path).ok()?;
        record.recall_from(wanted, &mut |from, bytes| file.read_at(bytes, from))
    }

    fn staged(&self, file: SavedFile, bytes: &[u8]) -> Result<Staged, FileError> {
        let path = self.folder.file(&self.name, file.ending());
        let mut staged = Staged::beside(&path)?;
        staged
            .write_all(bytes)
            .and_then(|()| staged.sync())
            .map_err(|e| FileError::io("write", &path, e))?;
        Ok(staged)
    }

    /// Removes what was saved: the conversation goes on under another name.
    pub fn forget(self) -> Result<(), SavedError> {
        if self.lock.is_some() {
            self.folder.remove(&self.name)?;
        }
        Ok(())
    }
}
