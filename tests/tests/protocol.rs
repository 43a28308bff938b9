//! `wisp chat --json` against its documentation: every line of the transcript in `docs/protocol.md` and of real runs is
//! what `docs/protocol.schema.json` says, and nothing but the protocol is on standard output.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking and reads files of the tree"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use ollama_sim::{Config, Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::schema::fault;
use wisp_tests::{Wisp, case, serve};

fn docs(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(&docs("protocol.schema.json")).unwrap()
}

/// Fails unless each line is one valid `Command` or `Event`.
fn assert_lines(lines: &[Value], what: &str) {
    let schema = schema();
    for line in lines {
        assert_eq!(fault(line, &schema["$defs"][what], &schema), None, "{line}");
    }
}

/// How long an event is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A conversation over the protocol, an event at a time.
struct Talk {
    /// The home, which lasts as long as the run.
    _wisp: Wisp,
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    heard: Vec<Value>,
}

impl Talk {
    fn begin(wisp: Wisp, args: &[&str]) -> Self {
        let mut command = wisp.command(&[&["chat", "--json"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (heard, output) = std::sync::mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| heard.send(line)));
        Self {
            _wisp: wisp,
            child,
            input,
            output,
            heard: Vec::new(),
        }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// The next event of a type. Every line is an object, and nothing else is on standard output.
    fn hear(&mut self, kind: &str) -> Value {
        loop {
            let line = self.output.recv_timeout(PATIENCE);
            let Ok(line) = line else {
                let _killed = self.child.kill();
                panic!("waited for {kind} after {:?}", self.heard.last());
            };
            assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
            let event: Value = serde_json::from_str(&line).unwrap();
            self.heard.push(event.clone());
            if event["type"] == kind {
                return event;
            }
        }
    }

    fn end(mut self) -> Vec<Value> {
        self.say(r#"{"type":"quit"}"#);
        self.hear("exit");
        assert!(self.child.wait().unwrap().success());
        self.heard
    }
}

#[test]
fn every_line_of_the_documented_run_is_valid() {
    let page = docs("protocol.md");
    let lines: Vec<Value> = page
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (commands, events): (Vec<Value>, Vec<Value>) = lines
        .into_iter()
        .partition(|line| ["hello", "message", "answer"].contains(&line["type"].as_str().unwrap()));
    assert!(commands.len() >= 2 && events.len() > 10, "the run is there");
    assert_lines(&commands, "Command");
    assert_lines(&events, "Event");
}

#[test]
fn every_type_and_member_of_the_schema_is_documented() {
    let (page, schema) = (docs("protocol.md"), schema());
    for what in ["Command", "Event"] {
        for one in schema["$defs"][what]["oneOf"].as_array().unwrap() {
            let name = one["properties"]["type"]["const"].as_str().unwrap();
            assert!(page.contains(&format!("`{name}`")), "{what} {name}");
        }
    }
    for one in schema["$defs"]["Command"]["oneOf"].as_array().unwrap() {
        for member in one["properties"].as_object().unwrap().keys() {
            assert!(
                member == "type" || page.contains(&format!("`{member}`")),
                "{member} of {one}"
            );
        }
    }
}

#[test]
fn the_check_itself_finds_faults() {
    let schema = schema();
    let check = |line: Value| fault(&line, &schema["$defs"]["Event"], &schema);
    assert_eq!(check(json!({"type": "delta", "text": "x"})), None);
    for line in [
        json!({"type": "delta"}),
        json!({"type": "delta", "text": 1}),
        json!({"type": "delta", "text": "x", "more": 1}),
        json!({"type": "fly"}),
        json!({"type": "turn", "phase": "middle", "turn": 1}),
        json!({"type": "activity", "doing": null, "asking": 0}),
        json!({"type": "turn", "phase": "end", "turn": 1, "end": {"seconds": 1.0, "outcome": "ok", "odd": 1}}),
    ] {
        assert!(check(line.clone()).is_some(), "{line}");
    }
}

/// Calls a tool that is asked about, one that prints much, and replies with what would command a terminal.
fn replies(seen: &Seen) -> Reply {
    let tools_ran = seen.last().is_some_and(|message| message.role == "tool");
    if tools_ran || !seen.offers("run_command") {
        return Reply::text("done \u{1b}]0;title\u{7} \u{1b}[2J");
    }
    Reply::call("run_command", json!({"command": "touch made; seq 1 40000"}))
}

#[test]
fn every_line_of_a_real_run_is_valid_and_every_command_is_answered() {
    let models = [Model::new("sim"), Model::new("other")];
    let server = Server::start(Config::new(replies).models(models)).unwrap();
    let mut talk = Talk::begin(Wisp::with(&server), &[]);
    talk.say(r#"{"type":"hello","effects":["approve","choose","notify"],"client":"test","version":"1"}"#);
    talk.hear("status");
    talk.say(r#"{"type":"message","text":"count"}"#);
    let asked = talk.hear("approval");
    talk.say(&json!({"type": "answer", "id": asked["id"], "decision": "once"}).to_string());
    let id = loop {
        let event = talk.hear("event");
        if event["kind"] == "tool.result" {
            break event["output"]["id"].as_str().unwrap().to_owned();
        }
    };
    talk.hear("status");
    talk.say(&json!({"type": "output", "id": id, "page": 1}).to_string());
    let view = talk.hear("view");
    assert_eq!(
        (&view["kind"], &view["output"]["page"]),
        (&json!("output"), &json!(1))
    );
    talk.say(&json!({"type": "search", "id": id, "pattern": "^3777.$", "fromLine": 1}).to_string());
    assert_eq!(talk.hear("found")["line"], 37_770);
    talk.say(&json!({"type": "digest", "id": id}).to_string());
    assert_eq!(talk.hear("view")["kind"], "digest");
    talk.say(r#"{"type":"context"}"#);
    assert_eq!(talk.hear("view")["kind"], "context");
    talk.say(r#"{"type":"complete","id":"c","text":"/mod","cursor":4}"#);
    assert!(
        talk.hear("completions")["candidates"]
            .as_array()
            .unwrap()
            .contains(&json!("/model"))
    );
    talk.say("/model");
    let choice = talk.hear("choice");
    talk.say(&json!({"type": "choose", "id": choice["id"]}).to_string());
    talk.hear("status");
    talk.say("!sleep 600");
    loop {
        if talk.hear("activity")["stoppable"] == true {
            break;
        }
    }
    talk.say(r#"{"type":"interrupt"}"#);
    talk.hear("status");
    talk.say("/help");
    talk.hear("output");
    assert_lines(&talk.end(), "Event");
}

#[test]
fn what_is_no_command_is_answered_with_an_error_and_the_conversation_goes_on() {
    let server = serve(Model::new("sim"), replies);
    let mut talk = Talk::begin(Wisp::with(&server), &["--no-tools"]);
    talk.hear("status");
    for line in [
        r#"{"type":"fly"}"#,
        r#"{"type":"answer","id":1}"#,
        "{",
        r#"{"text":"no type"}"#,
    ] {
        talk.say(line);
        let note = loop {
            let note = talk.hear("note");
            if note["level"] == "error" {
                break note;
            }
        };
        let text = note["text"].as_str().unwrap();
        assert!(text.starts_with("this line is no command: "), "{text}");
    }
    talk.say(r#"{"type":"message","text":"hello","later":"ignored"}"#);
    talk.hear("turn");
    assert_lines(&talk.end(), "Event");
}

#[test]
fn what_would_command_a_terminal_is_no_control_character_on_the_wire() {
    let escapes = std::fs::read(case("97-escapes.bin")).unwrap();
    let server = serve(Model::new("sim"), replies);
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("hostile"), &escapes).unwrap();
    let mut talk = Talk::begin(wisp, &[]);
    talk.hear("status");
    talk.say("!cat hostile");
    let result = loop {
        let event = talk.hear("event");
        if event.get("output").is_some() {
            break event;
        }
    };
    assert!(
        result["output"]["text"].as_str().unwrap().contains('\u{1b}'),
        "the bytes come whole: {result}"
    );
    // `hear` has checked that no line holds a control character.
    assert_lines(&talk.end(), "Event");
}
