//! `/undo` and `/diff` in a conversation: asked about, put back, and told to the model.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect"
)]

mod common;

use common::Stage;
use ollama_sim::{Config, Reply, Respond, Seen};
use serde_json::json;
use wisp_agent::protocol::{Command, Event};

/// Writes `two` to `a.txt` when it is first asked, then only talks.
struct Edits;

impl Respond for Edits {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let first = seen
            .last()
            .is_some_and(|message| message.content.contains("edit it"));
        Ok(if first {
            Reply::call(
                "edit_file",
                json!({"path": "a.txt", "mode": "write", "content": "two\n"}),
            )
        } else {
            Reply::text("Done.")
        })
    }
}

/// Has `a.txt` edited, undoes it with this answer; the file, the notes, and what the model is sent next.
fn undone(answer: &str) -> (String, Vec<String>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let settings = json!({"approval": {"threshold": "never"}});
        let mut stage = Stage::new(Config::new(Edits), &settings);
        stage.choose = Some(answer.to_owned());
        stage.write("a.txt", "one\n");
        let mut chat = stage.chat().await;
        chat.say("edit it").await;
        chat.send(Command::Message { text: "/undo".into() });
        chat.until(|event| matches!(event, Event::Note { text, .. } if text.contains("undone")))
            .await;
        let now = std::fs::read_to_string(stage.work().join("a.txt")).unwrap();
        chat.say("and now?").await;
        let notes = chat.events.iter().filter_map(|event| match event {
            Event::Note { text, .. } => Some(text.clone()),
            _ => None,
        });
        let body = stage.bodies().pop().unwrap();
        let last = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        (now, notes.collect(), last)
    })
}

#[test]
fn a_yes_puts_the_file_back_and_the_model_is_told_with_the_next_message() {
    let (now, notes, told) = undone("yes");
    assert_eq!(now, "one\n");
    assert!(notes.iter().any(|note| note.starts_with("undone: ")), "{notes:?}");
    assert!(told.contains("the user undid your last edits of "), "{told}");
}

#[test]
fn a_no_leaves_the_file_and_tells_nobody() {
    let (now, notes, told) = undone("no");
    assert_eq!(now, "two\n");
    assert!(notes.iter().any(|note| note == "nothing was undone"), "{notes:?}");
    assert!(!told.contains("undid"), "{told}");
}
