//! `/new`, `/history`, `/status`, `/tokens`, `/quit`: the conversation itself.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_context::Basis;
use wisp_output::amount::grouped;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;

/// Lines of `/history`.
const HISTORY: usize = 100;

pub(super) async fn quit(_: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    Next::Leave
}

pub(super) async fn new(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let details =
        json!({"reason": "new", "model": conversation.model.name, "tools": conversation.registry.names()});
    if let Err(e) = conversation
        .audit
        .append(Audited::new(Kind::SessionStart, details))
    {
        conversation.events.note(NoteLevel::Error, e.to_string());
        return Next::Go;
    }
    conversation.start_over();
    conversation.events.note(
        NoteLevel::Info,
        "a new conversation; outputs of the old one stay reachable with /show",
    );
    Next::Go
}

pub(super) async fn history(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let from = conversation.typed.len().saturating_sub(HISTORY);
    for (at, line) in conversation.typed.iter().enumerate().skip(from) {
        conversation
            .events
            .line(format!("{:>4}  {}", at + 1, line.replace('\n', " ⏎ ")));
    }
    Next::Go
}

pub(super) async fn status(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let model = &conversation.model;
    let window = &model.window;
    let trained = window.trained.map_or_else(|| "unknown".to_owned(), grouped);
    let audit = conversation
        .audit
        .path()
        .map_or_else(|| "off".to_owned(), |p| p.display().to_string());
    let tools = conversation.registry.names().join(", ");
    let loaded = loaded(conversation).await;
    let rows = [
        ("session", conversation.audit.session().as_str().to_owned()),
        ("turn", conversation.turn_number().to_string()),
        ("model", model.name.clone()),
        (
            "server",
            format!("{} (Ollama {})", model.client.host(), model.version.as_str()),
        ),
        (
            "window",
            format!("{} tokens: {}", grouped(window.tokens), window.why),
        ),
        ("trained for", format!("{trained} tokens")),
        ("loaded with", loaded),
        ("used", format!("{:.0} %", conversation.used() * 100.0)),
        (
            "output budget",
            format!(
                "{} bytes a result",
                grouped(conversation.registry.services().budget.bytes() as u64)
            ),
        ),
        (
            "tools",
            if conversation.tools.is_some() {
                tools
            } else {
                "none".to_owned()
            },
        ),
        ("approvals", conversation.registry.gate().described()),
        ("audit", audit),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    for (name, value) in rows {
        conversation.events.line(format!("{name:<14} {value}"));
    }
    Next::Go
}

async fn loaded(conversation: &Conversation) -> String {
    let model = &conversation.model;
    let here = model.client.ps().await.unwrap_or_default();
    let here = here
        .into_iter()
        .find(|l| wisp_ollama::same_model(&l.name, &model.name));
    match here {
        None => "not loaded".to_owned(),
        Some(loaded) => loaded
            .context_length
            .map_or_else(|| "unknown".to_owned(), |n| format!("{} tokens", grouped(n))),
    }
}

pub(super) async fn tokens(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let estimator = &conversation.estimator;
    let now = estimator.estimate(conversation.record.compose().bytes());
    let how = match now.basis {
        Basis::Reported => "reported by the server",
        Basis::SinceReport => "the last report and what changed since",
        Basis::Bytes => "estimated from bytes",
    };
    let window = conversation.model.window.tokens;
    let percent = now.tokens * 100 / window.max(1);
    let events = &conversation.events;
    events.line(format!(
        "{} of {} tokens ({percent} %), {how}",
        grouped(now.tokens),
        grouped(window)
    ));
    events.line(format!(
        "{:.1} bytes a token; tool definitions are {} bytes of each request",
        estimator.ratio(),
        grouped(estimator.tool_bytes())
    ));
    if let Some(miss) = estimator.last_miss() {
        let (said, was) = (grouped(miss.estimated), grouped(miss.reported));
        events.line(format!(
            "the last estimate was {said} where the server counted {was} ({:+.1} %)",
            miss.percent()
        ));
    }
    let turns = conversation.record.turn_count();
    let dropped = conversation.record.condensations().len();
    let turns = if turns == 1 {
        "1 turn".to_owned()
    } else {
        format!("{turns} turns")
    };
    let times = if dropped == 1 {
        "once".to_owned()
    } else {
        format!("{dropped} times")
    };
    events.line(format!("{turns}; older turns left the context {times}"));
    Next::Go
}
