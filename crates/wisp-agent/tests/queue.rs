//! What is sent while a turn runs: queued, taken by the turn, given back, answered beside it. A question of the turn holds it
//! still, so that every order here is the same each time.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::{Chat, Stage};
use ollama_sim::{Config, Reply, Respond, Seen};
use serde_json::{Value, json};
use wisp_agent::protocol::{Command, Decision, Event, QueuedLine};

/// Calls a tool for a message with "edit", and talks for everything else.
struct Edits;

impl Respond for Edits {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let edits = seen
            .last()
            .is_some_and(|message| message.content.contains("edit"));
        let call = || {
            Reply::call(
                "edit_file",
                json!({"path": "a.txt", "mode": "write", "content": "two\n"}),
            )
        };
        Ok(if edits { call() } else { Reply::text("Done.") })
    }
}

fn message(text: &str) -> Command {
    Command::Message { text: text.into() }
}

/// A chat whose turn waits for an answer, and the question's id.
async fn asking(stage: &Stage) -> (Chat, String) {
    let mut chat = stage.chat().await;
    let effects = ["approve", "beside"].map(str::to_owned).to_vec();
    let (client, version) = (String::new(), String::new());
    chat.send(Command::Hello {
        effects,
        client,
        version,
    });
    chat.send(message("edit it"));
    loop {
        let event = chat.handle.events.recv().await.unwrap();
        chat.events.push(event.clone());
        if let Event::Approval(approval) = event {
            return (chat, approval.id);
        }
    }
}

fn answer(id: String) -> Command {
    Command::Answer {
        id,
        decision: Decision::Once,
        reason: None,
    }
}

/// Everything up to the status with which nothing waits any more.
async fn rest(chat: &mut Chat) -> Vec<Event> {
    let from = chat.events.len();
    chat.until(|event| matches!(event, Event::Status(status) if status.waiting == 0))
        .await;
    chat.events[from..].to_vec()
}

fn stage() -> Stage {
    let stage = Stage::new(Config::new(Edits), &json!({"approval": {"threshold": "safe"}}));
    stage.write("a.txt", "one\n");
    stage
}

/// The roles and texts of a request, but for its instructions.
fn messages(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap();
    messages[1..]
        .iter()
        .map(|m| (text(&m["role"]), text(&m["content"])))
        .collect()
}

#[tokio::test]
async fn a_line_sent_during_a_turn_waits_is_shown_and_is_taken_at_its_end() {
    let stage = stage();
    let (mut chat, id) = asking(&stage).await;
    chat.send(message("and then?"));
    chat.send(answer(id));
    let events = rest(&mut chat).await;
    let at = |wanted: Event| events.iter().position(|event| *event == wanted).unwrap();
    let line = QueuedLine {
        text: "and then?".into(),
        steers: false,
    };
    let queued = at(Event::Queue { waiting: vec![line] });
    let end = events
        .iter()
        .position(|event| matches!(event, Event::Turn { end: Some(_), .. }));
    let taken = at(Event::Taken {
        text: "and then?".into(),
    });
    assert!(Some(queued) < end && end < Some(taken), "{events:?}");
    assert_eq!(stage.bodies().len(), 3);
}

#[tokio::test]
async fn a_line_that_steers_stands_after_the_result_in_the_next_request_of_the_same_turn() {
    let stage = stage();
    let (mut chat, id) = asking(&stage).await;
    chat.send(message("and then?"));
    chat.send(message("/now be brief"));
    chat.send(answer(id));
    rest(&mut chat).await;
    let bodies = stage.bodies();
    let (first, second) = (messages(&bodies[0]), messages(&bodies[1]));
    assert_eq!(
        second[..first.len()],
        first[..],
        "the request is the last one plus messages"
    );
    let roles: Vec<&str> = second[first.len()..]
        .iter()
        .map(|(role, _)| role.as_str())
        .collect();
    assert_eq!(roles, ["assistant", "tool", "user"]);
    assert_eq!(second.last().unwrap().1, "be brief");
    let prompts: Vec<Value> = stage.audited("prompt");
    let turns: Vec<(&Value, &Value)> = prompts
        .iter()
        .map(|e| (&e["details"]["text"], &e["turn"]))
        .collect();
    assert_eq!(
        turns,
        [
            (&json!("edit it"), &json!(1)),
            (&json!("be brief"), &json!(1)),
            (&json!("and then?"), &json!(2))
        ]
    );
}

#[tokio::test]
async fn a_line_is_taken_back_while_it_waits() {
    let stage = stage();
    let (mut chat, id) = asking(&stage).await;
    chat.send(message("one"));
    chat.send(message("two"));
    chat.send(Command::TakeBack { all: false });
    chat.send(answer(id));
    let events = rest(&mut chat).await;
    let lines = vec!["two".to_owned()];
    assert!(events.contains(&Event::TakenBack { lines }), "{events:?}");
    let prompts: Vec<Value> = stage.audited("prompt");
    let texts: Vec<&Value> = prompts.iter().map(|event| &event["details"]["text"]).collect();
    assert_eq!(texts, [&json!("edit it"), &json!("one")]);
}

#[tokio::test]
async fn commands_that_only_look_are_answered_during_the_turn_and_others_wait() {
    let stage = stage();
    let (mut chat, id) = asking(&stage).await;
    let looks = ["/tokens", "/status", "/ps", "/help", "/outputs", "/inspect next"];
    for line in looks.into_iter().chain(["/inspect", "/new"]) {
        chat.send(message(line));
    }
    let from = chat.events.len();
    let has = |events: &[Event], words: &str| {
        events
            .iter()
            .any(|event| matches!(event, Event::Output { text } if text.contains(words)))
    };
    // `/status` asks the server, so that it may be the last to come.
    let both = |event: &Event| matches!(event, Event::Queue { waiting } if waiting.len() == 2);
    while !(has(&chat.events[from..], "saved as") && chat.events.iter().any(both)) {
        let event = tokio::time::timeout(common::PATIENCE, chat.handle.events.recv()).await;
        chat.events.push(event.unwrap().unwrap());
    }
    let during = chat.events[from..].to_vec();
    for words in [
        "of 32,768 tokens",
        "approvals",
        "nothing runs in the background",
        "/help",
        "loaded with",
        "1, under way",
        "nothing has been printed yet",
    ] {
        assert!(has(&during, words), "{words}: {during:?}");
    }
    assert!(
        during.iter().any(|event| matches!(event, Event::View(_))),
        "/inspect next"
    );
    let waits: Vec<&str> = during
        .iter()
        .filter_map(|event| match event {
            Event::Queue { waiting } => waiting.last().map(|line| line.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(waits, ["/inspect", "/new"], "what writes files waits");
    chat.send(answer(id));
    rest(&mut chat).await;
}

#[tokio::test]
async fn without_a_front_end_that_asks_for_it_every_command_keeps_its_place() {
    let stage = stage();
    let (mut chat, id) = asking(&stage).await;
    let effects = vec!["approve".to_owned()];
    let (client, version) = (String::new(), String::new());
    chat.send(Command::Interrupt);
    drop(id);
    rest(&mut chat).await;
    chat.send(Command::Hello {
        effects,
        client,
        version,
    });
    chat.send(message("edit it"));
    chat.send(message("/tokens"));
    let events = rest(&mut chat).await;
    let end = events
        .iter()
        .position(|event| matches!(event, Event::Turn { end: Some(_), .. }));
    let said = |event: &Event| matches!(event, Event::Output { text } if text.contains("tokens ("));
    assert!(end < events.iter().position(said) && end.is_some(), "{events:?}");
}
