//! Tool calls as servers of every era hand them over, and as models write them.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ollama_sim::{Chunker, Config, Match, Model, Parser, Reply, Script, profile};
use serde_json::json;
use wisp_agent::protocol::{Event, NoteLevel, TurnOutcome};

use crate::common::Stage;
use crate::{settings, stage};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_runs_and_its_result_comes_back_on_every_profile_and_chunker() {
    for profile in profile::ALL {
        for chunker in Chunker::ALL {
            let script = Script::new()
                .when(
                    [Match::LastContains("héllo".into())],
                    Reply::new()
                        .content("I löok. ")
                        .and_call("read_file", json!({"path": "a.txt"})),
                )
                .when(
                    [Match::ToolResultContains("the ünique word".into())],
                    Reply::text("It says the ünique word."),
                );
            let config = Config::new(script).profile(profile).chunker(chunker);
            let stage = Stage::new(config, &settings());
            stage.write("a.txt", "the ünique word\n");
            let mut chat = stage.chat().await;
            let end = chat.say("héllo").await;
            assert_eq!(
                end.outcome,
                TurnOutcome::Ok,
                "{} {chunker:?} {:?}",
                profile.version,
                chat.events
            );
            // Before 0.8 the server throws away what stands beside a call.
            let beside = if profile.version == "0.5.7" {
                ""
            } else {
                "I löok. "
            };
            let said = format!("{beside}It says the ünique word.");
            assert_eq!(chat.reply(), said, "{}", profile.version);
            assert_eq!(stage.server.finish(), Ok(()), "{}", profile.version);
            for body in stage.bodies() {
                assert_eq!(body["truncate"], false);
                assert_eq!(body["options"]["num_ctx"], 16384);
                assert!(body["options"]["num_predict"].as_u64().unwrap() >= 1);
                assert_eq!(body["messages"][0]["role"], "system");
                assert!(body.get("keep_alive").is_none());
            }
        }
    }
}

#[tokio::test]
async fn a_call_written_as_text_is_recovered_and_marked() {
    let script = Script::new()
        .reply(Reply::text(
            "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}",
        ))
        .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."))
        .reply(Reply::text(
            "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}",
        ))
        .when(
            [Match::ToolResultContains("seven".into())],
            Reply::text(" Still."),
        );
    let stage = stage(script);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("what is in a.txt?").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Seven.", "the call's text is never shown");
    assert_eq!(chat.say("and now?").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
    let said = chat.notes(NoteLevel::Info);
    assert_eq!(
        said.matches("sim wrote its tool call as text").count(),
        1,
        "{said}"
    );
    let responses = stage.audited("response");
    assert_eq!(responses[0]["details"]["recovered"], true);
    assert!(responses[1]["details"].get("recovered").is_none());
}

#[tokio::test]
async fn a_call_within_prose_is_not_run() {
    let text = "You could call {\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}} yourself.";
    let stage = stage(Script::new().reply(Reply::text(text)));
    let mut chat = stage.chat().await;
    chat.say("how?").await;
    assert_eq!(chat.reply(), text);
    assert!(!chat.called());
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_ones_there_are() {
    let script = Script::new()
        .reply(Reply::call("open_door", json!({"which": "front"})))
        .when(
            [Match::ToolResultContains("read_file".into())],
            Reply::text("I see."),
        );
    let config = Config::new(script).models([Model::new("sim").with_parser(Parser::Xml)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("open it").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn ids_are_our_own_and_each_call_has_its_answer_in_order() {
    for profile in profile::ALL {
        let two = Reply::call("read_file", json!({"path": "a.txt"}))
            .and_call("read_file", json!({"path": "b.txt"}));
        let script = Script::new()
            .reply(two)
            .when([Match::ToolResultContains("second".into())], Reply::text("Both."));
        let stage = Stage::new(Config::new(script).profile(profile), &settings());
        stage.write("a.txt", "first\n");
        stage.write("b.txt", "second\n");
        let mut chat = stage.chat().await;
        assert_eq!(
            chat.say("read both").await.outcome,
            TurnOutcome::Ok,
            "{}",
            profile.version
        );
        let bodies = stage.bodies();
        let messages = bodies[1]["messages"].as_array().unwrap();
        let calls = messages.iter().find(|m| m["tool_calls"].is_array()).unwrap();
        let results: Vec<_> = messages.iter().filter(|m| m["role"] == "tool").collect();
        assert!(results[0]["content"].as_str().unwrap().contains("first"));
        for (at, result) in results.iter().enumerate() {
            assert_eq!(result["tool_call_id"], calls["tool_calls"][at]["id"]);
            assert_eq!(result["tool_name"], "read_file");
        }
        assert_ne!(results[0]["tool_call_id"], results[1]["tool_call_id"]);
    }
}

#[tokio::test]
async fn results_of_one_reply_are_told_with_their_place_and_the_figures_of_the_final_batch() {
    let of = |n: u32| json!({"command": format!("seq -f 'row {n} %g' 1 700")});
    let three = Reply::call("run_command", of(1))
        .and_call("run_command", of(2))
        .and_call("run_command", of(3));
    let settings = json!({"ollama": {"contextLength": 16384}});
    let script = Script::new().reply(three).when(
        [Match::ToolResultContains("row 3 1".into())],
        Reply::text("Done."),
    );
    let mut stage = Stage::new(Config::new(script), &settings);
    stage.yes = true;
    let mut chat = stage.chat().await;
    let ended = chat.say("run the three").await.outcome;
    assert_eq!(ended, TurnOutcome::Ok, "{}", chat.notes(NoteLevel::Error));
    let results: Vec<_> = chat
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Event {
                kind,
                call,
                text,
                output,
                ..
            } if kind == "tool.result" => Some((call.clone()?, text.clone()?, output.clone()?)),
            _ => None,
        })
        .collect();
    let lines: Vec<&str> = results.iter().map(|(_, text, _)| text.as_str()).collect();
    assert_eq!(
        lines,
        [
            "↳ 1 of 3 · run_command: exit 0",
            "↳ 2 of 3 · run_command: exit 0",
            "↳ 3 of 3 · run_command: exit 0"
        ]
    );
    // While they run, what runs is said with its place.
    let doing = chat.doing();
    assert!(
        doing.contains(&"2 of 3 · running seq -f 'row 2 %g' 1 700".to_owned()),
        "{doing:?}"
    );
    // Each fits its own budget; together they do not, and what the person is told is what the model got.
    let audited = |kind: &str| stage.audited(kind);
    assert_eq!(audited("batch.reduced").len(), 1);
    let kept = audited("output.kept");
    assert_eq!(kept.len(), 3);
    let body = stage.bodies().pop().unwrap();
    let sent: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    for (((call, _, output), event), sent) in results.iter().zip(&kept).zip(sent) {
        assert_eq!(&event["call"], call);
        let [held] = output.held[..] else {
            panic!("one stretch is held back: {:?}", output.held)
        };
        assert!(output.stored);
        let ranges = json!([{"fromLine": held.from_line, "toLine": held.to_line, "bytes": held.bytes}]);
        assert_eq!(event["details"]["held"], ranges);
        let range = format!("held back: stdout lines {}–{}", held.from_line, held.to_line);
        assert!(sent.contains(&range), "{range}\n{sent}");
    }
    let order: Vec<String> = stage
        .audit()
        .iter()
        .map(|e| e["kind"].as_str().unwrap().to_owned())
        .collect();
    let at = |kind: &str| order.iter().position(|one| one == kind).unwrap();
    assert!(
        at("batch.reduced") < at("output.kept") && at("output.kept") < at("tool.result"),
        "{order:?}"
    );
}
