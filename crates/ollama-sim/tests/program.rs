//! The program, run as a person runs it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test starts the program it tests"
)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

struct Program {
    child: Child,
    port: u16,
}

fn start(arguments: &[&str]) -> Program {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ollama-sim"))
        .args(arguments)
        .arg("--until-eof")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let port = line
        .trim()
        .strip_prefix("http://127.0.0.1:")
        .unwrap()
        .parse()
        .unwrap();
    Program { child, port }
}

impl Program {
    fn ask(&self, question: &str) -> String {
        let body = format!(
            r#"{{"model":"small","stream":false,"messages":[{{"role":"user","content":"{question}"}}]}}"#
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it; its exit code and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

fn script(name: &str, text: &str) -> PathBuf {
    // Not in cargo's own folder, which may be another user's.
    let path = std::env::temp_dir().join(format!("ollama-sim-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_script_that_is_kept_ends_well_and_one_that_is_not_says_why() {
    let text = r#"{"models": [{"name": "small", "load_ms": 60000}],
        "steps": [{"expect": [{"last_contains": "hi"}], "reply": [{"content": "Hello."}]}]}"#;
    let path = script("kept.json", text);
    let path = path.to_str().unwrap();
    let kept = start(&["--script", path, "--instant", "--profile", "0.9.6"]);
    assert!(kept.ask("Say hi.").contains("Hello."));
    assert_eq!(kept.end(), (Some(0), String::new()));
    let idle = start(&["--script", path]);
    let (code, said) = idle.end();
    assert_eq!(code, Some(1));
    assert!(
        said.starts_with("the script was not kept: step 0 was never asked for"),
        "{said}"
    );
}

#[test]
fn a_bad_script_or_profile_is_named() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ollama-sim"))
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let path = script("bad.json", r#"{"steps": [{"repy": []}]}"#);
    let (code, said) = run(&["--script", path.to_str().unwrap()]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("bad.json: not a script: unknown field `repy`"),
        "{said}"
    );
    assert_eq!(
        run(&["--profile", "2.0"]),
        (Some(2), "error: no profile is called \"2.0\"\n".to_owned())
    );
}

#[test]
fn the_example_of_the_readme_is_a_script() {
    let readme = include_str!("../README.md");
    let example = readme
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let file = ollama_sim::ScriptFile::parse(example).unwrap();
    assert_eq!(
        (file.profile.unwrap().name, file.models[0].load_ms),
        ("0.24.0", 800)
    );
}
