//! The requests of a recorded conversation, byte for byte: twenty turns in a window of 8,192 tokens, with calls, failures,
//! repeats and condensations on the way. For changes that are to leave requests as they are: record before it with
//! `WISP_WRITE_RECORDING=1 cargo test -p wisp-agent --test recorded_requests -- --ignored`, and compare after it without the
//! variable. Not part of every run, because each word of a tool's description is in it and moves where it condenses.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads and writes its recording"
)]

#[path = "common/mod.rs"]
mod common;

use std::fmt::Write as _;

use common::Stage;
use ollama_sim::profile::V0_24_0;
use ollama_sim::{Config, Reply, Seen};
use serde_json::json;
use sha2::{Digest as _, Sha256};

const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded_requests.txt");

/// What the model does, by the last line it was told.
fn rule(seen: &Seen) -> Reply {
    let last = seen.last().unwrap();
    let asked = seen
        .last_of("user")
        .map_or("", |m| m.content.lines().next().unwrap_or_default());
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    if last.content.contains("Your last reply was empty") {
        return Reply::text("Now I have something to say.");
    }
    match last.content.lines().next().unwrap_or_default() {
        "say nothing" => Reply::text(""),
        "read it over and over" => read("one.txt"),
        line if last.role == "user" && line.starts_with("read ") => read(line[5..].trim()),
        _ if last.role == "tool" && asked == "read it over and over" => read("one.txt"),
        _ => Reply::text(&format!(
            "I was told {} bytes. {}",
            last.content.len(),
            "So it is. ".repeat(30)
        )),
    }
}

/// What is said, turn by turn.
const SAID: [&str; 20] = [
    "hello",
    "read one.txt",
    "read two.txt",
    "and what does that mean?",
    "say nothing",
    "read missing.txt",
    "read three.txt",
    "read it over and over",
    "go on without it",
    "read two.txt",
    "read one.txt",
    "read it over and over",
    "which was the longest?",
    "read two.txt",
    "read three.txt",
    "thank you",
    "read one.txt",
    "read missing.txt",
    "read two.txt",
    "that is all",
];

/// A body without what differs from run to run and from machine to machine: the folder, the system's name, and the
/// random marks around results.
fn steady(body: &str, folder: &str) -> String {
    let body = body.replace(folder, "/work");
    let system = regex::Regex::new(r"computer \([^,]+,").unwrap();
    let body = system.replace_all(&body, "computer (a system,");
    let marks = regex::Regex::new("output-[0-9a-z]+").unwrap();
    marks.replace_all(&body, "output-mark").into_owned()
}

#[tokio::test]
#[ignore = "each word of a tool's description changes it: for changes that are to leave requests alone"]
async fn a_recorded_conversation_sends_its_requests_byte_for_byte() {
    let config = Config::new(rule).profile(V0_24_0);
    let stage = Stage::new(config, &json!({"ollama": {"contextLength": 8192}}));
    let lines = |name: &str, count: u32| {
        (1..=count).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "{name} line {n} of {count}, which says a little");
            text
        })
    };
    stage.write("one.txt", &lines("one", 40));
    stage.write("two.txt", &lines("two", 400));
    stage.write("three.txt", &lines("three", 90));
    let mut chat = stage.chat().await;
    for said in SAID {
        chat.say(said).await;
    }
    chat.quit().await;
    let condensed = stage.audited("context.condensation");
    assert!(!condensed.is_empty(), "the recording has condensations in it");
    let mut recorded = String::new();
    let folder = stage.work().display().to_string();
    for (at, body) in stage.bodies().iter().enumerate() {
        let text = steady(&body.to_string(), &folder);
        let messages = body["messages"].as_array().unwrap().len();
        let hash = base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()));
        let _ = writeln!(recorded, "{} {messages} {} {hash}", at + 1, text.len());
    }
    if std::env::var_os("WISP_WRITE_RECORDING").is_some() {
        std::fs::write(RECORDING, &recorded).unwrap();
    }
    assert_eq!(recorded, common::read(RECORDING.as_ref()));
}
