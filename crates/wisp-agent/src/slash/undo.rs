//! `/undo` and `/diff`: what the model's edits changed, and putting it back.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_output::amount::counted;
use wisp_tools::files::undo::{Back, Which};

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

/// The most lines of a difference that are shown before the question.
const SHOWN: usize = 200;
const YES: &str = "yes";

/// Shows what would be put back, asks, and puts it back: the last edit, the edits of the last turn that made any, or all
/// from a turn on.
pub(super) async fn undo(conversation: &mut Conversation, rest: &str, scene: &Scene<'_>) -> Next {
    let which = match which(conversation, rest) {
        Ok(which) => which,
        Err(why) => {
            conversation.events.note(NoteLevel::Error, why);
            return Next::Go;
        }
    };
    let backs = match conversation.registry.back(which) {
        Ok(backs) if backs.is_empty() => {
            conversation
                .events
                .note(NoteLevel::Info, "there is no edit to undo");
            return Next::Go;
        }
        Ok(backs) => backs,
        Err(why) => {
            conversation.events.note(NoteLevel::Error, why);
            return Next::Go;
        }
    };
    let diffs: Vec<&str> = backs.iter().map(|back| back.diff.as_str()).collect();
    show(conversation, &diffs.concat());
    if conversation.terms.yes || agreed(scene, backs.len()).await {
        put_back(conversation, which, &backs);
    } else {
        conversation.events.note(NoteLevel::Info, "nothing was undone");
    }
    Next::Go
}

/// Whether the user says yes to what was shown; with nobody to ask the answer is no.
async fn agreed(scene: &Scene<'_>, files: usize) -> bool {
    let option = |value: &str, label: &str| ChoiceOption {
        value: value.to_owned(),
        label: label.to_owned(),
        ..ChoiceOption::default()
    };
    let choice = Choice {
        title: format!("Undo this in {}?", counted(files as u64, "file")),
        options: vec![option(YES, "Yes, undo"), option("no", "No")],
        ..Choice::default()
    };
    scene.person.choose(choice).await.as_deref() == Some(YES)
}

/// Shows all that the conversation's edits changed.
pub(super) async fn diff(conversation: &mut Conversation, _: &str, _: &Scene<'_>) -> Next {
    let changes = conversation.registry.edits().changes();
    if changes.is_empty() {
        let text = "no edit of this conversation changed a file; what commands changed is not in /diff";
        conversation.events.note(NoteLevel::Info, text);
    }
    for line in changes.concat().lines() {
        conversation.events.line(line);
    }
    Next::Go
}

fn which(conversation: &Conversation, rest: &str) -> Result<Which, String> {
    let mut words = rest.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (None, ..) => Ok(Which::Last),
        (Some("turn"), None, _) => {
            let last = conversation.registry.edits().last_turn();
            Ok(Which::Since(last.unwrap_or(u64::MAX)))
        }
        (Some("turn"), Some(number), None) if number.parse::<u64>().is_ok_and(|n| n > 0) => {
            Ok(Which::Since(number.parse().unwrap_or(u64::MAX)))
        }
        _ => Err("/undo takes nothing (the last edit), turn (the last turn that edited), or turn N (back to before turn N)".to_owned()),
    }
}

fn show(conversation: &Conversation, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(SHOWN) {
        conversation.events.line(*line);
    }
    if lines.len() > SHOWN {
        let more = counted((lines.len() - SHOWN) as u64, "more line");
        conversation.events.line(format!("… {more}"));
    }
}

/// Checked once more, since a question takes time; then each file is put back.
fn put_back(conversation: &mut Conversation, which: Which, asked: &[Back]) {
    let backs = match conversation.registry.back(which) {
        Ok(backs) => backs,
        Err(why) => {
            conversation.events.note(NoteLevel::Error, why);
            return;
        }
    };
    let mut names = Vec::new();
    for back in backs
        .iter()
        .filter(|back| asked.iter().any(|one| one.path == back.path))
    {
        let size = std::fs::metadata(&back.path).map_or(0, |about| about.len());
        if let Err(why) = back.put() {
            let text = format!("{why}; {} put back", counted(names.len() as u64, "file"));
            conversation.events.note(NoteLevel::Error, text);
            return;
        }
        let details = json!({
            "path": back.path.display().to_string(), "mode": "undo", "created": false,
            "bytesBefore": size, "bytesAfter": back.before.as_ref().map_or(0, Vec::len),
        });
        // The file is put back whether or not that can be written down.
        let _ = conversation.audit.append(Audited::new(Kind::FileWrite, details));
        conversation.registry.undone(which, &back.path);
        names.push(back.path.display().to_string());
    }
    let names = names.join(", ");
    conversation
        .events
        .note(NoteLevel::Info, format!("undone: {names}"));
    let told = format!("the user undid your last edits of {names}: read before you edit again");
    conversation.beside.notice = Some(match conversation.beside.notice.take() {
        Some(before) => format!("{before}; {told}"),
        None => told,
    });
}
