//! The window: nothing is cut silently, prefixes are reused, overflow is met once, and what is known is said.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::Stage;
use ollama_sim::{Chunker, Config, Match, Model, Profile, Reply, Respond, Script, Seen, profile};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

fn settings(window: u64) -> Value {
    json!({"ollama": {"contextLength": window}, "approval": {"threshold": "never"}})
}

/// So many words of a reply, no stretch of it like another.
fn prose(words: usize) -> String {
    let words: Vec<String> = (0..words).map(|n| format!("word {n} of the reply, ")).collect();
    words.concat()
}

/// A model that calls a tool each time it is spoken to and then says something, so that histories grow.
struct Chatty {
    words: usize,
}

impl Respond for Chatty {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let after_result = seen.last().is_some_and(|m| m.role == "tool");
        Ok(if after_result || !seen.offers("read_file") {
            Reply::text(&prose(self.words))
        } else {
            Reply::call("read_file", json!({"path": "a.txt"}))
        })
    }
}

/// Plays random turns on a server that cuts silently, and says which request was cut.
fn cut_in(profile: Profile, window: u64, turns: &[(String, String)]) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let config = Config::new(Chatty { words: 20 }).profile(profile);
        let stage = Stage::new(config, &settings(window));
        let mut chat = stage.chat().await;
        for (prompt, text) in turns {
            // The text is read from a file in one turn and pasted in the next.
            stage.write("a.txt", text);
            chat.say(prompt).await;
            chat.say(&format!("{prompt} {text}")).await;
        }
        let cut = stage
            .accounts()
            .into_iter()
            .find(ollama_sim::ChatAccount::was_cut);
        cut.map(|c| format!("{} tokens of {} at {window}", c.tokens_sent, c.prompt_tokens))
    })
}

#[test]
fn nothing_over_the_window_is_sent_to_a_server_that_would_cut_it_silently() {
    let text = prop_oneof![
        3 => "[a-z]{1,9}( [a-z]{1,9}){0,200}",
        2 => "[{}\\[\\]\":,0-9a-f]{0,3000}",
        1 => "[0-9]{0,5000}",
        1 => "[日本語é ]{0,2500}",
    ];
    let turns = prop::collection::vec(("[a-z ]{1,20}".prop_map(|s| format!("say {s}")), text), 1..5);
    let windows = prop::sample::select(vec![4096_u64, 5000, 6144, 8192]);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
    // The three that cut without a word have most of the cases; the others refuse, and must not be asked to cut.
    let profiles = prop_oneof![
        3 => prop::sample::select(profile::ALL[..3].to_vec()),
        2 => prop::sample::select(profile::ALL[3..].to_vec()),
    ];
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    runner
        .run(&(profiles, windows, turns), |(profile, window, turns)| {
            seen.borrow_mut().insert(profile.name);
            prop_assert_eq!(cut_in(profile, window, &turns), None);
            Ok(())
        })
        .expect("no request is cut");
    assert!(
        seen.borrow().len() >= 5,
        "cases of most servers: {:?}",
        seen.borrow()
    );
}

/// The same on each of the seven servers, with texts that take many tokens a byte: no chance has to be lucky.
#[test]
fn on_no_server_is_a_dense_history_cut_silently() {
    let turns = [
        "[1,2],{3:4};".repeat(150),
        "日本語の文".repeat(120),
        "0123456789".repeat(150),
    ];
    let turns = turns.map(|text| ("say it".to_owned(), text));
    for profile in profile::ALL {
        assert_eq!(cut_in(profile, 4096, &turns), None, "{}", profile.name);
    }
}

#[tokio::test]
async fn a_prompt_that_cannot_surely_fit_is_not_sent_to_such_a_server() {
    let config = Config::new(Script::new()).profile(profile::V0_9_6);
    let stage = Stage::new(config, &settings(4096));
    let mut chat = stage.chat().await;
    let end = chat.say(&"[1,2]".repeat(4000)).await;
    assert_eq!(end.outcome, TurnOutcome::Error);
    assert!(chat.notes(NoteLevel::Error).contains("does not fit"));
    assert!(stage.accounts().is_empty());
}

/// Ten calls in one turn; then a word.
fn ten_calls() -> Script {
    let mut script = Script::new();
    for at in 0..10 {
        let call = Reply::call("read_file", json!({"path": format!("{at}.txt")}));
        script = match at {
            0 => script.reply(call),
            _ => script.when([Match::ToolResultContains(format!("file {}", at - 1))], call),
        };
    }
    script.when(
        [Match::ToolResultContains("file 9".into())],
        Reply::text("All read."),
    )
}

#[tokio::test]
async fn nine_tenths_of_each_request_of_a_tool_loop_are_reused() {
    for (at, profile) in profile::ALL.into_iter().enumerate() {
        // A way to cut the stream for each server: reuse is the server's count and does not depend on it.
        let chunker = Chunker::ALL[at % Chunker::ALL.len()];
        let config = Config::new(ten_calls()).profile(profile).chunker(chunker);
        let stage = Stage::new(config, &settings(16384));
        for at in 0..10 {
            stage.write(&format!("{at}.txt"), &format!("file {at}\nwith a line\n"));
        }
        let mut chat = stage.chat().await;
        assert_eq!(
            chat.say("read them all").await.outcome,
            TurnOutcome::Ok,
            "{}",
            profile.version
        );
        stage.server.finish().unwrap();
        let accounts = stage.accounts();
        assert_eq!(accounts.len(), 11);
        for (at, account) in accounts.iter().enumerate().skip(1) {
            let share = account.cached_tokens * 100 / account.prompt_tokens;
            assert!(share >= 90, "{}: request {at} reuses {share} %", profile.version);
            assert!(
                !account.loaded,
                "{}: request {at} loads the model again",
                profile.version
            );
        }
    }
}

/// The measure itself: two requests of the loop sent again by hand, the second one with a change that wisp must never
/// make, are far below.
#[tokio::test]
async fn tools_in_another_order_or_a_clock_in_the_instructions_are_not_reused() {
    let stage = Stage::new(Config::new(ten_calls()), &settings(16384));
    for at in 0..10 {
        stage.write(&format!("{at}.txt"), &format!("file {at}\nwith a line\n"));
    }
    let mut chat = stage.chat().await;
    chat.say("read them all").await;
    let bodies = stage.bodies();
    for body in &bodies {
        assert_eq!(
            body["tools"], bodies[0]["tools"],
            "the tools are the same in every request"
        );
        assert_eq!(
            body["messages"][0], bodies[0]["messages"][0],
            "and so is the system message"
        );
    }
    let turned = |body: &mut Value| body["tools"].as_array_mut().unwrap().reverse();
    let clocked = |body: &mut Value| {
        let system = body["messages"][0]["content"].as_str().unwrap();
        let text = format!(
            "It is {} o'clock.\n{system}",
            body["messages"].as_array().unwrap().len()
        );
        body["messages"][0]["content"] = text.into();
    };
    let untouched = |_: &mut Value| {};
    assert!(
        reused(&bodies, untouched)
            .await
            .into_iter()
            .all(|share| share >= 90)
    );
    for change in [&turned as &dyn Fn(&mut Value), &clocked] {
        for profile in [profile::V0_11_4, profile::V0_24_0, profile::V0_32_15_NATIVE] {
            let shares = reused_on(profile, &bodies, change).await;
            assert!(
                shares.iter().any(|share| *share < 90),
                "{}: {shares:?}",
                profile.name
            );
        }
    }
}

async fn reused(bodies: &[Value], change: impl Fn(&mut Value)) -> Vec<u64> {
    reused_on(profile::V0_24_0, bodies, &change).await
}

/// The share of each request after the first that is reused, when every second one is changed so.
async fn reused_on(profile: Profile, bodies: &[Value], change: &dyn Fn(&mut Value)) -> Vec<u64> {
    let server = ollama_sim::Server::start(Config::new(Chatty { words: 1 }).profile(profile)).unwrap();
    for (at, body) in bodies.iter().enumerate() {
        let mut body = body.clone();
        if at % 2 == 1 {
            change(&mut body);
        }
        common::post(&server, "/api/chat", &body).await;
    }
    let chats = server.chats().into_iter().filter_map(|r| r.chat);
    let shares = chats.map(|chat| chat.cached_tokens * 100 / chat.prompt_tokens);
    shares.skip(1).collect()
}

#[tokio::test]
async fn a_refused_prompt_is_condensed_and_asked_again_once() {
    for profile in [
        profile::V0_12_6,
        profile::V0_24_0,
        profile::V0_32_15,
        profile::V0_32_15_NATIVE,
    ] {
        let config = Config::new(Chatty { words: 280 }).profile(profile);
        let stage = Stage::new(config, &settings(8192));
        let mut chat = stage.chat().await;
        stage.write("a.txt", &"plain words of prose ".repeat(100));
        assert_eq!(chat.say("first?").await.outcome, TurnOutcome::Ok);
        assert_eq!(chat.say("second?").await.outcome, TurnOutcome::Ok);
        // Far more tokens a byte than what was learned so far.
        let dense = "[1,2],{3:4};".repeat(378);
        let end = chat.say(&dense).await;
        assert_eq!(
            end.outcome,
            TurnOutcome::Ok,
            "{}: {}",
            profile.version,
            chat.notes(NoteLevel::Error)
        );
        let refused = stage
            .server
            .chats()
            .iter()
            .filter(|r| r.status == Some(400))
            .count();
        assert_eq!(
            refused,
            1,
            "{} {:?}",
            profile.version,
            stage.accounts().iter().map(|a| a.tokens_sent).collect::<Vec<_>>()
        );
        assert!(stage.accounts().iter().all(|a| !a.was_cut()));
    }
}

#[tokio::test]
async fn a_window_the_server_did_not_grant_is_noticed() {
    let model = Model {
        has_model_info: false,
        ..Model::new("sim").with_context_length(8192)
    };
    let config = Config::new(Chatty { words: 1 })
        .models([model])
        .profile(profile::V0_24_0);
    let stage = Stage::new(config, &settings(16384));
    let mut chat = stage.chat().await;
    chat.say("hello").await;
    let status = chat.slash("/status").await;
    assert!(status.contains("8,192 tokens"), "{status}");
    assert!(
        chat.notes(NoteLevel::Warning)
            .contains("granted a window of 8,192"),
        "{}",
        chat.notes(NoteLevel::Warning)
    );
}

#[tokio::test]
async fn a_cut_prompt_is_noticed_by_its_count_and_its_calls_are_not_run() {
    // The server's window is a quarter of what was asked for, and an old server says so nowhere.
    let model = Model {
        has_model_info: false,
        ..Model::new("sim").with_context_length(4096)
    };
    let config = Config::new(Chatty { words: 1 })
        .models([model])
        .profile(profile::V0_9_6);
    let stage = Stage::new(config, &settings(16384));
    stage.write("a.txt", "short\n");
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("hello").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    let ran = stage.audited("tool.call").len();
    let end = chat.say(&"a long request of many words ".repeat(900)).await;
    assert_eq!(end.outcome, TurnOutcome::Error);
    assert_eq!(
        stage.audited("tool.call").len(),
        ran,
        "no call of a cut prompt is run"
    );
    let said = format!(
        "{}\n{}",
        chat.notes(NoteLevel::Warning),
        chat.notes(NoteLevel::Error)
    );
    assert!(said.contains("the server read only"), "{said}");
}

#[tokio::test]
async fn what_was_learned_of_a_model_is_there_in_the_next_conversation() {
    let stage = Stage::new(Config::new(Chatty { words: 1 }), &settings(16384));
    stage.write("a.txt", "short\n");
    let mut chat = stage.chat().await;
    chat.say("hello").await;
    let learned = chat.slash("/tokens").await;
    chat.quit().await;
    let kept = common::read(&stage.home().join("estimates.json"));
    let ratio: Value = serde_json::from_str(&kept).unwrap();
    let ratio = ratio["sim"].as_f64().unwrap();
    assert!(
        learned.contains(&format!("{ratio:.1} bytes a token")),
        "{learned} {kept}"
    );
    let mut next = stage.chat().await;
    let first = next.slash("/tokens").await;
    assert!(first.contains(&format!("{ratio:.1} bytes a token")), "{first}");
}

#[tokio::test]
async fn a_template_that_finds_no_request_is_a_window_too_small() {
    let complaint = "Jinja Exception: no user query found in messages.";
    for profile in [profile::V0_24_0, profile::V0_32_15_NATIVE] {
        let script = Script::new()
            .reply(Reply::text(&prose(300)))
            .reply(Reply::text(&prose(300)))
            .reply(Reply::new().error(complaint))
            .when([Match::LastContains("third?".into())], Reply::text("There."));
        let stage = Stage::new(Config::new(script).profile(profile), &settings(8192));
        let mut chat = stage.chat().await;
        for prompt in ["first?", "second?", "third?"] {
            let end = chat.say(prompt).await;
            assert_eq!(
                end.outcome,
                TurnOutcome::Ok,
                "{}: {}",
                profile.name,
                chat.notes(NoteLevel::Error)
            );
        }
        stage.server.finish().unwrap();
        let bodies = stage.bodies();
        let [.., refused, again] = bodies.as_slice() else {
            unreachable!("four requests")
        };
        let bytes = |body: &Value| body["messages"].to_string().len();
        assert!(bytes(again) < bytes(refused), "{}: room was made", profile.name);
        assert_eq!(
            again["messages"].as_array().unwrap().last().unwrap()["role"],
            "user"
        );
    }
}
