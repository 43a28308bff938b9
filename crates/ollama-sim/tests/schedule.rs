//! Loading, queueing and keeping alive, on a clock that the test moves.

#![allow(clippy::unwrap_used, reason = "test code outside a test function")]

mod common;

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{Response, ask, chat, get, receive, send};
use ollama_sim::{Clock, Config, Ended, Model, Profile, Reply, Script, Server, Step, profile};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);
/// Long enough to notice bytes that should not come, short enough not to be felt.
const MOMENT: Duration = Duration::from_millis(30);

fn slow(load: Duration, profile: Profile, clock: &Clock) -> Server {
    let script = Script::new().step(Step::new(Reply::text("ready")).repeated());
    let models = [
        Model::new("sim").with_load(load),
        Model::new("other").with_load(load),
    ];
    Server::start(
        Config::new(script)
            .models(models)
            .profile(profile)
            .clock(clock.clone()),
    )
    .unwrap()
}

fn open(server: &Server, body: &Value) -> TcpStream {
    send(server, "POST", "/api/chat", &[], body.to_string().as_bytes())
}

fn hi(more: Value) -> Value {
    ask("sim", "Say hi.", more)
}

fn is_silent(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(MOMENT)).unwrap();
    let silent = stream.read(&mut [0]).is_err();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    silent
}

/// Waits, without sleeping, for something the server's own thread is about to do.
fn until(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "it did not come");
        std::thread::yield_now();
    }
}

fn total_seconds(response: &Response) -> u64 {
    response.last()["total_duration"].as_u64().unwrap() / 1_000_000_000
}

fn load_seconds(response: &Response) -> u64 {
    response.last()["load_duration"].as_u64().unwrap() / 1_000_000_000
}

#[test]
fn a_load_sends_nothing_not_even_headers() {
    let clock = Clock::manual();
    let server = slow(Duration::from_secs(90), profile::V0_24_0, &clock);
    let mut stream = open(&server, &hi(json!({})));
    assert!(clock.wait_for_sleepers(1, PATIENCE));
    clock.advance(Duration::from_secs(89));
    assert!(is_silent(&mut stream));
    assert_eq!(get(&server, "/api/version").status, 200);
    let loading = get(&server, "/api/ps").json();
    assert_eq!(loading["models"][0]["expires_at"], "0001-01-01T00:00:00Z");
    clock.advance(Duration::from_secs(1));
    let response = receive(stream);
    assert_eq!(
        (response.content().as_str(), load_seconds(&response)),
        ("ready", 90)
    );
    assert_eq!(server.counters().loads, 1);
}

#[test]
fn in_late_releases_ps_waits_for_the_load() {
    let clock = Clock::manual();
    let server = slow(Duration::from_secs(90), profile::V0_32_15, &clock);
    let chat = open(&server, &hi(json!({"options": {"num_ctx": 1000}})));
    assert!(clock.wait_for_sleepers(1, PATIENCE));
    let mut ps = send(&server, "GET", "/api/ps", &[], b"");
    assert!(server.wait_until(PATIENCE, |r| r.len() == 2));
    assert!(is_silent(&mut ps));
    clock.advance(Duration::from_secs(90));
    assert_eq!(receive(ps).json()["models"][0]["context_length"], 1000);
    assert_eq!(receive(chat).content(), "ready");
}

#[test]
fn requests_queue_and_too_many_are_refused() {
    let clock = Clock::manual();
    let script = Script::new()
        .reply(Reply::text("first").silence_ms(10_000))
        .reply(Reply::text("second"));
    let config = Config {
        max_queue: 1,
        ..Config::new(script)
    };
    let server = Server::start(config.clock(clock.clone())).unwrap();
    let load = |_: &Server| clock.wait_for_sleepers(1, PATIENCE);
    let first = open(&server, &hi(json!({})));
    assert!(load(&server));
    let mut second = open(&server, &hi(json!({})));
    until(|| server.counters().waiting == 1);
    assert!(is_silent(&mut second));
    let third = receive(open(&server, &hi(json!({}))));
    assert_eq!(third.status, 503);
    assert_eq!(
        third.error(),
        "server busy, please try again.  maximum pending requests exceeded"
    );
    clock.advance(Duration::from_secs(10));
    assert_eq!(receive(first).content(), "first");
    let second = receive(second);
    assert_eq!(second.content(), "second");
    assert_eq!(
        (load_seconds(&second), total_seconds(&second)),
        (0, 10),
        "the wait for a loaded model is no load"
    );
    assert_eq!(server.counters().refused, 1);
}

#[test]
fn leaving_is_noticed_wherever_it_happens() {
    let clock = Clock::manual();
    let server = slow(Duration::from_secs(5), profile::V0_24_0, &clock);
    let loading = open(&server, &hi(json!({})));
    assert!(clock.wait_for_sleepers(1, PATIENCE));
    let queued = open(&server, &hi(json!({})));
    until(|| server.counters().waiting == 1);
    drop(queued);
    assert!(server.wait_until(PATIENCE, |r| r[1].ended == Ended::ClientLeft));
    drop(loading);
    assert!(server.wait_until(PATIENCE, |r| r[0].ended == Ended::ClientLeft));
    let counters = server.counters();
    assert_eq!(
        (counters.left_queue, counters.left_load, counters.loads),
        (1, 1, 0)
    );
    // The load was aborted: the next request begins another.
    let next = open(&server, &hi(json!({})));
    assert!(clock.wait_for_sleepers(1, PATIENCE));
    clock.advance(Duration::from_secs(5));
    assert_eq!(receive(next).content(), "ready");
}

/// Chats with a server on an instant clock and says whether that loaded the model.
fn loads(server: &Server, more: Value) -> bool {
    let before = server.counters().loads;
    let response = chat(server, &hi(more));
    assert_eq!(response.status, 200, "{}", response.text());
    server.counters().loads > before
}

#[test]
fn load_time_options_load_again_and_others_do_not() {
    let clock = Clock::instant();
    let server = slow(Duration::from_secs(1), profile::V0_24_0, &clock);
    assert!(loads(&server, json!({"options": {"num_ctx": 2048}})));
    assert!(!loads(
        &server,
        json!({"options": {"num_ctx": 2048, "temperature": 0.2, "seed": 3}, "shift": false})
    ));
    assert!(loads(&server, json!({"options": {"num_ctx": 4096}})));
    assert!(!loads(&server, json!({"options": {}})), "4096 is the default");
    assert!(!loads(&server, json!({"options": {"num_gpu": -1}})));
    assert!(loads(&server, json!({"options": {"num_batch": 64}})));
    let late = slow(Duration::from_secs(1), profile::V0_32_15, &clock);
    assert!(loads(&late, json!({})));
    assert!(!loads(&late, json!({"shift": true})));
    assert!(loads(&late, json!({"shift": false})));
    assert_eq!(late.counters().reloads, 1);
}

#[test]
fn models_are_kept_as_long_as_asked() {
    let clock = Clock::instant();
    let server = slow(Duration::from_secs(1), profile::V0_24_0, &clock);
    assert!(loads(&server, json!({})));
    clock.advance(Duration::from_secs(299));
    assert!(!loads(&server, json!({})));
    clock.advance(Duration::from_mins(5));
    assert!(loads(&server, json!({"keep_alive": -1})));
    clock.advance(Duration::from_hours(1));
    assert!(!loads(&server, json!({})), "what was not said is unchanged");
    let listed = get(&server, "/api/ps").json();
    assert!(
        listed["models"][0]["expires_at"]
            .as_str()
            .unwrap()
            .starts_with("2318-")
    );
    assert!(!loads(&server, json!({"keep_alive": 0})));
    assert!(loads(&server, json!({"keep_alive": "10m"})));
    let unload = chat(&server, &json!({"model": "sim", "keep_alive": 0}));
    assert_eq!(unload.json()["done_reason"], "unload");
    assert_eq!(get(&server, "/api/ps").json(), json!({"models": []}));
    let load = chat(
        &server,
        &json!({"model": "sim", "message": [{"role": "user", "content": "misspelt"}]}),
    );
    assert_eq!(
        (load.json()["done_reason"].clone(), load.header("content-type")),
        (json!("load"), Some("application/json; charset=utf-8"))
    );
}

#[test]
fn a_load_that_fails_says_so_and_nothing_is_loaded() {
    let text = "model requires more system memory (5.5 GiB) than is available (3.1 GiB)";
    let models = [Model::new("sim").with_load_error(text)];
    let server = Server::start(Config::default().models(models)).unwrap();
    let response = chat(&server, &hi(json!({})));
    assert_eq!((response.status, response.error().as_str()), (500, text));
    assert_eq!(server.counters().loads, 0);
    assert_eq!(get(&server, "/api/ps").json(), json!({"models": []}));
}

#[test]
fn the_model_used_longest_ago_gives_way() {
    let script = Script::new().step(Step::new(Reply::text("x")).repeated());
    let models = ["a", "b"].map(Model::new);
    let server = Server::start(Config {
        max_loaded: 1,
        ..Config::new(script).models(models)
    })
    .unwrap();
    for model in ["a", "b", "a"] {
        assert_eq!(chat(&server, &ask(model, "x", json!({}))).status, 200);
    }
    assert_eq!(server.counters().loads, 3);
    assert_eq!(get(&server, "/api/ps").json()["models"][0]["name"], "a:latest");
    assert!(server.evict("a") && !server.evict("a"));
}
