//! Walking the chain: is the file what was written, and if not, which is the first line that is not.

use std::fs::TryLockError;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use wisp_host::files;

use crate::chain::{self, End, Seal};
use crate::lines::{Forward, Line};
use crate::{AuditError, Key, Kind, Record, session};

/// What [`verify`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every line is as it was written.
    Whole {
        /// How many events there are.
        events: u64,
        /// What the file's end was checked against.
        end: EndCheck,
        /// Lines (from 1) of bytes that were torn by a crash, each followed by an event that says so.
        torn: Vec<u64>,
    },
    /// Something is not as it was written.
    Broken {
        /// The first line concerned, from 1. For lines removed: the one now standing where they were, which may be
        /// one past the last.
        line: u64,
        /// What happened to it.
        change: Change,
    },
}

/// How sure a whole file's end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCheck {
    /// The seal states this end.
    Sealed,
    /// The seal states this end, and was made with the key.
    Keyed,
    /// There is a key, and the seal was not made with it.
    NotKeyed,
    /// A log has the file open: events may have been added since it was sealed.
    Open,
    /// There is no seal: lines removed from the end, or a change to the last one, would not show.
    Unsealed,
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Its bytes are not those that were written.
    Changed,
    /// So many events that stood before it are gone.
    Removed {
        /// How many.
        events: u64,
    },
    /// It was not written by the log, or stands a second time.
    Added,
    /// It stands before the line it was written after.
    Moved,
}

/// Checks a session's file against its chain and its seal. Memory is a few lines whatever the size. Errors:
/// [`AuditError::File`] and [`AuditError::Read`]; a file that can be read always has a verdict.
pub fn verify(path: &Path) -> Result<Verdict, AuditError> {
    verify_with(path, None)
}

/// The same with the key that its seal should have been made with.
pub fn verify_with(path: &Path, key: Option<&Key>) -> Result<Verdict, AuditError> {
    let file = files::open_own(path)?;
    let open = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    // Read before the events: what is written meanwhile comes after the sealed one.
    let seal = files::open_own(&session::seal_of(path)).ok();
    let seal = seal.and_then(|seal| Seal::read(&seal));
    let name = path
        .file_stem()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let keyed = key.map(|key| seal.as_ref().is_some_and(|seal| seal.is_of(name, key)));
    let mut walk = Walk::new(seal.map(|seal| seal.end), open);
    let walked = walk.through(Forward::new(file, 0));
    match walked.map_err(|e| AuditError::read(path, e))? {
        Some((line, change)) => Ok(Verdict::Broken { line, change }),
        None => Ok(Verdict::Whole {
            events: walk.last.end.seq,
            end: match (walk.end_check(), keyed) {
                (EndCheck::Sealed | EndCheck::Open, Some(false)) => EndCheck::NotKeyed,
                (EndCheck::Sealed, Some(true)) => EndCheck::Keyed,
                (end, _) => end,
            },
            torn: walk.torn,
        }),
    }
}

/// The first fault: its line and what it is.
type Fault = (u64, Change);

/// An event that was read, with what the chain needs of its line.
struct Seen {
    number: u64,
    record: Record,
    end: End,
}

/// The event before the one being looked at.
struct Last {
    number: u64,
    end: End,
    /// The hash of the event before that, which tells an added line from what follows it.
    before: String,
}

struct Walk {
    seal: Option<End>,
    open: bool,
    session: Option<String>,
    last: Last,
    /// Where the bytes that are no event start, and their hash so far.
    skipped: Option<(u64, Sha256, u64)>,
    torn: Vec<u64>,
    /// Whether the sealed event has been passed.
    seal_met: bool,
}

impl Walk {
    fn new(seal: Option<End>, open: bool) -> Self {
        let nothing = End {
            seq: 0,
            hash: String::new(),
        };
        Self {
            seal,
            open,
            session: None,
            last: Last {
                number: 0,
                end: nothing,
                before: String::new(),
            },
            skipped: None,
            torn: Vec::new(),
            seal_met: false,
        }
    }

    /// Goes through all lines, each judged with the event after it in view.
    fn through(&mut self, lines: impl Iterator<Item = io::Result<Line>>) -> io::Result<Option<Fault>> {
        let mut held: Option<Seen> = None;
        let mut unended = None;
        for (line, number) in lines.zip(1..) {
            let line = line?;
            let Some(event) = seen(&line, number) else {
                if let Some(event) = held.take()
                    && let Some(fault) = self.step(&event, None)
                {
                    return Ok(Some(fault));
                }
                unended = (!line.ended).then_some(number);
                self.skip(&line, number);
                continue;
            };
            if let Some(event) = held.replace(event)
                && let Some(fault) = self.step(&event, held.as_ref())
            {
                return Ok(Some(fault));
            }
        }
        let last = held.and_then(|event| self.step(&event, None));
        Ok(last.or_else(|| self.at_end(unended)))
    }

    fn skip(&mut self, line: &Line, number: u64) {
        let (_, hasher, bytes) = self.skipped.get_or_insert_with(|| (number, Sha256::new(), 0));
        hasher.update(&line.bytes);
        hasher.update(&b"\n"[..usize::from(line.ended)]);
        *bytes += line.bytes.len() as u64 + u64::from(line.ended);
    }

    /// Judges one event, `next` being the one after it unless something else stands between.
    fn step(&mut self, event: &Seen, next: Option<&Seen>) -> Option<Fault> {
        let session = self.session.get_or_insert_with(|| event.record.session.clone());
        if self.last.number == 0 && self.last.end.hash.is_empty() {
            self.last.end = End::start(session);
        }
        let fault = if *session == event.record.session {
            self.unexplained(event).or_else(|| self.out_of_chain(event, next))
        } else {
            Some((event.number, Change::Changed))
        };
        self.seal_met |= self.seal.as_ref() == Some(&event.end);
        let before = std::mem::replace(&mut self.last.end, event.end.clone());
        self.last.before = before.hash;
        self.last.number = event.number;
        fault
    }

    /// Bytes before this event that no event accounts for, or an account that shows a change.
    fn unexplained(&mut self, event: &Seen) -> Option<Fault> {
        let recovered = event.record.known() == Some(Kind::AuditRecovered);
        let details = &event.record.details;
        if let Some((number, hasher, bytes)) = self.skipped.take() {
            let hash = base16ct::lower::encode_string(&hasher.finalize());
            let told = details["bytes"].as_u64() == Some(bytes) && details["sha256"].as_str() == Some(&hash);
            if !(recovered && told) {
                return Some((number, Change::Changed));
            }
            self.torn.push(number);
        }
        let seq = details["sealedSeq"].as_u64().filter(|_| recovered)?;
        let hash = details["sealedHash"].as_str().unwrap_or_default().to_owned();
        // A crash between an event and its seal leaves the seal one behind.
        let behind = End {
            seq: self.last.end.seq.saturating_sub(1),
            hash: self.last.before.clone(),
        };
        let sealed = End { seq, hash };
        if sealed == behind {
            return None;
        }
        self.against(&sealed, event.number)
    }

    /// Compares the last event with what a seal says of it; `next` is the line after it.
    fn against(&self, sealed: &End, next: u64) -> Option<Fault> {
        let last = &self.last.end;
        if sealed.seq > last.seq {
            let events = sealed.seq - last.seq;
            return Some((next, Change::Removed { events }));
        }
        if sealed.seq < last.seq {
            let beyond = last.seq - sealed.seq;
            return Some((self.last.number.saturating_sub(beyond - 1).max(1), Change::Added));
        }
        (sealed.hash != last.hash).then_some((self.last.number.max(1), Change::Changed))
    }

    /// A break between the last event and this one, and which of the lines around it is at fault.
    fn out_of_chain(&self, event: &Seen, next: Option<&Seen>) -> Option<Fault> {
        let (last, this) = (&self.last, &event.record);
        let due = last.end.seq + 1;
        if this.prev == last.end.hash {
            return (this.seq != due).then_some((event.number, Change::Changed));
        }
        if next.is_some_and(|next| next.record.prev == last.end.hash && next.record.seq == due) {
            let moved = this.seq == due + 1;
            return Some((event.number, if moved { Change::Moved } else { Change::Added }));
        }
        if this.seq > due {
            let events = this.seq - due;
            return Some((event.number, Change::Removed { events }));
        }
        if this.seq < due {
            let after_added = this.prev == last.before && last.number > 0;
            let number = if after_added { last.number } else { event.number };
            return Some((number, Change::Added));
        }
        let vouched = match next {
            Some(next) => next.record.prev == event.end.hash,
            None => self.seal.as_ref() == Some(&event.end),
        };
        let number = if vouched { last.number.max(1) } else { event.number };
        Some((number, Change::Changed))
    }

    /// What the file's end says, once every event has been judged. `unended` is a last line without a newline.
    fn at_end(&mut self, unended: Option<u64>) -> Option<Fault> {
        if let Some((number, ..)) = self.skipped.take() {
            if unended != Some(number) {
                return Some((number, Change::Changed));
            }
            // Torn, or being written right now: whole events may still be missing before it.
            let fault = self.sealed_end();
            self.torn.push(number);
            return fault.map(|_| (number, Change::Changed));
        }
        self.sealed_end()
    }

    fn sealed_end(&mut self) -> Option<Fault> {
        if self.last.number == 0 {
            let sealed = self.seal.as_ref().filter(|seal| seal.seq > 0)?;
            return Some((1, Change::Removed { events: sealed.seq }));
        }
        let sealed = self.seal.as_ref()?;
        if self.open && self.seal_met {
            return None;
        }
        self.against(sealed, self.last.number + 1)
    }

    fn end_check(&self) -> EndCheck {
        match (&self.seal, self.open) {
            (None, _) => EndCheck::Unsealed,
            (Some(_), true) => EndCheck::Open,
            (Some(_), false) => EndCheck::Sealed,
        }
    }
}

/// The event on a line; `None` when the line is not a whole event.
fn seen(line: &Line, number: u64) -> Option<Seen> {
    let record: Record = line.ended.then(|| serde_json::from_slice(&line.bytes).ok())??;
    let end = End {
        seq: record.seq,
        hash: chain::hash(&line.bytes),
    };
    Some(Seen { number, record, end })
}
