//! `/save`, `/threads`: conversations kept under a name.

use wisp_output::amount::size;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::NoteLevel;
use crate::protocol::{Choice, ChoiceOption};
use crate::saved::{Listed, Overview, SavedError};

/// Conversations in the list of `/resume`.
const RESUMABLE: usize = 20;

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
        // A name is part of a file's name and of command lines, so words are joined.
        (name, Some(_)) => name.split_whitespace().collect::<Vec<_>>().join("-"),
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

/// Continues another conversation, chosen from a list where none is named.
pub(super) async fn resume(conversation: &mut Conversation, rest: &str, scene: &Scene<'_>) -> Next {
    let name = match rest {
        "" => choose(conversation, scene).await,
        name => Some(name.to_owned()),
    };
    let Some(name) = name else { return Next::Go };
    if let Err(error) = conversation.resume(&name) {
        let hint = error
            .hint()
            .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        let text = format!("{error}{hint}");
        conversation.events.note(NoteLevel::Error, text);
    }
    Next::Go
}

/// The conversation that is chosen; none when none is, or when there is only the list to be shown.
async fn choose(conversation: &Conversation, scene: &Scene<'_>) -> Option<String> {
    let own = conversation
        .thread
        .as_ref()
        .map(|thread| thread.name().to_owned());
    let listed = match conversation.folder().overview(RESUMABLE + 1) {
        Ok(listed) => listed,
        Err(error) => {
            conversation.events.note(NoteLevel::Error, error.to_string());
            return None;
        }
    };
    let others = listed
        .into_iter()
        .filter(|one| own.as_ref() != Some(&one.listed.name));
    let others: Vec<Overview> = others.take(RESUMABLE).collect();
    if others.is_empty() {
        conversation.events.line("no other conversation is saved yet");
        return None;
    }
    let now = conversation.registry.services().clock.now();
    if !scene.person.can_choose() {
        for one in &others {
            let about = one.about(now, &conversation.env);
            conversation.events.line(format!("{:<12} {about}", one.called()));
        }
        return None;
    }
    let option = |one: &Overview| ChoiceOption {
        value: one.called().to_owned(),
        label: one.called().to_owned(),
        detail: one.about(now, &conversation.env),
        on: false,
    };
    let choice = Choice {
        title: "Continue which conversation?".to_owned(),
        options: others.iter().map(option).collect(),
        ..Choice::default()
    };
    scene.person.choose(choice).await
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
