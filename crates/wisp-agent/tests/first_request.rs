//! What a first request has beside the message: short enough for a slow machine, whatever is offered.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::Stage;
use ollama_sim::{Config, Reply, Respond, Seen};
use serde_json::{Value, json};

/// Says a word, whatever it is told.
struct Brief;

impl Respond for Brief {
    fn respond(&mut self, _: &Seen) -> Result<Reply, String> {
        Ok(Reply::text("Hello."))
    }
}

/// The first request of a conversation with these settings, and the names of the tools in it.
fn first(settings: &Value) -> (Value, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stage = Stage::new(Config::new(Brief), settings);
        let mut chat = stage.chat().await;
        chat.say("hello").await;
        let body = stage.bodies().remove(0);
        let tools = body["tools"].as_array().unwrap().iter();
        let names = tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned());
        let names = names.collect();
        (body, names)
    })
}

#[test]
fn a_first_request_is_below_six_kib_with_the_tools_that_search() {
    let (body, names) = first(&json!({"ollama": {"contextLength": 8_192}}));
    let bytes = body.to_string().len();
    assert!(bytes < 6 * 1024, "{bytes} bytes");
    assert!(names.contains(&"find_files".to_owned()), "{names:?}");
    assert!(names.contains(&"search_text".to_owned()), "{names:?}");
}

#[test]
fn a_first_request_with_memory_is_below_six_kib_whether_or_not_there_is_room_for_them() {
    let (body, names) = first(&json!({"ollama": {"contextLength": 32_768}}));
    let bytes = body.to_string().len();
    assert!(bytes < 6 * 1024, "{bytes} bytes");
    assert!(names.contains(&"memory".to_owned()), "{names:?}");
}

#[test]
fn in_a_small_window_the_tools_that_search_are_not_offered() {
    let (_, names) = first(&json!({"ollama": {"contextLength": 4_096}}));
    assert!(!names.contains(&"find_files".to_owned()), "{names:?}");
    assert!(!names.contains(&"search_text".to_owned()), "{names:?}");
    assert!(names.contains(&"run_command".to_owned()), "{names:?}");
}

#[test]
fn tools_of_the_users_own_go_before_those_that_search() {
    let tool = |n: usize| {
        json!({
            "name": format!("own_{n}"), "description": "x".repeat(300), "command": "true",
        })
    };
    let tools: Vec<Value> = (0..6).map(tool).collect();
    let (_, names) = first(&json!({"tools": {"custom": tools}}));
    assert!(names.contains(&"own_5".to_owned()), "{names:?}");
    assert!(!names.contains(&"find_files".to_owned()), "{names:?}");
    assert!(!names.contains(&"search_text".to_owned()), "{names:?}");
    assert!(names.contains(&"read_file".to_owned()), "{names:?}");
}

#[test]
fn tools_that_search_are_left_out_by_a_setting() {
    let (_, names) = first(&json!({"tools": {"disabled": ["find_files", "search_text"]}}));
    assert!(
        !names
            .iter()
            .any(|name| name.contains("find") || name.contains("search")),
        "{names:?}"
    );
}
