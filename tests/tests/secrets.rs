//! Secrets in what a command prints and in what it is given: masked in all that is written, whole where the output is
//! kept, and found by `wisp scan` and `wisp redact`.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files, and fail"
)]

use std::path::Path;

use ollama_sim::{Model, Remote, Reply, Seen};
use serde_json::{Value, json};
use wisp_tests::{Wisp, serve, tool_message};

/// Values put together here so that no file of the tree holds one whole, with the text each stands in.
fn secrets() -> Vec<(String, String)> {
    let row = |before: &str, value: &[&str], after: &str| {
        let value = value.concat();
        (format!("{before}{value}{after}"), value)
    };
    vec![
        row("AWS_ACCESS_KEY_ID=", &["AK", "IA", "HERON000EXAMPLE2"], ""),
        row(
            "AWS_SECRET_ACCESS_KEY=",
            &["heron00000000/exam", "ple/KKKKKKKKKKKKKKKKKK"],
            "",
        ),
        row(
            "GITHUB_TOKEN=",
            &["gh", "p_", "Heron000Example1111Heron22Example33"],
            "",
        ),
        row(
            "DATABASE_URL=postgres://heron:",
            &["hunter2", "-9C1D"],
            "@db.example.test/tide",
        ),
        row("PASSWORD=", &["correct-heron", "-9C1D"], ""),
        row(
            "Authorization: Bearer ",
            &["ey", "JhbGciOiJub25lIn0.ey", "JzdWIiOiJoZXJvbiJ9."],
            "",
        ),
        row("machine db login heron password ", &["netrc", "-9C1D"], ""),
    ]
}

fn printed() -> String {
    let mut lines: Vec<String> = secrets().into_iter().map(|(line, _)| line).collect();
    lines.push("commit 9c1d9c1d9c1d9c1d9c1d9c1d9c1d9c1d9c1d9c1d".to_owned());
    lines.join("\n") + "\n"
}

/// Every file below a folder, but for the kept outputs.
fn written(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "output") {
            written(&path, all);
        } else if path.is_file() {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
}

/// A server whose model prints the secrets, uses one in a command and says another.
fn telling() -> ollama_sim::Server {
    let bearer = secrets()[5].1.clone();
    let said = secrets()[2].1.clone();
    let mut asked = 0;
    serve(Model::new("sim"), move |_: &Seen| {
        asked += 1;
        match asked {
            1 => Reply::call("run_command", json!({"command": "cat printed.txt; seq 1 9000"})),
            2 => {
                let command = format!("echo 'Authorization: Bearer {bearer}' >/dev/null");
                Reply::call("run_command", json!({ "command": command }))
            }
            _ => Reply::text(&format!("the token is {said}")),
        }
    })
}

#[test]
fn nothing_that_is_written_holds_a_secret_but_the_kept_output() {
    let server = telling();
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("printed.txt"), printed()).unwrap();
    let ran = wisp.run(&["chat", "--yes"], "look\n/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut all = String::new();
    written(&wisp.root(), &mut all);
    assert!(all.contains("AWS_ACCESS_KEY_ID="), "the name stays");
    assert!(all.contains("commit 9c1d9c1d9c1d9c1d"), "a hash is no secret");
    for (line, value) in secrets() {
        assert!(!all.contains(&value), "{line}");
    }
    let (_, kept) = &wisp.kept()[0];
    assert!(String::from_utf8_lossy(kept).contains(&printed()));
    let told = format!("{}{}", ran.text(), ran.err);
    assert!(
        told.contains("7 secrets masked in the audit and the saved conversation"),
        "{told}"
    );
    let logs = wisp.run(&["logs", "--kind", "tool.result", "--json"], "");
    assert!(
        logs.text().contains("[REDACTED:github-token#1]"),
        "{}",
        logs.text()
    );
    assert!(logs.text().contains("\"masked\":7"), "{}", logs.text());
    assert!(
        logs.err.contains("secrets masked in these events"),
        "{}",
        logs.err
    );
    let verified = wisp.run(&["logs", "verify"], "");
    assert_eq!(verified.code, Some(0), "{}{}", verified.text(), verified.err);
}

#[test]
fn a_masked_conversation_goes_on() {
    let server = telling();
    let wisp = Wisp::with(&server);
    std::fs::write(wisp.work().join("printed.txt"), printed()).unwrap();
    assert_eq!(
        wisp.run(&["chat", "--yes", "--save", "masked"], "look\n/quit\n")
            .code,
        Some(0)
    );
    let ran = wisp.run(&["chat", "--resume", "masked"], "and now?\n/quit\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let request = server.chats().last().and_then(|chat| chat.json.clone()).unwrap();
    let sent = request.to_string();
    assert!(sent.contains("the token is [REDACTED:github-token#"), "{sent}");
    assert!(!ran.err.contains("damaged"), "{}", ran.err);
}

/// What the model was sent in its last request, where it runs here or elsewhere.
fn sent(elsewhere: bool, setting: &str) -> String {
    let model = Model {
        remote: elsewhere.then(|| Remote {
            host: "https://ollama.com:443".into(),
            model: "sim".into(),
            signed_in: true,
            quota: None,
        }),
        ..Model::new("sim")
    };
    let mut asked = 0;
    let server = serve(model, move |_: &Seen| {
        asked += 1;
        if asked == 1 {
            Reply::call("run_command", json!({"command": "cat printed.txt"}))
        } else {
            Reply::text("done")
        }
    });
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "secrets": {"maskForModel": setting}}));
    std::fs::write(wisp.work().join("printed.txt"), printed()).unwrap();
    let ran = wisp.run(&["--yes", "look"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    tool_message(&server)
}

#[test]
fn a_model_elsewhere_is_sent_no_secret_unless_that_is_set() {
    let value = &secrets()[2].1;
    for (elsewhere, setting, masked) in [
        (true, "auto", true),
        (true, "off", false),
        (false, "auto", false),
        (false, "on", true),
    ] {
        let sent = sent(elsewhere, setting);
        assert_eq!(!sent.contains(value), masked, "{elsewhere} {setting}: {sent}");
        assert_eq!(
            sent.contains("[REDACTED:github-token#1]"),
            masked,
            "{elsewhere} {setting}"
        );
    }
}

#[test]
fn scan_names_places_and_shows_no_value() {
    let wisp = Wisp::new();
    std::fs::write(wisp.work().join("a.txt"), printed()).unwrap();
    std::fs::write(wisp.work().join("b.txt"), "nothing\n").unwrap();
    let ran = wisp.run(&["scan", "a.txt", "b.txt"], "");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.text().contains("a.txt:3: github-token ghp_…(39 chars)\n"),
        "{}",
        ran.text()
    );
    assert_eq!(ran.text().lines().count(), 7);
    for (_, value) in secrets() {
        assert!(!ran.text().contains(&value));
    }
    let json = wisp.run(&["scan", "--json"], &printed());
    let object: Value = serde_json::from_str(&json.text()).unwrap();
    assert_eq!(
        (object["source"].as_str(), object["diff"].as_bool()),
        (Some("-"), Some(false))
    );
    assert_eq!(object["findings"][2]["line"], 3);
    assert_eq!(wisp.run(&["scan", "b.txt"], "").code, Some(0));
    let mut all = String::new();
    written(&wisp.root(), &mut all);
    assert!(all.contains("\"secrets.scan\"") && !all.contains("ghp_…"));
}

#[test]
fn redact_prints_the_text_with_markers_and_counts_them() {
    let wisp = Wisp::new();
    let ran = wisp.run(
        &["redact", "--secrets-only"],
        "mail ada@tern.io\nPASSWORD=correct-heron-9C1D\n",
    );
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.text(), "mail ada@tern.io\nPASSWORD=[REDACTED:env-secret#1]\n");
    assert!(ran.err.contains("replaced 1 value: env-secret 1"), "{}", ran.err);
    let both = wisp.run(&["redact"], "mail ada@tern.io\n");
    assert_eq!(both.text(), "mail [REDACTED:email#1]\n");
}

#[test]
fn a_wrong_argument_is_told_without_its_control_characters() {
    let wisp = Wisp::new();
    let ran = wisp.run(&["logs", "--no\u{1b}]0;title\u{7}\u{202e}such"], "");
    assert_eq!(ran.code, Some(64));
    assert!(
        ran.err.contains("unexpected argument") && !ran.err.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{:?}",
        ran.err
    );
}

#[test]
fn a_context_that_is_looked_at_is_what_is_sent_and_one_that_is_written_has_no_secret() {
    let value = &secrets()[2].1;
    for (setting, shown) in [("on", false), ("off", true)] {
        let server = telling();
        let wisp = Wisp::with(&server);
        wisp.configure(&json!({"model": "sim", "secrets": {"maskForModel": setting}}));
        std::fs::write(wisp.work().join("printed.txt"), printed()).unwrap();
        let lines = "look\n/inspect context next\n/inspect context\n/quit\n";
        let ran = wisp.run(&["chat", "--yes"], lines);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let text = ran.text();
        let (_, looked) = text.split_once("## entry").unwrap();
        assert_eq!(looked.contains(value), shown, "{setting}: {looked}");
        let mut all = String::new();
        written(&wisp.root().join("context"), &mut all);
        assert!(all.contains("[REDACTED:github-token#"), "{setting}: {all}");
        assert!(!all.contains(value), "{setting}");
    }
}
