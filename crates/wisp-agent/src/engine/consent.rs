//! Leave to send a conversation to another machine. A local server forwards what is said to a cloud model, and
//! nothing else about such a model shows that: so the person is asked before the first request. The answer is
//! remembered for that model on that server, stands in `wisp models`, and is taken back with `wisp models revoke`.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;
use wisp_audit::{AuditError, AuditLog, Event, Kind};

use super::desk::Asker;
use crate::events::Events;
use crate::model::Model;
use crate::model::known::Consent;
use crate::open::OpenError;
use crate::protocol::{Choice, ChoiceOption, NoteLevel};

const SEND: &str = "send";
const ONCE: &str = "once";

/// Who is asked, who is told, and where it is recorded.
pub struct Asking<'a> {
    /// The person, when one is there who can choose. With nobody to ask the answer is no.
    pub person: Option<&'a Asker>,
    /// The way to the face.
    pub events: &'a Events,
    /// The audit.
    pub audit: &'a AuditLog,
    /// The time of day.
    pub now: Timestamp,
}

/// The answer, and how it came about.
enum Answer {
    /// Given before the conversation: with `--yes`, or kept from an earlier one.
    Before,
    /// Given now, for good.
    Kept,
    /// Given now, for this conversation.
    Once,
    /// Not given.
    No,
}

impl Answer {
    fn words(&self) -> &'static str {
        match self {
            Self::Before => "given before",
            Self::Kept => "given",
            Self::Once => "given once",
            Self::No => "refused",
        }
    }
}

/// Sees to it that the person agrees to a model that does not run on the server's own machine.
pub async fn consent(model: &mut Model, asking: &Asking<'_>) -> Result<(), OpenError> {
    let Some(host) = model.elsewhere() else {
        return Ok(());
    };
    let answer = answer(model, &host, asking).await;
    record(model, &host, &answer, asking)?;
    if matches!(answer, Answer::No) {
        let model = model.name.clone();
        return Err(OpenError::Elsewhere { model, host });
    }
    model.agreed = true;
    if matches!(answer, Answer::Kept) {
        keep(model, &host, asking);
    }
    let text = format!(
        "{} runs on {host}: what is said, read and printed here leaves this machine",
        model.name
    );
    asking.events.note(NoteLevel::Warning, text);
    Ok(())
}

async fn answer(model: &Model, host: &str, asking: &Asking<'_>) -> Answer {
    if model.may_be_asked() {
        return Answer::Before;
    }
    let Some(person) = asking.person else {
        return Answer::No;
    };
    match person.choose(question(&model.name, host)).await.as_deref() {
        Some(SEND) => Answer::Kept,
        Some(ONCE) => Answer::Once,
        _ => Answer::No,
    }
}

/// Keeps the leave for the conversations to come. One that cannot be kept holds for this one.
fn keep(model: &Model, host: &str, asking: &Asking<'_>) {
    let consent = Consent {
        host: host.to_owned(),
        date: TimeZone::system().to_datetime(asking.now).date().to_string(),
    };
    let text = match model.keep_consent(consent) {
        Ok(()) => format!(
            "this is remembered; wisp models revoke {} takes it back",
            model.name
        ),
        Err(error) => format!("this holds for this conversation only: {error}"),
    };
    asking.events.note(NoteLevel::Info, text);
}

fn record(model: &Model, host: &str, answer: &Answer, asking: &Asking<'_>) -> Result<(), AuditError> {
    let source = if asking.person.is_some() {
        "person"
    } else {
        "nobody"
    };
    let details = json!({
        "model": model.name, "server": model.client.host().to_string(), "host": host, "answer": answer.words(),
        "source": if matches!(answer, Answer::Before) { "earlier" } else { source },
    });
    asking
        .audit
        .append(Event::new(Kind::ModelConsent, details))
        .map(drop)
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
                ONCE,
                format!("Yes, send this conversation to {host}"),
                "what you say, files and outputs the model reads; asked again next time",
            ),
            option(
                SEND,
                format!("Yes, and from now on whenever {name} is used on this server"),
                "remembered until wisp models revoke",
            ),
        ],
        ..Choice::default()
    }
}
