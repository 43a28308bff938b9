//! Replies that break off, cannot be read, hang or never end.

use ollama_sim::{Config, CutAt, Event as Does, Loss, Match, Model, Parser, Reply, Script, profile};
use serde_json::json;
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

use crate::common::Stage;
use crate::{reads, settings, stage};

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
async fn an_error_under_another_key_is_an_error_and_not_a_reply() {
    let odd = || {
        Reply::new().content("I read. ").event(Does::ErrorKey {
            key: "error parsing tool call".into(),
            text: "raw='{\"path\"', err=unexpected end of JSON input".into(),
        })
    };
    for profile in [profile::V0_11_4, profile::V0_24_0] {
        let script = Script::new()
            .reply(odd())
            .when([Match::LastContains("could not be read".into())], reads("a.txt"))
            .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."));
        let stage = Stage::new(Config::new(script).profile(profile), &settings());
        stage.write("a.txt", "seven\n");
        let mut chat = stage.chat().await;
        let end = chat.say("read it").await;
        let said = chat.notes(NoteLevel::Error);
        assert_eq!(end.outcome, TurnOutcome::Ok, "{}: {said}", profile.name);
        stage.server.finish().unwrap();
    }
}
