//! What a model can do is tried out where nobody declares it, and what came of that is gone by.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ollama_sim::{Config, Match, Model as SimModel, Profile, Reply, Script, profile};
use serde_json::json;
use wisp_agent::model::known::{Known, Verified};
use wisp_agent::model::trial::{CheckedModel, QUESTIONS, Trial, ask, verified};
use wisp_agent::model::{Model, Preferences};
use wisp_agent::protocol::TurnOutcome;
use wisp_ollama::{Client, Host};

use crate::common::Stage;
use crate::settings;

/// A server of this release that declares nothing.
fn silent(profile: Profile) -> Profile {
    Profile {
        show_capabilities: false,
        tags_capabilities: false,
        ..profile
    }
}

/// Answers the questions: every call that is asked for with `call`, an action with `action`.
fn answers(call: Reply, action: Reply) -> impl Fn(&ollama_sim::Seen) -> Reply + Send + Sync + 'static {
    move |seen| {
        if seen.request["format"].is_object() {
            action.clone()
        } else if seen.last().is_some_and(|m| m.content.contains("number 58")) {
            Reply::text("Its number is 58.")
        } else if seen.offers("record_word") {
            call.clone()
        } else if seen
            .last()
            .is_some_and(|m| m.content.contains("compiled module_1"))
        {
            Reply::text("valve.h")
        } else {
            Reply::text("Hello!")
        }
    }
}

async fn tried(stage: &Stage) -> Vec<Trial> {
    let client = Client::new(Host::parse(&stage.server.url()).unwrap()).unwrap();
    let model = Model::open(client, "sim", Preferences::default()).await.unwrap();
    let mut trials = Vec::new();
    for question in &QUESTIONS {
        trials.push(ask(&model, question).await.unwrap());
    }
    trials
}

#[tokio::test]
async fn a_few_questions_show_what_a_model_can_do() {
    let heron = || Reply::call("record_word", json!({"word": "heron"}));
    let count = || Reply::text("{\"action\": \"run\", \"command\": \"wc -l data.csv\"}");
    let (calls, words) = (
        ["toolCalling", "secondCall", "correctedCall"],
        ["longOutput", "answerInWords"],
    );
    let guided = ["guidedGeneration"];
    for (call, action, passed, way) in [
        (
            heron(),
            count(),
            [&calls[..], &words, &guided].concat(),
            Some("native"),
        ),
        (
            Reply::text("I recorded it."),
            count(),
            [&words[..], &guided].concat(),
            Some("guided"),
        ),
        (
            heron(),
            Reply::text("Red, 7."),
            [&calls[..], &words].concat(),
            Some("native"),
        ),
        (
            Reply::text("I recorded it."),
            Reply::new().error("invalid JSON schema in format"),
            words.to_vec(),
            None,
        ),
    ] {
        let config = Config::new(answers(call, action)).profile(profile::V0_5_7);
        let stage = Stage::new(config, &settings());
        let trials = tried(&stage).await;
        let kept = verified(&trials, "2026-11-30", CheckedModel::default()).unwrap();
        assert_eq!(kept.passed, passed, "{trials:?}");
        assert_eq!(kept.passed.len() + kept.failed.len(), 6);
        assert_eq!(kept.calls.as_deref(), way);
    }
}

#[tokio::test]
async fn a_schema_is_asked_for_alone_and_without_turning_off_what_enforces_it() {
    let count = Reply::text("{\"action\": \"run\", \"command\": \"wc -l data.csv\"}");
    for profile in [
        profile::V0_9_6,
        profile::V0_24_0,
        profile::V0_32_15,
        profile::V0_32_15_NATIVE,
    ] {
        let call = Reply::call("record_word", json!({"word": "heron"}));
        let thinks = SimModel::new("sim").with_capabilities(&crate::THINKS);
        let config = Config::new(answers(call, count.clone()))
            .profile(silent(profile))
            .models([thinks]);
        let stage = Stage::new(config, &settings());
        tried(&stage).await;
        let bodies = stage.bodies();
        let asked = bodies.iter().find(|b| b["format"].is_object()).unwrap();
        assert!(asked.get("tools").is_none(), "{}", profile.name);
        // Before 0.31.2 some models obey no schema while they are told not to think.
        let think = asked.get("think").cloned();
        let off = profile.version == "0.32.15";
        assert_eq!(think, off.then_some(json!(false)), "{}", profile.name);
        assert!(bodies.iter().all(|b| b["options"]["temperature"] == 0.0));
    }
}

#[tokio::test]
async fn what_was_tried_out_decides_whether_tools_are_offered() {
    for (passed, offered) in [(vec![], false), (vec!["toolCalling".to_owned()], true)] {
        let script = Script::new().reply(Reply::text("Hi."));
        let config = Config::new(script).profile(profile::V0_5_7);
        let stage = Stage::new(config, &settings());
        let known = Known::at(stage.home().join("models.json"));
        let host = Host::parse(&stage.server.url()).unwrap();
        let row = Verified {
            date: "2026-11-30".into(),
            passed,
            ..Verified::default()
        };
        known
            .change(&host, "sim:latest", |r| r.verified = Some(row))
            .unwrap();
        let mut chat = stage.chat().await;
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
        assert_eq!(stage.bodies()[0].get("tools").is_some(), offered);
    }
}

#[tokio::test]
async fn a_refusal_to_think_is_remembered_while_the_models_file_is_the_same() {
    let settings = json!({"ollama": {"contextLength": 16384, "think": true}});
    let refused = Reply::new().error("\"sim\" does not support thinking");
    let script = Script::new()
        .when([Match::Field("/think".into(), json!(true))], refused)
        .when([Match::FieldAbsent("/think".into())], Reply::text("Hi."))
        .when([Match::FieldAbsent("/think".into())], Reply::text("Hi again."));
    let model = SimModel::new("sim").with_capabilities(&crate::THINKS);
    let stage = Stage::new(Config::new(script).models([model]), &settings);
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    chat.quit().await;
    let mut next = stage.chat().await;
    assert_eq!(next.say("hello").await.outcome, TurnOutcome::Ok);
    stage.server.finish().unwrap();
}
