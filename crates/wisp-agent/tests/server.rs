//! The server as a person meets it: slow, on another machine, behind a proxy, with models to choose from.

mod common;

use std::time::Duration;

use common::{PATIENCE, Stage};
use ollama_sim::{Clock, Config, Event as Does, Match, Model, Remote, Reply, Script, profile};
use serde_json::{Value, json};
use wisp_agent::OpenError;
use wisp_agent::protocol::{Command, Event, NoteLevel, TurnOutcome};

fn settings() -> Value {
    json!({"ollama": {"contextLength": 16384}})
}

fn cloud() -> Model {
    Model {
        remote: Some(Remote {
            host: "https://ollama.com:443".into(),
            model: "big".into(),
            signed_in: true,
            quota: None,
        }),
        ..Model::new("sim")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_of_ninety_seconds_and_five_silent_minutes_are_shown_and_waited_for() {
    for profile in [profile::V0_11_4, profile::V0_24_0, profile::V0_32_15] {
        let clock = Clock::manual();
        let script = Script::new()
            .reply(
                Reply::new()
                    .content("I write it. ")
                    .silence_ms(300_000)
                    .and_call("read_file", json!({"path": "a.txt"})),
            )
            .when([Match::ToolResultContains("seven".into())], Reply::text("Done."));
        let config = Config::new(script)
            .profile(profile)
            .clock(clock.clone())
            .models([Model::new("sim").with_load(Duration::from_secs(90))]);
        let stage = Stage::new(config, &settings());
        stage.write("a.txt", "seven\n");
        let mut chat = stage.chat().await;
        chat.send(Command::Message {
            text: "write it".into(),
        });
        chat.until(|e| says(e, "loading sim")).await;
        clock.advance(Duration::from_secs(90));
        chat.until(|e| matches!(e, Event::Delta { .. })).await;
        chat.until(|e| says(e, "silent")).await;
        assert!(clock.wait_for_sleepers(1, PATIENCE));
        clock.advance(Duration::from_mins(5));
        let end = chat.turn_end().await;
        assert_eq!(
            end.outcome,
            TurnOutcome::Ok,
            "{}: {}",
            profile.version,
            chat.notes(NoteLevel::Error)
        );
        stage.server.finish().unwrap();
    }
}

fn says(event: &Event, words: &str) -> bool {
    matches!(event, Event::Activity(a) if a.doing.as_ref().is_some_and(|d| d.contains(words)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_reaches_the_server_within_a_second() {
    for stall in [
        Reply::new().event(Does::Stall),
        Reply::new().content("a ").event(Does::Stall),
    ] {
        let stage = Stage::new(Config::new(Script::new().reply(stall)), &settings());
        let mut chat = stage.chat().await;
        chat.send(Command::Message { text: "hello".into() });
        let arrived = |r: &[ollama_sim::Received]| r.iter().any(|r| r.chat.is_some());
        assert!(stage.server.wait_until(PATIENCE, arrived));
        chat.send(Command::Interrupt);
        let gone = |r: &[ollama_sim::Received]| {
            r.iter()
                .any(|r| r.path == "/api/chat" && r.ended == ollama_sim::Ended::ClientLeft)
        };
        assert!(stage.server.wait_until(Duration::from_secs(1), gone));
        assert_eq!(chat.turn_end().await.outcome, TurnOutcome::Interrupted);
    }
}

#[tokio::test]
async fn a_model_on_another_machine_is_used_only_with_leave() {
    let talks = || Script::new().reply(Reply::text("Hi."));
    let stage = Stage::new(Config::new(Script::new()).models([cloud()]), &settings());
    let refused = stage.launch(false).await.err().expect("nobody agreed");
    assert!(
        matches!(&refused, OpenError::Elsewhere { host, .. } if host.contains("ollama.com")),
        "{refused}"
    );
    assert!(stage.server.chats().is_empty());

    let mut stage = Stage::new(Config::new(talks()).models([cloud()]), &settings());
    stage.yes = true;
    let mut chat = stage.launch(false).await.expect("leave was given beforehand");
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    assert!(chat.notes(NoteLevel::Warning).contains("leaves this machine"));

    for (choice, agreed) in [(Some("send"), true), (Some("keep"), false), (None, false)] {
        let mut stage = Stage::new(Config::new(talks()).models([cloud()]), &settings());
        stage.choose = choice.map(str::to_owned);
        let mut chat = stage.chat().await;
        let asked = chat
            .events
            .iter()
            .any(|e| matches!(e, Event::Choice(c) if c.title.contains("ollama.com")));
        assert!(asked, "{choice:?}");
        if agreed {
            assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
        } else {
            assert!(
                chat.notes(NoteLevel::Error)
                    .contains("does not run on this machine"),
                "{choice:?}"
            );
            assert!(stage.server.chats().is_empty(), "{choice:?}");
        }
    }
}

#[tokio::test]
async fn the_models_are_listed_switched_hidden_and_completed() {
    let script = Script::new()
        .when([Match::Model("sim".into())], Reply::text("I am sim."))
        .when(
            [
                Match::Model("other".into()),
                Match::PromptContains("I am sim.".into()),
            ],
            Reply::text("I am other."),
        );
    let models = [
        Model::new("sim"),
        Model::new("other:1b"),
        Model::new("embed").with_capabilities(&[ollama_sim::Capability::Embedding]),
    ];
    let script = script.step(ollama_sim::Step::new(Reply::text("more")).repeated());
    let mut models = models.to_vec();
    models[1].name = "other:latest".into();
    let stage = Stage::new(Config::new(script).models(models), &settings());
    let mut chat = stage.chat().await;
    chat.say("who are you?").await;
    let listed = chat.slash("/models").await;
    assert!(
        listed.contains("* sim:latest") && listed.contains("for embeddings"),
        "{listed}"
    );
    chat.send(Command::Complete {
        id: "c1".into(),
        text: "/model o".into(),
        cursor: 8,
    });
    let found = chat.until(|e| matches!(e, Event::Completions { .. })).await;
    assert!(
        matches!(found, Event::Completions { candidates, from: 7, .. } if candidates == ["other:latest"])
    );
    assert!(
        chat.slash("/models disable other")
            .await
            .contains("disabled other")
    );
    assert!(chat.slash("/model other").await.contains("is disabled"));
    for (line, offered) in [("/model o", None), ("/models enable o", Some("other:latest"))] {
        let (text, cursor) = (line.to_owned(), line.len());
        chat.send(Command::Complete {
            id: "c2".into(),
            text,
            cursor,
        });
        let found = chat.until(|e| matches!(e, Event::Completions { .. })).await;
        let wanted: Vec<String> = offered.into_iter().map(str::to_owned).collect();
        assert!(
            matches!(&found, Event::Completions { candidates, .. } if *candidates == wanted),
            "{line}: {found:?}"
        );
    }
    assert!(chat.slash("/models disable sim").await.contains("disabled sim") || chat.events.len() > 1);
    assert!(chat.slash("/models enable other").await.contains("enabled other"));
    let switched = chat.slash("/model other").await;
    assert!(switched.contains("now talking to other"), "{switched}");
    assert_eq!(chat.say("and who are you?").await.outcome, TurnOutcome::Ok);
    assert!(chat.reply().contains("I am other."));
}

/// Turns on a server where something pushes the model out of memory after each of them.
async fn turns_with_loads_of(load: Duration, turns: usize) -> String {
    let script = Script::new().step(ollama_sim::Step::new(Reply::text("Hi.")).repeated());
    let config = Config::new(script).models([Model::new("sim").with_load(load)]);
    let stage = Stage::new(config, &settings());
    let mut chat = stage.chat().await;
    for _ in 0..turns {
        assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
        assert!(stage.server.evict("sim"));
    }
    let windows: Vec<Value> = stage
        .bodies()
        .iter()
        .map(|b| b["options"]["num_ctx"].clone())
        .collect();
    assert!(
        windows.iter().all(|w| *w == 16384),
        "the request itself does not change: {windows:?}"
    );
    chat.notes(NoteLevel::Warning)
}

#[tokio::test]
async fn a_model_that_is_loaded_for_each_turn_is_told_of_once_with_what_to_do() {
    let said = turns_with_loads_of(Duration::from_secs(9), 4).await;
    assert_eq!(said.matches("had to load sim again (9 s)").count(), 1, "{said}");
    for remedy in ["ollama ps", "ollama.contextLength", "ollama.keepAlive"] {
        assert!(said.contains(remedy), "{remedy}: {said}");
    }
    assert_eq!(turns_with_loads_of(Duration::from_secs(9), 1).await, "");
    assert_eq!(turns_with_loads_of(Duration::from_millis(1900), 3).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_for_a_loaded_model_that_is_busy_is_no_load() {
    let clock = Clock::manual();
    let turns = (0..3).fold(Script::new(), |script, _| {
        script
            .reply(Reply::text("for another").silence_ms(10_000))
            .reply(Reply::text("Hi."))
    });
    let stage = Stage::new(Config::new(turns).clock(clock.clone()), &settings());
    let mut chat = stage.chat().await;
    let other = json!({"model": "sim", "options": {"num_ctx": 16384}, "messages": [{"role": "user", "content": "x"}]});
    for _ in 0..3 {
        let mine = async {
            while !clock.wait_for_sleepers(1, Duration::ZERO) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            chat.send(Command::Message { text: "hello".into() });
            while stage.server.counters().waiting == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            clock.advance(Duration::from_secs(10));
            chat.turn_end().await
        };
        let (_, end) = tokio::join!(common::post(&stage.server, "/api/chat", &other), mine);
        assert_eq!(end.outcome, TurnOutcome::Ok);
    }
    assert_eq!(chat.notes(NoteLevel::Warning), "");
    stage.server.finish().unwrap();
}
