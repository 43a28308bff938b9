//! The ways a stream is cut, broken off, spoiled and ended.

#![allow(clippy::unwrap_used, reason = "test code outside a test function")]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::{Response, ask, chat, send, tool};
use ollama_sim::{
    Chunker, Config, CutAt, Dressing, End, Ended, Event, Loss, Model, Parser, Profile, Reply, Script, Server,
    Step, profile,
};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);
const TEXT: &str = "Grüße an 漢字 & <think> 🐟 — “ok”\n";

fn serve(reply: Reply, profile: Profile) -> Server {
    Server::start(Config::new(Script::new().reply(reply)).profile(profile)).expect("a port is free")
}

fn hi(more: Value) -> Value {
    ask("sim", "Say hi.", more)
}

fn once(reply: Reply) -> Response {
    chat(&serve(reply, profile::V0_24_0), &hi(json!({})))
}

#[test]
fn every_chunker_and_dressing_carries_the_same_text() {
    let dressings = [Dressing::Plain, Dressing::CrlfAndBlanks, Dressing::NoLastNewline];
    for chunker in Chunker::ALL {
        for dressing in dressings {
            let script = Script::new().reply(Reply::text(TEXT));
            let server = Server::start(Config::new(script).chunker(chunker).dressing(dressing)).unwrap();
            let response = chat(&server, &hi(json!({})));
            assert_eq!(response.content(), TEXT, "{chunker:?} {dressing:?}");
            assert_eq!(response.last()["done"], true);
            assert!(response.complete);
        }
    }
}

#[test]
fn chunkers_cut_where_they_say() {
    let with = |chunker| {
        let script = Script::new().reply(Reply::text(TEXT));
        chat(
            &Server::start(Config::new(script).chunker(chunker)).unwrap(),
            &hi(json!({})),
        )
        .chunks
    };
    assert!(with(Chunker::Bytes(1)).iter().all(|c| c.len() == 1));
    assert!(with(Chunker::Line).iter().all(|c| c.ends_with(b"\n")));
    assert!(with(Chunker::Lines(1000)).len() == 1);
    let inside = with(Chunker::InsideCharacters);
    assert!(inside.iter().any(|c| std::str::from_utf8(c).is_err()));
    assert!(inside.iter().any(|c| c.ends_with(b"\\u")));
}

#[test]
fn the_last_line_may_lack_its_newline() {
    let script = Script::new().reply(Reply::text("x"));
    let server = Server::start(Config::new(script).dressing(Dressing::NoLastNewline)).unwrap();
    assert!(chat(&server, &hi(json!({}))).body.ends_with(b"}"));
}

#[test]
fn a_connection_is_lost_at_the_very_byte() {
    let whole = once(Reply::text("one two three"));
    let line = whole.body.iter().position(|b| *b == b'\n').unwrap() + 1;
    let table = [
        (CutAt::BeforeHeaders, 0),
        (CutAt::AfterHeaders, 0),
        (CutAt::Byte(1), 1),
        (CutAt::Byte(line), line),
        (CutAt::Byte(line + 1), line + 1),
        (CutAt::Line(1), line),
        (CutAt::MidLine(0), line / 2),
    ];
    for (at, bytes) in table {
        for how in [Loss::Fin, Loss::Reset] {
            let server = serve(Reply::text("one two three").cut(at, how), profile::V0_24_0);
            let response = chat(&server, &hi(json!({})));
            assert!(!response.complete, "{at:?} {how:?}");
            if how == Loss::Fin {
                // A reset may take with it what was not read yet.
                assert_eq!(response.body.len(), bytes, "{at:?}");
                assert_eq!(response.raw.is_empty(), at == CutAt::BeforeHeaders);
            }
            assert!(server.wait_until(PATIENCE, |r| r[0].ended == Ended::Lost));
        }
    }
}

#[test]
fn a_stall_lasts_until_the_client_goes_and_is_counted() {
    let reply = Reply::text("one").event(Event::Stall);
    let server = serve(reply, profile::V0_24_0);
    let mut stream = send(
        &server,
        "POST",
        "/api/chat",
        &[],
        hi(json!({})).to_string().as_bytes(),
    );
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    assert_eq!(server.requests()[0].ended, Ended::Open);
    drop(stream);
    assert!(server.wait_until(PATIENCE, |r| r[0].ended == Ended::ClientLeft));
    assert_eq!(server.counters().left_reply, 1);
}

#[test]
fn an_error_before_the_first_line_has_the_status_of_its_era() {
    let table = [
        (profile::V0_5_7, 200, "application/x-ndjson"),
        (profile::V0_11_4, 200, "application/x-ndjson"),
        (profile::V0_12_6, 500, "application/json"),
        (profile::V0_32_15, 500, "application/json"),
    ];
    for (profile, status, kind) in table {
        let response = chat(&serve(Reply::new().error("CUDA error"), profile), &hi(json!({})));
        assert_eq!(
            (response.status, response.header("content-type")),
            (status, Some(kind)),
            "{profile:?}"
        );
        assert_eq!(response.error(), "CUDA error");
        let whole = chat(
            &serve(Reply::new().error("CUDA error"), profile),
            &hi(json!({"stream": false})),
        );
        assert_eq!((whole.status, whole.error().as_str()), (500, "CUDA error"));
    }
}

#[test]
fn an_error_in_the_middle_is_a_last_line() {
    let response = once(Reply::text("one").error("unexpected EOF"));
    assert_eq!((response.status, response.complete), (200, true));
    assert_eq!(response.last(), json!({"error": "unexpected EOF"}));
    let odd = Event::ErrorKey {
        key: "error parsing tool call".into(),
        text: "raw='x'".into(),
    };
    assert_eq!(
        once(Reply::text("one").event(odd)).last(),
        json!({"error parsing tool call": "raw='x'"})
    );
}

#[test]
fn a_crash_has_its_two_texts_and_the_next_request_loads_again() {
    let script = Script::new()
        .reply(Reply::new().event(Event::Crash))
        .reply(Reply::text("one").event(Event::Crash))
        .reply(Reply::text("two"));
    let server = Server::scripted(script).unwrap();
    let before = chat(&server, &hi(json!({})));
    assert_eq!(before.status, 500);
    assert!(
        before
            .error()
            .starts_with("model runner has unexpectedly stopped")
    );
    let during = chat(&server, &hi(json!({})));
    assert_eq!(
        during.error(),
        "an error was encountered while running the model: unexpected EOF"
    );
    assert_eq!(chat(&server, &hi(json!({}))).content(), "two");
    assert_eq!(server.counters().loads, 3);
    assert_eq!(server.chats()[2].chat.as_ref().unwrap().cached_tokens, 0);
}

#[test]
fn ends_that_are_not_quite_ends() {
    let eof = once(Reply::text("one").event(Event::EofWithoutDone));
    assert!(eof.complete);
    assert_eq!(eof.last()["done"], false);
    assert!(
        once(Reply::text("one").ending(End::NoReason))
            .last()
            .get("done_reason")
            .is_none()
    );
    let twice = once(Reply::text("one").ending(End::DoneTwice));
    assert_eq!(twice.lines().iter().filter(|l| l["done"] == true).count(), 2);
    let after = once(Reply {
        after_done: "garbage\n".into(),
        ..Reply::text("one")
    });
    assert!(after.text().ends_with("garbage\n"));
    let equal = once(Reply::text(&" a".repeat(50)));
    assert_eq!(equal.lines().len(), 31);
    assert_eq!(
        (equal.last()["done"].clone(), equal.complete),
        (json!(false), true)
    );
}

#[test]
fn others_may_answer_instead() {
    let proxy = once(Reply::foreign(502, Some("text/html"), "<html>Bad Gateway</html>"));
    assert_eq!(
        (proxy.status, proxy.header("content-type")),
        (502, Some("text/html"))
    );
    let empty = once(Reply::foreign(403, None, ""));
    assert_eq!(
        (empty.status, empty.body.len(), empty.header("content-type")),
        (403, 0, None)
    );
}

#[test]
fn calls_look_as_their_release_makes_them() {
    let table = [
        (profile::V0_5_7, None, false, false),
        (profile::V0_11_4, None, false, false),
        (profile::V0_12_6, None, true, false),
        (profile::V0_24_0, Some("call_"), true, false),
        (profile::V0_32_15_NATIVE, Some(""), true, true),
    ];
    for (profile, id, index, on_last_line) in table {
        let reply = Reply::text("text").and_call("run", json!({"b": 1, "a": 2}));
        let server = serve(reply, profile);
        let response = chat(&server, &hi(json!({"tools": [tool("run", "a")]})));
        let call = &response.calls()[0];
        match id {
            None => assert_eq!(call.get("id"), None, "{profile:?}"),
            Some(prefix) => {
                let id = call["id"].as_str().unwrap();
                assert!(
                    id.starts_with(prefix) && id.len() == if prefix.is_empty() { 32 } else { 13 },
                    "{id}"
                );
            }
        }
        assert_eq!(call["function"].get("index").is_some(), index, "{profile:?}");
        assert_eq!(
            response.last()["message"].get("tool_calls").is_some(),
            on_last_line,
            "{profile:?}"
        );
        let keys: Vec<_> = call["function"]["arguments"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        assert_eq!(
            keys,
            if profile.ordered_arguments {
                ["b", "a"]
            } else {
                ["a", "b"]
            }
        );
        // The oldest holds the text back, and drops it once a call was read.
        assert_eq!(
            response.content(),
            if profile.holds_text_with_tools { "" } else { "text" }
        );
    }
}

#[test]
fn what_a_model_writes_goes_through_its_parser() {
    let with = |parser: Parser, text: &str| {
        let script = Script::new().reply(Reply::text("so ").event(Event::Raw(text.to_owned())));
        let models = [Model::new("sim").with_parser(parser)];
        let server = Server::start(Config::new(script).models(models)).unwrap();
        chat(&server, &hi(json!({"tools": [tool("run", "a")]})))
    };
    let good = r#"<tool_call>{"name": "run", "arguments": {"a": "x"}}</tool_call>"#;
    assert_eq!(with(Parser::Generic, good).calls().len(), 1);
    let unknown = good.replace("run", "walk");
    let swallowed = with(Parser::Generic, &unknown);
    assert_eq!(
        (swallowed.calls().len(), swallowed.content().as_str()),
        (0, "so ")
    );
    assert_eq!(with(Parser::Xml, &unknown).calls()[0]["function"]["name"], "walk");
    let broken = r#"<tool_call>{"name": "run", "arguments": {"a": </tool_call>"#;
    assert_eq!(with(Parser::Generic, broken).last()["done_reason"], "stop");
    assert!(
        with(Parser::Xml, broken)
            .error()
            .starts_with("XML syntax error on line 1: ")
    );
    let harmony = with(Parser::Harmony, broken);
    assert!(
        harmony.error().starts_with("error parsing tool call: raw='"),
        "{}",
        harmony.error()
    );
    let bare = r#"{"name": "run", "arguments": {"a": "x"}}"#;
    assert_eq!(with(Parser::Generic, bare).content(), format!("so {bare}"));
}

#[test]
fn a_call_that_does_not_fit_is_lost() {
    let reply =
        Reply::text("one").and_call("run", json!({"command": "a long command that is never finished"}));
    let server = serve(reply, profile::V0_24_0);
    let body = hi(json!({"tools": [tool("run", "command")], "options": {"num_predict": 6}}));
    let response = chat(&server, &body);
    assert_eq!(
        (response.calls().len(), response.last()["done_reason"].clone()),
        (0, json!("length"))
    );
    assert_eq!(response.last()["eval_count"], 6);
}

#[test]
fn a_connection_serves_many_requests_unless_it_is_dropped_idle() {
    let request = |stream: &mut TcpStream| {
        stream
            .write_all(b"GET /api/version HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        let mut byte = [0; 1];
        while !answer.ends_with(b"}") && matches!(stream.read(&mut byte), Ok(1)) {
            answer.push(byte[0]);
        }
        answer.ends_with(b"}")
    };
    let connect = |server: &Server| {
        let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let server = Server::start(Config::default()).unwrap();
    let mut stream = connect(&server);
    assert!(request(&mut stream) && request(&mut stream));
    assert!(server.requests().iter().all(|r| r.connection == 0));
    let dropping = Server::start(Config {
        closes_idle: true,
        ..Config::default()
    })
    .unwrap();
    let mut stream = connect(&dropping);
    assert!(request(&mut stream));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty(), "closed without a word");
}

#[test]
fn a_chunked_request_is_read() {
    let server = serve(Reply::text("yes"), profile::V0_24_0);
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let body = hi(json!({})).to_string();
    let (a, b) = body.split_at(20);
    write!(
        stream,
        "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
         {:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n",
        a.len(),
        b.len()
    )
    .unwrap();
    assert_eq!(common::receive(stream).content(), "yes");
}

#[test]
fn a_line_of_four_mebibytes_is_one_line() {
    let file = "0123456789abcde\n".repeat(4 * 1024 * 1024 / 16);
    let script = Script::new().reply(Reply::call("write", json!({ "content": file })));
    let models = [Model::new("sim").with_context_length(1 << 20)];
    let config = Config::new(script).models(models).chunker(Chunker::Bytes(1000));
    let server = Server::start(config).unwrap();
    let body = hi(json!({"tools": [tool("write", "content")], "options": {"num_ctx": 1 << 20}}));
    let response = chat(&server, &body);
    assert_eq!(
        response.calls()[0]["function"]["arguments"]["content"]
            .as_str()
            .map(str::len),
        Some(file.len())
    );
    assert!(
        response
            .text()
            .lines()
            .next()
            .is_some_and(|line| line.len() > 4 * 1024 * 1024)
    );
}

#[test]
fn after_an_unreadable_call_the_same_request_hangs_until_it_is_changed() {
    let broken = "text <tool_call>{\"name\": </tool_call>";
    for profile in [profile::V0_24_0, profile::V0_32_15] {
        let script = Script::new()
            .reply(Reply::new().event(Event::Raw(broken.to_owned())))
            .step(Step::new(Reply::text("better")).repeated());
        let models = [Model::new("sim").with_parser(Parser::Xml)];
        let server = Server::start(Config::new(script).profile(profile).models(models)).unwrap();
        let body = hi(json!({"tools": [tool("run", "a")]}));
        assert!(chat(&server, &body).error().starts_with("XML syntax error"));
        let again = send(&server, "POST", "/api/chat", &[], body.to_string().as_bytes());
        if profile.wedges {
            assert!(server.wait_until(PATIENCE, |r| r.len() == 2 && r[1].chat.is_some()));
            assert_eq!(server.requests()[1].status, None);
            drop(again);
            assert!(server.wait_until(PATIENCE, |r| r[1].ended == Ended::ClientLeft));
        } else {
            assert_eq!(common::receive(again).content(), "better");
        }
        let changed = hi(json!({"tools": [tool("run", "a")], "options": {"seed": 2}}));
        assert_eq!(chat(&server, &changed).content(), "better");
    }
}

#[test]
fn a_format_leaves_no_room_for_a_call() {
    let server = serve(
        Reply::text("{}").and_call("run", json!({"a": 1})),
        profile::V0_24_0,
    );
    let response = chat(
        &server,
        &hi(json!({"tools": [tool("run", "a")], "format": {"type": "object"}})),
    );
    assert_eq!((response.calls().len(), response.content().as_str()), (0, "{}"));
}

#[test]
fn nobody_may_write_a_success_by_hand() {
    let page = once(Reply::foreign(200, Some("text/html"), "<html>Sign in</html>"));
    assert_eq!((page.status, page.text().as_str()), (200, "<html>Sign in</html>"));
    let server = serve(
        Reply::foreign(200, Some("application/json"), "{}"),
        profile::V0_24_0,
    );
    assert_eq!(chat(&server, &hi(json!({}))).status, 500);
    assert!(
        server
            .finish()
            .unwrap_err()
            .to_string()
            .contains("status of a success")
    );
}
