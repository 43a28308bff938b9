//! Promises of `docs/safety.md` that stand at the edges: who may own the files that decide, where prompts go, names and
//! secrets that are cut, signals in the middle of a reply. Through the real binary.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files, and fail"
)]

use std::fs;
use std::io::{self, Read as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ollama_sim::{Model, Reply, Seen};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, notes, runs, serve, tool_message};

/// An address of this machine that is not its loopback; none where it has no other.
fn other_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: this only asks which address would be used.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// Passes connections on to a server of the loopback, as one on another machine would take them.
fn pass_on(listener: TcpListener, to: SocketAddr) {
    thread::spawn(move || {
        for from in listener.incoming().flatten() {
            let there = TcpStream::connect(to).unwrap();
            let (mut a, mut b) = (from.try_clone().unwrap(), there.try_clone().unwrap());
            let (mut from, mut there) = (from, there);
            thread::spawn(move || io::copy(&mut a, &mut there));
            thread::spawn(move || io::copy(&mut b, &mut from));
        }
    });
}

#[test]
fn a_server_on_another_machine_is_said_once_by_everything_that_talks_to_it() {
    let Some(address) = other_address() else {
        return;
    };
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("hello"));
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    pass_on(
        listener,
        server.url().trim_start_matches("http://").parse().unwrap(),
    );
    let mut wisp = Wisp::with(&server);
    wisp.set(
        "OLLAMA_HOST",
        &format!("http://{}", SocketAddr::new(address, port)),
    );
    let said = "is not this machine: what you type and what tools return is sent there over plain HTTP";
    let once = |text: &str| assert_eq!(text.matches(said).count(), 1, "{text}");
    once(&wisp.run(&["hi"], "").err);
    once(&wisp.chat(&["hi", "and again"]).err);
    once(&wisp.run(&["doctor"], "").text());
    wisp.set("OLLAMA_HOST", &format!("http://{}", SocketAddr::new(address, 1)));
    once(&wisp.run(&["doctor"], "").text());
}

/// A server that begins a reply and then says no more; what it gives out says that a chat has come.
fn silent() -> (u16, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (came, told) = mpsc::channel();
    thread::spawn(move || {
        let mut open = Vec::new();
        for mut connection in listener.incoming().flatten() {
            let mut block = vec![0; 65_536];
            let read = connection.read(&mut block).unwrap_or(0);
            let request = String::from_utf8_lossy(&block[..read]).into_owned();
            let answer = |body: &str| {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
                format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
            };
            let text = if request.contains("/api/version") {
                answer(r#"{"version":"0.11.4"}"#)
            } else if request.contains("/api/chat") {
                let _ = came.send(());
                "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
                    .to_owned()
            } else {
                answer(r#"{"models":[],"capabilities":["completion","tools"],"details":{},"model_info":{}}"#)
            };
            let _ = io::Write::write_all(&mut connection, text.as_bytes());
            if request.contains("/api/chat") {
                open.push(connection);
            }
        }
    });
    (port, told)
}

#[test]
fn sigquit_in_the_middle_of_a_reply_ends_a_single_prompt_and_closes_the_audit() {
    let (port, chatting) = silent();
    let mut wisp = Wisp::new();
    wisp.configure(&json!({"model": "sim"}));
    wisp.set("OLLAMA_HOST", &format!("127.0.0.1:{port}"));
    let mut command = wisp.command(&["hi"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    chatting.recv_timeout(Duration::from_secs(30)).unwrap();
    kill_process(Pid::from_child(&child), Signal::QUIT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(131));
    assert_eq!(wisp.audit().pop().unwrap()["kind"], "session.end");
}

#[test]
fn a_name_of_a_tool_is_cut_at_64_characters_wherever_it_goes() {
    let long = "t".repeat(65);
    let called = long.clone();
    let model = Model::new("sim").with_parser(ollama_sim::Parser::Xml);
    let server = serve(model, move |seen: &Seen| {
        match seen.last().map(|m| m.role.as_str()) {
            Some("tool") => Reply::text("I see."),
            _ => Reply::call(&called, json!({})),
        }
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--json", "go"], "");
    let said: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(said["calls"][0]["tool"], "t".repeat(64), "{said}");
    let sent = server.chats().pop().unwrap().json.unwrap().to_string();
    assert!(tool_message(&server).contains(&"t".repeat(64)));
    assert!(!sent.contains(&long));
    assert!(!wisp.audit().iter().any(|event| event.to_string().contains(&long)));
}

#[test]
fn logs_as_json_escape_what_a_terminal_would_take_for_a_command() {
    let server = runs("printf 'a\\302\\233b \\342\\200\\256c \\033]0;t\\007'");
    let wisp = Wisp::with(&server);
    wisp.run(&["--yes", "look \u{9b}31m \u{202e}here"], "");
    let logs = wisp.run(&["logs", "--json"], "");
    assert_eq!(logs.code, Some(0), "{}", logs.err);
    let text = logs.text();
    assert!(text.contains("look \\u009b31m \\u202ehere"), "{text}");
    let raw = text
        .chars()
        .find(|c| *c != '\n' && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}')));
    assert_eq!(raw, None, "{text}");
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn a_configuration_of_another_user_is_refused_with_the_chown_that_fixes_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let wisp = Wisp::new();
    wisp.configure(&json!({"model": "sim"}));
    let config = wisp.root().join("config.json");
    std::os::unix::fs::chown(&config, Some(12_345), None).unwrap();
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("it belongs to another user"), "{}", ran.err);
    assert!(
        ran.err.contains(&format!("chown 0 {}", config.display())),
        "{}",
        ran.err
    );
    std::os::unix::fs::chown(&config, Some(0), None).unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o666)).unwrap();
    let ran = wisp.run(&["hi"], "");
    assert!(
        ran.err.contains(&format!("chmod go-w {}", config.display())),
        "{}",
        ran.err
    );
}

#[test]
fn with_the_oldest_landlock_wisp_starts_says_what_is_missing_and_runs_what_reads() {
    let server = runs("cat a.txt");
    let mut wisp = Wisp::with(&server);
    fs::write(wisp.work().join("a.txt"), "one\n").unwrap();
    wisp.set("WISP_SANDBOX_LANDLOCK", "1");
    wisp.set("WISP_SANDBOX_NAMESPACES", "off");
    let doctor = wisp.run(&["doctor"], "");
    assert!(doctor.text().contains("Landlock 1, seccomp"), "{}", doctor.text());
    let ran = wisp.run(&["go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(tool_message(&server).contains("one"), "{}", tool_message(&server));
}

#[test]
fn a_sandbox_that_is_off_is_said_by_each_conversation() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("hello"));
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "sandbox": {"mode": "off"}}));
    for _ in 0..2 {
        let mut chat = Talk::start(&wisp, &[], Duration::from_mins(1));
        chat.turn("hi");
        let said = notes(&chat.seen, "warning");
        assert_eq!(
            said,
            ["sandbox off: commands may do whatever you may (sandbox.mode)"]
        );
    }
    let doctor = wisp.run(&["doctor"], "").text();
    assert!(
        doctor.contains("off: commands may do whatever you may (sandbox.mode)"),
        "{doctor}"
    );
}

#[test]
fn what_a_person_types_is_not_confined() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("hello"));
    let wisp = Wisp::with(&server);
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("made");
    wisp.chat(&[&format!("!touch {}", file.display())]);
    assert!(file.exists());
}

#[test]
fn two_wisps_at_once_confine_each_its_own_and_one_that_is_killed_ends_nothing_of_the_other() {
    let server = runs("echo begun >> begins; sleep 1; echo late >> ends");
    let wisp = Wisp::with(&server);
    let start = || {
        let mut talk = Talk::start(&wisp, &["--yes"], Duration::from_mins(1));
        talk.send(&json!({"type": "message", "text": "go"}));
        talk
    };
    let begins = || fs::read_to_string(wisp.work().join("begins")).unwrap_or_default();
    let (killed, mut other) = (start(), start());
    while begins().lines().count() < 2 {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(killed.process()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let end = other.until("the other's end", wisp_tests::is_end);
    assert_eq!(end["end"]["outcome"], "ok", "{end}");
    assert_eq!(fs::read_to_string(wisp.work().join("ends")).unwrap(), "late\n");
    assert!(tool_message(&server).contains("exit status 0"));
}

/// A secret that stands across the place where an output is cut is masked in what a model elsewhere is sent, page by
/// page. There is one at every place where it could be cut, on one long line and on many.
#[test]
fn a_secret_across_a_cut_does_not_reach_a_model_elsewhere() {
    let secret = ["gh", "p_", "Tern0000Example1111Tern2222Example33"].concat();
    for between in [" ", "\n"] {
        let model = Model {
            remote: Some(ollama_sim::Remote {
                host: "https://ollama.com:443".into(),
                model: "sim".into(),
                signed_in: true,
                quota: None,
            }),
            ..Model::new("sim")
        };
        let mut asked = 0;
        let server = serve(model, move |_: &Seen| {
            asked += 1;
            match asked {
                1 => Reply::call("run_command", json!({"command": "cat long.txt"})),
                2 => Reply::call("memory", json!({"request": "recall last output more"})),
                3 => Reply::call("read_file", json!({"path": "long.txt"})),
                _ => Reply::text("done"),
            }
        });
        let wisp = Wisp::with(&server);
        fs::write(
            wisp.work().join("long.txt"),
            format!("{secret}{between}").repeat(5_000),
        )
        .unwrap();
        wisp.run(&["--yes", "look"], "");
        let results: Vec<String> = server
            .chats()
            .iter()
            .flat_map(|chat| {
                let messages = chat
                    .json
                    .as_ref()
                    .and_then(|sent| sent["messages"].as_array().cloned());
                messages
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|m| m["role"] == "tool")
                    .map(|m| m["content"].to_string())
            })
            .collect();
        assert!(results.len() > 5, "{results:?}");
        for result in results {
            // The last ten characters of it alone say nothing.
            let mut parts = secret
                .as_bytes()
                .windows(11)
                .map(|part| str::from_utf8(part).unwrap());
            let leaked = parts.find(|part| result.contains(part));
            assert_eq!(leaked, None, "{result}");
        }
    }
}
