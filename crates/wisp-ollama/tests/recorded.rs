//! Real servers' answers, recorded from 0.11.4, 0.24.0 and both paths of 0.32.15, played back as they were.

mod listener;

use listener::{Cut, End, Listener, chunked, plain};
use serde::Deserialize;
use wisp_ollama::{ChatRequest, DoneReason, Era, Error, Message, Refusal, Reply, ServerVersion};

const SERVERS: [(&str, &str); 4] = [
    ("0.11.4", include_str!("data/0.11.4.jsonl")),
    ("0.24.0", include_str!("data/0.24.0.jsonl")),
    ("0.32.15 rendered", include_str!("data/0.32.15-rendered.jsonl")),
    ("0.32.15 native", include_str!("data/0.32.15-native.jsonl")),
];

#[derive(Deserialize)]
struct Recording {
    probe: String,
    status: u16,
    content_type: Option<String>,
    chunked: bool,
    body: String,
}

fn recording(data: &str, probe: &str) -> Recording {
    let mut all = data
        .lines()
        .map(|line| serde_json::from_str::<Recording>(line).expect("a recording"));
    all.find(|recording| recording.probe == probe).expect(probe)
}

async fn playing(data: &str, probe: &str) -> Listener {
    let recording = recording(data, probe);
    let kind = recording.content_type.unwrap_or_default();
    let pieces = if recording.chunked {
        chunked(recording.status, recording.body.as_bytes(), Cut::Every(11))
    } else {
        plain(recording.status, &kind, &recording.body)
    };
    Listener::with(pieces, End::Close).await
}

async fn chat(data: &str, probe: &str) -> Result<Reply, Error> {
    let listener = playing(data, probe).await;
    let request = ChatRequest::new("m", vec![Message::user("hi")]);
    listener.client().chat(&request).await?.finish().await
}

#[tokio::test]
async fn replies_end_with_counts() {
    for (server, data) in SERVERS {
        for probe in ["stream-plain", "stream-unicode", "nonstream-plain"] {
            let reply = chat(data, probe)
                .await
                .unwrap_or_else(|e| panic!("{server} {probe}: {e}"));
            let done = reply.done.expect("done");
            assert!(!reply.content.is_empty(), "{server} {probe}");
            assert!(done.metrics.prompt_tokens > Some(0) && done.metrics.reply_tokens > Some(0));
            assert!(done.metrics.total > done.metrics.load, "{server} {probe}");
        }
        let loaded = chat(data, "messages-empty").await.expect(server);
        assert_eq!(loaded.done.expect("done").reason, DoneReason::Load, "{server}");
        let unloaded = chat(data, "unload-first").await.expect(server);
        assert_eq!(
            unloaded.done.expect("done").reason,
            DoneReason::Unload,
            "{server}"
        );
    }
}

#[tokio::test]
async fn calls_arrive_whole_whichever_line_they_are_on() {
    for (server, data) in SERVERS {
        let reply = chat(data, "parrot-call").await.expect(server);
        let call = reply
            .tool_calls
            .first()
            .unwrap_or_else(|| panic!("{server}: no call"));
        assert_eq!(call.name, "list_dir", "{server}");
        assert_eq!(call.arguments["path"], "src", "{server}");
        assert_eq!(call.id.is_some(), server != "0.11.4", "{server}");
        assert_eq!(reply.done.expect("done").reason, DoneReason::Stop, "{server}");
    }
}

#[tokio::test]
async fn a_swallowed_call_is_an_empty_reply() {
    let (server, data) = SERVERS[0];
    let reply = chat(data, "parrot-unknown-tool").await.expect(server);
    assert!(reply.is_empty());
    assert_eq!(reply.done.expect("done").metrics.reply_tokens, Some(33));
}

#[tokio::test]
async fn thinking_is_taken_where_the_path_declares_it() {
    for (server, data) in SERVERS {
        let native = server == "0.32.15 native";
        match chat(data, "think-true").await {
            Ok(reply) => assert!(!native && !reply.content.contains("<think>"), "{server}"),
            Err(error) => assert!(
                native && error.refusal() == Some(Refusal::NoThinking),
                "{server}: {error}"
            ),
        }
    }
}

#[tokio::test]
async fn a_repeating_model_leaves_an_unfinished_reply() {
    for (server, data) in SERVERS.iter().take(3) {
        let Err(Error::Unfinished { partial }) = chat(data, "repeat-abort").await else {
            panic!("{server}: finished");
        };
        assert!(!partial.content.is_empty() && partial.done.is_none(), "{server}");
    }
}

#[tokio::test]
async fn refusals_are_recognised_on_every_server() {
    let rows = [
        ("chat-unknown-model", Refusal::ModelNotFound),
        ("chat-tools-unsupported", Refusal::NoTools),
        ("chat-think-unsupported", Refusal::NoThinking),
        ("chat-think-bogus", Refusal::ThinkValue),
        ("chat-think-number", Refusal::ThinkValue),
        ("chat-content-array", Refusal::Malformed),
        ("chat-args-string", Refusal::Malformed),
        ("keep-alive-\"-1\"", Refusal::Malformed),
        ("option-bad-type", Refusal::OptionType),
        ("format-bad", Refusal::Format),
        ("format-badschema", Refusal::Format),
        ("show-missing", Refusal::ModelNotFound),
        ("show-badname", Refusal::ModelName),
        ("delete-missing", Refusal::ModelNotFound),
        ("bad-host-header", Refusal::HostRejected),
        ("unknown-route", Refusal::NoRoute),
        ("wrong-method", Refusal::NoRoute),
    ];
    for (server, data) in SERVERS {
        for (probe, refusal) in rows {
            let error = chat(data, probe).await.expect_err(probe);
            assert_eq!(error.refusal(), Some(refusal), "{server} {probe}: {error}");
        }
    }
}

#[tokio::test]
async fn an_overflow_is_one_error_on_every_server_that_reports_it() {
    for (server, data) in SERVERS.iter().skip(1) {
        let Err(Error::ContextOverflow {
            prompt_tokens,
            window,
            ..
        }) = chat(data, "history-over-256-truncate-false").await
        else {
            panic!("{server}: no overflow");
        };
        let told = if *server == "0.24.0" {
            (None, None)
        } else {
            (Some(1366), Some(256))
        };
        assert_eq!((prompt_tokens, window), told, "{server}");
    }
    for (server, data) in SERVERS.iter().skip(2) {
        let error = chat(data, "single-over-256-shift-false").await.expect_err(server);
        assert!(
            matches!(error, Error::ContextOverflow { .. }),
            "{server}: {error:?}"
        );
    }
}

#[tokio::test]
async fn the_other_routes_are_read() {
    for (server, data) in SERVERS {
        let tags = playing(data, "tags").await.client().tags().await.expect(server);
        let plain = tags
            .iter()
            .find(|model| model.name == "smollm2:135m")
            .expect(server);
        assert!(
            plain.size > Some(90_000_000) && plain.digest.len() == 64,
            "{server}"
        );
        assert_eq!(
            plain.capabilities.is_some(),
            server.starts_with("0.32"),
            "{server}"
        );

        let ps = playing(data, "ps-default")
            .await
            .client()
            .ps()
            .await
            .expect(server);
        assert_eq!(
            (ps[0].context_length, ps[0].gpu_percent()),
            (Some(4096), Some(0)),
            "{server}"
        );
        let huge = playing(data, "ps-huge").await.client().ps().await.expect(server);
        let told = if server == "0.11.4" { 1_000_000 } else { 8192 };
        assert_eq!(huge[0].context_length, Some(told), "{server}");

        let show = playing(data, "show-derived")
            .await
            .client()
            .show("m")
            .await
            .expect(server);
        assert_eq!(
            (show.trained_window(), show.own_window()),
            (Some(8192), Some(1_048_576)),
            "{server}"
        );
        assert_eq!(
            (show.can("completion"), show.can("tools")),
            (Some(true), Some(false)),
            "{server}"
        );
    }
}

#[tokio::test]
async fn versions_are_read() {
    for ((server, data), era) in SERVERS.iter().zip([Era::E4, Era::E3, Era::E4, Era::E4]) {
        let version = playing(data, "version")
            .await
            .client()
            .version()
            .await
            .expect(server);
        assert_eq!(version.era(), era, "{server} says {version}");
    }
    assert!(
        !ServerVersion::parse("0.0.0").is_known(),
        "a source build says nothing"
    );
}

#[tokio::test]
async fn the_rendered_prompt_comes_where_it_is_known() {
    let request = ChatRequest::new("m", vec![Message::user("hi")]);
    for (server, data) in SERVERS {
        let rendered = playing(data, "debug-render")
            .await
            .client()
            .render(&request)
            .await
            .expect(server);
        assert_eq!(rendered.is_some(), server != "0.11.4", "{server}");
    }
}

#[tokio::test]
async fn a_download_that_cannot_begin_says_so() {
    for (server, data) in SERVERS {
        let mut pull = playing(data, "pull-unreachable")
            .await
            .client()
            .pull("m")
            .await
            .expect(server);
        assert_eq!(
            pull.next().await.expect("a line").expect(server).status,
            "pulling manifest"
        );
        let error = pull.next().await.expect("a line").expect_err(server);
        assert_eq!(error.refusal(), Some(Refusal::PullBroken), "{server}");
    }
}

#[tokio::test]
async fn whether_remote_models_are_off_is_told_where_it_is_known() {
    for (server, data) in SERVERS {
        let listener = playing(data, "status-route").await;
        let off = listener.client().cloud_disabled().await.expect(server);
        assert_eq!(off, (server != "0.11.4").then_some(false), "{server}");
    }
}
