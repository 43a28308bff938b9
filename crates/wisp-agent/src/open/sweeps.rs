//! What is past its time goes when a conversation begins: kept outputs after `context.outputDays`, unnamed conversations
//! after `context.unnamedDays`, records of the audit after `audit.days`, a bounded number of each a start.

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::{Value, json};
use wisp_audit::{AuditFile, SessionId};
use wisp_output::store::{Shelf, Sweep, TIME_LIMIT};

use super::Setup;
use crate::conversation::Conversation;
use crate::saved::{self, Folder};

/// Removes outputs of sessions that were not used for `context.outputDays` days. `None` when there was nothing to do.
pub(super) fn outputs(conversation: &Conversation, setup: &Setup) -> Option<Value> {
    let shelf = Shelf::new(conversation.paths.home());
    let sweep = Sweep {
        shelf: &shelf,
        current: Some(conversation.audit.session().as_str()),
        now: setup.clock.now(),
        days: u32::try_from(conversation.config.output_days()).unwrap_or(u32::MAX),
        time_limit: TIME_LIMIT,
    };
    let report = sweep.run().ok().filter(|report| !report.is_empty())?;
    let sessions: Vec<&str> = report
        .removed
        .iter()
        .map(|swept| swept.session.as_str())
        .collect();
    Some(json!({
        "removed": sessions.len(), "sessions": sessions, "bytes": report.bytes(), "deferred": report.deferred,
        "debris": report.debris,
    }))
}

/// Removes unnamed conversations that were last saved more than `context.unnamedDays` days ago, a bounded number a
/// start, and says what went. The one that is opened holds its lock and stays.
pub(super) fn threads(conversation: &Conversation, setup: &Setup) -> Option<Value> {
    let folder = Folder::new(conversation.paths.transcripts());
    let sweep = saved::Sweep {
        folder: &folder,
        contexts: &conversation.paths.contexts(),
        now: setup.clock.now(),
        days: u32::try_from(conversation.config.unnamed_days()).unwrap_or(u32::MAX),
        time_limit: saved::sweep::TIME_LIMIT,
    };
    let report = sweep.run().ok().filter(|report| !report.is_empty())?;
    Some(json!({
        "removed": report.removed.len(), "conversations": report.removed, "bytes": report.bytes,
        "deferred": report.deferred, "open": report.open, "files": report.files,
    }))
}

/// Removes audit files that were not written to for `audit.days` days, except those a saved conversation refers to.
/// `None` when there was nothing to do.
pub(super) fn audit(conversation: &Conversation, setup: &Setup) -> Option<Value> {
    let home = conversation.paths.home();
    let folder = Folder::new(conversation.paths.transcripts());
    let named = OnceCell::new();
    let keep = |session: &SessionId| {
        let ids = named.get_or_init(|| referred(&folder));
        ids.as_ref().is_none_or(|ids| holds_any(home, session, ids))
    };
    let key = super::audit_key(&conversation.config, &setup.env).ok()?;
    let sweep = wisp_audit::Sweep {
        home,
        key: key.as_ref(),
        now: setup.clock.now(),
        days: u32::try_from(conversation.config.audit_days()).unwrap_or(u32::MAX),
        keep: &keep,
    };
    let report = sweep.run().ok()?;
    if report.removed.is_empty() && report.deferred == 0 {
        return None;
    }
    let sessions: Vec<&str> = report.removed.iter().map(|file| file.session.as_str()).collect();
    let bytes: u64 = report.removed.iter().map(|file| file.bytes).sum();
    Some(json!({
        "removed": sessions.len(), "sessions": sessions, "bytes": bytes, "deferred": report.deferred,
    }))
}

/// The ids of all events that saved conversations name as the source of an entry. `None` when one cannot be read, in
/// which case nothing may be taken for unneeded.
fn referred(folder: &Folder) -> Option<HashSet<String>> {
    let mut ids = HashSet::new();
    for saved in folder.list().ok()? {
        let pair = folder.pair(&saved.name).ok()?;
        event_ids(&pair.store, &mut ids);
        event_ids(&pair.past, &mut ids);
        event_ids(&pair.transcript, &mut ids);
    }
    Some(ids)
}

/// Takes every string of 16 hex digits, which is what an event's id is, from a file of JSON. Reading the file as a
/// conversation would leave out what is damaged in it.
fn event_ids(json: &[u8], ids: &mut HashSet<String>) {
    let is_id = |word: &[u8]| word.len() == 16 && word.iter().all(u8::is_ascii_hexdigit);
    let words = json.split(|byte| *byte == b'"').filter(|word| is_id(word));
    ids.extend(words.map(|word| String::from_utf8_lossy(word).into_owned()));
}

/// Whether a session holds one of these events; one that cannot be read is taken to.
fn holds_any(home: &std::path::Path, session: &SessionId, ids: &HashSet<String>) -> bool {
    let Ok(mut events) = AuditFile::open(home, session).and_then(|file| file.events()) else {
        return true;
    };
    events.any(|event| event.is_ok_and(|event| ids.contains(event.id.as_str())))
}
