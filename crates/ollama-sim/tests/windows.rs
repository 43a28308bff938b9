//! What becomes of a prompt that does not fit the window, and of a reply that outgrows it, release by release.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "test code, called with literals"
)]

mod common;

use common::{ask, chat};
use ollama_sim::{Config, Match, Model, Profile, Reply, Script, Server, Step, profile};
use serde_json::{Value, json};

/// What becomes of one message of exactly `tokens` tokens, glue included, at a window of 512.
fn overflow(profile: Profile, tokens: usize, more: Value) -> Result<u64, (u16, String)> {
    // The markers, the roles and the newlines are nine; each ` a` is one.
    let glue = if profile == profile::V0_32_15_NATIVE {
        9 + native_system()
    } else {
        9
    };
    let text = format!("a{}", " a".repeat(tokens - glue - 1));
    let mut body = ask(
        "sim",
        &text,
        json!({"stream": false, "options": {"num_ctx": 512, "num_predict": 1}}),
    );
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    let model = Model {
        native_system: "x".into(),
        ..Model::new("sim")
    };
    let script = Script::new().step(Step::new(Reply::text("The answer.")).repeated());
    let server = Server::start(Config::new(script).profile(profile).models([model])).expect("a port is free");
    let response = chat(&server, &body);
    match response.status {
        200 => Ok(response.json()["prompt_eval_count"].as_u64().expect("a count")),
        status => Err((status, response.error())),
    }
}

/// Tokens of a native system block whose text is `x`.
fn native_system() -> usize {
    usize::try_from(ollama_sim::tokens::count("<|im_start|>system\nx<|im_end|>\n")).expect("small")
}

#[test]
fn a_prompt_too_long_is_cut_or_refused_at_the_exact_token() {
    let nested = |tokens: usize| {
        format!(
            "{{\"error\":{{\"code\":400,\"message\":\"request ({tokens} tokens) exceeds the available context size \
             (512 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":{tokens},\
             \"n_ctx\":512}}}}"
        )
    };
    let keep_all = json!({"truncate": false});
    for profile in [profile::V0_5_7, profile::V0_9_6, profile::V0_11_4] {
        assert_eq!(overflow(profile, 512, json!({})), Ok(512), "{profile:?}");
        assert_eq!(overflow(profile, 513, json!({})), Ok(512), "{profile:?}");
        assert_eq!(
            overflow(profile, 2000, keep_all.clone()),
            Ok(512),
            "the field is ignored: {profile:?}"
        );
    }
    for profile in [profile::V0_12_6, profile::V0_24_0] {
        assert_eq!(overflow(profile, 2000, json!({})), Ok(512));
        assert_eq!(overflow(profile, 512, keep_all.clone()), Ok(512));
        let refused = (400, "the input length exceeds the context length".to_owned());
        assert_eq!(overflow(profile, 513, keep_all.clone()), Err(refused));
    }
    let rendered = profile::V0_32_15;
    assert_eq!(overflow(rendered, 511, json!({})), Ok(511));
    assert_eq!(overflow(rendered, 512, json!({})), Ok(258), "512 - (512 - 4) / 2");
    assert_eq!(overflow(rendered, 511, keep_all.clone()), Ok(511));
    assert_eq!(overflow(rendered, 512, keep_all.clone()), Err((400, nested(512))));
    let longer = overflow(rendered, 512, json!({"shift": false})).unwrap_err();
    assert!(
        longer
            .1
            .starts_with("the prompt is longer than the context length currently available")
    );
    let native = profile::V0_32_15_NATIVE;
    assert_eq!(overflow(native, 511, json!({})), Ok(511));
    assert_eq!(overflow(native, 512, json!({})), Err((400, nested(512))));
    assert_eq!(overflow(native, 2000, keep_all), Err((400, nested(2000))));
}

#[test]
fn a_fact_that_was_cut_is_not_seen_and_the_account_says_so() {
    let script = Script::new()
        .when(
            [Match::PromptContains("heron".into())],
            Reply::text("It is heron."),
        )
        .when(
            [Match::PromptLacks("heron".into())],
            Reply::text("I do not know."),
        );
    let server = Server::start(Config::new(script).profile(profile::V0_11_4)).unwrap();
    let filler = "word ".repeat(150);
    let body = |num_ctx: u64| {
        json!({"model": "sim", "truncate": false, "options": {"num_ctx": num_ctx}, "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "The password is heron."},
            {"role": "assistant", "content": filler},
            {"role": "user", "content": "What is the password?"},
        ]})
    };
    assert_eq!(chat(&server, &body(4096)).content(), "It is heron.");
    assert_eq!(chat(&server, &body(185)).content(), "I do not know.");
    let account = server.chats()[1].chat.clone().unwrap();
    assert!(account.was_cut());
    assert_eq!((account.dropped_messages, account.cut_tokens), (1, 0));
    assert!(account.prompt.contains("Be brief."));
    assert!(account.prompt_tokens <= 185 && account.tokens_sent > 185);
    assert_eq!(server.finish(), Ok(()));
}

#[test]
fn shift_forgets_in_silence_or_stops() {
    let story = Reply::text(&"once there was a fox and ".repeat(80));
    let run = |profile: Profile, shift: Value| {
        let script = Script::new().reply(story.clone());
        let server = Server::start(Config::new(script).profile(profile)).unwrap();
        let body = ask(
            "sim",
            "Tell.",
            json!({"shift": shift, "options": {"num_ctx": 64}, "stream": false}),
        );
        let last = chat(&server, &body).last();
        let account = server.chats()[0].chat.clone().unwrap();
        let used = account.prompt_tokens + account.generated;
        (
            last["done_reason"].as_str().unwrap().to_owned(),
            used,
            account.shifted,
        )
    };
    let (reason, used, shifted) = run(profile::V0_24_0, json!(true));
    assert_eq!((reason.as_str(), used > 64, shifted), ("stop", true, true));
    assert_eq!(
        run(profile::V0_24_0, json!(false)),
        ("length".to_owned(), 65, false)
    );
    assert_eq!(
        run(profile::V0_32_15, json!(false)).1,
        256,
        "the engine's multiple of 256"
    );
    assert!(run(profile::V0_11_4, json!(false)).2, "the field is ignored");
}

#[test]
fn num_predict_zero_is_unlimited_or_one() {
    let run = |profile: Profile| {
        let script = Script::new().reply(Reply::text("one two three"));
        let server = Server::start(Config::new(script).profile(profile)).unwrap();
        chat(&server, &ask("sim", "x", json!({"options": {"num_predict": 0}}))).content()
    };
    assert_eq!(run(profile::V0_32_15), "one two three");
    assert_eq!(run(profile::V0_32_15_NATIVE), "one");
}
