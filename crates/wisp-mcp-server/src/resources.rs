//! What can be read beside calling a tool: the threads, what ran in them, their audit. Read from the record and the store,
//! in pages.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use wisp_audit::{Record, SessionId};
use wisp_output::content::Content;
use wisp_output::store::Shelf;

use crate::pages;
use crate::respond::events;
use crate::thread::{State, Thread};
use crate::threads::{MOST, Threads, is_name};

/// The resources that have an address of their own: the address, the name, what it is.
pub(crate) const RESOURCES: &[(&str, &str, &str)] = &[
    (
        "wisp://threads",
        "threads",
        "The threads of this server, the most recently used first",
    ),
    (
        "wisp://status",
        "status",
        "The server: its version, directory, threads and limits",
    ),
];

/// The forms of addresses: the template, the name, what it is.
pub(crate) const TEMPLATES: &[(&str, &str, &str)] = &[
    (
        "wisp://threads/{thread_id}",
        "thread",
        "A thread: model, turns, state, the addresses of what it holds",
    ),
    (
        "wisp://threads/{thread_id}/output",
        "calls",
        "The tool calls of a thread, in pages",
    ),
    (
        "wisp://threads/{thread_id}/output/{call}",
        "output",
        "What a call returned, whole, in pages of 16 KiB",
    ),
    (
        "wisp://threads/{thread_id}/audit",
        "thread audit",
        "The events of a thread, 100 a page",
    ),
    (
        "wisp://audit/{session}",
        "audit",
        "The events of a session that is no thread's, 100 a page",
    ),
];

/// Reads a resource. The error is the caller's: an address that is none, a page that is not there.
pub(crate) fn read(threads: &Threads, address: &str) -> Result<Value, String> {
    let unknown = || {
        format!(
            "there is no resource {:?}",
            address.chars().take(200).collect::<String>()
        )
    };
    let (uri, page) = paged(address)?;
    let path = uri.strip_prefix("wisp://").ok_or_else(unknown)?;
    let home = &threads.options.home;
    match path.split('/').collect::<Vec<_>>()[..] {
        ["threads"] => {
            let rows: Vec<Value> = threads.all().iter().rev().map(|thread| thread.row()).collect();
            pages::rows(uri, "threads", &rows, (page, pages::ROWS))
        }
        ["status"] => Ok(status(threads)),
        ["threads", id] => Ok(about(&*found(threads, id)?)),
        ["threads", id, "output"] => {
            let calls = calls(home, &*found(threads, id)?);
            pages::rows(uri, "calls", &calls, (page, pages::ROWS))
        }
        ["threads", id, "output", call] => output(home, &*found(threads, id)?, uri, (call, page)),
        ["threads", id, "audit"] => {
            let session = found(threads, id)?.facts().session.clone();
            audit(home, &session, (uri, page))
        }
        ["audit", session] => {
            if threads.has_session(session) {
                return Err(format!(
                    "{session} is a thread's: read wisp://threads/THREAD/audit"
                ));
            }
            if SessionId::parse(session).is_err() {
                return Err(unknown());
            }
            audit(home, session, (uri, page))
        }
        _ => Err(unknown()),
    }
}

/// An address without its query, and the page that it asks for, from 1.
fn paged(address: &str) -> Result<(&str, usize), String> {
    match address.split_once('?') {
        None => Ok((address, 1)),
        Some((uri, query)) => match query.strip_prefix("page=").and_then(|page| page.parse().ok()) {
            Some(page) => Ok((uri, page)),
            None => Err("the query of an address can only be page=N, from 1".to_owned()),
        },
    }
}

fn found(threads: &Threads, id: &str) -> Result<Arc<Thread>, String> {
    let known = is_name(id).then(|| threads.find(id)).flatten();
    known.ok_or_else(|| "no thread of this name was opened here; wisp://threads lists them".to_owned())
}

fn status(threads: &Threads) -> Value {
    let open = threads
        .all()
        .iter()
        .filter(|thread| thread.facts().state == State::Open)
        .count();
    json!({
        "version": env!("CARGO_PKG_VERSION"), "directory": threads.options.directory.display().to_string(),
        "threadCount": open, "maxThreads": MOST, "threadsURI": "wisp://threads", "yes": threads.options.yes,
    })
}

fn about(thread: &Thread) -> Value {
    let mut about = thread.row();
    let base = format!("wisp://threads/{}", thread.id);
    about["instructions"] = thread.instructed.into();
    about["resources"] = json!([format!("{base}/output"), format!("{base}/audit")]);
    about
}

/// The calls of a thread, from its record.
fn calls(home: &Path, thread: &Thread) -> Vec<Value> {
    let session = thread.facts().session.clone();
    let events = events(home, &session).unwrap_or_default();
    let row = |result: &Record| {
        let same = |kind: &str| {
            events
                .iter()
                .find(|event| event.kind == kind && event.call == result.call)
        };
        let call = result.call.clone().unwrap_or_default();
        json!({
            "turn": result.turn, "tool": result.details["tool"], "id": result.id.as_str(), "call": call,
            "arguments": same("tool.call").map(|asked| asked.details["arguments"].to_string()),
            "command": same("command.outcome").map(|ran| ran.details["command"].clone()),
            "exitStatus": same("command.outcome").map(|ran| ran.details["exitStatus"].clone()),
            "bytes": result.details["bytes"], "uri": format!("wisp://threads/{}/output/{call}", thread.id),
        })
    };
    events
        .iter()
        .filter(|event| event.kind == "tool.result")
        .map(row)
        .collect()
}

/// A page of what a call returned: of the store when the whole is kept there, else of the record.
fn output(home: &Path, thread: &Thread, uri: &str, (call, page): (&str, usize)) -> Result<Value, String> {
    let session = thread.facts().session.clone();
    let is_id = call.len() == 16 && call.bytes().all(|b| b.is_ascii_hexdigit());
    let missing = || {
        format!(
            "the thread {} made no call {:?}",
            thread.id,
            call.chars().take(16).collect::<String>()
        )
    };
    if !is_id {
        return Err(missing());
    }
    if let Ok(kept) = Shelf::new(home).open_in(&session, call) {
        let mut bytes = vec![0; usize::try_from(kept.content.bytes()).unwrap_or(usize::MAX)];
        let read = kept.content.read_at(0, &mut bytes).map_err(|e| e.to_string())?;
        bytes.truncate(read);
        let mut out = pages::text(uri, &String::from_utf8_lossy(&bytes), page)?;
        out["stored"] = true.into();
        out["storedBytes"] = kept.record.bytes.into();
        out["storedLines"] = kept.record.lines.into();
        return Ok(out);
    }
    let events = events(home, &session).unwrap_or_default();
    let result = events
        .iter()
        .find(|event| event.kind == "tool.result" && event.call.as_deref() == Some(call))
        .ok_or_else(missing)?;
    let mut out = pages::text(uri, result.details["output"].as_str().unwrap_or_default(), page)?;
    out["stored"] = false.into();
    Ok(out)
}

fn audit(home: &Path, session: &str, (uri, page): (&str, usize)) -> Result<Value, String> {
    let events = events(home, session).ok_or_else(|| format!("there is no record of a session {session}"))?;
    let rows: Vec<Value> = events
        .iter()
        .filter_map(|event| serde_json::to_value(event).ok())
        .collect();
    let mut out = pages::rows(uri, "events", &rows, (page, pages::EVENTS))?;
    out["last"] = format!("{uri}?page={}", out["pages"]).into();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_a_page_or_an_error() {
        assert_eq!(paged("wisp://threads"), Ok(("wisp://threads", 1)));
        assert_eq!(paged("wisp://threads?page=3"), Ok(("wisp://threads", 3)));
        for odd in [
            "wisp://threads?page=x",
            "wisp://threads?all",
            "wisp://threads?page=-1",
        ] {
            assert!(paged(odd).is_err(), "{odd}");
        }
    }
}
