//! What keeps condensations apart: a fifth of the window between where one ends and the next begins. With it no two
//! follow each other while average turns arrive, whatever target is set; without it they do.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out homes"
)]

#[path = "common/talk.rs"]
mod talk;

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Reply, Seen};
use serde_json::{Value, json};
use talk::{Talk, notes, serve};
use wisp_agent::protocol::NoteLevel;

const WINDOW: u64 = 8192;

/// How often a turn condensed right after another, and how often one did at all, in turns of one size.
async fn condensed(margin: Option<f64>, target: f64) -> (usize, usize) {
    let home = tempfile::tempdir().unwrap();
    let reply = "The lamp was lit at dusk and the log says so in so many words. ".repeat(24);
    let server = serve(V0_24_0, move |_: &Seen| Reply::text(&reply));
    let config = json!({
        "model": "sim", "ollama": {"contextLength": WINDOW}, "context": {"target": target},
    });
    let path = home.path().join("wisp/config.json");
    let mut talk = Talk::open(home.path(), &server, WINDOW, |setup| {
        std::fs::write(&path, config.to_string()).unwrap();
        // Whatever umask is set: settings that others can write are refused.
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        setup.margin = margin.unwrap_or(setup.margin);
    })
    .await
    .unwrap();
    for turn in 10..40 {
        let events = talk.say(&format!("What does the log say of watch {turn}?")).await;
        assert_eq!(notes(&events, NoteLevel::Error), Vec::<String>::new());
    }
    talk.leave().await;
    let log = std::fs::read_dir(home.path().join("wisp/audit"))
        .unwrap()
        .flatten();
    let log = log
        .map(|f| f.path())
        .find(|p| p.extension().is_some_and(|e| e == "jsonl"));
    let text = std::fs::read_to_string(log.unwrap()).unwrap();
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done = events.filter(|e| e["kind"] == "context.condensation");
    let turns: Vec<u64> = done.map(|e| e["turn"].as_u64().unwrap()).collect();
    let following = turns.windows(2).filter(|pair| pair[1] <= pair[0] + 1).count();
    (following, turns.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_margin_no_two_condensations_follow_each_other() {
    for target in [0.1, 0.6, 0.8] {
        let (following, all) = condensed(None, target).await;
        assert!(all >= 2, "target {target}: {all}");
        assert_eq!(following, 0, "target {target}: {all} in all");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_margin_they_follow_each_other() {
    let (following, all) = condensed(Some(0.0), 0.8).await;
    assert!(following >= 2, "{following} of {all}");
}
