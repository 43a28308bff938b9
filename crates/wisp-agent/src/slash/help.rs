//! `/help`: the table, by group.

use super::{Scene, TABLE};
use crate::conversation::Conversation;
use crate::engine::Next;

pub(super) async fn help(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let mut group = "";
    for row in TABLE {
        if row.group != group {
            group = row.group;
            conversation.events.line(format!("{group}:"));
        }
        let usage = format!("{} {}", row.name, row.arguments);
        conversation
            .events
            .line(format!("  {:<18} {}", usage.trim_end(), row.about));
    }
    for line in [
        "also:",
        "  !COMMAND           run a command yourself; the model is told of it",
        "  @PATH              attaches a file or a folder to the message; Tab finds it by some of its letters",
        "  Alt-Enter, or \\    a new line in the message; Tab completes; Ctrl-C stops a turn",
        "an ID is the start of what a fold line or a note names, at least four characters",
    ] {
        conversation.events.line(line);
    }
    Next::Go
}
