//! What a person mistypes on the command line: each answer names the thing and ends with what to do.

#![allow(clippy::unwrap_used, reason = "tests fail")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wisp_tests::{Wisp, three_models};

/// What is said on stderr, with the exit code; nothing is printed on stdout.
fn said(args: &[&str]) -> (i32, String) {
    let ran = Wisp::new().run(args, "");
    assert_eq!(ran.text(), "", "{args:?}");
    (ran.code.unwrap(), ran.err)
}

#[test]
fn a_slip_for_a_command_is_not_sent_to_a_model() {
    let told = "error: there is no command modles; did you mean `wisp models`?\nhint: to send it to the model: \
                wisp respond \"modles\"\n";
    assert_eq!(said(&["modles"]), (64, told.to_owned()));
    let told = "error: there is no command sumarise; did you mean `wisp summarise`?\nhint: to send it to the \
                model: wisp respond \"sumarise build.log\"\n";
    assert_eq!(said(&["sumarise", "build.log"]), (64, told.to_owned()));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    for command in ["summarise", "summarize"] {
        let told = "error: cannot open nofile.log: No such file or directory\nhint: give the path of a file, or `-` to \
                    read standard input\n";
        assert_eq!(said(&[command, "nofile.log"]), (1, told.to_owned()));
    }
    let told = "error: . is a directory\nhint: give one file, such as ./build.log\n";
    assert_eq!(said(&["summarise", "."]), (1, told.to_owned()));
}

#[test]
fn a_changed_setting_is_recorded_also_the_one_that_turns_the_audit_off() {
    let wisp = Wisp::new();
    for args in [
        &["config", "set", "ollama.apiKey", "hunter2"][..],
        &["config", "set", "audit.enabled", "false"],
        &["config", "set", "model", "small"],
        &["config", "set", "audit.enabled", "true"],
        &["config", "unset", "ollama.apiKey"],
        &["config", "set", "audit.days", "never"],
    ] {
        let ran = wisp.run(args, "");
        assert_eq!(
            ran.code == Some(0),
            args.last() != Some(&"never"),
            "{args:?}: {}",
            ran.err
        );
    }
    let files = fs::read_dir(wisp.root().join("audit")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let texts: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(texts.iter().all(|text| !text.contains("hunter2")));
    let events = texts.iter().flat_map(|text| text.lines());
    let mut changes: Vec<Value> = events
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["kind"] == "config.change")
        .collect();
    changes.sort_by_key(|event| event["time"].as_str().unwrap().to_owned());
    let told: Vec<&Value> = changes.iter().map(|event| &event["details"]).collect();
    let row =
        |path: &str, old: Value, new: Value| json!({"path": path, "old": old, "new": new, "source": "cli"});
    assert_eq!(
        told,
        [
            &row("ollama.apiKey", Value::Null, json!("(set)")),
            &row("audit.enabled", Value::Null, json!(false)),
            &row("audit.enabled", json!(false), json!(true)),
            &row("ollama.apiKey", json!("(set)"), Value::Null),
        ]
    );
}

#[test]
fn a_file_with_wrong_values_is_corrected_by_the_commands_its_errors_name() {
    let wisp = Wisp::new();
    wisp.configure(&json!({"approval": {"threshold": "sometimes"}, "audit": {"days": -1}, "model": "small"}));
    let told = wisp.run(&["hi"], "").err;
    assert!(
        told.contains("take it out: wisp config unset approval.threshold"),
        "{told}"
    );
    let ran = wisp.run(&["config", "unset", "approval.threshold"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err
            .contains("approval.threshold is now its default\nstill wrong: ")
            && ran
                .err
                .ends_with("; correct it, or take it out: wisp config unset audit.days\n"),
        "{}",
        ran.err
    );
    let ran = wisp.run(&["config", "set", "audit.days", "7"], "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "audit.days is now 7\n"));
    let text = fs::read_to_string(wisp.root().join("config.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&file["audit"], &file["model"]),
        (&json!({"days": 7}), &json!("small"))
    );
    assert!(file.get("approval").is_none(), "{file}");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the test breaks a file")]
fn a_file_that_is_no_text_is_named_with_the_place() {
    let wisp = Wisp::new();
    let path = wisp.root().join("config.json");
    fs::create_dir_all(wisp.root()).unwrap();
    fs::write(&path, b"{\n  \"model\": \"\xff\"}").unwrap();
    let file = path.display();
    assert_eq!(
        wisp.run(&["hi"], "").err,
        format!(
            "error: {file}:2:13: not valid JSON: the byte 0xff is not UTF-8\nhint: correct {file}, or move it away to \
             start from the defaults\n"
        )
    );
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let told = wisp.run(&["hi"], "").err;
    assert!(
        told.ends_with(&format!("hint: move {file} away to start from the defaults\n")),
        "{told}"
    );
}

/// What lies under `home` of sessions, outputs and conversations.
fn left(home: &Path) -> Vec<PathBuf> {
    let folders = ["audit", "output", "transcripts", "context"].map(|folder| home.join(folder));
    let there = folders.iter().filter_map(|folder| fs::read_dir(folder).ok());
    there.flatten().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_start_that_fails_leaves_nothing_behind() {
    let server = three_models();
    let starts: [&[&str]; 7] = [
        &["chat", "--model", "nosuch"],
        &["respond", "--model", "nosuch", "hi"],
        &["respond", "hi"],
        &["chat", "--save", "work", "--model", "nosuch"],
        &["respond", "--model", "small", "--tools", "nosuch", "hi"],
        &["chat", "--resume", "nosuch"],
        &["chat", "--json", "--model", "nosuch"],
    ];
    for args in starts {
        let wisp = Wisp::with(&server);
        let ran = wisp.run(args, "");
        assert_ne!(ran.code, Some(0), "{args:?}: {}", ran.text());
        assert_eq!(left(&wisp.root()), Vec::<PathBuf>::new(), "{args:?}: {}", ran.err);
    }
    let mut gone = Wisp::with(&server);
    for host in ["127.0.0.1:1", "http://["] {
        gone.set("OLLAMA_HOST", host);
        assert_ne!(gone.run(&["respond", "hi"], "").code, Some(0));
        assert_eq!(left(&gone.root()), Vec::<PathBuf>::new(), "{host}");
    }
}

#[test]
fn an_output_that_is_not_kept_is_named() {
    let told = "error: no stored output has the id abcdef\nhint: wisp outputs lists what is kept\n";
    assert_eq!(said(&["show", "abcdef"]), (1, told.to_owned()));
}

#[test]
fn a_home_that_is_not_utf_8_is_named() {
    use std::os::unix::ffi::OsStrExt;
    let wisp = Wisp::new();
    let latin = std::ffi::OsStr::from_bytes(b"/tmp/caf\xe9");
    for (unset, name) in [(Some("WISP_HOME"), "HOME"), (None, "WISP_HOME")] {
        let mut command = wisp.command(&["config", "list"]);
        if let Some(unset) = unset {
            command.env_remove(unset);
        }
        command.env(name, latin);
        let ran = wisp.run_command(command, "");
        let told = format!(
            "error: {name} is not UTF-8 text, so wisp's files cannot be named\nhint: set WISP_HOME to a directory whose path is UTF-8\n"
        );
        assert_eq!((ran.code, ran.err), (Some(1), told));
    }
}

#[test]
fn the_log_opens_on_the_last_conversation_and_not_on_a_changed_setting() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--model", "small"], "hello there\n/quit\n");
    wisp.run(&["config", "set", "audit.days", "7"], "");
    let ran = wisp.run(&["logs"], "");
    assert!(ran.text().contains("hello there"), "{}", ran.text());
    assert!(!ran.text().contains("config.change"), "{}", ran.text());
}

#[test]
fn a_home_that_cannot_be_written_does_not_stop_a_single_prompt() {
    let server = three_models();
    let mut wisp = Wisp::with(&server);
    // Nobody can make a folder there, root included.
    wisp.set("WISP_HOME", "/proc/self/no-such-folder");
    let ran = wisp.run(&["--model", "small", "--yes", "hi"], "");
    assert_eq!(
        (ran.code, ran.text().trim_end()),
        (Some(0), "Hello."),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("wisp's home cannot be used: ")
            && ran
                .err
                .contains("nothing is recorded, and so the model is offered no tools"),
        "{}",
        ran.err
    );
    assert!(!wisp_tests::offered_tools(&server));
    let ran = wisp.run(&["chat", "--model", "small"], "hi\n");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
}
