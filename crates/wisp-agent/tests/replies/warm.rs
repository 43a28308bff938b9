//! Warming up: what is sent before the first message, and to whom nothing is.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::time::{Duration, Instant};

use ollama_sim::{Config, Model, Remote, Reply, Script, Step};
use serde_json::{Value, json};
use wisp_agent::protocol::TurnOutcome;

use crate::common::{PATIENCE, Stage};
use crate::settings;

fn hello() -> Script {
    Script::new().step(Step::new(Reply::text("Hi.")).repeated())
}

fn stage(config: Config, settings: &Value) -> Stage {
    Stage {
        warms: true,
        ..Stage::new(config, settings)
    }
}

/// Waits until the server was sent so many chats; their bodies.
async fn chats(stage: &Stage, count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let chats = stage.server.chats();
        if chats.len() >= count || began.elapsed() > PATIENCE {
            return chats.into_iter().filter_map(|chat| chat.json).collect();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_model_reads_what_the_first_message_begins_with_before_it_comes() {
    let stage = stage(Config::new(hello()), &settings());
    let mut chat = stage.chat().await;
    let warmed = chats(&stage, 1).await;
    assert_eq!(warmed.len(), 1);
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    let all = chats(&stage, 2).await;
    let (warm, first) = (&all[0], &all[1]);
    assert_eq!(warm["options"]["num_predict"], 1);
    assert_eq!(warm["messages"].as_array().unwrap().len(), 1);
    assert_eq!(warm["messages"][0]["role"], "system");
    assert_eq!(warm["messages"][0], first["messages"][0]);
    assert_eq!(warm["tools"].to_string(), first["tools"].to_string());
    for same in ["model", "think", "keep_alive", "truncate"] {
        assert_eq!(warm[same], first[same], "{same}");
    }
    assert_eq!(warm["options"]["num_ctx"], first["options"]["num_ctx"]);
    assert_eq!(chat.say("again").await.outcome, TurnOutcome::Ok);
    assert_eq!(stage.server.chats().len(), 3, "it is warmed up once");
}

#[tokio::test]
async fn what_requests_begin_with_is_the_same_in_two_conversations_of_one_directory_and_day() {
    let stage = Stage::new(Config::new(hello()), &settings());
    for _ in 0..2 {
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
        chat.quit().await;
    }
    let bodies: Vec<String> = stage
        .server
        .chats()
        .iter()
        .map(|chat| String::from_utf8(chat.body.clone()).unwrap())
        .collect();
    assert_eq!(bodies.len(), 2);
    let parts = |body: &str| {
        let json: Value = serde_json::from_str(body).unwrap();
        (json["messages"][0].to_string(), json["tools"].to_string())
    };
    assert_eq!(parts(&bodies[0]), parts(&bodies[1]));
}

#[tokio::test]
async fn nothing_is_sent_where_it_is_turned_off_forgotten_at_once_or_runs_elsewhere() {
    let remote = Remote {
        host: "https://ollama.com:443".into(),
        model: "big".into(),
        signed_in: true,
        quota: None,
    };
    let cloud = Model {
        remote: Some(remote),
        ..Model::new("sim")
    };
    let set = |name: &str, value: Value| {
        let mut all = settings();
        all["ollama"][name] = value;
        all
    };
    for (config, settings) in [
        (Config::new(hello()), set("warmUp", json!(false))),
        (Config::new(hello()), set("keepAlive", json!("0"))),
        (Config::new(hello()).models([cloud]), settings()),
    ] {
        let mut stage = stage(config, &settings);
        stage.choose = Some("send".into());
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
        let chats = chats(&stage, 1).await;
        assert_eq!(chats.len(), 1, "{settings}");
        assert_ne!(chats[0]["options"]["num_predict"], 1, "{settings}");
    }
}
