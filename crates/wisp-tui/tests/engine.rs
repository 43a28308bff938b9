//! The face with the engine behind it: no server answers, so the built-in demo model does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod pty;

use pty::{Program, described, wisp_tui};

/// wisp-tui in an empty directory with a home of its own, where no Ollama answers.
fn with_demo(home: &tempfile::TempDir, size: (u16, u16)) -> Program {
    let path = home.path().display().to_string();
    let start = format!("cd '{path}' && exec '{}'", wisp_tui());
    // wisp's own folder is no place for commands.
    let own = format!("{path}/wisp");
    let env = [
        ("WISP_HOME", own.as_str()),
        ("OLLAMA_HOST", "127.0.0.1:9"),
        ("PAGER", "cat"),
    ];
    let program = Program::start(&["sh", "-c", &start], size, &env);
    program.wait_for("demo:");
    program
}

#[test]
fn a_command_runs_and_its_output_is_paged_searched_and_read_to_its_end() {
    let home = tempfile::tempdir().unwrap();
    let mut program = with_demo(&home, (90, 30));
    program.write("run seq 1 40000");
    program.wait_for("› run seq 1 40000");
    program.write("\r");
    program.wait_until("the turn's end", |screen| {
        screen.contains("ran: run_command") && screen.contains("held back:")
    });
    program.write([15]);
    program.wait_for("run_command seq 1 40000");
    program.write("G");
    program.wait_for("│   40000 ");
    program.write(":30000\r");
    program.wait_for(" 30000 ");
    program.write("/^3777.$\r");
    program.wait_until("the match", |screen| {
        screen
            .lines()
            .any(|line| line.contains("┊ 37770 ") || line.contains("  37770 "))
    });
    program.write("s");
    program.wait_for("─ digest ─");
    program.write("sq");
    program.wait_until("the box", |screen| {
        !screen.contains("digest") && screen.contains("› ")
    });
    program.write([4]);
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn an_output_that_is_not_stored_is_shown_whole_searched_and_digested() {
    let home = tempfile::tempdir().unwrap();
    let program = with_demo(&home, (90, 30));
    program.write("!seq 1 30");
    program.wait_for("! seq 1 30");
    program.write("\r");
    program.wait_for("20 more lines");
    program.write([15]);
    program.wait_for("! seq 1 30 ─");
    program.write("G");
    program.wait_for("│   30 ");
    program.write("g/^7$\r");
    program.wait_for("│   7 ");
    program.write("s");
    program.wait_for("─ digest ─");
}

#[test]
fn a_question_is_asked_answered_and_remembered_in_one_line() {
    let home = tempfile::tempdir().unwrap();
    let program = with_demo(&home, (90, 30));
    program.write("run touch made-by-wisp");
    program.wait_for("› run touch made-by-wisp");
    program.write("\r");
    program.wait_for("may it run?");
    program.write([3]);
    program.wait_for("⚠ refused: touch made-by-wisp");
    program.wait_for("1 declined");
    assert!(!home.path().join("made-by-wisp").exists());
}

#[test]
fn ctrl_c_stops_a_typed_command_and_wisp_stays() {
    let home = tempfile::tempdir().unwrap();
    let mut program = with_demo(&home, (90, 30));
    program.write("!sleep 600");
    program.wait_for("! sleep 600");
    program.write("\r");
    program.wait_for("running sleep 600");
    let raw = described(&program.settings());
    program.write([3]);
    program.wait_until("the box", |screen| {
        // Ctrl-D stops what is done until the box is back.
        screen.contains("↳") && screen.lines().any(|line| line.starts_with('›'))
    });
    assert_eq!(
        described(&program.settings()),
        raw,
        "the command did not touch the terminal"
    );
    program.write([4]);
    assert_eq!(program.end().code(), Some(0));
}

#[test]
fn a_start_that_fails_says_why_and_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().display().to_string();
    let env = [("WISP_HOME", path.as_str()), ("OLLAMA_HOST", "127.0.0.1:9")];
    let mut program = Program::start(&[wisp_tui(), "--model", "nosuch"], (90, 30), &env);
    assert_eq!(program.end().code(), Some(1));
    let screen = program.history();
    assert!(
        screen.contains("cannot reach an ollama server at http://127.0.0.1:9")
            && screen.contains("hint: start it"),
        "{screen}"
    );
    assert!(!screen.contains("starting"), "the band is gone: {screen}");
    let env = [("WISP_HOME", "/dev/null/home"), ("OLLAMA_HOST", "127.0.0.1:9")];
    let mut program = Program::start(&[wisp_tui()], (200, 30), &env);
    assert_eq!(program.end().code(), Some(1));
    let screen = program.history();
    assert_eq!(screen.matches("Not a directory").count(), 1, "{screen}");
}
