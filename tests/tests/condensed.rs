//! A conversation of two tasks, a ban, calls in pairs and an output held back, in windows so small that turns leave it
//! at one point after the other, through the real binary: no request parts a call from its result, and the task, the
//! ban and the output stay within reach.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out a working directory, and stop at what they do not expect"
)]

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Talk, Wisp, notes, outcome, serve};

const PATIENCE: Duration = Duration::from_secs(40);
const FIRST: &str = "Find why the tide table is wrong and fix it. Do not touch legacy.c.";
const BAN: &str = "Do not touch legacy.c.";
const SECOND: &str = "Then change it to h + 2.";
/// Lines of what `./make` prints, 80 bytes each.
const LINES: usize = 1024;

/// Line `n` of what `./make` prints, without its end.
fn line(n: usize) -> String {
    match n {
        700 => format!("{:-<79}", "make: *** [Makefile:7: tide.o] Error 1 "),
        n => format!("{:.<79}", format!("cc -c part{n}.c ")),
    }
}

/// The model: looks, looks twice more, says what is wrong, changes it and runs the tests; else it does what it is told.
fn model(seen: &Seen) -> Reply {
    let last = seen.last().unwrap();
    let asked = seen.last_of("user").map_or("", |m| m.content.as_str());
    let results = seen.messages.iter().rev().take_while(|m| m.role != "user");
    let results = results.filter(|m| m.role == "tool").count();
    let told = asked.rsplit_once("memory: ").map(|(_, request)| request);
    match (told, last.role.as_str(), results) {
        (Some(request), "user", _) => Reply::call("memory", json!({ "request": request })),
        _ if asked.ends_with(FIRST) => match results {
            0 => Reply::call("read_file", json!({"path": "tide.c"})),
            1 => Reply::text("Two more looks.")
                .and_call("run_command", json!({"command": "./make"}))
                .and_call("read_file", json!({"path": "table.c"})),
            _ => Reply::text("The offset is wrong."),
        },
        _ if asked.ends_with(SECOND) => match results {
            0 => Reply::call(
                "edit_file",
                json!({"path": "tide.c", "mode": "replace", "find": "h + 1", "content": "h + 2"}),
            ),
            1 => Reply::text("Running the tests.").and_call("run_command", json!({"command": "./make test"})),
            _ => Reply::text("They pass."),
        },
        _ => Reply::text("It is as it was before, and nothing more is to be said of it."),
    }
}

/// A home and a working directory as the conversation needs them; `test` is what `./make test` does.
fn stage(window: u64, test: &str) -> (Server, Wisp) {
    let server = serve(Model::new("sim"), model);
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "ollama": {"contextLength": window}}));
    let file = |name: &str, text: &str| std::fs::write(wisp.work().join(name), text).unwrap();
    file("tide.c", "int tide(int h) { return h + 1; }\n");
    file("table.c", "int table[] = {3, 5, 8};\n");
    let printed: String = (1..=LINES).map(|n| line(n) + "\n").collect();
    assert_eq!(printed.len(), 81_920);
    file("printed", &printed);
    file(
        "make",
        &format!("#!/bin/sh\n[ \"$1\" = test ] && {{ {test}; }}\ncat printed; exit 2\n"),
    );
    let make = wisp.work().join("make");
    std::fs::set_permissions(make, std::fs::Permissions::from_mode(0o755)).unwrap();
    (server, wisp)
}

fn talk(wisp: &Wisp, more: &[&str]) -> Talk {
    let mut talk = Talk::start(wisp, &[&["--yes"], more].concat(), PATIENCE);
    talk.until("wish for a line", |e| e["type"] == "status");
    talk
}

/// The messages of every chat.
fn requests(server: &Server) -> Vec<Vec<Value>> {
    let chats = server.chats().into_iter();
    chats
        .filter_map(|chat| chat.json?["messages"].as_array().cloned())
        .collect()
}

/// What every server's template asks: one system message, first; each call followed by its result, in order.
fn assert_whole(messages: &[Value], of: &str) {
    let systems = messages.iter().filter(|m| m["role"] == "system").count();
    assert_eq!(
        (systems, &messages[0]["role"], &messages[1]["role"]),
        (1, &json!("system"), &json!("user")),
        "{of}"
    );
    let mut waiting: VecDeque<&Value> = VecDeque::new();
    for message in messages {
        if message["role"] == "tool" {
            let called = waiting
                .pop_front()
                .unwrap_or_else(|| unreachable!("{of}: a result without its call"));
            assert_eq!(called["function"]["name"], message["tool_name"], "{of}");
            assert_ne!(message["content"], "", "{of}");
            continue;
        }
        assert!(
            waiting.is_empty(),
            "{of}: a call without its result before {message}"
        );
        waiting.extend(message["tool_calls"].as_array().into_iter().flatten());
    }
    assert!(waiting.is_empty(), "{of}: a call without its result at the end");
}

fn said(messages: &[Value]) -> String {
    let texts = messages.iter().filter_map(|m| m["content"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// The id under which what `./make` printed is kept.
fn kept(wisp: &Wisp) -> String {
    let (record, bytes) = wisp
        .kept()
        .into_iter()
        .find(|(_, bytes)| bytes.len() > 81_920)
        .unwrap();
    assert!(String::from_utf8(bytes).unwrap().contains(&line(700)));
    record["id"].as_str().unwrap().to_owned()
}

/// The output can be paged and filtered: by the model, by the person in the conversation, and from a shell.
fn assert_reachable(wisp: &Wisp, talk: &mut Talk, server: &Server, id: &str) {
    let at = 700;
    for (request, has) in [
        (
            format!("recall output {id} lines {}-{at}", at - 1),
            vec![line(699), line(700)],
        ),
        (format!("recall output {id} matching Error 1"), vec![line(700)]),
    ] {
        let events = talk.say(&format!("memory: {request}"));
        assert_eq!(outcome(&events), "ok", "{:?}", notes(&events, "error"));
        let answer = said(&requests(server).pop().unwrap()[1..]);
        for line in has {
            assert!(answer.contains(&line), "{request}: {answer}");
        }
    }
    let from = talk.seen.len();
    talk.send(&json!({"type": "message", "text": format!("/show {id}")}));
    talk.until("wish for a line", |e| e["type"] == "status");
    let shown = Value::from(talk.seen[from..].to_vec()).to_string();
    // The first of its pages.
    assert!(
        shown.contains(&line(600)) && shown.contains("\"pages\":2"),
        "{shown}"
    );
    let lines = format!("{at}-{}", at + 1);
    let cut = wisp.run(&["show", id, "--lines", &lines], "");
    let (pages, ends) = (cut.text(), [at, at + 1].map(|n| format!("{n}: ")));
    for (end, line) in ends.iter().zip([line(700), line(701)]) {
        assert!(pages.contains(&format!("{end}{line}\n")), "{pages} {}", cut.err);
    }
    assert!(
        !pages.contains(&line(702)) && !pages.contains(&line(699)),
        "{pages}"
    );
    let found = wisp.run(&["show", id, "--matching", "error 1"], "");
    assert!(
        found.text().contains(&line(700)) && !found.text().contains(&line(701)),
        "{}",
        found.text()
    );
}

/// A long message about nothing that matters.
fn filler(times: usize) -> String {
    "It is a long way to the station there. ".repeat(times)
}

/// The turns in or after which it was condensed.
fn condensed(wisp: &Wisp) -> Vec<u64> {
    let events = wisp.audit().into_iter();
    let done = events.filter(|e| e["kind"] == "context.condensation");
    done.filter_map(|e| e["turn"].as_u64()).collect()
}

#[test]
fn wherever_it_is_condensed_no_call_is_parted_and_task_ban_and_output_are_there() {
    let mut points = BTreeSet::new();
    // Turns before, so that there is room for more or less of what follows.
    for before in [1, 3, 4, 5] {
        let of = format!("after {before}");
        let (server, wisp) = stage(8192, "echo ok; exit 0");
        let mut talk = talk(&wisp, &["--save", "work"]);
        let earlier = (0..before).map(|n| filler(90 + n));
        let both = [FIRST, SECOND].map(str::to_owned);
        let later = (0..3).map(|n| filler(90 + n));
        for prompt in earlier.chain(both).chain(later) {
            let events = talk.say(&prompt);
            assert_eq!(outcome(&events), "ok", "{of}: {:?}", notes(&events, "error"));
        }
        let id = kept(&wisp);
        assert_reachable(&wisp, &mut talk, &server, &id);
        talk.leave();
        let all = requests(&server);
        for messages in &all {
            assert_whole(messages, &of);
            assert_eq!(messages[0], all[0][0], "{of}: one system message, byte for byte");
        }
        let text = said(all.last().unwrap());
        for has in [FIRST, BAN, SECOND] {
            assert!(text.contains(has), "{of}: {has} in {text}");
        }
        let first = u64::try_from(before).unwrap();
        points.extend(condensed(&wisp).iter().map(|turn| turn.saturating_sub(first)));
        let changed = std::fs::read_to_string(wisp.work().join("tide.c")).unwrap();
        assert_eq!(changed, "int tide(int h) { return h + 2; }\n");
    }
    assert!(
        points.len() >= 3,
        "it is condensed at one point after the other: {points:?}"
    );
}

/// Holds the conversation until `./make test` runs, and gives what was said by then.
fn until_the_tests_run(wisp: &Wisp) -> Talk {
    let mut talk = talk(wisp, &["--save", "work"]);
    assert_eq!(outcome(&talk.say(FIRST)), "ok");
    talk.send(&json!({"type": "message", "text": SECOND}));
    talk.until("run of the tests", |e| {
        e["type"] == "activity" && e.to_string().contains("./make test")
    });
    talk
}

/// The result that a request carries for the call of the tests, if it carries the call.
fn result_of_the_tests(messages: &[Value]) -> Option<String> {
    let at = messages
        .iter()
        .position(|m| m["tool_calls"].to_string().contains("./make test"))?;
    Some(messages[at + 1]["content"].as_str().unwrap().to_owned())
}

#[test]
fn a_call_that_was_stopped_is_sent_with_a_result_that_says_so() {
    let (server, wisp) = stage(16_384, "sleep 600");
    let mut talk = until_the_tests_run(&wisp);
    talk.send(&json!({"type": "interrupt"}));
    talk.until("wish for a line", |e| e["type"] == "status");
    assert_eq!(outcome(&talk.say("And now?")), "ok");
    talk.leave();
    let last = requests(&server).pop().unwrap();
    assert_whole(&last, "stopped");
    let result = result_of_the_tests(&last).unwrap();
    assert!(
        result.contains("interrupted") || result.contains("stopped"),
        "{result}"
    );
    for has in [FIRST, SECOND, "Running the tests.", "tide.c"] {
        assert!(said(&last).contains(has), "{has}");
    }
}

#[test]
fn a_call_that_a_kill_cut_off_is_not_sent_bare_by_the_one_who_goes_on() {
    for window in [16_384, 5_632] {
        let (server, wisp) = stage(window, "exec sleep 20");
        drop(until_the_tests_run(&wisp));
        let mut talk = talk(&wisp, &["--resume", "work"]);
        let events = talk.say("And now?");
        assert_eq!(outcome(&events), "ok", "{:?}", notes(&events, "error"));
        talk.leave();
        let last = requests(&server).pop().unwrap();
        assert_whole(&last, "killed");
        if let Some(result) = result_of_the_tests(&last) {
            assert!(
                result.contains("interrupted") || result.contains("not "),
                "{result}"
            );
        }
        for has in [FIRST, SECOND] {
            assert!(said(&last).contains(has), "{has}: {}", said(&last));
        }
    }
}
