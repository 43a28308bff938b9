//! What is sent equals the plain composition of what happened: with references and cuts off, every request is the
//! conversation's literal messages as the audit has them, in order, byte for byte; with them on, it differs from that in
//! the messages the audit says, and nowhere else.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out homes"
)]

#[path = "common/talk.rs"]
mod talk;

use std::path::Path;

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Reply, Seen, Server};
use serde_json::{Value, json};
use talk::{Talk, chats, serve};
use wisp_agent::saved::Resume;
use wisp_context::Rules;

const PLAIN: Rules = Rules {
    references: false,
    cuts: false,
    memory: true,
};

/// A model that runs what it is told to run, copies what it printed back, and talks otherwise.
fn server() -> Server {
    serve(V0_24_0, |seen: &Seen| {
        let last = seen.last().unwrap();
        match last.content.rsplit_once("run: ") {
            Some((_, command)) if last.role == "user" => {
                Reply::call("run_command", json!({ "command": command })).content("Let me see.")
            }
            _ if last.role == "tool" => {
                let printed: Vec<&str> = last.content.lines().skip(2).take(30).collect();
                Reply::text(&format!(
                    "It printed:\n\n```\n{}\n```\n\nThat is all.",
                    printed.join("\n")
                ))
            }
            _ => Reply::text(&format!(
                "You said {} bytes. {}",
                last.content.len(),
                "And so it is. ".repeat(40)
            )),
        }
    })
}

const LINES: [&str; 7] = [
    "hello",
    "run: seq -f 'line %g of what it prints' 1 40",
    "and now?",
    "/model sim",
    "run: seq 1 3000",
    "run: true",
    "was that all?",
];

/// The messages of every request as the plain composition has them, from the audit's events in order.
fn literal(home: &Path) -> Vec<Vec<Value>> {
    let mut logs: Vec<_> = std::fs::read_dir(home.join("wisp/audit"))
        .unwrap()
        .flatten()
        .map(|f| f.path())
        .collect();
    logs.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    logs.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
    let mut messages = Vec::new();
    let mut requests = Vec::new();
    for log in logs {
        let text = std::fs::read_to_string(log).unwrap();
        for event in text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
        {
            let details = &event["details"];
            match event["kind"].as_str().unwrap() {
                "prompt" => messages.push(json!({"role": "user", "content": details["text"]})),
                "response" => messages.push(json!({"role": "assistant", "content": details["text"]})),
                "tool.call" => {
                    let call = json!({"name": details["tool"], "arguments": details["arguments"]});
                    messages.last_mut().unwrap()["call"] = call;
                }
                "tool.result" => messages.push(json!({"role": "tool", "content": details["output"]})),
                "model.request" => requests.push(messages.clone()),
                _ => {}
            }
        }
    }
    requests
}

/// A message as it was sent, in the same form.
fn as_sent(message: &Value) -> Value {
    let mut sent = json!({"role": message["role"], "content": message["content"]});
    if let Some(call) = message["tool_calls"].get(0) {
        let function = &call["function"];
        sent["call"] = json!({"name": function["name"], "arguments": function["arguments"]});
    }
    sent
}

/// A message without the lines that part data from wisp's own words, which stand around a result only on its way.
fn without_boundary(mut message: Value) -> Value {
    let boundary = |line: &&str| line.starts_with("<output-") || line.starts_with("</output-");
    if message["role"] == "tool"
        && let Some(content) = message["content"].as_str()
    {
        let kept = content.split_inclusive('\n').filter(|line| !boundary(line));
        message["content"] = kept.collect::<String>().into();
    }
    message
}

/// Every request as it was sent, the system message left out and checked to be the same in all.
fn sent(server: &Server) -> Vec<Vec<Value>> {
    let chats = chats(server);
    let system = &chats[0].0[0];
    let own = |(messages, _): &(Vec<Value>, _)| {
        assert_eq!(&messages[0], system);
        messages[1..].iter().map(as_sent).map(without_boundary).collect()
    };
    chats.iter().map(own).collect()
}

/// Holds the conversation, saved and gone on with in the middle; the requests as sent and as the audit composes them.
async fn held(window: u64, lines: &[&str], rules: Rules) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let (before, after) = lines.split_at(lines.len() / 2);
    let mut talk = Talk::open(home.path(), &server, window, |setup| {
        setup.rules = rules;
        setup.saving.name = Some("work".into());
    })
    .await
    .unwrap();
    for line in before {
        talk.say(line).await;
    }
    talk.leave().await;
    let mut talk = Talk::open(home.path(), &server, window, |setup| {
        setup.rules = rules;
        setup.saving.resume = Some(Resume::Named("work".into()));
    })
    .await
    .unwrap();
    for line in after {
        talk.say(line).await;
    }
    talk.leave().await;
    (sent(&server), literal(home.path()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_rules_off_every_request_is_the_literal_conversation() {
    let (sent, literal) = held(32_768, &LINES, PLAIN).await;
    assert_eq!(sent.len(), 9);
    assert_eq!(sent, literal);
    // The snapshot: who speaks in the last request.
    let roles: Vec<&str> = sent[8].iter().map(|m| m["role"].as_str().unwrap()).collect();
    let turn = ["user", "assistant"];
    let run = ["user", "assistant", "tool", "assistant"];
    assert_eq!(roles, [&turn[..], &run, &turn, &run, &run, &["user"]].concat());
    assert_eq!(sent[1][2], json!({"role": "user", "content": LINES[1]}));
    let call =
        json!({"name": "run_command", "arguments": {"command": "seq -f 'line %g of what it prints' 1 40"}});
    assert_eq!(
        sent[2][3],
        json!({"role": "assistant", "content": "Let me see.", "call": call})
    );
    assert!(
        sent[2][4]["content"]
            .as_str()
            .unwrap()
            .ends_with("line 39 of what it prints\nline 40 of what it prints\n")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_rules_on_it_differs_in_outputs_of_earlier_turns_and_in_copies_of_them_only() {
    let (sent, literal) = held(32_768, &LINES, Rules::default()).await;
    assert_eq!(sent.len(), literal.len());
    let (mut references, mut cuts) = (0, 0);
    for (sent, literal) in sent.iter().zip(&literal) {
        assert_eq!(sent.len(), literal.len());
        for (one, plain) in sent.iter().zip(literal).filter(|(one, plain)| one != plain) {
            let content = one["content"].as_str().unwrap();
            assert_eq!(one["role"], plain["role"]);
            match one["role"].as_str().unwrap() {
                "tool" => {
                    assert!(
                        content.starts_with("[output of entry ") && content.contains(" not repeated: "),
                        "{content}"
                    );
                    references += 1;
                }
                "assistant" => {
                    assert!(
                        content.contains("(showed the person the run_command output, entry "),
                        "{content}"
                    );
                    assert_eq!(one["call"], plain["call"]);
                    cuts += 1;
                }
                role => panic!("{role} {one} instead of {plain}"),
            }
        }
    }
    assert!(references > 4 && cuts > 4, "{references} references, {cuts} cuts");
}

/// After turns have left, what stays is the literal conversation's end, behind the lines of what was said before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stays_after_a_condensation_is_the_end_of_the_literal_conversation() {
    let many: Vec<String> = (1..=14).map(|n| format!("what of part {n}?")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (sent, literal) = held(4096, &many, PLAIN).await;
    assert_eq!(sent.len(), literal.len());
    let mut condensed = 0;
    for (sent, literal) in sent.iter().zip(&literal) {
        let from = literal.len() - sent.len();
        assert_eq!(sent[1..], literal[from + 1..]);
        let (first, plain) = (
            sent[0]["content"].as_str().unwrap(),
            literal[from]["content"].as_str().unwrap(),
        );
        if from == 0 {
            assert_eq!(first, plain);
            continue;
        }
        condensed += 1;
        let lines = first.strip_suffix(plain).unwrap();
        assert!(
            lines.starts_with("[From earlier in this conversation: "),
            "{first}"
        );
        assert!(lines.contains("- turn 1, entry 2: what of part 1?\n"), "{first}");
    }
    assert!(condensed > 3, "{condensed} requests after a condensation");
}
