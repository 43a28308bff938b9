//! Reading the two files.

use serde_json::Value;
use thiserror::Error;
use wisp_amount::{counted, grouped};

use crate::entry::{Content, Entry, Kind};
use crate::record::ThreadRecord;

use super::rebuild::{Parts, rebuild};
use super::salvage::{self, Read};
use super::{Transcript, VERSION, version_of};

/// A record read back, and what could not be.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The record. Its turns' entries have the origin `resumed`; a turn that was open is ended as interrupted.
    pub record: ThreadRecord,
    /// What was damaged, in the order it stood. Empty for whole files.
    pub losses: Vec<Loss>,
    /// Outputs of a file from before admission whose excerpt was decided now, once.
    pub normalised: usize,
    /// Records of a kind that only a later wisp knows: kept as they are, and saved again with the rest.
    pub later: usize,
}

/// One of the files a conversation is saved in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SavedFile {
    /// `<name>.store`.
    Store,
    /// `<name>.json`.
    Transcript,
    /// `<name>.past`.
    Past,
}

impl SavedFile {
    /// Every one of them.
    pub const ALL: [Self; 3] = [Self::Store, Self::Transcript, Self::Past];

    /// What its name ends in.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Transcript => "json",
            Self::Past => "past",
        }
    }
}

/// A damaged place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The file.
    pub file: SavedFile,
    /// The line of it, from 1; 0 for the transcript, and for a file as a whole.
    pub line: usize,
    /// How many of its records are lost; 0 when everything in it was read all the same.
    pub records: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Why a saved conversation cannot be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LoadError {
    /// Neither file has anything that can be read.
    #[error("the saved conversation is damaged: {0}")]
    Damaged(String),
    /// It has no version, or one from before this.
    #[error("the conversation was saved by an older wisp; start a new conversation")]
    Older,
    /// It has a version from after this.
    #[error("the conversation was saved by a newer wisp (file version {found}, this wisp reads {VERSION})")]
    Newer {
        /// The version it has.
        found: u64,
    },
}

/// Reads a record of which nothing is in a past: [`load_with_past`] with an empty one.
pub fn load(transcript: &[u8], store: &[u8]) -> Result<Loaded, LoadError> {
    load_with_past(transcript, store, &[])
}

/// Reads a record from the bytes of its transcript, its store and its past. Each may be empty, torn or nonsense; what
/// one lacks is taken from the others. Fails only when there is nothing to go on with, or the version is another.
pub fn load_with_past(transcript: &[u8], store: &[u8], past: &[u8]) -> Result<Loaded, LoadError> {
    let copy = read_transcript(transcript);
    let mut read = salvage::read(store);
    if let Some(version) = read
        .header_version
        .or_else(|| copy.as_ref().err().and_then(Unreadable::version))
    {
        check(version)?;
    }
    if read.looks_older() {
        return Err(LoadError::Older);
    }
    let mut losses = std::mem::take(&mut read.losses);
    match (&copy, read.is_empty()) {
        (Err(reason), true) => return Err(LoadError::Damaged(reason.words(store.is_empty()))),
        (Err(reason), false) => losses.push(transcript_loss(reason, transcript.is_empty())),
        (Ok(_), true) => losses.push(store_loss()),
        (Ok(_), false) => losses.extend(odd(transcript)),
    }
    with_past(&mut read, past, &mut losses);
    let parts = merge(read, copy.ok());
    let mut record = rebuild(parts, &mut losses)
        .ok_or_else(|| LoadError::Damaged("its instructions are lost".to_owned()))?;
    let all = record.entries.len();
    let entries = record.entries.range_mut(0..all).iter_mut();
    let normalised = entries.filter_map(just_normalised).count();
    let later = record.later.len() + later_entries(&record);
    Ok(Loaded {
        record,
        losses,
        normalised,
        later,
    })
}

fn later_entries(record: &ThreadRecord) -> usize {
    let entries = record.entries.here().iter();
    entries.filter(|entry| entry.kind() == Kind::Later).count()
}

fn check(version: u64) -> Result<(), LoadError> {
    match version {
        VERSION => Ok(()),
        older if older < VERSION => Err(LoadError::Older),
        found => Err(LoadError::Newer { found }),
    }
}

/// Something once for an output whose excerpt was decided in this loading.
fn just_normalised(entry: &mut Entry) -> Option<()> {
    match &mut entry.content {
        Content::Output(output) => std::mem::take(&mut output.just_normalised).then_some(()),
        _ => None,
    }
}

/// Why a transcript could not be read.
enum Unreadable {
    NotJson,
    Version(u64),
    NoVersion,
}

impl Unreadable {
    fn version(&self) -> Option<u64> {
        match self {
            Self::Version(found) => Some(*found),
            Self::NotJson | Self::NoVersion => None,
        }
    }

    fn words(&self, empty: bool) -> String {
        let store = if empty {
            "its store is empty"
        } else {
            "its store cannot be read"
        };
        let transcript = match self {
            Self::NotJson | Self::Version(_) => "its transcript is no whole JSON document",
            Self::NoVersion => "its transcript has no version",
        };
        format!("{store} and {transcript}")
    }
}

fn read_transcript(bytes: &[u8]) -> Result<Transcript, Unreadable> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|letter: char| letter == '\0' || letter.is_whitespace());
    let value: Value = serde_json::from_str(text).map_err(|_| Unreadable::NotJson)?;
    match version_of(&value) {
        Some(VERSION) => serde_json::from_str(text).map_err(|_| Unreadable::NotJson),
        Some(version) => Err(Unreadable::Version(version)),
        None => Err(Unreadable::NoVersion),
    }
}

fn transcript_loss(reason: &Unreadable, empty: bool) -> Loss {
    let what = match (reason, empty) {
        (_, true) => "the transcript is missing or empty; everything was read from the store",
        _ => "the transcript could not be read; everything was read from the store",
    };
    Loss {
        file: SavedFile::Transcript,
        line: 0,
        records: 0,
        what: what.to_owned(),
    }
}

/// What is wrong with a transcript that was read all the same.
fn odd(transcript: &[u8]) -> Option<Loss> {
    let what = if std::str::from_utf8(transcript).is_err() {
        "bytes that are not UTF-8; everything was read from the store"
    } else if transcript.contains(&0) {
        "a run of NUL bytes"
    } else {
        return None;
    };
    Some(Loss {
        file: SavedFile::Transcript,
        line: 0,
        records: 0,
        what: what.to_owned(),
    })
}

fn store_loss() -> Loss {
    let what = "the store could not be read: what the other two files do not have is lost";
    Loss {
        file: SavedFile::Store,
        line: 1,
        records: 0,
        what: what.to_owned(),
    }
}

/// Adds what the past has, as far as it belongs to the save; all of it when the store does not say.
fn with_past(read: &mut Read, past: &[u8], losses: &mut Vec<Loss>) {
    let own = read
        .past
        .and_then(|own| usize::try_from(own).ok())
        .unwrap_or(past.len());
    // Bytes that something put in between push the end of what is ours behind its mark.
    let pushed = own > 0 && past.len() > own && past[own - 1] != b'\n';
    let end = if pushed { past.len() } else { own.min(past.len()) };
    let older = salvage::read_past(&past[..end]);
    if past.len() < own {
        let torn: usize = older.losses.iter().map(|loss| loss.records).sum();
        losses.push(Loss {
            file: SavedFile::Past,
            line: 0,
            records: read.parts.away.saturating_sub(older.parts.entries.len() + torn),
            what: format!(
                "{} of its {} are there; what else left the context is lost",
                grouped(past.len() as u64),
                counted(own as u64, "byte")
            ),
        });
    }
    losses.extend(older.losses);
    let (parts, older) = (&mut read.parts, older.parts);
    for (id, entry) in older.entries {
        parts.entries.entry(id).or_insert(entry);
    }
    for (number, turn) in older.turns {
        parts.turns.entry(number).or_insert(turn);
    }
    before(&mut parts.condensations, older.condensations);
    before(&mut parts.blocks, older.blocks);
    before(&mut parts.notes, older.notes);
    before(&mut parts.tasks, older.tasks);
    before(&mut parts.later, older.later);
}

/// Puts what is older in front of what there is, each once.
fn before<T: PartialEq>(here: &mut Vec<T>, mut older: Vec<T>) {
    older.retain(|one| !here.contains(one));
    here.splice(0..0, older);
}

/// What the store has, with entries it lost taken from the transcript.
fn merge(read: Read, copy: Option<Transcript>) -> Parts {
    let mut parts = read.parts;
    let Some(copy) = copy else { return parts };
    parts.save = parts.save.max(copy.save);
    for entry in copy.entries {
        // An entry never changes, so one of another save of the same conversation is the same entry.
        parts.entries.entry(entry.id).or_insert(entry);
    }
    parts
}
