//! MCP servers through the real binary: what is offered of them, what a call passes, what a bad one can do, and that
//! nothing of one outlives wisp.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests lay out a home and fail by panicking"
)]

use std::time::{Duration, Instant};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, binary, calls, framed_message, serve, tool_message};

/// The entry of a server that behaves as its arguments say, with more fields.
fn entry(behaves: &[&str], more: &Value) -> Value {
    let mut entry = json!({"command": binary("fake-mcp"), "args": behaves});
    for (name, value) in more.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

/// A home with this server, called `fake`, on a model's server.
fn home(server: &Server, entry: &Value) -> Wisp {
    let wisp = Wisp::with(server);
    wisp.configure(&json!({"model": "sim", "mcp": {"servers": {"fake": entry}, "offer": "each"}}));
    wisp
}

/// What the model was told of one call that the person allowed.
fn told(tool: &str, arguments: Value, behaves: &[&str], more: &Value) -> (String, Wisp) {
    let server = calls(tool, arguments);
    let wisp = home(&server, &entry(behaves, more));
    let ran = wisp.run(&["--yes", "go"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    (tool_message(&server), wisp)
}

/// The definitions that the first request has.
fn offered(server: &Server) -> Vec<Value> {
    let request = server.chats()[0].json.clone().unwrap();
    request["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|t| t["function"]["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_servers_tool_is_offered_called_and_recorded_as_any_other() {
    let server = calls("fake__add", json!({"a": "1.5", "b": 2}));
    let wisp = home(&server, &entry(&[], &json!({})));
    let ran = wisp.run(&["--yes", "add"], "");
    assert_eq!(
        (ran.code, ran.text().as_str()),
        (Some(0), "done\n"),
        "{}",
        ran.err
    );
    let tools = offered(&server);
    assert_eq!(
        names(&tools)[tools.len() - 12..][..2],
        ["fake__echo", "fake__add"]
    );
    assert_eq!(
        tools[tools.len() - 11]["function"],
        json!({"name": "fake__add", "description": "Add two numbers", "parameters": {
            "type": "object", "required": ["a", "b"],
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}})
    );
    assert_eq!(tool_message(&server).trim_end(), "3.5");
    assert!(
        framed_message(&server).starts_with("<output-"),
        "{}",
        framed_message(&server)
    );
    let events = wisp.audit();
    let details = |kind: &str| {
        let event = events.iter().find(|event| event["kind"] == kind);
        event.map_or_else(|| panic!("no {kind}"), |event| event["details"].clone())
    };
    assert_eq!(details("mcp.server")["state"], "ready");
    assert_eq!(details("tool.call")["tool"], "fake__add");
    assert_eq!(details("classifier.verdict")["level"], "moderate");
    assert_eq!(
        details("policy.decision")["command"],
        r#"fake__add {"a":1.5,"b":2}"#
    );
    assert_eq!(details("tool.result")["outcome"], "ok");
}

#[test]
fn a_long_answer_is_held_back_and_kept_whole() {
    let (told, wisp) = told("fake__big", json!({"lines": 5000}), &[], &json!({}));
    assert!(
        told.starts_with("line 1 of 5000\n") && told.contains("held back"),
        "{told}"
    );
    assert!(told.len() <= 16_384, "{}", told.len());
    let kept = wisp.kept();
    assert_eq!((kept.len(), &kept[0].0["tool"]), (1, &json!("fake__big")));
    assert!(kept[0].1.ends_with(b"line 5000 of 5000"));
}

#[test]
fn an_image_is_kept_and_named_in_its_place() {
    let (told, wisp) = told("fake__picture", json!({}), &[], &json!({}));
    assert!(
        told.starts_with("[image image/png, 8 bytes, kept as output "),
        "{told}"
    );
    assert_eq!(wisp.kept()[0].1, b"\x89PNG\r\n\x1a\n");
}

#[test]
fn a_call_is_asked_about_unless_it_was_declared_safe() {
    let server = calls("fake__echo", json!({"text": "hello"}));
    let wisp = home(&server, &entry(&[], &json!({})));
    // That the tool only reads is the server's word, which does not count.
    assert_eq!(wisp.run(&["echo"], "").code, Some(2));
    assert!(
        tool_message(&server).starts_with("error: call not approved: "),
        "{}",
        tool_message(&server)
    );
    let server = calls("fake__echo", json!({"text": "hello"}));
    let wisp = home(&server, &entry(&[], &json!({"safe": ["echo"]})));
    assert_eq!(wisp.run(&["echo"], "").code, Some(0));
    assert_eq!(tool_message(&server).trim_end(), "hello");
}

#[test]
fn a_server_has_the_environment_it_is_configured_with_and_no_more() {
    let server = calls("fake__environment", json!({}));
    let mut wisp = home(&server, &entry(&[], &json!({"env": {"OWN": "${GIVEN}"}})));
    for (name, value) in [("GIVEN", "g"), ("OPENAI_API_KEY", "k"), ("SOMETHING", "s")] {
        wisp.set(name, value);
    }
    assert_eq!(wisp.run(&["--yes", "go"], "").code, Some(0));
    let message = tool_message(&server);
    let mut names: Vec<&str> = message.split_whitespace().collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "OWN", "PATH", "TZ", "WISP_COMMAND"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_writes_in_the_conversations_directory_and_nowhere_else() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let beyond = outside.path().join("file");
    for (path, more, is_written) in [
        ("inside".to_owned(), json!({}), true),
        (beyond.display().to_string(), json!({}), false),
        (beyond.display().to_string(), json!({"sandbox": false}), true),
    ] {
        let (told, _) = told("fake__write_file", json!({"path": path, "text": "x"}), &[], &more);
        let written = told.trim_end() == "written";
        assert_eq!(written, is_written, "{path} {more}: {told}");
    }
}

#[test]
fn what_a_server_asks_of_its_client_is_answered_or_refused() {
    let (roots, wisp) = told("fake__roots", json!({}), &[], &json!({}));
    let work = std::fs::canonicalize(wisp.work()).unwrap();
    assert!(roots.contains(&format!("file://{}", work.display())), "{roots}");
    let (asked, _) = told("fake__ask", json!({}), &[], &json!({}));
    assert!(!asked.contains("accept"), "{asked}");
}

#[test]
fn a_call_that_the_server_calls_failed_is_data_and_a_failure() {
    let server = calls("fake__fail", json!({}));
    let wisp = home(&server, &entry(&[], &json!({})));
    assert_eq!(wisp.run(&["--yes", "go"], "").code, Some(0));
    let framed = framed_message(&server);
    assert!(
        framed.starts_with("<output-") && !framed.contains("<|im_start|>"),
        "{framed}"
    );
    let events = wisp.audit();
    let result = events
        .iter()
        .find(|event| event["kind"] == "tool.result")
        .unwrap();
    assert_eq!(result["details"]["failed"], true);
}

#[test]
fn a_hostile_server_reaches_neither_the_terminal_nor_the_model_raw() {
    let server = calls("fake__deep", json!({}));
    let wisp = home(&server, &entry(&["hostile"], &json!({})));
    let ran = wisp.run(&["chat", "--yes"], "go\n/mcp\n/mcp fake\n/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let shown = format!("{}{}", ran.text(), ran.err);
    assert!(shown.contains("fake  ready, 7 tools, 1 not offered"), "{shown}");
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\u{7}'),
        "{shown}"
    );
    let request = server.chats()[0].json.clone().unwrap();
    let tools = request["tools"].to_string();
    assert!(
        !tools.contains("<|im_start|>") && !tools.contains("\\u001b"),
        "{tools}"
    );
    assert!(tools.len() < 16 * 1024, "{}", tools.len());
    let tools = offered(&server);
    assert!(names(&tools).iter().all(|name| name.len() <= 64), "{tools:?}");
}

#[test]
fn a_server_that_does_not_run_is_named_and_the_prompt_is_answered() {
    for (entry, why) in [
        (
            entry(&["dies"], &json!({})),
            "it ended: exit status 3 (cannot find [31mmodule)",
        ),
        (
            json!({"command": "/nowhere/server"}),
            "could not launch /nowhere/server",
        ),
        (
            entry(&["flood"], &json!({})),
            "it wrote without end, and was stopped",
        ),
        (
            entry(&["endless"], &json!({})),
            "it wrote without end, and was stopped",
        ),
        (
            json!({"command": "x", "env": {"A": "${NOT_SET}"}}),
            "the variable NOT_SET that its configuration names is not set",
        ),
        (json!({"url": "http://127.0.0.1:9/mcp"}), "does not run: "),
    ] {
        let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
        let wisp = home(&server, &entry);
        let ran = wisp.run(&["hello"], "");
        assert_eq!(
            (ran.code, ran.text().as_str()),
            (Some(0), "Hello.\n"),
            "{}",
            ran.err
        );
        let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("the MCP server fake does not run: ") && said.contains(why),
            "{why}: {said}"
        );
    }
}

#[test]
fn a_server_that_never_answers_is_not_waited_for_longer_than_is_set() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let wisp = home(&server, &entry(&["silent"], &json!({"startSeconds": 1})));
    let began = Instant::now();
    assert_eq!(wisp.run(&["hello"], "").text(), "Hello.\n");
    let took = began.elapsed();
    assert!(
        took >= Duration::from_secs(1) && took < Duration::from_secs(6),
        "{took:?}"
    );
}

#[test]
fn a_call_that_is_never_answered_ends_at_its_limit() {
    let (told, _) = told("fake__never", json!({}), &[], &json!({"timeoutSeconds": 1}));
    assert_eq!(told.trim_end(), "error: fake__never did not answer within 1 s");
}

#[test]
fn a_server_that_dies_is_started_once_more_and_then_named() {
    let server = serve(Model::new("sim"), |seen: &Seen| match seen.last() {
        Some(last) if last.role == "user" => Reply::call("fake__die", json!({})),
        _ => Reply::text("done"),
    });
    let wisp = home(&server, &entry(&[], &json!({})));
    let ran = wisp.run(&["chat", "--yes"], "one\ntwo\n/mcp\n/quit\n");
    let said = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let again = "the MCP server fake ended and is started again: it ended: exit status 5 (told to end)";
    let at_last = "the MCP server fake does not run: it ended: exit status 5 (told to end); it was started again once already";
    assert!(said.contains(again) && said.contains(at_last), "{said}");
    assert!(ran.text().contains("fake  does not run: "), "{}", ran.text());
}

#[test]
fn a_list_that_has_changed_is_taken_between_turns() {
    let server = serve(Model::new("sim"), |seen: &Seen| match seen.last() {
        Some(last) if last.role == "user" && last.content.contains("grow") => {
            Reply::call("fake__grow", json!({}))
        }
        Some(last) if last.role == "user" && last.content.contains("sleep") => {
            Reply::call("run_command", json!({"command": "sleep 0.4"}))
        }
        _ => Reply::text("done"),
    });
    let wisp = home(&server, &entry(&[], &json!({})));
    let ran = wisp.run(&["chat", "--yes"], "grow\nsleep\nlast\n/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let last = server.chats().last().unwrap().json.clone().unwrap();
    assert!(last["tools"].to_string().contains("fake__grown"));
    assert!(
        !server.chats()[0].json.clone().unwrap()["tools"]
            .to_string()
            .contains("fake__grown")
    );
}

/// A home with a server that has as many tools as the reference servers `everything` and `filesystem` have together.
fn home_with_many(server: &Server) -> Wisp {
    let wisp = Wisp::with(server);
    wisp.configure(
        &json!({"model": "sim", "mcp": {"servers": {"fake": entry(&["many", "28"], &json!({}))}}}),
    );
    wisp
}

#[test]
fn many_tools_are_offered_through_one_and_the_first_request_stays_under_8_kib() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let wisp = home_with_many(&server);
    assert_eq!(wisp.run(&["hello"], "").code, Some(0));
    let tools = offered(&server);
    let names = names(&tools);
    assert_eq!(names.last(), Some(&"use_tool"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("fake__")), "{names:?}");
    let listed = tools.last().unwrap()["function"]["description"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(listed.contains("fake__tool_number_27"), "{listed}");
    let bytes = server.chats()[0].json.clone().unwrap().to_string().len();
    assert!(bytes < 8 * 1024, "{bytes}");
}

#[test]
fn a_tool_among_many_is_defined_on_demand_and_called_by_its_own_name() {
    let server = serve(Model::new("sim"), |seen: &Seen| {
        let answers = seen.messages.iter().filter(|m| m.role == "tool").count();
        match answers {
            0 => Reply::call("use_tool", json!({"tool": "fake__tool_number_3"})),
            1 => Reply::call(
                "use_tool",
                json!({"tool": "tool_number_3", "arguments": {"dryRun": "true"}}),
            ),
            2 => Reply::call(
                "use_tool",
                json!({"tool": "fake__tool_number_3", "arguments": {"path": "a"}}),
            ),
            3 => Reply::call("use_tool", json!({"tool": "nothing"})),
            _ => Reply::text("done"),
        }
    });
    let wisp = home_with_many(&server);
    assert_eq!(wisp.run(&["--yes", "go"], "").code, Some(0));
    let last = server.chats().last().unwrap().json.clone().unwrap();
    let told: Vec<String> = last["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap().to_owned())
        .collect();
    assert!(told[0].contains(r#""required":["path"]"#), "{}", told[0]);
    assert!(
        told[1].contains("fake__tool_number_3 needs the argument path (string)"),
        "{}",
        told[1]
    );
    assert!(told[2].contains("no tool tool_number_3"), "{}", told[2]);
    assert!(
        told[3].contains("there is no tool \"nothing\"; the tools are: fake__tool_number_0, "),
        "{}",
        told[3]
    );
    let events = wisp.audit();
    let judged = events.iter().filter(|event| event["kind"] == "policy.decision");
    let judged: Vec<&Value> = judged.map(|event| &event["details"]["command"]).collect();
    assert_eq!(judged, [r#"fake__tool_number_3 {"path":"a"}"#]);
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_of_a_server_outlives_wisp() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let mark = format!("mark-{}", std::process::id());
    let wisp = home(&server, &entry(&["usual", &mark], &json!({})));
    let running = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines
            .filter(|line| line.windows(mark.len()).any(|part| part == mark.as_bytes()))
            .count()
    };
    let mut child = wisp
        .command(&["chat", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let until = |is: &dyn Fn() -> bool| {
        (0..1_000).any(|_| {
            is() || {
                std::thread::sleep(Duration::from_millis(5));
                false
            }
        })
    };
    assert!(
        until(&|| running() > 0),
        "it was started before anything was asked"
    );
    // The worst end.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(until(&|| running() == 0));
}

#[test]
fn servers_are_added_tried_and_removed_from_the_command_line() {
    let server = serve(Model::new("sim"), |_: &Seen| Reply::text("Hello."));
    let wisp = Wisp::with(&server);
    let fake = binary("fake-mcp").display().to_string();
    let ran = wisp.run(
        &[
            "mcp",
            "add",
            "fake",
            "--env",
            "TOKEN=very-secret",
            "--safe",
            "echo",
            "--",
            &fake,
            "usual",
        ],
        "",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let listed = wisp.run(&["mcp", "list"], "");
    assert_eq!(listed.text(), format!("fake\t{fake} usual\n"));
    for args in [&["mcp", "list", "--json"][..], &["config", "get", "mcp.servers"]] {
        let shown = wisp.run(args, "");
        assert!(
            shown.text().contains("\"TOKEN\":\"(set)\"") && !shown.text().contains("very-secret"),
            "{}",
            shown.text()
        );
    }
    let tried = wisp.run(&["mcp", "test", "fake"], "");
    assert_eq!(tried.code, Some(0), "{}", tried.err);
    assert!(
        tried
            .text()
            .starts_with("fake  ready, 12 tools  fake [2J 1\n  fake__echo  Say it back\n"),
        "{}",
        tried.text()
    );
    assert!(wisp.audit_text().contains("mcp.servers") && !wisp.audit_text().contains("very-secret"));
    assert_eq!(wisp.run(&["mcp", "remove", "fake"], "").code, Some(0));
    let none = wisp.run(&["mcp", "remove", "fake"], "");
    assert_eq!(
        (none.code, none.err.contains("there is no MCP server fake")),
        (Some(64), true),
        "{}",
        none.err
    );
    let odd = wisp.run(&["mcp", "add", "a__b", "--", &fake], "");
    assert_eq!(
        (odd.code, odd.err.contains("its name must be a letter")),
        (Some(64), true),
        "{}",
        odd.err
    );
}
