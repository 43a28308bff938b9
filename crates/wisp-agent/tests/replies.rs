//! What wisp does with each way a reply can be wrong, against the scripted server over real HTTP.

mod common;

use common::Stage;
use ollama_sim::{
    Capability, Chunker, Config, CutAt, End, Event as Does, Loss, Match, Model, Parser, Reply, Script,
    profile,
};
use serde_json::json;
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

const THINKS: [Capability; 3] = [Capability::Completion, Capability::Tools, Capability::Thinking];

fn stage(script: Script) -> Stage {
    Stage::new(Config::new(script), &json!({"ollama": {"contextLength": 16384}}))
}

fn settings() -> serde_json::Value {
    json!({"ollama": {"contextLength": 16384}})
}

fn reads(name: &str) -> Reply {
    Reply::call("read_file", json!({"path": name}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_runs_and_its_result_comes_back_on_every_profile_and_chunker() {
    for profile in profile::ALL {
        for chunker in [
            Chunker::default(),
            Chunker::Bytes(1),
            Chunker::Bytes(7),
            Chunker::Lines(3),
            Chunker::InsideCharacters,
            Chunker::Seeded(9),
        ] {
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
        .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."));
    let stage = stage(script);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("what is in a.txt?").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Seven.", "the call's text is never shown");
    stage.server.finish().unwrap();
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
async fn thinking_tags_in_content_become_thinking() {
    for profile in [profile::V0_5_7, profile::V0_9_6] {
        let script = Script::new()
            .reply(Reply::text("<think>\nlet me see\n</think>\n\nYes."))
            .when(
                [Match::PromptLacks("let me see".into())],
                Reply::text("Again yes."),
            );
        let stage = Stage::new(Config::new(script).profile(profile), &settings());
        let mut chat = stage.chat().await;
        chat.say("is it?").await;
        assert_eq!(chat.reply(), "Yes.", "{}", profile.version);
        assert_eq!(chat.thinking().trim(), "let me see");
        chat.say("really?").await;
        stage.server.finish().unwrap();
    }
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_once_more_with_a_word_about_it() {
    let script = Script::new()
        .reply(Reply::new())
        .when(
            [
                Match::LastContains("Your last reply was empty".into()),
                Match::LastContains("hello".into()),
            ],
            Reply::text("Here."),
        )
        .when(
            [Match::PromptLacks("Your last reply was empty".into())],
            Reply::text("Fine."),
        );
    let stage = stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.say("and now?").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Here.Fine.");
    stage.server.finish().unwrap();
    assert_eq!(stage.audited("model.retry").len(), 1);
}

#[tokio::test]
async fn a_model_that_only_thinks_is_asked_not_to_for_one_request() {
    let script = Script::new()
        .reply(Reply::new().thinking("hmm"))
        .when(
            [Match::LastContains("Your last reply was empty".into())],
            Reply::new().thinking("hmm again"),
        )
        .when([Match::Field("/think".into(), json!(false))], Reply::text("Yes."))
        .when(
            [Match::FieldAbsent("/think".into())],
            Reply::text("Still thinking."),
        );
    let config = Config::new(script).models([Model::new("sim").with_capabilities(&THINKS)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("is it?").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.say("and that?").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Yes.Still thinking.");
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn thinking_that_used_up_the_room_goes_straight_to_no_thinking() {
    let script = Script::new()
        .reply(Reply::new().thinking("hmm").ending(End::Length))
        .when(
            [
                Match::Field("/think".into(), json!(false)),
                Match::PromptLacks("Your last reply".into()),
            ],
            Reply::text("Yes."),
        );
    let config = Config::new(script).models([Model::new("sim").with_capabilities(&THINKS)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("is it?").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_model_that_stays_silent_is_reported_and_not_asked_for_ever() {
    let script = Script::new().reply(Reply::new()).reply(Reply::new());
    let stage = stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
    stage.server.finish().unwrap();
    let said = chat.notes(NoteLevel::Error);
    assert!(said.contains("empty reply") && said.contains("hint:"), "{said}");
}

#[tokio::test]
async fn an_empty_reply_after_a_result_is_asked_for_again_without_running_anything_twice() {
    let script = Script::new()
        .reply(reads("a.txt"))
        .when([Match::ToolResultContains("seven".into())], Reply::new())
        .when(
            [
                Match::PromptContains("seven".into()),
                Match::LastContains("Your last reply was empty".into()),
            ],
            Reply::text("Seven."),
        );
    let stage = stage(script);
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
    assert_eq!(stage.audited("tool.call").len(), 1);
}

#[tokio::test]
async fn no_call_is_run_from_a_reply_that_did_not_end() {
    for (profile, end) in [
        (
            profile::V0_24_0,
            Reply::call("read_file", json!({"path": "a.txt"})).event(Does::EofWithoutDone),
        ),
        (
            profile::V0_9_6,
            Reply::call("read_file", json!({"path": "a.txt"})).cut(CutAt::Line(1), Loss::Reset),
        ),
        (
            profile::V0_32_15,
            Reply::call("read_file", json!({"path": "a.txt"}))
                .error("an error was encountered while running the model: unexpected EOF"),
        ),
    ] {
        let script = Script::new().reply(end.clone()).reply(end);
        let stage = Stage::new(Config::new(script).profile(profile), &settings());
        stage.write("a.txt", "seven\n");
        let mut chat = stage.chat().await;
        assert_eq!(
            chat.say("read it").await.outcome,
            TurnOutcome::Error,
            "{}",
            profile.version
        );
        assert!(!chat.called(), "{}", profile.version);
        assert_eq!(stage.audited("tool.call").len(), 0);
        assert_eq!(stage.audited("model.retry").len(), 1, "one retry after a pause");
        stage.server.finish().unwrap();
    }
}

#[tokio::test]
async fn what_had_arrived_of_a_broken_reply_is_kept_and_marked() {
    let broken = Reply::new()
        .content("Half of")
        .error("an error was encountered while running the model: unexpected EOF");
    let script = Script::new()
        .reply(broken.clone())
        .reply(broken)
        .reply(Reply::text("Whole."));
    let stage = stage(script);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("say it").await.outcome, TurnOutcome::Error);
    assert_eq!(chat.say("again").await.outcome, TurnOutcome::Ok);
    let responses = stage.audited("response");
    assert_eq!(responses[0]["details"]["interrupted"], true);
    assert_eq!(responses[0]["details"]["text"], "Half of");
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_call_the_server_could_not_read_is_asked_for_again_changed() {
    for parser in [Parser::Xml, Parser::Harmony] {
        let script = Script::new()
            .reply(Reply::new().event(Does::Raw("<tool_call>{\"name\": \"read_file\", oops".into())))
            .when(
                [
                    Match::LastContains("could not be read".into()),
                    Match::Field("/options/seed".into(), json!(1)),
                ],
                reads("a.txt"),
            )
            .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."));
        let config = Config::new(script).models([Model::new("sim").with_parser(parser)]);
        let stage = Stage::new(config, &settings());
        stage.write("a.txt", "seven\n");
        let mut chat = stage.chat().await;
        let end = chat.say("read it").await;
        assert_eq!(
            end.outcome,
            TurnOutcome::Ok,
            "{parser:?}: {}",
            chat.notes(NoteLevel::Error)
        );
        stage.server.finish().unwrap();
    }
}

#[tokio::test]
async fn a_model_that_cannot_write_a_call_is_given_up_after_two_changes() {
    let bad = || Reply::new().event(Does::Raw("<tool_call>{\"name\": \"read_file\", oops".into()));
    let script = Script::new().reply(bad()).reply(bad()).reply(bad());
    let config = Config::new(script).models([Model::new("sim").with_parser(Parser::Xml)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Error);
    stage.server.finish().unwrap();
    let bodies = stage.bodies();
    assert!(
        bodies[0] != bodies[1] && bodies[1] != bodies[2],
        "never the same request again"
    );
}

#[tokio::test]
async fn a_server_that_hangs_after_a_bad_call_is_freed_by_unloading_the_model() {
    let script = Script::new()
        .reply(
            Reply::new()
                .content("I read. ")
                .event(Does::Raw("<tool_call>{\"name\": \"read_file\", oops".into())),
        )
        .reply(Reply::new().event(Does::Stall))
        .reply(Reply::text("There."));
    let config = Config::new(script)
        .profile(profile::V0_24_0)
        .models([Model::new("sim").with_parser(Parser::Xml)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    let end = chat.say("read it").await;
    assert_eq!(end.outcome, TurnOutcome::Ok, "{}", chat.notes(NoteLevel::Error));
    stage.server.finish().unwrap();
    let unloads = stage
        .server
        .chats()
        .into_iter()
        .filter(|r| r.json.as_ref().is_some_and(|j| j["keep_alive"] == 0));
    assert_eq!(unloads.count(), 1);
    assert!(chat.notes(NoteLevel::Warning).contains("may hang"));
}

#[tokio::test]
async fn a_reply_that_only_says_the_model_was_loaded_is_an_error() {
    let load = "{\"model\":\"sim\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"load\"}\n";
    let reply = || {
        Reply::new()
            .event(Does::Bytes(load.into()))
            .event(Does::EofWithoutDone)
    };
    let stage = stage(Script::new().reply(reply()).reply(reply()));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
    stage.server.finish().unwrap();
    assert!(
        chat.notes(NoteLevel::Error).contains("only loaded the model"),
        "{}",
        chat.notes(NoteLevel::Error)
    );
}

#[tokio::test]
async fn endless_repetition_is_stopped() {
    let loops = Reply::text(&"I will look at the file again.\n".repeat(400));
    let stage = stage(Script::new().reply(loops).when(
        [Match::LastContains("repeated itself".into())],
        Reply::text("Done."),
    ));
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
    assert!(chat.notes(NoteLevel::Warning).contains("repeated itself"));
}

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

#[tokio::test]
async fn a_runner_that_died_is_tried_once_more() {
    let stage = stage(
        Script::new()
            .reply(Reply::new().event(Does::Crash))
            .reply(Reply::text("Back.")),
    );
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
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
