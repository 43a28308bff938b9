//! Small models are guided: each reply is held to a schema, an action becomes an ordinary call, an answer is text.

mod common;

use common::Stage;
use ollama_sim::{Config, End, Model, Reply, Respond, Script, Seen};
use serde_json::{Value, json};
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

/// A stage with a model of 1.5 billion parameters that replies with these texts, one a request.
fn stage(replies: &[&str], settings: &Value) -> Stage {
    let script = replies
        .iter()
        .fold(Script::new(), |script, text| script.reply(Reply::text(text)));
    let config = Config::new(script).models([Model::new("sim").with_parameters(1_543_714_304)]);
    Stage::new(config, settings)
}

fn window() -> Value {
    json!({"ollama": {"contextLength": 8192}})
}

const READ: &str = "{\n  \"action\": \"read\",\n  \"path\": \"settings.ini\"\n}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_runs_as_an_ordinary_call_and_the_answer_is_text() {
    let answer = "{\"action\": \"answer\", \"text\": \"The port is \\\"8173\\\".\"}";
    let stage = stage(&[READ, answer], &window());
    stage.write("settings.ini", "port = 8173\n");
    let mut chat = stage.chat().await;
    let end = chat.say("Which port is in settings.ini?").await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{:?}", chat.events);
    assert_eq!(chat.reply(), "The port is \"8173\".");

    let calls = stage.audited("tool.call");
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (&calls[0]["details"]["tool"], &calls[0]["details"]["arguments"]),
        (&json!("read_file"), &json!({"path": "settings.ini"}))
    );
    assert_eq!(stage.audited("tool.result").len(), 1);
    let responses = stage.audited("response");
    assert_eq!(responses[0]["details"]["text"], READ);
    assert_eq!(responses[1]["details"]["text"], "The port is \"8173\".");

    let bodies = stage.bodies();
    assert_eq!(bodies.len(), 2);
    for body in &bodies {
        assert!(
            body["format"]["oneOf"].is_array() && body.get("tools").is_none(),
            "{body}"
        );
        assert_eq!(body["options"]["temperature"], 0.0);
    }
    let messages = bodies[1]["messages"].as_array().expect("messages");
    let first = bodies[0]["messages"].as_array().expect("messages");
    assert_eq!(&messages[..first.len()], &first[..], "the prefix stays");
    let system = messages[0]["content"].as_str().expect("text");
    assert!(
        system.starts_with("You are wisp, an assistant that works in the folder /"),
        "{system}"
    );
    assert!(system.contains("Thursday 2026-01-01"), "{system}");
    assert_eq!(
        messages[1]["content"],
        "Which port is in settings.ini?\n\n(Files here: settings.ini)"
    );
    assert_eq!(messages[2], json!({"role": "assistant", "content": READ}));
    let result = messages[3]["content"].as_str().expect("text");
    assert_eq!(messages[3]["role"], "user");
    assert!(
        result.starts_with("Result of read:\n") && result.contains("port = 8173"),
        "{result}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_stays_in_the_history_as_it_was_written() {
    let answer = "{ \"action\": \"answer\",\n  \"text\": \"Hello.\" }";
    let stage = stage(
        &[answer, "{\"action\": \"answer\", \"text\": \"Bye.\"}"],
        &window(),
    );
    let mut chat = stage.chat().await;
    chat.say("hi").await;
    chat.say("and goodbye").await;
    let bodies = stage.bodies();
    assert_eq!(
        bodies[1]["messages"][2],
        json!({"role": "assistant", "content": answer})
    );
    assert_eq!(chat.reply(), "Hello.Bye.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_change_that_was_asked_for_is_refused_once_and_the_change_is_told() {
    let stage = stage(
        &[
            "{\"action\": \"answer\", \"text\": \"Done.\"}",
            "{\"action\": \"append\", \"path\": \"todo.md\", \"text\": \"- buy rope\"}",
            "{\"action\": \"answer\", \"text\": \"It is added.\"}",
        ],
        &json!({"ollama": {"contextLength": 8192}, "approval": {"mode": "edit"}}),
    );
    stage.write("todo.md", "# To do\n");
    let mut chat = stage.chat().await;
    let end = chat.say("Append \"- buy rope\" to todo.md.").await;
    assert_eq!(end.outcome, TurnOutcome::Ok);
    assert_eq!(
        common::read(&stage.work().join("todo.md")),
        "# To do\n- buy rope\n"
    );
    let bodies = stage.bodies();
    let asked = bodies[1]["messages"][1]["content"].as_str().expect("text");
    assert!(
        asked.ends_with("No file has been changed yet. Make the change with an action, then answer."),
        "{asked}"
    );
    let told = bodies[2]["messages"][3]["content"].as_str().expect("text");
    assert!(told.contains("todo.md changed:\n+- buy rope"), "{told}");
    assert_eq!(stage.audited("file.write").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_look_twice_is_not_run_and_then_only_the_answer_is_offered() {
    let list = "{\"action\": \"run\", \"command\": \"ls\"}";
    let stage = stage(
        &[list, list, "{\"action\": \"answer\", \"text\": \"Nothing.\"}"],
        &window(),
    );
    let mut chat = stage.chat().await;
    chat.say("What is here?").await;
    assert_eq!(stage.audited("command.outcome").len(), 1);
    let bodies = stage.bodies();
    assert_eq!(bodies[2]["format"]["oneOf"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        bodies[2]["format"]["oneOf"][0]["properties"]["action"]["const"],
        "answer"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_was_cut_inside_an_action_is_not_run_and_asked_for_again() {
    let script = Script::new()
        .reply(Reply::text("{\"action\": \"run\", \"command\": \"rm -rf").ending(End::Length))
        .reply(Reply::text("{\"action\": \"answer\", \"text\": \"No.\"}"));
    let config = Config::new(script).models([Model::new("sim").with_parameters(1_543_714_304)]);
    let stage = Stage::new(config, &window());
    let mut chat = stage.chat().await;
    let end = chat.say("hi").await;
    assert_eq!(end.outcome, TurnOutcome::Ok);
    assert!(stage.audited("tool.call").is_empty());
    assert_eq!(chat.reply(), "No.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_refuses_the_schema_gets_a_plainer_one_and_then_none() {
    let refused = "{\"error\": \"Failed to create new sequence: unable to create sampling context\\n\"}";
    let refusal = || Reply::foreign(500, Some("application/json"), refused);
    let script = Script::new()
        .reply(refusal())
        .reply(refusal())
        .reply(Reply::text("Hello."));
    let config = Config::new(script).models([Model::new("sim").with_parameters(1_543_714_304)]);
    let stage = Stage::new(config, &window());
    stage.write("a.txt", "x\n");
    let mut chat = stage.chat().await;
    let end = chat.say("hi").await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{:?}", chat.events);
    let bodies = stage.bodies();
    assert!(bodies[0]["format"].to_string().contains("\"enum\""));
    assert!(!bodies[1]["format"].to_string().contains("\"enum\""));
    assert!(bodies[2].get("format").is_none() && bodies[2]["tools"].is_array());
    assert!(
        chat.notes(NoteLevel::Warning)
            .contains("cannot hold sim to a schema")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_says_how_a_model_calls_and_a_large_one_calls_itself() {
    for (count, settings, guided) in [
        (
            1_500_000_000,
            json!({"models": {"calls": {"sim": "native"}}}),
            false,
        ),
        (
            1_500_000_000,
            json!({"models": {"sim": {"calls": "native"}}}),
            false,
        ),
        (
            8_000_000_000,
            json!({"models": {"sim": {"calls": "guided"}}}),
            true,
        ),
        (8_000_000_000, json!({}), false),
    ] {
        let script = Script::new().reply(Reply::text("{\"action\": \"answer\", \"text\": \"Hi.\"}"));
        let config = Config::new(script).models([Model::new("sim").with_parameters(count)]);
        let stage = Stage::new(config, &settings);
        let mut chat = stage.chat().await;
        chat.say("hi").await;
        let body = &stage.bodies()[0];
        assert_eq!(body.get("format").is_some(), guided, "{count} {settings}");
        assert_eq!(body.get("tools").is_some(), !guided, "{count} {settings}");
    }
}

/// Runs a long command, pages what was held back of it as its note says, and answers.
struct Pages;

impl Respond for Pages {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let text = seen.last().map(|last| last.content.clone()).unwrap_or_default();
        let named = text
            .split("memory \"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        Ok(Reply::text(&match named {
            _ if text.starts_with("Result of memory") => {
                json!({"action": "answer", "text": "It counts on."}).to_string()
            }
            Some(request) => json!({"action": "memory", "request": request}).to_string(),
            None => json!({"action": "run", "command": "seq 1 20000"}).to_string(),
        }))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_an_action_from_when_an_output_was_held_back() {
    let config = Config::new(Pages).models([Model::new("sim").with_parameters(1_543_714_304)]);
    let stage = Stage::new(config, &window());
    let mut chat = stage.chat().await;
    let end = chat.say("What does seq print?").await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{:?}", chat.events);
    let bodies = stage.bodies();
    let offered = |at: usize| {
        let actions = bodies[at]["format"]["oneOf"].as_array().expect("a list");
        let names = actions.iter().map(|each| &each["properties"]["action"]["const"]);
        names.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(offered(0), "run answer");
    assert_eq!(offered(1), "run memory answer");
    let result = bodies[2]["messages"][5]["content"].as_str().expect("text");
    assert!(
        result.starts_with("Result of memory:\n") && result.contains("[more: "),
        "{result}"
    );
}
