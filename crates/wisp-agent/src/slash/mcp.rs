//! `/mcp`: the MCP servers of the conversation, how they stand and what they offer.

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;

/// Lists them; with a name, one of them with its tools.
#[cfg(feature = "mcp")]
pub(super) async fn mcp(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    use crate::protocol::NoteLevel;
    use crate::servers_shown::{details, summary};

    let rows = conversation
        .foreign
        .servers()
        .map(wisp_mcp::Servers::rows)
        .unwrap_or_default();
    let events = &conversation.events;
    match (rest, &rows[..]) {
        (_, []) => events.line("no MCP servers are configured; wisp mcp add NAME -- COMMAND adds one"),
        ("", rows) => {
            for row in rows {
                events.line(summary(row));
            }
        }
        (name, rows) => {
            if let Some(row) = rows.iter().find(|row| row.name == name) {
                for text in details(row) {
                    events.line(text);
                }
            } else {
                let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
                let text = format!("there is no MCP server {name}; there are {}", names.join(", "));
                events.note(NoteLevel::Error, text);
            }
        }
    }
    Next::Go
}

/// Says that there are none.
#[cfg(not(feature = "mcp"))]
pub(super) async fn mcp(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    conversation.events.line("this wisp was built without MCP");
    Next::Go
}
