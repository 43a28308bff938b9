//! `wisp models`, `wisp doctor`, `wisp logs` and the rule that nothing but the server is contacted, from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files and fail"
)]

use ollama_sim::{Capability, Config, Model, Remote, Reply, Script, Server, Step};
use serde_json::{Value, json};
use wisp_tests::Wisp;

/// A server with a model that can be talked to, one for embeddings and one on another machine. It makes the call it is
/// asked for and says hello otherwise.
fn server() -> Server {
    let answer = |seen: &ollama_sim::Seen| {
        if seen.offers("record_word") {
            Reply::call("record_word", json!({"word": "heron"}))
        } else {
            Reply::text("Hello.")
        }
    };
    let cloud = Model {
        remote: Some(Remote {
            host: "https://ollama.com:443".into(),
            model: "big".into(),
            signed_in: true,
            quota: None,
        }),
        ..Model::new("big:cloud")
    };
    let embedding = Model::new("embed").with_capabilities(&[Capability::Embedding]);
    Server::start(Config::new(answer).models([Model::new("small"), embedding, cloud])).unwrap()
}

fn lines(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|l| l.split('\t').map(str::to_owned).collect())
        .collect()
}

#[test]
fn models_are_listed_for_programs_with_every_field() {
    let server = server();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "small"}));
    let ran = wisp.run(&["models"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows = lines(&ran.text());
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0].len(), 10);
    assert_eq!(
        (rows[0][0].as_str(), rows[0][1].as_str(), rows[0][8].as_str()),
        ("* small:latest", "Ollama", "yes")
    );
    assert_eq!(rows[0][9], "tools, structured replies");
    assert!(rows[1][7].contains("ollama.com"), "{rows:?}");
    let all = lines(&wisp.run(&["models", "--all"], "").text());
    assert_eq!(all.len(), 3);
    assert!(all[1][10].contains("embeddings"), "{all:?}");
    let object: Value = serde_json::from_str(&wisp.run(&["models", "--json", "--all"], "").text()).unwrap();
    assert_eq!(object["models"][0]["default"], true);
    assert_eq!(object["models"][1]["usable"], false);
    assert!(object["models"][0]["context"].as_u64().unwrap() > 0);
}

#[test]
fn a_disabled_model_is_hidden_refused_and_comes_back() {
    let server = server();
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
    let server = server();
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
    let server = server();
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

#[test]
fn the_doctor_finds_everything_good_and_says_what_to_do_when_not() {
    let server = server();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "small"}));
    std::fs::set_permissions(wisp.root(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let well = wisp.run(&["doctor", "--json"], "");
    let findings: Vec<Value> = serde_json::from_str(&well.text()).unwrap();
    let bad: Vec<_> = findings.iter().filter(|f| f["ok"] == false).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert_eq!(well.code, Some(0));
    for name in [
        "server",
        "era",
        "model",
        "capabilities",
        "tool call",
        "window",
        "memory",
        "keep-alive",
        "config",
        "home",
        "outputs",
        "audit",
        "terminal",
        "pager",
    ] {
        assert!(findings.iter().any(|f| f["name"] == name), "{name}");
    }
    let ill = wisp.run(&["doctor", "--model", "nowhere"], "");
    assert_eq!(ill.code, Some(1));
    assert!(
        ill.text().contains("NOT OK") && ill.text().contains("→"),
        "{}",
        ill.text()
    );
    let mut lost = Wisp::with(&server);
    lost.set("OLLAMA_HOST", "127.0.0.1:9");
    let lost = lost.run(&["doctor"], "");
    assert_eq!(lost.code, Some(1));
    assert!(lost.text().contains("ollama serve"), "{}", lost.text());
}

#[test]
fn the_record_is_read_filtered_and_verified() {
    let server = server();
    let wisp = Wisp::with(&server);
    assert_eq!(wisp.run(&["--model", "small", "hello"], "").code, Some(0));
    let events = wisp.run(&["logs", "--json", "--last", "100"], "");
    let kinds: Vec<String> = events
        .text()
        .lines()
        .map(|l| {
            serde_json::from_str::<Value>(l).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("session.start"));
    assert_eq!(kinds.last().map(String::as_str), Some("session.end"));
    let prompts = lines(&wisp.run(&["logs", "--kind", "prompt", "--turn", "1"], "").text());
    assert_eq!(
        (prompts.len(), prompts[0][2].as_str(), prompts[0][5].as_str()),
        (1, "prompt", "hello")
    );
    let typo = wisp.run(&["logs", "--kind", "promt"], "");
    assert_eq!(typo.code, Some(64));
    assert!(typo.err.contains("did you mean prompt?"), "{}", typo.err);
    let whole = wisp.run(&["logs", "verify"], "");
    assert!(
        whole.code == Some(0) && whole.text().contains("whole"),
        "{}",
        whole.text()
    );
    let session = lines(&wisp.run(&["logs", "sessions"], "").text());
    let file = &session[0][2];
    let text = std::fs::read_to_string(file).unwrap();
    std::fs::write(file, text.replacen("hello", "hullo", 1)).unwrap();
    let broken = wisp.run(&["logs", "verify", &session[0][0]], "");
    assert_eq!(broken.code, Some(1));
    assert!(broken.text().contains("was changed"), "{}", broken.text());
}

#[test]
fn nothing_but_the_server_is_contacted_whatever_proxies_are_named() {
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let script = Script::new().step(Step::new(Reply::text("Hello.")).repeated());
    let server = Server::start(Config::new(script).models([Model::new("small")])).unwrap();
    let mut wisp = Wisp::with(&server);
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "HTTPS_PROXY",
    ] {
        wisp.set(name, &address);
    }
    for args in [
        &["--model", "small", "hello"][..],
        &["models"],
        &["models", "pull", "new"],
    ] {
        let ran = wisp.run(args, "");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    let came = proxy.accept().err().map(|e| e.kind());
    assert_eq!(
        came,
        Some(std::io::ErrorKind::WouldBlock),
        "nobody came to the proxy"
    );
}
