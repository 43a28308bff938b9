//! What people give: a directory that has moved, names of conversations, addresses of a server, bytes at a prompt.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;
use wisp_tests::stub::{Stub, call, text};
use wisp_tests::{Talk, binary};

use super::{each, home};

#[test]
fn a_conversation_whose_directory_is_gone_opens_and_both_are_told() {
    let stub = Stub::start(vec![text("seen")]);
    let wisp = home(&stub);
    let (held, now) = (wisp.work().join("tide"), wisp.work().join("moved"));
    std::fs::create_dir(&held).unwrap();
    let mut first = wisp.command(&["chat", "--save", "tide"]);
    first.current_dir(&held);
    wisp.run_command(first, "hello\n/quit\n");
    std::fs::rename(&held, now).unwrap();
    let ran = wisp.run(&["chat", "--resume", "tide"], "go on\n/quit\n");
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = format!(
        "held in {}, which is gone; commands now run in {}",
        held.display(),
        wisp.work().display()
    );
    assert!(told.contains(&said) && ran.code == Some(0), "{told}");
    let sent = stub.chats().pop().unwrap()["messages"].to_string();
    assert!(sent.contains(&said), "{sent}");
}

#[test]
fn a_directory_that_is_gone_or_none_is_named_and_other_directories_work() {
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("file"), "").unwrap();
    let pwd = |name: &str| {
        let directory = other.path().join(name);
        call(
            "run_command",
            &json!({"command": "pwd", "workingDirectory": directory}),
        )
    };
    let plain = call("run_command", &json!({"command": "pwd"}));
    let stub = Stub::start(vec![plain, pwd(""), pwd("file"), pwd("none"), text("done")]);
    let wisp = home(&stub);
    let held = wisp.work().join("tide");
    std::fs::create_dir(&held).unwrap();
    let mut command = wisp.command(&["chat", "--json", "--yes"]);
    command.current_dir(&held);
    let mut chat = Talk::of(command, Duration::from_mins(1));
    chat.send(&json!({"type": "hello", "client": "t", "version": "1"}));
    chat.until("the beginning", |event| event["type"] == "status");
    std::fs::remove_dir(&held).unwrap();
    chat.turn("go");
    let results = stub.results();
    let gone = format!("{}, the conversation's directory, is gone", held.display());
    assert!(results[0].contains(&gone), "{results:?}");
    let place = other.path().display().to_string();
    assert!(
        results[1].contains(&place) && !results[1].contains("error"),
        "{results:?}"
    );
    assert!(
        results[2].contains(&format!("not a directory: {place}/file")),
        "{results:?}"
    );
    assert!(
        results[3].contains(&format!("does not exist: {place}/none")),
        "{results:?}"
    );
}

#[test]
fn wisp_begun_in_a_directory_that_is_gone_says_so_in_a_line_and_reads_absolute_paths() {
    let stub = Stub::start(Vec::new());
    let wisp = home(&stub);
    let log = wisp.work().join("log.txt");
    std::fs::write(&log, "error: tide is out\n").unwrap();
    let line = |args: &str| {
        let mut command = std::process::Command::new("/bin/sh");
        let own = wisp.command(&[]);
        command
            .env_clear()
            .envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args([
            "-c",
            &format!(
                "mkdir gone; cd gone; rmdir ../gone; exec '{}' {args}",
                binary("wisp").display()
            ),
        ]);
        command.current_dir(wisp.work());
        wisp.run_command(command, "")
    };
    let ran = line("hi");
    assert_ne!(ran.code, Some(0));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("directory"), "{}", ran.err);
    assert_eq!(line("--version").code, Some(0));
    let ran = line(&format!("summarise '{}'", log.display()));
    assert!(ran.text().contains("tide is out"), "{} {}", ran.text(), ran.err);
    assert!(stub.chats().is_empty());
}

#[test]
fn a_name_that_is_none_is_refused_and_nothing_is_made() {
    let stub = Stub::start(Vec::new());
    let long = "x".repeat(300);
    let names = ["../../evil", "a/b", "-x", ".", "..", "", "tide\n2", &long];
    each(
        &names,
        |name| format!("{name:?}"),
        |name| {
            let wisp = home(&stub);
            let ran = wisp.run(&["chat", "--save", name], "hello\n/quit\n");
            let saved = std::fs::read_dir(wisp.root().join("transcripts")).map_or(0, Iterator::count);
            let around = std::fs::read_dir(wisp.root().parent().unwrap()).unwrap().count();
            let holds = ran.code.is_some_and(|code| code != 0) && saved == 0 && around == 2;
            if holds { Ok(()) } else { Err(format!("{ran:?}")) }
        },
    );
    assert!(stub.chats().is_empty(), "nothing was sent");
}

#[test]
fn the_forms_of_an_address_that_a_server_takes_reach_it_and_no_proxy_is_asked() {
    let stub = Stub::start(vec![text("fine"); 40]);
    let forms = [
        "127.0.0.1:PORT",
        "localhost:PORT",
        "http://127.0.0.1:PORT",
        "http://127.0.0.1:PORT/",
        "http://127.0.0.1:PORT//",
        "127.0.0.1:PORT/",
        "0.0.0.0:PORT",
        "http://0.0.0.0:PORT",
        ":PORT",
        " 127.0.0.1:PORT ",
        "\"127.0.0.1:PORT\"",
        "HTTP://127.0.0.1:PORT",
    ];
    each(
        &forms,
        |form| format!("{form:?}"),
        |form| {
            let mut wisp = home(&stub);
            let proxy = "http://127.0.0.1:9";
            wisp.set("http_proxy", proxy);
            wisp.set("HTTP_PROXY", proxy);
            wisp.set("ALL_PROXY", proxy);
            wisp.set("OLLAMA_HOST", &form.replace("PORT", &stub.port().to_string()));
            let ran = wisp.run(&["look at the tide"], "");
            if ran.text() == "fine\n" {
                Ok(())
            } else {
                Err(format!("{ran:?}"))
            }
        },
    );
}

#[test]
fn an_address_that_is_none_is_named_and_no_other_server_is_asked() {
    let stub = Stub::start(Vec::new());
    let rows = [
        ("http://127.0.0.1:PORT/api", "/api"),
        ("http://127.0.0.1:PORT/v1", "/v1"),
        ("127.0.0.1:99999", "99999"),
        ("127.0.0.1:abc", "abc"),
        ("http://heron:pw@127.0.0.1:PORT", "OLLAMA_HOST"),
        ("tcp://127.0.0.1:PORT", "tcp"),
        ("http://", "OLLAMA_HOST"),
        ("http://127.0.0.1:PORT?x=1", "?x=1"),
    ];
    each(
        &rows,
        |row| row.0.to_owned(),
        |(form, named)| {
            let mut wisp = home(&stub);
            wisp.set("OLLAMA_HOST", &form.replace("PORT", &stub.port().to_string()));
            let ran = wisp.run(&["look at the tide"], "");
            let failed = ran.code.is_some_and(|code| code != 0) && ran.out.is_empty();
            let holds = failed && ran.err.contains(named) && !ran.err.contains("11434");
            if holds { Ok(()) } else { Err(format!("{ran:?}")) }
        },
    );
    assert!(stub.chats().is_empty(), "nothing was sent");
}

/// Types at a program on a terminal of its own, and gives back the message that reached the server.
fn typed(program: &str, args: &[&str], keys: &[u8]) -> Result<String, String> {
    let stub = Stub::start(Vec::new());
    let wisp = home(&stub);
    let (pty, pts) = pty_process::blocking::open().unwrap();
    pty.resize(pty_process::Size::new(24, 80)).unwrap();
    let mut command = pty_process::blocking::Command::new(binary(program))
        .args(args)
        .env_clear();
    for (name, value) in wisp.command(&[]).get_envs() {
        command = command.env(name, value.unwrap_or_default());
    }
    command = command.env("TERM", "xterm-256color").current_dir(wisp.work());
    let mut child = command.spawn(pts).unwrap();
    let mut reading = std::fs::File::from(pty.as_fd().try_clone_to_owned().unwrap());
    let (to, output) = mpsc::channel();
    std::thread::spawn(move || {
        let mut block = [0; 4096];
        while let Ok(read @ 1..) = reading.read(&mut block) {
            if to.send(block[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut writing = std::fs::File::from(pty.as_fd().try_clone_to_owned().unwrap());
    // The program is ready once it asked for bracketed paste.
    let until = Instant::now() + Duration::from_secs(30);
    let mut screen = Vec::new();
    while !String::from_utf8_lossy(&screen).contains("\x1b[?2004h") {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(block) = output.recv_timeout(left) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("never ready: {}", String::from_utf8_lossy(&screen)));
        };
        screen.extend(block);
    }
    writing.write_all(keys).unwrap();
    let mut enter = true;
    let sent = loop {
        if let Some(chat) = stub.chats().pop() {
            let messages = chat["messages"].as_array().cloned().unwrap_or_default();
            let last = messages.iter().rfind(|m| m["role"] == "user").cloned();
            break Ok(last.map_or_else(String::new, |m| {
                m["content"].as_str().unwrap_or_default().to_owned()
            }));
        }
        if child.try_wait().unwrap().is_some() || Instant::now() > until {
            break Err(format!(
                "it ended or sent nothing: {}",
                String::from_utf8_lossy(&screen)
            ));
        }
        // Enter is a key of its own once the text has been drawn: with a paste it would be part of it.
        if let Ok(block) = output.recv_timeout(Duration::from_millis(20)) {
            screen.extend(block);
        }
        if enter && String::from_utf8_lossy(&screen).contains("lait") {
            enter = false;
            writing.write_all(b"\r").unwrap();
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    sent
}

#[test]
fn a_byte_that_is_not_utf_8_is_one_replacement_and_the_rest_of_the_line_is_kept() {
    let rows: Vec<(&str, &[&str], &[u8])> = [("wisp", &["chat"][..]), ("wisp-tui", &[])]
        .into_iter()
        .flat_map(|(program, args)| {
            [
                (program, args, &b"caf\xe9 au lait"[..]),
                (program, args, b"\x1b[200~caf\xe9 au lait\x1b[201~"),
            ]
        })
        .collect();
    each(
        &rows,
        |row| format!("{} {}", row.0, String::from_utf8_lossy(row.2)),
        |(program, args, keys)| match typed(program, args, keys)? {
            sent if sent == "caf\u{fffd} au lait" => Ok(()),
            sent => Err(format!("{sent:?}")),
        },
    );
    let stub = Stub::start(Vec::new());
    let wisp = home(&stub);
    let mut child = wisp.command(&["chat"]);
    child
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"caf\xe9 au lait\n/quit\n")
        .unwrap();
    assert!(child.wait().unwrap().success());
    let chats = stub.chats();
    let messages = chats[0]["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["content"], "caf\u{fffd} au lait");
}
