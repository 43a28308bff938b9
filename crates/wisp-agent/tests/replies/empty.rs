//! Replies without words: thinking alone, nothing at all.

use ollama_sim::{Config, End, Match, Model, Reply, Script, profile};
use serde_json::json;
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

use crate::common::Stage;
use crate::{THINKS, reads, settings, stage};

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
