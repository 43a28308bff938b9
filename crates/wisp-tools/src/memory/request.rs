//! The grammar of `memory`: the verbs that read outputs, with those that read the record added to them.

use wisp_output::recall::Start;
use wisp_output::request::{Grammar, Request, Row};

use crate::behind::Wanted;

/// A request to `memory`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryRequest {
    /// Of an output, or of the entry that stands for one.
    Output(Request),
    /// Of the record, from a line of what it gives.
    Record(Wanted, Start),
    /// Something to keep: `SUBJECT NAME = VALUE`.
    Note(String),
    /// The task to keep: `TEXT; objective: DONE`.
    Task(String),
}

impl From<Request> for MemoryRequest {
    fn from(request: Request) -> Self {
        Self::Output(request)
    }
}

/// Every verb.
pub fn grammar() -> Grammar<MemoryRequest> {
    Grammar::of_outputs()
        .with(Row {
            verb: "recall",
            spellings: &["page", "read", "reread"],
            forms: &[
                "recall output ID [matching PATTERN | lines A-B | head N | tail N] [from line N]",
                "recall entry N [matching PATTERN | lines A-B | head N | tail N] [from line N]",
                "recall turn N [from line N]",
                "recall task [from line N]",
                "recall WORDS [from line N]",
            ],
            example: "recall output 3f9a2c1b matching error from line 44",
            read: recall,
        })
        .with(Row {
            verb: "note",
            spellings: &["remember"],
            forms: &["note SUBJECT NAME = VALUE"],
            example: "note decision storage = SQLite",
            read: |rest| kept(rest, MemoryRequest::Note, "what is to be noted"),
        })
        .with(Row {
            verb: "task",
            spellings: &[],
            forms: &["task TEXT; objective: DONE"],
            example: "task port the billing service; objective: its tests pass",
            read: |rest| match rest.trim() {
                "" => Ok(MemoryRequest::Record(Wanted::Task, Start::default())),
                rest => kept(rest, MemoryRequest::Task, "what the task is"),
            },
        })
}

/// What follows a verb that keeps something.
fn kept(rest: &str, make: fn(String) -> MemoryRequest, missing: &str) -> Result<MemoryRequest, String> {
    match rest.trim() {
        "" => Err(format!("the request does not say {missing}")),
        rest => Ok(make(rest.to_owned())),
    }
}

/// What follows `recall`: an output's verbs hand on what is not theirs, and what is neither is searched for.
fn recall(rest: &str) -> Result<MemoryRequest, String> {
    let first = words(rest)
        .first()
        .map_or_else(String::new, |w| w.to_ascii_lowercase());
    match first.as_str() {
        "" => Err("the request does not say what is to be recalled".to_owned()),
        "output" | "outputs" | "entry" | "entries" => outputs(rest),
        word if is_id(word) => outputs(&format!("output {rest}")),
        word if number(word).is_some() && words(split_from(rest).0).len() == 1 => {
            outputs(&format!("entry {rest}"))
        }
        _ => record(rest, &first),
    }
}

fn record(rest: &str, first: &str) -> Result<MemoryRequest, String> {
    let (what, from) = split_from(rest);
    let told = words(what);
    let wanted = match first {
        "turn" | "turns" => match (told.get(1).and_then(|word| number(word)), told.len()) {
            (Some(turn), 2) => Wanted::Turn(turn),
            _ => return Err("`turn` is followed by the number of one turn".to_owned()),
        },
        "task" if told.len() == 1 => Wanted::Task,
        _ => Wanted::Words(what.trim().to_owned()),
    };
    Ok(MemoryRequest::Record(wanted, from))
}

/// The words of a request that mean something.
fn words(text: &str) -> Vec<&str> {
    text.split(|ch: char| ch.is_whitespace() || ch == ':' || ch == '=')
        .filter(|word| !word.is_empty() && !["the", "of"].contains(&word.to_ascii_lowercase().as_str()))
        .collect()
}

/// `text` without the `from line N` that ends it, read as an output's is.
fn split_from(text: &str) -> (&str, Start) {
    let at = text.to_ascii_lowercase().rfind("from ").filter(|at| *at > 0);
    let read = at.and_then(|at| outputs(&format!("output 00000000 {}", &text[at..])).ok());
    match (at, read) {
        (Some(at), Some(MemoryRequest::Output(Request::Recall { from, .. }))) => {
            (text[..at].trim_end_matches([',', ' ']), from)
        }
        _ => (text, Start::default()),
    }
}

fn outputs(rest: &str) -> Result<MemoryRequest, String> {
    let read = Grammar::<Request>::of_outputs().read(&format!("recall {rest}"));
    read.map(MemoryRequest::Output).map_err(|e| e.reason)
}

fn number(word: &str) -> Option<u64> {
    word.trim_matches(['#', ',', '.']).parse().ok().filter(|n| *n > 0)
}

/// Eight or more hex digits with a digit among them: an id without `output` before it, and no word.
fn is_id(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use wisp_output::recall::Filter;
    use wisp_output::request::Target;

    use super::*;

    fn read(text: &str) -> MemoryRequest {
        grammar().read(text).unwrap()
    }

    fn recalled(target: Target, filter: Filter, line: u64) -> MemoryRequest {
        let from = Start::line(line);
        MemoryRequest::Output(Request::Recall { target, filter, from })
    }

    #[test]
    fn spelling_is_forgiven() {
        let page = recalled(Target::Output("3f9a2c1b".into()), Filter::All, 44);
        for text in [
            "recall output 3f9a2c1b from line 44",
            "Recall Output 3F9A2C1B, from line 44",
            "\"recall output 3f9a2c1b from line 44\"",
            "recall: output: 3f9a2c1b from 44",
            "recall 3f9a2c1b from line 44",
        ] {
            assert_eq!(read(text), page, "{text}");
        }
        for text in ["recall entry 7", "recall 7", "recall #7", "Recall the entry 7"] {
            assert_eq!(read(text), recalled(Target::Entry(7), Filter::All, 1), "{text}");
        }
    }

    #[test]
    fn the_record_is_recalled_by_turn_task_and_words() {
        let words = |text: &str| Wanted::Words(text.into());
        for (text, wanted, line) in [
            ("recall turn 3", Wanted::Turn(3), 1),
            ("recall turn 3 from line 419", Wanted::Turn(3), 419),
            ("recall the task", Wanted::Task, 1),
            ("recall tide gauge", words("tide gauge"), 1),
            ("recall tide gauge, from line 20", words("tide gauge"), 20),
            ("recall letters from march", words("letters from march"), 1),
            ("recall task force", words("task force"), 1),
        ] {
            assert_eq!(
                read(text),
                MemoryRequest::Record(wanted, Start::line(line)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_to_be_kept_is_handed_on_as_it_stands() {
        let note = "entity codename = BLUE HERON, from line 3";
        for verb in ["note", "Note:", "remember"] {
            assert_eq!(
                read(&format!("{verb} {note}")),
                MemoryRequest::Note(note.into()),
                "{verb}"
            );
        }
        let task = "port it; objective: tests pass";
        assert_eq!(read(&format!("task {task}")), MemoryRequest::Task(task.into()));
        assert_eq!(
            read("task"),
            MemoryRequest::Record(Wanted::Task, Start::default())
        );
        assert!(
            grammar()
                .read("note")
                .unwrap_err()
                .to_string()
                .contains("note SUBJECT NAME = VALUE")
        );
    }

    #[test]
    fn what_cannot_be_read_is_answered_with_every_form_and_an_example() {
        for text in [
            "",
            "show me more",
            "recall",
            "recall turn",
            "recall turn 3 and 4",
            "recall output zzzz",
            "condense output 3f9a2c1b:",
            "recall output 3f9a2c1b lines 9-2",
        ] {
            let answer = grammar().read(text).unwrap_err().to_string();
            assert!(
                answer.contains("recall output ID [matching PATTERN"),
                "{text}: {answer}"
            );
            assert!(answer.contains("recall turn N [from line N]"), "{answer}");
            assert!(answer.contains("condense output ID: QUESTION"), "{answer}");
            assert!(answer.contains("for example: "), "{answer}");
        }
    }
}
