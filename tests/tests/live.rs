//! Whole conversations of `wisp`: the same assertions against the simulator and, when `WISP_REAL_OLLAMA` names one,
//! against a real server (`scripts/live` brings one up). The protocol under them is judged by the contract of
//! `ollama-sim`.
//!
//! The model says what it is told: a message that is the text of a call comes back as that call. What it says besides
//! is nobody's affair here. A real one of its size may miss a word of a call, so a call may be asked for in several ways
//! until one comes; what comes of it is judged without mercy.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests ask the environment for a server, say that they skip, and fail"
)]

use std::time::{Duration, Instant};

use ollama_sim::{Config, Event, Model, Profile, Reply, Seen, Server, profile};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, is_end, is_kind, sha256};

/// How long a step of a conversation may take on a small machine that evaluates a prompt at 20 tokens a second.
const LIMIT: Duration = Duration::from_mins(3);
/// After how long a reply that is to be one call has gone astray.
const RAMBLING: Duration = Duration::from_secs(90);
/// How soon a server that was left is free again, and a turn that was stopped has ended.
const AT_ONCE: Duration = Duration::from_secs(10);
/// What the scripted model never ends, and a real one takes long for.
const LONG: &str = "Count slowly:";

/// A server and the model to talk to.
struct Place {
    url: String,
    model: String,
    /// Kept while it is talked to.
    _simulator: Option<Server>,
}

impl Place {
    fn simulated(profile: Profile) -> Self {
        let model = Model::new("sim").with_context_length(8192);
        let server = Server::start(Config::new(parrot).profile(profile).models([model])).unwrap();
        Self {
            url: server.url(),
            model: "sim".to_owned(),
            _simulator: Some(server),
        }
    }

    fn real() -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
        let Some(url) = variable("WISP_REAL_OLLAMA") else {
            eprintln!(
                "SKIPPED: WISP_REAL_OLLAMA names no server, so only the simulator was talked to; see scripts/live"
            );
            return None;
        };
        let model = variable("WISP_REAL_MODEL").expect("WISP_REAL_MODEL names the server's model");
        Some(Self {
            url,
            model,
            _simulator: None,
        })
    }

    /// A home configured for it, with a window that a small machine fills in seconds.
    fn wisp(&self) -> Wisp {
        let mut wisp = Wisp::new();
        wisp.set("OLLAMA_HOST", &self.url);
        wisp.configure(&json!({
            "model": self.model,
            "ollama": {"contextLength": 4096},
            "commandMaxOutputBytes": 512,
            "context": {"memory": "on"},
            // So small a model would be guided; here its template makes its calls.
            "models": {"calls": {&self.model: "native"}},
            "tools": {"set": "full"},
        }));
        wisp
    }
}

fn talk_to(wisp: &Wisp) -> Talk {
    Talk::start(wisp, &["--tool", "run_command", "--tool", "memory"], LIMIT)
}

/// The scripted model.
fn parrot(seen: &Seen) -> Reply {
    match seen.last() {
        Some(m) if m.role == "tool" => Reply::text("That is done."),
        Some(m) if m.content.contains(LONG) => Reply::text("one two three").event(Event::Stall),
        Some(m) => Reply::new().event(Event::Raw(m.content.clone())),
        None => Reply::text("Nothing."),
    }
}

/// A call as the model writes it.
fn call(tool: &str, arguments: &Value) -> String {
    format!("<tool_call>{{\"name\": \"{tool}\", \"arguments\": {arguments}}}</tool_call>")
}

/// A model that said none of the calls it was told to say: nothing can be told of wisp from that.
#[derive(Debug)]
struct Astray(String);

/// Asks for the first of these calls that comes as it was meant, and returns its turn's events. The same words twice
/// would be answered alike twice, so each try has its own.
fn turn_with(talk: &mut Talk, tool: &str, tries: &[Value]) -> Result<Vec<Value>, Astray> {
    let mut came = Vec::new();
    for arguments in tries {
        let events = talk.turn_within(RAMBLING, &call(tool, arguments));
        let called = |e: &&Value| is_kind(e, "tool.call");
        let meant = |e: &Value| e["details"]["tool"] == tool && e["details"]["arguments"] == *arguments;
        if events.iter().filter(called).any(meant) {
            return Ok(events);
        }
        came.extend(events.iter().filter(called).map(|e| e["details"].clone()));
    }
    Err(Astray(format!(
        "the model repeated none of {tries:#?}; it called {came:#?}"
    )))
}

/// Commands as arguments.
fn commands(lines: [&str; 4]) -> [Value; 4] {
    lines.map(|line| json!({ "command": line }))
}

fn result(events: &[Value]) -> &Value {
    let mut results = events.iter().filter(|e| is_kind(e, "tool.result"));
    results.next().expect("the call has a result")
}

/// How a turn ended.
fn outcome(events: &[Value]) -> &str {
    let end = events.iter().find(|e| is_end(e)).expect("a turn ends");
    end["end"]["outcome"].as_str().unwrap()
}

/// What is recorded of a kind, in order.
fn recorded(wisp: &Wisp, kind: &str) -> Vec<Value> {
    let events = wisp.audit().into_iter().filter(|e| e["kind"] == kind);
    events.map(|e| e["details"].clone()).collect()
}

fn a_command_runs_and_its_result_comes_back(place: &Place) -> Result<(), Astray> {
    let wisp = place.wisp();
    let mut talk = talk_to(&wisp);
    let events = turn_with(
        &mut talk,
        "run_command",
        &commands(["seq 40 42", "seq 40 1 42", "seq 40 +1 42", "seq 40 01 42"]),
    )?;
    let result = result(&events);
    assert_eq!(result["details"]["outcome"], "exit 0", "{result}");
    assert_eq!(result["output"]["text"], "40\n41\n42\n", "{result}");
    assert_eq!(outcome(&events), "ok", "{:?}", events.last());
    assert_eq!(outcome(&talk.turn("Good evening.")), "ok");
    assert_eq!(talk.leave(), 0);
    let prompts: Vec<u64> = recorded(&wisp, "response")
        .iter()
        .map(|r| {
            r["usage"]["input"]
                .as_u64()
                .expect("the server counts the prompt")
        })
        .collect();
    assert!(
        prompts.len() >= 3 && prompts.is_sorted(),
        "the result and each turn add to the prompt: {prompts:?}"
    );
    assert!(recorded(&wisp, "error").is_empty());
    assert_eq!(wisp.run(&["logs", "verify"], "").code, Some(0));
    Ok(())
}

fn an_output_is_held_back_and_paged(place: &Place) -> Result<(), Astray> {
    let wisp = place.wisp();
    let mut talk = talk_to(&wisp);
    let events = turn_with(
        &mut talk,
        "run_command",
        &commands(["seq 5000", "seq 1 5000", "seq 1 1 5000", "seq 01 5000"]),
    )?;
    let output = &result(&events)["output"];
    assert_eq!(output["stored"], true, "{output}");
    let held = &output["held"][0];
    assert!(
        held["toLine"].as_u64() > Some(4000),
        "most was held back: {output}"
    );
    let id = output["id"].as_str().unwrap().to_owned();
    // The model pages by the short id it was told, or by the first of its digits.
    let requests = [8, 4, 5, 6, 7]
        .map(|digits| json!({"request": format!("recall output {} lines 3000-3002", &id[..digits])}));
    let events = turn_with(&mut talk, "memory", &requests)?;
    let page = result(&events)["output"]["text"].as_str().unwrap();
    // Lines are numbered as the command printed them: what stands above the stream has no numbers.
    assert!(page.contains("\n3000: 3000\n3001: 3001\n3002: 3002\n"), "{page}");
    assert_eq!(outcome(&events), "ok");
    // The person pages through the whole.
    let mut whole = String::new();
    for page in 0.. {
        talk.send(&json!({"type": "output", "id": id, "page": page}));
        let view = talk.until("page", |e| e["type"] == "view");
        whole.push_str(view["text"].as_str().unwrap());
        if view["output"]["pages"] == page + 1 {
            break;
        }
    }
    assert_eq!(talk.leave(), 0);
    let numbers: Vec<_> = (1..=5000).map(|n| n.to_string()).collect();
    let printed = format!("\n{}\n", numbers.join("\n"));
    assert!(whole.ends_with(&printed), "{} bytes", whole.len());
    let kept = wisp.kept();
    let (record, bytes) = kept
        .iter()
        .find(|(r, _)| r["id"] == id.as_str())
        .expect("it is kept");
    assert_eq!(record["sha256"], sha256(bytes));
    assert_eq!(bytes, whole.as_bytes());
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of several, and needs no call")]
fn an_interrupted_turn_frees_the_server(place: &Place) -> Result<(), Astray> {
    let wisp = place.wisp();
    let mut talk = talk_to(&wisp);
    // The prompt's front is in the server's cache then, and what follows is about the waiting alone.
    assert_eq!(outcome(&talk.turn("Good evening.")), "ok");
    let numbers: Vec<_> = (1..=80).map(|n| n.to_string()).collect();
    talk.send(&json!({"type": "message", "text": format!("{LONG} {}", numbers.join(", "))}));
    talk.until("word", |e| e["type"] == "delta");
    let began = Instant::now();
    talk.send(&json!({"type": "interrupt"}));
    let end = talk.until("end of the turn", is_end);
    assert_eq!(end["end"]["outcome"], "interrupted", "{end}");
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    let events = talk.turn("Good evening.");
    assert_eq!(outcome(&events), "ok");
    assert!(
        began.elapsed() < AT_ONCE,
        "the server was free after {:?}",
        began.elapsed()
    );
    assert_eq!(talk.leave(), 0);
    assert_eq!(recorded(&wisp, "turn.interrupted").len(), 1);
    let replies = recorded(&wisp, "response");
    let partial = replies
        .iter()
        .find(|r| r["interrupted"] == true)
        .expect("what had come is kept");
    assert!(!partial["text"].as_str().unwrap().is_empty(), "{partial}");
    Ok(())
}

/// One conversation, or why it could not be held.
type Conversation = fn(&Place) -> Result<(), Astray>;

const CONVERSATIONS: [Conversation; 3] = [
    a_command_runs_and_its_result_comes_back,
    an_output_is_held_back_and_paged,
    an_interrupted_turn_frees_the_server,
];

#[test]
fn conversations_hold_with_the_simulator() {
    for profile in [profile::V0_11_4, profile::V0_32_15_NATIVE] {
        for conversation in CONVERSATIONS {
            conversation(&Place::simulated(profile)).expect("the simulator says what it is told");
        }
    }
}

/// One in which the model goes astray is held once more, from its beginning; one that cannot be held at all is said
/// loudly. That both with calls cannot be held is no whim of the model: then wisp does not read its calls.
#[test]
fn a_real_server_is_talked_to() {
    let mut astray = 0;
    for conversation in CONVERSATIONS {
        let Some(place) = Place::real() else { return };
        let again = |first: Astray| {
            eprintln!("once more: {}", first.0);
            conversation(&place)
        };
        if let Err(Astray(why)) = conversation(&place).or_else(again) {
            astray += 1;
            eprintln!("\n######## NOT JUDGED: {why}\n");
        }
    }
    assert!(astray < 2, "no conversation with a call could be held");
}
