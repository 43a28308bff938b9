//! Hooks through the real binary: what they are told, what they refuse, what they add, and what a bad one cannot do.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out a home and fail by panicking"
)]

use std::time::{Duration, Instant};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, runs, serve, tool_message};

fn home(server: &Server, hooks: &Value) -> Wisp {
    let wisp = Wisp::with(server);
    wisp.configure(&json!({"model": "sim", "hooks": hooks}));
    wisp
}

fn one(event: &str, matcher: &str, command: &str) -> Value {
    json!({event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 10}]}]})
}

#[test]
fn a_hook_is_told_the_call_and_refuses_it_with_status_2() {
    let server = runs("touch made");
    // The form people have: jq's place is taken by sed, which every machine has.
    let wisp = home(
        &server,
        &one(
            "PreToolUse",
            "Bash",
            "cat > told.json; echo 'no touching' >&2; exit 2",
        ),
    );
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        tool_message(&server).trim_end(),
        "error: not run: the user's hook refused it: no touching"
    );
    assert!(!wisp.work().join("made").exists());
    let told: Value = serde_json::from_slice(&std::fs::read(wisp.work().join("told.json")).unwrap()).unwrap();
    assert_eq!(told["hook_event_name"], "PreToolUse");
    assert_eq!(
        (&told["tool_name"], &told["tool_input"]["command"]),
        (&json!("run_command"), &json!("touch made"))
    );
    let work = std::fs::canonicalize(wisp.work()).unwrap();
    assert_eq!(
        std::fs::canonicalize(told["cwd"].as_str().unwrap()).unwrap(),
        work
    );
    let events = wisp.audit();
    let hook = events.iter().find(|event| event["kind"] == "hook.run").unwrap();
    assert_eq!(
        (&hook["details"]["blocked"], &hook["details"]["exitStatus"]),
        (&json!(true), &json!(2))
    );
    assert!(told["session_id"] == hook["session"]);
}

#[test]
fn a_hook_after_a_tool_runs_and_adds_what_it_says_below_the_result() {
    let server = runs("true");
    let say = r#"printf '{"hookSpecificOutput":{"additionalContext":"3 tests fail <|im_start|>"}}'"#;
    let wisp = home(
        &server,
        &one("PostToolUse", "run_command", &format!("cat >> log; {say}")),
    );
    assert_eq!(wisp.run(&["--yes", "go"], "").code, Some(0));
    let told = tool_message(&server);
    assert!(
        told.starts_with("exit status 0") && told.contains("[what the user's hook says:\n3 tests fail "),
        "{told}"
    );
    assert!(!told.contains("<|im_start|>"), "{told}");
    let log = std::fs::read_to_string(wisp.work().join("log")).unwrap();
    let log: Value = serde_json::from_str(&log).unwrap();
    assert!(
        log["tool_response"]["output"]
            .as_str()
            .unwrap()
            .starts_with("exit status 0"),
        "{log}"
    );
}

#[test]
fn a_hook_for_a_message_adds_to_it_or_refuses_it() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let wisp = home(&server, &one("UserPromptSubmit", "", "echo the branch is main"));
    assert_eq!(wisp.run(&["hi"], "").text(), "Hello.\n");
    let request = server.chats()[0].json.clone().unwrap();
    let sent = request["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(sent, "hi\n\n[what the user's hook says:\nthe branch is main\n]");
    let wisp = home(
        &server,
        &one("UserPromptSubmit", "", "echo 'not today' >&2; exit 2"),
    );
    let ran = wisp.run(&["hi"], "");
    let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        ran.code == Some(1) && said.contains("your hook refused the message, so it was not sent: not today"),
        "{said}"
    );
    assert_eq!(server.chats().len(), 1);
}

#[test]
fn a_hook_at_the_end_has_the_model_go_on_once_in_a_chat() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let hook = r#"grep -q '"stop_hook_active":true' && exit 0; echo 'run the tests first' >&2; exit 2"#;
    let wisp = home(&server, &one("Stop", "", hook));
    let ran = wisp.chat(&["hi"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(server.chats().len(), 2, "{}", ran.err);
    let last = server.chats()[1].json.clone().unwrap()["messages"].to_string();
    assert!(last.contains("run the tests first"), "{last}");
}

#[test]
fn a_hook_that_fails_hangs_or_floods_changes_nothing_but_a_line() {
    for (command, why) in [
        ("exit 7", "exit status 7"),
        ("sleep 60", "it did not end within 1 s, and was stopped"),
        ("yes; exit 0", "it did not end within 1 s, and was stopped"),
        ("/nowhere/hook", "exit status 127"),
    ] {
        let server = runs("true");
        let hooks = json!({"PreToolUse": [{"hooks": [{"command": command, "timeout": 1}]}]});
        let wisp = home(&server, &hooks);
        let began = Instant::now();
        let ran = wisp.run(&["--yes", "go"], "");
        assert!(
            ran.code == Some(0) && began.elapsed() < Duration::from_secs(8),
            "{command}: {}",
            ran.err
        );
        let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("your hook for PreToolUse") && said.contains(why),
            "{command}: {said}"
        );
        assert!(
            tool_message(&server).starts_with("exit status 0"),
            "{}",
            tool_message(&server)
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hook_is_confined_unless_it_is_set_otherwise() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().join("file");
    for (sandbox, is_written) in [(true, false), (false, true)] {
        let server = runs("true");
        let line = format!("touch {}", file.display());
        let hooks = json!({"PreToolUse": [{"hooks": [{"command": line, "sandbox": sandbox}]}]});
        let wisp = home(&server, &hooks);
        wisp.run(&["--yes", "go"], "");
        assert_eq!(file.exists(), is_written, "{sandbox}");
    }
}
