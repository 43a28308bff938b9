//! The lines a person sees of what is recorded: made from the audit's own events, so that nothing is shown that did
//! not happen.

use serde_json::Value;
use wisp_audit::{Kind, Record};

use crate::conversation::Conversation;
use crate::protocol::Event;

/// Sends the face a line for every event that has one, from now on.
pub fn follow(conversation: &Conversation) {
    let events = conversation.events.clone();
    conversation.audit.subscribe(move |record| {
        let Some(text) = record.known().and_then(|kind| line(kind, record)) else {
            return;
        };
        events.send(Event::Event {
            kind: record.kind.clone(),
            call: record.call.clone(),
            turn: record.turn,
            details: record.details.clone(),
            text: Some(text),
            output: None,
        });
    });
}

/// The line of an event; none for what is not shown, or shown by the loop itself with its output.
fn line(kind: Kind, record: &Record) -> Option<String> {
    match kind {
        Kind::ToolCall => {
            let arguments = record.details.get("arguments").unwrap_or(&Value::Null);
            let line = wisp_tools::said(arguments);
            Some(format!("⚙ {} {line}", record.text("tool")?).trim_end().to_owned())
        }
        Kind::ApprovalDecided => Some(format!("· {}", decided(record)?)),
        Kind::PolicyDecision if record.text("verdict") == Some("denied") => Some(format!(
            "· blocked by policy: {}",
            record.text("reason").unwrap_or_default()
        )),
        Kind::BatchReduced => Some("· the results of this reply were shortened to fit together".to_owned()),
        _ => None,
    }
}

fn decided(record: &Record) -> Option<String> {
    let decision = record.text("decision")?;
    let scope = record
        .text("scope")
        .map_or_else(String::new, |scope| format!(" ({scope})"));
    let reason = record
        .text("reason")
        .map_or_else(String::new, |reason| format!(": {reason}"));
    Some(format!("{decision}{scope}{reason}"))
}
