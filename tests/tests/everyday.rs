//! What is used all day: the end of what is folded, limits of commands, commands in the background, the task, speeds.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write files and stop at what they do not expect"
)]

use std::time::Duration;

use ollama_sim::{Capability, Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, calls, serve, tool_message};

const PATIENCE: Duration = Duration::from_secs(40);

fn talk(wisp: &Wisp) -> Talk {
    let mut talk = Talk::start(wisp, &["--yes"], PATIENCE);
    talk.until("wish for a line", |e| e["type"] == "status");
    talk
}

/// Enters a line and reads on until the next is wished for.
fn enter(talk: &mut Talk, text: &str) -> Vec<Value> {
    let from = talk.seen.len();
    talk.send(&json!({"type": "message", "text": text}));
    talk.until("wish for a line", |e| e["type"] == "status");
    talk.seen[from..].to_vec()
}

/// What slash commands and notes said, a line each.
fn said(events: &[Value]) -> String {
    let texts = events
        .iter()
        .filter(|e| e["type"] == "output" || e["type"] == "note");
    texts
        .map(|e| e["text"].as_str().unwrap().to_owned() + "\n")
        .collect()
}

/// What is shown of the output among events: the number of each stretch's first line, and its text.
fn shown(events: &[Value]) -> Vec<(u64, String)> {
    let output = events
        .iter()
        .find_map(|e| e.get("output").filter(|o| !o.is_null()))
        .unwrap();
    let stretches = output["excerpt"].as_array().unwrap().iter();
    stretches
        .map(|s| {
            (
                s["fromLine"].as_u64().unwrap(),
                s["text"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

#[test]
fn what_a_failed_command_said_last_is_shown() {
    let wisp = Wisp::with(&calls("current_date", json!({})));
    let events = enter(&mut talk(&wisp), "!seq 1 3000; echo boom >&2; exit 3");
    let stretches = shown(&events);
    assert_eq!(stretches[0], (1, "1\n2\n3\n4".to_owned()));
    let (first, end) = stretches.last().unwrap();
    assert_eq!((*first, end.lines().next_back()), (2986, Some("boom")));
    assert_eq!(end.lines().count(), 16);
}

#[test]
fn chat_shows_the_end_of_what_it_folds() {
    let wisp = Wisp::with(&calls("current_date", json!({})));
    let ran = wisp.run(&["chat"], "!seq 1 3000; echo boom >&2; exit 3\n/quit\n");
    let end = "  3000\n  boom\n  … 2,981 more lines, 14 KiB in all: /show ";
    assert!(ran.err.contains("  4\n  … 2,981 lines\n  2986\n"), "{}", ran.err);
    assert!(ran.err.contains(end), "{}", ran.err);
}

fn ran(arguments: Value) -> (Server, Vec<Value>) {
    let server = calls("run_command", arguments);
    let wisp = Wisp::with(&server);
    let events = enter(&mut talk(&wisp), "go");
    (server, events)
}

#[test]
fn a_call_may_set_its_own_limit_and_is_told_how_to_have_a_longer_one() {
    let (server, events) = ran(json!({"command": "sleep 30", "timeoutSeconds": 1}));
    let told = tool_message(&server);
    assert!(told.starts_with("timed out after 1 s and was stopped"), "{told}");
    assert!(
        told.contains("for more time: timeoutSeconds in the call"),
        "{told}"
    );
    let line = events.iter().find(|e| e["kind"] == "tool.result").unwrap()["text"].clone();
    assert!(line.as_str().unwrap().contains("for more time"), "{line}");
}

#[test]
fn a_limit_of_more_than_a_day_is_refused_with_the_range() {
    let (server, _) = ran(json!({"command": "true", "timeoutSeconds": 86_401}));
    let told = tool_message(&server);
    assert!(
        told.contains("timeoutSeconds is 86401, and must be from 1 to 86400"),
        "{told}"
    );
}

#[test]
fn a_command_in_the_background_is_listed_read_and_ended() {
    let server = calls(
        "run_command",
        json!({"command": "echo up; exec sleep 600", "background": true}),
    );
    let wisp = Wisp::with(&server);
    let mut talk = talk(&wisp);
    enter(&mut talk, "start it");
    let told = tool_message(&server);
    assert!(told.starts_with("running in the background as job 1"), "{told}");
    assert!(told.contains("It has printed so far:\nup"), "{told}");
    let listed = said(&enter(&mut talk, "/ps"));
    assert!(listed.contains("echo up; exec sleep 600"), "{listed}");
    assert!(said(&enter(&mut talk, "/kill 1")).contains("job 1 is asked to end"));
    let ended = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        said(&enter(&mut talk, "/ps")).contains("job 1 has ended")
    });
    assert!(ended, "it ends when it is asked to");
    assert!(said(&enter(&mut talk, "/ps")).contains("nothing runs in the background"));
    assert!(said(&enter(&mut talk, "/kill 1")).contains("/ps lists them"));
}

#[test]
fn a_line_that_ends_in_an_ampersand_runs_on_until_the_conversation_is_left() {
    let wisp = Wisp::with(&calls("current_date", json!({})));
    let mark = wisp.work().join("alive");
    let mut talk = talk(&wisp);
    let events = enter(&mut talk, "!while sleep 0.1; do touch alive; done &");
    assert!(
        shown(&events)[0]
            .1
            .starts_with("running in the background as job 1\n/show ")
    );
    let runs = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        mark.exists()
    });
    assert!(runs, "it runs on after its line");
    talk.send(&json!({"type": "quit"}));
    talk.until("end", |e| e["type"] == "exit");
    drop(talk);
    std::thread::sleep(Duration::from_millis(300));
    std::fs::remove_file(&mark).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(!mark.exists(), "it has ended with the conversation");
}

#[test]
fn the_task_is_noted_shown_and_part_of_the_status() {
    let wisp = Wisp::with(&calls("current_date", json!({})));
    let mut talk = talk(&wisp);
    assert!(said(&enter(&mut talk, "/task")).contains("no task is noted"));
    let events = enter(&mut talk, "/task port the parser; objective: its tests pass");
    let status = events.iter().rfind(|e| e["type"] == "status").unwrap();
    assert_eq!(status["task"], "port the parser");
    let shown = said(&enter(&mut talk, "/task"));
    assert!(
        shown.contains("task: port the parser; objective: its tests pass"),
        "{shown}"
    );
}

#[test]
fn a_turn_ends_with_how_fast_it_was() {
    let wisp = Wisp::with(&calls("current_date", json!({})));
    let mut talk = talk(&wisp);
    let events = enter(&mut talk, "what day is it?");
    let end = events.iter().find(|e| e["phase"] == "end").unwrap()["end"].clone();
    assert!(end["tokensPerSecond"].as_f64().unwrap() > 0.0, "{end}");
    let (first, all) = (
        end["firstTokenSeconds"].as_f64().unwrap(),
        end["seconds"].as_f64().unwrap(),
    );
    assert!(first > 0.0 && first <= all, "{end}");
    let tokens = said(&enter(&mut talk, "/tokens"));
    assert!(tokens.contains("the last turn: "), "{tokens}");
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";

/// A model that says how many images came with the messages it was sent.
fn looks(capabilities: &[Capability]) -> (Server, Wisp) {
    let model = Model::new("sim").with_capabilities(capabilities);
    let server = serve(model, |seen: &Seen| {
        let images: usize = seen.messages.iter().map(|message| message.images).sum();
        Reply::text(&format!("I see {images} images."))
    });
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("pic.png"), PNG).unwrap();
    (server, wisp)
}

#[test]
fn an_image_is_sent_to_a_model_that_sees_and_stays_with_its_message() {
    let (server, wisp) = looks(&[Capability::Completion, Capability::Tools, Capability::Vision]);
    let ran = wisp.run(&["chat"], "what is in @pic.png?\nand now?\n/quit\n");
    let seen = "I see 1 images.";
    assert_eq!(ran.text().matches(seen).count(), 2, "{} {}", ran.text(), ran.err);
    let body = server.chats()[0].json.clone().unwrap();
    let message = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(message["images"], json!(["iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"]));
    let text = message["content"].as_str().unwrap();
    assert!(text.starts_with("what is in @pic.png?\n\n[image "), "{text}");
    assert!(text.contains(": pic.png, 24 bytes]"), "{text}");
}

#[test]
fn a_model_that_cannot_see_is_sent_nothing() {
    let (server, wisp) = looks(&[Capability::Completion, Capability::Tools]);
    let ran = wisp.run(&["what is in @pic.png?"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err
            .contains("sim cannot see images, so the message was not sent"),
        "{}",
        ran.err
    );
    assert!(server.chats().is_empty());
}

#[test]
fn what_is_no_image_is_refused_by_name() {
    let (server, wisp) = looks(&[Capability::Completion, Capability::Vision]);
    std::fs::write(wisp.work().join("text.png"), "text").unwrap();
    for (name, why) in [("text.png", "it is no image"), ("none.png", "No such file")] {
        let ran = wisp.run(&[&format!("see @{name}")], "");
        assert!(
            ran.err
                .contains(&format!("@{name} was not sent, nor the message: {why}")),
            "{}",
            ran.err
        );
    }
    assert!(server.chats().is_empty());
}
