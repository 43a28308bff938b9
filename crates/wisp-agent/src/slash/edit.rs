//! `/edit`: an earlier message is changed and sent once more, in a conversation of its own that begins as the old one did.

use serde_json::json;
use wisp_audit::{Event as Audited, Kind};
use wisp_context::ThreadRecord;

use super::Scene;
use crate::conversation::Conversation;
use crate::engine::Next;
use crate::protocol::{Choice, ChoiceOption, Event, NoteLevel};

/// Messages in the list, the latest first.
const LISTED: usize = 50;

/// Goes back to before a message, which is put into the input box, or sent with other words where they are given.
pub(super) async fn edit(conversation: &mut Conversation, rest: &str, scene: &Scene<'_>) -> Next {
    match edited(conversation, rest, scene).await {
        Ok(next) => next,
        Err(why) => {
            conversation.events.note(NoteLevel::Error, why);
            Next::Go
        }
    }
}

async fn edited(conversation: &mut Conversation, rest: &str, scene: &Scene<'_>) -> Result<Next, String> {
    let whole = conversation.whole_record().map_err(|error| error.to_string())?;
    let whole = whole.into_owned();
    if whole.turn_count() == 0 {
        return Err("there is no message yet to edit".to_owned());
    }
    let before = conversation.turns_before;
    let (number, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = match number {
        "" => choose(conversation, &whole, scene).await,
        number => Some(number.to_owned()),
    };
    let Some(number) = number else {
        return Ok(Next::Go);
    };
    let place = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_sub(before));
    let turn = place.and_then(|turn| u32::try_from(turn).ok()).unwrap_or(0);
    let (Some(fork), Some(words)) = (whole.before_turn(turn), whole.own_words(turn)) else {
        let (first, last) = (before + 1, conversation.turn_number());
        return Err(format!(
            "there is no message {number}: they are numbered {first} to {last}"
        ));
    };
    conversation.go_back(fork, &number)?;
    Ok(match text.trim() {
        "" => {
            conversation.events.send(Event::Draft { text: words });
            Next::Go
        }
        text => Next::Message(text.to_owned()),
    })
}

/// The number of the message that is chosen; none when none is, or when there is only the list to be shown.
async fn choose(conversation: &Conversation, whole: &ThreadRecord, scene: &Scene<'_>) -> Option<String> {
    let option = |turn: &wisp_context::Turn| {
        let number = (conversation.turns_before + u64::from(turn.number)).to_string();
        ChoiceOption {
            value: number.clone(),
            label: number,
            detail: crate::saved::first_words(&whole.own_words(turn.number).unwrap_or_default()),
            on: false,
        }
    };
    let options: Vec<ChoiceOption> = whole.turns().iter().rev().take(LISTED).map(option).collect();
    if !scene.person.can_choose() {
        for one in &options {
            conversation
                .events
                .line(format!("{:>4}  {}", one.label, one.detail));
        }
        conversation
            .events
            .line("/edit N goes back to before message N; /edit N TEXT sends TEXT in its place");
        return None;
    }
    let choice = Choice {
        title: "Edit which message? What follows it stays in the old conversation.".to_owned(),
        options,
        ..Choice::default()
    };
    scene.person.choose(choice).await
}

impl Conversation {
    /// Continues with `fork`, which is this conversation before message `number`, under a name of its own. The conversation
    /// as it was stays saved; on an error nothing has changed.
    fn go_back(&mut self, fork: ThreadRecord, number: &str) -> Result<(), String> {
        self.save();
        let old = match &self.thread {
            Some(thread) if thread.is_behind(&self.record) => {
                return Err("nothing was changed: the conversation could not be saved first".to_owned());
            }
            Some(thread) => format!(
                "the conversation as it was stays saved (/resume {})",
                thread.called()
            ),
            None => "this conversation is not saved: what followed is in the audit log alone".to_owned(),
        };
        let details = json!({
            "reason": "edit", "turn": number, "model": self.model.name, "tools": self.registry.names(),
        });
        let event = Audited::new(Kind::SessionStart, details);
        self.audit.append(event).map_err(|error| error.to_string())?;
        // The number of a turn is not used twice in a session.
        self.turns_before = self.turn_number() - u64::from(fork.turn_count());
        self.record = fork;
        self.record.set_boundary(crate::open::boundary());
        self.record.in_session(self.audit.session().as_str());
        self.estimator.forget_report();
        self.counted = None;
        self.looked.send_replace(None);
        self.save_elsewhere();
        let edits = self.registry.edits().last_turn();
        let files = edits.filter(|last| number.parse::<u64>().is_ok_and(|number| *last >= number));
        let files = files.map_or_else(String::new, |_| {
            format!("; files stay as they are now (/undo turn {number} undoes the edits made since)")
        });
        let text = format!("back to before message {number}; {old}{files}");
        self.events.note(NoteLevel::Info, text);
        Ok(())
    }
}
