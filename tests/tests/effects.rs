//! What commands do that nobody was asked about, whatever their lines say, through the real binary: a model calls each
//! of many lines that try to harm, in one conversation whose safe lines run unasked and in which nobody answers. No file
//! may be made or changed, no secret may be sent to the model, and nobody may be connected to.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files, and fail"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, case, serve};

/// What is in files and a variable that no command may read. Its name is not in any line.
const SECRET: &str = "k7Qz-planted-9fXw";

/// Calls a reply makes.
const AT_ONCE: usize = 25;

/// Calls a conversation makes.
const IN_ALL: usize = 100;

/// The lines of both files, their escapes read.
fn lines() -> Vec<String> {
    let text = |name: &str| fs::read_to_string(case(name)).unwrap();
    let (hostile, effects) = (text("gate/hostile.tsv"), text("sandbox/effects.txt"));
    let hostile = hostile.lines().filter(|line| !line.starts_with('#'));
    let hostile = hostile
        .filter_map(|line| line.split_once('\t'))
        .map(|(_, line)| line);
    let effects = effects.lines().filter(|line| !line.starts_with('#'));
    hostile.chain(effects).map(unescaped).collect()
}

/// A line with `\n`, `\t`, `\r`, `\\`, `\xHH` and `\uHHHH` read.
fn unescaped(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match rest.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('x') => hex(&mut rest, 2),
            Some('u') => hex(&mut rest, 4),
            Some(other) => other,
            None => '\\',
        });
    }
    out
}

fn hex(rest: &mut std::str::Chars<'_>, digits: usize) -> char {
    let text: String = rest.take(digits).collect();
    u32::from_str_radix(&text, 16)
        .ok()
        .and_then(char::from_u32)
        .unwrap_or('?')
}

/// A model that makes all these calls, some at a time, and then says `done`.
fn model(lines: Vec<String>) -> Server {
    let mut rest = lines.into_iter();
    serve(Model::new("sim"), move |_: &Seen| {
        let calls: Vec<String> = rest.by_ref().take(AT_ONCE).collect();
        if calls.is_empty() {
            return Reply::text("done");
        }
        calls.into_iter().fold(Reply::new(), |reply, line| {
            reply.and_call("run_command", json!({"command": line}))
        })
    })
}

/// Lays out what can be harmed and what can be found.
fn lay_out(wisp: &Wisp, home: &Path) {
    let at = |path: &str| home.join(path);
    for dir in [".ssh", ".aws", ".config/gh", "work/bin", "work/sub"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    let secrets = [
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".bash_history",
        "work/.env",
        "work/.env.bak",
        "work/sub/.env.local",
        "work/terraform.tfstate",
    ];
    for file in secrets {
        fs::write(at(file), format!("{SECRET}\n")).unwrap();
    }
    let files = [
        ("work/a.txt", "one\ntwo\n"),
        ("work/script.sh", "touch \"$1\"\n"),
        ("work/evil.awk", "BEGIN { system(\"touch MARK_awk\") }\n"),
        ("work/evil.sed", "1w MARK_sed\n"),
        ("work/path.txt", "bin\n"),
        ("work/bin/ls", "#!/bin/sh\nfor f; do : > \"$f\"; done\n"),
    ];
    for (file, text) in files {
        fs::write(at(file), text).unwrap();
    }
    fs::set_permissions(at("work/bin/ls"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(".env", at("work/link")).unwrap();
    fs::hard_link(at("work/.env"), at("work/link2")).unwrap();
    fs::write(wisp.root().join("planted"), SECRET).unwrap();
}

/// Every file below a directory but wisp's own, with what it is: its mode, its time, its content.
fn snapshot(home: &Path, own: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut dirs) = (BTreeMap::new(), vec![home.to_owned()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path == own {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let content = if meta.is_file() {
                fs::read_to_string(&path).unwrap_or_default()
            } else {
                String::new()
            };
            let what = format!(
                "{:o} {}.{} {content}",
                meta.mode(),
                meta.mtime(),
                meta.mtime_nsec()
            );
            if meta.is_dir() {
                dirs.push(path.clone());
            }
            found.insert(path, what);
        }
    }
    found
}

#[test]
fn no_line_that_runs_unasked_changes_sends_or_shows_what_it_may_not() {
    harmless(&[], 1);
}

#[test]
fn no_line_harms_where_the_kernel_has_the_oldest_landlock_and_no_namespaces() {
    harmless(
        &[("WISP_SANDBOX_LANDLOCK", "1"), ("WISP_SANDBOX_NAMESPACES", "off")],
        some(),
    );
}

#[test]
fn no_line_harms_where_the_kernel_has_no_landlock() {
    harmless(&[("WISP_SANDBOX_LANDLOCK", "0")], some());
}

/// One line of this many is called where a test only changes what the kernel offers; `WISP_EFFECTS=all` calls them all.
fn some() -> usize {
    if std::env::var("WISP_EFFECTS").is_ok_and(|which| which == "all") {
        1
    } else {
        4
    }
}

/// Has a model call one of `every` lines, with these variables set for wisp, and looks at what changed, was sent and was
/// shown.
fn harmless(env: &[(&str, &str)], every: usize) {
    let lines = lines();
    assert!(lines.len() > 1000, "{}", lines.len());
    let lines: Vec<String> = lines.into_iter().step_by(every).collect();
    let mut wisp = Wisp::new();
    for (name, value) in env {
        wisp.set(name, value);
    }
    wisp.configure(&json!({"model": "sim"}));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
    udp.set_nonblocking(true).unwrap();
    wisp.set("LISTENS", &tcp.local_addr().unwrap().port().to_string());
    wisp.set("OPENAI_API_KEY", SECRET);
    let home = wisp.work().parent().unwrap().to_owned();
    lay_out(&wisp, &home);
    let before = snapshot(&home, &wisp.root());
    let mut results = BTreeSet::new();
    for lines in lines.chunks(IN_ALL) {
        let server = model(lines.to_vec());
        wisp.set("OLLAMA_HOST", &server.url());
        let ran = wisp.run(&["go"], "");
        // 2 says that something was refused, since nobody was there to ask.
        assert!(matches!(ran.code, Some(0 | 2)), "{:?}: {}", ran.code, ran.err);
        results.extend(told(&server));
    }
    let after = snapshot(&home, &wisp.root());
    let changed: Vec<_> = after
        .iter()
        .filter(|(path, what)| before.get(*path) != Some(what))
        .map(|(path, _)| path)
        .chain(before.keys().filter(|path| !after.contains_key(*path)))
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
    let refused = |kind: ErrorKind| kind == ErrorKind::WouldBlock;
    assert!(
        tcp.accept().is_err_and(|e| refused(e.kind())),
        "something connected"
    );
    assert!(
        udp.recv(&mut [0; 9]).is_err_and(|e| refused(e.kind())),
        "something was sent"
    );
    let shown: Vec<&String> = results.iter().filter(|text| text.contains(SECRET)).collect();
    assert!(shown.is_empty(), "{shown:#?}");
    let ran = results.iter().filter(|text| text.contains("exit status")).count();
    let least = if env.is_empty() { 15 } else { 1 };
    assert!(ran >= least, "only {ran} of the lines ran at all");
}

/// Each call's line and what the model was told of it.
fn told(server: &Server) -> Vec<String> {
    let mut told = Vec::new();
    for sent in server.chats().into_iter().filter_map(|chat| chat.json) {
        let mut lines = Vec::new().into_iter();
        for message in sent["messages"].as_array().into_iter().flatten() {
            if let Some(calls) = message["tool_calls"].as_array() {
                let line = |call: &Value| call["function"]["arguments"]["command"].to_string();
                lines = calls.iter().map(line).collect::<Vec<_>>().into_iter();
            }
            if message["role"] == "tool" {
                let line = lines.next().unwrap_or_default();
                told.push(format!(
                    "{line}: {}",
                    message["content"].as_str().unwrap_or_default()
                ));
            }
        }
    }
    told
}
