//! What a good request is answered with: the shape of a stream and of a whole answer, counts, structured replies.

use ollama_sim::profile::Era;
use serde_json::{Value, json};

use crate::Clause;
use crate::common::{Response, get, post};
use crate::subject::{Subject, brief, count, says, words};

pub(crate) const CLAUSES: &[Clause] = &[
    (
        "it lives, says its version, lists its models and shows one",
        lists,
    ),
    ("a stream is lines of one shape and ends with its counts", streams),
    ("a whole answer is one object with the same counts", answers_whole),
    ("num_predict cuts a reply and the cut is called length", cuts),
    (
        "the same prompt has the same count, a longer one a larger",
        counts,
    ),
    ("a schema holds the reply to it", follows_a_schema),
    ("what is no schema is refused", refuses_a_format),
];

const COUNTS: [&str; 5] = [
    "total_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
];

fn lists(subject: &Subject) {
    assert_eq!(get(&subject.server, "/").text(), "Ollama is running");
    assert!(get(&subject.server, "/api/version").json()["version"].is_string());
    let tags = get(&subject.server, "/api/tags").json();
    let models = tags["models"].as_array().unwrap();
    let named = |m: &&Value| {
        m["name"]
            .as_str()
            .is_some_and(|n| n.trim_end_matches(":latest") == subject.model)
    };
    let ours = models.iter().find(named).expect("the model is listed");
    assert!(ours["digest"].is_string() && count(ours, "size") > 0, "{ours}");
    assert!(
        ours["modified_at"].is_string() && ours["details"].is_object(),
        "{ours}"
    );
    let show = post(&subject.server, "/api/show", &json!({"model": subject.model})).json();
    assert_eq!(show["details"]["format"], "gguf");
    let family = show["model_info"]["general.architecture"].as_str().unwrap();
    assert!(count(&show["model_info"], &format!("{family}.context_length")) > 0);
    if subject.profile.show_capabilities {
        let capabilities = show["capabilities"].as_array().unwrap();
        assert!(capabilities.contains(&json!("tools")), "{capabilities:?}");
    }
}

fn streams(subject: &Subject) {
    let response = subject.ask("Good evening to all of you.", json!({"options": brief(24)}));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(response.header("transfer-encoding"), Some("chunked"));
    assert!(response.complete, "the chunks have their end");
    let lines = response.lines();
    let (last, before) = lines.split_last().unwrap();
    assert!(before.len() > 1, "more than one line: {}", response.text());
    for line in &lines {
        assert!(
            line["model"].is_string() && line["created_at"].is_string(),
            "{line}"
        );
        assert_eq!(line["message"]["role"], "assistant", "{line}");
        assert!(line["message"]["content"].is_string(), "{line}");
    }
    assert!(
        before
            .iter()
            .all(|l| l["done"] == false && l.get("eval_count").is_none())
    );
    assert_eq!(last["done"], true);
    assert_eq!(last["done_reason"], "stop", "{last}");
    for field in COUNTS {
        assert!(count(last, field) > 0, "{last}");
    }
    assert!(count(last, "eval_count") <= 24);
    // The streamed text has at most a token a line, and the last of the tokens is the stop.
    assert!(before.len() as u64 <= count(last, "eval_count") + 1, "{last}");
    order_of_the_end(subject, &response);
}

/// Which of `done` and `done_reason` is written first is a matter of the release.
fn order_of_the_end(subject: &Subject, response: &Response) {
    let text = response.text();
    let at = |field: &str| text.find(&format!("\"{field}\":")).unwrap();
    let done = text.rfind("\"done\":true").unwrap();
    assert_eq!(
        at("done_reason") < done,
        subject.profile.reason_before_done,
        "{text}"
    );
}

fn answers_whole(subject: &Subject) {
    let response = subject.ask(
        "Good evening to all of you.",
        json!({"stream": false, "options": brief(24)}),
    );
    assert_eq!(
        response.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(response.lines().len(), 1);
    let whole = response.json();
    assert_eq!(
        (&whole["message"]["role"], &whole["done"]),
        (&json!("assistant"), &json!(true))
    );
    assert!(whole["message"]["content"].as_str().is_some_and(|t| t.len() > 4));
    for field in COUNTS {
        assert!(count(&whole, field) > 0, "{whole}");
    }
}

fn cuts(subject: &Subject) {
    let response = subject.ask(&words(40), json!({"options": brief(6)}));
    let last = response.last();
    assert_eq!(
        (&last["done_reason"], count(&last, "eval_count")),
        (&json!("length"), 6),
        "{last}"
    );
}

fn counts(subject: &Subject) {
    let count = |text: &str| {
        let whole = subject.whole(&json!([says("user", text)]), brief(1), json!({}));
        count(&whole, "prompt_eval_count")
    };
    let short = count("One.");
    assert_eq!(count("One."), short);
    assert!(count("One. Two. Three. Four. Five. Six.") > short);
}

fn follows_a_schema(subject: &Subject) {
    let schema = json!({"type": "object", "required": ["word"],
        "properties": {"word": {"type": "string", "enum": ["heron", "gull"]}}});
    let response = subject.ask("Name a bird.", json!({"format": schema, "options": brief(40)}));
    assert_eq!(response.last()["done_reason"], "stop", "{}", response.text());
    let value: Value =
        serde_json::from_str(&response.content()).unwrap_or_else(|e| panic!("{e}: {}", response.content()));
    assert!(
        ["heron", "gull"].contains(&value["word"].as_str().unwrap()),
        "{value}"
    );
}

fn refuses_a_format(subject: &Subject) {
    let bad = subject.ask(
        "x",
        json!({"format": {"type": 5}, "stream": false, "options": brief(1)}),
    );
    let e4 = subject.profile.era.is_e4();
    assert_eq!(bad.status, if e4 { 400 } else { 500 }, "{}", bad.text());
    let said = if e4 {
        "JSON schema conversion failed"
    } else {
        "invalid JSON schema in format"
    };
    assert!(bad.error().contains(said), "{}", bad.text());
    if subject.profile.era == Era::E4Native {
        return;
    }
    // A word that is no format is refused by all that render the prompt themselves.
    let word = subject.ask(
        "x",
        json!({"format": "xml", "stream": false, "options": brief(1)}),
    );
    assert!(word.status >= 400, "{}", word.text());
    assert!(
        word.error()
            .starts_with("invalid format: \"\\\"xml\\\"\"; expected \"json\" or a valid JSON Schema object"),
        "{}",
        word.text()
    );
}
