//! The gate against two tables of lines: hostile ones, which must not run without a question, and ordinary ones, which
//! must keep their level.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use std::path::Path;

use wisp_guard::{
    Approvals, Confinement, Decision, Gate, Grant, Level, Place, Policy, Request, Scope, Threshold,
};

const HOSTILE: &str = include_str!("../../../tests/cases/gate/hostile.tsv");
const ORDINARY: &str = include_str!("../../../tests/cases/gate/ordinary.tsv");

/// What the person said yes to before: the plain form of each program.
const PLAIN: [&str; 28] = [
    "git push",
    "git fetch",
    "git clone a",
    "git rebase main",
    "git bisect log",
    "git submodule update",
    "git config user.name",
    "git commit -m x",
    "git checkout main",
    "curl http://example.com",
    "wget http://example.com",
    "tar cf a.tar b",
    "sqlite3 a",
    "gdb a",
    "strace ls",
    "cp a b",
    "tee a",
    "make test",
    "npm run build",
    "docker run a",
    "tmux new",
    "dd if=a of=b",
    "rm a",
    "sort -T a b",
    "man -x ls",
    "gcc -c x.c",
    "go test",
    "cargo test",
];

fn gate() -> Gate {
    Gate::new(
        Policy::new(&[], &[]).unwrap(),
        "moderate".parse::<Threshold>().unwrap(),
    )
}

fn place(confinement: Confinement) -> Place<'static> {
    Place {
        confinement,
        own: vec!["/home/a/.wisp".into()],
        user_home: Some("/home/a".into()),
        ..Place::at(Path::new("/home/a/w"), "2026-11-30T09:00:00Z".parse().unwrap())
    }
}

/// What was decided, ordered by how much it holds up: 0 safe, 1 moderate, 2 dangerous, 3 denied.
fn decided(line: &str, approvals: &Approvals, confinement: Confinement) -> (u8, String) {
    let request = Request::Command {
        line: line.to_owned(),
    };
    let rank = |level: Level| level as u8;
    match gate().decide(&request, approvals, &place(confinement)) {
        Decision::Allowed {
            verdict, approvals, ..
        } if approvals.is_empty() => (rank(verdict.level), verdict.reasons.join("; ")),
        Decision::Allowed { .. } => (0, "covered by an earlier answer".to_owned()),
        Decision::Ask(question) => (rank(question.level), question.reasons.join("; ")),
        Decision::Denied(refusal) => (3, refusal.reason()),
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    let code = |digits: String| char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('\\')) => out.push('\\'),
            ('\\', Some('x')) => out.push(code(chars.by_ref().take(2).collect())),
            ('\\', Some('u')) => out.push(code(chars.by_ref().take(4).collect())),
            ('\\', Some(other)) => out.extend(['\\', other]),
            (c, _) => out.push(c),
        }
    }
    out
}

fn rows(table: &str) -> Vec<(&str, String)> {
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split_once('\t').unwrap())
        .map(|(word, line)| (word, unescaped(line)))
        .collect()
}

#[test]
fn no_hostile_line_is_judged_lower_than_its_table_says() {
    let none = Approvals::new();
    let mut faults = Vec::new();
    let rows = rows(HOSTILE);
    for (word, line) in &rows {
        let (open, open_why) = decided(line, &none, Confinement::default());
        let (held, held_why) = decided(line, &none, Confinement::FULL);
        let (least_open, least_held) = match *word {
            "reads" => (0, 0),
            "confined" => (1, 0),
            "moderate" | "asks" | "covered" => (1, 1),
            "dangerous" => (2, 2),
            "denied" => (3, 3),
            other => panic!("not a word of the table: {other}"),
        };
        if open < least_open || held < least_held {
            faults.push(format!(
                "{word}: {line}: without a sandbox {open} ({open_why}), with one {held} ({held_why})"
            ));
        }
    }
    assert_eq!(faults, [""; 0]);
    assert!(rows.len() > 900, "{}", rows.len());
}

#[test]
fn no_answer_to_the_plain_form_covers_a_hostile_one() {
    let gate = gate();
    let place = place(Confinement::FULL);
    let mut approvals = Approvals::new();
    for line in PLAIN {
        let request = Request::Command {
            line: line.to_owned(),
        };
        let grant = Grant {
            scope: Scope::Session,
            days: 30,
            at: place.now,
            source: "test".to_owned(),
        };
        for thing in gate.judge(&request, &place).unwrap() {
            approvals.grant(line.to_owned(), &thing, &grant, place.directory);
        }
    }
    let mut faults = Vec::new();
    for (word, line) in rows(HOSTILE) {
        let (rank, why) = decided(&line, &approvals, Confinement::FULL);
        let covered = rank == 0;
        if (word == "asks" && covered) || (word == "covered" && !covered) {
            faults.push(format!("{word}: {line}: {rank} ({why})"));
        }
    }
    assert_eq!(faults, [""; 0]);
    assert_eq!(decided("git push -q", &approvals, Confinement::FULL).0, 0);
    assert_eq!(
        decided("git push origin topic", &approvals, Confinement::FULL).0,
        0
    );
}

#[test]
fn ordinary_lines_keep_their_level() {
    let none = Approvals::new();
    let mut faults = Vec::new();
    let rows = rows(ORDINARY);
    for (word, line) in &rows {
        let (held, held_why) = decided(line, &none, Confinement::FULL);
        let (open, open_why) = decided(line, &none, Confinement::default());
        let (wanted_held, wanted_open) = match *word {
            "safe" => (0, 0),
            "confined" => (0, 1),
            "moderate" => (1, 1),
            "dangerous" => (2, 2),
            other => panic!("not a word of the table: {other}"),
        };
        if (held, open) != (wanted_held, wanted_open) {
            faults.push(format!(
                "{word}: {line}: with a sandbox {held} ({held_why}), without one {open} ({open_why})"
            ));
        }
    }
    assert_eq!(faults, [""; 0]);
    assert!(rows.len() > 250);
}
