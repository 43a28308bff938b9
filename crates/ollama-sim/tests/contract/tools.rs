//! Tools at the protocol's level: how a call arrives, what is swallowed, how a result goes back.

use ollama_sim::profile::{CallId, Era};
use serde_json::{Value, json};

use crate::Clause;
use crate::common::tool;
use crate::subject::{Subject, brief, count, says};

pub(crate) const CLAUSES: &[Clause] = &[
    ("a call arrives whole, with the id of its release", calls),
    ("a call to a tool that was not offered is swallowed", swallows),
    ("without tools a call is text", is_text),
    ("a result goes back under its call", goes_back),
];

/// What the model is told to write.
const CALL: &str = r#"<tool_call>{"name": "list_dir", "arguments": {"path": "src"}}</tool_call>"#;

fn offered() -> Value {
    json!([tool("list_dir", "path"), tool("run", "command")])
}

fn calls(subject: &Subject) {
    let response = subject.ask(CALL, json!({"tools": offered(), "options": brief(60)}));
    let lines = response.lines();
    let carriers: Vec<_> = lines
        .iter()
        .filter(|l| l["message"].get("tool_calls").is_some())
        .collect();
    assert_eq!(carriers.len(), 1, "{}", response.text());
    let native = subject.profile.era == Era::E4Native;
    assert_eq!(
        carriers[0]["done"],
        json!(native),
        "only the native path waits for the last line"
    );
    let calls = response.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    let function = &calls[0]["function"];
    assert_eq!(function["name"], "list_dir");
    assert_eq!(function["arguments"], json!({"path": "src"}));
    assert_eq!(
        function.get("index").is_some(),
        subject.profile.index_always,
        "{function}"
    );
    let id = calls[0].get("id").map(|id| id.as_str().unwrap());
    match subject.profile.call_id {
        CallId::None => assert_eq!(id, None),
        CallId::Short => assert!(
            id.is_some_and(|id| id.len() == 13 && id.starts_with("call_")),
            "{id:?}"
        ),
        CallId::Long => assert!(
            id.is_some_and(|id| id.len() == 32 && id.chars().all(char::is_alphanumeric)),
            "{id:?}"
        ),
    }
    let last = response.last();
    assert_eq!(
        (&last["done_reason"], &last["done"]),
        (&json!("stop"), &json!(true))
    );
    assert!(
        count(&last, "eval_count") > 5,
        "the call's own text is counted: {last}"
    );
    assert!(
        !response.content().contains("tool_call"),
        "{}",
        response.content()
    );
}

fn swallows(subject: &Subject) {
    if subject.profile.era == Era::E4Native {
        // There a grammar lets the model write nothing but what was offered.
        return;
    }
    let unknown = CALL.replace("list_dir", "look_up");
    let response = subject.ask(&unknown, json!({"tools": offered(), "options": brief(60)}));
    assert!(response.calls().is_empty(), "{}", response.text());
    assert_eq!(response.content(), "");
    let last = response.last();
    assert_eq!(last["done_reason"], "stop");
    assert!(
        count(&last, "eval_count") > 5,
        "it was generated all the same: {last}"
    );
}

fn is_text(subject: &Subject) {
    let response = subject.ask(CALL, json!({"options": brief(60)}));
    assert!(response.calls().is_empty());
    assert!(response.content().contains("list_dir"), "{}", response.text());
    // As Go writes it, whatever the model meant.
    assert!(response.text().contains("\\u003ctool"), "{}", response.text());
}

fn goes_back(subject: &Subject) {
    let asked = says("user", CALL);
    let call = json!({"role": "assistant", "content": "",
        "tool_calls": [{"id": "call_a", "function": {"name": "list_dir", "arguments": {"path": "src"}}}]});
    let result = json!({"role": "tool", "tool_name": "list_dir", "tool_call_id": "call_a", "content": "main.rs\nlib.rs"});
    let tools = json!({"tools": offered()});
    let before = subject.whole(&json!([asked]), brief(1), tools.clone());
    let after = subject.whole(&json!([asked, call, result]), brief(30), tools);
    assert!(count(&after, "prompt_eval_count") > count(&before, "prompt_eval_count") + 10);
    assert_eq!(after["done"], true);
    // What it says then is the model's own affair; that it says anything shows that the result did not confuse it.
    assert!(count(&after, "eval_count") > 0);
}
