//! A conversation end to end: a fresh home without a server, the demo model, a long output kept whole and audited.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::os::unix::fs::PermissionsExt;

use wisp_tests::{Wisp, runs, sha256, tool_message};

fn kinds_of_turn(wisp: &Wisp, turn: u64) -> Vec<String> {
    let events = wisp.audit();
    let of_turn = events.iter().filter(|e| e["turn"] == turn);
    of_turn
        .filter_map(|e| e["kind"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn without_a_server_chat_opens_on_the_demo_model_and_says_so() {
    let wisp = Wisp::new();
    let ran = wisp.chat(&["hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("no Ollama answers at http://127.0.0.1:9"),
        "{}",
        ran.err
    );
    assert!(ran.text().contains("demo model"), "{}", ran.text());
}

#[test]
fn two_hundred_thousand_lines_are_bounded_for_the_model_and_whole_for_the_person() {
    let wisp = Wisp::new();
    let ran = wisp.chat(&["run `seq 1 200000`", "/last"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let all: String = std::iter::once("exit status 0\nstdout:\n".to_owned())
        .chain((1..=200_000).map(|n| format!("{n}\n")))
        .collect();
    assert!(ran.text().ends_with(&all), "/last prints the whole");
    let kept = wisp.kept();
    assert_eq!(kept.len(), 1);
    let (record, bytes) = &kept[0];
    assert_eq!(*bytes, all.as_bytes());
    assert_eq!(record["sha256"], sha256(bytes));
    assert_eq!(record["lines"], 200_000);
    let kinds = kinds_of_turn(&wisp, 1);
    let order = [
        "prompt",
        "context.pressure",
        "model.request",
        "response",
        "tool.call",
        "classifier.verdict",
        "policy.decision",
        "command.outcome",
        "output.kept",
        "tool.result",
        "context.pressure",
        "model.request",
        "response",
    ];
    assert_eq!(kinds, order);
}

#[test]
fn what_the_model_is_shown_is_within_the_budget_with_a_true_marker_and_note() {
    let server = runs("seq 1 200000");
    let wisp = Wisp::with(&server);
    assert_eq!(wisp.chat(&["count"]).code, Some(0));
    let shown = tool_message(&server);
    // The server's default window is 32,768 tokens: an eighth of it at four bytes a token.
    assert!(shown.len() <= 16_384, "{} bytes", shown.len());
    let lines: Vec<&str> = shown.lines().collect();
    let marker = lines.iter().position(|l| l.starts_with("[… ")).expect("a marker");
    let (before, after) = (lines[marker - 1], lines[marker + 1]);
    let (before, after): (u64, u64) = (before.parse().unwrap(), after.parse().unwrap());
    let held = (after - before - 1).to_string();
    let digits: String = lines[marker].chars().filter(char::is_ascii_digit).collect();
    assert!(
        digits.starts_with(&held),
        "{} holds back {held} lines",
        lines[marker]
    );
    let note = lines.last().unwrap();
    assert!(note.starts_with("held back: stdout lines "), "{note}");
    let first = wisp_tests_grouped(before + 1);
    assert!(note.contains(&format!("lines {first}–")), "{note}");
    assert!(
        note.contains("exit status 0") && note.contains("(200,000 lines)"),
        "{note}"
    );
    assert!(note.contains("do not run the command again to see it"), "{note}");
}

fn wisp_tests_grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn everything_wisp_writes_is_private() {
    let wisp = Wisp::new();
    wisp.chat(&["run `seq 1 20000`"]);
    let mut folders = vec![wisp.root()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "an audit file, an output and its record");
}

#[test]
fn one_shot_prints_the_reply_alone_on_stdout() {
    let server = runs("echo hi");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["say hi"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.text(), "done\n");
    assert!(
        ran.err.contains("run_command echo hi") && ran.err.contains("exit 0"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains('\u{1b}'), "no escape sequence in a pipe");
}

#[test]
fn a_command_that_needs_leave_is_refused_when_nobody_can_be_asked() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["touch it"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(
        tool_message(&server).starts_with("error: command not approved"),
        "{}",
        tool_message(&server)
    );
    assert!(!wisp.work().join("made").exists());
    let yes = Wisp::with(&server);
    assert_eq!(yes.run(&["--yes", "touch it"], "").code, Some(0));
    assert!(yes.work().join("made").exists());
}

#[test]
fn the_first_request_with_all_tools_is_small() {
    let server = runs("true");
    let wisp = Wisp::with(&server);
    wisp.chat(&["hi"]);
    let first = server.chats()[0].body.len();
    assert!(first <= 6 * 1024, "{first} bytes");
}

#[test]
fn within_a_turn_each_request_is_the_last_one_and_more() {
    let server = runs("echo hi");
    let wisp = Wisp::with(&server);
    wisp.chat(&["one", "two"]);
    let chats = server.chats();
    assert_eq!(chats.len(), 4);
    for pair in [(0, 1), (2, 3)] {
        let (before, after) = (&chats[pair.0], &chats[pair.1]);
        let messages =
            |at: &ollama_sim::Received| at.json.as_ref().unwrap()["messages"].as_array().unwrap().clone();
        let (short, long) = (messages(before), messages(after));
        assert_eq!(long[..short.len()], short[..]);
        let reused = after.chat.as_ref().unwrap().cached_tokens;
        let had = before.chat.as_ref().unwrap();
        assert!(
            reused >= had.prompt_tokens,
            "{reused} of {} reused",
            had.prompt_tokens
        );
    }
}
