//! Commands that get past allow lists made of prefixes and separators: with the harmless ones allowed, none of the
//! others runs without a question, and each of the harmless ones does.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use std::path::Path;

use wisp_guard::{Approvals, Decision, Gate, Grant, Place, Policy, Request, Scope, Threshold};

/// Verdict, effect, command; `\n`, `\r` and `\x00` stand for those bytes.
const TABLE: &str = include_str!("data/evasions.tsv");

/// What the person has said yes to before, for the session.
const ALLOWED: [&str; 9] = [
    "git status",
    "git diff",
    "git log",
    "ls",
    "cat x",
    "echo x",
    "grep x y",
    "find .",
    "cargo test",
];

fn place() -> Place<'static> {
    Place::at(Path::new("/work"), "2026-11-30T09:00:00Z".parse().unwrap())
}

fn allowed(gate: &Gate) -> Approvals {
    let grant = Grant {
        scope: Scope::Session,
        days: 30,
        at: place().now,
        source: "test".to_owned(),
    };
    let mut approvals = Approvals::new();
    for line in ALLOWED {
        let request = Request::Command {
            line: line.to_owned(),
        };
        for thing in gate.judge(&request, &place()).unwrap() {
            approvals.grant(line.to_owned(), &thing, &grant, place().directory);
        }
    }
    approvals
}

#[test]
fn no_evasion_runs_unasked_and_no_harmless_command_asks() {
    let gate = Gate::new(
        Policy::new(&[], &[]).unwrap(),
        "moderate".parse::<Threshold>().unwrap(),
    );
    let approvals = allowed(&gate);
    let mut rows = 0;
    for row in TABLE.lines().filter(|row| !row.starts_with('#')) {
        let [verdict, _, command] = row.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("not a row: {row}");
        };
        let line = command
            .replace("\\n", "\n")
            .replace("\\r", "\r")
            .replace("\\x00", "\0");
        let decision = gate.decide(&Request::Command { line }, &approvals, &place());
        let runs = matches!(decision, Decision::Allowed { .. });
        assert_eq!(runs, verdict == "RUN", "{command}: {decision:?}");
        rows += 1;
    }
    assert_eq!(rows, 46);
}

#[test]
fn what_is_asked_shows_the_line_byte_for_byte() {
    let gate = Gate::new(Policy::none(), "moderate".parse::<Threshold>().unwrap());
    let line = "touch 'a\u{202e}b'\n\u{1b}[2J".to_owned();
    let Decision::Ask(question) = gate.decide(&Request::Command { line }, &Approvals::new(), &place()) else {
        panic!("nothing was asked");
    };
    assert_eq!(question.command, "touch 'a\\u{202e}b'\\n\\e[2J");
}
