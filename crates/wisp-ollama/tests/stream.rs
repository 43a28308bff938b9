//! The chat stream against every way a transport can cut it, break it and fall silent.

mod listener;

use std::time::Duration;

use listener::{Cut, End, Listener, chunked, chunks, head};
use wisp_ollama::{ChatRequest, DoneReason, Error, Message, Refusal, Reply, Timeouts};

const REPLY: &str = concat!(
    r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"h\u003cm\u003e"},"done":false}"#,
    "\n",
    r#"{"model":"m","message":{"role":"assistant","content":"日本 \ud83c\udf89 é"},"done":false}"#,
    "\r\n\n",
    r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","function":{"index":0,"name":"one","arguments":{"path":"ü\n"}}},{"function":{"index":0,"name":"two","arguments":{}}}]},"done":false}"#,
    "\n",
    r#"{"model":"m","message":{"role":"assistant","content":"!","tool_calls":[{"function":{"name":"three","arguments":{"n":1}}}]},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":9}"#,
);

fn request() -> ChatRequest {
    ChatRequest::new("m", vec![Message::user("hi")])
}

async fn replied(pieces: Vec<Vec<u8>>) -> (Result<Reply, Error>, Reply) {
    replied_until(pieces, End::Close).await
}

async fn replied_until(pieces: Vec<Vec<u8>>, end: End) -> (Result<Reply, Error>, Reply) {
    let listener = Listener::with(pieces, end).await;
    let mut stream = match listener.client().chat(&request()).await {
        Ok(stream) => stream,
        Err(error) => return (Err(error), Reply::default()),
    };
    let result = stream.finish().await;
    assert!(stream.next().await.is_none(), "nothing follows an end");
    assert_eq!(
        stream.finish().await.is_ok(),
        result.is_ok(),
        "a reply stays what it was"
    );
    (result, stream.reply().clone())
}

#[tokio::test]
async fn no_cut_changes_the_reply() {
    let with_newline = format!("{REPLY}\n");
    for body in [REPLY, &with_newline] {
        for cut in [
            Cut::Lines,
            Cut::Whole,
            Cut::Every(1),
            Cut::Every(2),
            Cut::Every(3),
            Cut::Every(7),
            Cut::Every(64),
        ] {
            let (reply, _) = replied(chunked(200, body.as_bytes(), cut)).await;
            let reply = reply.unwrap_or_else(|error| panic!("{cut:?}: {error}"));
            assert_eq!(reply.content, "日本 🎉 é!", "{cut:?}");
            assert_eq!(reply.thinking, "h<m>", "{cut:?}");
            let names: Vec<_> = reply.tool_calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(names, ["one", "two", "three"], "{cut:?}");
            assert_eq!(reply.tool_calls[0].arguments["path"], "ü\n", "{cut:?}");
            let done = reply.done.expect("done");
            assert_eq!(
                (done.reason, done.metrics.prompt_tokens),
                (DoneReason::Stop, Some(7))
            );
        }
    }
}

#[tokio::test]
async fn a_line_of_four_mebibytes_is_one_line() {
    let text = "x".repeat(4 << 20);
    let body = format!(r#"{{"message":{{"content":"{text}"}},"done":true}}"#);
    let (reply, _) = replied(chunked(200, body.as_bytes(), Cut::Every(100_000))).await;
    assert_eq!(reply.expect("fits").content.len(), 4 << 20);
}

#[tokio::test]
async fn an_error_line_ends_the_stream_and_keeps_what_came() {
    for (line, refusal) in [
        (
            r#"{"error":"an error was encountered while running the model: unexpected EOF"}"#,
            Refusal::RunnerFailed,
        ),
        (
            r#"{"error parsing tool call":"raw='{\"a', err=unexpected end of JSON input"}"#,
            Refusal::ToolCallSyntax,
        ),
        (
            r#"{"error":"llama-server chat error: map[code:500 message:Jinja Exception: roles type:server_error]"}"#,
            Refusal::Template,
        ),
    ] {
        let body = format!("{{\"message\":{{\"content\":\"so far\"}},\"done\":false}}\n{line}\n");
        let (result, partial) = replied(chunked(200, body.as_bytes(), Cut::Every(5))).await;
        assert_eq!(result.expect_err("an error").refusal(), Some(refusal), "{line}");
        assert_eq!((partial.content.as_str(), partial.done), ("so far", None));
    }
}

#[tokio::test]
async fn an_overflow_is_the_same_whether_first_line_or_status() {
    let body = r#"{"error":"{\"error\":{\"code\":400,\"message\":\"request (9177 tokens) exceeds the available context size (4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9177,\"n_ctx\":4096}}"}"#;
    for status in [200, 400, 500] {
        let (result, _) = replied(chunked(status, body.as_bytes(), Cut::Whole)).await;
        let Err(Error::ContextOverflow {
            prompt_tokens,
            window,
            ..
        }) = result
        else {
            panic!("{status}: {result:?}");
        };
        assert_eq!((prompt_tokens, window), (Some(9177), Some(4096)));
    }
}

#[tokio::test]
async fn an_end_without_done_is_unfinished() {
    let line = "{\"message\":{\"content\":\"half\"},\"done\":false}\n";
    let (result, _) = replied(chunked(200, line.as_bytes(), Cut::Lines)).await;
    match result {
        Err(Error::Unfinished { partial }) => assert_eq!(partial.content, "half"),
        other => panic!("{other:?}"),
    }
    let (result, _) = replied(chunked(200, b"", Cut::Lines)).await;
    assert!(matches!(result, Err(Error::Unfinished { .. })), "{result:?}");
}

#[tokio::test]
async fn a_line_cut_at_the_end_is_unreadable_and_no_reply() {
    let body =
        b"{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":tr";
    let (result, partial) = replied(chunked(200, body, Cut::Whole)).await;
    assert!(matches!(result, Err(Error::Unreadable { .. })), "{result:?}");
    assert_eq!(partial.content, "a");
}

#[tokio::test]
async fn bytes_and_escapes_that_are_no_text_never_end_a_reply() {
    let body = b"{\"message\":{\"content\":\"a\xff\"},\"done\":false}\n\
                 {\"message\":{\"content\":\"b\\ud83c\"},\"done\":false}\n\
                 {\"message\":{\"content\":\"\\udf0ac\"},\"done\":true}\n";
    let (result, _) = replied(chunked(200, body, Cut::Whole)).await;
    let reply = result.expect("a whole reply");
    assert_eq!(reply.content, "a\u{fffd}b\u{fffd}\u{fffd}c");
}

#[tokio::test]
async fn a_connection_that_breaks_is_lost_wherever_it_breaks() {
    let line = b"{\"message\":{\"content\":\"half\"},\"done\":false}\n";
    let call =
        b"{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]},\"done\":false}\n";
    let ndjson = || head(200, "application/x-ndjson", "Transfer-Encoding: chunked");
    let mut cut_chunk = chunks(line, Cut::Whole).concat();
    cut_chunk.truncate(20);
    let places = [
        (vec![], "", 0),
        (vec![ndjson()], "", 0),
        (vec![ndjson(), cut_chunk], "", 0),
        (vec![ndjson(), chunks(line, Cut::Whole).concat()], "half", 0),
        (vec![ndjson(), chunks(call, Cut::Whole).concat()], "", 1),
    ];
    for (broken, kept, calls) in places {
        let (result, partial) = replied(broken.clone()).await;
        assert!(matches!(result, Err(Error::Lost { .. })), "{result:?}");
        assert_eq!(
            (partial.content.as_str(), partial.tool_calls.len()),
            (kept, calls)
        );
        // A reset may overtake what was sent before it, so what had arrived is not asserted.
        let (result, partial) = replied_until(broken, End::Reset).await;
        assert!(matches!(result, Err(Error::Lost { .. })), "{result:?}");
        assert!(partial.done.is_none());
    }
}

#[tokio::test]
async fn what_follows_done_is_not_read() {
    let body = "{\"message\":{\"content\":\"a\"},\"done\":true}\n{\"message\":{\"content\":\"b\"},\"done\":true}\nrubbish";
    let (reply, _) = replied(chunked(200, body.as_bytes(), Cut::Whole)).await;
    assert_eq!(reply.expect("a reply").content, "a");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_at_once() {
    let line = b"{\"message\":{\"content\":\"a\"},\"done\":false}\n";
    let mut pieces = vec![head(200, "application/x-ndjson", "Transfer-Encoding: chunked")];
    pieces.extend(chunks(line, Cut::Whole));
    let listener = Listener::with(pieces, End::Hold).await;
    let mut stream = listener.client().chat(&request()).await.expect("begins");
    assert_eq!(stream.next().await.expect("a line").expect("good").content, "a");
    drop(stream);
    tokio::time::timeout(Duration::from_secs(1), listener.exchange)
        .await
        .expect("closed within a second")
        .expect("no panic");
}

#[tokio::test]
async fn giving_up_before_the_answer_closes_the_connection_too() {
    let listener = Listener::with(vec![], End::Hold).await;
    let client = listener.client();
    let asked = request();
    tokio::select! {
        answer = client.chat(&asked) => panic!("{answer:?}"),
        saw = listener.asked => saw.expect("the request was read"),
    }
    tokio::time::timeout(Duration::from_secs(1), listener.exchange)
        .await
        .expect("closed within a second")
        .expect("no panic");
}

#[tokio::test]
async fn silence_is_bounded_before_and_within_a_reply() {
    let short = Some(Duration::from_millis(40));
    let listener = Listener::with(vec![], End::Hold).await;
    let client = listener.client_with(Timeouts {
        first_byte: short,
        ..Timeouts::default()
    });
    let error = client.chat(&request()).await.expect_err("silent");
    assert!(
        matches!(error, Error::Silent { answering: false, .. }),
        "{error:?}"
    );

    let line = b"{\"message\":{\"content\":\"a\"},\"done\":false}\n";
    let mut pieces = vec![head(200, "application/x-ndjson", "Transfer-Encoding: chunked")];
    pieces.extend(chunks(line, Cut::Whole));
    // One write, so that a busy machine cannot put a pause of its own between the head and the line.
    let listener = Listener::with(vec![pieces.concat()], End::Hold).await;
    let client = listener.client_with(Timeouts {
        idle: short,
        ..Timeouts::default()
    });
    let mut stream = client.chat(&request()).await.expect("begins");
    let error = stream.finish().await.expect_err("silent");
    assert!(
        matches!(error, Error::Silent { answering: true, .. }),
        "{error:?}"
    );
    assert_eq!(stream.reply().content, "a");
}

/// A server that answers with a head, and then the same bytes over and over, a few milliseconds apart.
async fn endless(bytes: &'static [u8]) -> (wisp_ollama::Host, tokio::task::JoinHandle<()>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a free port");
    let host = wisp_ollama::Host::parse(&listener.local_addr().expect("bound").to_string()).expect("a host");
    let task = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        let _ = socket.read(&mut [0; 4096]).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n";
        let mut sent = socket.write_all(head).await;
        while sent.is_ok() {
            sent = socket.write_all(bytes).await;
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    });
    (host, task)
}

#[tokio::test]
async fn bytes_that_end_no_line_do_not_keep_a_reply_alive() {
    for bytes in [&b" "[..], b"\n"] {
        let (host, server) = endless(bytes).await;
        let timeouts = Timeouts {
            idle: Some(Duration::from_millis(60)),
            ..Timeouts::default()
        };
        let client = wisp_ollama::Client::with_timeouts(host, timeouts).expect("a client");
        let mut stream = client.chat(&request()).await.expect("begins");
        let error = stream.finish().await.expect_err("trickles");
        assert!(matches!(error, Error::Trickling { .. }), "{error:?}");
        drop(stream);
        server.abort();
    }
}

#[tokio::test]
async fn a_reply_that_never_ends_is_given_up_with_what_arrived() {
    let (host, server) = endless(b"{\"message\":{\"content\":\"a\"},\"done\":false}\n").await;
    let timeouts = Timeouts {
        total: Some(Duration::from_millis(80)),
        ..Timeouts::default()
    };
    let client = wisp_ollama::Client::with_timeouts(host, timeouts).expect("a client");
    let mut stream = client.chat(&request()).await.expect("begins");
    let error = stream.finish().await.expect_err("endless");
    assert!(matches!(error, Error::Endless { .. }), "{error:?}");
    assert!(stream.reply().content.starts_with('a'), "{:?}", stream.reply());
    drop(stream);
    server.abort();
}

#[tokio::test]
async fn a_pending_line_may_be_given_up_and_asked_for_again() {
    let line = b"{\"message\":{\"content\":\"abc\"},\"done\":true}\n";
    let listener = Listener::with(chunked(200, line, Cut::Every(1)), End::Close).await;
    let mut stream = listener.client().chat(&request()).await.expect("begins");
    loop {
        // Gives every wait up at its first pause, in the middle of the line.
        let pending = std::pin::pin!(stream.next());
        tokio::select! {
            biased;
            line = pending => {
                assert_eq!(line.expect("a line").expect("good").content, "abc");
                break;
            }
            () = tokio::task::yield_now() => {}
        }
    }
}

#[tokio::test]
async fn the_request_is_the_body_and_nothing_else() {
    let listener = Listener::with(chunked(200, b"{\"done\":true}\n", Cut::Whole), End::Close).await;
    let client = listener.client().with_api_key("secret");
    client
        .chat(&request())
        .await
        .expect("begins")
        .finish()
        .await
        .expect("done");
    let sent = String::from_utf8(listener.exchange.await.expect("no panic")).expect("text");
    let (head, body) = sent.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("POST /api/chat HTTP/1.1\r\n"), "{head}");
    assert_eq!(body.as_bytes(), request().body());
    assert!(
        !head.to_lowercase().contains("authorization"),
        "the key is not for this host: {head}"
    );
}
