//! A file read whole: its first page within the budget, and the file itself in the store with every way to its lines.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and make the files they read"
)]

mod support;

use std::fmt::Write as _;
use std::os::unix::net::UnixListener;

use serde_json::json;
use support::{Stage, block};
use wisp_tools::Behind;

const BUDGET: usize = 4_096;

/// 6,000 lines, one of them unlike the rest.
fn log() -> String {
    (1..=6_000).fold(String::new(), |mut log, line| {
        let word = if line == 4_321 { "GAUGE" } else { "level" };
        let _ = writeln!(log, "{word} {line:06} of the tide");
        log
    })
}

#[test]
fn a_long_file_read_whole_is_kept_and_its_note_is_true() {
    block(async {
        let mut stage = Stage::new(true);
        std::fs::write(stage.home.path().join("tide.log"), log()).unwrap();
        let shown = stage.shown("read_file", json!({"path": "tide.log"})).await;
        assert!(shown.len() <= BUDGET, "{}", shown.len());
        let lines: Vec<&str> = shown.lines().collect();
        let last = lines[lines.len() - 3];
        let (number, _) = last.split_once('\t').unwrap();
        let next = number.parse::<usize>().unwrap() + 1;
        assert_eq!(
            lines[lines.len() - 1],
            format!("[more: call again with offset {next}]")
        );
        let [record] = &stage.recorded("output.kept")[..] else {
            unreachable!("one output is kept: {shown}")
        };
        let id = record.details["output"].as_str().unwrap();
        let kib = ((6_000 - next + 1) * 25).div_ceil(1_024);
        let held = format!(
            "held back: lines {next}–6,000 ({kib} KiB); the whole output is kept as output {} (6,000 lines); memory \"recall output {} from line {next}\" pages it, ",
            &id[..8],
            &id[..8]
        );
        assert!(
            lines[lines.len() - 2].starts_with(&held),
            "{}\n{held}",
            lines[lines.len() - 2]
        );
        let stored = stage
            .home
            .path()
            .join("output")
            .join(stage.session.as_str())
            .join(id);
        assert_eq!(std::fs::read_to_string(stored).unwrap(), log());
        let found = stage
            .memory(&format!("recall output {id} matching gauge"), Behind::default())
            .await;
        assert!(found.contains("4321: GAUGE 004321 of the tide"), "{found}");
    });
}

#[test]
fn a_file_that_fits_or_is_read_by_the_page_is_not_kept() {
    block(async {
        let mut stage = Stage::new(true);
        std::fs::write(stage.home.path().join("tide.log"), log()).unwrap();
        std::fs::write(stage.home.path().join("short"), "one\ntwo\n").unwrap();
        for arguments in [
            json!({"path": "short"}),
            json!({"path": "tide.log", "offset": 1}),
            json!({"path": "tide.log", "limit": 5}),
        ] {
            let shown = stage.shown("read_file", arguments).await;
            assert!(!shown.contains("held back"), "{shown}");
        }
        assert_eq!(stage.stored(), [""; 0]);
    });
}

#[test]
fn a_file_that_cannot_be_kept_is_paged_all_the_same() {
    block(async {
        let mut stage = Stage::new(false);
        std::fs::write(stage.home.path().join("tide.log"), log()).unwrap();
        let shown = stage.shown("read_file", json!({"path": "tide.log"})).await;
        let (opening, lines) = shown.split_once('\n').unwrap();
        assert!(
            opening.starts_with("[lines 1–")
                && opening.ends_with("; to find a word in the rest: grep -n WORD tide.log]"),
            "{opening}"
        );
        assert!(lines.starts_with("1\tlevel 000001 of the tide\n"), "{shown}");
        assert!(
            !shown.contains("kept") && shown.contains("\n[more: call again with offset "),
            "{shown}"
        );
    });
}

#[test]
fn pages_of_short_lines_are_within_the_budget() {
    block(async {
        let mut stage = Stage::new(true);
        std::fs::write(stage.home.path().join("thin"), "\n".repeat(9_000)).unwrap();
        let shown = stage
            .shown("read_file", json!({"path": "thin", "limit": 9_000}))
            .await;
        assert!(
            shown.len() <= BUDGET && shown.len() > BUDGET - 456,
            "{}",
            shown.len()
        );
    });
}

#[test]
fn what_is_no_regular_file_is_named_and_refused() {
    block(async {
        let mut stage = Stage::new(true);
        let socket = stage.home.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for (path, kind) in [
            (socket.to_str().unwrap(), "a socket"),
            ("/dev/zero", "a device"),
            ("/dev/null", "a device"),
        ] {
            let shown = stage.shown("read_file", json!({ "path": path })).await;
            assert_eq!(
                shown,
                format!(
                    "error: not a regular file: {path} is {kind}, which read_file does not read; give the path of a text file"
                )
            );
        }
    });
}
