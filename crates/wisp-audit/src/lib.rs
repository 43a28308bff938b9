//! What happened, in order, in a file that can be checked.
//!
//! Every request, reply, tool call and decision of a conversation is an *event*: a kind from one table
//! ([`Kind`]), its details, and an envelope that says when and by whom. Events go to one file a session,
//! `<home>/audit/<session>.jsonl`, one JSON object a line, 0600, appended in one write each. One file a session
//! means that a conversation's record is whole in one place, that two processes never interleave (the file is
//! locked), and that an event is found by session and id without reading what other conversations did.
//!
//! # The chain
//!
//! Each event holds the SHA-256 of the line before it (`prev`), the first one that of the session's name, so that a
//! file that was renamed does not pass for another session's. Nothing follows the last line, so a *seal* beside the
//! file, `<session>.seal`, holds the last event's number and hash. [`verify`] walks both and names the first line
//! that was changed, removed, added or moved. The sessions of a home are chained to each other by the *register*
//! ([`register()`]), a line for each that began and each that was swept. Without a [`Key`] none of it is signed: it shows
//! accidents and careless hands, not someone who rewrites the files and their seals. With a key that lies elsewhere it does.
//!
//! An *index*, `<session>.ids`, says where each event is. It is only a hint: what it says is checked, and without it
//! an event is searched for from the end.
//!
//! # After a crash
//!
//! A power loss can tear the last line. What stands there is left as it is: the next [`AuditLog::open`] ends it with
//! a newline, goes on from the last whole event, and first writes `audit.recovered` with the size and hash of what
//! it found and with the end that the seal states. Readers pass over what is not an event.
//!
//! # Failure
//!
//! A write that fails is an error and leaves nothing behind. Whether work may go on without a record is not decided
//! here: the caller does.
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use wisp_audit::{AuditFile, AuditLog, Event, Filter, Kind, SessionId, Verdict, verify};
//! use wisp_host::{RandomIds, SystemClock};
//!
//! let home = tempfile::tempdir()?;
//! let session = SessionId::new(&SystemClock, &RandomIds);
//! let log = AuditLog::open(home.path(), &session, Arc::new(SystemClock), Arc::new(RandomIds))?;
//! log.append(Event::new(Kind::Prompt, json!({ "text": "what is here?" })).in_turn(1))?;
//! let call = log.append(Event::new(Kind::ToolCall, json!({ "tool": "run_command" })).in_turn(1).of_call("c1"))?;
//! assert_eq!(log.find(call.as_str())?.expect("just written").seq, 2);
//!
//! let path = log.path().expect("the log is on");
//! drop(log);
//! assert!(matches!(verify(&path)?, Verdict::Whole { events: 2, .. }));
//! let last = AuditFile::open(home.path(), &session)?.last(1, &Filter::default())?;
//! assert_eq!(last[0].kind, "tool.call");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod error;
mod event;
mod file;
mod find;
mod follow;
mod index;
mod key;
mod kind;
mod lines;
mod log;
mod register;
mod session;
mod sink;
mod sweep;
mod trail;
mod verify;

pub use error::AuditError;
pub use event::{Event, EventId, Record, SCHEMA};
pub use file::{AuditFile, Filter};
pub use follow::Follower;
pub use index::index_of;
pub use key::{KEY_MIN, Key};
pub use kind::{Kind, KindRow};
pub use log::AuditLog;
pub use register::{Register, RegisterFault, register, register_of};
pub use session::{NAME_MAX, SessionFile, SessionId, file_of, folder, seal_of, sessions};
pub use sweep::{REMOVAL_LIMIT, Sweep, SweepReport, TIME_LIMIT};
pub use trail::Trail;
pub use verify::{Change, EndCheck, Verdict, verify, verify_with};
