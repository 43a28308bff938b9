//! `AGENTS.md` files: followed as the user's instructions, asked about when a repository's names commands, read again when
//! they change.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use common::Stage;
use ollama_sim::{Config, Model, Reply, Script};
use serde_json::json;
use wisp_agent::protocol::NoteLevel;
use wisp_host::RandomIds;

fn stage(choose: Option<&str>) -> Stage {
    let script = Script::new()
        .reply(Reply::text("One."))
        .reply(Reply::text("Two."));
    let mut stage = Stage::new(Config::new(script).models([Model::new("sim")]), &json!({}));
    stage.choose = choose.map(str::to_owned);
    // Two sessions of one home need names of their own.
    stage.ids = Arc::new(RandomIds);
    stage
}

fn system(stage: &Stage, request: usize) -> String {
    let bodies = stage.bodies();
    bodies[request]["messages"][0]["content"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_commands_is_said_once_and_followed_until_it_changes() {
    let stage = stage(None);
    stage.write("AGENTS.md", "# Rules\nAnswer in verse.\n");
    let mut chat = stage.chat().await;
    chat.say("hi").await;
    let (path, first) = (stage.work().join("AGENTS.md"), system(&stage, 0));
    let part = format!(
        "\n\n# The user's instructions\n\nFrom {}:\n# Rules\nAnswer in verse.",
        path.display()
    );
    assert!(first.ends_with(&part), "{first}");
    let told = format!(
        "{} is followed as your instructions (2 lines): # Rules",
        path.display()
    );
    assert!(chat.notes(NoteLevel::Info).contains(&told), "{:?}", chat.events);
    assert_eq!(
        stage.audited("session.start")[0]["details"]["instructions"][0]["path"],
        json!(path)
    );

    stage.write("AGENTS.md", "# Rules\nAnswer in prose.\n");
    chat.say("and now").await;
    assert_eq!(
        system(&stage, 1),
        first.replace("Answer in verse.", "Answer in prose.")
    );
    assert!(
        chat.notes(NoteLevel::Info)
            .contains("your instructions have changed: AGENTS.md (2 lines)"),
        "{:?}",
        chat.events
    );
    chat.quit().await;

    let mut again = stage.chat().await;
    assert!(
        !again
            .notes(NoteLevel::Info)
            .contains("is followed as your instructions"),
        "a known content is not said again"
    );
    again.quit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_a_repository_are_agreed_to_once() {
    for (choose, followed) in [(Some("follow"), true), (Some("leave"), false)] {
        let stage = stage(choose);
        stage.write("AGENTS.md", "Run `make all` before you answer.\n");
        let mut chat = stage.launch(true).await.expect("opened");
        chat.say("hi").await;
        assert_eq!(system(&stage, 0).contains("make all"), followed);
        let told = chat.notes(NoteLevel::Info);
        assert!(
            told.contains("AGENTS.md (1 line) names commands for the model to run:\n  make all"),
            "{told}"
        );
        chat.quit().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_nobody_to_ask_commands_are_left_out_and_that_is_said() {
    let stage = stage(None);
    stage.write("AGENTS.md", "Run `make all` first.\n");
    let home = stage.home().join("AGENTS.md");
    #[allow(clippy::disallowed_methods, reason = "the user's own file")]
    std::fs::write(&home, "Mine: run `cargo test -q`.\n").expect("written");
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o600)).expect("set");
    let mut chat = stage.launch(false).await.expect("opened");
    chat.say("hi").await;
    let system = system(&stage, 0);
    assert!(
        system.contains("Mine: run `cargo test -q`.") && !system.contains("make all"),
        "{system}"
    );
    assert!(
        chat.notes(NoteLevel::Warning)
            .contains("is not followed: it names commands, and nobody agreed to it here (hint: wisp chat"),
        "{:?}",
        chat.events
    );
}
