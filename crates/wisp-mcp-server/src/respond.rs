//! The tool `respond`: a prompt to a thread's model, and what came of it.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use wisp_agent::protocol::TurnOutcome;
use wisp_audit::{AuditFile, Record, SessionId};

use crate::fold::{Folded, fold};
use crate::thread::Said;
use crate::threads::{Threads, Wanted, is_name};

/// The most bytes of an output that stands in the result.
const INLINE: u64 = 1_024;

/// What a call of `respond` asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    prompt: String,
    thread: Option<String>,
    wanted: Wanted,
}

impl Asked {
    /// Reads the arguments. The error says what is wrong with them.
    pub(crate) fn read(given: &Map<String, Value>) -> Result<Self, String> {
        let known = ["prompt", "thread_id", "instructions", "tools", "model"];
        if let Some(strange) = given.keys().find(|name| !known.contains(&name.as_str())) {
            let name: String = strange.chars().take(64).collect();
            return Err(format!(
                "respond has no argument {name:?}; it takes {}",
                known.join(", ")
            ));
        }
        let text = |name: &str| match given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("{name} must be a string")),
        };
        let prompt = text("prompt")?.filter(|prompt| !prompt.trim().is_empty());
        let thread = text("thread_id")?;
        if thread.as_deref().is_some_and(|id| !is_name(id)) {
            return Err("thread_id must be 1 to 64 letters, digits, ., _ and -".to_owned());
        }
        let tools = match given.get("tools") {
            None | Some(Value::Null) => None,
            Some(Value::Array(names)) => {
                let names: Option<Vec<String>> =
                    names.iter().map(|n| n.as_str().map(str::to_owned)).collect();
                Some(names.ok_or("tools must be a list of strings")?)
            }
            Some(_) => return Err("tools must be a list of strings".to_owned()),
        };
        Ok(Self {
            prompt: prompt.ok_or("prompt is missing: give the text for the model")?,
            thread,
            wanted: Wanted {
                instructions: text("instructions")?,
                tools,
                model: text("model")?,
            },
        })
    }
}

/// A result: the text, the account, and whether it is an error.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
    pub(crate) failed: bool,
}

impl Answer {
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            structured: None,
            failed: true,
        }
    }
}

/// Does what was asked: waits for the thread and for the model, and hears the turn to its end.
pub(crate) async fn respond(
    threads: &Threads,
    asked: Asked,
    stop: &CancellationToken,
    mut told: impl FnMut(String),
) -> Answer {
    let (thread, created) = match threads.open(asked.thread.as_deref(), asked.wanted) {
        Ok(opened) => opened,
        Err(why) => return Answer::error(why),
    };
    let cancelled = || Answer::error("cancelled before it began");
    let mut engine = tokio::select! {
        biased;
        () = stop.cancelled() => return cancelled(),
        engine = thread.alone() => engine,
    };
    let place = threads.queue.join();
    tokio::select! {
        biased;
        () = stop.cancelled() => return cancelled(),
        () = place.turn(|before| told(format!("waiting for the model, {before} before this one"))) => {}
    }
    let handle = match thread.opened(&mut engine).await {
        Ok(handle) => handle,
        Err(why) => {
            if created {
                threads.forget(&thread);
            }
            return Answer::error(why);
        }
    };
    let said = thread.say(handle, &asked.prompt, stop, told).await;
    drop(place);
    let session = thread.facts().session.clone();
    answer(&threads.options.home, (&thread.id, &session), created, said)
}

fn answer(home: &Path, (thread, session): (&str, &str), created: bool, said: Said) -> Answer {
    let Some((number, end)) = said.end else {
        let why = if said.errors.is_empty() {
            "the conversation ended".to_owned()
        } else {
            said.errors.join("; ")
        };
        return Answer::error(why);
    };
    let base = format!("wisp://threads/{thread}");
    let folded = match events(home, session) {
        Some(events) => fold(&events, number, &end, (&base, INLINE)),
        None => Folded::default(),
    };
    let failed = matches!(end.outcome, TurnOutcome::Error | TurnOutcome::Interrupted);
    let text = if failed && said.text.is_empty() {
        said.errors.join("\n")
    } else {
        said.text.clone()
    };
    let structured = json!({
        "thread_id": thread, "created": created, "text": said.text, "outcome": end.outcome,
        "condensed": folded.condensed, "contextNote": null, "refusals": folded.refusals, "receipt": folded.receipt,
        "calls": folded.calls, "ran": end.ran, "cited": end.cited, "notifications": folded.notifications,
        "errors": said.errors,
    });
    Answer {
        text,
        structured: Some(structured),
        failed,
    }
}

/// The events of a session, in order; none when they cannot be read.
pub(crate) fn events(home: &Path, session: &str) -> Option<Vec<Record>> {
    let session = SessionId::parse(session).ok()?;
    let file = AuditFile::open(home, &session).ok()?;
    Some(file.events().ok()?.filter_map(Result::ok).collect())
}

/// The tool `close_thread`.
pub(crate) async fn close(threads: &Arc<Threads>, given: &Map<String, Value>) -> Result<Answer, String> {
    let id = given.get("thread_id").and_then(Value::as_str).unwrap_or_default();
    if !is_name(id) {
        return Err("thread_id must be 1 to 64 letters, digits, ., _ and -".to_owned());
    }
    let open = |thread: &Arc<crate::thread::Thread>| thread.facts().state == crate::thread::State::Open;
    let Some(thread) = threads.find(id).filter(open) else {
        return Ok(Answer::error(format!("no open thread is called {id}")));
    };
    thread.close(crate::thread::State::Closed).await;
    Ok(Answer {
        text: format!("{id} is closed"),
        structured: Some(json!({"thread_id": id, "state": "closed"})),
        failed: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &Value) -> Result<Asked, String> {
        Asked::read(given.as_object().unwrap())
    }

    #[test]
    fn arguments_that_are_wrong_are_named() {
        for (given, why) in [
            (json!({}), "prompt is missing: give the text for the model"),
            (
                json!({"prompt": " "}),
                "prompt is missing: give the text for the model",
            ),
            (json!({"prompt": 1}), "prompt must be a string"),
            (
                json!({"prompt": "a", "thread_id": "a/b"}),
                "thread_id must be 1 to 64 letters, digits, ., _ and -",
            ),
            (
                json!({"prompt": "a", "tools": "x"}),
                "tools must be a list of strings",
            ),
            (
                json!({"prompt": "a", "task": "x"}),
                "respond has no argument \"task\"; it takes prompt, thread_id, instructions, tools, model",
            ),
        ] {
            assert_eq!(read(&given).unwrap_err(), why);
        }
        let asked = read(&json!({"prompt": "a", "thread_id": null, "tools": []})).unwrap();
        assert_eq!(
            (asked.prompt.as_str(), asked.thread, asked.wanted.tools),
            ("a", None, Some(Vec::new()))
        );
    }
}
