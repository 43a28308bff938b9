//! Which sessions there are: a line for each that began and each that was swept, in `audit/register`, chained as events
//! are, so that a session that was removed as a whole shows.
//!
//! Each line holds the hash of the line before it, and the seal beside it states the last. Who may write the folder can
//! make all of it anew, unless the seals are made with a [`Key`] that they do not have.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wisp_host::files;

use crate::chain::{self, End, Seal};
use crate::lines::{Backward, Forward};
use crate::{AuditError, Key, SessionId, session};

/// The register's name, with which its chain begins.
const NAME: &str = "register";

/// The register's file.
pub fn register_of(home: &Path) -> PathBuf {
    session::folder(home).join(NAME)
}

/// What became of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Became {
    /// Its first event was written.
    Begun,
    /// It was there when the register was begun.
    Found,
    /// It was past its time, and is removed.
    Swept,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    seq: u64,
    time: Timestamp,
    session: String,
    became: Became,
    /// Whether its seal was made with a key from the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keyed: bool,
    prev: String,
}

/// Adds what became of sessions. A register that is not there is begun with the sessions that are.
pub(crate) fn note(
    home: &Path,
    of: &[&SessionId],
    became: Became,
    now: Timestamp,
    key: Option<&Key>,
) -> Result<(), AuditError> {
    let path = register_of(home);
    let mut file = files::private_append(&path)?;
    let failed = |e| AuditError::write(&path, e);
    file.lock().map_err(failed)?;
    let (mut end, torn) = last(&file).map_err(|e| AuditError::read(&path, e))?;
    let mut lines = Vec::new();
    if torn {
        lines.push(b'\n');
    }
    let mut add = |session: &str, became, keyed| {
        let entry = Entry {
            seq: end.seq + 1,
            time: now,
            session: session.to_owned(),
            became,
            keyed,
            prev: end.hash.clone(),
        };
        let line = serde_json::to_vec(&entry).expect("a line has only text and numbers");
        end = End {
            seq: entry.seq,
            hash: chain::hash(&line),
        };
        lines.extend_from_slice(&line);
        lines.push(b'\n');
    };
    if file.metadata().map_err(failed)?.len() == 0 {
        let mut there = session::sessions(home)?;
        there.sort_by(|a, b| a.session.cmp(&b.session));
        for old in there.iter().filter(|old| !of.contains(&&old.session)) {
            add(old.session.as_str(), Became::Found, false);
        }
    }
    for session in of {
        add(session.as_str(), became, key.is_some() && became == Became::Begun);
    }
    file.write_all(&lines).map_err(failed)?;
    // Not synced: a power loss that loses the end of the register loses that of the session, too.
    let path = session::seal_of(&path);
    let seal = files::private_in_place(&path)?;
    let written = Seal::of(&end, NAME, key).write(&seal);
    written.map_err(|e| AuditError::write(&path, e))
}

/// The end of the register, and whether its last line is torn.
fn last(file: &File) -> std::io::Result<(End, bool)> {
    let len = file.metadata()?.len();
    let mut torn = false;
    for line in Backward::new(file, len)? {
        let line = line?;
        torn |= !line.ended;
        if let Ok(entry) = serde_json::from_slice::<Entry>(&line.bytes)
            && line.ended
        {
            let hash = chain::hash(&line.bytes);
            return Ok((End { seq: entry.seq, hash }, torn));
        }
    }
    Ok((End::start(NAME), torn))
}

/// What is wrong with the register, or with the sessions it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegisterFault {
    /// There are sessions and no register.
    Gone,
    /// A line is not as it was written, or one before it is gone. Lines count from 1.
    Changed {
        /// The line.
        line: u64,
    },
    /// Its end is not the one that was sealed, or its seal is gone.
    End,
    /// Its seal was not made with this key.
    Key,
    /// Sessions it names are not there, and were not swept.
    Missing {
        /// Their names.
        sessions: Vec<String>,
    },
}

/// A register that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Register {
    /// The sessions that should be there, and whether their seals were made with a key.
    pub sessions: BTreeMap<String, bool>,
    /// What is wrong; none when nothing is.
    pub fault: Option<RegisterFault>,
}

/// Reads the register of a home and compares it with the sessions that are there.
///
/// Errors: a file that cannot be read, or a folder that cannot be listed.
pub fn register(home: &Path, key: Option<&Key>) -> Result<Register, AuditError> {
    let path = register_of(home);
    let there = session::sessions(home)?;
    if std::fs::symlink_metadata(&path).is_err() {
        let fault = (!there.is_empty()).then_some(RegisterFault::Gone);
        return Ok(Register {
            fault,
            ..Register::default()
        });
    }
    let file = files::open_own(&path)?;
    // Not between a line and its seal.
    let failed = |e| AuditError::read(&path, e);
    file.lock_shared().map_err(failed)?;
    let mut register = Register::default();
    let mut end = End::start(NAME);
    for (line, number) in Forward::new(&file, 0).zip(1..) {
        let line = line.map_err(failed)?;
        // What a crash tore is no line; one that was changed into no line breaks the chain.
        let Ok(entry) = serde_json::from_slice::<Entry>(&line.bytes) else {
            continue;
        };
        if entry.prev != end.hash || entry.seq != end.seq + 1 {
            register.fault = Some(RegisterFault::Changed { line: number });
            return Ok(register);
        }
        end = End {
            seq: entry.seq,
            hash: chain::hash(&line.bytes),
        };
        match entry.became {
            Became::Begun | Became::Found => drop(register.sessions.insert(entry.session, entry.keyed)),
            Became::Swept => drop(register.sessions.remove(&entry.session)),
        }
    }
    register.fault = fault_of_end(&path, &end, key).or_else(|| {
        let is_there = |name: &String| there.iter().any(|file| file.session.as_str() == name);
        let gone: Vec<String> = register
            .sessions
            .keys()
            .filter(|name| !is_there(name))
            .cloned()
            .collect();
        (!gone.is_empty()).then_some(RegisterFault::Missing { sessions: gone })
    });
    Ok(register)
}

fn fault_of_end(path: &Path, end: &End, key: Option<&Key>) -> Option<RegisterFault> {
    let seal = files::open_own(&session::seal_of(path)).ok();
    let seal = seal.and_then(|file| Seal::read(&file));
    let Some(seal) = seal.filter(|seal| seal.end == *end) else {
        return Some(RegisterFault::End);
    };
    key.is_some_and(|key| !seal.is_of(NAME, key))
        .then_some(RegisterFault::Key)
}
