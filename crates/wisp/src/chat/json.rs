//! `wisp chat --json`: the protocol as JSON lines, commands on stdin and events on stdout. A line that is no JSON
//! object is a message; an object that cannot be read is answered with an error note.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedSender;
use wisp_agent::Handle;
use wisp_agent::protocol::{Command, Event, NoteLevel};
use wisp_term::safe;

/// Runs until the input ends and the conversation is over.
pub fn run(runtime: &Runtime, mut handle: Handle) -> ExitCode {
    let commands = handle.commands.clone();
    let (refused, mut refusals) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || read_commands(&commands, &refused));
    let mut code = 0;
    runtime.block_on(async {
        loop {
            let event = tokio::select! {
                event = handle.events.recv() => event,
                Some(refusal) = refusals.recv() => Some(refusal),
            };
            let Some(event) = event else { break };
            if let Event::Exit { code: own } = &event {
                code = *own;
            }
            let last = matches!(event, Event::Exit { .. });
            if write(&event).is_err() || last {
                break;
            }
        }
    });
    ExitCode::from(code)
}

/// Reads commands until the input ends, which leaves the conversation.
fn read_commands(commands: &UnboundedSender<Command>, refused: &UnboundedSender<Event>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        match command(&line) {
            Ok(command) => {
                if commands.send(command).is_err() {
                    return;
                }
            }
            Err(why) => {
                let text = format!("this line is no command: {why}");
                let _ = refused.send(Event::Note {
                    text,
                    level: NoteLevel::Error,
                });
            }
        }
    }
    // As a line of its own, so that what was asked before is answered first.
    let _ = commands.send(Command::Message {
        text: "/quit".to_owned(),
    });
}

fn command(line: &str) -> Result<Command, serde_json::Error> {
    if line.trim_start().starts_with('{') {
        return serde_json::from_str(line);
    }
    Ok(Command::Message {
        text: line.to_owned(),
    })
}

/// Writes an event as a line of standard output.
pub fn write(event: &Event) -> io::Result<()> {
    let line = safe::json(&serde_json::to_string(event)?).into_owned() + "\n";
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_written_out_and_reads_as_it_was() {
        let text = "a\u{9b}31m\u{7f}\u{202e}b\u{e0041}👩\u{200d}👧 é 漢";
        let line = safe::json(&serde_json::to_string(text).unwrap()).into_owned();
        assert_eq!(
            line,
            "\"a\\u009b31m\\u007f\\u202eb\\udb40\\udc41👩\u{200d}👧 é 漢\""
        );
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
