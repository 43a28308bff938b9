//! What is recorded of requests and replies: pressure before each request, also one beside the conversation, and a reply
//! that grew past the window.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::Stage;
use ollama_sim::profile::{V0_5_7, V0_24_0, V0_32_15};
use ollama_sim::{Capability, Config, Model, Profile, Reply, Seen};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wisp_agent::protocol::{Command, Event, NoteLevel};

fn stage(profile: Profile, window: u64, rule: impl FnMut(&Seen) -> Reply + Send + 'static) -> Stage {
    let model = Model::new("sim").with_context_length(131_072);
    let config = Config::new(rule).models([model]).profile(profile);
    let settings = json!({
        "ollama": {"contextLength": window}, "approval": {"threshold": "never"}, "context": {"memory": "on"},
        "tools": {"disabled": ["edit_file", "current_date", "ask", "system_info", "inspect", "notify", "read_file"]},
    });
    Stage::new(config, &settings)
}

/// Runs what is said, then asks a question of all of what that printed.
fn asks_about_output(seen: &Seen) -> Reply {
    let last = seen.last().unwrap();
    if last.content.starts_with("Question:") {
        return Reply::text("nothing here");
    }
    if last.role == "user" {
        let command = last.content.trim_start_matches("run: ");
        return Reply::call("run_command", json!({ "command": command }));
    }
    match last.content.split_once("condense output ") {
        Some((_, rest)) => {
            let id: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
            let request = format!("condense output {id}: what is the last number?");
            Reply::call("memory", json!({ "request": request }))
        }
        None => Reply::text("that is all"),
    }
}

/// The events of pressure and of requests, in order: the pressure's phase, and a request's purpose if it has one.
fn sent(stage: &Stage) -> Vec<(String, Value)> {
    let mut events = stage.audit();
    events.retain(|e| e["kind"] == "context.pressure" || e["kind"] == "model.request");
    let of = |e: &Value| {
        let kind = e["kind"].as_str().unwrap();
        let what = if kind == "model.request" {
            "purpose"
        } else {
            "phase"
        };
        (kind.to_owned(), e["details"][what].clone())
    };
    events.iter().map(of).collect()
}

#[tokio::test]
async fn each_request_beside_the_conversation_is_measured_too() {
    let stage = stage(V0_24_0, 8192, asks_about_output);
    let mut chat = stage.chat().await;
    chat.say("run: seq 1 3000").await;
    let events = sent(&stage);
    let pairs: Vec<_> = events.chunks(2).collect();
    let mut asides = 0;
    for pair in pairs {
        assert_eq!(
            (pair[0].0.as_str(), pair[1].0.as_str()),
            ("context.pressure", "model.request")
        );
        let aside = pair[0].1 == "aside";
        assert_eq!(aside, pair[1].1.is_string(), "{pair:?}");
        asides += usize::from(aside);
    }
    assert!(asides >= 3, "{events:?}");
    let pressures = stage.audited("context.pressure");
    let aside = pressures
        .iter()
        .find(|e| e["details"]["phase"] == "aside")
        .unwrap();
    let details = &aside["details"];
    assert_eq!(
        (
            &details["window"],
            &details["fits"],
            &details["action"],
            &details["budget"]
        ),
        (&json!(8192), &json!(true), &json!("send"), &json!(6963))
    );
    assert!(
        aside["call"].is_string(),
        "it belongs to the call it was made for"
    );
}

/// A part of an output may have more tokens than a small window: on a server that would cut it without a word it is said,
/// not sent.
#[tokio::test]
async fn a_question_that_does_not_fit_is_not_sent() {
    let stage = stage(V0_5_7, 4096, asks_about_output);
    let mut chat = stage.chat().await;
    let words = "yes 'the lamp was lit at dusk again' | head -n";
    chat.say(&format!(
        "run: {words} 120; seq -s '' 1 4000 | fold -w 60; {words} 120"
    ))
    .await;
    let mut asides = stage.audited("context.pressure");
    asides.retain(|e| e["details"]["phase"] == "aside");
    let actions: Vec<_> = asides
        .iter()
        .map(|e| e["details"]["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["send", "refuse"]);
    let results = stage.audited("tool.result");
    let said = results.last().unwrap()["details"]["output"].as_str().unwrap();
    assert!(said.contains("do not fit the model's window of 4,096"), "{said}");
    assert!(stage.accounts().iter().all(|account| !account.was_cut()));
}

/// A server whose replies are longer than they were allowed to be: in between, every digit of `eval_count` is made a nine.
async fn boasting(port: u16) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(passed_on(client, port));
        }
    });
    own
}

async fn passed_on(mut client: TcpStream, port: u16) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        let mut block = [0; 4096];
        match client.read(&mut block).await {
            Ok(count) if count > 0 => request.extend(&block[..count]),
            _ => return,
        }
    }
    let request = String::from_utf8(request).unwrap();
    let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    server.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    server.read_to_string(&mut answer).await.unwrap();
    let (before, after) = answer.split_once("\"eval_count\":").unwrap_or((&answer, ""));
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let more = if after.is_empty() { "" } else { "\"eval_count\":" };
    let text = format!("{before}{more}{}{}", "9".repeat(digits), &after[digits..]);
    let _ = client.write_all(text.as_bytes()).await;
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

#[tokio::test]
async fn a_reply_whose_counts_exceed_the_window_is_marked_as_shifted() {
    let model = Model::new("sim")
        .with_capabilities(&[Capability::Completion])
        .with_context_length(131_072);
    let rule = |seen: &Seen| match &seen.last().unwrap().content {
        long if long.contains("at length") => Reply::text(&"and then the lamp was lit. ".repeat(25)),
        _ => Reply::text("in short: yes"),
    };
    let config = Config::new(rule).models([model]).profile(V0_5_7);
    let mut stage = Stage::new(config, &json!({"ollama": {"contextLength": 2048}}));
    let port = boasting(stage.server.port()).await;
    for (name, value) in &mut stage.env {
        if name == "OLLAMA_HOST" {
            *value = format!("http://127.0.0.1:{port}");
        }
    }
    let mut chat = stage.chat().await;
    chat.say(&format!("Tell it at length. {}", "the ".repeat(1150)))
        .await;
    let warned = chat.notes(NoteLevel::Warning);
    assert!(
        warned.contains("the reply grew past the window of 2,048 tokens"),
        "{warned}"
    );
    chat.say("and in short?").await;
    let marks: Vec<_> = stage
        .audited("response")
        .iter()
        .map(|e| e["details"]["shifted"].clone())
        .collect();
    assert_eq!(marks, [json!(true), Value::Null]);
}

/// Data have twice the tokens that were estimated of them: the reply is bounded by what they can be, so that the
/// server, which forgets the front when the window fills, does not.
#[tokio::test]
async fn a_reply_to_text_denser_than_estimated_does_not_grow_past_the_window() {
    let model = Model::new("sim")
        .with_capabilities(&[Capability::Completion])
        .with_context_length(131_072);
    let story: Vec<String> = (0..900).map(|n| format!("lamp {n} was lit")).collect();
    let rule = move |seen: &Seen| match &seen.last().unwrap().content {
        long if long.contains("at length") => Reply::text(&story.join(", ")),
        _ => Reply::text("in short: yes"),
    };
    let config = Config::new(rule).models([model]).profile(V0_32_15);
    let stage = Stage::new(config, &json!({"ollama": {"contextLength": 8192}}));
    let mut chat = stage.chat().await;
    chat.say(&format!("In short? {}", "the lamp was lit at dusk. ".repeat(40)))
        .await;
    let data: Vec<String> = (0..500)
        .map(|n| format!("{{\"k{n}\":[{},{}]}}", n % 7, n % 5))
        .collect();
    let data = data.join(",");
    chat.say(&format!("Tell it at length: {data}")).await;
    let last = stage.accounts().pop().unwrap();
    assert!(
        last.tokens_sent > 2500 && last.generated > 500,
        "{} and {}",
        last.tokens_sent,
        last.generated
    );
    assert!(
        !last.shifted,
        "{} and {} of 8,192",
        last.tokens_sent, last.generated
    );
}

#[tokio::test]
async fn marks_name_the_events_of_what_they_stand_for_and_what_they_save() {
    let stage = stage(V0_24_0, 8192, |seen| {
        let last = seen.last().unwrap();
        match last.role.as_str() {
            "user" if last.content == "list it" => Reply::call(
                "run_command",
                json!({"command": "seq -f 'line %g of the list' 1 40"}),
            ),
            "user" => Reply::text("fine"),
            _ => {
                let listed = (1..=40)
                    .map(|n| format!("line {n} of the list\n"))
                    .collect::<Vec<_>>()
                    .concat();
                Reply::text(&format!("Here:\n\n{listed}"))
            }
        }
    });
    let mut chat = stage.chat().await;
    chat.say("list it").await;
    chat.say("thank you").await;
    let id = |kind: &str| stage.audited(kind).last().unwrap()["id"].clone();
    let cut = stage.audited("context.cut").pop().unwrap()["details"].clone();
    let responses = stage.audited("response");
    let reply = responses.iter().find(|event| {
        event["details"]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("Here:"))
    });
    assert_eq!(cut["response"], reply.unwrap()["id"], "{cut}");
    assert_eq!(cut["result"], id("tool.result"), "{cut}");
    // 40 lines of five words, 31 of them with a number of two digits.
    assert_eq!(
        (&cut["words"], &cut["coverage"]),
        (&json!(200), &json!(1)),
        "{cut}"
    );
    assert!(cut["tokens"].as_u64().unwrap() > 100, "{cut}");
    let reference = stage.audited("context.reference").pop().unwrap()["details"].clone();
    assert_eq!(reference["result"], id("tool.result"), "{reference}");
    let saved = reference["bytes"].as_u64().unwrap() - reference["referenceBytes"].as_u64().unwrap();
    let tokens = reference["tokens"].as_u64().unwrap();
    assert!(tokens > 0 && tokens <= saved, "{reference}");
}

#[tokio::test]
async fn the_rule_to_recall_stands_in_the_system_prompt_where_there_is_memory() {
    let rule = "\n\nRecall what is missing of earlier turns; do not guess it.";
    for (memory, stands) in [("on", true), ("off", false), ("auto", false)] {
        let model = Model::new("sim").with_context_length(131_072);
        let config = Config::new(|_: &Seen| Reply::text("hello")).models([model]);
        let settings = json!({"ollama": {"contextLength": 8192}, "context": {"memory": memory}});
        let stage = Stage::new(config, &settings);
        stage.chat().await.say("hello").await;
        let first = stage.bodies().remove(0);
        let prompt = first["messages"][0]["content"].as_str().unwrap();
        assert_eq!(prompt.contains(rule), stands, "{memory}: {prompt}");
        assert!(prompt.len() <= 1024, "{}", prompt.len());
        assert!(first.to_string().len() <= 6 * 1024, "{}", first.to_string().len());
    }
}

#[tokio::test]
async fn a_page_of_the_memory_tool_is_no_output_and_an_entry_is_shown_by_its_number() {
    let stage = stage(V0_24_0, 8192, |seen| {
        let last = seen.last().unwrap();
        let turn = |content: &str| match content.split_once("recall output ") {
            Some((_, id)) => Reply::call("memory", json!({"request": format!("recall output {id}")})),
            None => Reply::call("run_command", json!({"command": content})),
        };
        match last.role.as_str() {
            "user" => turn(&last.content),
            _ => Reply::text("done"),
        }
    });
    let mut chat = stage.chat().await;
    chat.say("seq 1 3000").await;
    let made = stage.audited("output.kept").remove(0)["call"]
        .as_str()
        .unwrap()
        .to_owned();
    chat.say(&format!("recall output {}", &made[..8])).await;
    let paged = stage.audited("tool.result").pop().unwrap();
    assert!(
        paged["details"]["output"]
            .as_str()
            .unwrap()
            .contains("\n1: 1\n2: 2\n"),
        "{paged}"
    );
    // Entries: 2 the prompt, 3 the call, 4 what it printed.
    for line in ["/last", "/show 4", "/show"] {
        chat.send(Command::Message { text: line.into() });
        let shown = chat.until(|event| matches!(event, Event::View(_))).await;
        let Event::View(view) = shown else {
            panic!("a view")
        };
        let output = view.output.unwrap();
        assert_eq!(
            (output.id.as_str(), output.lines),
            (made.as_str(), 3000),
            "{line}"
        );
    }
}
