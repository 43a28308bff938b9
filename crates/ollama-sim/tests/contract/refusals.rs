//! What a bad request is refused with: status and words, by release.

use ollama_sim::profile::ThinkField;
use serde_json::{Value, json};

use crate::Clause;
use crate::common::{Response, ask, get, post, receive, send, tool};
use crate::subject::{Subject, brief};

pub(crate) const CLAUSES: &[Clause] = &[
    ("what is malformed is refused in words", refuses),
    (
        "an unknown model is 404, also where a stream was asked for",
        misses,
    ),
    (
        "an unknown route is 404 in plain text, a wrong method 405",
        routes,
    ),
    (
        "the first error of a stream has a true status, or hides behind 200",
        hides,
    ),
    ("tools and thinking are refused to a model without them", lacks),
    ("a foreign Host is 403 without a word", hosts),
];

fn refuses(subject: &Subject) {
    let content = json!({"model": subject.model, "messages": [{"role": "user", "content": [1]}]});
    refused(
        &subject.send(&content),
        400,
        "json: cannot unmarshal array into Go struct field",
    );
    let keep = subject.ask("x", json!({"keep_alive": "300"}));
    refused(&keep, 400, "time: missing unit in duration \"300\"");
    let option = subject.ask("x", json!({"options": {"num_ctx": "abc"}}));
    refused(&option, 500, "option \"num_ctx\" must be of type integer");
    let stream = subject.ask("x", json!({"stream": "yes"}));
    refused(
        &stream,
        400,
        "json: cannot unmarshal string into Go struct field ChatRequest.stream of type bool",
    );
    let call = json!([{"function": {"name": "run", "arguments": "{}"}}]);
    let messages =
        json!([{"role": "assistant", "content": "", "tool_calls": call}, {"role": "user", "content": "x"}]);
    let arguments = subject.send(&json!({"model": subject.model, "messages": messages}));
    assert_eq!(arguments.status, 400, "{}", arguments.text());
    refused(&raw(subject, b""), 400, "missing request body");
    refused(&raw(subject, b"{\"model\":"), 400, "unexpected EOF");
    refused(
        &raw(subject, b"[1]"),
        400,
        "json: cannot unmarshal array into Go value of type api.ChatRequest",
    );
}

fn refused(response: &Response, status: u16, said: &str) {
    let error = response.error();
    assert_eq!(response.status, status, "{}", response.text());
    assert!(error.starts_with(said), "{error}");
    assert_eq!(
        response.header("content-type"),
        Some("application/json; charset=utf-8")
    );
}

fn raw(subject: &Subject, body: &[u8]) -> Response {
    receive(send(&subject.server, "POST", "/api/chat", &[], body))
}

fn misses(subject: &Subject) {
    for stream in [true, false] {
        let missing = subject.send(&ask("no-such-model-here", "x", json!({"stream": stream})));
        assert_eq!(missing.status, 404);
        let error = missing.error();
        assert!(
            error.contains("no-such-model-here") && error.contains("not found"),
            "{error}"
        );
    }
    let show = post(
        &subject.server,
        "/api/show",
        &json!({"model": "no-such-model-here"}),
    );
    assert_eq!(show.status, 404, "{}", show.text());
    let gone = receive(send(
        &subject.server,
        "DELETE",
        "/api/delete",
        &[],
        br#"{"model":"no-such-model-here"}"#,
    ));
    assert_eq!(gone.status, 404, "{}", gone.text());
}

fn routes(subject: &Subject) {
    let nothing = get(&subject.server, "/api/nothing");
    assert_eq!(
        (nothing.status, nothing.text().as_str()),
        (404, "404 page not found")
    );
    for (method, path) in [
        ("GET", "/api/chat"),
        ("POST", "/api/tags"),
        ("GET", "/api/delete"),
        ("PUT", "/api/show"),
    ] {
        let wrong = receive(send(&subject.server, method, path, &[], b""));
        assert_eq!(
            (wrong.status, wrong.text().as_str()),
            (405, "405 method not allowed"),
            "{method} {path}"
        );
    }
}

fn hides(subject: &Subject) {
    let bad = subject.ask("x", json!({"format": {"type": 5}, "options": brief(1)}));
    assert!(!bad.error().is_empty(), "{}", bad.text());
    assert_eq!(bad.lines().len(), 1);
    if subject.profile.era.hides_first_error() {
        assert_eq!(
            (bad.status, bad.header("content-type")),
            (200, Some("application/x-ndjson"))
        );
    } else {
        assert!(bad.status >= 400, "{}", bad.status);
        assert_eq!(bad.header("content-type"), Some("application/json"));
    }
}

fn lacks(subject: &Subject) {
    let Some(plain) = &subject.plain else {
        eprintln!("SKIPPED: WISP_REAL_PLAIN names no model without tools");
        return;
    };
    let ask = |more: Value| subject.send(&ask(plain, "x", more));
    let tools = ask(json!({"tools": [tool("run", "command")], "options": brief(1)}));
    assert_eq!(tools.status, 400);
    assert!(
        tools.error().ends_with("does not support tools"),
        "{}",
        tools.error()
    );
    if subject.profile.think == ThinkField::Absent {
        return;
    }
    let think = ask(json!({"think": true, "options": brief(1)}));
    assert_eq!(think.status, 400);
    assert!(
        think.error().ends_with("does not support thinking"),
        "{}",
        think.error()
    );
    let off = ask(json!({"think": false, "stream": false, "options": brief(1)}));
    assert_eq!(off.status, 200, "think: false is taken by every model");
    let level = ask(json!({"think": 3}));
    assert_eq!(level.status, 400);
}

fn hosts(subject: &Subject) {
    let foreign = receive(send(
        &subject.server,
        "GET",
        "/api/tags",
        &[("Host", "evil.example.com")],
        b"",
    ));
    assert_eq!((foreign.status, foreign.body.len()), (403, 0));
    for host in ["localhost", "a.local", "b.internal", "127.0.0.1:1"] {
        let own = receive(send(&subject.server, "GET", "/api/tags", &[("Host", host)], b""));
        assert_eq!(own.status, 200, "{host}");
    }
}
