//! Long conversations in a small window, on every server: nothing is sent that does not fit, nothing is condensed twice
//! in a row, and what was said first and forbidden is still there.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out homes"
)]

#[path = "common/talk.rs"]
mod talk;

use std::path::Path;

use ollama_sim::profile::{ALL, V0_5_7, V0_24_0};
use ollama_sim::{Profile, Reply, Seen};
use serde_json::Value;
use talk::{Talk, chats, notes, serve, text_of};
use wisp_agent::protocol::NoteLevel;

const FIRST: &str = "The task: keep the lighthouse log in order.";
const BAN: &str = "Do not touch keeper.txt.";

/// A model that runs a command every fourth turn and otherwise talks for a while.
fn model() -> impl FnMut(&Seen) -> Reply + Send + 'static {
    |seen: &Seen| {
        let last = seen.last().unwrap();
        match last.content.rsplit_once("run: ") {
            Some((_, command)) if last.role == "user" => {
                Reply::call("run_command", serde_json::json!({ "command": command }))
            }
            _ => Reply::text(&"The lamp was lit at dusk and the log says so in so many words. ".repeat(10)),
        }
    }
}

fn prompt(turn: usize) -> String {
    match turn {
        1 => FIRST.to_owned(),
        2 => BAN.to_owned(),
        turn if turn % 4 == 0 => format!("run: seq -f 'watch {turn} entry %g: wind and sea as before' 1 30"),
        turn => format!("What does the log say of watch {turn}, and is it in order?"),
    }
}

/// The turns in which the audit says the context was condensed.
fn condensed(home: &Path) -> Vec<u64> {
    let file = std::fs::read_dir(home.join("wisp/audit")).unwrap().flatten();
    let file = file
        .map(|f| f.path())
        .find(|f| f.extension().is_some_and(|e| e == "jsonl"));
    let text = std::fs::read_to_string(file.unwrap()).unwrap();
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = events.filter(|e| e["kind"] == "context.condensation");
    done.filter_map(|e| e["turn"].as_u64()).collect()
}

async fn holds(profile: Profile, turns: usize, window: u64) {
    let home = tempfile::tempdir().unwrap();
    let server = serve(profile, model());
    let mut talk = Talk::open(home.path(), &server, window, |_| {}).await.unwrap();
    for turn in 1..=turns {
        let events = talk.say(&prompt(turn)).await;
        let failed = notes(&events, NoteLevel::Error);
        assert!(failed.is_empty(), "{} turn {turn}: {failed:?}", profile.name);
    }
    talk.leave().await;
    let chats = chats(&server);
    assert!(chats.len() >= turns);
    for (messages, account) in &chats {
        assert!(
            !account.was_cut() && account.tokens_sent <= window,
            "{} {account:?}",
            profile.name
        );
        let systems = messages.iter().filter(|m| m["role"] == "system").count();
        assert_eq!((systems, &messages[0]["role"]), (1, &Value::from("system")));
    }
    let last = text_of(&chats.last().unwrap().0);
    assert!(
        last.contains(FIRST) && last.contains(BAN),
        "{} {last}",
        profile.name
    );
    let condensed = condensed(home.path());
    assert!(!condensed.is_empty(), "{}", profile.name);
    let apart = condensed.windows(2).all(|pair| pair[1] > pair[0] + 1);
    assert!(apart, "{}: condensed in turns {condensed:?}", profile.name);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_turns_at_8192() {
    holds(V0_24_0, 100, 8192).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_oldest_server_at_5120() {
    holds(V0_5_7, 60, 5120).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_server_at_8192() {
    for profile in ALL {
        holds(profile, 26, 8192).await;
    }
}
