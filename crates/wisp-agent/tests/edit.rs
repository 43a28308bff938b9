//! `/edit` and `/retry`: what is sent after going back to an earlier message, and what stays of the old conversation.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect"
)]

mod common;

use common::{Chat, Stage};
use ollama_sim::{Config, Reply, Respond, Seen};
use serde_json::json;
use wisp_agent::protocol::Event;

/// Says how many messages it was sent.
struct Counts;

impl Respond for Counts {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        Ok(Reply::text(&format!("{} messages", seen.messages.len())))
    }
}

fn run(work: impl AsyncFnOnce(Stage)) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    let mut stage = Stage::new(Config::new(Counts), &json!({}));
    stage.saves = true;
    runtime.block_on(work(stage));
}

/// The user's messages of the last request, in order.
fn sent(stage: &Stage) -> Vec<String> {
    let body = stage.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let users = messages.filter(|message| message["role"] == "user");
    users
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

fn notes(chat: &Chat) -> String {
    let notes = chat.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(text.as_str()),
        _ => None,
    });
    notes.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_earlier_message_is_sent_in_other_words_after_what_stood_before_it() {
    run(async |stage| {
        let mut chat = stage.chat().await;
        for text in ["one", "two", "three"] {
            chat.say(text).await;
        }
        chat.say("/edit 2 second").await;
        assert_eq!(sent(&stage), ["one", "second"]);
        assert!(notes(&chat).contains("back to before message 2; the conversation as it was stays saved"));
    });
}

#[test]
fn the_message_that_is_chosen_goes_into_the_box() {
    run(async |mut stage| {
        stage.choose = Some("2".to_owned());
        let mut chat = stage.chat().await;
        chat.say("one").await;
        chat.say("two\nlines").await;
        chat.slash("/edit").await;
        let draft = Event::Draft {
            text: "two\nlines".into(),
        };
        assert!(chat.events.contains(&draft));
        chat.say("else").await;
        assert_eq!(sent(&stage), ["one", "else"]);
    });
}

#[test]
fn the_old_conversation_is_saved_and_can_be_continued() {
    run(async |stage| {
        let mut chat = stage.chat().await;
        chat.say("one").await;
        chat.say("two").await;
        chat.say("/edit 1 first").await;
        assert_eq!(sent(&stage), ["first"]);
        let said = notes(&chat);
        let at = said.find("(/resume ").unwrap() + "(/resume ".len();
        let name = said[at..].split(')').next().unwrap().to_owned();
        chat.slash(&format!("/resume {name}")).await;
        chat.say("three").await;
        assert_eq!(sent(&stage), ["one", "two", "three"]);
    });
}

#[test]
fn it_is_said_when_the_old_conversation_is_not_saved() {
    run(async |mut stage| {
        stage.saves = false;
        let mut chat = stage.chat().await;
        chat.say("one").await;
        chat.say("/edit 1 first").await;
        let said = "back to before message 1; this conversation is not saved: what followed is in the audit log alone";
        assert_eq!(notes(&chat).lines().last(), Some(said));
    });
}

#[test]
fn a_number_that_is_none_changes_nothing() {
    run(async |stage| {
        let mut chat = stage.chat().await;
        chat.slash("/edit").await;
        assert!(notes(&chat).contains("there is no message yet to edit"));
        chat.say("one").await;
        for wrong in ["0", "2", "x", "-1", "18446744073709551616"] {
            chat.slash(&format!("/edit {wrong} y")).await;
            let why = format!("there is no message {wrong}: they are numbered 1 to 1");
            assert!(notes(&chat).contains(&why), "{wrong}");
        }
        chat.say("two").await;
        assert_eq!(sent(&stage), ["one", "two"]);
    });
}

#[test]
fn messages_keep_their_numbers_apart_after_going_back() {
    run(async |stage| {
        let mut chat = stage.chat().await;
        for text in ["one", "two"] {
            chat.say(text).await;
        }
        chat.say("/edit 2 second").await;
        chat.say("/edit 3 third").await;
        assert_eq!(sent(&stage), ["one", "third"]);
    });
}

#[test]
fn only_the_users_own_words_are_retried_and_edited_not_what_was_attached() {
    run(async |stage| {
        stage.write("a.txt", "alpha\n");
        let mut chat = stage.chat().await;
        chat.say("read @a.txt").await;
        let first = sent(&stage).pop().unwrap();
        assert!(first.starts_with("read @a.txt\n\na.txt ("), "{first}");
        chat.say("/retry").await;
        assert_eq!(sent(&stage), [first.clone(), first]);
        stage.write("a.txt", "beta\n");
        chat.say("/retry").await;
        let last = sent(&stage).pop().unwrap();
        assert!(last.contains("beta") && !last.contains("alpha"), "{last}");
    });
}
