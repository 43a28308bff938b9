//! What the settings of the output layer do, and what a person and a script get of it, through the real binary.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests lay out a home, mount a disk, and fail by panicking"
)]

use std::process::{Command, Stdio};

use ollama_sim::{Model, Reply, Seen};
use serde_json::{Value, json};
use wisp_tests::{Wisp, calls, quoted, runs, serve, tool_message};

/// A home on a server whose model runs `command`, with these settings.
fn set(command: &str, settings: Value) -> (ollama_sim::Server, Wisp) {
    let server = runs(command);
    let wisp = Wisp::with(&server);
    let mut all = settings;
    all["model"] = json!("sim");
    wisp.configure(&all);
    (server, wisp)
}

#[test]
fn a_stream_is_printed_byte_for_byte_as_the_command_wrote_it() {
    // Bytes that are no UTF-8, a NUL, a carriage return and no newline at the end.
    let command = "seq 1 20000; printf 'odd \\377\\000\\r end'; printf 'why\\n\\376' >&2; exit 3";
    let (_server, wisp) = set(command, json!({}));
    wisp.run(&["--yes", "go"], "");
    let id = wisp.kept()[0].0["id"].as_str().unwrap().to_owned();
    let direct = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(wisp.run(&["show", &id, "--stdout"], "").out == direct.stdout);
    assert_eq!(wisp.run(&["show", &id, "--stderr"], "").out, direct.stderr);
    let both = wisp.run(&["show", &id, "--stdout", "--stderr"], "");
    assert_eq!(both.code, Some(64), "{}", both.err);
}

#[test]
fn command_max_output_bytes_bounds_commands_to_the_byte_and_nothing_else() {
    // The header, the frame and 967 bytes are exactly 1,000.
    let header = "exit status 0\nstdout:\n".len();
    let line = |bytes: usize| format!("head -c {} /dev/zero | tr '\\0' x; echo", bytes - header - 1);
    let bound = json!({"commandMaxOutputBytes": 1_000});
    let (server, wisp) = set(&line(1_000), bound.clone());
    wisp.run(&["--yes", "go"], "");
    let told = tool_message(&server);
    assert!(
        told.len() == 1_000 && !told.contains("held back"),
        "{}",
        told.len()
    );
    assert!(wisp.kept().is_empty());
    let (server, wisp) = set(&line(1_001), bound.clone());
    wisp.run(&["--yes", "go"], "");
    let told = tool_message(&server);
    assert!(told.len() <= 1_000 && told.contains("held back"), "{told}");
    assert_eq!(wisp.kept()[0].1.len(), 1_001);

    let server = calls("read_file", json!({"path": "long", "limit": 9_000}));
    let wisp = Wisp::with(&server);
    let mut all = bound;
    all["model"] = json!("sim");
    wisp.configure(&all);
    std::fs::write(wisp.work().join("long"), "a line of a file\n".repeat(9_000)).unwrap();
    wisp.run(&["--yes", "go"], "");
    assert!(
        tool_message(&server).len() > 4_000,
        "read_file keeps the window's budget"
    );
}

#[test]
fn an_output_over_the_ceiling_keeps_its_beginning_and_its_end_and_says_what_is_missing() {
    let (server, wisp) = set("seq 1 50000", json!({"context": {"outputCeiling": 65_536}}));
    wisp.run(&["--yes", "go"], "");
    let (record, bytes) = wisp.kept().remove(0);
    assert!(bytes.len() <= 65_536 && bytes.len() > 65_000, "{}", bytes.len());
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("exit status 0\nstdout:\n1\n2\n") && text.ends_with("49999\n50000\n"));
    let gap = text.lines().find(|l| l.contains("not kept")).unwrap();
    let lines = text.lines().count();
    // Two lines of header and frame, and the line that states the gap.
    let missing = 50_000 - (lines - 3);
    let said: usize = gap["[… ".len()..]
        .split(' ')
        .next()
        .unwrap()
        .replace(',', "")
        .parse()
        .unwrap();
    assert_eq!(said, missing, "{gap}");
    assert!(gap.ends_with("not kept: past the ceiling of 64 KiB …]"), "{gap}");
    assert_eq!(
        (&record["cut"], &record["totalBytes"], &record["totalLines"]),
        (&json!(true), &json!(288_894 + 22), &json!(50_000))
    );
    let told = tool_message(&server);
    assert!(
        told.contains("which passed the ceiling of 64 KiB and were not kept"),
        "{told}"
    );
    let event = wisp
        .audit()
        .into_iter()
        .find(|e| e["kind"] == "output.kept")
        .unwrap();
    assert_eq!(
        (&event["details"]["cut"], &event["details"]["totalLines"]),
        (&json!(true), &json!(50_000))
    );
}

#[test]
fn outputs_past_their_days_go_at_a_start_and_no_day_sooner_and_nought_keeps_them() {
    for (days, set_back, left) in [
        (7, "8 days ago", 0),
        (7, "6 days ago", 1),
        (0, "4000 days ago", 1),
    ] {
        let (_server, wisp) = set("seq 1 20000", json!({"context": {"outputDays": days}}));
        wisp.run(&["--yes", "go"], "");
        assert_eq!(wisp.kept().len(), 1);
        let dated = Command::new("find")
            .arg(wisp.root().join("output"))
            .args(["-mindepth", "1", "-exec", "touch", "-d", set_back, "{}", "+"])
            .status()
            .unwrap();
        assert!(dated.success());
        let old = wisp.kept()[0].0["id"].clone();
        wisp.run(&["--no-tools", "hi"], "");
        let kept = wisp
            .kept()
            .iter()
            .filter(|(record, _)| record["id"] == old)
            .count();
        assert_eq!(kept, left, "{days} days, last used {set_back}");
    }
}

#[test]
fn respond_json_is_one_object_with_the_ids_of_what_was_kept() {
    let server = runs("seq 1 20000");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--yes", "--json", "go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(
        (&said["reply"], &said["outcome"], &said["errors"]),
        (&json!("done"), &json!("ok"), &json!([]))
    );
    let call = &said["calls"][0];
    assert_eq!(
        (&call["tool"], &call["outcome"]),
        (&json!("run_command"), &json!("exit 0"))
    );
    assert_eq!(
        (&call["lines"], said["calls"].as_array().unwrap().len()),
        (&json!(20_000), 1)
    );
    assert!(said["usage"]["input"].as_u64().unwrap() > 0);
    let id = call["output"].as_str().unwrap();
    assert_eq!(wisp.run(&["show", id], "").out, wisp.kept()[0].1);
    assert_eq!(
        said["outputs"],
        json!([{"id": id, "bytes": call["bytes"], "lines": 20_000}])
    );
    assert_eq!(call["arguments"], json!({"command": "seq 1 20000"}));
    assert_eq!(said["receipt"], "ran: run_command");
    let session = said["session"].as_str().unwrap();
    assert!(wisp.root().join(format!("audit/{session}.jsonl")).is_file());
}

#[test]
fn respond_json_keeps_the_texts_of_steps_apart_and_says_that_a_call_was_refused() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        let called = seen.messages.iter().any(|message| message.role == "tool");
        if called {
            Reply::text("It was not allowed.")
        } else {
            Reply::text("I make it. ").and_call("run_command", json!({"command": "touch made"}))
        }
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--json", "go"], "");
    let said: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(said["reply"], "It was not allowed.");
    assert_eq!(said["steps"], json!(["I make it. ", "It was not allowed."]));
    assert_eq!(said["calls"][0]["outcome"], "declined");
    assert_eq!(said["outcome"], "refused");
    assert_eq!(said["receipt"], "ran: run_command (1 declined)");
    assert!(!wisp.work().join("made").exists());
}

#[test]
fn respond_json_says_what_failed_and_ends_with_1() {
    let wisp = Wisp::new();
    let ran = wisp.run(&["--json", "--model", "none", "hi"], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("cannot reach"), "{}", ran.err);
}

#[test]
fn a_chat_lists_shows_and_summarises_its_outputs() {
    let error = "error[E0432]: unresolved import\\n --> src/gauge.rs:1:12\\n";
    let command = format!("printf '{error}'; seq 1 20000; exit 101");
    let (_server, wisp) = set(&command, json!({"approval": {"threshold": "never"}}));
    let ran = wisp.chat(&["go", "/outputs", "/summarise", "/show", "/last"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (record, bytes) = wisp.kept().remove(0);
    let id = record["id"].as_str().unwrap();
    let text = ran.text();
    let row = text
        .lines()
        .find(|l| l.contains(&id[..8]) && l.contains("run_command"));
    assert!(row.is_some(), "/outputs lists it: {text}");
    assert!(text.contains("E0432"), "/summarise names the first error: {text}");
    let whole = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text.matches(&whole).count(),
        2,
        "/show and /last print the stored whole"
    );
    let none = wisp.chat(&["/outputs", "/summarise"]);
    assert_eq!(none.code, Some(0), "{}", none.err);
}

#[test]
fn a_pipe_that_closes_after_a_line_ends_wisp_show_quietly() {
    let server = runs("seq 1 300000");
    let wisp = Wisp::with(&server);
    wisp.run(&["--yes", "go"], "");
    let id = wisp.kept()[0].0["id"].as_str().unwrap().to_owned();
    let show = wisp.command(&["show", &id]);
    let line = format!(
        "{{ {} show {id} 2>errors; echo $? >code; }} | head -1",
        quoted(std::path::Path::new(show.get_program()))
    );
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(line)
        .env_clear()
        .current_dir(wisp.work())
        .stdin(Stdio::null());
    for (name, value) in show.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    let ran = shell.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "exit status 0\n");
    let code = std::fs::read_to_string(wisp.work().join("code")).unwrap();
    assert!(matches!(code.trim(), "0" | "141"), "{code}");
    let errors = std::fs::read_to_string(wisp.work().join("errors")).unwrap();
    assert_eq!(
        errors.lines().count(),
        1,
        "the line that says what is shown: {errors}"
    );
}

#[test]
fn two_processes_on_one_home_keep_their_own_outputs_whole() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        let asked = seen.messages.iter().rev().find(|m| m.role == "user");
        let word = asked.map(|m| m.content.trim().to_owned()).unwrap_or_default();
        match seen.last().map(|m| m.role.as_str()) {
            Some("tool") => Reply::text("done"),
            _ => Reply::call(
                "run_command",
                json!({"command": format!("yes {word} | head -n 200000")}),
            ),
        }
    });
    let wisp = Wisp::with(&server);
    let words = ["tern", "gull", "plover"];
    let started = words.map(|word| {
        let mut command = wisp.command(&["--yes", word]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    });
    for child in started {
        let ended = child.wait_with_output().unwrap();
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    let kept = wisp.kept();
    assert_eq!(kept.len(), words.len());
    for word in words {
        let whole = format!("exit status 0\nstdout:\n{}", format!("{word}\n").repeat(200_000));
        assert_eq!(
            kept.iter().filter(|(_, bytes)| bytes == whole.as_bytes()).count(),
            1,
            "{word}"
        );
    }
}

/// The whole of wisp's home on a disk of 1 MiB, where one can be mounted.
#[test]
fn a_home_on_a_disk_of_one_mebibyte_runs_a_command_that_prints_more() {
    let server = runs("seq 1 400000");
    let wisp = Wisp::with(&server);
    let root = wisp.root();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"])
        .arg(&root)
        .output();
    if !mounted.is_ok_and(|m| m.status.success()) {
        eprintln!("SKIPPED: a disk of 1 MiB cannot be mounted here");
        return;
    }
    wisp.configure(&json!({"model": "sim"}));
    let ran = wisp.run(&["--yes", "go"], "");
    let (told, kept) = (tool_message(&server), wisp.kept());
    let again = wisp.run(&["--no-tools", "and now?"], "");
    let unmounted = Command::new("umount").arg(&root).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    assert!(
        told.contains("exit status 0") && told.contains("held back"),
        "{told}"
    );
    assert!(told.contains("the disk is full"), "{told}");
    assert!(kept.is_empty(), "no half output is left");
    assert_eq!(again.code, Some(0), "{}", again.err);
}
