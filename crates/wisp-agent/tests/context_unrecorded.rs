//! A condensation that the audit cannot take: it is not made, that is said, and the next request is as it was.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read files and fail"
)]

#[path = "common/talk.rs"]
mod talk;

use std::path::Path;

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Reply, Seen, Server};
use serde_json::Value;
use talk::{Talk, chats, notes, serve, text_of};
use wisp_agent::protocol::{Event, NoteLevel};
use wisp_host::faults::{Faults, Step, Times, Watch};

const FULL: i32 = 28;
const TURNS: usize = 6;

fn server() -> Server {
    serve(V0_24_0, |seen: &Seen| {
        let last = &seen.last().unwrap().content;
        Reply::text(&format!("{last}: {}", "the lamp was lit. ".repeat(160)))
    })
}

/// Counts the audit's writes, and refuses the one numbered `at`; 0 refuses none.
fn watch(home: &Path, at: usize) -> Watch {
    let faults = Faults {
        at,
        times: Times::Once,
        error: FULL,
        ..Faults::none(&home.join("wisp/audit"))
    };
    faults.arm()
}

/// The kinds of the events recorded, in order.
fn kinds(home: &Path) -> Vec<String> {
    let files = std::fs::read_dir(home.join("wisp/audit")).unwrap().flatten();
    let events = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    let lines = events.flat_map(|path| {
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    // A floor at which nothing can leave is recorded as a condensation without steps, and makes no room.
    let kind = |line: String| {
        let event: Value = serde_json::from_str(&line).unwrap();
        let idle = event["details"]["steps"].as_array().is_some_and(Vec::is_empty);
        if idle {
            return "floor".to_owned();
        }
        event["kind"].as_str().unwrap().to_owned()
    };
    lines.map(kind).collect()
}

/// Six turns in a window of 4,096 tokens, the write numbered `at` refused; what came of each.
async fn conversation(home: &Path, server: &Server, at: usize) -> (Vec<Vec<Event>>, usize) {
    let mut talk = Talk::open(home, server, 4096, |setup| {
        setup.saving.name = Some("work".to_owned());
    })
    .await
    .unwrap();
    let before = kinds(home).len();
    let watch = watch(home, at);
    let mut turns = Vec::new();
    for number in 0..TURNS {
        turns.push(talk.say(&format!("message {number}")).await);
    }
    // What is done after the last turn, nobody waiting, is told before the next answer.
    turns.push(talk.say("/tokens").await);
    let writes = watch
        .steps()
        .iter()
        .filter(|(step, _)| *step == Step::Write)
        .count();
    assert_eq!((watch.has_failed(), writes > 0), (at > 0, true));
    drop(watch);
    talk.leave().await;
    (turns, before)
}

/// How often room was made, as the person was told.
fn rooms(turn: &[Event]) -> usize {
    let told = notes(turn, NoteLevel::Info);
    told.iter().filter(|note| note.starts_with("made room")).count()
}

fn made_room(turn: &[Event]) -> bool {
    rooms(turn) > 0
}

#[tokio::test]
async fn what_the_audit_cannot_take_is_not_condensed_and_is_said() {
    let (usual, home) = (server(), tempfile::tempdir().unwrap());
    let (turns, before) = conversation(home.path(), &usual, 0).await;
    let kinds = kinds(home.path());
    let at = kinds
        .iter()
        .position(|kind| kind == "context.condensation")
        .unwrap()
        + 1
        - before;
    let due = turns.iter().position(|turn| made_room(turn)).unwrap();
    assert!(due + 1 < TURNS, "{due}");

    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let (turns, _) = conversation(home.path(), &server, at).await;
    let told: Vec<_> = turns
        .iter()
        .map(|turn| notes(turn, NoteLevel::Warning).concat() + &notes(turn, NoteLevel::Error).concat())
        .collect();
    let refused = told
        .iter()
        .position(|told| told.contains("the audit cannot be written"))
        .unwrap();
    assert_eq!(refused, due, "{told:?}");
    assert!(!made_room(&turns[due]), "{told:?}");
    // What was to leave is there until a later condensation is recorded, which is then made.
    let later = turns[due + 1..].iter().position(|turn| made_room(turn));
    assert!(later.is_some(), "{told:?}");
    let requests = chats(&server);
    assert!(
        text_of(&requests[due].0).contains("message 0: the lamp"),
        "nothing has left"
    );
    assert_eq!(kinds_of(home.path(), "context.condensation"), told_in(&turns));
}

fn kinds_of(home: &Path, kind: &str) -> usize {
    kinds(home).iter().filter(|each| *each == kind).count()
}

fn told_in(turns: &[Vec<Event>]) -> usize {
    turns.iter().map(|turn| rooms(turn)).sum()
}
