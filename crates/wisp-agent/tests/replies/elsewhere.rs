//! Models that do not run where their server does: leave, and what happens on the way.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use ollama_sim::{Config, CutAt, Loss, Match, Model, Remote, Reply, Script};
use serde_json::{Value, json};
use wisp_agent::protocol::{Event, NoteLevel, TurnOutcome};

use crate::common::{Stage, read};
use crate::{reads, settings};

fn remote() -> Remote {
    Remote {
        host: "https://ollama.com:443".into(),
        model: "big".into(),
        signed_in: true,
        quota: None,
    }
}

fn cloud(script: Script) -> Config {
    let model = Model {
        remote: Some(remote()),
        ..Model::new("sim")
    };
    Config::new(script).models([model])
}

fn hides_where_it_runs(script: Script) -> Config {
    let model = Model {
        remote: Some(remote()),
        hides_remote: true,
        ..Model::new("sim")
    };
    Config::new(script).models([model])
}

fn hello() -> Script {
    Script::new().step(ollama_sim::Step::new(Reply::text("Hi.")).repeated())
}

fn asked(events: &[Event]) -> usize {
    let asks = |e: &&Event| matches!(e, Event::Choice(c) if c.title.contains("ollama.com"));
    events.iter().filter(asks).count()
}

fn answers(stage: &Stage) -> Vec<String> {
    let events = stage.audited("model.consent");
    let answer = |e: &Value| e["details"]["answer"].as_str().unwrap().to_owned();
    events.iter().map(answer).collect()
}

#[tokio::test]
async fn leave_is_asked_for_once_and_kept_for_that_model_on_that_server() {
    let mut stage = Stage::new(cloud(hello()), &settings());
    stage.choose = Some("send".into());
    let mut first = stage.chat().await;
    assert_eq!(asked(&first.events), 1);
    assert_eq!(first.say("hello").await.outcome, TurnOutcome::Ok);
    assert!(first.notes(NoteLevel::Info).contains("wisp models revoke sim"));
    assert_eq!(answers(&stage), ["given"]);
    first.quit().await;

    stage.choose = None;
    let mut next = stage.chat().await;
    assert_eq!(asked(&next.events), 0, "it is remembered");
    assert!(
        next.notes(NoteLevel::Warning).contains("leaves this machine"),
        "and said each time"
    );
    let listed = next.slash("/models").await;
    assert!(
        listed.contains("runs on https://ollama.com:443, agreed to"),
        "{listed}"
    );
    next.quit().await;
    // One who cannot be asked has it too.
    let mut alone = stage.launch(false).await.unwrap();
    assert_eq!(alone.say("hello").await.outcome, TurnOutcome::Ok);
    alone.quit().await;

    let mut next = stage.chat().await;
    let said = next.slash("/models revoke sim").await;
    assert!(
        said.contains("nothing is sent to https://ollama.com:443"),
        "{said}"
    );
    let before = stage.server.chats().len();
    assert_eq!(
        next.say("still there?").await.outcome,
        TurnOutcome::Error,
        "asked again, and refused"
    );
    assert_eq!(asked(&next.events), 1);
    assert_eq!(stage.server.chats().len(), before, "nothing was sent");
    next.quit().await;
    assert!(stage.launch(false).await.is_err());
    assert!(!read(&stage.home().join("models.json")).contains("ollama.com"));
    let answers = answers(&stage);
    for wanted in ["given", "given before", "taken back", "refused"] {
        assert!(answers.iter().any(|a| a == wanted), "{wanted}: {answers:?}");
    }
}

#[tokio::test]
async fn leave_for_one_conversation_is_for_one() {
    let mut stage = Stage::new(cloud(hello()), &settings());
    stage.choose = Some("once".into());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.say("again").await.outcome, TurnOutcome::Ok);
    assert_eq!(asked(&chat.events), 1);
    chat.quit().await;
    assert!(stage.launch(false).await.is_err());
    assert!(!stage.home().join("models.json").exists());
}

#[tokio::test]
async fn a_reply_that_names_another_machine_has_its_calls_dropped_and_leave_is_asked_for() {
    let script = || {
        Script::new()
            .reply(reads("a.txt"))
            .reply(reads("a.txt"))
            .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."))
    };
    // Refused: the call was not run and nothing more is sent.
    let stage = Stage::new(hides_where_it_runs(script()), &settings());
    stage.write("a.txt", "seven\n");
    let mut chat = stage.chat().await;
    assert_eq!(asked(&chat.events), 0, "nothing shows it beforehand");
    assert_eq!(chat.say("read it").await.outcome, TurnOutcome::Error);
    assert_eq!(asked(&chat.events), 1);
    assert!(!chat.called() && stage.audited("tool.call").is_empty());
    assert_eq!(stage.server.chats().len(), 1);
    let said = chat.notes(NoteLevel::Warning);
    assert!(
        said.contains("https://ollama.com:443") && said.contains("was sent there"),
        "{said}"
    );
    assert!(
        chat.notes(NoteLevel::Error).contains("/model"),
        "{}",
        chat.notes(NoteLevel::Error)
    );
    assert_eq!(answers(&stage), ["needed", "refused"]);

    // Agreed: the request is sent once more, and its call is run.
    let mut stage = Stage::new(hides_where_it_runs(script()), &settings());
    stage.write("a.txt", "seven\n");
    stage.choose = Some("send".into());
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("read it").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    assert_eq!(stage.audited("tool.call").len(), 1);
    assert_eq!(asked(&chat.events), 1);
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn a_reply_without_calls_that_names_another_machine_is_the_last_before_leave() {
    let stage = Stage::new(hides_where_it_runs(hello()), &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Ok);
    assert_eq!(chat.reply(), "Hi.");
    assert_eq!(chat.say("and?").await.outcome, TurnOutcome::Error);
    assert_eq!((asked(&chat.events), stage.server.chats().len()), (1, 1));
}

#[tokio::test]
async fn a_broken_reply_from_elsewhere_is_not_asked_for_again_without_leave() {
    let script = Script::new().reply(Reply::text("One two three.").cut(CutAt::Line(2), Loss::Fin));
    let stage = Stage::new(hides_where_it_runs(script), &settings());
    let mut chat = stage.chat().await;
    assert_eq!(chat.say("hello").await.outcome, TurnOutcome::Error);
    assert_eq!((asked(&chat.events), stage.server.chats().len()), (1, 1));
    stage.server.finish().unwrap();
}

#[tokio::test]
async fn an_overloaded_service_is_waited_for_and_a_dropped_stream_is_asked_for_anew() {
    let overloaded = Reply::foreign(
        503,
        Some("application/json"),
        "{\"error\":\"Server overloaded, please retry shortly (ref: 1)\"}",
    );
    let script = Script::new()
        .reply(overloaded.clone())
        .reply(overloaded)
        .reply(Reply::text("At last."))
        .reply(reads("a.txt").cut(CutAt::Line(1), Loss::Reset))
        .reply(reads("a.txt"))
        .when([Match::ToolResultContains("seven".into())], Reply::text("Seven."));
    let mut stage = Stage::new(cloud(script), &json!({"ollama": {"contextLength": 16384}}));
    stage.write("a.txt", "seven\n");
    stage.yes = true;
    let mut chat = stage.chat().await;
    assert_eq!(
        chat.say("hello").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    assert_eq!(
        chat.say("read it").await.outcome,
        TurnOutcome::Ok,
        "{}",
        chat.notes(NoteLevel::Error)
    );
    assert_eq!(
        stage.audited("tool.call").len(),
        1,
        "the call of the broken reply was not run"
    );
    assert_eq!(stage.audited("model.retry").len(), 3);
    stage.server.finish().unwrap();
}
