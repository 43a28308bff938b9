//! What a shell is told when it asks how a command line could go on, and the pages of the manual.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read what was written and stop at what they do not expect"
)]

use ollama_sim::{Config, Model, Reply, Seen, Server};
use serde_json::json;
use wisp_tests::{Wisp, calls};

/// The candidates fish would show for a command line, its last word being completed.
fn candidates(wisp: &Wisp, words: &[&str]) -> Vec<String> {
    let mut command = wisp.command(&[&["--", "wisp"], words].concat());
    command.env("COMPLETE", "fish");
    let ran = wisp.run_command(command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let text = ran.text();
    text.lines()
        .map(|line| line.split('\t').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_shell_is_told_how_to_ask() {
    let wisp = Wisp::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = wisp.run(&["completions", shell], "");
        assert_eq!(ran.code, Some(0), "{shell}: {}", ran.err);
        assert!(
            ran.text().contains("COMPLETE") && ran.text().contains("wisp"),
            "{shell}: {}",
            ran.text()
        );
    }
    let ran = wisp.run(&["completions", "tcsh"], "");
    assert_eq!(ran.code, Some(64), "{}", ran.err);
}

#[test]
fn subcommands_and_settings_are_completed_without_a_server() {
    let wisp = Wisp::new();
    let commands = candidates(&wisp, &["thre"]);
    assert!(commands.contains(&"threads".to_owned()), "{commands:?}");
    assert_eq!(
        candidates(&wisp, &["config", "get", "approval.m"]),
        ["approval.mode"]
    );
    assert_eq!(candidates(&wisp, &["logs", "--kind", "tool.c"]), ["tool.call"]);
    assert!(candidates(&wisp, &["chat", "--tool", "run_"]).contains(&"run_command".to_owned()));
}

#[test]
fn models_are_completed_from_the_server_unless_a_shell_would_read_their_names_as_more() {
    let models = ["qwen3:8b", "qwen3:14b", "evil$(id)"].map(Model::new);
    let server = Server::start(Config::new(|_: &Seen| Reply::text("hi")).models(models)).unwrap();
    let wisp = Wisp::with(&server);
    let mut found = candidates(&wisp, &["--model", "qwen3:"]);
    found.sort();
    assert_eq!(found, ["qwen3:14b", "qwen3:8b"]);
    assert_eq!(candidates(&wisp, &["--model", "evil"]), [""; 0]);
}

#[test]
fn outputs_and_conversations_are_completed_by_their_ids() {
    let server = calls("run_command", json!({"command": "seq 1 200000"}));
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--save", "counting", "--yes"], "count\n/quit\n");
    let id = wisp.kept()[0].0["id"].as_str().unwrap()[..8].to_owned();
    assert_eq!(candidates(&wisp, &["show", &id[..4]]), [id]);
    assert_eq!(candidates(&wisp, &["threads", "show", "cou"]), ["counting"]);
    assert_eq!(candidates(&wisp, &["chat", "--resume", "cou"]), ["counting"]);
}

#[test]
fn there_is_a_page_of_the_manual_for_each_subcommand() {
    let wisp = Wisp::new();
    let pages = wisp.work().join("man");
    std::fs::create_dir(&pages).unwrap();
    let ran = wisp.run(&["man", "man"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (page, holds) in [
        ("wisp.1", "EXIT"),
        ("wisp-threads.1", "search"),
        ("wisp-models-pull.1", "model"),
    ] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(
            text.contains(holds) || text.to_uppercase().contains(holds),
            "{page}: {text}"
        );
    }
    let ran = wisp.run(&["man", "nowhere"], "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("cannot write into nowhere"), "{}", ran.err);
}
