//! What `context.memory` says of a request: what was asked for, whether it was found, and of how much; of a note, what
//! was noted.

use serde_json::{Value, json};
use wisp_audit::Kind;
use wisp_output::request::{Request, Target};

use super::request::MemoryRequest;
use crate::behind::Wanted;
use crate::call::Call;
use crate::tool::{Body, Ending, Returned};

/// A request on its way to the audit.
pub(super) struct Asked {
    action: &'static str,
    /// What kind of thing was asked for; which one stands in the request.
    target: Option<&'static str>,
    /// The line the answer begins with.
    offset: Option<u64>,
    /// Entries of the record that the answer is made of.
    pub entries: usize,
    bytes: Option<usize>,
    failure: Option<&'static str>,
    /// What was noted, as it was kept.
    kept: Option<String>,
}

impl Asked {
    /// A request that cannot be read.
    pub(super) fn unread() -> Self {
        Self {
            failure: Some("grammar"),
            ..Self::doing("unread")
        }
    }

    fn doing(action: &'static str) -> Self {
        Self {
            action,
            target: None,
            offset: None,
            entries: 0,
            bytes: None,
            failure: None,
            kept: None,
        }
    }

    /// A request that was read.
    pub(super) fn of(request: &MemoryRequest) -> Self {
        let about = |action, target: &Target| {
            let (target, entries) = match target {
                Target::Output(_) => ("output", 0),
                Target::Entry(_) => ("entry", 1),
            };
            Self {
                target: Some(target),
                entries,
                ..Self::doing(action)
            }
        };
        match request {
            MemoryRequest::Output(Request::Recall { target, from, .. }) => Self {
                offset: Some(from.line),
                ..about("recall", target)
            },
            MemoryRequest::Output(Request::Summarise { target, .. }) => about("summarise", target),
            MemoryRequest::Output(Request::Condense { target, .. }) => about("condense", target),
            MemoryRequest::Record(wanted, from) => Self {
                target: Some(match wanted {
                    Wanted::Entry(_) => "entry",
                    Wanted::Turn(_) => "turn",
                    Wanted::Task => "task",
                    Wanted::Words(_) => "words",
                }),
                offset: Some(from.line),
                ..Self::doing("recall")
            },
            MemoryRequest::Note(_) => Self::doing("note"),
            MemoryRequest::Task(_) => Self::doing("task"),
        }
    }

    fn keeps(&self) -> bool {
        matches!(self.action, "note" | "task")
    }

    /// The same with what came of it.
    pub(super) fn answered(mut self, returned: &Returned) -> Self {
        let text = match &returned.body {
            Body::Text(text) | Body::Page(text) => text.as_str(),
            _ => "",
        };
        match returned.ending {
            Ending::Failed(_) if self.keeps() => self.failure = Some(why_not_kept(text)),
            Ending::Failed(_) => self.failure = Some("miss"),
            _ if self.keeps() => self.kept = text.strip_prefix("noted: ").map(str::to_owned),
            _ => self.bytes = returned.text_len(),
        }
        self
    }

    fn details(&self, request: &str) -> Value {
        let done = if self.keeps() { "noted" } else { "found" };
        let mut details = json!({"request": request, "action": self.action, done: self.failure.is_none()});
        if let Some(target) = self.target {
            details["target"] = target.into();
        }
        if let Some(offset) = self.offset {
            details["offset"] = offset.into();
        }
        if let Some(bytes) = self.bytes {
            // Everything is read from what is kept: the record and the output store, never from the audit.
            details["from"] = "store".into();
            details["entries"] = self.entries.into();
            details["events"] = 0.into();
            details["bytes"] = bytes.into();
        }
        match (self.action, self.kept.as_deref()) {
            ("note", Some(kept)) => {
                if let Some((head, value)) = kept.split_once(" = ")
                    && let Some((subject, name)) = head.split_once(' ')
                {
                    details["subject"] = subject.into();
                    details["name"] = name.into();
                    details["value"] = value.into();
                    // Notes have no kinds of their own; a kind that is not known is of this class.
                    details["class"] = "dynamic".into();
                }
            }
            (_, Some(kept)) => {
                let task = kept.strip_prefix("task: ").unwrap_or(kept);
                details["value"] = task.rsplit_once(" — ").map_or(task, |(task, _)| task).into();
            }
            _ => {}
        }
        if let Some(failure) = self.failure {
            details["failure"] = failure.into();
        }
        details
    }

    /// Records the request between its call and its result.
    pub(super) fn record(&self, call: &Call<'_>, request: &str) {
        // Nothing was changed by the request; the result's own record follows.
        let _ = call.audit(Kind::ContextMemory, self.details(request));
    }
}

/// Why a note or a task was not kept, in a word, by the record's answer.
fn why_not_kept(answer: &str) -> &'static str {
    [
        ("a turn are the most", "full"),
        ("is pinned", "pinned"),
        ("takes no notes", "off"),
        ("keeps no record", "off"),
    ]
    .iter()
    .find(|(words, _)| answer.contains(words))
    .map_or("shape", |(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::super::grammar;
    use super::*;

    fn details(request: &str, entries: usize, returned: &Returned) -> Value {
        let mut asked = Asked::of(&grammar().read(request).unwrap());
        asked.entries = asked.entries.max(entries);
        asked.answered(returned).details(request)
    }

    #[test]
    fn a_recall_says_what_was_read_from_where_and_how_much() {
        let page = Returned::page("seven\n");
        assert_eq!(
            details("recall output 3f9a2c1b from line 44", 0, &page),
            json!({
                "request": "recall output 3f9a2c1b from line 44", "action": "recall", "found": true,
                "target": "output", "offset": 44,
                "from": "store", "entries": 0, "events": 0, "bytes": 6,
            })
        );
        assert_eq!(
            details("recall turn 3", 4, &page),
            json!({
                "request": "recall turn 3", "action": "recall", "found": true, "target": "turn",
                "offset": 1, "from": "store", "entries": 4, "events": 0, "bytes": 6,
            })
        );
        assert_eq!(
            details("recall entry 9", 0, &Returned::error("there is no such entry")),
            json!({
                "request": "recall entry 9", "action": "recall", "found": false, "target": "entry",
                "offset": 1, "failure": "miss",
            })
        );
    }

    #[test]
    fn a_note_says_what_was_noted_or_why_it_was_not() {
        let noted = Returned::page("noted: decision storage = SQLite = 3");
        assert_eq!(
            details("note decision storage = SQLite = 3", 0, &noted),
            json!({
                "request": "note decision storage = SQLite = 3", "action": "note", "noted": true,
                "subject": "decision", "name": "storage", "value": "SQLite = 3", "class": "dynamic",
            })
        );
        let task = Returned::page("noted: task: port it; objective: tests pass — from model, noted");
        let details_of = details("task port it; objective: tests pass", 0, &task);
        assert_eq!(details_of["value"], "port it; objective: tests pass");
        for (answer, failure) in [
            ("12 notes a turn are the most; this turn has them", "full"),
            (
                "a note is SUBJECT NAME = VALUE, for example: decision storage = SQLite",
                "shape",
            ),
            (
                "the task is pinned and stays as it is: task: x — from the person",
                "pinned",
            ),
            ("this conversation takes no notes", "off"),
        ] {
            let details = details("note x", 0, &Returned::error(answer));
            assert_eq!(
                (&details["noted"], &details["failure"]),
                (&json!(false), &json!(failure))
            );
        }
    }
}
