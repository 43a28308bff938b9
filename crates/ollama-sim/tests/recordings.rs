//! The recordings bind the simulator.
//!
//! `data/` holds what real servers answered: 0.11.4, 0.24.0, and 0.32.15 on both its paths, each asked the same
//! questions in the same order. The simulator is asked them too and must answer alike: status, type, framing, the
//! fields and their order, the text of each error, why a reply ended, whether the model was loaded, and how the
//! counts compare. What the model *says* is not the server's, so it is taken from the recording as far as it
//! matters: whether it stopped by itself, and whether it wrote a call. Where the simulator knowingly differs, a
//! row of `not-imitated.tsv` says so; a row that is no longer true fails the test as well, and the README lists
//! every one of them.

#![allow(clippy::panic, reason = "test code outside a test function")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Response, receive, send};
use ollama_sim::{Capability, Config, End, Model, Profile, Reply, Respond, Seen, Server, profile};
use serde_json::{Value, json};

/// More text than any probe lets a model write.
const ENDLESS: usize = 700;

struct Probe {
    name: String,
    method: String,
    path: String,
    body: Vec<u8>,
    request: Value,
    recorded: Value,
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rows(name: &str) -> Vec<Value> {
    data(name)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row is JSON"))
        .collect()
}

/// The probes of one server, in the order they were sent.
fn probes(server: &str) -> Vec<Probe> {
    let requests: BTreeMap<String, Value> = rows("requests.jsonl")
        .into_iter()
        .map(|r| (text(&r["probe"]), r))
        .collect();
    let recorded = rows(&format!("{server}.jsonl")).into_iter();
    recorded
        .map(|recorded| {
            let name = text(&recorded["probe"]);
            let request = recorded.get("request").unwrap_or(&requests[&name]).clone();
            Probe {
                method: text(&request["method"]),
                path: text(&request["path"]),
                body: bytes(&request["body"]),
                request: request["body"].clone(),
                name,
                recorded,
            }
        })
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A body as it was sent: JSON, or raw bytes written one character each.
fn bytes(body: &Value) -> Vec<u8> {
    match body {
        Value::Null => Vec::new(),
        Value::String(raw) => raw
            .chars()
            .map(|c| u8::try_from(u32::from(c)).expect("a raw body is bytes"))
            .collect(),
        json => json.to_string().into_bytes(),
    }
}

fn models(native: bool) -> Vec<Model> {
    let own = |name: &str, capabilities: &[Capability]| Model {
        gathers_system: false,
        strict_system: false,
        load_ms: 800,
        native_capabilities: Some(vec![Capability::Completion]),
        weights: Some("smollm2".to_owned()),
        // As many tokens as the real template's own text.
        native_system: "You are here to help, and this is of the template".to_owned(),
        ..Model::new(name)
            .with_capabilities(capabilities)
            .with_context_length(8192)
    };
    let (plain, tools) = (
        &[Capability::Completion][..],
        &[Capability::Completion, Capability::Tools][..],
    );
    let mut models = vec![
        own("parrot", tools),
        own("smollm2-think", &[Capability::Completion, Capability::Thinking]),
        own("smollm2-tools", tools),
        own("smollm2:135m", plain),
    ];
    if native {
        models[0] = Model {
            native_capabilities: None,
            weights: None,
            ..own("nparrot", tools)
        };
    }
    models
}

/// The model of the recordings: it says what was recorded, as far as that is the model's own doing.
struct Recorded(std::sync::Arc<std::sync::Mutex<Value>>);

impl Respond for Recorded {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let row = self.0.lock().expect("no test panics while it holds this").clone();
        Ok(says(&row, seen))
    }
}

fn says(row: &Value, seen: &Seen) -> Reply {
    let last = &row["last"];
    let asked = seen.last_of("user").map_or("", |m| m.content.as_str());
    let said = text(&row["text"]);
    if last["done"] == false && last.get("_debug_info").is_none() && said.ends_with(" a") {
        return Reply::text(&" a".repeat(ENDLESS));
    }
    if last["done_reason"] != "stop" || last.get("done").is_none() {
        let words = ["once", "there", "was", "fox", "and", "then", "it", "ran"];
        let story: Vec<_> = (0..ENDLESS).map(|n| words[n * n % 8]).collect();
        return Reply::text(&story.join(" "));
    }
    let call = r#"<tool_call>{"name": "list_dir", "arguments": {"path": "src"}}</tool_call>"#;
    let raw = |text: &str| Reply::new().event(ollama_sim::Event::Raw(text.to_owned()));
    let wrote_a_call = last["eval_count"].as_u64() > Some(2) && said.is_empty();
    match row["calls"].as_u64() {
        Some(0) if wrote_a_call && asked.contains("<tool_call>") => raw(asked),
        Some(0) if wrote_a_call => raw(&call.replace("list_dir", "another")),
        Some(0) => Reply::text(said.split(' ').next().unwrap_or_default()).ending(End::Stop),
        _ if asked.starts_with("<tool_call>") => raw(asked.split("\n<tool_call>").next().unwrap_or(asked)),
        _ if said.is_empty() => raw(call),
        _ => raw(&format!("{said}{call}")),
    }
}

/// One difference: what it is about, what was recorded, what the simulator did.
type Differences = Vec<(&'static str, String, String)>;

fn compare(probe: &Probe, got: &Response) -> Differences {
    let recorded = &probe.recorded;
    let mut out = Differences::new();
    // The client closed this one; where the stream then ended is a matter of time.
    let closed = probe.name == "cancel-mid-stream";
    let mut differ = |what: &'static str, a: String, b: String| {
        if a != b {
            out.push((what, a, b));
        }
    };
    differ("status", recorded["status"].to_string(), got.status.to_string());
    let kind = recorded["content_type"].as_str().unwrap_or("none").to_owned();
    differ(
        "type",
        kind,
        got.header("content-type").unwrap_or("none").to_owned(),
    );
    let allow = recorded["allow"].as_str().unwrap_or("none").to_owned();
    differ("allow", allow, got.header("allow").unwrap_or("none").to_owned());
    let chunked = got.header("transfer-encoding") == Some("chunked");
    differ("framing", recorded["chunked"].to_string(), chunked.to_string());
    differ(
        "lines",
        amount(recorded["lines"].as_u64()),
        amount(Some(count_lines(got))),
    );
    let lines: Vec<Value> = body_lines(got);
    for (which, line) in [("first", lines.first()), ("last", lines.last())] {
        let line = line.cloned().unwrap_or(Value::Null);
        // A body too long for the recording was cut, and is no JSON any more.
        let shortened = recorded[which].is_string() && kind_is_json(recorded);
        if shortened || (closed && which == "last") {
            continue;
        }
        differ("shape", shape(&recorded[which]), shape(&line));
        differ("error", error(&recorded[which]), error(&line));
    }
    if closed {
        return out;
    }
    let last = lines.last().cloned().unwrap_or(Value::Null);
    differ(
        "reason",
        recorded["last"]["done_reason"].to_string(),
        last["done_reason"].to_string(),
    );
    if recorded["last"].is_object() {
        differ("load", loaded(&recorded["last"]), loaded(&last));
    }
    if probe.path == "/api/chat" {
        let calls = if got.status == 200 { got.calls().len() } else { 0 };
        differ("calls", recorded["calls"].to_string(), calls.to_string());
    }
    if recorded["last"]["done_reason"] == "length" {
        differ(
            "generated",
            recorded["last"]["eval_count"].to_string(),
            last["eval_count"].to_string(),
        );
    }
    out
}

fn kind_is_json(recorded: &Value) -> bool {
    recorded["content_type"]
        .as_str()
        .is_some_and(|kind| kind.starts_with("application/json"))
}

fn body_lines(got: &Response) -> Vec<Value> {
    let text = String::from_utf8_lossy(&got.body);
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines
        .map(|l| serde_json::from_str(l).unwrap_or_else(|_| json!(l)))
        .collect()
}

fn count_lines(got: &Response) -> u64 {
    body_lines(got).len() as u64
}

/// None, one, or several: how many is the model's doing.
fn amount(lines: Option<u64>) -> String {
    match lines {
        None | Some(0) => "none".to_owned(),
        Some(1) => "one".to_owned(),
        Some(_) => "several".to_owned(),
    }
}

/// The fields of an object and of what is in it, in order; the contents are another matter.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let fields = map.iter().filter(|(name, _)| !DEEP.contains(&name.as_str()));
            let fields = fields.map(|(name, value)| match name.as_str() {
                "arguments" | "modelfile" => name.clone(),
                _ => format!("{name}{}", shape(value)),
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.first().map(shape).unwrap_or_default()),
        _ => String::new(),
    }
}

/// What belongs to the weights and their owner, not to the server.
const DEEP: [&str; 4] = ["model_info", "tensors", "license", "data"];

/// An error's text with its numbers left out: they are counts.
fn error(value: &Value) -> String {
    let mut out = String::new();
    for c in text(&value["error"]).chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            other => out.push(other),
        }
    }
    out.trim_end_matches('…').to_owned()
}

/// Whether a load shows in the time it took.
fn loaded(line: &Value) -> String {
    line["load_duration"]
        .as_u64()
        .map_or("unknown", |n| if n > 300_000_000 { "load" } else { "warm" })
        .to_owned()
}

/// A difference that is known: server, probe, what it is about.
type Known = (String, String, String);

fn known() -> Vec<(Known, String)> {
    let rows = data("not-imitated.tsv");
    let rows = rows.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    rows.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [server, probe, what, why] = fields[..] else {
            panic!("four fields a row: {line}")
        };
        (
            (server.to_owned(), probe.to_owned(), what.to_owned()),
            why.to_owned(),
        )
    })
    .collect()
}

fn headers(probe: &str) -> Vec<(&'static str, &'static str)> {
    match probe {
        "bad-host-header" => vec![("Host", "evil.example.com")],
        "bad-origin" => vec![("Origin", "http://evil.example.com")],
        _ => Vec::new(),
    }
}

/// Asks a simulated server everything; what it answered, by probe.
fn replay(profile: Profile, file: &str) -> BTreeMap<String, (Probe, Response)> {
    let row = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
    let native = profile == profile::V0_32_15_NATIVE;
    let config = Config::new(Recorded(std::sync::Arc::clone(&row)))
        .profile(profile)
        .models(models(native));
    let server = Server::start(config).expect("a port is free");
    let mut answers = BTreeMap::new();
    for probe in probes(file) {
        row.lock()
            .expect("no test panics while it holds this")
            .clone_from(&probe.recorded);
        let stream = send(
            &server,
            &probe.method,
            &probe.path,
            &headers(&probe.name),
            &probe.body,
        );
        let got = receive(stream);
        answers.insert(probe.name.clone(), (probe, got));
    }
    answers
}

fn check(profile: Profile, file: &str) {
    let answers = replay(profile, file);
    let known = known();
    let mut unexplained = Vec::new();
    let mut met = Vec::new();
    for (probe, got) in answers.values() {
        for (what, recorded, here) in compare(probe, got) {
            let fits = |(server, name, about): &Known| {
                (server == "*" || server == file) && *name == probe.name && about == what
            };
            match known.iter().find(|(k, _)| fits(k)) {
                Some((k, _)) => met.push(k.clone()),
                None => unexplained.push(format!(
                    "{} {what}\n  recorded  {recorded}\n  simulated {here}\n  request   {:.200}",
                    probe.name, probe.request
                )),
            }
        }
    }
    assert!(
        unexplained.is_empty(),
        "{file}: {} differences\n{}",
        unexplained.len(),
        unexplained.join("\n")
    );
    let untrue = known
        .iter()
        .map(|(k, _)| k)
        .find(|k| k.0 == file && !met.contains(k));
    assert_eq!(untrue, None, "a difference that is listed and not there");
    relations(profile, &answers);
}

/// How the counts of different probes compare, as they did on the real servers.
fn relations(profile: Profile, answers: &BTreeMap<String, (Probe, Response)>) {
    let last = |name: &str| body_lines(&answers[name].1).pop().expect("a line");
    let prompt = |name: &str| last(name)["prompt_eval_count"].as_u64().expect("a count");
    let evaluated = |name: &str| last(name)["prompt_eval_duration"].as_u64().unwrap_or(0);
    assert!(prompt("full-history-fits") > 512);
    assert!((129..=256).contains(&prompt("history-over-256")));
    assert!((257..=512).contains(&prompt("history-over-512")));
    assert_eq!(prompt("cache-same"), prompt("cache-cold"));
    assert!(prompt("cache-extended") > prompt("cache-same"));
    assert!(evaluated("cache-same") * 10 < evaluated("cache-cold"));
    assert!(evaluated("cache-extended") * 5 < evaluated("cache-cold"));
    assert!(evaluated("cache-front-changed") * 10 > evaluated("cache-cold") * 8);
    assert_eq!(prompt("predict-1"), prompt("predict-0"));
    if profile != profile::V0_32_15_NATIVE {
        for name in ["single-over-256", "single-over-256-keep16", "ctx-tiny"] {
            let recorded = answers[name].0.recorded["last"]["prompt_eval_count"].as_u64();
            assert_eq!(Some(prompt(name)), recorded, "{name}");
        }
        assert!(prompt("think-false") > prompt("think-true"));
        assert_eq!(prompt("think-omitted"), prompt("think-true"));
    }
}

#[test]
fn e2_answers_as_recorded() {
    check(profile::V0_11_4, "0.11.4");
}

#[test]
fn e3_answers_as_recorded() {
    check(profile::V0_24_0, "0.24.0");
}

#[test]
fn e4_rendered_answers_as_recorded() {
    check(profile::V0_32_15, "0.32.15-rendered");
}

#[test]
fn e4_native_answers_as_recorded() {
    check(profile::V0_32_15_NATIVE, "0.32.15-native");
}

#[test]
fn every_known_difference_stands_in_the_readme() {
    let readme = include_str!("../README.md");
    for (_, why) in known() {
        assert!(readme.contains(&why), "the README does not say: {why}");
    }
}
