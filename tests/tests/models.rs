//! `wisp models`: the list, what is enabled, fetched, checked and allowed to leave the machine, from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files and fail"
)]

use ollama_sim::{Config, Model, Reply, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, cells, offered_tools, three_models};

#[test]
fn models_are_listed_for_programs_with_every_field() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "small"}));
    let ran = wisp.run(&["models"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows = cells(&ran.text());
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0].len(), 10);
    assert_eq!(
        (rows[0][0].as_str(), rows[0][1].as_str(), rows[0][8].as_str()),
        ("* small:latest", "Ollama", "yes")
    );
    assert_eq!(rows[0][9], "tools, structured replies");
    assert!(rows[1][7].contains("ollama.com"), "{rows:?}");
    let all = cells(&wisp.run(&["models", "--all"], "").text());
    assert_eq!(all.len(), 3);
    assert!(all[1][10].contains("embeddings"), "{all:?}");
    let object: Value = serde_json::from_str(&wisp.run(&["models", "--json", "--all"], "").text()).unwrap();
    assert_eq!(object["models"][0]["default"], true);
    assert_eq!(object["models"][1]["usable"], false);
    assert!(object["models"][0]["context"].as_u64().unwrap() > 0);
}

#[test]
fn a_disabled_model_is_hidden_refused_and_comes_back() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    let said = wisp.run(&["models", "disable", "small"], "");
    assert_eq!(
        said.text(),
        "disabled small: hidden from /model and refused until enabled\n"
    );
    let refused = wisp.run(&["--model", "small", "hello"], "");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("is disabled") && refused.err.contains("wisp models enable small"),
        "{}",
        refused.err
    );
    assert_eq!(
        wisp.run(&["models", "enable", "small"], "").text(),
        "enabled small\n"
    );
    assert_eq!(wisp.run(&["--model", "small", "hello"], "").code, Some(0));
    wisp.configure(&json!({"model": "small"}));
    let kept = wisp.run(&["models", "disable", "small"], "");
    assert!(kept.err.contains("is the default model"), "{}", kept.err);
}

#[test]
fn a_cloud_model_is_refused_without_leave() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    let refused = wisp.run(&["--model", "big:cloud", "hello"], "");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("ollama.com") && refused.err.contains("--yes"),
        "{}",
        refused.err
    );
    assert!(server.chats().is_empty());
    let agreed = wisp.run(&["--yes", "--model", "big:cloud", "hello"], "");
    assert!(agreed.err.contains("leaves this machine"), "{}", agreed.err);
}

#[test]
fn a_model_is_fetched_also_when_the_download_breaks() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    let whole = wisp.run(&["models", "pull", "new"], "");
    assert_eq!(
        (whole.code, whole.text().as_str()),
        (Some(0), "new is there\n"),
        "{}",
        whole.err
    );
    assert!(whole.err.contains("pulling manifest"), "{}", whole.err);
    let broken = wisp.run(&["models", "pull", "flaky/new"], "");
    assert_eq!(broken.code, Some(0), "{}", broken.err);
    assert!(broken.err.contains("going on"), "{}", broken.err);
    let missing = wisp.run(&["models", "pull", "missing"], "");
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("file does not exist"), "{}", missing.err);
}

/// The events of every session, those of one kind.
fn audited(wisp: &Wisp, kind: &str) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    for file in std::fs::read_dir(wisp.root().join("audit")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "jsonl") {
            let text = std::fs::read_to_string(path).unwrap();
            events.extend(text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()));
        }
    }
    events.retain(|e| e["kind"] == kind);
    events
}

#[test]
fn what_is_changed_from_the_command_line_is_recorded_as_from_a_chat() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({}));
    assert_eq!(wisp.run(&["models"], "").code, Some(0));
    assert!(!wisp.root().join("audit").exists(), "looking records nothing");
    wisp.run(&["models", "disable", "small", "embed"], "");
    let from_cli = audited(&wisp, "config.change");
    assert_eq!(from_cli.len(), 2);
    assert_eq!(from_cli[0]["details"]["source"], "cli");
    assert_eq!(from_cli[1]["details"]["new"], json!(["small", "embed"]));
    wisp.run(&["models", "enable", "small"], "");
    assert_eq!(
        wisp.run(
            &["chat", "--model", "small"],
            "/models disable embed\n/models enable embed\n/quit\n"
        )
        .code,
        Some(0)
    );
    let all = audited(&wisp, "config.change");
    let chat = all.iter().find(|e| e["details"]["source"] == "chat").unwrap();
    let keys = |e: &Value| {
        e["details"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(chat), keys(&from_cli[0]), "the same event");
    for name in ["new", "missing"] {
        wisp.run(&["models", "pull", name], "");
    }
    let pulls: Vec<Value> = audited(&wisp, "model.pull")
        .into_iter()
        .map(|e| e["details"].clone())
        .collect();
    let of = |name: &str| pulls.iter().find(|p| p["model"] == name).unwrap();
    assert_eq!(
        (&of("new")["outcome"], &of("new")["bytes"]),
        (&json!("fetched"), &json!(1_001_200))
    );
    assert_eq!(of("missing")["outcome"], "failed");
    assert!(
        of("missing")["reason"]
            .as_str()
            .unwrap()
            .contains("file does not exist")
    );
    assert_eq!(wisp.run(&["logs", "verify"], "").code, Some(0));
}

/// Opens a chat as a front end does, agrees to where the model runs when asked, and leaves.
fn agrees(wisp: &Wisp, model: &str) {
    use std::io::{BufRead, BufReader, Write};
    let mut command = wisp.command(&["chat", "--json", "--model", model]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let asked: Value = loop {
        let event: Value = serde_json::from_str(&events.next().unwrap()).unwrap();
        if event["type"] == "choice" {
            break event;
        }
    };
    assert!(
        asked["title"]
            .as_str()
            .unwrap()
            .contains("https://ollama.com:443"),
        "{asked}"
    );
    let answer = json!({"type": "choose", "id": asked["id"], "value": "send"});
    writeln!(input, "{answer}\n{}", json!({"type": "quit"})).unwrap();
    events.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn leave_given_in_a_chat_stands_in_the_list_and_is_taken_back() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "small"}));
    // A front end that leaves before it was asked has agreed to nothing.
    let left = wisp.run(
        &["chat", "--json", "--model", "big:cloud"],
        "{\"type\":\"quit\"}\n",
    );
    assert_eq!(left.code, Some(1), "{} {}", left.text(), left.err);
    assert!(server.chats().is_empty());
    assert_eq!(
        wisp.run(&["chat", "--model", "big:cloud"], "send\n").code,
        Some(1),
        "nobody is there to be asked"
    );
    agrees(&wisp, "big:cloud");
    let row = |wisp: &Wisp| {
        let rows = cells(&wisp.run(&["models"], "").text());
        rows.into_iter().find(|r| r[0].contains("big:cloud")).unwrap()
    };
    assert_eq!(row(&wisp)[7], "https://ollama.com:443 (agreed)");
    let object: Value = serde_json::from_str(&wisp.run(&["models", "--json"], "").text()).unwrap();
    let big = object["models"]
        .as_array()
        .unwrap()
        .iter()
        .find(|m| m["model"] == "big:cloud")
        .unwrap()
        .clone();
    assert_eq!(big["agreed"].as_str().map(str::len), Some(10), "a day: {big}");
    let used = wisp.run(&["--model", "big:cloud", "hello"], "");
    assert_eq!(used.code, Some(0), "{}", used.err);
    assert!(used.err.contains("leaves this machine"), "{}", used.err);
    let said = wisp.run(&["models", "revoke", "big:cloud"], "");
    assert_eq!(
        said.text(),
        "big:cloud: nothing is sent to https://ollama.com:443 before you agree again\n"
    );
    assert_eq!(row(&wisp)[7], "https://ollama.com:443");
    let chats = server.chats().len();
    assert_eq!(wisp.run(&["--model", "big:cloud", "hello"], "").code, Some(1));
    assert_eq!(server.chats().len(), chats);
    let answers: Vec<String> = audited(&wisp, "model.consent")
        .iter()
        .map(|e| e["details"]["answer"].as_str().unwrap().to_owned())
        .collect();
    for answer in ["given", "given before", "taken back", "refused"] {
        assert!(answers.iter().any(|a| a == answer), "{answer}: {answers:?}");
    }
}

#[test]
fn a_model_that_declares_nothing_is_checked_and_the_result_is_gone_by() {
    let answer = |seen: &ollama_sim::Seen| {
        let text = seen.last().map(|m| m.content.clone()).unwrap_or_default();
        if text.contains("Say hello") {
            Reply::text("Hello!")
        } else {
            Reply::text("I do not call tools.")
        }
    };
    let config = Config::new(answer).profile(ollama_sim::profile::V0_5_7);
    let server = Server::start(config.models([Model::new("sim")])).unwrap();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"ollama": {"contextLength": 16384}}));
    assert_eq!(wisp.run(&["--model", "sim", "hello"], "").code, Some(0));
    assert!(offered_tools(&server), "its template tells");
    let ran = wisp.run(&["models", "check", "sim"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said: Vec<String> = ran.text().lines().map(str::to_owned).collect();
    assert!(
        said[0].starts_with("checking sim: loads the model (1"),
        "{said:?}"
    );
    assert!(said[1].starts_with("  a reply: passed in "), "{said:?}");
    assert!(
        said[2].starts_with("  a call: failed in ") && said[2].ends_with("(no call to record_word arrived)"),
        "{said:?}"
    );
    assert!(
        said[7].starts_with("  a guided action: failed in ")
            && said[7].ends_with("(the reply is not the object that was asked for)"),
        "{said:?}"
    );
    assert!(
        said[8].starts_with("can: none of these. cannot: a call, two calls in a row, "),
        "{said:?}"
    );
    assert!(
        said[9].starts_with(
            "recorded: sim is not fit for an agent: expect it to fail at most tasks (verified 20"
        ),
        "{said:?}"
    );
    let details = audited(&wisp, "model.verified")[0]["details"].clone();
    assert_eq!(details["recorded"]["failed"].as_array().map(Vec::len), Some(6));
    let listed = cells(&wisp.run(&["models", "--no-tools"], "").text());
    assert_eq!(listed[0][9], "text only (verified)");
    assert_eq!(
        wisp.run(&["models"], "").text(),
        "",
        "no conversation with tools can be had with it"
    );
    assert_eq!(wisp.run(&["--model", "sim", "hello"], "").code, Some(0));
    assert!(!offered_tools(&server), "gone by");
    let ran = wisp.run(&["models", "check", "--json", "sim"], "");
    let object: Value = serde_json::from_str(&ran.text()).unwrap();
    let model = &object["models"][0];
    assert_eq!(
        (&model["replies"], &model["recorded"]["passed"]),
        (&json!(true), &json!([]))
    );
    assert_eq!(model["checks"][1]["reason"], "no call to record_word arrived");
}

#[test]
fn enabling_a_model_of_which_nobody_says_what_it_can_do_checks_it_and_the_check_decides() {
    let answer = |seen: &ollama_sim::Seen| match seen.request["model"].as_str() {
        Some("mute") => Reply::new(),
        _ if seen.offers("record_word") => Reply::text("I do not call tools."),
        _ => Reply::text("Hello!"),
    };
    let config = Config::new(answer).profile(ollama_sim::profile::V0_5_7);
    let server = Server::start(config.models(["mute", "talks"].map(Model::new))).unwrap();
    let mut wisp = Wisp::with(&server);
    wisp.configure(&json!({"ollama": {"contextLength": 16384}}));
    wisp.run(&["models", "disable", "mute", "talks"], "");
    let ran = wisp.run(&["models", "enable", "mute", "talks"], "");
    assert_eq!(ran.code, Some(1), "one of them is not enabled");
    let said = ran.text();
    for line in [
        "nothing recorded: mute cannot be talked to\n",
        "disabled mute: ",
        "talks makes no calls: it is for talking only\nenabled talks\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let checks = audited(&wisp, "model.verified");
    let triggers: Vec<&Value> = checks.iter().map(|e| &e["details"]["trigger"]).collect();
    assert_eq!(triggers, ["enable", "enable"]);
    let slip = wisp.run(&["models", "disable", "tlaks"], "");
    let told = "the server has no model tlaks; wisp models --all lists what it has\n";
    assert_eq!((slip.code, slip.err.as_str()), (Some(0), told));
    let asked = server.chats().len();
    wisp.run(&["models", "disable", "talks"], "");
    let again = wisp.run(&["models", "enable", "talks"], "");
    assert_eq!((again.code, again.text().as_str()), (Some(0), "enabled talks\n"));
    assert_eq!(
        server.chats().len(),
        asked,
        "what was checked is not checked again"
    );
    wisp.set("OLLAMA_HOST", "http://127.0.0.1:9");
    let apart = wisp.run(&["models", "enable", "mute"], "");
    assert_eq!((apart.code, apart.text().as_str()), (Some(0), "enabled mute\n"));
}

#[test]
fn the_way_a_check_found_best_is_kept_shown_and_gone_by() {
    let answer = |seen: &ollama_sim::Seen| {
        let last = seen.last().map(|m| m.content.clone()).unwrap_or_default();
        if last.contains("How many lines does data.csv have?") {
            Reply::text("{\"action\": \"run\", \"command\": \"wc -l data.csv\"}")
        } else if seen.request["format"].is_object() {
            Reply::text("{\"action\": \"answer\", \"text\": \"Hello, guided.\"}")
        } else {
            Reply::text("valve.h, and the number is 58.")
        }
    };
    let config = Config::new(answer).models([Model::new("sim")]);
    let server = Server::start(config).unwrap();
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["models", "check", "sim"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said = ran.text();
    assert!(
        said.contains(
            "can: a line of a long output, an answer in words, a guided action. cannot: a call, two calls in a row, a call \
             after an error. calls: its replies are held to a schema (guided)"
        ),
        "{said}"
    );
    assert!(said.contains("sim is fit for an agent"), "{said}");
    let kept: Value =
        serde_json::from_slice(&std::fs::read(wisp.root().join("models.json")).unwrap()).unwrap();
    let row = kept["servers"].as_object().unwrap().values().next().unwrap()["sim"]["verified"].clone();
    assert_eq!(row["calls"], "guided", "{kept}");
    assert!(
        row["digest"].as_str().is_some_and(|digest| !digest.is_empty()),
        "{kept}"
    );
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(wisp.root().join("models.json"))
            .unwrap()
            .permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let listed: Value = serde_json::from_str(&wisp.run(&["models", "--json"], "").text()).unwrap();
    assert_eq!(listed["models"][0]["calls"], "guided");
    let ran = wisp.run(&["--model", "sim", "hello"], "");
    assert_eq!((ran.code, ran.text().trim()), (Some(0), "Hello, guided."));
    let missing = wisp.run(&["models", "check", "nowhere"], "");
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("nowhere"), "{}", missing.err);
}

#[test]
fn a_model_that_is_not_installed_is_named_with_the_nearest() {
    let server = three_models();
    let wisp = Wisp::with(&server);
    let ran = wisp.run(&["--model", "smal", "hi"], "");
    let told = "error: no model smal is installed; did you mean small:latest?\n\
                hint: use it with --model small:latest, or fetch the other: wisp models pull smal\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), told));
    let ran = wisp.run(&["chat", "--model", "small"], "/model smal\n/quit\n");
    assert!(
        ran.err
            .contains("no model smal is installed; did you mean small:latest?"),
        "{}",
        ran.err
    );
    let none = Server::start(Config::new(|_: &ollama_sim::Seen| Reply::text("hi")).models([])).unwrap();
    let wisp = Wisp::with(&none);
    wisp.configure(&json!({}));
    let ran = wisp.run(&["hi"], "");
    let told = "error: no model is installed\nhint: fetch one: wisp models pull qwen3:8b\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), told));
}
