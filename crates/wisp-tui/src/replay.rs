//! A recorded conversation shown again: the lines of a `wisp chat --json` transcript, in which the lines that went to
//! wisp are marked `> `.
//!
//! Each line is one of
//! - an event, as JSON, which is told to the face;
//! - `> ` and a command, as JSON: the recording waits until the face sends a command of that type;
//! - `@ ` and a number of milliseconds to wait;
//! - empty, or `# ` and a remark.
//!
//! Nothing runs and no model is asked. A recording that asks for input waits for the person to give it, so it can be
//! stepped through like the conversation it was.

use std::time::Duration;

use serde_json::Value;
use wisp_agent::protocol::{Command, Event};

use crate::link::FarEnd;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Tell the face.
    Tell(Box<Event>),
    /// Wait for a command of this type.
    WaitFor(String),
    /// Wait.
    Pause(Duration),
}

/// What is wrong with a recording.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the recording: {why}")]
pub struct BadLine {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

/// Reads a recording.
pub fn read(text: &str) -> Result<Vec<Step>, BadLine> {
    let mut steps = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let step = step(line.trim()).map_err(|why| BadLine { line: at + 1, why })?;
        steps.extend(step);
    }
    Ok(steps)
}

fn step(line: &str) -> Result<Option<Step>, String> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if let Some(command) = line.strip_prefix('>') {
        let value: Value = serde_json::from_str(command).map_err(|e| e.to_string())?;
        let kind = value
            .get("type")
            .and_then(Value::as_str)
            .ok_or("a command without a type")?;
        return Ok(Some(Step::WaitFor(kind.to_owned())));
    }
    if let Some(millis) = line.strip_prefix('@') {
        let millis = millis
            .trim()
            .parse()
            .map_err(|_| "not a number of milliseconds".to_owned())?;
        return Ok(Some(Step::Pause(Duration::from_millis(millis))));
    }
    let event = serde_json::from_str(line).map_err(|e| e.to_string())?;
    Ok(Some(Step::Tell(Box::new(event))))
}

/// Plays a recording to a face, until it ends or the face leaves. Then `exit` is told.
pub async fn play(steps: Vec<Step>, mut face: FarEnd) {
    for step in steps {
        let goes_on = match step {
            Step::Tell(event) => face.events.send(*event).is_ok(),
            Step::WaitFor(kind) => wait_for(&kind, &mut face).await,
            Step::Pause(time) => pause(time, &mut face).await,
        };
        if !goes_on {
            break;
        }
    }
    let _gone = face.events.send(Event::Exit { code: 0 });
}

/// Waits for a command of a type; false when the face leaves first.
async fn wait_for(kind: &str, face: &mut FarEnd) -> bool {
    while let Some(command) = face.commands.recv().await {
        if matches!(command, Command::Quit) {
            return false;
        }
        let sent = serde_json::to_value(&command).unwrap_or_default();
        if sent.get("type").and_then(Value::as_str) == Some(kind) {
            return true;
        }
    }
    false
}

/// Waits; false when the face leaves meanwhile.
async fn pause(time: Duration, face: &mut FarEnd) -> bool {
    tokio::select! {
        () = tokio::time::sleep(time) => true,
        gone = wait_for("quit", face) => gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_step() {
        let text = "# a remark\n{\"type\":\"delta\",\"text\":\"hi\"}\n\n> {\"type\":\"message\",\"text\":\"x\"}\n@ 50\n";
        assert_eq!(
            read(text).unwrap(),
            [
                Step::Tell(Box::new(Event::Delta { text: "hi".into() })),
                Step::WaitFor("message".into()),
                Step::Pause(Duration::from_millis(50)),
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_names_its_line() {
        for (text, line) in [("{\"type\":\"exit\"}\n{", 2), ("> {}", 1), ("@ soon", 1)] {
            assert_eq!(read(text).unwrap_err().line, line, "{text}");
        }
    }

    #[tokio::test]
    async fn a_recording_waits_for_the_face_and_ends() {
        let (mut link, far) = crate::link::pair();
        let steps = read("> {\"type\":\"message\"}\n{\"type\":\"delta\",\"text\":\"hi\"}").unwrap();
        let playing = tokio::spawn(play(steps, far));
        link.commands.send(Command::Interrupt).unwrap();
        assert!(link.events.try_recv().is_err());
        link.commands
            .send(Command::Message { text: "go".into() })
            .unwrap();
        assert_eq!(link.events.recv().await, Some(Event::Delta { text: "hi".into() }));
        assert!(matches!(link.events.recv().await, Some(Event::Exit { .. })));
        playing.await.unwrap();
    }
}
