//! What a request looks like on every server, whatever was said before it.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ollama_sim::{Config, Event as Does, Match, Model, Profile, Reply, Script, profile};
use serde_json::{Value, json};
use wisp_agent::OpenError;
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

use crate::common::Stage;
use crate::{reads, settings, stage};

/// A turn with a call in it, and one without.
fn two_turns() -> Script {
    Script::new()
        .reply(reads("a.txt"))
        .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."))
        .when(
            [Match::LastContains("and now".into())],
            Reply::text("Nothing else."),
        )
}

async fn played(profile: Profile) -> (Stage, Vec<Value>) {
    let stage = Stage::new(Config::new(two_turns()).profile(profile), &settings());
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("read it").await.outcome,
        TurnOutcome::Ok,
        "{}",
        profile.name
    );
    assert_eq!(
        chat.say("and now?").await.outcome,
        TurnOutcome::Ok,
        "{}",
        profile.name
    );
    stage.server.finish().unwrap();
    let bodies = stage.bodies();
    (stage, bodies)
}

#[tokio::test]
async fn only_the_native_routes_are_used_and_the_window_is_always_said() {
    for profile in profile::ALL {
        let (stage, bodies) = played(profile).await;
        for request in stage.server.requests() {
            assert!(
                request.path.starts_with("/api/"),
                "{}: {}",
                profile.name,
                request.path
            );
        }
        assert_eq!(bodies.len(), 3, "{}", profile.name);
        for body in bodies {
            assert_eq!(body["options"]["num_ctx"], 16384, "{}", profile.name);
        }
    }
}

#[tokio::test]
async fn content_is_text_arguments_are_objects_and_one_system_message_is_first() {
    for profile in profile::ALL {
        let (_stage, bodies) = played(profile).await;
        for message in bodies.iter().flat_map(|b| b["messages"].as_array().unwrap()) {
            assert!(message["content"].is_string(), "{}: {message}", profile.name);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                assert!(
                    call["function"]["arguments"].is_object(),
                    "{}: {call}",
                    profile.name
                );
            }
        }
        for body in &bodies {
            let messages = body["messages"].as_array().unwrap();
            let systems = messages.iter().filter(|m| m["role"] == "system").count();
            assert_eq!(
                (systems, &messages[0]["role"]),
                (1, &json!("system")),
                "{}",
                profile.name
            );
            assert!(messages.iter().any(|m| m["role"] == "user"), "{}", profile.name);
            let doubled = |w: &[Value]| w[0]["role"] == "assistant" && w[1]["role"] == "assistant";
            assert!(
                !messages.windows(2).any(doubled),
                "{}: {messages:?}",
                profile.name
            );
        }
    }
}

#[tokio::test]
async fn no_penalty_on_repetition_unless_the_models_maker_set_one() {
    for profile in profile::ALL {
        let (_stage, bodies) = played(profile).await;
        // From 0.32.10 on the server's own default does no harm, and nothing is sent.
        let newest = profile.version == "0.32.15";
        for body in bodies {
            let sent = body["options"].get("repeat_penalty");
            assert_eq!(sent, (!newest).then_some(&json!(1.0)), "{}", profile.name);
        }
    }
    let own = Model {
        repeat_penalty: Some(1.05),
        ..Model::new("sim")
    };
    let config = Config::new(Script::new().reply(Reply::text("Hi."))).models([own]);
    let stage = Stage::new(config, &settings());
    stage.chat().await.say("hello").await;
    assert!(stage.bodies()[0]["options"].get("repeat_penalty").is_none());
}

#[tokio::test]
async fn the_operators_keep_alive_is_left_alone_unless_one_is_set() {
    let (_stage, bodies) = played(profile::V0_24_0).await;
    assert!(bodies.iter().all(|body| body.get("keep_alive").is_none()));
    let script = Script::new().reply(Reply::text("Hi."));
    let settings = json!({"ollama": {"contextLength": 16384, "keepAlive": "30m"}});
    let stage = Stage::new(Config::new(script), &settings);
    stage.chat().await.say("hello").await;
    assert_eq!(
        stage.bodies()[0]["keep_alive"],
        1800,
        "a number: text without a unit is refused"
    );
}

#[tokio::test]
async fn a_server_from_before_0_5_is_refused_and_the_remedy_named() {
    let old = Profile {
        name: "0.4.5",
        version: "0.4.5",
        ..profile::V0_5_7
    };
    let stage = Stage::new(Config::new(Script::new()).profile(old), &settings());
    let refused = stage.launch(false).await.err().expect("too old");
    assert!(matches!(refused, OpenError::Model(_)), "{refused}");
    assert!(refused.to_string().contains("0.4.5"), "{refused}");
    assert!(refused.hint().unwrap().contains("update Ollama"), "{refused}");
    assert!(stage.server.chats().is_empty());
}

#[tokio::test]
async fn a_server_named_by_an_address_to_listen_on_is_reached_on_this_machine() {
    let script = || Script::new().reply(Reply::text("Hi."));
    for written in ["0.0.0.0", "http://0.0.0.0", ""] {
        let mut stage = stage(script());
        let port = stage.server.port();
        stage.env.retain(|(name, _)| name != "OLLAMA_HOST");
        stage
            .env
            .push(("OLLAMA_HOST".into(), format!("{written}:{port}")));
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok, "{written:?}");
        for request in stage.server.requests() {
            assert_eq!(request.header("host"), Some(format!("127.0.0.1:{port}").as_str()));
        }
    }
}

#[tokio::test]
async fn counts_that_are_missing_are_unknown_and_not_nought() {
    let bare = |text: &str| {
        let line = json!({
            "model": "sim", "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop",
        });
        Reply::new()
            .event(Does::Bytes(format!("{line}\n")))
            .event(Does::EofWithoutDone)
    };
    for profile in [
        profile::V0_5_7,
        profile::V0_11_4,
        profile::V0_24_0,
        profile::V0_32_15,
    ] {
        let script = Script::new().reply(bare("One.")).reply(bare("Two."));
        let stage = Stage::new(Config::new(script).profile(profile), &settings());
        let mut chat = stage.chat().await;
        for prompt in ["one?", "two?"] {
            let end = chat.say(prompt).await;
            assert_eq!(
                end.outcome,
                TurnOutcome::Ok,
                "{}: {}",
                profile.name,
                chat.notes(NoteLevel::Error)
            );
            assert_eq!(
                (end.input_tokens, end.output_tokens),
                (None, None),
                "{}",
                profile.name
            );
        }
        assert_eq!(chat.reply(), "One.Two.");
        let used = stage.audited("response");
        assert!(
            used.iter().all(|r| r["details"]["usage"]["input"].is_null()),
            "{used:?}"
        );
        let tokens = chat.slash("/tokens").await;
        assert!(tokens.contains("estimate"), "{tokens}");
        stage.server.finish().unwrap();
    }
}

#[tokio::test]
async fn the_key_of_the_cloud_is_not_sent_to_another_server() {
    let mut stage = stage(two_turns());
    stage.env.push(("OLLAMA_API_KEY".into(), "hushhush".into()));
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    chat.slash("/models").await;
    for request in stage.server.requests() {
        assert_eq!(request.header("authorization"), None, "{}", request.path);
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains("hushhush"), "{}", request.path);
    }
}
