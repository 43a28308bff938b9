//! Refusals: what the server or the model will not do, and which of them are asked again.

use ollama_sim::{Capability, Config, Match, Model, Reply, Script, profile};
use serde_json::json;
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

use crate::common::Stage;
use crate::{THINKS, settings, stage};

#[tokio::test]
async fn a_model_without_tools_is_talked_to_without_them() {
    let lies = Model::new("sim").with_capabilities(&[Capability::Completion]);
    let stage = Stage::new(
        Config::new(Script::new().when([Match::NoTools], Reply::text("Hi."))).models([lies]),
        &settings(),
    );
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn what_show_says_of_a_model_is_believed_and_not_what_the_list_says() {
    // The list of such a server has the tools that `show` and the chat deny.
    let model = Model {
        native_capabilities: Some(vec![Capability::Completion]),
        ..Model::new("sim")
    };
    let script = Script::new().when([Match::NoTools], Reply::text("Hi."));
    let config = Config::new(script)
        .profile(profile::V0_32_15_NATIVE)
        .models([model]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_refusal_of_tools_or_thinking_is_met_once_and_remembered() {
    let error = |text: &str| Reply::new().error(text);
    let script = Script::new()
        .reply(error("registry.ollama.ai/library/sim does not support tools"))
        .when([Match::NoTools], error("\"sim\" does not support thinking"))
        .when(
            [Match::NoTools, Match::FieldAbsent("/think".into())],
            Reply::text("Hi."),
        )
        .when(
            [Match::NoTools, Match::FieldAbsent("/think".into())],
            Reply::text("Again."),
        );
    let config = Config::new(script).models([Model::new("sim").with_capabilities(&THINKS)]);
    let stage = Stage::new(
        config,
        &json!({"ollama": {"contextLength": 16384, "think": true}}),
    );
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("hello").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    assert_eq!(chat.say("and?").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_busy_server_is_waited_for_and_no_longer_than_five_tries() {
    let busy = || {
        Reply::foreign(
            503,
            Some("application/json"),
            "{\"error\":\"server busy, please try again.  maximum pending requests exceeded\"}",
        )
    };
    let mut script = Script::new();
    for _ in 0..5 {
        script = script.reply(busy());
    }
    let stage = stage(script.clone().reply(Reply::text("At last.")));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();

    let stage = self::stage(script.reply(busy()));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn what_cannot_be_helped_is_not_tried_again() {
    for (text, hint) in [
        (
            "model requires more system memory (9.9 GiB) than is available (1.0 GiB)",
            "smaller",
        ),
        (
            "timed out waiting for llama runner to start - progress 0.00 - ",
            "OLLAMA_LOAD_TIMEOUT",
        ),
    ] {
        let stage = stage(Script::new().reply(Reply::new().error(text)));
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
        let said = chat.notes(NoteLevel::Error);
        assert!(said.contains(hint), "{said}");
        stage.server.finish().unwrap();
    }
    for (status, body, hint) in [
        (403, "", "Host"),
        (502, "<html>proxy</html>", "proxy"),
        (
            429,
            "{\"error\":\"you (name) have reached your session usage limit\"}",
            "local model",
        ),
        (
            401,
            "{\"error\":\"unauthorized\",\"signin_url\":\"https://ollama.com/connect\"}",
            "https://ollama.com/connect",
        ),
    ] {
        let kind = Some(if body.starts_with('<') {
            "text/html"
        } else {
            "application/json"
        });
        let mut script = Script::new();
        for _ in 0..if status == 502 { 6 } else { 1 } {
            script = script.reply(Reply::foreign(status, kind, body));
        }
        let stage = stage(script);
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error, "{status}");
        let said = chat.notes(NoteLevel::Error);
        assert!(said.contains(hint), "{status}: {said}");
        stage.server.finish().unwrap();
    }
}
