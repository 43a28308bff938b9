//! Conversations that are continued: of this directory, by the beginning of a name, from within another; named, found
//! by their words, compacted, begun with a prompt. And the record of one that is followed while it is written.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests make directories and stop at what they do not expect"
)]

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, calls, cells, notes, outcome, serve};

const PATIENCE: Duration = Duration::from_secs(40);

/// A model that says how many messages it was sent.
fn counts() -> Server {
    serve(Model::new("sim"), |seen: &Seen| {
        Reply::text(&format!("I see {} messages.", seen.messages.len()))
    })
}

fn talk(wisp: &Wisp, more: &[&str]) -> Talk {
    let mut talk = Talk::start(wisp, more, PATIENCE);
    talk.until("wish for a line", |e| e["type"] == "status");
    talk
}

/// Enters a slash command and reads on until the next line is wished for.
fn command(talk: &mut Talk, text: &str) -> Vec<Value> {
    let from = talk.seen.len();
    talk.send(&json!({"type": "message", "text": text}));
    talk.until("wish for a line", |e| e["type"] == "status");
    talk.seen[from..].to_vec()
}

/// What slash commands printed among events.
fn lines(events: &[Value]) -> Vec<String> {
    let output = events.iter().filter(|event| event["type"] == "output");
    output
        .map(|event| event["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn continue_takes_the_last_conversation_of_this_directory() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let other = wisp.work().join("other");
    std::fs::create_dir(&other).unwrap();
    wisp.run(&["chat", "--save", "here"], "one\n/quit\n");
    let mut there = wisp.command(&["chat", "--save", "there"]);
    there.current_dir(&other);
    wisp.run_command(there, "two\n/quit\n");
    let ran = wisp.run(&["chat", "-c"], "and?\n/quit\n");
    assert!(ran.err.contains("going on with here: 1 turn"), "{}", ran.err);
    assert!(ran.text().contains("I see 4 messages."), "{}", ran.text());
    std::fs::create_dir(wisp.work().join("third")).unwrap();
    let mut third = wisp.command(&["chat", "--continue"]);
    third.current_dir(wisp.work().join("third"));
    let ran = wisp.run_command(third, "");
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    assert!(ran.err.contains("third is saved yet"), "{}", ran.err);
}

#[test]
fn a_conversation_is_continued_by_the_beginning_of_its_name_or_id() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.run(&["chat"], "one\n/quit\n");
    wisp.run(&["chat", "--save", "parser-fix"], "two\n/quit\n");
    wisp.run(&["chat", "--save", "parser-docs"], "three\n/quit\n");
    let rows = cells(&wisp.run(&["threads"], "").text());
    let session = rows
        .iter()
        .map(|row| row[0].clone())
        .find(|name| name.starts_with("20"))
        .unwrap();
    for (given, name) in [
        ("parser-f", "parser-fix"),
        (&session[16..21], &session),
        (&session[..20], &session),
    ] {
        let ran = wisp.run(&["chat", "--resume", given], "/quit\n");
        assert!(
            ran.err.contains(&format!("going on with {name}: ")),
            "{given}: {}",
            ran.err
        );
    }
    let ran = wisp.run(&["chat", "--resume", "parser"], "");
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    for name in ["parser-fix", "parser-docs", "give more of its name"] {
        assert!(ran.err.contains(name), "{name}: {}", ran.err);
    }
}

#[test]
fn resume_within_a_chat_lists_the_others_and_continues_one() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--save", "first"], "Fix the parser\n/quit\n");
    let mut talk = talk(&wisp, &[]);
    talk.say("now for something else");
    let events = command(&mut talk, "/resume first");
    assert!(
        notes(&events, "info")
            .iter()
            .any(|note| note.contains("going on with first: 1 turn")),
        "{events:?}"
    );
    let shown = lines(&events);
    assert_eq!(shown, ["> Fix the parser", "  I see 2 messages."]);
    let events = talk.say("and?");
    assert_eq!(outcome(&events), "ok");
    let deltas = events.iter().filter(|event| event["type"] == "delta");
    let said: String = deltas.map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(said, "I see 4 messages.");
    let events = command(&mut talk, "/resume first");
    assert!(
        notes(&events, "error")[0].contains("first is this conversation"),
        "{events:?}"
    );
    let events = command(&mut talk, "/resume nothing");
    assert!(
        notes(&events, "error")[0].contains("no conversation is saved as nothing"),
        "{events:?}"
    );
}

#[test]
fn where_nobody_can_choose_resume_prints_the_list() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--save", "first"], "Fix the parser\n/quit\n");
    let ran = wisp.chat(&["/resume"]);
    let text = ran.text();
    assert!(
        text.contains("first") && text.contains("Fix the parser") && text.contains("work"),
        "{text}"
    );
}

#[test]
fn a_name_may_have_several_words() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.chat(&["one", "/name fix the parser"]);
    let ran = wisp.run(&["chat", "--resume", "fix-the-parser"], "/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn words_are_found_in_all_conversations_with_their_turns() {
    let server = calls("run_command", json!({"command": "echo a Heron stands"}));
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--save", "birds", "--yes"], "look\n/quit\n");
    wisp.run(&["chat", "--save", "boats", "--yes"], "of rowing\n/quit\n");
    let rows = cells(&wisp.run(&["threads", "--search", "ROWING"], "").text());
    assert_eq!(rows, [["boats", "1", "of rowing"]]);
    let rows = cells(&wisp.run(&["threads", "--search", "heron stands"], "").text());
    assert!(
        rows.iter().any(|row| row[0] == "birds") && rows.iter().any(|row| row[0] == "boats"),
        "{rows:?}"
    );
    let found: Value =
        serde_json::from_str(&wisp.run(&["threads", "--search", "rowing", "--json"], "").text()).unwrap();
    assert_eq!(found, json!([{"name": "boats", "turn": 1, "line": "of rowing"}]));
    let ran = wisp.run(&["threads", "--search", "absent"], "");
    assert_eq!((ran.text().as_str(), ran.code), ("", Some(0)));
    assert!(ran.err.contains("no conversation has absent"), "{}", ran.err);
    assert_eq!(wisp.run(&["threads", "--search", " "], "").code, Some(64));
}

#[test]
fn compact_makes_room_when_asked_and_says_when_there_is_none_to_make() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let mut talk = talk(&wisp, &[]);
    assert!(lines(&command(&mut talk, "/compact"))[0].contains("there is nothing to compact"));
    for _ in 0..6 {
        talk.say(&"a long story of herons and boats ".repeat(40));
    }
    let events = command(&mut talk, "/compact");
    assert!(
        notes(&events, "info").iter().any(|note| note.contains(" % ")),
        "{events:?}"
    );
    let events = command(&mut talk, "/compact the parser");
    assert!(
        notes(&events, "error")[0].contains("takes no focus"),
        "{events:?}"
    );
}

#[test]
fn a_chat_begins_with_the_prompt_of_its_command_line() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["chat", "hello", "there"], "again\n/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.text().contains("I see 2 messages.") && ran.text().contains("I see 4 messages."),
        "{}",
        ran.text()
    );
    let body = server.chats()[0].json.clone().unwrap();
    assert_eq!(body["messages"][1]["content"], "hello there");
}

#[test]
fn several_kinds_and_one_tool_choose_what_the_log_shows() {
    let server = calls("run_command", json!({"command": "echo 1"}));
    let wisp = Wisp::with(&server);
    wisp.run(&["--yes", "go"], "");
    let kinds = |args: &[&str]| -> Vec<String> {
        let ran = wisp.run(&[&["logs"], args].concat(), "");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        cells(&ran.text()).into_iter().map(|row| row[2].clone()).collect()
    };
    assert_eq!(
        kinds(&["--kind", "prompt", "--kind", "tool.call"]),
        ["prompt", "tool.call"]
    );
    assert_eq!(kinds(&["--kind", "prompt,tool.call"]), ["prompt", "tool.call"]);
    let of_tool = kinds(&["--tool", "run_command"]);
    assert!(
        of_tool.contains(&"tool.call".to_owned()) && of_tool.contains(&"tool.result".to_owned()),
        "{of_tool:?}"
    );
    assert!(!of_tool.contains(&"prompt".to_owned()), "{of_tool:?}");
    assert_eq!(kinds(&["--tool", "read_file"]), Vec::<String>::new());
    assert_eq!(wisp.run(&["logs", "--kind", "promt"], "").code, Some(64));
}

#[test]
fn a_log_is_followed_until_its_session_ends() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let mut talk = talk(&wisp, &[]);
    talk.say("one");
    let mut command = wisp.command(&["logs", "--follow", "--kind", "prompt", "--kind", "session"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut rows = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let kind = |row: String| row.split('\t').nth(2).unwrap().to_owned();
    assert_eq!(kind(rows.next().unwrap()), "session.start");
    assert_eq!(kind(rows.next().unwrap()), "prompt");
    talk.say("two");
    assert_eq!(kind(rows.next().unwrap()), "prompt");
    talk.leave();
    let last: Vec<String> = rows.map(kind).collect();
    assert_eq!(last, ["session.end"]);
    assert!(child.wait().unwrap().success());
    // A session that is over is not waited for.
    let ran = wisp.run(&["logs", "--follow", "--last", "1"], "");
    assert_eq!(
        (ran.code, ran.text().lines().count()),
        (Some(0), 1),
        "{}",
        ran.err
    );
}
