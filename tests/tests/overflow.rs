//! A request longer than the server's window, through the real binary, by what servers of each era do then: refuse it
//! in their own words, cut it without a word, or no longer have the model. Every request carries the window that wisp
//! counts with, the person is told once, and the conversation goes on.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::io::{Read, Write};
use std::time::Duration;

use ollama_sim::profile::{self, Profile};
use ollama_sim::{Capability, Config, Model, Received, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, notes, outcome};

const PATIENCE: Duration = Duration::from_secs(40);
/// What the person asks when the request becomes too long.
const DENSE: &str = "is this row right?";

/// A home, with its server.
struct Scene {
    server: Server,
    wisp: Wisp,
}

impl Scene {
    fn new(
        window: u64,
        profile: Profile,
        model: Model,
        rule: impl FnMut(&Seen) -> Reply + Send + 'static,
    ) -> Self {
        let config = Config::new(rule)
            .profile(profile)
            .models([model, Model::new("other")]);
        let server = Server::start(config).unwrap();
        let wisp = Wisp::with(&server);
        wisp.configure(&json!({
            "model": "sim",
            "ollama": {"contextLength": window},
            "context": {"target": 0.65},
        }));
        Self { server, wisp }
    }

    fn talk(&self) -> Talk {
        let mut talk = Talk::start(&self.wisp, &["--save", "work"], PATIENCE);
        talk.until("wish for a line", |e| e["type"] == "status");
        talk
    }

    /// Every chat: as it came, with the messages in it.
    fn chats(&self) -> Vec<(Received, Vec<Value>)> {
        let chats = self.server.chats().into_iter();
        let messages = |r: &Received| r.json.as_ref()?["messages"].as_array().cloned();
        chats.filter_map(|r| messages(&r).map(|m| (r, m))).collect()
    }

    /// The events of a kind in the one audit file.
    fn audited(&self, kind: &str) -> Vec<Value> {
        let mut events = self.wisp.audit();
        events.retain(|e| e["kind"] == kind);
        events
    }

    /// Each request has the window wisp counts with, as its own record of that request says.
    fn windows_agree(&self, of: &str) {
        let sent: Vec<u64> = self
            .chats()
            .iter()
            .map(|(r, _)| r.json.as_ref().unwrap()["options"]["num_ctx"].as_u64().unwrap())
            .collect();
        let counted: Vec<u64> = self
            .audited("model.request")
            .iter()
            .map(|e| e["details"]["contextSize"].as_u64().unwrap())
            .collect();
        assert_eq!(sent, counted, "{of}");
        assert!(!sent.is_empty(), "{of}");
        let measured = self.audited("context.pressure");
        let last = measured.last().unwrap()["details"]["window"].as_u64();
        assert_eq!(last.as_ref(), counted.last(), "{of}");
    }
}

fn prose(times: usize) -> String {
    "the tide at the station rises and falls as it did before, and so the keeper wrote. ".repeat(times)
}

/// Text that has about as many tokens as bytes, which no estimate from prose foresees.
fn dense(bytes: usize) -> String {
    format!("{} {DENSE}", "7,".repeat(bytes / 2))
}

/// A model that says little.
fn brief(_: &Seen) -> Reply {
    Reply::text("The tide is high.")
}

fn text(messages: &[Value]) -> String {
    Value::from(messages).to_string()
}

#[test]
fn where_everything_fits_nothing_is_said() {
    for of in profile::ALL {
        let scene = Scene::new(8192, of, Model::new("sim"), brief);
        let mut talk = scene.talk();
        for turn in 1..=3 {
            let events = talk.say(&format!("part {turn}: {}", prose(3)));
            assert_eq!(outcome(&events), "ok", "{}", of.name);
            assert_eq!(notes(&events, "warning"), Vec::<String>::new(), "{}", of.name);
        }
        talk.leave();
        scene.windows_agree(of.name);
    }
}

/// Every release, each with its own answer to a prompt that is longer than its window.
#[test]
fn a_request_over_the_window_is_met_in_its_turn_on_every_server() {
    for of in profile::ALL {
        let scene = Scene::new(8192, of, Model::new("sim"), brief);
        let mut talk = scene.talk();
        for turn in 1..=8 {
            assert_eq!(outcome(&talk.say(&format!("part {turn}: {}", prose(21)))), "ok");
        }
        let asked = dense(2250);
        let events = talk.say(&asked);
        let (warned, failed) = (notes(&events, "warning"), notes(&events, "error"));
        assert_eq!(outcome(&events), "ok", "{}: {warned:?} {failed:?}", of.name);
        let next = talk.say("and the next one?");
        assert_eq!(
            (outcome(&next), notes(&next, "warning").len()),
            (json!("ok"), 0),
            "{}",
            of.name
        );
        talk.leave();
        scene.windows_agree(of.name);
        let chats = scene.chats();
        let refused = chats.iter().filter(|(r, _)| r.chat.is_none()).count();
        // What an old server would cut without a word is not sent; a newer one says that it is too long, once.
        let (told, tries) = if of.overflow_fields { (1, 1) } else { (0, 0) };
        assert_eq!((warned.len(), refused), (told, tries), "{}: {warned:?}", of.name);
        if let Some(said) = warned.first() {
            assert!(
                said.contains("the prompt does not fit the model's window"),
                "{}: {said}",
                of.name
            );
        }
        let made = scene.audited("context.condensation");
        assert_eq!(made[0]["details"]["reason"], "overflow", "{}", of.name);
        for (received, messages) in &chats {
            let account = received.chat.as_ref();
            assert!(
                !account.is_some_and(ollama_sim::ChatAccount::was_cut),
                "{}: {}",
                of.name,
                text(messages)
            );
        }
        let (_, last) = &chats[chats.len() - 2];
        assert!(
            last.last().unwrap()["content"]
                .as_str()
                .unwrap()
                .ends_with(&asked),
            "{}",
            of.name
        );
    }
}

/// A server that says `told` of every request above a size of its own, whatever window it was asked for.
fn says(told: impl Fn(u64) -> Reply + Send + 'static) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    move |seen| match seen.prompt_tokens {
        few @ 0..=7000 => brief_of(few),
        tokens => told(tokens),
    }
}

fn brief_of(_: u64) -> Reply {
    Reply::text("The tide is high.")
}

#[test]
fn a_refusal_in_other_words_is_known_as_one_of_the_window_and_the_turn_is_made_again() {
    let no_query = |_| Reply::new().error("no user query found in messages");
    let counts = |tokens| {
        let body =
            json!({"error": format!("input length ({tokens} tokens) exceeds the context length (7000)")});
        Reply::foreign(400, Some("application/json"), &body.to_string())
    };
    let native = profile::V0_32_15_NATIVE;
    let scenes = [
        (
            "no user query",
            Scene::new(8192, profile::V0_24_0, Model::new("sim"), says(no_query)),
        ),
        (
            "no user query, nested",
            Scene::new(8192, native, Model::new("sim"), says(no_query)),
        ),
        (
            "input length",
            Scene::new(8192, profile::V0_32_15, Model::new("sim"), says(counts)),
        ),
    ];
    for (of, scene) in scenes {
        let mut talk = scene.talk();
        for turn in 1..=8 {
            assert_eq!(
                outcome(&talk.say(&format!("part {turn}: {}", prose(21)))),
                "ok",
                "{of}"
            );
        }
        let asked = dense(2250);
        let events = talk.say(&asked);
        let warned = notes(&events, "warning");
        assert_eq!(
            outcome(&events),
            "ok",
            "{of}: {warned:?} {:?}",
            notes(&events, "error")
        );
        assert_eq!(warned.len(), 1, "{of}: {warned:?}");
        assert!(
            warned[0].starts_with("the prompt does not fit the model's window"),
            "{of}: {warned:?}"
        );
        let next = talk.say("and the next one?");
        assert_eq!(
            (outcome(&next), notes(&next, "warning").len()),
            (json!("ok"), 0),
            "{of}"
        );
        talk.leave();
        scene.windows_agree(of);
        let done = scene.audited("context.condensation");
        assert_eq!(done[0]["details"]["reason"], "overflow", "{of}");
        let chats = scene.chats();
        let [.., (_, refused), (_, again), _] = chats.as_slice() else {
            unreachable!("there are more than three")
        };
        assert!(again.len() < refused.len(), "{of}");
        assert_eq!(again.last(), refused.last(), "{of}: the same request");
    }
}

/// The newest release behind a proxy that drops what it does not know from a request.
fn behind_a_proxy() -> Profile {
    Profile {
        name: "0.32.15 behind a proxy",
        overflow_fields: false,
        ..profile::V0_32_15
    }
}

fn without_tools() -> Model {
    Model::new("sim").with_capabilities(&[Capability::Completion])
}

/// A text whose figures have no commas in them.
fn ungrouped(text: &str) -> String {
    text.replace(',', "")
}

#[test]
fn a_prompt_cut_to_half_the_window_without_a_word_is_told_with_both_numbers_and_not_counted() {
    let scene = Scene::new(4096, behind_a_proxy(), without_tools(), brief);
    let mut talk = scene.talk();
    for turn in 1..=2 {
        assert_eq!(outcome(&talk.say(&format!("part {turn}: {}", prose(5)))), "ok");
    }
    // Longer than the window all by itself: the server keeps 2,050 tokens of it.
    let events = talk.say(&dense(6000));
    let cut = scene.chats().pop().unwrap().0.chat.unwrap();
    assert_eq!((cut.prompt_tokens, cut.was_cut()), (2050, true));
    let warned = notes(&events, "warning");
    let cuts: Vec<_> = warned
        .iter()
        .filter(|w| w.contains("read only"))
        .map(|w| ungrouped(w))
        .collect();
    assert_eq!(cuts.len(), 1, "{warned:?}");
    // The one asked again, without the turns before, is cut as well: that is the turn's error.
    let requests = scene.audited("model.request");
    let about = requests[requests.len() - 2]["details"]["tokens"].clone();
    assert!(
        cuts[0].starts_with(&format!("the server read only 2050 of about {about} tokens")),
        "{cuts:?}"
    );
    assert_eq!(outcome(&events), "error");
    let failed = notes(&events, "error");
    assert!(
        failed[0].contains("read only 2,050 of about ") && failed[0].contains("ollama.contextLength"),
        "{failed:?}"
    );
    assert!(
        !talk.seen.iter().any(|e| e.to_string().contains("2,050 of 4,096")),
        "it is no size"
    );
    // The turn that failed leaves, and the conversation goes on.
    let next = talk.say("and the next one?");
    assert_eq!(outcome(&next), "ok", "{:?}", notes(&next, "error"));
    talk.leave();
    scene.windows_agree("half the window");
}

#[test]
fn messages_dropped_without_a_word_are_noticed_and_the_turn_is_made_again_with_less() {
    let scene = Scene::new(4096, behind_a_proxy(), without_tools(), brief);
    let mut talk = scene.talk();
    for turn in 1..=7 {
        assert_eq!(outcome(&talk.say(&format!("part {turn}?"))), "ok");
    }
    assert_eq!(outcome(&talk.say(&format!("part 8: {}", prose(103)))), "ok");
    let before = scene.chats().pop().unwrap().0.chat.unwrap().prompt_tokens;
    let asked = dense(1700);
    let events = talk.say(&asked);
    let (warned, failed) = (notes(&events, "warning"), notes(&events, "error"));
    let chats = scene.chats();
    let [.., (cut, _), (again, messages)] = chats.as_slice() else {
        unreachable!("asked once more: {} {warned:?} {failed:?}", chats.len())
    };
    let (cut, again) = (cut.chat.as_ref().unwrap(), again.chat.as_ref().unwrap());
    assert!(
        cut.dropped_messages > 0 && cut.prompt_tokens < before,
        "{} {before}",
        cut.prompt_tokens
    );
    assert_eq!(outcome(&events), "ok", "{warned:?} {failed:?}");
    assert_eq!(
        warned.iter().filter(|w| w.contains("read only")).count(),
        1,
        "{warned:?}"
    );
    assert!(
        ungrouped(&warned[0]).starts_with(&format!("the server read only {} of about ", cut.prompt_tokens)),
        "{warned:?}"
    );
    assert!(
        !again.was_cut()
            && messages.last().unwrap()["content"]
                .as_str()
                .unwrap()
                .ends_with(&asked)
    );
    assert_eq!(outcome(&talk.say("and the next one?")), "ok");
    talk.leave();
    scene.windows_agree("dropped messages");
}

/// Deletes a model of the server, as another program would.
fn delete(server: &Server, model: &str) {
    let body = json!({ "model": model }).to_string();
    let mut connection = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let length = body.len();
    write!(
        connection,
        "DELETE /api/delete HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_model_that_is_gone_is_named_and_the_conversation_goes_on_with_another() {
    for of in profile::ALL {
        let scene = Scene::new(8192, of, Model::new("sim"), brief);
        let mut talk = scene.talk();
        assert_eq!(outcome(&talk.say("hello")), "ok");
        delete(&scene.server, "sim");
        let events = talk.say("still there?");
        assert_eq!(outcome(&events), "error", "{}", of.name);
        let failed = notes(&events, "error");
        assert_eq!(failed.len(), 1, "{}: {failed:?}", of.name);
        assert!(
            failed[0].contains("sim") && failed[0].contains("not found"),
            "{}: {failed:?}",
            of.name
        );
        talk.send(&json!({"type": "message", "text": "/model other"}));
        let next = talk.say("and now?");
        assert_eq!(outcome(&next), "ok", "{}: {:?}", of.name, notes(&next, "error"));
        talk.leave();
        let (received, messages) = scene.chats().pop().unwrap();
        assert_eq!(received.json.unwrap()["model"], "other", "{}", of.name);
        assert!(text(&messages).contains("hello"), "{}", of.name);
        scene.windows_agree(of.name);
    }
}
