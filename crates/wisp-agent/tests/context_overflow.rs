//! A request the server refuses as too long, in the words of every era: the record is condensed as it was before the
//! request, which is asked once more; a second refusal is said with what to do, and the conversation goes on.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::Stage;
use ollama_sim::{Config, Reply, Seen, profile};
use serde_json::{Value, json};
use wisp_agent::protocol::{Command, Event, NoteLevel, TurnOutcome};

/// Status and body of every refusal of a prompt that is too long, nested ones among them: `{n}` tokens in a window of
/// `{w}`, which is smaller than wisp was told.
const REFUSALS: [(u16, &str); 9] = [
    (400, r#"{"error":"the input length exceeds the context length"}"#),
    (400, r#"{"error":"input length exceeds the context length"}"#),
    (400, r#"{"error":"prompt is longer than the context length"}"#),
    (
        400,
        r#"{"error":"request ({n} tokens) exceeds the available context size ({w} tokens), try increasing it"}"#,
    ),
    (
        400,
        r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request ({n} tokens) exceeds the available context size ({w} tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":{n},\"n_ctx\":{w}}}"}"#,
    ),
    (
        400,
        r#"{"error":"llama-server chat error: map[code:400 message:request is too long n_ctx:{w} n_prompt_tokens:{n} type:exceed_context_size_error]"}"#,
    ),
    (
        400,
        r#"{"error":"input length ({n} tokens) exceeds the model's maximum context length ({w} tokens)"}"#,
    ),
    (
        400,
        r#"{"error":"input length ({n} tokens) exceeds the context length ({w})"}"#,
    ),
    (500, r#"{"error":"no user query found in messages"}"#),
];

/// Turns before the one that is refused.
const TURNS: usize = 6;
const LAST: &str = "and what of the last watch?";

fn settings() -> Value {
    json!({"ollama": {"contextLength": 8192}})
}

/// How a request with the last prompt in it is answered.
enum Answer {
    Refused((u16, &'static str)),
    Slowly,
}

/// A model that talks at length, and a server that answers the first requests with the last prompt in them so.
fn refusing(answers: Vec<Answer>) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    let mut answers = answers.into_iter();
    move |seen: &Seen| match seen.last() {
        Some(last) if last.content.ends_with(LAST) => match answers.next() {
            Some(Answer::Refused(told)) => refusal(told, ollama_sim::tokens::count(&seen.prompt)),
            Some(Answer::Slowly) => Reply::text("Calm").event(ollama_sim::Event::Stall),
            None => Reply::text("Calm."),
        },
        _ => Reply::text(&"The lamp was lit at dusk and the log says so in so many words. ".repeat(12)),
    }
}

fn refusal((status, body): (u16, &str), tokens: u64) -> Reply {
    let body = body
        .replace("{n}", &tokens.to_string())
        .replace("{w}", &(tokens - 20).to_string());
    Reply::foreign(status, Some("application/json"), &body)
}

async fn talked(stage: &Stage) -> common::Chat {
    let mut chat = stage.chat().await;
    for watch in 1..=TURNS {
        chat.say(&format!("what of watch {watch}?")).await;
    }
    chat
}

#[tokio::test]
async fn every_refusal_is_met_by_one_retry_from_the_record_as_it_was_before() {
    for told in REFUSALS {
        let config = Config::new(refusing(vec![Answer::Refused(told)])).profile(profile::V0_24_0);
        let stage = Stage::new(config, &settings());
        let mut chat = talked(&stage).await;
        let end = chat.say(LAST).await;
        assert_eq!(
            end.outcome,
            TurnOutcome::Ok,
            "{told:?} {} {}",
            chat.notes(NoteLevel::Error),
            chat.notes(NoteLevel::Warning)
        );
        let bodies = stage.bodies();
        assert_eq!(bodies.len(), TURNS + 2, "one retry: {told:?}");
        let (refused, retried) = (&bodies[TURNS]["messages"], &bodies[TURNS + 1]["messages"]);
        let (refused, retried) = (refused.as_array().unwrap(), retried.as_array().unwrap());
        assert!(retried.len() < refused.len(), "{told:?}");
        // The request itself is as it was, and nothing between the turns that stay and it.
        assert_eq!(retried.last(), refused.last());
        let kept = retried.len() - 2;
        assert_eq!(retried[2..], refused[refused.len() - kept..], "{told:?}");
        assert_eq!(retried[0], refused[0]);
        let first = retried[1]["content"].as_str().unwrap();
        assert!(
            first.starts_with("[From earlier in this conversation: turn"),
            "{first}"
        );
        let done = stage.audited("context.condensation");
        assert_eq!(done.len(), 1, "{told:?}");
        assert_eq!(done[0]["details"]["reason"], "overflow");
        assert_eq!(stage.audited("model.retry").len(), 1);
        let replies = stage.audited("response");
        assert_eq!(replies.last().unwrap()["details"]["condensed"], true);
    }
}

#[tokio::test]
async fn a_second_refusal_is_said_with_what_to_do_and_the_conversation_goes_on() {
    for told in REFUSALS {
        let config = Config::new(refusing(vec![Answer::Refused(told), Answer::Refused(told)]))
            .profile(profile::V0_24_0);
        let stage = Stage::new(config, &settings());
        let mut chat = talked(&stage).await;
        assert_eq!(chat.say(LAST).await.outcome, TurnOutcome::Error, "{told:?}");
        assert_eq!(
            stage.bodies().len(),
            TURNS + 2,
            "asked once more, not twice: {told:?}"
        );
        let said = chat.notes(NoteLevel::Error);
        assert!(said.contains("does not fit"), "{told:?}: {said}");
        assert!(
            said.contains("/new") && said.contains("ollama.contextLength"),
            "{told:?}: {said}"
        );
        assert_eq!(chat.say("thank you").await.outcome, TurnOutcome::Ok, "{told:?}");
        let last = stage.bodies().pop().unwrap()["messages"].to_string();
        assert!(
            last.contains(LAST),
            "what the person said is not forgotten: {last}"
        );
    }
}

/// The person stops the retry: the turn is over, and the next one is composed from a record that is whole.
#[tokio::test]
async fn a_retry_that_is_stopped_leaves_a_conversation_that_goes_on() {
    let config =
        Config::new(refusing(vec![Answer::Refused(REFUSALS[3]), Answer::Slowly])).profile(profile::V0_24_0);
    let stage = Stage::new(config, &settings());
    let mut chat = talked(&stage).await;
    chat.send(Command::Message { text: LAST.into() });
    chat.until(|e| matches!(e, Event::Delta { text } if text.contains("Calm")))
        .await;
    chat.send(Command::Interrupt);
    assert_eq!(chat.turn_end().await.outcome, TurnOutcome::Interrupted);
    assert_eq!(chat.say("go on").await.outcome, TurnOutcome::Ok);
    let last = stage.bodies().pop().unwrap()["messages"].to_string();
    assert!(last.contains(LAST) && last.contains("interrupted"), "{last}");
}
