//! What the engine says as updates of a session, and its questions as permission requests.

use agent_client_protocol::v1::schema::{
    Content, ContentBlock, ContentChunk, PermissionOption, PermissionOptionKind, RequestPermissionRequest,
    SessionId, SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;
use wisp_agent::protocol::{Approval, Decision, Event, NoteLevel};

fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text.into())))
}

fn content(text: impl Into<String>) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text.into()))))
}

/// What an event is to an editor; none for what it has no place for.
pub(crate) fn update(event: &Event) -> Option<SessionUpdate> {
    match event {
        Event::Delta { text } => Some(SessionUpdate::AgentMessageChunk(chunk(text))),
        Event::Thinking { text } => Some(SessionUpdate::AgentThoughtChunk(chunk(text))),
        Event::Output { text } => Some(SessionUpdate::AgentMessageChunk(chunk(format!("{text}\n")))),
        Event::Note { text, level } if *level != NoteLevel::Info => {
            Some(SessionUpdate::AgentMessageChunk(chunk(format!("\n[{text}]\n"))))
        }
        Event::Event {
            kind,
            call: Some(call),
            details,
            ..
        } if kind == "tool.call" => Some(SessionUpdate::ToolCall(begun(call, details))),
        Event::Event {
            kind,
            call: Some(call),
            details,
            output,
            ..
        } if kind == "tool.result" => {
            let text = output
                .as_ref()
                .map(|output| output.text.clone())
                .unwrap_or_default();
            let difference = output.as_ref().and_then(|output| output.difference.as_ref());
            let shown = difference.map_or(text, |difference| difference.text.clone());
            Some(SessionUpdate::ToolCallUpdate(ended(call, details, shown)))
        }
        _ => None,
    }
}

fn begun(call: &str, details: &Value) -> ToolCall {
    let tool = details["tool"].as_str().unwrap_or_default();
    let arguments = &details["arguments"];
    let about = ["command", "path", "pattern", "query", "request"];
    let about = about.iter().find_map(|name| arguments[*name].as_str());
    let title = about.map_or_else(|| tool.to_owned(), |about| format!("{tool} {about}"));
    let mut begun = ToolCall::new(ToolCallId::new(call.to_owned()), title)
        .kind(kind(tool))
        .status(ToolCallStatus::InProgress)
        .raw_input(arguments.clone());
    if let Some(path) = arguments["path"].as_str() {
        begun = begun.locations(vec![ToolCallLocation::new(path)]);
    }
    begun
}

fn ended(call: &str, details: &Value, text: String) -> ToolCallUpdate {
    let outcome = details["outcome"].as_str().unwrap_or_default();
    let status = match outcome {
        "ok" | "exit 0" => ToolCallStatus::Completed,
        _ => ToolCallStatus::Failed,
    };
    let fields = ToolCallUpdateFields::new()
        .status(status)
        .content(vec![content(text)]);
    ToolCallUpdate::new(ToolCallId::new(call.to_owned()), fields)
}

/// What an editor draws for a tool.
fn kind(tool: &str) -> ToolKind {
    match tool {
        "read_file" => ToolKind::Read,
        "edit_file" => ToolKind::Edit,
        "find_files" | "search_text" | "memory" => ToolKind::Search,
        "run_command" => ToolKind::Execute,
        _ => ToolKind::Other,
    }
}

/// The answers to a question: what stands on the button, and what kind an editor takes it for.
const ANSWERS: &[(Decision, &str, &str, PermissionOptionKind)] = &[
    (
        Decision::Once,
        "once",
        "Allow once",
        PermissionOptionKind::AllowOnce,
    ),
    (
        Decision::Turn,
        "turn",
        "Allow for this turn",
        PermissionOptionKind::AllowOnce,
    ),
    (
        Decision::Session,
        "session",
        "Allow for this session",
        PermissionOptionKind::AllowAlways,
    ),
    (
        Decision::Project,
        "project",
        "Allow in this directory",
        PermissionOptionKind::AllowAlways,
    ),
    (
        Decision::Always,
        "always",
        "Allow everywhere",
        PermissionOptionKind::AllowAlways,
    ),
    (Decision::No, "no", "Refuse", PermissionOptionKind::RejectOnce),
];

/// A question of the engine as an editor asks it, about the call that is under way.
pub(crate) fn permission(session: &SessionId, call: &str, approval: &Approval) -> RequestPermissionRequest {
    let mut about = vec![content(format!(
        "{} ({}: {})",
        approval.command,
        approval.level,
        approval.reasons.join("; ")
    ))];
    about.extend(approval.diff.iter().map(content));
    let fields = ToolCallUpdateFields::new()
        .title(approval.command.clone())
        .content(about);
    let options = ANSWERS
        .iter()
        .filter(|(decision, ..)| approval.decisions.contains(decision))
        .map(|(_, id, name, kind)| PermissionOption::new(*id, *name, *kind))
        .collect();
    let call = ToolCallUpdate::new(ToolCallId::new(call.to_owned()), fields);
    RequestPermissionRequest::new(session.clone(), call, options)
}

/// The decision of an option; what is none refuses.
pub(crate) fn decision(option: &str) -> Decision {
    let found = ANSWERS.iter().find(|(_, id, ..)| *id == option);
    found.map_or(Decision::No, |(decision, ..)| *decision)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_its_kind_its_place_and_its_end() {
        let call = begun(
            "c1",
            &json!({"tool": "edit_file", "arguments": {"path": "/w/a", "mode": "write"}}),
        );
        let call = serde_json::to_value(call).unwrap();
        assert_eq!(
            (&call["kind"], &call["title"], &call["locations"][0]["path"]),
            (&json!("edit"), &json!("edit_file /w/a"), &json!("/w/a"))
        );
        for (outcome, status) in [
            ("ok", "completed"),
            ("exit 0", "completed"),
            ("exit 1", "failed"),
            ("declined", "failed"),
        ] {
            let update =
                serde_json::to_value(ended("c1", &json!({ "outcome": outcome }), String::new())).unwrap();
            assert_eq!(update["status"], status, "{outcome}");
        }
    }

    #[test]
    fn an_answer_that_is_none_refuses() {
        assert_eq!(decision("session"), Decision::Session);
        assert_eq!(decision("anything"), Decision::No);
    }
}
