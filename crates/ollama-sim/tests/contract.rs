//! One contract for the simulator and for a real server.
//!
//! The same assertions run against every profile and, when `WISP_REAL_OLLAMA` names one (`host:port`), against a
//! real server with the model `WISP_REAL_MODEL` (the first that is listed, else). Nothing here is about a model's
//! words. Without a real server it says so and has still judged the simulator.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "test code outside a test function"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a test asks the environment for a server to test against"
)]

mod common;

use common::{Address, ask, chat, get, post};
use ollama_sim::{Config, Model, Reply, Script, Server, Step, profile};
use serde_json::{Value, json};

/// A server under test and a model it has.
struct Subject {
    server: String,
    model: String,
}

impl Subject {
    fn ask(&self, text: &str, more: Value) -> common::Response {
        chat(&self.server, &ask(&self.model, text, more))
    }
}

/// Options that keep a small machine's answer short.
fn brief(num_predict: u32) -> Value {
    json!({"num_ctx": 512, "num_predict": num_predict, "temperature": 0, "seed": 1})
}

type Clause = fn(&Subject);

const CONTRACT: [(&str, Clause); 7] = [
    ("it says its version and lists its models", lists),
    ("a stream ends with its counts", streams),
    ("a whole answer is one object", answers_whole),
    (
        "the same prompt has the same count, a longer one a larger",
        counts,
    ),
    ("what is malformed is refused in words", refuses),
    ("an unknown model is 404", misses),
    ("an empty chat loads and unloads", loads),
];

fn lists(subject: &Subject) {
    assert!(get(&subject.server, "/api/version").json()["version"].is_string());
    let tags = get(&subject.server, "/api/tags").json();
    assert!(
        tags["models"]
            .as_array()
            .unwrap()
            .iter()
            .any(|m| m["digest"].is_string())
    );
    let show = post(&subject.server, "/api/show", &json!({"model": subject.model})).json();
    assert!(show["details"]["format"].is_string());
}

fn streams(subject: &Subject) {
    let response = subject.ask("Count to ten.", json!({"options": brief(8)}));
    assert_eq!(
        (response.status, response.header("content-type")),
        (200, Some("application/x-ndjson"))
    );
    let last = response.last();
    assert_eq!(last["done"], true);
    assert!(["stop", "length"].contains(&last["done_reason"].as_str().unwrap()));
    assert!(last["prompt_eval_count"].as_u64() > Some(0) && last["eval_count"].as_u64() <= Some(8));
    assert!(response.lines().iter().rev().skip(1).all(|l| l["done"] == false));
}

fn answers_whole(subject: &Subject) {
    let response = subject.ask("Count to ten.", json!({"stream": false, "options": brief(4)}));
    assert_eq!(response.lines().len(), 1);
    assert_eq!(response.json()["message"]["role"], "assistant");
}

fn counts(subject: &Subject) {
    let count = |text: &str| {
        let response = subject.ask(text, json!({"stream": false, "options": brief(1)}));
        response.json()["prompt_eval_count"].as_u64().unwrap()
    };
    let short = count("One.");
    assert_eq!(count("One."), short);
    assert!(count("One. Two. Three. Four. Five. Six.") > short);
}

fn refuses(subject: &Subject) {
    let content = json!({"model": subject.model, "messages": [{"role": "user", "content": [1]}]});
    let refused = chat(&subject.server, &content);
    assert_eq!(refused.status, 400);
    assert!(
        refused
            .error()
            .starts_with("json: cannot unmarshal array into Go struct field")
    );
    let keep = subject.ask("x", json!({"keep_alive": "300"}));
    assert_eq!(
        (keep.status, keep.error().as_str()),
        (400, "time: missing unit in duration \"300\"")
    );
    let option = subject.ask("x", json!({"options": {"num_ctx": "abc"}}));
    assert_eq!(
        (option.status, option.error().as_str()),
        (500, "option \"num_ctx\" must be of type integer")
    );
}

fn misses(subject: &Subject) {
    let missing = chat(&subject.server, &ask("no-such-model-here", "x", json!({})));
    assert_eq!(missing.status, 404);
    assert!(missing.error().contains("not found"));
    assert_eq!(get(&subject.server, "/api/nothing").status, 404);
    assert_eq!(get(&subject.server, "/api/chat").status, 405);
}

fn loads(subject: &Subject) {
    let load = chat(&subject.server, &json!({"model": subject.model, "messages": []}));
    assert_eq!(load.json()["done_reason"], "load");
    let unload = chat(
        &subject.server,
        &json!({"model": subject.model, "messages": [], "keep_alive": 0}),
    );
    assert_eq!(unload.json()["done_reason"], "unload");
}

fn judge(subject: &Subject) {
    for (what, clause) in CONTRACT {
        eprintln!("{}: {what}", subject.server);
        clause(subject);
    }
}

#[test]
fn the_simulator_keeps_the_contract_in_every_profile() {
    for profile in profile::ALL {
        let script = Script::new()
            .step(Step::new(Reply::text("one two three four five six seven eight nine")).repeated());
        let server = Server::start(Config::new(script).profile(profile).models([Model::new("sim")])).unwrap();
        judge(&Subject {
            server: server.address(),
            model: "sim".to_owned(),
        });
    }
}

#[test]
fn a_real_server_keeps_the_contract() {
    let Ok(server) = std::env::var("WISP_REAL_OLLAMA") else {
        eprintln!("SKIPPED: WISP_REAL_OLLAMA names no server (host:port), so only the simulator was judged");
        return;
    };
    let server = server
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let model = std::env::var("WISP_REAL_MODEL").unwrap_or_else(|_| {
        get(&server, "/api/tags").json()["models"][0]["name"]
            .as_str()
            .expect("the server has a model")
            .to_owned()
    });
    judge(&Subject { server, model });
}
