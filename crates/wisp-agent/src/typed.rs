//! Commands the person types after `!`: policy holds, risk and approval do not apply, and the model is told of them
//! with its next request, as the person's action.

use serde_json::json;
use wisp_audit::Kind;
use wisp_context::{Status, Typed};
use wisp_exec::Cancel;
use wisp_tools::{Behind, Ending, Pending, Person, Scene};

use crate::conversation::{Conversation, Shown};
use crate::events::Doing;
use crate::protocol::{Event, NoteLevel};
use crate::turn::tools::left;

/// Runs a line the person typed.
pub async fn run(
    conversation: &mut Conversation,
    line: &str,
    person: &dyn Person,
    doing: &Doing,
    cancel: &Cancel,
) {
    if line.is_empty() {
        conversation
            .events
            .note(NoteLevel::Info, "nothing to run: write a command after the !");
        return;
    }
    doing.typed(format!("running {line}"), false);
    let turn = conversation.turn_number() + 1;
    let scene = Scene {
        turn,
        person,
        cancel,
        behind: Behind::default(),
    };
    let ran = conversation.registry.run_typed(line, &scene).await;
    doing.nothing();
    match ran {
        Ok(pending) => finished(conversation, line, &pending, turn),
        Err(e) => conversation.events.note(NoteLevel::Error, e.to_string()),
    }
}

fn finished(conversation: &mut Conversation, line: &str, pending: &Pending, turn: u64) {
    let admitted = &pending.admitted;
    let directory = conversation.directory.display().to_string();
    let details = json!({
        "command": line, "workingDirectory": directory, "output": admitted.shown, "bytes": admitted.bytes,
        "seconds": pending.seconds, "verdict": if pending.ending == Ending::Denied { "denied" } else { "allowed" },
        "stored": admitted.kept.as_ref().map(|_| pending.call.clone()),
    });
    let event = wisp_audit::Event::new(Kind::CommandTyped, details.clone())
        .in_turn(turn)
        .of_call(&pending.call);
    if let Err(e) = conversation.audit.append(event) {
        conversation.events.note(
            NoteLevel::Error,
            format!("the command could not be recorded: {e}"),
        );
    }
    conversation.events.send(Event::Event {
        kind: Kind::CommandTyped.name().to_owned(),
        call: Some(pending.call.clone()),
        turn: Some(turn),
        details,
        text: Some(format!("↳ {}{}", words(&pending.ending), left(pending))),
        output: Some(conversation.summary(admitted, &pending.call)),
    });
    if pending.ending == Ending::Exit(0)
        && let Some(what) = changes_only_its_shell(line)
    {
        let text = format!(
            "{what} holds only for the shell that ran it: commands and tools go on in {directory} as before; write it \
             before a command (!{line} && COMMAND), or start wisp where or how you want it"
        );
        conversation.events.note(NoteLevel::Info, text);
    }
    remember(conversation, line, pending);
    // A refused command did not happen, so the model is not told of it.
    if pending.ending != Ending::Denied {
        conversation.offer_memory_when_needed();
        tell(conversation, line, pending);
    }
}

/// The word of a command that changes nothing but the shell it runs in, when it is all of the line: each typed command
/// has a shell of its own.
fn changes_only_its_shell(line: &str) -> Option<&str> {
    const WORDS: [&str; 11] = [
        "cd", "pushd", "popd", "export", "unset", "alias", "unalias", "umask", "ulimit", "source", ".",
    ];
    let more = line.contains([';', '&', '|', '\n', '>']);
    let word = line.split_whitespace().next()?;
    // Without an argument most of them print.
    let does = word == "popd" || word == "cd" || line.split_whitespace().nth(1).is_some();
    (does && !more && WORDS.contains(&word)).then_some(word)
}

fn words(ending: &Ending) -> String {
    match ending {
        Ending::Interrupted => "stopped by you".to_owned(),
        other => other.words(),
    }
}

pub(crate) fn remember(conversation: &mut Conversation, line: &str, pending: &Pending) {
    let summary = conversation.summary(&pending.admitted, &pending.call);
    conversation.note_shown(Shown {
        id: pending.call.clone(),
        title: format!("! {line}"),
        text: pending.admitted.shown.clone(),
        bytes: summary.bytes,
        lines: summary.lines,
        out_lines: pending.admitted.out_lines,
        held: summary.held,
        kept: summary.stored,
        not_kept: pending.admitted.not_kept.clone(),
    });
}

/// Puts the command into the record; the next request carries it.
fn tell(conversation: &mut Conversation, line: &str, pending: &Pending) {
    let status = match &pending.ending {
        Ending::Exit(code) => Status::Exit(*code),
        Ending::Failed(how) => Status::Other(how.as_str().into()),
        other => Status::Other(words(other).into()),
    };
    let typed = Typed {
        command: line.into(),
        directory: conversation.directory.display().to_string().into(),
        status,
        lines: pending.admitted.printed.1,
        output: pending.admitted.for_record().into(),
        kept: pending
            .admitted
            .kept
            .as_ref()
            .map(|_| pending.call.as_str().into()),
    };
    let stamp = conversation.stamp();
    conversation.record.record_command(typed, stamp);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_changes_only_its_shell_is_known() {
        for (line, word) in [
            ("cd x", Some("cd")),
            ("cd", Some("cd")),
            ("export A=1", Some("export")),
            (". venv/bin/activate", Some(".")),
            ("cd x && make", None),
            ("cd x; ls", None),
            ("export", None),
            ("cdrecord x", None),
            ("ls", None),
        ] {
            assert_eq!(changes_only_its_shell(line), word, "{line}");
        }
    }
}
