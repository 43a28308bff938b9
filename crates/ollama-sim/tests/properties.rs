//! What holds for every conversation: the cut keeps the promise of the window, and the count is the text's.

#![allow(clippy::unwrap_used, reason = "test code outside a test function")]

mod common;

use std::sync::OnceLock;

use common::chat;
use ollama_sim::{Config, Profile, Reply, Script, Server, Step, profile, tokens};
use proptest::prelude::*;
use serde_json::{Value, json};

fn server(at: usize) -> &'static Server {
    static SERVERS: OnceLock<Vec<Server>> = OnceLock::new();
    let start = |profile: Profile| {
        let script = Script::new().step(Step::new(Reply::text("ok")).repeated());
        Server::start(Config::new(script).profile(profile)).expect("a port is free")
    };
    &SERVERS.get_or_init(|| profile::ALL.into_iter().map(start).collect())[at]
}

fn conversation() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-zé ,.\n]{0,80}", 1..12)
}

fn messages(texts: &[String]) -> Vec<Value> {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let turns = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({"role": role(at), "content": text}));
    std::iter::once(json!({"role": "system", "content": "Stay."}))
        .chain(turns)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is sent, the model sees at most its window, and the count it is told is that of what it sees.
    #[test]
    fn a_prompt_never_exceeds_its_window(texts in conversation(), window in 40_u64..400, at in 0_usize..7) {
        let server = server(at);
        let before = server.chats().len();
        let body = json!({"model": "sim", "stream": false, "messages": messages(&texts),
                          "options": {"num_ctx": window, "num_predict": 1}});
        let response = chat(server, &body);
        let native = at == 6;
        if response.status == 200 {
            let account = server.chats()[before].chat.clone().expect("it reached the model");
            let allotted = if at >= 5 { window.next_multiple_of(256) } else { window };
            prop_assert!(account.prompt_tokens <= allotted);
            let count = tokens::count(&account.prompt);
            // Where tokens were cut out, the two that meet may read as one.
            prop_assert!(count == account.prompt_tokens || (account.cut_tokens > 0 && count + 1 == account.prompt_tokens));
            prop_assert_eq!(response.json()["prompt_eval_count"].as_u64(), Some(account.prompt_tokens));
            let fits = account.tokens_sent < window;
            prop_assert!(!(fits && account.was_cut()), "nothing is cut that fits");
        } else {
            prop_assert!(native, "{}", response.text());
        }
    }

    /// A conversation that only grows reuses everything it sent before, but for its very end.
    #[test]
    fn a_growing_conversation_reuses_its_prefix(texts in conversation()) {
        let script = Script::new().step(Step::new(Reply::text("ok")).repeated());
        let server = Server::scripted(script).expect("a port is free");
        let texts: Vec<String> = texts.into_iter().map(|t| format!("x{t}")).collect();
        let mut held = 0;
        for end in (1..=texts.len()).step_by(2) {
            let body = json!({"model": "sim", "messages": messages(&texts[..end]), "options": {"num_ctx": 32768}});
            prop_assert_eq!(chat(&server, &body).status, 200);
            let account = server.chats().pop().and_then(|r| r.chat).expect("it reached the model");
            // `<|im_start|>assistant\n` is followed by another text than the one generated.
            prop_assert!(account.cached_tokens >= held, "{} < {held}", account.cached_tokens);
            held = account.prompt_tokens;
        }
    }
}
