//! A conversation over the JSON face: commands in, events out, each wait with a limit.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Wisp;

/// `wisp chat --json`, running.
pub struct Talk {
    child: Child,
    commands: ChildStdin,
    events: Receiver<Value>,
    /// Every event so far.
    pub seen: Vec<Value>,
    limit: Duration,
}

impl Talk {
    /// Starts it; each wait for an event lasts at most `limit`.
    pub fn start(wisp: &Wisp, more: &[&str], limit: Duration) -> Self {
        Self::of(wisp.command(&[&["chat", "--json"], more].concat()), limit)
    }

    /// Starts a command line that runs `wisp chat --json`.
    pub fn of(mut command: Command, limit: Duration) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the binary starts");
        let commands = child.stdin.take().expect("standard input is a pipe");
        let out = child.stdout.take().expect("standard output is a pipe");
        let (to, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).expect("an event is a JSON line");
                if to.send(event).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            commands,
            events,
            seen: Vec::new(),
            limit,
        }
    }

    /// Sends a command.
    pub fn send(&mut self, command: &Value) {
        writeln!(self.commands, "{command}").expect("wisp reads its commands");
    }

    /// Reads events until one is `wanted`, and returns it.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.within(self.limit, wanted).unwrap_or_else(|| {
            let last: Vec<_> = self.seen.iter().rev().take(6).map(Value::to_string).collect();
            panic!("no {what} came within {:?}; before: {last:#?}", self.limit);
        })
    }

    /// As [`until`](Self::until); none when it did not come in this time.
    pub fn within(&mut self, patience: Duration, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let began = Instant::now();
        loop {
            let left = patience.saturating_sub(began.elapsed());
            let event = self.events.recv_timeout(left).ok()?;
            self.seen.push(event.clone());
            if wanted(&event) {
                return Some(event);
            }
        }
    }

    /// Says something and reads the turn to its end: all events of the turn, the end last.
    pub fn turn(&mut self, text: &str) -> Vec<Value> {
        let limit = self.limit;
        self.turn_within(limit, text)
    }

    /// Says something and reads on until the next line is wished for: the turn, and what is done while nobody waits.
    pub fn say(&mut self, text: &str) -> Vec<Value> {
        let from = self.seen.len();
        self.turn(text);
        self.until("wish for a line", |e| e["type"] == "status");
        self.seen[from..].to_vec()
    }

    /// As [`turn`](Self::turn), but the turn is interrupted when it takes longer than this.
    pub fn turn_within(&mut self, patience: Duration, text: &str) -> Vec<Value> {
        let from = self.seen.len();
        self.send(&json!({"type": "message", "text": text}));
        if self.within(patience, is_end).is_none() {
            self.send(&json!({"type": "interrupt"}));
            self.until("end of the turn", is_end);
        }
        self.seen[from..].to_vec()
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Leaves, and waits for the exit code.
    pub fn leave(mut self) -> i64 {
        self.send(&json!({"type": "quit"}));
        let exit = self.until("exit", |e| e["type"] == "exit");
        self.child.wait().expect("wisp ends");
        exit["code"].as_i64().expect("an exit has a code")
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this is the end of a turn.
pub fn is_end(event: &Value) -> bool {
    event["type"] == "turn" && event["phase"] == "end"
}

/// How the turn among these events ended.
pub fn outcome(events: &[Value]) -> Value {
    let end = events.iter().find(|e| is_end(e));
    end.map(|e| e["end"]["outcome"].clone()).unwrap_or_default()
}

/// The notes of a level among events.
pub fn notes(events: &[Value], level: &str) -> Vec<String> {
    let of_level = |e: &&Value| e["type"] == "note" && e["level"] == level;
    let texts = events.iter().filter(of_level);
    texts
        .filter_map(|e| e["text"].as_str().map(str::to_owned))
        .collect()
}

/// Whether this is something recorded, of this kind.
pub fn is_kind(event: &Value, kind: &str) -> bool {
    event["type"] == "event" && event["kind"] == kind
}
