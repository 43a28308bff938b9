//! What the model keeps with `memory`, and what it reads back with it: the task, a note, what was said and what was
//! printed, when all of it has left the context, and when the conversation is gone on with.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, notes, outcome, serve};

const PATIENCE: Duration = Duration::from_secs(40);
const FIRST: &str = "The rates are in /srv/billing/rates.toml, and “nobody” may\n\tedit them by hand.";
const PRINTED: &str = "checksum 7741093 of 漢字.txt";

/// Calls `memory` or runs a command when told to, else answers in few words.
fn model(seen: &Seen) -> Reply {
    let last = seen.last().unwrap();
    let asked = seen.last_of("user").map_or("", |m| m.content.as_str());
    match (
        last.role.as_str(),
        asked.rsplit_once("memory: "),
        asked.rsplit_once("run: "),
    ) {
        ("user", Some((_, request)), _) => Reply::call("memory", json!({ "request": request })),
        ("user", _, Some((_, command))) => Reply::call("run_command", json!({ "command": command })),
        _ => Reply::text("It is as it was."),
    }
}

fn talk(wisp: &Wisp, more: &[&str]) -> Talk {
    let mut talk = Talk::start(wisp, &[&["--yes"], more].concat(), PATIENCE);
    talk.until("wish for a line", |e| e["type"] == "status");
    talk
}

/// The messages of the last request.
fn last(server: &Server) -> Vec<Value> {
    let body = server.chats().pop().unwrap().json.unwrap();
    body["messages"].as_array().unwrap().clone()
}

/// What `memory` answers to a request.
fn asks(talk: &mut Talk, server: &Server, request: &str) -> String {
    let events = talk.say(&format!("memory: {request}"));
    assert_eq!(outcome(&events), "ok", "{request}: {:?}", notes(&events, "error"));
    let messages = last(server);
    let answer = messages.last().unwrap();
    assert_eq!(answer["role"], "tool", "{request}: {answer}");
    let numbered = |line: &str| {
        line.split_once(": ")
            .filter(|(n, _)| n.parse::<u32>().is_ok())
            .map(|(_, text)| text.to_owned())
    };
    let text = answer["content"].as_str().unwrap();
    // The numbers of lines in a page are not part of what was kept.
    let boundary = |line: &&str| line.starts_with("<output-") || line.starts_with("</output-");
    let lines = text
        .lines()
        .filter(|line| !boundary(line))
        .map(|line| numbered(line).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

/// The number of the entry whose text begins so, by the earlier block of the last request.
fn entry_of(server: &Server, words: &str) -> String {
    let text = Value::from(last(server)).to_string();
    let line = text
        .split("\\n- ")
        .find(|line| line.contains(words))
        .unwrap_or_else(|| unreachable!("{text}"));
    let number = line.split_once("entry ").unwrap().1;
    number.chars().take_while(char::is_ascii_digit).collect()
}

/// Everything that was kept is brought back as it was; `before` times it was asked for already.
fn all_is_there(talk: &mut Talk, server: &Server, before: usize) {
    let purpose = "task: port the billing service; objective: all tests pass — from model, noted";
    for request in ["task", "recall task", "recall the task"] {
        let answer = asks(talk, server, request);
        assert!(
            answer.contains(purpose) && answer.contains(FIRST),
            "{request}: {answer}"
        );
    }
    // The task stands before the request too.
    let request = last(server);
    let prompt = request.iter().rev().find(|m| m["role"] == "user").unwrap();
    assert!(prompt["content"].as_str().unwrap().contains(purpose), "{prompt}");
    let answer = asks(talk, server, "recall codename");
    assert!(answer.contains("BLUE HERON"), "{answer}");
    let answer = asks(talk, server, "recall BLUE HERON");
    assert!(answer.contains("codename"), "{answer}");
    let number = entry_of(server, "The rates are in");
    for request in [
        format!("recall entry {number}"),
        format!("recall {number}"),
        format!("Recall the entry #{number}."),
    ] {
        let answer = asks(talk, server, &request);
        assert!(answer.contains(FIRST), "{request}: {answer}");
    }
    let printed = asks(talk, server, "recall checksum");
    let own = printed.matches("{\"request\":\"recall checksum\"}").count();
    assert_eq!(own, before, "what it asks just now is no news: {printed}");
    let printed_as = format!("line 3: {PRINTED}");
    let found = printed.lines().find(|line| line.ends_with(&printed_as));
    let number = found
        .unwrap_or_else(|| unreachable!("{printed}"))
        .split(' ')
        .nth(1)
        .unwrap();
    assert!(printed.contains(PRINTED), "{printed}");
    let whole = asks(talk, server, &format!("recall entry {number}"));
    assert!(whole.contains(PRINTED), "{whole}");
    let turn = asks(talk, server, "recall turn 1");
    assert!(turn.contains(FIRST), "{turn}");
    let nothing = asks(talk, server, "recall entry 9000");
    assert!(
        nothing.contains("there is no entry 9000; entries go from 2 to "),
        "{nothing}"
    );
}

#[test]
fn what_the_model_keeps_comes_back_exactly_after_condensing_and_after_going_on() {
    let server = serve(Model::new("sim"), model);
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({
        "model": "sim", "ollama": {"contextLength": 6144}, "context": {"memory": "on"},
    }));
    let mut first = talk(&wisp, &["--save", "work"]);
    assert_eq!(outcome(&first.say(FIRST)), "ok");
    let noted = asks(&mut first, &server, "note entity codename = BLUE HERON");
    assert_eq!(noted, "noted: entity codename = BLUE HERON");
    let noted = asks(
        &mut first,
        &server,
        "task port the billing service; objective: all tests pass",
    );
    assert_eq!(
        noted,
        "noted: task: port the billing service; objective: all tests pass — from model, noted"
    );
    assert_eq!(outcome(&first.say(&format!("run: echo '{PRINTED}'"))), "ok");
    let mut more = 0;
    let told = |server: &Server| Value::from(last(server)).to_string();
    // The task, the note and the output are of the first four turns.
    let gone = |text: &str| {
        let (_, last) = text.split_once("turns 1–")?;
        last.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse::<u32>()
            .ok()
    };
    while gone(&told(&server)).is_none_or(|last| last < 4) {
        more += 1;
        assert!(more < 20, "they never leave: {}", told(&server));
        first.say(&format!(
            "And what of part {more}? {}",
            "It is a long way to go there. ".repeat(70)
        ));
    }
    all_is_there(&mut first, &server, 0);
    first.leave();
    let mut second = talk(&wisp, &["--resume", "work"]);
    second.say("Are you there?");
    all_is_there(&mut second, &server, 1);
    second.leave();
}
