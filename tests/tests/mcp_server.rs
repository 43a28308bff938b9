//! `wisp mcp` through the real binary: a client's messages in, the protocol and nothing else out.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "tests lay out a home, hand over what is sent, and fail by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, calls, runs, serve};

/// A client at the other end of the server's standard streams.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Notifications that came between answers.
    heard: Vec<Value>,
    id: u64,
}

impl Client {
    fn start(wisp: &Wisp, args: &[&str]) -> Self {
        let mut all = vec!["mcp"];
        all.extend(args);
        let mut child = wisp
            .command(&all)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut client = Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            heard: Vec::new(),
            id: 0,
        };
        // As Codex sends it: with objects as values of experimental capabilities.
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {"experimental": {"codex/auth-change": {}}},
            "clientInfo": {"name": "test", "version": "1"}
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "wisp", "{answer}");
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn say(&mut self, message: &Value) {
        self.raw(&format!("{message}\n"));
    }

    fn raw(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Sends a request without waiting; returns its id.
    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// The next message. Every line is one of the protocol.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(
            self.stdout.read_line(&mut line).unwrap() > 0,
            "the server is gone"
        );
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == json!(id) {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn respond(&mut self, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": "respond", "arguments": arguments}));
        answer.get("result").cloned().unwrap_or(answer)
    }

    fn read(&mut self, uri: &str) -> Value {
        let answer = self.ask("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.map_or(answer.clone(), |text| serde_json::from_str(text).unwrap())
    }

    /// Leaves, and waits until the server has ended.
    fn leave(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Server {
    serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."))
}

#[test]
fn a_prompt_is_answered_in_a_thread_that_goes_on() {
    let server = hello();
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &[]);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["respond", "close_thread"]);
    let first = client.respond(json!({"prompt": "hi", "thread_id": "work"}));
    assert_eq!(first["content"][0]["text"], "Hello.", "{first}");
    let account = &first["structuredContent"];
    assert_eq!(
        (&account["thread_id"], &account["created"], &account["text"]),
        (&json!("work"), &json!(true), &json!("Hello."))
    );
    assert_eq!(
        (&account["receipt"]["turn"], &account["calls"]),
        (&json!(1), &json!([]))
    );
    let second = client.respond(json!({"prompt": "and", "thread_id": "work"}));
    assert_eq!(
        (
            &second["structuredContent"]["created"],
            &second["structuredContent"]["receipt"]["turn"]
        ),
        (&json!(false), &json!(2))
    );
    let last = server.chats().last().unwrap().json.clone().unwrap();
    let said: Vec<&str> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "user")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["hi", "and"]);
    let other = client.respond(json!({"prompt": "x", "thread_id": "work", "instructions": "late"}));
    assert!(
        other["isError"] == true
            && other["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("given when it begins"),
        "{other}"
    );
    client.leave();
    let sessions: Vec<String> = std::fs::read_dir(wisp.root().join("audit"))
        .unwrap()
        .flatten()
        .map(|f| f.file_name().into_string().unwrap())
        .collect();
    assert!(
        sessions
            .iter()
            .any(|name| name.starts_with("work-") && name.contains(".jsonl")),
        "{sessions:?}"
    );
}

#[test]
fn what_ran_comes_from_the_record_and_long_outputs_are_resources() {
    let server = runs("seq 1 5000");
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &["--yes"]);
    let answer = client.respond(json!({"prompt": "count", "thread_id": "t"}));
    let call = &answer["structuredContent"]["calls"][0];
    assert_eq!(
        (&call["tool"], &call["command"], &call["exitStatus"]),
        (&json!("run_command"), &json!("seq 1 5000"), &json!(0))
    );
    assert!(call.get("output").is_none(), "{call}");
    let uri = call["outputURI"].as_str().unwrap().to_owned();
    let page = client.read(&uri);
    assert_eq!(
        (&page["page"], &page["stored"], &page["storedLines"].is_u64()),
        (&json!(1), &json!(true), &true),
        "{page}"
    );
    let pages = page["pages"].as_u64().unwrap();
    let last = client.read(&format!("{uri}?page={pages}"));
    assert!(
        last["text"].as_str().unwrap().contains("\n5000\n") && last["next"].is_null(),
        "{last}"
    );
    let listed = client.read("wisp://threads/t/output");
    assert_eq!(
        (&listed["total"], &listed["calls"][0]["uri"]),
        (&json!(1), &json!(uri))
    );
    let threads = client.read("wisp://threads");
    assert_eq!(
        (
            &threads["threads"][0]["thread_id"],
            &threads["threads"][0]["state"]
        ),
        (&json!("t"), &json!("open"))
    );
    let audit = client.read("wisp://threads/t/audit");
    assert_eq!(audit["events"][0]["kind"], "session.start", "{audit}");
    let session = audit["events"][0]["session"].as_str().unwrap();
    let refused = client.read(&format!("wisp://audit/{session}"));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let closed = client.ask(
        "tools/call",
        json!({"name": "close_thread", "arguments": {"thread_id": "t"}}),
    );
    assert_eq!(
        closed["result"]["structuredContent"]["state"], "closed",
        "{closed}"
    );
    assert_eq!(client.read("wisp://threads/t")["state"], "closed");
    assert_eq!(client.read(&uri)["page"], 1);
    client.leave();
}

#[test]
fn a_caller_cannot_approve_type_commands_or_attach_files() {
    let server = calls("run_command", json!({"command": "touch made"}));
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("private.txt"), "not for the caller").unwrap();
    let mut client = Client::start(&wisp, &[]);
    let answer = client.respond(json!({"prompt": "make it"}));
    let refusals = &answer["structuredContent"]["refusals"];
    assert_eq!(refusals[0]["command"], "touch made", "{answer}");
    assert!(answer["isError"] != true && !wisp.work().join("made").exists());
    for prompt in ["!touch made", "/mode auto", "@private.txt"] {
        client.respond(json!({ "prompt": prompt }));
        let chats = server.chats();
        let request = chats.last().unwrap().json.clone().unwrap().to_string();
        assert!(
            request.contains(prompt) && !request.contains("not for the caller"),
            "{request}"
        );
    }
    assert!(!wisp.work().join("made").exists());
    client.leave();
}

#[test]
fn progress_is_told_to_those_who_ask_for_it() {
    let server = runs("true");
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &[]);
    let params = json!({"name": "respond", "arguments": {"prompt": "go"}, "_meta": {"progressToken": "p"}});
    client.ask("tools/call", params);
    let told: Vec<&Value> = client
        .heard
        .iter()
        .filter(|m| m["method"] == "notifications/progress")
        .collect();
    assert!(
        told.iter().any(|m| m["params"]["message"]
            .as_str()
            .unwrap_or_default()
            .contains("run_command true")),
        "{told:?}"
    );
    assert_eq!(
        (
            &told[0]["params"]["progress"],
            &told[0]["params"]["progressToken"]
        ),
        (&json!(1.0), &json!("p"))
    );
    client.heard.clear();
    client.respond(json!({"prompt": "go"}));
    assert!(client.heard.is_empty(), "{:?}", client.heard);
    client.leave();
}

#[test]
fn a_cancelled_call_stops_its_turn_and_the_thread_goes_on() {
    let server = serve(Model::new("sim"), |seen: &Seen| match seen.last() {
        Some(last) if last.content.contains("slow") => {
            Reply::call("run_command", json!({"command": "sleep 60"}))
        }
        _ => Reply::text("Hello."),
    });
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &["--yes"]);
    let params = json!({"name": "respond", "arguments": {"prompt": "slow", "thread_id": "t"}, "_meta": {"progressToken": 1}});
    let slow = client.send("tools/call", params);
    while !client.next()["params"]["message"]
        .as_str()
        .unwrap_or_default()
        .contains("sleep 60")
    {}
    client
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}}));
    let next = client.respond(json!({"prompt": "hi", "thread_id": "t"}));
    assert_eq!(next["content"][0]["text"], "Hello.", "{next}");
    client.leave();
}

#[test]
fn callers_wait_in_line_and_are_told_their_place() {
    let server = runs("sleep 0.3");
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &["--yes"]);
    let ids: Vec<u64> = (0..3)
        .map(|n| {
            let meta = json!({"progressToken": n});
            client.send(
                "tools/call",
                json!({"name": "respond", "arguments": {"prompt": "go"}, "_meta": meta}),
            )
        })
        .collect();
    let mut order = Vec::new();
    while order.len() < 3 {
        let message = client.next();
        match message["id"].as_u64() {
            Some(id) => order.push(id),
            None => client.heard.push(message),
        }
    }
    order.sort_unstable();
    assert_eq!(order, ids);
    let said = json!(client.heard).to_string();
    assert!(
        said.contains("waiting for the model, 2 before this one"),
        "{said}"
    );
    client.leave();
}

#[test]
fn hostile_input_is_answered_with_errors_and_the_server_goes_on() {
    let server = hello();
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &[]);
    client.raw("not json\n{\"broken\": \n\u{0}\n");
    client.raw(&format!("{}\n", "[".repeat(100_000)));
    for (method, params) in [
        ("no/such", json!({})),
        (
            "tools/call",
            json!({"name": "run_command", "arguments": {"command": "ls"}}),
        ),
        ("tools/call", json!({"name": "respond", "arguments": {}})),
        (
            "tools/call",
            json!({"name": "respond", "arguments": {"prompt": "x", "thread_id": "a".repeat(100_000)}}),
        ),
        (
            "tools/call",
            json!({"name": "respond", "arguments": {"prompt": "x", "thread_id": "../up"}}),
        ),
        (
            "tools/call",
            json!({"name": "close_thread", "arguments": {"thread_id": 5}}),
        ),
        ("resources/read", json!({"uri": "wisp://threads/../audit"})),
        ("resources/read", json!({"uri": "wisp://audit/..%2f..%2fetc"})),
        ("resources/read", json!({"uri": "file:///etc/passwd"})),
        ("resources/read", json!({"uri": "wisp://threads?page=99"})),
    ] {
        let answer = client.ask(method, params.clone());
        assert!(answer["error"]["code"].is_i64(), "{method} {answer}");
        assert!(answer.to_string().len() < 2_000, "{method}");
    }
    let answer = client.respond(json!({"prompt": "hi", "model": "missing"}));
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(
        client.respond(json!({"prompt": "hi"}))["content"][0]["text"],
        "Hello."
    );
    client.leave();
}

#[test]
fn a_caller_that_goes_away_ends_the_server_and_its_turn() {
    let server = runs("sleep 60");
    let wisp = Wisp::with(&server);
    let mut client = Client::start(&wisp, &["--yes"]);
    client.send(
        "tools/call",
        json!({"name": "respond", "arguments": {"prompt": "go"}, "_meta": {"progressToken": 1}}),
    );
    while !client.next()["params"]["message"]
        .as_str()
        .unwrap_or_default()
        .contains("sleep 60")
    {}
    drop(client.stdin.take());
    let ended = (0..800).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        client.child.try_wait().unwrap().is_some()
    });
    assert!(ended, "the server waits for the turn of a caller that is gone");
}
