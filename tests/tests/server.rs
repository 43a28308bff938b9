//! `wisp doctor`, `wisp logs` and the rule that nothing but the server is contacted, from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out files and fail"
)]

use ollama_sim::{Config, Model, Reply, Script, Server, Step};
use serde_json::{Value, json};
use wisp_tests::{Wisp, cells, three_models};

#[test]
fn the_doctor_finds_everything_good_and_says_what_to_do_when_not() {
    let server = three_models();
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
    let mut apart = Wisp::with(&server);
    apart.set("WISP_HOME", "/dev/null/home");
    let said = apart.run(&["doctor"], "").text();
    assert!(
        said.contains("NOT OK home           /dev/null/home is not there and cannot be made in /dev/null\n")
            && !said.contains("away to start from the defaults"),
        "{said}"
    );
    let unset = Wisp::with(&server);
    unset.configure(&json!({}));
    let said = unset.run(&["doctor"], "").text();
    assert!(
        said.contains("→ wisp config set model NAME, or start wisp, which asks"),
        "{said}"
    );
}

#[test]
fn the_record_is_read_filtered_and_verified() {
    let server = three_models();
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
    let prompts = cells(&wisp.run(&["logs", "--kind", "prompt", "--turn", "1"], "").text());
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
    let session = cells(&wisp.run(&["logs", "sessions"], "").text());
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
    std::fs::create_dir_all(wisp.root()).unwrap();
    std::fs::set_permissions(wisp.root(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for (args, input) in [
        (&["--model", "small", "hello"][..], ""),
        (
            &["chat", "--model", "small"],
            "hello\n/models\n/model other\n/status\n/quit\n",
        ),
        (
            &["chat", "--json", "--model", "small"],
            "{\"type\":\"message\",\"text\":\"hello\"}\n",
        ),
        (&["models"], ""),
        (&["models", "check", "small"], ""),
        (&["models", "pull", "new"], ""),
        (&["doctor", "--model", "small"], ""),
    ] {
        let ran = wisp.run(args, input);
        let call = args[0] == "doctor";
        assert!(
            ran.code == Some(0) || call,
            "{args:?}: {} {}",
            ran.text(),
            ran.err
        );
    }
    let came = proxy.accept().err().map(|e| e.kind());
    assert_eq!(
        came,
        Some(std::io::ErrorKind::WouldBlock),
        "nobody came to the proxy"
    );
}
