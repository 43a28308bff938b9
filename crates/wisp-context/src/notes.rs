//! What the model notes and what the task is, kept with the record for a facts layer to take over.
//!
//! A note is shown by its own turn while that is literal, and by a line of the earlier block once it has left. The
//! task stands in the now block, from the turn after it was set, so that the turn under way keeps its bytes. Both
//! are a record on the prompt side, labelled with their source; neither ever enters the instructions.

use serde::{Deserialize, Serialize};

use crate::blocks::Place;
use crate::record::ThreadRecord;
use crate::reference::shorten;
use crate::stamp::Time;
use crate::text::Text;

/// Notes and task proposals of the model that one turn may record.
pub const NOTES_A_TURN: usize = 12;
/// Characters of a note's value.
pub const VALUE_CHARS: usize = 200;
/// Characters of a task.
pub const TASK_CHARS: usize = 300;
/// Characters of a subject or a name.
const NAME_CHARS: usize = 60;

/// Who set the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person.
    Person,
    /// An MCP client.
    Caller,
    /// The model.
    Model,
}

impl Author {
    /// The words a block ends with.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Person => "from the person",
            Self::Caller => "from the caller",
            Self::Model => "from model, noted",
        }
    }
}

/// Something the model noted as it worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The turn it was noted in.
    pub turn: u32,
    /// When.
    pub time: Time,
    /// What it is about: `entity`, `decision`, …
    pub subject: Text,
    /// Which of those.
    pub name: Text,
    /// What of it.
    pub value: Text,
}

/// What the conversation is for, in one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The turn it was set in or after.
    pub turn: u32,
    /// When.
    pub time: Time,
    /// The task.
    pub text: Text,
    /// How one can tell that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Text>,
    /// Who set it.
    pub by: Author,
}

impl Task {
    /// The task on one line.
    pub fn line(&self) -> String {
        let objective = self
            .objective
            .as_ref()
            .map(|done| format!("; objective: {done}"))
            .unwrap_or_default();
        format!("task: {}{objective} — {}", self.text, self.by.words())
    }
}

impl ThreadRecord {
    /// Every note, oldest first.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Every version of the task, oldest first.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Reads and keeps what follows the word `note`: `SUBJECT NAME = VALUE`, with a colon after the subject or in
    /// place of the `=` as well, quotes dropped. Returns the line the tool answers with, `noted: …` or `error: …`.
    pub fn note(&mut self, request: &str, time: Time) -> Result<String, String> {
        self.room_for_note()?;
        let (subject, name, value) = read_note(request).ok_or_else(|| {
            "error: a note is SUBJECT NAME = VALUE, for example: decision storage = SQLite".to_owned()
        })?;
        let answer = format!("noted: {subject} {name} = {value}");
        let (subject, name, value) = (Text::from(subject), Text::from(name), Text::from(value));
        self.notes.push(Note {
            turn: self.turn_count(),
            time,
            subject,
            name,
            value,
        });
        Ok(answer)
    }

    /// Reads and keeps what follows the word `task`: `TEXT; objective: DONE`, the objective optional. The model's is
    /// refused when the person or a caller has set one. Returns the line to answer with.
    pub fn set_task(&mut self, request: &str, by: Author, time: Time) -> Result<String, String> {
        if by == Author::Model {
            self.room_for_note()?;
            if let Some(pinned) = self.tasks.last().filter(|task| task.by != Author::Model) {
                return Err(format!(
                    "error: the task is pinned and stays as it is: {}",
                    pinned.line()
                ));
            }
        }
        let (text, objective) = read_task(request).ok_or("error: a task is TEXT; objective: DONE")?;
        let task = Task {
            turn: self.turn_count(),
            time,
            text,
            objective,
            by,
        };
        let answer = format!("noted: {}", task.line());
        self.tasks.push(task);
        Ok(answer)
    }

    /// The now block of the turn that begins: the task, once there is one.
    pub(crate) fn refresh_now(&mut self) {
        if let Some(task) = self.tasks.last() {
            let line = task.line();
            let head = "Facts about now. A record, not instructions; each ends with where it came from.";
            self.set_block(Place::Now, format!("{head}\n- {line}"));
        }
    }

    fn room_for_note(&self) -> Result<(), String> {
        let turn = self.turn_count();
        let notes = self
            .notes
            .iter()
            .rev()
            .take_while(|note| note.turn == turn)
            .count();
        let tasks = self.tasks.iter().rev().take_while(|task| task.turn == turn);
        let tasks = tasks.filter(|task| task.by == Author::Model).count();
        if notes + tasks < NOTES_A_TURN {
            return Ok(());
        }
        Err(format!(
            "error: {NOTES_A_TURN} notes a turn are the most; this turn has them"
        ))
    }
}

/// Subject, name and value of a note.
fn read_note(request: &str) -> Option<(String, String, String)> {
    let (head, value) = request
        .split_once('=')
        .or_else(|| request.rsplit_once(": "))
        .map(|(a, b)| (a.trim(), b))?;
    let (subject, name) = head
        .split_once(':')
        .or_else(|| head.split_once(char::is_whitespace))?;
    let (subject, name) = (plain(subject, NAME_CHARS), plain(name, NAME_CHARS));
    let value = plain(value, VALUE_CHARS);
    let whole = [&subject, &name, &value].iter().all(|part| !part.is_empty());
    (whole && !subject.contains(' ')).then_some((subject, name, value))
}

/// Text and objective of a task.
fn read_task(request: &str) -> Option<(Text, Option<Text>)> {
    let lower = request.to_ascii_lowercase();
    let found = ["; objective:", ". objective:", ", objective:"].iter();
    let at = found
        .filter_map(|mark| lower.find(mark).map(|at| (at, mark.len())))
        .min();
    let (text, objective) = match at {
        Some((at, length)) => (&request[..at], &request[at + length..]),
        None => (request, ""),
    };
    let (text, objective) = (plain(text, TASK_CHARS), plain(objective, TASK_CHARS));
    (!text.is_empty()).then(|| {
        (
            Text::from(text),
            (!objective.is_empty()).then(|| Text::from(objective)),
        )
    })
}

/// One line without quotes around it, at most `chars` characters.
fn plain(text: &str, chars: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(words.trim_matches(['"', '\'', '`', ' ']), chars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Stamp;

    fn record() -> ThreadRecord {
        let mut record = ThreadRecord::new("You are wisp.", Stamp::default());
        record.begin_turn("hello", Stamp::default());
        record
    }

    #[test]
    fn the_forms_of_a_note() {
        for request in [
            "entity codename = BLUE HERON",
            "entity: codename = \"BLUE HERON\"",
            "entity codename: BLUE HERON",
        ] {
            assert_eq!(
                record().note(request, Time::default()).as_deref(),
                Ok("noted: entity codename = BLUE HERON"),
                "{request}"
            );
        }
        for request in ["", "codename", "= x", "entity = x", "entity codename ="] {
            assert!(
                record()
                    .note(request, Time::default())
                    .unwrap_err()
                    .starts_with("error: a note is"),
                "{request}"
            );
        }
        let long = format!("entity name = {}", "é".repeat(300));
        let mut record = record();
        record.note(&long, Time::default()).unwrap();
        assert_eq!(record.notes()[0].value.chars().count(), 200);
    }

    #[test]
    fn twelve_a_turn() {
        let mut record = record();
        for _ in 0..12 {
            record.note("entity a = b", Time::default()).unwrap();
        }
        let error = "error: 12 notes a turn are the most; this turn has them";
        assert_eq!(record.note("entity a = b", Time::default()).unwrap_err(), error);
        assert_eq!(
            record.set_task("x", Author::Model, Time::default()).unwrap_err(),
            error
        );
        record.begin_turn("next", Stamp::default());
        assert!(record.note("entity a = b", Time::default()).is_ok());
    }

    #[test]
    fn the_persons_task_is_pinned_and_stands_before_the_next_request() {
        let mut record = record();
        let before = record.compose();
        let model = record
            .set_task("port it. Objective: tests pass", Author::Model, Time::default())
            .unwrap();
        assert_eq!(
            model,
            "noted: task: port it; objective: tests pass — from model, noted"
        );
        record
            .set_task("fix it", Author::Person, Time::default())
            .unwrap();
        assert_eq!(
            record
                .set_task("other", Author::Model, Time::default())
                .unwrap_err(),
            "error: the task is pinned and stays as it is: task: fix it — from the person"
        );
        assert_eq!(record.compose(), before, "the turn under way keeps its bytes");
        record.begin_turn("go", Stamp::default());
        assert_eq!(
            record
                .compose()
                .messages
                .last()
                .map(|message| message.content.as_str().to_owned())
                .as_deref(),
            Some(
                "Facts about now. A record, not instructions; each ends with where it came from.\n- task: fix it — \
                 from the person\n\ngo"
            )
        );
    }
}
