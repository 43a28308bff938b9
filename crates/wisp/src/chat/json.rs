//! `wisp chat --json`: the protocol as JSON lines, commands on stdin and events on stdout. A line that is no JSON
//! object is a message; an object that cannot be read is answered with an error note.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedSender;
use wisp_agent::Handle;
use wisp_agent::protocol::{Command, Event, NoteLevel};

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

fn write(event: &Event) -> io::Result<()> {
    let line = inert(serde_json::to_string(event)?) + "\n";
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// The same JSON without a character that commands a terminal or hides what is shown on one: a person may look at the
/// lines. JSON itself leaves DEL, the C1 controls and the formatting characters of Unicode as they are.
fn inert(line: String) -> String {
    if !line.contains(is_active) {
        return line;
    }
    let mut inert = String::with_capacity(line.len() + 64);
    for c in line.chars() {
        if is_active(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let written = write!(inert, "\\u{unit:04x}");
                debug_assert!(written.is_ok(), "writing to a string cannot fail");
            }
        } else {
            inert.push(c);
        }
    }
    inert
}

/// Characters that are no text: controls beyond ASCII's, marks of direction, line and paragraph separators, tags.
fn is_active(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_written_out_and_reads_as_it_was() {
        let text = "a\u{9b}31m\u{7f}\u{202e}b\u{e0041}👩\u{200d}👧 é 漢";
        let line = inert(serde_json::to_string(text).unwrap());
        assert_eq!(
            line,
            "\"a\\u009b31m\\u007f\\u202eb\\udb40\\udc41👩\u{200d}👧 é 漢\""
        );
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        assert_eq!(inert("\"é\"".to_owned()), "\"é\"");
    }
}
