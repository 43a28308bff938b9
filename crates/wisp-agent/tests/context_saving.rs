//! Saving and resuming through the real engine: what is there after every kind of end.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests lay out homes and damage files"
)]

#[path = "common/talk.rs"]
mod talk;

use std::path::{Path, PathBuf};

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Reply, Seen, Server};
use talk::{Talk, chats, notes, serve, text_of};
use wisp_agent::protocol::{Command, Event, NoteLevel};
use wisp_agent::saved::{Folder, Resume, SavedError, Saving};
use wisp_agent::{OpenError, Setup};

/// A model that repeats what it is told, and runs what follows `run: `.
fn server() -> Server {
    serve(V0_24_0, |seen: &Seen| {
        let last = seen.last().unwrap();
        match last.content.rsplit_once("run: ") {
            Some((_, command)) if last.role == "user" => {
                Reply::call("run_command", serde_json::json!({ "command": command }))
            }
            _ => Reply::text(&format!("I heard {} bytes.", last.content.len())),
        }
    })
}

fn save_as(name: &str) -> impl FnOnce(&mut Setup) {
    let name = name.to_owned();
    move |setup| setup.saving.name = Some(name)
}

fn resume(name: &str) -> impl FnOnce(&mut Setup) {
    let name = name.to_owned();
    move |setup| setup.saving.resume = Some(Resume::Named(name))
}

fn folder(home: &Path) -> Folder {
    Folder::new(home.join("wisp/transcripts"))
}

fn file(home: &Path, name: &str) -> PathBuf {
    home.join("wisp/transcripts").join(name)
}

async fn refused(home: &Path, server: &Server, edit: impl FnOnce(&mut Setup)) -> OpenError {
    let opened = Talk::open(home, server, 8192, edit).await;
    opened.err().expect("it does not open")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_conversation_sends_what_it_would_have_sent() {
    let server = server();
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let lines = ["first thing", "run: seq 1 2000", "and a third thing"];
    let mut through = Talk::open(one.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    for line in lines {
        through.say(line).await;
    }
    through.say("the last one").await;
    let straight = chats(&server).pop().unwrap().0;
    through.leave().await;

    let mut begun = Talk::open(two.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    for line in lines {
        begun.say(line).await;
    }
    begun.leave().await;
    let mut again = Talk::open(two.path(), &server, 8192, resume("work"))
        .await
        .unwrap();
    again.say("the last one").await;
    again.leave().await;
    let resumed = chats(&server).pop().unwrap().0;
    // Ids of outputs and times are each run's own; everything else is the same, byte for byte.
    let same = |messages: &[serde_json::Value]| {
        let text = serde_json::Value::from(messages.to_vec()).to_string();
        let ids = regex::Regex::new(r"\b[0-9a-f]{8}\b|\d\d:\d\d:\d\d").unwrap();
        ids.replace_all(&text, "*").into_owned()
    };
    assert_eq!(same(&straight), same(&resumed));
    assert_eq!(folder(two.path()).load("work").unwrap().record.turn_count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unnamed_conversation_is_the_last_one() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, |_| {}).await.unwrap();
    talk.say("my name is Ada").await;
    talk.leave().await;
    let listed = folder(home.path()).list().unwrap();
    assert_eq!(listed.len(), 1);
    assert!(!listed[0].named);
    let mut talk = Talk::open(home.path(), &server, 32_768, |s| {
        s.saving.resume = Some(Resume::Last);
    })
    .await
    .unwrap();
    talk.say("what is my name?").await;
    assert!(talk::text_of(&chats(&server).pop().unwrap().0).contains("my name is Ada"));
    talk.say("/save known").await;
    talk.leave().await;
    let listed = folder(home.path()).list().unwrap();
    assert_eq!(listed.len(), 1, "the unnamed copy went: {listed:?}");
    assert!(listed[0].named && listed[0].name == "known");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(file(home.path(), "known.store"))
            .unwrap()
            .permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_new_the_old_conversation_stays_as_it_was() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say("one").await;
    talk.say("/new").await;
    talk.say("two").await;
    talk.leave().await;
    let work = folder(home.path()).load("work").unwrap().record;
    assert_eq!(work.turn_count(), 1);
    assert_eq!(folder(home.path()).list().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_cannot_hold_one_name_and_the_error_names_the_other() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say("one").await;
    let error = refused(home.path(), &server, resume("work")).await;
    let by = format!("(process {})", std::process::id());
    assert!(error.to_string().contains(&by), "{error}");
    assert!(error.is_usage());
    assert!(matches!(
        folder(home.path()).delete("work"),
        Err(SavedError::Held { .. })
    ));
    let other = Saving {
        on: true,
        name: Some("copy".into()),
        resume: Some(Resume::Named("work".into())),
    };
    let fork = Talk::open(home.path(), &server, 8192, |s| s.saving = other)
        .await
        .unwrap();
    fork.leave().await;
    talk.leave().await;
    let error = refused(home.path(), &server, save_as("work")).await;
    assert!(
        matches!(error, OpenError::Saved(SavedError::Exists { .. })),
        "{error}"
    );
    assert!(!file(home.path(), "work.lock").exists(), "nothing is left behind");
    folder(home.path()).delete("work").unwrap();
    assert!(folder(home.path()).load("work").is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_files_are_set_aside_said_once_and_gone_on_with() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    for n in 0..12 {
        talk.say(&format!("message {n}")).await;
    }
    talk.leave().await;
    let store = file(home.path(), "work.store");
    let mut bytes = std::fs::read(&store).unwrap();
    let at = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .nth(5)
        .unwrap()
        .0;
    bytes[at + 30..at + 60].fill(b'\xff');
    std::fs::write(&store, &bytes).unwrap();
    // The transcript is a second copy; without it the line is lost for good.
    std::fs::write(file(home.path(), "work.json"), "{\"version\":1,").unwrap();

    let loaded = folder(home.path()).load("work").unwrap();
    assert_eq!(loaded.record.turn_count(), 12);
    let mut talk = Talk::open(home.path(), &server, 8192, resume("work"))
        .await
        .unwrap();
    talk.say("after the damage").await;
    talk.leave().await;
    assert_eq!(
        std::fs::read(file(home.path(), "work.store.damaged-1")).unwrap(),
        bytes
    );
    let again = folder(home.path()).load("work").unwrap();
    assert_eq!(again.losses, []);
    assert_eq!(again.record.turn_count(), 13);

    for name in ["work.store", "work.json"] {
        std::fs::write(file(home.path(), name), "").unwrap();
    }
    let error = refused(home.path(), &server, resume("work")).await;
    assert!(error.is_usage() && error.hint().is_some(), "{error}");
    std::fs::write(
        file(home.path(), "work.store"),
        "{\"store\":{\"version\":99,\"save\":1}}\n",
    )
    .unwrap();
    let error = refused(home.path(), &server, resume("work")).await;
    assert!(error.to_string().contains("newer wisp"), "{error}");
    let text = std::fs::read_to_string(file(home.path(), "work.store")).unwrap();
    assert!(text.contains("99"), "it is never overwritten");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_written_is_said_once_and_the_turns_go_on() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say("one").await;
    let before = std::fs::read(file(home.path(), "work.store")).unwrap();
    // Where the folder was there is a file: no save can be made, whoever runs the test.
    let (folder, aside) = (
        home.path().join("wisp/transcripts"),
        home.path().join("wisp/aside"),
    );
    std::fs::rename(&folder, &aside).unwrap();
    std::fs::write(&folder, "").unwrap();
    let said = notes(&talk.say("two").await, NoteLevel::Error);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("could not be saved"), "{said:?}");
    assert_eq!(
        notes(&talk.say("three").await, NoteLevel::Error),
        Vec::<String>::new()
    );
    assert_eq!(std::fs::read(aside.join("work.store")).unwrap(), before);
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&aside, &folder).unwrap();
    let said = notes(&talk.say("four").await, NoteLevel::Info);
    assert!(said.iter().any(|s| s.contains("saved again")), "{said:?}");
    talk.leave().await;
    let record = Folder::new(folder).load("work").unwrap().record;
    assert_eq!(record.turn_count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_context_can_be_looked_at_between_turns_and_while_one_runs() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, |_| {}).await.unwrap();
    talk.say("remember the heron").await;
    talk.send(Command::Context { turn: None });
    let Event::View(next) = talk.next().await else {
        panic!("a view")
    };
    assert_eq!(next.turn, None);
    assert!(next.text.contains("remember the heron"), "{}", next.text);

    talk.send(Command::Message {
        text: "run: sleep 0.3".into(),
    });
    loop {
        if let Event::Event { kind, .. } = talk.next().await
            && kind == "tool.call"
        {
            break;
        }
    }
    talk.send(Command::Context { turn: None });
    talk.send(Command::Context { turn: Some(1) });
    let mut views = Vec::new();
    while views.len() < 2 {
        match talk.next().await {
            Event::View(view) => views.push(view),
            Event::Turn {
                phase: wisp_agent::protocol::Phase::End,
                ..
            } => panic!("answered only after the turn"),
            _ => {}
        }
    }
    assert_eq!(views[0].turn, Some(2));
    assert!(views[0].text.contains("sleep 0.3"));
    assert_eq!(views[1].turn, Some(1));
    assert!(!views[1].text.contains("sleep 0.3"));
    talk.leave().await;
}

/// A file from before an output's excerpt was stored: it is decided at the first resume, recorded, and kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_file_is_normalised_once_and_that_is_recorded() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say("run: seq 1 50").await;
    talk.leave().await;
    for name in ["work.store", "work.json"] {
        let path = file(home.path(), name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"shown\":"), "{name}");
        std::fs::write(&path, text.replace("\"shown\":", "\"content\":")).unwrap();
    }
    let mut sent = Vec::new();
    for _ in 0..2 {
        let mut talk = Talk::open(home.path(), &server, 8192, resume("work"))
            .await
            .unwrap();
        talk.say("go on").await;
        talk.leave().await;
        let (messages, _) = chats(&server).pop().unwrap();
        sent.push(messages[..4].to_vec());
    }
    assert_eq!(sent[0], sent[1]);
    let mut starts: Vec<_> = audited(home.path(), "session.start");
    starts.sort_by_key(|event| event["time"].as_str().unwrap().to_owned());
    let normalised: Vec<_> = starts
        .iter()
        .map(|e| e["details"]["normalised"].clone())
        .collect();
    assert_eq!(
        normalised,
        [serde_json::Value::Null, 1.into(), serde_json::Value::Null]
    );
}

/// The events of a kind, of every session.
fn audited(home: &Path, kind: &str) -> Vec<serde_json::Value> {
    let files = std::fs::read_dir(home.join("wisp/audit")).unwrap().flatten();
    let files = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    let text: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    events.filter(|event| event["kind"] == kind).collect()
}

/// Tokens the server read anew, and how often the list of tools was another than in the request before.
fn read_anew(server: &Server) -> (u64, usize) {
    let read = chats(server)
        .iter()
        .map(|(_, chat)| chat.prompt_tokens - chat.cached_tokens)
        .sum();
    let tools: Vec<_> = server
        .chats()
        .into_iter()
        .filter_map(|chat| Some(chat.json?["tools"].to_string()))
        .collect();
    (read, tools.windows(2).filter(|pair| pair[0] != pair[1]).count())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_resumed_for_every_turn_keeps_its_tools_and_the_servers_cache() {
    let line = |turn: u32| match turn {
        1 => "run: seq 1 2000".to_owned(),
        _ => format!("run: seq {turn}00 {turn}20"),
    };
    let (once, each) = (server(), server());
    let home = tempfile::tempdir().unwrap();
    let mut talk = Talk::open(home.path(), &once, 8192, save_as("work"))
        .await
        .unwrap();
    for turn in 1..=30 {
        talk.say(&line(turn)).await;
    }
    talk.leave().await;
    let home = tempfile::tempdir().unwrap();
    let mut talk = Talk::open(home.path(), &each, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say(&line(1)).await;
    talk.leave().await;
    for turn in 2..=30 {
        let mut talk = Talk::open(home.path(), &each, 8192, resume("work"))
            .await
            .unwrap();
        talk.say(&line(turn)).await;
        talk.leave().await;
    }
    let ((single, flips), (resumed, resumed_flips)) = (read_anew(&once), read_anew(&each));
    assert_eq!((flips, resumed_flips), (1, 1), "memory joins once and stays");
    assert!(
        resumed <= single + single / 10,
        "{resumed} tokens read anew over resumed turns, {single} in one process"
    );
    let last = chats(&each).pop().unwrap().0;
    assert!(!text_of(&last).contains("do not run the command again"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_a_newer_wisp_are_said_and_saved_again_and_nothing_is_set_aside() {
    let (server, home) = (server(), tempfile::tempdir().unwrap());
    let mut talk = Talk::open(home.path(), &server, 8192, save_as("work"))
        .await
        .unwrap();
    talk.say("message 0").await;
    talk.leave().await;
    let store = file(home.path(), "work.store");
    let text = std::fs::read_to_string(&store).unwrap();
    let later = (0..912)
        .map(|n| format!("{{\"annotation\":{{\"n\":{n}}}}}\n"))
        .collect::<Vec<_>>()
        .concat();
    std::fs::write(
        &store,
        text.replacen("{\"end\":", &format!("{later}{{\"end\":"), 1),
    )
    .unwrap();
    let mut talk = Talk::open(home.path(), &server, 8192, resume("work"))
        .await
        .unwrap();
    let said = |event: &Event| {
        matches!(event, Event::Note { text, .. } if text
            == "work has 912 records of kinds that this wisp does not know: kept as they are, for the newer wisp that wrote them")
    };
    assert_eq!(
        talk.opening.iter().filter(|event| said(event)).count(),
        1,
        "{:?}",
        talk.opening
    );
    talk.say("message 1").await;
    talk.leave().await;
    let again = std::fs::read_to_string(&store).unwrap();
    assert!(again.contains(&later), "byte for byte, in order");
    assert!(!file(home.path(), "work.store.damaged-1").exists());
    let loaded = folder(home.path()).load("work").unwrap();
    assert_eq!((loaded.losses.len(), loaded.later), (0, 912));
}
