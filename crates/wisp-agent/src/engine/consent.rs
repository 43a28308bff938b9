//! Leave to send a conversation to another machine. A local server forwards what is said to a cloud model, and
//! nothing else about such a model shows that: so the person is asked before the first request.

use super::desk::Asker;
use crate::events::Events;
use crate::model::Model;
use crate::open::OpenError;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

const SEND: &str = "send";

/// Sees to it that the person agrees to a model that does not run on the server's own machine. `yes` is leave given
/// beforehand; without it and without anybody to ask, the answer is no.
pub async fn consent(
    model: &Model,
    yes: bool,
    person: Option<&Asker>,
    events: &Events,
) -> Result<(), OpenError> {
    let Some(host) = model.elsewhere() else {
        return Ok(());
    };
    let agreed = yes
        || match person {
            Some(person) => person.choose(question(&model.name, &host)).await.as_deref() == Some(SEND),
            None => false,
        };
    if !agreed {
        let model = model.name.clone();
        return Err(OpenError::Elsewhere { model, host });
    }
    let text = format!(
        "{} runs on {host}: what is said, read and printed here leaves this machine",
        model.name
    );
    events.note(NoteLevel::Warning, text);
    Ok(())
}

fn question(name: &str, host: &str) -> Choice {
    let option = |value: &str, label: String, detail: &str| ChoiceOption {
        value: value.to_owned(),
        label,
        detail: detail.to_owned(),
        on: false,
    };
    Choice {
        title: format!("{name} does not run on this machine. Send this conversation to {host}?"),
        options: vec![
            option("keep", "No, keep it here".to_owned(), "nothing is sent"),
            option(
                SEND,
                format!("Yes, send it to {host}"),
                "what you say, files and outputs the model reads, for this conversation",
            ),
        ],
        ..Choice::default()
    }
}
