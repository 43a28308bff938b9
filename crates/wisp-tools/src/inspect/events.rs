//! Recorded events as lines.

use std::collections::HashMap;

use serde_json::Value;
use wisp_audit::Record;

use crate::registry::one_line;

/// The most characters of an event's body.
const BODY: usize = 200;

/// `2026-11-30T09:00:00.000Z tool.call session=… turn=2 call=3f9a2c1b: run_command make`.
pub(super) fn line(record: &Record) -> String {
    let turn = record
        .turn
        .map_or_else(String::new, |turn| format!(" turn={turn}"));
    let call = record.call.as_deref().map(wisp_host::ids::shown);
    let call = call.map_or_else(String::new, |call| format!(" call={call}"));
    let line = format!(
        "{:.3} {} session={}{turn}{call}",
        record.time, record.kind, record.session
    );
    let body = cut(&body(record));
    if body.is_empty() {
        line
    } else {
        format!("{line}: {body}")
    }
}

/// What of an event's details its line says: the fields that carry it, by kind.
fn body(record: &Record) -> String {
    let fields: &[&str] = match record.kind.as_str() {
        "prompt" | "response" => &["text"],
        "tool.call" => &["tool", "arguments"],
        "tool.result" => &["outcome", "output"],
        "policy.decision" => &["verdict", "command"],
        "command.outcome" => &["exitStatus", "command"],
        "notification" => &["outcome", "source", "title"],
        "file.write" => &["mode", "path"],
        "error" => &["message"],
        _ => return others(&record.details),
    };
    let texts = fields
        .iter()
        .filter_map(|field| record.details.get(*field))
        .map(text);
    texts.collect::<Vec<_>>().join(" ")
}

fn others(details: &Value) -> String {
    let fields = details.as_object().into_iter().flatten();
    let pairs = fields.filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null());
    pairs
        .map(|(name, value)| format!("{name}={}", text(value)))
        .collect::<Vec<_>>()
        .join(" ")
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) => one_line(value),
        other => other.to_string(),
    }
}

fn cut(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(BODY) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// The calls among `events`, each with how it ended; `own` is the call that asks, which has not.
pub(super) fn calls(events: &[Record], own: &str) -> Vec<String> {
    let results: HashMap<&str, &Record> = events
        .iter()
        .filter(|e| e.kind == "tool.result")
        .filter_map(|e| Some((e.call.as_deref()?, e)))
        .collect();
    let made = events
        .iter()
        .filter(|e| e.kind == "tool.call" && e.call.as_deref() != Some(own));
    made.map(|made| {
        let ended = made.call.as_deref().and_then(|call| results.get(call));
        let ended = ended.map_or("no result yet".to_owned(), |result| outcome(result));
        format!("{} → {ended}", cut(&body(made)))
    })
    .collect()
}

fn outcome(result: &Record) -> String {
    let words = result.text("outcome").unwrap_or("ok");
    let bytes = result.details.get("bytes").and_then(Value::as_u64);
    let size = bytes.map_or_else(String::new, |b| format!(", {}", wisp_output::amount::size(b)));
    format!("{words}{size}")
}
