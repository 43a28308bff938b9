//! How a server serves: loads, reuse of the last prompt, and what a client that leaves gives free.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Clause;
use crate::common::{ask, get};
use crate::subject::{LONG_COUNT, Subject, brief, count, fresh, numbers, open, says, words};

pub(crate) const CLAUSES: &[Clause] = &[
    (
        "a prompt that goes on is evaluated where it goes on, a changed one anew",
        reuses,
    ),
    (
        "a client that leaves ends its reply, and the next is served at once",
        cancels,
    ),
    (
        "an empty chat loads and unloads, and what is loaded is listed",
        loads,
    ),
    ("another num_ctx loads the model again", reloads),
];

/// Much less than a real model needs for the reply that is broken off.
const AT_ONCE: Duration = Duration::from_secs(5);

fn reuses(subject: &Subject) {
    let told = says("user", &words(260));
    let (reply, more) = (says("assistant", "I see."), says("user", "And then?"));
    let evaluated = |messages: Value| {
        let whole = subject.whole(&messages, brief(1), json!({}));
        (
            count(&whole, "prompt_eval_count"),
            count(&whole, "prompt_eval_duration"),
        )
    };
    let session = says("system", &format!("Session {}.", fresh()));
    let (first, cold) = evaluated(json!([session, told]));
    let (longer, warm) = evaluated(json!([session, told, reply, more]));
    assert!(longer > first, "the whole prompt is counted, cached or not");
    assert!(warm * 3 < cold, "{warm} ns of {cold} ns for what was added");
    let other = says("system", &format!("Session {}.", fresh()));
    let (same, anew) = evaluated(json!([other, told, reply, more]));
    assert!(same.abs_diff(longer) < 20, "{same} {longer}");
    assert!(warm * 3 < anew, "{warm} ns against {anew} ns for a changed front");
}

fn cancels(subject: &Subject) {
    // Loaded, and its prompt evaluated, so that what is measured is the waiting alone.
    subject.whole(&json!([says("user", "Good evening.")]), brief(1), json!({}));
    let long = ask(
        &subject.model,
        &format!("{LONG_COUNT} {}", numbers(80)),
        json!({"options": brief(900)}),
    );
    let mut stream = open(subject, &long);
    let mut seen = Vec::new();
    let mut buffer = [0; 1024];
    while !seen.windows(12).any(|w| w == b"\"done\":false") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
    }
    drop(stream);
    let began = Instant::now();
    let next = subject.ask("Good evening.", json!({"stream": false, "options": brief(1)}));
    assert_eq!((next.status, next.json()["done"].clone()), (200, json!(true)));
    assert!(began.elapsed() < AT_ONCE, "served after {:?}", began.elapsed());
}

fn loads(subject: &Subject) {
    let empty = |more: Value| {
        let mut body = json!({"model": subject.model, "messages": []});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        subject.send(&body)
    };
    let load = empty(json!({"options": {"num_ctx": 2048}}));
    assert_eq!(load.json()["done_reason"], "load");
    assert_eq!(
        load.header("content-type"),
        Some("application/json; charset=utf-8"),
        "one object, though streaming is the default"
    );
    let listed = loaded(subject).expect("it is loaded");
    assert!(
        count(&listed, "size") > 0 && listed["expires_at"].is_string(),
        "{listed}"
    );
    if subject.profile.ps_window {
        assert_eq!(listed["context_length"], 2048);
    }
    assert_eq!(empty(json!({"keep_alive": 0})).json()["done_reason"], "unload");
    let began = Instant::now();
    while loaded(subject).is_some() {
        assert!(began.elapsed() < AT_ONCE, "it is unloaded");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Our model as `/api/ps` lists it.
fn loaded(subject: &Subject) -> Option<Value> {
    let ps = get(&subject.server, "/api/ps").json();
    let models = ps["models"].as_array().cloned().unwrap_or_default();
    models.into_iter().find(|m| {
        m["name"]
            .as_str()
            .is_some_and(|n| n.trim_end_matches(":latest") == subject.model)
    })
}

fn reloads(subject: &Subject) {
    let load = |num_ctx: u32| {
        let options = json!({"num_ctx": num_ctx, "num_predict": 1, "temperature": 0});
        let whole = subject.whole(&json!([says("user", "Good evening.")]), options, json!({}));
        whole["load_duration"].as_u64().unwrap_or_default()
    };
    load(2048);
    let (warm, anew) = (load(2048), load(1024));
    assert!(
        warm * 3 < anew,
        "{warm} ns when loaded, {anew} ns with another window"
    );
}
