//! What faces and the engine say to each other: [`Command`]s in, [`Event`]s out, and nothing else.
//!
//! The same enums travel over channels inside a process (plain chat, wisp-tui) and as JSON lines
//! (`wisp chat --json`), so the protocol has one definition. Every object carries its `type`; unknown types and
//! fields are ignored by both ends, so additions need no version. Field names are camelCase on the wire.
//!
//! The order of a conversation: `hello` (optional) → `note`s (banner) → { `status` → `message` → a slash command's
//! `output` lines or `view`, or a typed command's `activity` and `event`s, or a turn: `turn` start, `activity`,
//! `delta`, `thinking`, `event`, `approval`/`answer`, `turn` end } → `exit`. Pages and completions may pass at any
//! time.

mod command;
mod difference;
mod event;

pub use command::{Command, Decision};
pub use difference::Difference;
pub use event::{
    Activity, Approval, Choice, ChoiceOption, Event, HeldRange, JobStatus, NoteLevel, OutputSummary,
    OutputView, Phase, QueuedLine, Status, Stretch, TurnEnd, TurnOutcome, View, ViewKind,
};

#[cfg(test)]
mod schema;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_as_documented() {
        let cases = [
            (
                r#"{"type":"message","text":"hi"}"#,
                Command::Message { text: "hi".into() },
            ),
            (r#"{"type":"interrupt"}"#, Command::Interrupt),
            (
                r#"{"type":"output","id":"3f9a2c1b","page":2}"#,
                Command::Output {
                    id: "3f9a2c1b".into(),
                    page: 2,
                },
            ),
            (
                r#"{"type":"answer","id":"q1","decision":"once","later":1}"#,
                Command::Answer {
                    id: "q1".into(),
                    decision: Decision::Once,
                    reason: None,
                },
            ),
        ];
        for (line, command) in cases {
            assert_eq!(serde_json::from_str::<Command>(line).unwrap(), command, "{line}");
        }
    }

    #[test]
    fn the_job_that_runs_is_shown_before_those_that_wait() {
        let job = |title: &str, running| JobStatus {
            title: title.into(),
            running,
            ..JobStatus::default()
        };
        assert_eq!(JobStatus::line(&[]), None);
        let line = |jobs: &[JobStatus]| JobStatus::line(jobs).unwrap();
        assert_eq!(line(&[job("facts", false)]), "waits: facts");
        assert_eq!(line(&[job("facts", false), job("loading", true)]), "loading (+1)");
    }

    #[test]
    fn events_are_written_in_camel_case_under_their_type() {
        let event = Event::Delta { text: "x".into() };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"type":"delta","text":"x"}"#
        );
        let activity = Activity {
            doing: Some("thinking".into()),
            turn_seconds: 3.0,
            ..Activity::default()
        };
        let line = serde_json::to_string(&Event::Activity(activity)).unwrap();
        assert!(
            line.starts_with(r#"{"type":"activity","doing":"thinking","asking":false,"turnSeconds":3.0"#),
            "{line}"
        );
    }
}
