//! The program on a real pseudo-terminal: what a person sees, and what is left of the terminal afterwards.

#![allow(clippy::disallowed_methods, reason = "a test starts programs and makes files")]

mod pty;

use std::process::{Command, Stdio};

use pty::{MESSAGE, Program, READY, TURN, described, recording, wisp_tui};
use rustix::process::{Pid, Signal, kill_process};

/// A conversation in which a turn streams and never ends.
fn endless() -> String {
    format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"one\\ntwo\\nthr\"}}\n> {{\"type\":\"quit\"}}\n"
    )
}

fn streaming(recording: &pty::Recording) -> Program {
    let program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    program.write("hello\r");
    program.wait_for("thr");
    program
}

#[test]
fn a_conversation_from_start_to_leaving() {
    let end = r#"{"type":"turn","phase":"end","turn":1,"end":{"seconds":1.5,"outcome":"ok"}}"#;
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"a **reply**\"}}\n{end}\n{READY}\n{MESSAGE}\n"
    ));
    let mut program = recording.play((80, 24));
    let before = described(&Program::start(&["cat"], (80, 24), &[]).settings());
    program.wait_for("approve at moderate");
    assert_ne!(described(&program.settings()), before, "keys come raw");
    program.write("hello\r");
    program.wait_until("the turn's end", |screen| {
        screen.contains("1.5 s") && screen.contains("a reply")
    });
    program.write([4]);
    assert_eq!(program.end().code(), Some(0));
    assert_eq!(described(&program.settings()), before);
    let screen = program.history();
    assert!(
        screen.contains("› hello") && screen.contains("a reply"),
        "{screen}"
    );
    assert!(
        !screen.contains("approve at moderate"),
        "the band is gone: {screen}"
    );
}

#[test]
fn signals_give_the_terminal_back_and_are_told_in_the_exit_code() {
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
    ] {
        let recording = recording(&endless());
        let before = described(&Program::start(&["cat"], (80, 24), &[]).settings());
        let mut program = streaming(&recording);
        kill_process(Pid::from_child(&program.child), signal).unwrap();
        assert_eq!(program.end().code(), Some(code));
        assert_eq!(described(&program.settings()), before, "{signal:?}");
        let bytes = program.bytes();
        let tail = String::from_utf8_lossy(&bytes[bytes.len() - 60..]).into_owned();
        assert!(
            tail.ends_with("\x1b[?7h\x1b[?1004l\x1b[?25h\x1b[?2004l"),
            "{tail:?}"
        );
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_can_be_read() {
    let example = std::path::Path::new(wisp_tui())
        .with_file_name("examples")
        .join("panics");
    let mut program = Program::start(
        &["sh", "-c", "stty -a; \"$0\"; stty -a", example.to_str().unwrap()],
        (80, 40),
        &[],
    );
    assert!(program.end().success());
    let screen = program.wait_for("the forced panic");
    let said: Vec<&str> = screen
        .lines()
        .filter(|line| line.contains("icanon") || line.contains("echo "))
        .collect();
    assert_eq!(said.len() % 2, 0, "{screen}");
    assert_eq!(said[..said.len() / 2], said[said.len() / 2..], "{screen}");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(bytes.contains("\x1b[?1049l") && bytes.contains("\x1b[?2004l"));
}

#[test]
fn a_paste_of_ten_thousand_lines_is_one_message() {
    let recording = recording(&format!("{READY}\n{MESSAGE}\n{TURN}\n{READY}\n"));
    let program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    let lines = (1..=10_000).fold(String::new(), |text, n| {
        text + &format!("line {n:05} of the paste\r\n")
    });
    program.write(format!("\x1b[200~{lines}\x1b[201~"));
    program.wait_for("[pasted 10,000 lines");
    assert!(!program.history().contains("› line"), "nothing was sent");
    program.write("\r");
    program.wait_until("the message", |screen| {
        screen.matches("[pasted 10,000 lines").count() == 1
    });
}

#[test]
fn an_unmarked_paste_of_many_lines_sends_nothing() {
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{{\"type\":\"note\",\"text\":\"SENT\"}}\n{READY}\n"
    ));
    let program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    let lines = (1..=2_000).fold(String::new(), |text, n| {
        text + &format!("line {n:05} of the paste\r")
    });
    program.write(lines);
    let screen = program.wait_until("the paste", |screen| {
        screen.contains("[pasted") && !screen.contains("SENT")
    });
    assert!(!screen.contains("SENT"), "{screen}");
}

#[test]
fn the_pager_gets_the_terminal_and_gives_it_back() {
    let page = r#"{"type":"view","kind":"output","text":"hello\n","output":{"id":"8a7b6c5d4e3f2a1b","page":0,"pages":1,"firstLine":1,"lines":1,"bytes":6,"title":"run_command x","path":"PATH"}}"#;
    let result = r#"{"type":"event","kind":"tool.result","details":{},"text":"↳ exit 0","output":{"id":"8a7b6c5d4e3f2a1b","text":"hello\n","lines":1,"bytes":6,"excerpt":[{"fromLine":1,"text":"hello"}]}}"#;
    let dir = tempfile::tempdir().unwrap();
    let stored = dir.path().join("stored");
    std::fs::write(&stored, "the whole \x1b]0;title\x07of it\n").unwrap();
    let page = page.replace("PATH", stored.to_str().unwrap());
    let recording = recording(&format!(
        "{READY}\n{result}\n> {{\"type\":\"output\"}}\n{page}\n{MESSAGE}\n"
    ));
    let pager = format!(
        "sh -c 'tee {}; read key </dev/tty'",
        dir.path().join("paged").display()
    );
    let mut program = recording.play_with((80, 24), &[("PAGER", &pager)]);
    program.wait_for("hello");
    program.write([15]);
    program.wait_for("run_command x");
    program.write("o");
    let screen = program.wait_for("the whole of it");
    assert!(!screen.contains("run_command x"), "the band is away: {screen}");
    program.write("\r");
    program.wait_for("run_command x");
    program.write("q");
    program.wait_until("the box", |screen| !screen.contains("run_command x"));
    program.write("typed");
    program.wait_for("› typed");
    program.write([3]);
    program.wait_until("the box cleared", |screen| !screen.contains("› typed"));
    program.write([4]);
    assert!(program.end().success());
    assert_eq!(
        std::fs::read_to_string(dir.path().join("paged")).unwrap(),
        "the whole of it\n"
    );
}

#[test]
fn the_editor_gets_the_draft_and_its_save_comes_back() {
    let recording = recording(&format!("{READY}\n{MESSAGE}\n"));
    let editor = "sh -c 'printf \" and more\" >> \"$0\"'";
    let program = recording.play_with((80, 24), &[("EDITOR", editor)]);
    program.wait_for("approve at moderate");
    program.write("draft");
    program.wait_for("› draft");
    program.write([24, 5]);
    program.wait_for("› draft and more");
}

#[test]
fn ctrl_z_gives_the_shell_its_terminal_and_fg_comes_back() {
    let recording = recording(&endless());
    let home = recording.home().display().to_string();
    let env = [
        ("WISP_HOME", home.as_str()),
        ("PS1", "shell> "),
        ("HISTFILE", "/dev/null"),
    ];
    let program = Program::start(&["bash", "--norc", "--noprofile", "-i"], (80, 24), &env);
    program.wait_for("shell>");
    program.write(format!("{} --replay {}\r", wisp_tui(), recording.path.display()));
    program.wait_for("approve at moderate");
    let raw = described(&program.settings());
    program.write("some text");
    program.wait_for("› some text");
    program.write([26]);
    program.wait_for("Stopped");
    program.write("stty -a | grep -o ' icanon'\r");
    program.wait_until("a cooked terminal", |screen| {
        screen.lines().any(|line| line == " icanon")
    });
    program.write("fg\r");
    program.wait_until("the band again", |screen| {
        screen
            .lines()
            .rev()
            .take(4)
            .any(|line| line.starts_with("› some text"))
    });
    assert_eq!(described(&program.settings()), raw);
    program.write("!");
    program.wait_for("› some text!");
}

#[test]
fn without_a_terminal_it_says_so_in_one_line() {
    let output = Command::new(wisp_tui()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said,
        "wisp-tui: standard input and output must be a terminal; without one, use `wisp chat`\n"
    );
}

#[test]
fn windows_of_any_size_are_survived() {
    let recording = recording(&endless());
    let mut program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    program.write("hello\r");
    program.wait_for("thr");
    for (columns, rows) in [
        (0, 0),
        (1, 1),
        (2, 2),
        (5, 3),
        (10, 1),
        (1, 40),
        (300, 1),
        (500, 200),
        (20, 6),
        (80, 24),
    ] {
        program.resize(columns, rows);
        program.write([12]);
    }
    program.wait_for("ctrl-c stops it");
    program.write([4]);
    program.wait_for("stopping");
    kill_process(Pid::from_child(&program.child), Signal::TERM).unwrap();
    assert_eq!(program.end().code(), Some(143));
}

#[test]
fn a_window_that_is_back_at_its_size_before_it_is_told_of_is_drawn_whole() {
    let recording = recording(&format!("{READY}\n{MESSAGE}\n"));
    let program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    program.cut_rows_off(1);
    assert!(!program.screen().contains("approve at moderate"));
    kill_process(Pid::from_child(&program.child), Signal::WINCH).unwrap();
    program.wait_for("approve at moderate");
}

#[test]
fn a_window_without_rows_is_waited_out() {
    let recording = recording(&endless());
    let program = recording.play((0, 0));
    program.write("early");
    program.resize(80, 24);
    program.wait_for("› early");
}

#[test]
fn ctrl_c_stops_the_turn_clears_the_box_and_leaves() {
    let end = r#"{"type":"turn","phase":"end","turn":1,"end":{"seconds":1.5,"outcome":"interrupted"}}"#;
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"half a\"}}\n> {{\"type\":\"interrupt\"}}\n{end}\n{READY}\n{MESSAGE}\n"
    ));
    let mut program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    program.write("hello\r");
    program.wait_for("half a");
    program.write([3]);
    program.wait_for("■ interrupted");
    program.write("text");
    program.wait_for("› text");
    program.write([4]);
    program.write([3]);
    program.wait_until("an empty box", |screen| !screen.contains("› text"));
    program.write([3]);
    program.wait_for("ctrl-c again leaves");
    program.write([3]);
    assert_eq!(program.end().code(), Some(0));
    assert!(program.history().contains("half a"), "what had arrived stays");
}
