//! Tools of the person's own through the real binary: what is offered, what runs, what a value can never do, and what is
//! said of a declaration that cannot be used.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out a home and fail by panicking"
)]

use std::process::Command;

use serde_json::{Value, json};
use wisp_tests::{Wisp, calls, tool_message};

/// A home with these tools on a server whose model calls `tool` once.
fn called(tools: &Value, tool: &str, arguments: Value) -> (ollama_sim::Server, Wisp) {
    let server = calls(tool, arguments);
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "tools": {"custom": tools}}));
    (server, wisp)
}

/// A tool that prints its argument, and one that prints lines.
fn printing() -> Value {
    json!([
        {"name": "say", "description": "Say a text", "command": "printf '[%s]' {text}",
         "arguments": {"text": {"type": "string", "description": "The text"}}},
        {"name": "count", "description": "Count", "command": "seq {to}",
         "arguments": {"to": {"type": "integer", "default": 3}}}
    ])
}

#[test]
fn a_custom_tool_is_offered_after_the_built_in_ones_and_runs_as_a_command_does() {
    let (server, wisp) = called(&printing(), "count", json!({"to": "5000"}));
    let ran = wisp.run(&["--yes", "count"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    let request = server.chats()[0].json.clone().unwrap();
    let offered = request["tools"].as_array().unwrap();
    let names: Vec<&str> = offered
        .iter()
        .map(|t| t["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[names.len() - 2..], ["say", "count"], "{names:?}");
    assert_eq!(
        offered[names.len() - 2]["function"]["parameters"],
        json!({"type": "object", "properties": {"text": {"type": "string", "description": "The text"}}, "required": ["text"]})
    );
    let told = tool_message(&server);
    assert!(told.starts_with("exit status 0\nstdout:\n1\n2\n"), "{told}");
    assert!(
        told.contains("held back: stdout lines ") && told.len() <= 16_384,
        "{told}"
    );
    let kept = wisp.kept();
    assert_eq!((kept.len(), kept[0].0["tool"].as_str()), (1, Some("count")));
    assert!(kept[0].1.ends_with(b"4999\n5000\n"));
    let events = wisp.audit();
    let decided: Vec<&Value> = events.iter().filter(|e| e["kind"] == "policy.decision").collect();
    assert_eq!(
        (decided.len(), &decided[0]["details"]["command"]),
        (1, &json!("seq 5000"))
    );
    for kind in ["tool.call", "command.outcome", "output.kept", "tool.result"] {
        assert!(
            events
                .iter()
                .any(|e| e["kind"] == kind && e["call"] == decided[0]["call"]),
            "{kind}"
        );
    }
}

#[test]
fn a_value_is_one_word_for_the_shell_whatever_is_in_it() {
    for text in [
        "$(touch made)",
        "`touch made`",
        "'; touch made; '",
        "\"; touch made; \"",
        "a\ntouch made",
        "{text} && touch made",
        "\\'; touch made #",
        "* ~ $HOME 漢",
    ] {
        let (server, wisp) = called(&printing(), "say", json!({ "text": text }));
        let ran = wisp.run(&["--yes", "say it"], "");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let told = tool_message(&server);
        // The last line break is the boundary's: what the command printed ends without one.
        assert_eq!(told, format!("exit status 0\nstdout:\n[{text}]\n"), "{text:?}");
        assert!(!wisp.work().join("made").exists(), "{text:?}");
    }
}

#[test]
fn a_value_can_be_a_script_where_the_persons_line_says_so() {
    let tools = json!([{"name": "sh", "description": "Run a script", "command": "sh -c {script}",
        "arguments": {"script": {"type": "string"}}}]);
    let (server, wisp) = called(&tools, "sh", json!({"script": "echo $((6 * 7))"}));
    wisp.run(&["--yes", "go"], "");
    assert_eq!(tool_message(&server), "exit status 0\nstdout:\n42\n");
}

#[test]
fn policy_and_approval_judge_the_line_as_it_would_run() {
    let tools = json!([{"name": "as_root", "description": "Run as root", "command": "sudo -n {program}",
        "arguments": {"program": {"type": "string"}}}]);
    let (server, wisp) = called(&tools, "as_root", json!({"program": "id"}));
    wisp.run(&["--yes", "go"], "");
    let told = tool_message(&server);
    assert!(told.starts_with("error: command denied by policy"), "{told}");

    let tools = json!([{"name": "mark", "description": "Make a file", "command": "touch {file}",
        "arguments": {"file": {"type": "string"}}}]);
    let (server, wisp) = called(&tools, "mark", json!({"file": "made"}));
    wisp.run(&["go"], "");
    let told = tool_message(&server);
    assert!(told.starts_with("error: command not approved"), "{told}");
    assert!(!wisp.work().join("made").exists());
}

#[test]
fn a_call_that_lacks_an_argument_or_has_another_than_it_takes_runs_nothing() {
    let tools = json!([{"name": "pick", "description": "Pick", "command": "touch made {kind}",
        "arguments": {"kind": {"enum": ["a", "b"]}}}]);
    for (given, said) in [
        (json!({}), "error: pick needs the argument kind (one of a, b)"),
        (
            json!({"kind": "c"}),
            "error: the argument kind must be one of a, b, not \"c\"",
        ),
    ] {
        let (server, wisp) = called(&tools, "pick", given);
        let ran = wisp.run(&["--yes", "go"], "");
        assert_eq!((ran.code, tool_message(&server).as_str()), (Some(0), said));
        assert!(!wisp.work().join("made").exists());
        assert!(wisp.audit().iter().all(|e| e["kind"] != "command.outcome"));
    }
}

#[test]
fn a_misspelt_argument_is_answered_with_those_there_are_and_nothing_runs() {
    let tools = json!([{"name": "pick", "description": "Pick", "command": "touch made {kind} {count}",
        "arguments": {"kind": {}, "count": {"type": "integer", "default": 1}}}]);
    let (server, wisp) = called(&tools, "pick", json!({"kind": "a", "conut": 7}));
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(
        (ran.code, tool_message(&server).as_str()),
        (
            Some(0),
            "error: pick has no argument \"conut\"; it takes kind, count"
        )
    );
    assert!(!wisp.work().join("made").exists());
}

#[test]
fn a_custom_tool_has_a_directory_and_a_time_of_its_own() {
    let tools = json!([{"name": "wait_there", "description": "Wait", "command": "pwd; sleep 30",
        "workingDirectory": "~/other", "timeoutSeconds": 1}]);
    let (server, wisp) = called(&tools, "wait_there", json!({}));
    std::fs::create_dir(wisp.work().with_file_name("other")).unwrap();
    wisp.run(&["--yes", "go"], "");
    let told = tool_message(&server);
    assert!(
        told.starts_with("timed out after 1 s and was stopped\nstdout:\n"),
        "{told}"
    );
    assert!(told.contains("/other\n"), "{told}");
}

#[test]
fn a_declaration_that_cannot_be_used_is_named_by_every_command_and_by_the_doctor() {
    let wrong = json!([{"name": "say", "description": "Say", "command": "echo '{text}'",
        "arguments": {"text": {"type": "string"}}}]);
    let (_server, wisp) = called(&wrong, "say", json!({}));
    for command in [&["hi"][..], &["tools"], &["doctor"]] {
        let ran = wisp.run(command, "");
        let said = format!("{}{}", ran.text(), ran.err);
        assert!(
            said.contains(
                "tools.custom has a tool that cannot be used, 'say': its command has {text} in quotes;"
            ),
            "{command:?}: {said}"
        );
        assert_ne!(ran.code, Some(0), "{command:?}");
    }
    let wrong = json!([{"name": "notify", "description": "Tell", "command": "echo"}]);
    let (_server, wisp) = called(&wrong, "notify", json!({}));
    let ran = wisp.run(&["tools"], "");
    assert!(
        ran.err.contains("'notify': wisp has a tool of this name"),
        "{}",
        ran.err
    );
}

#[test]
fn custom_tools_are_listed_and_only_the_persons_own_configuration_declares_them() {
    let (_server, wisp) = called(&printing(), "say", json!({}));
    let listed = wisp.run(&["tools"], "").text();
    assert!(
        listed.ends_with("say            Say a text\ncount          Count\n"),
        "{listed}"
    );
    let bare = Wisp::new();
    std::fs::write(
        bare.work().join("config.json"),
        json!({"tools": {"custom": printing()}}).to_string(),
    )
    .unwrap();
    assert!(!bare.run(&["tools"], "").text().contains("Say a text"));
}

/// What the shell of this machine makes of a filled line is the value, for a thousand odd values at once.
#[test]
fn a_shell_gives_every_value_back() {
    let odd = [
        "'", "\"", "\\", "$", "`", "(", ")", "\n", " ", ";", "#", "!", "*", "{", "}", "é", "-", "a",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % odd.len() as u64).unwrap()
    };
    let values: Vec<String> = (0..1_000)
        .map(|n| (0..n % 12).map(|_| odd[next()]).collect())
        .collect();
    let row = json!([{"name": "t", "description": "d", "command": "printf '%s\\000' {value}",
        "arguments": {"value": {"type": "string"}}}]);
    let tools = wisp_config::custom::read(row.as_array().unwrap()).unwrap();
    let lines: Vec<String> = values
        .iter()
        .map(|v| tools[0].line(&json!({"value": v})).unwrap())
        .collect();
    let out = Command::new("/bin/sh")
        .arg("-c")
        .arg(lines.join("\n"))
        .output()
        .unwrap()
        .stdout;
    let given: Vec<&[u8]> = out.split(|b| *b == 0).collect();
    for (value, given) in values.iter().zip(given) {
        assert_eq!(value.as_bytes(), given);
    }
}
