//! The other routes, and what else may answer in a server's place.

mod listener;

use std::time::Duration;

use listener::{Cut, End, Listener, chunked, plain};
use wisp_ollama::{Client, Error, Host, KeepAlive, Refusal, Remedy, Timeouts};

async fn answering(pieces: Vec<Vec<u8>>) -> (Client, Listener) {
    let listener = Listener::with(pieces, End::Close).await;
    (listener.client(), listener)
}

async fn sent(listener: Listener) -> String {
    String::from_utf8(listener.exchange.await.expect("no panic")).expect("text")
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = free.local_addr().expect("bound").to_string();
    drop(free);
    let client = Client::new(Host::parse(&address).expect("an address")).expect("a client");
    let error = client.version().await.expect_err("nobody");
    assert_eq!(
        error.to_string(),
        format!("cannot reach an ollama server at http://{address}: connection refused")
    );
    assert!(error.hint().expect("a hint").contains("ollama serve"));
}

#[tokio::test]
async fn a_web_page_is_a_proxy_and_not_a_model() {
    for (status, remedy) in [
        (200, Remedy::Stop),
        (404, Remedy::Stop),
        (502, Remedy::Wait),
        (504, Remedy::Wait),
    ] {
        let page = "<html>\n<h1>504 Gateway Time-out</h1></html>";
        let (client, _listener) = answering(plain(status, "text/html", page)).await;
        let error = client.tags().await.expect_err("a page");
        assert!(
            matches!(&error, Error::NotOllama { status: told, .. } if *told == status),
            "{error:?}"
        );
        assert_eq!(error.remedy(), remedy, "{status}");
        assert!(error.to_string().contains("<html> <h1>504"), "{error}");
    }
}

#[tokio::test]
async fn a_403_without_a_word_is_the_host_header() {
    let (client, _listener) = answering(plain(403, "text/plain", "")).await;
    let error = client.version().await.expect_err("refused");
    assert_eq!(error.refusal(), Some(Refusal::HostRejected));
    assert!(error.hint().expect("a hint").contains("Host"));
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let pieces = vec![b"HTTP/1.1 301 Moved\r\nLocation: https://h/api\r\nContent-Length: 0\r\n\r\n".to_vec()];
    let (client, _listener) = answering(pieces).await;
    let error = client.show("m").await.expect_err("moved");
    assert!(
        matches!(&error, Error::Redirected { location, .. } if location == "https://h/api"),
        "{error:?}"
    );
}

#[tokio::test]
async fn signing_in_is_hinted_with_its_address() {
    let body = r#"{"error":"unauthorized","signin_url":"https://ollama.com/connect?x=1"}"#;
    let (client, _listener) = answering(plain(401, "application/json", body)).await;
    let error = client.show("m:cloud").await.expect_err("not signed in");
    assert_eq!(error.refusal(), Some(Refusal::SignIn));
    assert!(
        error
            .hint()
            .expect("a hint")
            .contains("https://ollama.com/connect?x=1")
    );
}

#[tokio::test]
async fn ps_does_not_wait_for_a_load() {
    let listener = Listener::with(vec![], End::Hold).await;
    let ps = Duration::from_millis(40);
    let client = listener.client_with(Timeouts {
        ps,
        ..Timeouts::default()
    });
    let error = client.ps().await.expect_err("blocked");
    assert!(
        matches!(error, Error::Silent { answering: false, after, .. } if after == ps),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_download_is_good_only_with_success() {
    let lines = concat!(
        "{\"status\":\"pulling manifest\"}\n",
        "{\"status\":\"pulling aa\",\"digest\":\"sha256:aa\",\"total\":100}\n",
        "{\"status\":\"pulling aa\",\"digest\":\"sha256:aa\",\"total\":100,\"completed\":70}\n",
        "{\"status\":\"pulling aa\",\"digest\":\"sha256:aa\",\"total\":100,\"completed\":30}\n",
    );
    let good = format!("{lines}{{\"status\":\"success\"}}\n");
    let (client, _listener) = answering(chunked(200, good.as_bytes(), Cut::Every(9))).await;
    let mut pull = client.pull("m").await.expect("begins");
    let mut last = String::new();
    while let Some(line) = pull.next().await {
        last = line.expect("no error").status;
    }
    assert_eq!(
        (
            last.as_str(),
            pull.progress().completed(),
            pull.progress().total()
        ),
        ("success", 70, 100)
    );

    let (client, _listener) = answering(chunked(200, lines.as_bytes(), Cut::Lines)).await;
    let mut pull = client.pull("m").await.expect("begins");
    let mut end = None;
    while let Some(line) = pull.next().await {
        end = Some(line);
    }
    let error = end.expect("lines").expect_err("unfinished");
    assert!(matches!(error, Error::PullUnfinished), "{error:?}");
    assert!(wisp_ollama::pull::can_resume(&error));
}

#[tokio::test]
async fn an_unknown_download_is_an_error_line_at_200() {
    let lines =
        "{\"status\":\"pulling manifest\"}\n{\"error\":\"pull model manifest: file does not exist\"}\n";
    let (client, _listener) = answering(chunked(200, lines.as_bytes(), Cut::Lines)).await;
    let mut pull = client.pull("m").await.expect("begins");
    assert!(pull.next().await.expect("a line").is_ok());
    let error = pull.next().await.expect("a line").expect_err("unknown");
    assert_eq!(error.refusal(), Some(Refusal::PullUnknown));
    assert!(pull.next().await.is_none());
}

#[tokio::test]
async fn removing_and_unloading_say_what_they_mean() {
    let (client, listener) = answering(plain(200, "application/json", "")).await;
    client.delete("m:x").await.expect("an empty 200 is success");
    let request = sent(listener).await;
    assert!(
        request.starts_with("DELETE /api/delete HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.ends_with(r#"{"model":"m:x"}"#), "{request}");

    let body = r#"{"message":{"role":"assistant","content":""},"done":true,"done_reason":"unload"}"#;
    let (client, listener) = answering(plain(200, "application/json", body)).await;
    client
        .load("m", None, Some(KeepAlive::Seconds(0)))
        .await
        .expect("unloaded");
    let request = sent(listener).await;
    assert!(
        request.ends_with(r#"{"model":"m","stream":true,"keep_alive":0,"messages":[]}"#),
        "{request}"
    );
}

#[tokio::test]
async fn an_error_body_without_end_is_cut() {
    let body = "x".repeat(2 << 20);
    let (client, _listener) = answering(plain(500, "text/plain", &body)).await;
    let error = client.version().await.expect_err("refused");
    assert!(
        matches!(&error, Error::NotOllama { status: 500, excerpt, .. } if excerpt.len() == 200),
        "{error:?}"
    );
}

/// The environment cannot be changed from within, so the test runs itself once more with a refusing proxy in it.
#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "the test starts itself again, and nothing else"
)]
fn a_proxy_in_the_environment_is_not_asked_for_this_machine() {
    let again = std::env::current_exe().expect("this test");
    let mut command = std::process::Command::new(again);
    command.args(["--exact", "removing_and_unloading_say_what_they_mean"]);
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "HTTPS_PROXY",
        "https_proxy",
    ] {
        command.env(name, "http://127.0.0.1:1");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = command.output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
