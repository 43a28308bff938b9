//! `/save`, `/threads`: conversations kept under a name.

use wisp_output::amount::size;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;
use crate::saved::{Listed, SavedError};

pub(super) async fn save(conversation: &mut Conversation, rest: &str, _: &Scene<'_>) -> Next {
    let name = match (rest, &conversation.thread) {
        (_, None) => {
            conversation
                .events
                .note(NoteLevel::Error, "this conversation is not one that is saved");
            return Next::Go;
        }
        ("", Some(thread)) if !thread.is_named() => {
            let text =
                "it is saved under its session, and wisp chat --resume goes on with it; /save NAME names it";
            conversation.events.note(NoteLevel::Info, text);
            return Next::Go;
        }
        ("", Some(thread)) => thread.name().to_owned(),
        (name, Some(_)) => name.to_owned(),
    };
    match conversation.save_as(&name) {
        Ok(()) => conversation.events.note(
            NoteLevel::Info,
            format!(
                "saved as {name}, and so is each turn from now on; wisp chat --resume {name} goes on with it"
            ),
        ),
        Err(error) => refused(conversation, &error),
    }
    Next::Go
}

fn refused(conversation: &Conversation, error: &SavedError) {
    let hint = error
        .hint()
        .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    conversation
        .events
        .note(NoteLevel::Error, format!("{error}{hint}"));
}

pub(super) async fn threads(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let listed = match conversation.folder().list() {
        Ok(listed) => listed,
        Err(error) => {
            conversation.events.note(NoteLevel::Error, error.to_string());
            return Next::Go;
        }
    };
    if listed.is_empty() {
        conversation.events.line("no conversation is saved yet");
    }
    let own = conversation
        .thread
        .as_ref()
        .map(|thread| thread.name().to_owned());
    for one in &listed {
        let mark = if own.as_ref() == Some(&one.name) { "*" } else { " " };
        conversation.events.line(format!("{mark} {}", row(one)));
    }
    Next::Go
}

fn row(one: &Listed) -> String {
    let saved = jiff::Timestamp::try_from(one.saved)
        .map(|at| at.to_zoned_datetime(jiff::tz::TimeZone::system()))
        .map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%d %H:%M").to_string());
    let kind = if one.named { "" } else { "  (no name given)" };
    format!("{:<26} {saved}  {:>9}{kind}", one.name, size(one.bytes))
}
