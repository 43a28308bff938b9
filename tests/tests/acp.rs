//! `wisp acp` through the real binary: an editor's messages in, the protocol and nothing else out.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "tests lay out a home, hand over what is sent, and fail by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use ollama_sim::{Model, Reply, Seen};
use serde_json::{Value, json};
use wisp_tests::{Wisp, runs, serve};

/// An editor at the other end of wisp's standard streams.
struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Updates of sessions, in order.
    updates: Vec<Value>,
    /// What is answered to a permission request: an option, or none to cancel.
    answers: Option<&'static str>,
    asked: Vec<Value>,
    id: u64,
}

impl Editor {
    fn start(wisp: &Wisp) -> (Self, Value) {
        let mut child = wisp
            .command(&["acp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut editor = Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            updates: Vec::new(),
            answers: None,
            asked: Vec::new(),
            id: 0,
        };
        let hello = json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true, "writeTextFile": true}}});
        let hello = editor.ask("initialize", hello);
        assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
        let opened = editor.ask("session/new", json!({"cwd": wisp.work(), "mcpServers": []}));
        let session = opened["result"]["sessionId"].clone();
        assert!(session.is_string(), "{opened}");
        (editor, session)
    }

    fn say(&mut self, message: Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Hears the next message; every line is one of the protocol.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "wisp is gone");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        match message["method"].as_str() {
            Some("session/update") => self.updates.push(message["params"]["update"].clone()),
            Some("session/request_permission") => {
                self.asked.push(message["params"].clone());
                let outcome = match self.answers {
                    Some(option) => json!({"outcome": "selected", "optionId": option}),
                    None => json!({"outcome": "cancelled"}),
                };
                self.say(json!({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}}));
            }
            _ => {}
        }
        message
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear();
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn prompt(&mut self, session: &Value, text: &str) -> Value {
        let prompt = json!([{"type": "text", "text": text}]);
        self.ask("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// The text of all chunks of a kind.
    fn said(&self, kind: &str) -> String {
        let chunks = self
            .updates
            .iter()
            .filter(|update| update["sessionUpdate"] == kind);
        chunks
            .map(|update| update["content"]["text"].as_str().unwrap_or_default())
            .collect()
    }

    fn leave(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_prompt_streams_its_reply_and_the_session_goes_on() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        let turns = seen.messages.iter().filter(|m| m.role == "user").count();
        Reply::text(&format!("Reply {turns}."))
    });
    let wisp = Wisp::with(&server);
    let (mut editor, session) = Editor::start(&wisp);
    let answer = editor.prompt(&session, "hi");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert_eq!(editor.said("agent_message_chunk"), "Reply 1.");
    editor.prompt(&session, "more");
    assert_eq!(editor.said("agent_message_chunk"), "Reply 1.Reply 2.");
    // A command of wisp's is one here too.
    editor.updates.clear();
    let status = editor.prompt(&session, "/mode");
    assert_eq!(status["result"]["stopReason"], "end_turn", "{status}");
    assert!(
        editor.said("agent_message_chunk").contains("ask"),
        "{:?}",
        editor.updates
    );
    assert_eq!(server.chats().len(), 2);
    editor.leave();
}

#[test]
fn a_call_is_shown_and_the_editor_is_asked_with_wisps_own_scopes() {
    let server = runs("touch made");
    let wisp = Wisp::with(&server);
    let (mut editor, session) = Editor::start(&wisp);
    editor.answers = Some("no");
    editor.prompt(&session, "make it");
    assert!(!wisp.work().join("made").exists());
    editor.answers = Some("session");
    editor.prompt(&session, "make it");
    assert!(wisp.work().join("made").exists());
    editor.prompt(&session, "make it");
    let options: Vec<&str> = editor.asked[0]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["optionId"].as_str().unwrap())
        .collect();
    assert_eq!(options, ["once", "turn", "session", "project", "always", "no"]);
    assert_eq!(editor.asked.len(), 2, "the session's answer holds");
    let call = editor
        .updates
        .iter()
        .find(|update| update["sessionUpdate"] == "tool_call")
        .unwrap();
    assert_eq!(
        (&call["kind"], &call["title"]),
        (&json!("execute"), &json!("run_command touch made"))
    );
    assert_eq!(editor.asked[0]["toolCall"]["toolCallId"], call["toolCallId"]);
    let ends: Vec<&Value> = editor
        .updates
        .iter()
        .filter(|u| u["sessionUpdate"] == "tool_call_update")
        .map(|u| &u["status"])
        .collect();
    assert_eq!(ends, ["failed", "completed", "completed"]);
    editor.leave();
}

#[test]
fn a_cancelled_prompt_stops_its_turn() {
    let server = serve(Model::new("sim"), |seen: &Seen| match seen.last() {
        Some(last) if last.content.contains("slow") => {
            Reply::call("run_command", json!({"command": "cat /dev/zero | wc -c"}))
        }
        _ => Reply::text("Hello."),
    });
    let wisp = Wisp::with(&server);
    let (mut editor, session) = Editor::start(&wisp);
    let prompt = json!([{"type": "text", "text": "slow"}]);
    let id = editor.send("session/prompt", json!({"sessionId": session, "prompt": prompt}));
    while editor.hear()["params"]["update"]["sessionUpdate"] != "tool_call" {}
    editor.say(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    assert_eq!(editor.answer(id)["result"]["stopReason"], "cancelled");
    editor.prompt(&session, "hi");
    assert!(editor.said("agent_message_chunk").ends_with("Hello."));
    editor.leave();
}

#[test]
fn what_is_wrong_is_answered_with_an_error_and_the_sessions_go_on() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let wisp = Wisp::with(&server);
    let (mut editor, session) = Editor::start(&wisp);
    for (method, params) in [
        ("session/new", json!({"cwd": "relative", "mcpServers": []})),
        ("session/new", json!({"cwd": "/nowhere/at/all", "mcpServers": []})),
        ("session/prompt", json!({"sessionId": "none", "prompt": []})),
        (
            "session/prompt",
            json!({"sessionId": session, "prompt": [{"type": "image", "data": "AA==", "mimeType": "image/png"}]}),
        ),
        ("no/such", json!({})),
    ] {
        let answer = editor.ask(method, params);
        assert!(answer["error"]["code"].is_i64(), "{method}: {answer}");
    }
    editor.prompt(&session, "hi");
    assert_eq!(editor.said("agent_message_chunk"), "Hello.");
    editor.leave();
}
