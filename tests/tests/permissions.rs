//! What a person allows and for how long, and the modes of a conversation, through the real binary.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files and fail"
)]

use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, is_end, serve};

/// A model that calls these commands in one turn, one after the other, and then says `done`.
fn calls(commands: &'static [&'static str]) -> Server {
    serve(Model::new("sim"), move |seen: &Seen| {
        let results = seen.messages.iter().rev().take_while(|m| m.role != "user");
        let results = results.filter(|m| m.role == "tool").count();
        match commands.get(results) {
            Some(command) => Reply::call("run_command", json!({"command": command})),
            None => Reply::text("done"),
        }
    })
}

fn talk(wisp: &Wisp) -> Talk {
    let mut talk = Talk::start(wisp, &[], Duration::from_mins(1));
    talk.send(&json!({"type": "hello", "effects": ["approve"], "client": "t", "version": "1"}));
    talk
}

/// Sends a message and answers each question in turn; gives the events up to the turn's end.
fn turn(talk: &mut Talk, answers: &[Value]) -> Vec<Value> {
    talk.send(&json!({"type": "message", "text": "go"}));
    let mut answers = answers.iter();
    let from = talk.seen.len();
    loop {
        let event = talk.until("a question or the turn's end", |e| {
            e["type"] == "approval" || is_end(e)
        });
        if is_end(&event) {
            assert_eq!(answers.count(), 0, "fewer questions than expected");
            return talk.seen[from..].to_vec();
        }
        let mut answer = answers.next().expect("no more questions were expected").clone();
        answer["type"] = "answer".into();
        answer["id"] = event["id"].clone();
        talk.send(&answer);
    }
}

fn lines(events: &[Value]) -> String {
    events
        .iter()
        .filter_map(|e| e["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn once_is_this_call_only_and_a_later_call_names_the_answer_that_allows_it() {
    let server = calls(&["touch a", "touch b"]);
    let wisp = Wisp::with(&server);
    let mut chat = talk(&wisp);
    let once = json!({"decision": "once"});
    turn(&mut chat, &[once.clone(), once]);
    let events = turn(&mut chat, &[json!({"decision": "turn"})]);
    assert!(
        lines(&events).contains("approved: touch * was allowed for this turn"),
        "{}",
        lines(&events)
    );
    let events = turn(&mut chat, &[json!({"decision": "session"})]);
    assert!(lines(&events).contains("touch * was allowed for this session"));
    turn(&mut chat, &[]);
}

#[test]
fn the_reason_of_a_refusal_reaches_the_model() {
    let server = calls(&["touch a"]);
    let wisp = Wisp::with(&server);
    turn(
        &mut talk(&wisp),
        &[json!({"decision": "no", "reason": "use b instead"})],
    );
    let told = wisp_tests::tool_message(&server);
    assert!(told.contains("declined by the person: use b instead"), "{told}");
    assert!(!wisp.work().join("a").exists());
}

#[test]
fn a_read_only_conversation_refuses_what_changes_something_unasked_and_reads() {
    let server = calls(&["touch a", "ls"]);
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "approval": {"mode": "read-only", "threshold": "never"}}));
    let ran = wisp.run(&["--yes", "--json", "go"], "");
    let said: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(said["calls"][0]["outcome"], "declined", "{said}");
    assert_eq!(said["calls"][1]["outcome"], "exit 0");
    assert!(!wisp.work().join("a").exists());
}

#[test]
fn a_mode_holds_for_its_conversation_and_is_shown() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        if seen.messages.last().is_some_and(|m| m.role == "tool") {
            Reply::text("done")
        } else {
            Reply::call(
                "edit_file",
                json!({"path": "a.txt", "mode": "write", "content": "x\n"}),
            )
        }
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.chat(&["/mode edit", "go", "/mode", "/status", "/mode sideways"]);
    assert!(ran.err.contains("mode edit: "), "{}", ran.err);
    assert!(
        ran.text().contains("edit mode, approve at moderate"),
        "{}",
        ran.text()
    );
    assert!(ran.text().contains("* edit"), "{}", ran.text());
    assert!(
        ran.err
            .contains("\"sideways\" is no mode; the modes are read-only, ask, edit and auto")
    );
    assert_eq!(std::fs::read_to_string(wisp.work().join("a.txt")).unwrap(), "x\n");
    std::fs::remove_file(wisp.work().join("a.txt")).unwrap();
    wisp.chat(&["go"]);
    assert!(
        !wisp.work().join("a.txt").exists(),
        "the next conversation asks again"
    );
}

#[test]
fn stored_approvals_are_listed_and_taken_back() {
    let server = calls(&["touch a"]);
    let wisp = Wisp::with(&server);
    let mut chat = talk(&wisp);
    turn(&mut chat, &[json!({"decision": "project"})]);
    drop(chat);
    let listed = wisp.run(&["approvals"], "").text();
    assert!(listed.contains("touch *  for this directory until "), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();
    let ran = wisp.run(&["approvals", "revoke", "zz"], "");
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    let ran = wisp.run(&["approvals", "revoke", &id], "");
    assert!(ran.text().starts_with("taken back: "), "{}", ran.err);
    assert_eq!(
        wisp.run(&["approvals"], "").err,
        "nothing is allowed beforehand\n"
    );
    let mut chat = talk(&wisp);
    turn(&mut chat, &[json!({"decision": "always"})]);
    turn(&mut chat, &[]);
    chat.send(&json!({"type": "message", "text": "/approvals clear"}));
    turn(&mut chat, &[json!({"decision": "no"})]);
}

/// A directory that no command may write: below the build's own, since the temporary one is written.
#[cfg(target_os = "linux")]
fn outside() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A model that calls this command once.
#[cfg(target_os = "linux")]
fn calls_once(command: String) -> Server {
    serve(Model::new("sim"), move |seen: &Seen| {
        if seen.messages.last().is_some_and(|m| m.role == "tool") {
            Reply::text("done")
        } else {
            Reply::call("run_command", json!({"command": command}))
        }
    })
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_runs_outside_the_sandbox_after_a_yes_to_that_and_only_then() {
    let once = json!({"decision": "once"});
    for (second, made) in [(json!({"decision": "no"}), false), (once.clone(), true)] {
        let outside = outside();
        let file = outside.path().join("made");
        let server = calls_once(format!("touch {}", file.display()));
        let wisp = Wisp::with(&server);
        let events = turn(&mut talk(&wisp), &[once.clone(), second]);
        let asked: Vec<&Value> = events.iter().filter(|e| e["type"] == "approval").collect();
        assert!(
            asked[1].to_string().contains("run it outside the sandbox?"),
            "{}",
            asked[1]
        );
        assert_eq!(file.exists(), made);
        let told = wisp_tests::tool_message(&server);
        assert_eq!(
            told.contains("the user has not let it run outside"),
            !made,
            "{told}"
        );
    }
}

/// Connects to a port of this machine, and says what a machine without a network says when that fails.
#[cfg(target_os = "linux")]
fn connects(port: u16) -> String {
    format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\" 2>/dev/null || \
         {{ echo 'Network is unreachable' >&2; exit 1; }}"
    )
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_has_the_network_after_a_yes_to_that_and_only_then() {
    let once = json!({"decision": "once"});
    for (second, connected) in [(json!({"decision": "no"}), false), (once.clone(), true)] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server = calls_once(connects(listener.local_addr().unwrap().port()));
        let wisp = Wisp::with(&server);
        let events = turn(&mut talk(&wisp), &[once.clone(), second]);
        let asked: Vec<&Value> = events.iter().filter(|e| e["type"] == "approval").collect();
        assert!(
            asked[1].to_string().contains("run it with the network?"),
            "{}",
            asked[1]
        );
        assert_eq!(listener.accept().is_ok(), connected);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_network_that_the_settings_have_off_is_not_asked_about() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let server = calls_once(connects(listener.local_addr().unwrap().port()));
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "sandbox": {"network": "off"}}));
    turn(&mut talk(&wisp), &[json!({"decision": "once"})]);
    assert!(listener.accept().is_err());
    let told = wisp_tests::tool_message(&server);
    assert!(told.contains("sandbox.network is off"), "{told}");
}

#[test]
#[cfg(target_os = "linux")]
fn where_nothing_confines_it_is_said_and_whole_directories_and_writes_are_asked_about() {
    let server = calls(&["grep -r one .", "touch b"]);
    let mut wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("a.txt"), "one\n").unwrap();
    turn(&mut talk(&wisp), &[json!({"decision": "no"})]);
    wisp.set("WISP_SANDBOX_LANDLOCK", "0");
    let doctor = wisp.run(&["doctor"], "");
    assert!(
        doctor.text().contains("the kernel has no Landlock"),
        "{}",
        doctor.text()
    );
    let mut chat = talk(&wisp);
    let no = json!({"decision": "no"});
    turn(&mut chat, &[no.clone(), no]);
    assert!(
        lines(&chat.seen).contains("sandbox: the kernel has no Landlock"),
        "{}",
        lines(&chat.seen)
    );
    assert!(!wisp.work().join("b").exists());
}
