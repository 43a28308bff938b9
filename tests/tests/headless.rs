//! `wisp PROMPT` in scripts: a reply of a given form, every event as a line, the limit of requests, exit codes, and a
//! conversation of single prompts.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write the files that are named"
)]

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, calls, runs, serve};

const SCHEMA: &str =
    r#"{"type":"object","properties":{"verdict":{"enum":["approve","reject"]}},"required":["verdict"]}"#;
const GOOD: &str = r#"{"verdict":"approve"}"#;

/// A server whose replies to requests without tool results come from this list, the last one over and over.
fn says(replies: &'static [&'static str]) -> Server {
    let mut at = 0;
    serve(Model::new("sim"), move |_: &Seen| {
        let reply = replies[at.min(replies.len() - 1)];
        at += 1;
        Reply::text(reply)
    })
}

fn with_schema(server: &Server) -> Wisp {
    let wisp = Wisp::with(server);
    std::fs::write(wisp.work().join("s.json"), SCHEMA).unwrap();
    wisp
}

/// The `format` of each chat request.
fn formats(server: &Server) -> Vec<Value> {
    let bodies = server.chats().into_iter().filter_map(|chat| chat.json);
    bodies
        .map(|body| body.get("format").cloned().unwrap_or(Value::Null))
        .collect()
}

#[test]
fn a_reply_without_tools_is_asked_for_in_the_form_of_the_schema() {
    let server = says(&[GOOD]);
    let ran = with_schema(&server).run(&["--no-tools", "--schema", "s.json", "Review it."], "");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), GOOD), "{}", ran.err);
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(formats(&server), [schema]);
    let body = server.chats()[0].json.clone().unwrap();
    let prompt = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(prompt.as_str().unwrap().contains(SCHEMA), "{prompt}");
}

#[test]
fn with_tools_the_last_reply_is_asked_for_again_in_its_form_and_nothing_else_is_printed() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        match (
            seen.request.get("format").is_some(),
            seen.last().unwrap().role.as_str(),
        ) {
            (true, _) => Reply::text(GOOD),
            (_, "tool") => Reply::text("I would approve it."),
            _ => Reply::text("Let me look.").and_call("run_command", json!({"command": "echo 1"})),
        }
    });
    let ran = with_schema(&server).run(&["--schema", "s.json", "Review it."], "");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), GOOD), "{}", ran.err);
    let asked: Vec<bool> = formats(&server).iter().map(|format| !format.is_null()).collect();
    assert_eq!(asked, [false, false, true]);
}

#[test]
fn a_reply_that_breaks_the_schema_is_asked_for_once_more_with_what_is_wrong() {
    let server = says(&[r#"{"verdict":"maybe"}"#, GOOD]);
    let ran = with_schema(&server).run(&["--no-tools", "--schema", "s.json", "Review it."], "");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), GOOD), "{}", ran.err);
    let again = server.chats()[1].json.clone().unwrap();
    let told = again["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(
        told.contains("does not satisfy the schema: at /verdict: "),
        "{told}"
    );
    assert!(ran.err.contains("asking once more"), "{}", ran.err);
}

#[test]
fn a_schema_broken_twice_fails_and_prints_no_reply() {
    let server = says(&[r#"{"verdict":"maybe"}"#]);
    let ran = with_schema(&server).run(&["--no-tools", "--schema", "s.json", "Review it."], "");
    assert_eq!((ran.code, ran.text().as_str()), (Some(1), ""), "{}", ran.err);
    assert_eq!(server.chats().len(), 2);
    assert!(
        ran.err.contains("the reply does not satisfy the schema"),
        "{}",
        ran.err
    );
}

#[test]
fn a_schema_that_cannot_be_used_is_a_usage_error_before_anything_is_asked() {
    let server = says(&[GOOD]);
    let wisp = with_schema(&server);
    for (text, said) in [
        ("{", "it is not JSON"),
        (r#"{"type":"strnig"}"#, "it is not a JSON schema"),
        (r#"{"$ref":"file:///etc/hostname"}"#, "are not followed"),
    ] {
        std::fs::write(wisp.work().join("bad.json"), text).unwrap();
        let ran = wisp.run(&["--schema", "bad.json", "hi"], "");
        assert_eq!(ran.code, Some(64), "{text}: {}", ran.err);
        assert!(
            ran.err.contains("bad.json") && ran.err.contains(said),
            "{text}: {}",
            ran.err
        );
    }
    let ran = wisp.run(&["--schema", "none.json", "hi"], "");
    assert!(ran.err.contains("cannot open none.json"), "{}", ran.err);
    assert_eq!(server.chats().len(), 0);
}

#[test]
fn stream_json_is_the_protocol_with_the_exit_code_last() {
    let server = runs("echo heron");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--yes", "--stream-json", "run it"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let text = ran.text();
    let events: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    for kind in ["status", "turn", "activity", "event", "delta"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert_eq!(events.last().unwrap(), &json!({"type": "exit", "code": 0}));
    assert!(text.contains("heron"), "{text}");
}

#[test]
fn the_limit_of_requests_ends_the_turn_with_its_own_outcome_and_exit_code_two() {
    let mut number = 0;
    let server = serve(Model::new("sim"), move |_: &Seen| {
        number += 1;
        Reply::call("run_command", json!({"command": format!("echo {number}")}))
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--max-turns", "3", "--json", "go"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert_eq!(server.chats().len(), 3);
    let said: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(said["outcome"], "limit");
    let errors = said["errors"].to_string();
    assert!(
        errors.contains("the turn was stopped after 3 requests"),
        "{errors}"
    );
    for wrong in ["0", "1001", "-1", "x"] {
        assert_eq!(
            wisp.run(&["--max-turns", wrong, "go"], "").code,
            Some(64),
            "{wrong}"
        );
    }
}

#[test]
fn a_refused_call_ends_with_exit_code_two_although_the_model_replied() {
    let server = calls("run_command", json!({"command": "touch refused.txt"}));
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["go"], "");
    assert_eq!((ran.code, ran.text().trim()), (Some(2), "done"), "{}", ran.err);
    assert!(!wisp.work().join("refused.txt").exists());
    let ran = wisp.run(&["--stream-json", "go"], "");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let last: Value = serde_json::from_str(ran.text().lines().last().unwrap()).unwrap();
    assert_eq!(last, json!({"type": "exit", "code": 2}));
}

#[test]
fn single_prompts_are_saved_and_continued() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        Reply::text(&format!("I see {} messages.", seen.messages.len()))
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--save", "review", "one"], "");
    assert_eq!(ran.text().trim(), "I see 2 messages.", "{}", ran.err);
    let ran = wisp.run(&["--continue", "two"], "");
    assert_eq!(ran.text().trim(), "I see 4 messages.", "{}", ran.err);
    let ran = wisp.run(&["--resume", "rev", "three"], "");
    assert_eq!(ran.text().trim(), "I see 6 messages.", "{}", ran.err);
    // Without any of them nothing is saved.
    wisp.run(&["four"], "");
    assert_eq!(wisp.run(&["threads"], "").text().lines().count(), 1);
}

#[test]
fn what_only_a_single_prompt_has_needs_a_prompt() {
    let wisp = Wisp::new();
    for flag in ["--json", "--stream-json"] {
        assert_eq!(wisp.run(&[flag], "").code, Some(64), "{flag}");
    }
}
