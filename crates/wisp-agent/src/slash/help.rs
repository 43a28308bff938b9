//! `/help`: the table, by group.

use super::{Scene, TABLE};
use crate::conversation::Conversation;
use crate::engine::Next;

pub(super) async fn help(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    lines().for_each(|line| conversation.events.line(line));
    Next::Go
}

/// What it prints.
pub(super) fn lines() -> impl Iterator<Item = String> {
    let mut group = "";
    let rows = TABLE.iter().flat_map(move |row| {
        let heading = (row.group != group).then(|| format!("{}:", row.group));
        group = row.group;
        let usage = format!("{} {}", row.name, row.arguments);
        let usage = format!("  {:<18} {}", usage.trim_end(), row.about);
        heading.into_iter().chain([usage])
    });
    rows.chain(ALSO.map(str::to_owned))
}

/// What is no command.
const ALSO: [&str; 6] = [
    "also:",
    "  !COMMAND           run a command yourself; the model is told of it",
    "  @PATH              attaches a file or a folder to the message; Tab finds it by some of its letters",
    "  Alt-Enter, or \\    a new line in the message; Tab completes; Ctrl-C stops a turn",
    "  while it works     Enter lets a line wait until the turn is over; /now TEXT tells it sooner",
    "an ID is the start of what a fold line or a note names, at least four characters",
];
