//! The reading side: a session's events from either end, filtered, or by id.

use std::fs::File;
use std::path::{Path, PathBuf};

use memchr::memmem;
use wisp_host::files;

use crate::index::{self, index_of};
use crate::lines::{Backward, Forward};
use crate::{AuditError, EventId, Record, SessionId, find, session};

/// A session's file, open for reading. Each reading sees the file as it is at that moment, also while a log writes
/// it. Lines that are not events (a torn last line) are passed over; [`verify`](crate::verify) names them.
#[derive(Debug)]
pub struct AuditFile {
    file: File,
    path: PathBuf,
}

/// Which events to show. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Kinds by name, or families by their first words: `context` stands for `context.cut` and all its like. Empty:
    /// every kind.
    pub kinds: Vec<String>,
    /// One turn only.
    pub turn: Option<u64>,
    /// Only events whose details name this tool.
    pub tool: Option<String>,
    /// Only events of this call.
    pub call: Option<String>,
}

impl Filter {
    /// Whether the filter lets an event through.
    pub fn passes(&self, record: &Record) -> bool {
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|name| is_or_within(&record.kind, name));
        kind && self.turn.is_none_or(|turn| record.turn == Some(turn))
            && (self.tool.as_deref()).is_none_or(|tool| record.text("tool") == Some(tool))
            && (self.call.as_deref()).is_none_or(|call| record.call.as_deref() == Some(call))
    }

    /// Whether a line may hold an event the filter lets through, judged by its bytes: `false` is certain. Most lines
    /// of a large file are turned away here, unparsed.
    fn may_pass(&self, line: &[u8]) -> bool {
        let has = |text: String| memmem::find(line, text.as_bytes()).is_some();
        let kind = self.kinds.is_empty() || self.kinds.iter().any(|kind| has(format!("\"kind\":\"{kind}")));
        kind && self.turn.is_none_or(|turn| has(format!("\"turn\":{turn},")))
    }
}

fn is_or_within(kind: &str, name: &str) -> bool {
    let rest = kind.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl AuditFile {
    /// Opens a session's file under `home`. Errors: [`AuditError::File`], naming the path, when there is none.
    pub fn open(home: &Path, session: &SessionId) -> Result<Self, AuditError> {
        Self::at(&session::file_of(home, session))
    }

    /// Opens a session's file by its path.
    pub fn at(path: &Path) -> Result<Self, AuditError> {
        let file = files::open_own(path)?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    /// The events in order.
    pub fn events(&self) -> Result<impl Iterator<Item = Result<Record, AuditError>> + use<>, AuditError> {
        let file = files::open_own(&self.path)?;
        let path = self.path.clone();
        let lines = Forward::new(file, 0);
        Ok(lines.filter_map(move |line| match line {
            Ok(line) => serde_json::from_slice(&line.bytes).ok().map(Ok),
            Err(e) => Some(Err(AuditError::read(&path, e))),
        }))
    }

    /// The last `count` events that pass `filter`, the oldest first. Read from the file's end: no more of the file
    /// is touched than it takes to find them.
    pub fn last(&self, count: usize, filter: &Filter) -> Result<Vec<Record>, AuditError> {
        let mut found = Vec::new();
        for line in Backward::new(&self.file, self.len()?).map_err(|e| self.unread(e))? {
            if found.len() == count {
                break;
            }
            let line = line.map_err(|e| self.unread(e))?;
            let record = filter
                .may_pass(&line.bytes)
                .then(|| serde_json::from_slice(&line.bytes).ok());
            found.extend(record.flatten().filter(|record| filter.passes(record)));
        }
        found.reverse();
        Ok(found)
    }

    /// The event with this id, where the index says it is, or searched for from the file's end; `None` when there is
    /// none.
    pub fn find(&self, id: &EventId) -> Result<Option<Record>, AuditError> {
        let index = files::open_own(&index_of(&self.path)).ok();
        let place = index.and_then(|index| index::look_up(&index, id.as_str()));
        find::event(&self.file, self.len()?, id.as_str(), place).map_err(|e| self.unread(e))
    }

    fn len(&self) -> Result<u64, AuditError> {
        Ok(self.file.metadata().map_err(|e| self.unread(e))?.len())
    }

    fn unread(&self, source: std::io::Error) -> AuditError {
        AuditError::read(&self.path, source)
    }
}
