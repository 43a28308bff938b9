//! `/new`, `/history`, `/status`, `/quit`: the conversation itself.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_ollama::Client;
use wisp_output::amount::{grouped, percent_of};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;

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
    let name = conversation.thread.as_ref().filter(|t| t.is_named());
    let name = name.map(|t| t.name().to_owned());
    conversation.registry.end_jobs();
    conversation.start_over();
    let text = "a new conversation; outputs of the old one stay reachable with /show";
    let text = name.map_or_else(
        || text.to_owned(),
        |name| format!("{text}, the old one stays saved as {name}"),
    );
    conversation.events.note(NoteLevel::Info, text);
    Next::Go
}

pub(super) async fn history(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    for (number, line) in conversation.typed.last() {
        conversation
            .events
            .line(format!("{number:>4}  {}", line.replace('\n', " ⏎ ")));
    }
    Next::Go
}

pub(super) async fn status(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let rows = standing(conversation);
    let loaded = loaded(&conversation.model.client, &conversation.model.name).await;
    lines(rows, &loaded).for_each(|line| conversation.events.line(line));
    Next::Go
}

/// The row that only the server knows.
const LOADED: &str = "loaded with";

/// What `/status` says of a conversation but what only the server knows.
pub(crate) fn standing(conversation: &Conversation) -> Vec<(&'static str, String)> {
    let model = &conversation.model;
    let window = &model.window;
    let trained = window.trained;
    let trained = trained.map_or_else(|| "unknown".to_owned(), |n| format!("{} tokens", grouped(n)));
    let audit = conversation
        .audit
        .path()
        .map_or_else(|| "off".to_owned(), |p| p.display().to_string());
    let tools = conversation.registry.names().join(", ");
    vec![
        ("session", conversation.audit.session().as_str().to_owned()),
        ("turn", conversation.turn_number().to_string()),
        ("model", model.name.clone()),
        (
            "server",
            format!("{} (Ollama {})", model.client.host(), model.version.as_str()),
        ),
        (
            "window",
            format!("{} tokens, {}", grouped(window.tokens), window.said),
        ),
        (
            "used",
            format!("{} % of the window", percent_of(conversation.used())),
        ),
        ("trained for", trained),
        (LOADED, String::new()),
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
        ("instructions", instructions(conversation)),
        ("approvals", conversation.registry.gate().described()),
        ("audit", audit),
        ("saved as", saved(conversation)),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ]
}

/// Its lines, with what the server has loaded.
pub(crate) fn lines(rows: Vec<(&'static str, String)>, loaded: &str) -> impl Iterator<Item = String> {
    rows.into_iter().map(move |(name, value)| {
        let value = if name == LOADED { loaded } else { &value };
        format!("{name:<14} {value}")
    })
}

fn instructions(conversation: &Conversation) -> String {
    let files = conversation.agents.described(&conversation.directory);
    files.unwrap_or_else(|| "none of yours (AGENTS.md)".to_owned())
}

fn saved(conversation: &Conversation) -> String {
    let Some(thread) = &conversation.thread else {
        return "not saved".to_owned();
    };
    let file = thread.folder().file(thread.name(), "store");
    format!("{} ({})", thread.name(), file.display())
}

/// The window that the server has loaded a model with.
pub(crate) async fn loaded(client: &Client, model: &str) -> String {
    let here = client.ps().await.unwrap_or_default();
    let here = here.into_iter().find(|l| wisp_ollama::same_model(&l.name, model));
    match here {
        None => "not loaded".to_owned(),
        Some(loaded) => loaded
            .context_length
            .map_or_else(|| "unknown".to_owned(), |n| format!("{} tokens", grouped(n))),
    }
}
