//! What can be wrong at the start and in a turn: each a clear message with what to do, a right exit code, and
//! nothing lost.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::os::unix::fs::PermissionsExt;

use ollama_sim::{Capability, Config, CutAt, Loss, Model, Reply, Server};
use serde_json::json;
use wisp_tests::{Wisp, runs, serve, tool_message};

#[test]
fn a_configuration_that_is_no_json_names_the_place_and_ends_with_64() {
    let wisp = Wisp::new();
    wisp.configure(&json!({}));
    std::fs::write(wisp.root().join("config.json"), "{\"model\": \n oops}").unwrap();
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(64));
    assert!(
        ran.err.contains("config.json:2:") && ran.err.contains("hint: "),
        "{}",
        ran.err
    );
}

#[test]
fn a_setting_out_of_range_names_the_setting_and_what_it_takes() {
    let wisp = Wisp::new();
    wisp.configure(&json!({"approval": {"threshold": "sometimes"}}));
    let ran = wisp.chat(&["hi"]);
    assert_eq!(ran.code, Some(64));
    assert!(
        ran.err.contains("approval.threshold") && ran.err.contains("safe, moderate"),
        "{}",
        ran.err
    );
}

#[test]
fn a_home_that_is_a_file_is_said_and_nothing_is_written() {
    let wisp = Wisp::new();
    std::fs::write(wisp.root(), "mine").unwrap();
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("Not a directory") && ran.err.contains("hint: set WISP_HOME to a directory"),
        "{}",
        ran.err
    );
    assert_eq!(std::fs::read(wisp.root()).unwrap(), b"mine");
}

#[test]
fn a_server_that_cannot_be_reached_fails_a_one_shot_with_the_reason() {
    let wisp = Wisp::new();
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.is_empty(), "{}", ran.text());
    assert!(
        ran.err
            .contains("cannot reach an ollama server at http://127.0.0.1:9"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("ollama serve"), "{}", ran.err);
}

#[test]
fn a_model_that_is_not_there_is_named() {
    let server = runs("true");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--model", "nosuch:7b", "hi"], "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("no model nosuch:7b is installed") && ran.err.contains("wisp models pull nosuch:7b"),
        "{}",
        ran.err
    );
}

#[test]
fn no_model_configured_lists_the_installed_ones() {
    let server = runs("true");
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({}));
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("no model is configured; installed are sim"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("wisp config set model"), "{}", ran.err);
}

#[test]
fn a_model_without_tools_talks_without_them_and_says_so() {
    let plain = Model::new("sim").with_capabilities(&[Capability::Completion]);
    let server = serve(plain, |seen| {
        assert!(seen.tools.is_empty(), "no tools are offered");
        Reply::text("hello")
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["hi"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "hello\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("sim cannot call tools"), "{}", ran.err);
    let named = wisp.run(&["--tool", "run_command", "hi"], "");
    assert_eq!(named.code, Some(1), "{}", named.err);
}

#[test]
fn an_unknown_tool_on_the_command_line_is_a_usage_error_with_the_list() {
    let server = runs("true");
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--tool", "fly", "hi"], "");
    assert_eq!(ran.code, Some(64));
    assert!(
        ran.err.contains("there is no tool fly") && ran.err.contains("run_command"),
        "{}",
        ran.err
    );
}

#[test]
fn an_empty_prompt_is_a_usage_error() {
    let wisp = Wisp::new();
    let ran = wisp.run(&[], "  \n");
    assert_eq!(ran.code, Some(64));
    assert!(ran.err.contains("the prompt is empty"), "{}", ran.err);
}

#[test]
fn a_reply_cut_mid_line_keeps_what_had_arrived_and_fails_with_the_reason() {
    let server = serve(Model::new("sim"), |_| {
        Reply::text("The answer is forty-two, as everybody knows.").cut(CutAt::Byte(420), Loss::Reset)
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains("lost") || ran.err.contains("ended before"),
        "{}",
        ran.err
    );
    let events = wisp.audit();
    let partial = events
        .iter()
        .find(|e| e["kind"] == "response" && e["details"]["interrupted"] == true);
    let text = partial
        .map(|e| e["details"]["text"].as_str().unwrap_or_default().to_owned())
        .unwrap_or_default();
    assert!(
        "The answer is forty-two".starts_with(&text) || text.starts_with("The answer"),
        "{text:?}"
    );
}

/// A server whose first reply is lost midway, or turns out to be thinking, and whose second is whole.
fn lost_at_first(first: Reply) -> Server {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    serve(Model::new("sim"), move |_: &ollama_sim::Seen| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => first.clone(),
            _ => Reply::text("The second try is whole."),
        }
    })
}

fn lost_midway() -> Server {
    let first = "The first try begins like this, and goes on for a good while before it is lost.";
    lost_at_first(Reply::text(first).cut(CutAt::Byte(700), Loss::Reset))
}

#[test]
fn the_text_of_a_try_that_failed_is_not_on_the_standard_output_of_a_single_prompt() {
    let server = lost_midway();
    let ran = Wisp::with(&server).run(&["hi"], "");
    assert_eq!(server.chats().len(), 2, "{}", ran.err);
    assert_eq!(
        (ran.text().as_str(), ran.code),
        ("The second try is whole.\n", Some(0))
    );
}

#[test]
fn the_text_of_a_try_that_failed_is_no_part_of_the_reply_in_json() {
    let server = lost_midway();
    let ran = Wisp::with(&server).run(&["--json", "hi"], "");
    let said: serde_json::Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(server.chats().len(), 2, "{}", ran.err);
    assert_eq!(
        (&said["reply"], &said["steps"]),
        (
            &json!("The second try is whole."),
            &json!(["The second try is whole."])
        )
    );
}

#[test]
fn what_turns_out_to_be_thinking_is_not_on_the_standard_output_of_a_single_prompt() {
    let text = "I should look at the sky first. It is blue.\n</think>\n\nBlue.";
    let server = lost_at_first(Reply::text(text));
    let ran = Wisp::with(&server).run(&["what colour is the sky?"], "");
    assert_eq!(
        (ran.text().as_str(), ran.code),
        ("Blue.\n", Some(0)),
        "{}",
        ran.err
    );
}

#[test]
fn an_unknown_tool_named_by_the_model_is_answered_with_the_list() {
    let model = Model::new("sim").with_parser(ollama_sim::Parser::Xml);
    let server = serve(model, |seen| match seen.last().map(|m| m.role.as_str()) {
        Some("tool") => Reply::text("I see."),
        _ => Reply::call("fly", json!({"to": "the moon"})),
    });
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = tool_message(&server);
    assert!(
        told.starts_with("error: there is no tool \"fly\"; the tools are: current_date, run_command"),
        "{told}"
    );
}

#[test]
fn a_read_only_home_is_said() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root writes everywhere");
        return;
    }
    let wisp = Wisp::new();
    wisp.configure(&json!({}));
    std::fs::set_permissions(wisp.root(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let ran = wisp.run(&["hi"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("hint: "), "{}", ran.err);
}

#[test]
fn a_store_that_cannot_be_used_bounds_the_result_and_says_why_the_rest_was_not_kept() {
    let server = runs("seq 1 100000");
    let wisp = Wisp::with(&server);
    std::os::unix::fs::symlink("/tmp", wisp.root().join("output")).unwrap();
    let ran = wisp.run(&["go"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = tool_message(&server);
    assert!(
        told.len() <= 16_384 && told.contains("not kept"),
        "{}",
        told.lines().last().unwrap_or_default()
    );
}

#[test]
fn with_the_audit_off_nothing_is_kept_and_the_note_says_so() {
    let server = runs("seq 1 100000");
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "audit": {"enabled": false}}));
    assert_eq!(wisp.run(&["go"], "").code, Some(0));
    assert!(
        tool_message(&server).contains("the audit is off"),
        "{}",
        tool_message(&server).lines().last().unwrap()
    );
    assert!(wisp.kept().is_empty() && !wisp.root().join("audit").exists());
}

#[test]
fn nothing_but_the_server_is_contacted_whatever_proxy_is_set() {
    let server =
        Server::start(Config::new(|_: &ollama_sim::Seen| Reply::text("ok")).models([Model::new("sim")]))
            .unwrap();
    let mut wisp = Wisp::with(&server);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"] {
        wisp.set(name, "http://127.0.0.1:9");
    }
    let ran = wisp.run(&["hi"], "");
    assert_eq!((ran.code, ran.text().as_str()), (Some(0), "ok\n"), "{}", ran.err);
}
