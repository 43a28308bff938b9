//! What the person said, ran or pasted is sent whole as long as it fits, and is kept whole and said when it does not.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::Stage;
use ollama_sim::profile::V0_24_0;
use ollama_sim::{Config, Model, Reply, Seen};
use serde_json::{Value, json};
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

/// A server with a window of 8,192 tokens that refuses what does not fit. Its model asks `memory` for what follows
/// `ask memory: `, or for the same again, and else repeats how much it heard.
fn stage() -> Stage {
    stage_with(&json!({"ollama": {"contextLength": 8192}}))
}

fn stage_with(settings: &Value) -> Stage {
    let mut asked = String::new();
    let rule = move |seen: &Seen| {
        let last = seen.last().unwrap();
        match last.content.rsplit_once("ask memory: ") {
            Some((_, request)) if last.role == "user" => {
                request.trim().clone_into(&mut asked);
                Reply::call("memory", json!({ "request": asked }))
            }
            None if last.content.ends_with("ask the same again") => {
                Reply::call("memory", json!({ "request": asked }))
            }
            _ => Reply::text(&format!("I heard {} bytes.", last.content.len())),
        }
    };
    let model = Model::new("sim").with_context_length(131_072);
    let config = Config::new(rule).models([model]).profile(V0_24_0);
    Stage::new(config, settings)
}

/// Prose of so many bytes.
fn prose(bytes: usize) -> String {
    let mut text =
        "The keeper lit the lamp at dusk and wrote the hour into the log of the tower. ".repeat(bytes / 70);
    text.truncate(bytes);
    text
}

/// What the model was sent last, as one text.
fn last_sent(stage: &Stage) -> String {
    stage.bodies().pop().unwrap()["messages"].to_string()
}

#[tokio::test]
async fn every_line_of_a_command_the_person_ran_is_recalled() {
    let stage = stage();
    let mut chat = stage.chat().await;
    chat.slash("!seq 1 200000").await;
    chat.say("ask memory: recall entry 2 matching 199999").await;
    let sent = last_sent(&stage);
    assert!(sent.contains("(exit status 0, 200,000 lines)"), "{sent}");
    assert!(sent.contains("first line: 1\\nlast line: 200000"), "{sent}");
    let results = stage.audited("tool.result");
    let result = results.last().unwrap()["details"]["output"].as_str().unwrap();
    assert!(result.lines().any(|line| line.ends_with("199999")), "{result}");
    chat.say("ask memory: summarise entry 2").await;
    let results = stage.audited("tool.result");
    let result = results.last().unwrap()["details"]["output"].as_str().unwrap();
    assert!(result.contains("200000"), "{result}");
}

#[tokio::test]
async fn a_command_over_sixteen_kibibytes_that_is_not_kept_ends_in_a_marker() {
    let stage = stage_with(
        &json!({"ollama": {"contextLength": 8192}, "audit": {"enabled": false}, "context": {"memory": "on"}}),
    );
    let mut chat = stage.chat().await;
    chat.slash("!seq 1 200000").await;
    chat.say("ask memory: recall entry 2 from line 300").await;
    let sent = last_sent(&stage);
    assert!(sent.contains("last line: 200000"), "{sent}");
    assert!(
        sent.contains("lines held back") || sent.contains("not kept") || sent.contains("[… "),
        "{sent}"
    );
}

#[tokio::test]
async fn a_large_first_message_is_still_there_in_the_next_turn() {
    let stage = stage();
    let mut chat = stage.chat().await;
    let message = prose(14_000);
    chat.say(&message).await;
    chat.say("and what did I just say?").await;
    assert!(
        last_sent(&stage).contains(&message[..10_000]),
        "{}",
        chat.notes(NoteLevel::Info)
    );
    chat.say("say it once more").await;
    assert!(last_sent(&stage).contains(&message[..10_000]));
    let done = stage.audited("context.condensation");
    assert!(done.is_empty(), "{done:?}");
}

#[tokio::test]
async fn a_message_that_fits_is_sent_whole_after_a_greeting() {
    let stage = stage();
    let mut chat = stage.chat().await;
    chat.say("hello").await;
    let message = prose(16_800);
    let end = chat.say(&message).await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{}", chat.notes(NoteLevel::Error));
    let sent = last_sent(&stage);
    assert!(sent.contains(&message), "the message");
    assert!(sent.contains("\"hello\""), "the turn before it");
}

#[tokio::test]
async fn a_message_over_the_budget_is_held_back_as_standard_input_is() {
    let stage = stage();
    let mut chat = stage.chat().await;
    let pasted = (1..=8000)
        .map(|n| format!("{n} the tide turned\n"))
        .collect::<Vec<_>>()
        .concat();
    let end = chat.say(&format!("What is in this?\n{pasted}")).await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{}", chat.notes(NoteLevel::Error));
    assert_eq!(chat.notes(NoteLevel::Error), "");
    let body = stage.bodies().pop().unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(last.starts_with("Message (8,001 lines, "), "{last}");
    assert!(last.contains("What is in this?\n1 the tide turned\n"), "{last}");
    assert!(last.contains("\n8000 the tide turned\n"), "{last}");
    assert!(last.contains("memory \"recall output "), "{last}");
    let kept = stage.audited("output.kept");
    assert_eq!(kept[0]["details"]["lines"], 8001);
    assert_eq!(kept[0]["details"]["tool"], "message");
}

#[tokio::test]
async fn a_message_the_server_refuses_is_told_with_the_servers_figures() {
    let stage = stage();
    let mut chat = stage.chat().await;
    // Signs that are a token each are far more than any estimate expects of so few bytes.
    let message = "¶ § ¤ ".repeat(2000);
    let end = chat.say(&message).await;
    if end.outcome == TurnOutcome::Error {
        let said = chat.notes(NoteLevel::Error);
        assert!(
            said.contains("the request does not fit the model's context window: about "),
            "{said}"
        );
        assert!(said.contains(" of 8,192 tokens"), "{said}");
        assert!(!said.contains("/new"), "the conversation is new: {said}");
        assert!(said.contains("ollama.contextLength"), "{said}");
    } else {
        panic!("the server took it: {:?}", stage.accounts().last());
    }
    assert_eq!(stage.bodies().len(), 1, "the server is the one that refuses");
}

#[tokio::test]
async fn a_floor_is_recorded_without_steps_and_said() {
    let stage = stage();
    let mut chat = stage.chat().await;
    chat.say(&prose(14_000)).await;
    chat.say(&prose(7000)).await;
    let mut floors: Vec<Value> = stage.audited("context.condensation");
    floors.retain(|event| event["turn"] == 2 && event["details"]["turnsBefore"] == 1);
    assert_eq!(floors.len(), 1, "{floors:?}");
    assert_eq!(floors[0]["details"]["steps"], json!([]));
    assert_eq!(floors[0]["details"]["floor"], true);
    let said = chat.notes(NoteLevel::Warning);
    assert_eq!(
        said.matches("context at its floor: the instructions and the last turn take ")
            .count(),
        1,
        "{said}"
    );
}

#[tokio::test]
async fn outputs_of_another_conversation_are_not_recalled() {
    let stage = stage();
    let mut chat = stage.chat().await;
    chat.slash("!seq 1 9000").await;
    let id = stage.audited("output.kept")[0]["call"].as_str().unwrap()[..8].to_owned();
    chat.say(&format!("ask memory: recall output {id} tail 1")).await;
    let result = stage.audited("tool.result").pop().unwrap()["details"]["output"].to_string();
    assert!(result.contains("9000"), "{result}");
    chat.slash("/new").await;
    // The model has the number from elsewhere: nothing in this conversation names it.
    chat.say("ask the same again").await;
    let result = stage.audited("tool.result").pop().unwrap()["details"]["output"].to_string();
    assert!(
        result.contains(&format!("error: memory: output {id} is not of this conversation")),
        "{result}"
    );
    assert!(!result.contains("9000"), "{result}");
}
