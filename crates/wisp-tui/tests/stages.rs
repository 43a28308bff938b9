//! Moments at which a person interrupts, looks away, or has a window of twenty columns: the program on a real
//! pseudo-terminal.

#![allow(clippy::disallowed_methods, reason = "a test starts programs and makes files")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod pty;

use pty::{MESSAGE, Program, READY, Recording, TURN, described, recording, wisp_tui};
use rustix::process::{Pid, Signal, kill_process};

/// A question that is asked.
const APPROVAL: &str = r#"{"type":"approval","id":"q1","command":"git push","line":"git push","pattern":"git push *","directory":"~","level":"moderate","reasons":[],"decisions":["once","no"]}"#;

/// How a terminal is set before a program changes it.
fn cooked() -> String {
    described(&Program::start(&["cat"], (80, 24), &[]).settings())
}

fn ended(outcome: &str, seconds: f64) -> String {
    format!(r#"{{"type":"turn","phase":"end","turn":1,"end":{{"seconds":{seconds},"outcome":"{outcome}"}}}}"#)
}

fn doing(what: &str, thinking: bool) -> String {
    format!(r#"{{"type":"activity","doing":"{what}","turnSeconds":1,"thinking":{thinking}}}"#)
}

#[test]
fn ctrl_c_stops_the_turn_at_each_of_its_stages() {
    let call = r#"{"type":"event","kind":"tool.call","details":{},"text":"⚙ run_command sleep 600"}"#;
    let running = format!("{call}\n{}", doing("running sleep 600", false));
    for (stage, seen) in [
        ("# nothing came yet".to_owned(), "working"),
        (doing("loading qwen3:8b", false), "loading qwen3:8b"),
        (doing("thinking", true), ".oO( thinking"),
        (r#"{"type":"delta","text":"half a"}"#.to_owned(), "half a"),
        (running, "running sleep 600"),
    ] {
        let recording = recording(&format!(
            "{READY}\n{MESSAGE}\n{TURN}\n{stage}\n> {{\"type\":\"interrupt\"}}\n{}\n{READY}\n{MESSAGE}\n",
            ended("interrupted", 1.5)
        ));
        let mut program = recording.play((80, 24));
        program.wait_for("approve at moderate");
        program.write("hello\r");
        program.wait_for(seen);
        program.write([3]);
        program.wait_for("■ interrupted");
        program.write("next");
        program.wait_for("› next");
        program.write([3]);
        program.wait_until("an empty box", |screen| !screen.contains("› next"));
        program.write([4]);
        assert_eq!(program.end().code(), Some(0), "{seen}");
        assert_eq!(described(&program.settings()), cooked(), "{seen}");
    }
}

#[test]
fn ctrl_c_at_a_question_refuses_and_ends_the_turn() {
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{APPROVAL}\n> {{\"type\":\"answer\"}}\n> {{\"type\":\"interrupt\"}}\n{}\n{READY}\n{MESSAGE}\n",
        ended("interrupted", 1.5)
    ));
    let program = recording.play((80, 24));
    program.wait_for("approve at moderate");
    program.write("hello\r");
    program.wait_for("may it run?");
    program.write([3]);
    let screen = program.wait_for("■ interrupted");
    assert!(screen.contains("⚠ refused: git push"), "{screen}");
}

#[test]
fn ctrl_c_leaves_the_whole_screen_and_a_signal_there_gives_the_main_one_back() {
    let page = r#"{"type":"view","kind":"output","text":"hello\n","output":{"id":"8a7b6c5d4e3f2a1b","page":0,"pages":1,"firstLine":1,"lines":1,"bytes":6,"title":"run_command x"}}"#;
    let result = r#"{"type":"event","kind":"tool.result","details":{},"text":"↳ exit 0","output":{"id":"8a7b6c5d4e3f2a1b","text":"hello\n","lines":1,"bytes":6,"excerpt":[{"fromLine":1,"text":"hello"}],"stored":true}}"#;
    let recording = recording(&format!(
        "{READY}\n{result}\n> {{\"type\":\"output\"}}\n{page}\n> {{\"type\":\"output\"}}\n{page}\n{MESSAGE}\n"
    ));
    let mut program = recording.play((80, 24));
    let text = |program: &Program| String::from_utf8_lossy(&program.bytes()).into_owned();
    program.wait_for("hello");
    program.write([15]);
    program.wait_for("run_command x");
    program.write("f");
    program.wait_until("the whole screen", |screen| !screen.contains("↳ exit 0"));
    program.write([3]);
    program.wait_until("the band", |screen| {
        screen.contains("↳ exit 0") && screen.contains("approve at moderate")
    });
    program.write([15]);
    program.wait_for("run_command x");
    program.write("f");
    program.wait_until("the whole screen again", |screen| !screen.contains("↳ exit 0"));
    kill_process(Pid::from_child(&program.child), Signal::TERM).unwrap();
    assert_eq!(program.end().code(), Some(143));
    assert_eq!(text(&program).matches("\x1b[?1049l").count(), 2);
    assert_eq!(described(&program.settings()), cooked());
    assert!(
        program.history().contains("↳ exit 0"),
        "what was said is still there"
    );
}

#[test]
fn a_conversation_in_twenty_columns_and_six_rows() {
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"a reply of 漢字 and more words\"}}\n{APPROVAL}\n> {{\"type\":\"answer\"}}\n{}\n{READY}\n{MESSAGE}\n",
        ended("ok", 1.5)
    ));
    let mut program = recording.play((20, 6));
    program.wait_for("› ");
    program.write("hello\r");
    program.wait_for("[n]no");
    program.write([3]);
    program.wait_for("1.5 s");
    program.write("typed 漢字");
    program.wait_for("› typed 漢字");
    program.write([3]);
    program.wait_until("an empty box", |screen| !screen.contains("typed"));
    program.write([4]);
    assert_eq!(program.end().code(), Some(0));
    let history = program.history();
    for part in ["› hello", "⚠ refused:", "漢字", "1.5 s"] {
        assert_eq!(history.matches(part).count(), 1, "{part} in\n{history}");
    }
}

/// Writes the settings; whatever umask is set, since those that others can write are refused.
fn configure(recording: &Recording, config: &str) {
    let path = recording.home().join("config.json");
    std::fs::write(&path, config).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// What the program writes to tell a person who is elsewhere that a turn of 25 seconds is over.
fn told(env: &[(&str, &str)], focus: &str, config: &str) -> String {
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"half\"}}\n> {{\"type\":\"interrupt\"}}\n{}\n{READY}\n{MESSAGE}\n",
        ended("ok", 25.0)
    ));
    configure(&recording, config);
    let program = recording.play_with((80, 24), env);
    program.wait_for("approve at moderate");
    program.write("hello\r");
    program.wait_for("half");
    program.write(focus);
    program.write([3]);
    program.wait_for("25.0 s");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    bytes[bytes.find("half").unwrap()..].to_owned()
}

const AWAY: &str = "\x1b[O";

#[test]
fn a_person_elsewhere_is_told_in_the_words_of_their_terminal() {
    let title = "wisp has replied";
    for (env, sequence) in [
        (("TERM_PROGRAM", "ghostty"), format!("\x1b]9;{title}: 25.0 s\x07")),
        (("TERM_PROGRAM", "WezTerm"), format!("\x1b]9;{title}: 25.0 s\x07")),
        (
            ("KITTY_WINDOW_ID", "1"),
            format!("\x1b]99;i=wisp:d=0:p=title;{title}\x1b\\"),
        ),
        (("TERM", "foot"), format!("\x1b]777;notify;{title};25.0 s\x07")),
        (("TERM", "xterm-256color"), "\x07".to_owned()),
    ] {
        let bytes = told(&[env], AWAY, "{}");
        assert_eq!(bytes.matches(&sequence).count(), 1, "{env:?}: {bytes:?}");
    }
}

#[test]
fn a_person_who_is_there_or_does_not_want_it_is_not_told() {
    let silent = |bytes: String| assert!(!bytes.contains(['\x07']) && !bytes.contains("\x1b]"), "{bytes:?}");
    let ghostty = [("TERM_PROGRAM", "ghostty")];
    silent(told(&ghostty, "", "{}"));
    silent(told(&ghostty, "\x1b[O\x1b[I", "{}"));
    silent(told(&ghostty, AWAY, r#"{"notifications":{"enabled":false}}"#));
}

#[test]
fn a_question_is_told_of_too() {
    let recording = recording(&format!(
        "{READY}\n{MESSAGE}\n{TURN}\n{{\"type\":\"delta\",\"text\":\"half\"}}\n@ 300\n{APPROVAL}\n> {{\"type\":\"answer\"}}\n"
    ));
    let program = recording.play_with((80, 24), &[("TERM_PROGRAM", "ghostty")]);
    program.wait_for("approve at moderate");
    program.write(AWAY);
    program.write("hello\r");
    program.wait_for("may it run?");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(
        bytes.contains("\x1b]9;wisp waits for your approval: moderate: git push\x07"),
        "{bytes:?}"
    );
}

#[test]
fn a_wrong_setting_is_said_before_the_terminal_is_touched() {
    for (config, said) in [
        (
            r#"{"keys":{"open-outptu":"ctrl-o"}}"#,
            "no action is called open-outptu; the nearest is open-output",
        ),
        (
            r#"{"keys":{"newline":"enter"}}"#,
            "enter is bound to send and to newline",
        ),
        (r#"{"keys":{"newline":"ctrl-oo"}}"#, "not a key: ctrl-oo"),
        (
            r#"{"keys":{"newline":3}}"#,
            "keys must be an object from name to text",
        ),
        (r#"{"theme":"pink"}"#, "theme"),
        (
            r#"{"notifications":{"enabled":"often"}}"#,
            "notifications.enabled",
        ),
    ] {
        let recording = recording(&format!("{READY}\n{MESSAGE}\n"));
        configure(&recording, config);
        let mut program = recording.play((120, 24));
        assert_eq!(program.end().code(), Some(64), "{config}");
        let screen = program.history().replace('\n', " ");
        assert!(screen.contains(said), "{config}: {screen}");
        let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
        assert!(!bytes.contains('\x1b'), "{bytes:?}");
    }
    let mut program = Program::start(&[wisp_tui(), "--theme", "pink"], (120, 24), &[]);
    assert_eq!(program.end().code(), Some(64));
}
