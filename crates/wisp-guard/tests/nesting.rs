//! However a command is wrapped, it is seen: no line with `rm -rf X` in it is safe, and an answer to the wrapping
//! is no answer to what it wraps.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use std::path::Path;

use proptest::prelude::*;
use wisp_guard::{Approvals, Decision, Gate, Level, Place, Policy, Request, Threshold, risk, split};

/// Ways to hide a line within another.
fn wrap(line: &str, way: usize) -> String {
    let quoted = format!("'{}'", line.replace('\'', "'\\''"));
    match way {
        0 => format!("ls; {line}"),
        1 => format!("ls && {line} && pwd"),
        2 => format!("ls | {line}"),
        3 => format!("{line} & ls"),
        4 => format!("({line})"),
        5 => format!("{{ {line}; }}"),
        6 => format!("echo $({line})"),
        7 => format!("echo \"a $({line}) b\""),
        8 => format!("cat <({line})"),
        9 => format!("sh -c {quoted}"),
        10 => format!("bash -lc {quoted}"),
        11 => format!("eval {quoted}"),
        12 => format!("if true; then {line}; fi"),
        13 => format!("for i in 1 2; do {line}; done"),
        14 => format!("while false; do {line}; done"),
        15 => format!("X=$({line})"),
        16 => format!("cat <<EOF\n$({line})\nEOF\n"),
        17 => format!("env LANG=C sh -c {quoted}"),
        18 => format!("timeout 5 sh -c {quoted}"),
        19 => format!("find . -exec sh -c {quoted} \\;"),
        20 => format!("xargs sh -c {quoted}"),
        21 => format!("! {line}"),
        22 => format!("case a in a) {line};; esac"),
        23 => format!("ls\n{line}"),
        24 => format!("ls # note\n{line}"),
        25 => format!("f() {{ {line}; }}; f"),
        26 => format!("trap {quoted} EXIT"),
        27 => format!("echo `{line}`"),
        28 => format!("nohup nice -n 5 sh -c {quoted} > /dev/null 2>&1"),
        _ => format!("echo ${{x:-$({line})}}"),
    }
}

/// Spellings of the command itself.
const SPELLINGS: [&str; 8] = [
    "rm -rf X",
    "rm -r -f X",
    "\"rm\" -fr 'X'",
    "r'm' -rf X",
    "\\rm -rf X",
    "/bin/rm -rf X",
    "command rm -rf X",
    "env -i rm -rf X",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_line_that_removes_is_safe(spelling in 0..SPELLINGS.len(), ways in proptest::collection::vec(0usize..30, 0..5)) {
        let line = ways.iter().fold(SPELLINGS[spelling].to_owned(), |line, way| wrap(&line, *way));
        prop_assert_eq!(risk(&line).level, Level::Dangerous, "{}", line);
    }

    #[test]
    fn every_command_of_a_readable_line_is_a_part_of_it(ways in proptest::collection::vec(0usize..30, 0..5)) {
        let line = ways.iter().fold("frobnicate --x".to_owned(), |line, way| wrap(&line, *way));
        if let Ok(parts) = split(&line) {
            prop_assert!(parts.iter().any(|part| part.plain() == "frobnicate --x"), "{}", line);
        }
    }

    #[test]
    fn a_line_with_something_not_allowed_does_not_run(ways in proptest::collection::vec(0usize..30, 0..4)) {
        let gate = Gate::new(Policy::none(), "moderate".parse::<Threshold>().unwrap());
        let line = ways.iter().fold("touch X".to_owned(), |line, way| wrap(&line, *way));
        let place = Place::at(Path::new("/w"), "2026-11-30T09:00:00Z".parse().unwrap());
        let decision = gate.decide(&Request::Command { line }, &Approvals::new(), &place);
        prop_assert!(matches!(decision, Decision::Ask(_)));
    }

    #[test]
    fn no_text_makes_the_splitter_fail(line in "[a-z '\"$()`;&|<>{}#\\\\\n=*~!\\[\\]-]{0,40}") {
        let parts = split(&line);
        prop_assert!(parts.is_ok() || risk(&line).level == Level::Dangerous);
    }
}
