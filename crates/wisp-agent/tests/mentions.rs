//! `@path` in a message: what the model is sent of it, and how the line is completed.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use common::{Chat, Stage};
use ollama_sim::{Config, Reply, Respond, Seen};
use serde_json::json;
use wisp_agent::protocol::{Command, Event};

struct Brief;

impl Respond for Brief {
    fn respond(&mut self, _: &Seen) -> Result<Reply, String> {
        Ok(Reply::text("Read."))
    }
}

/// Runs a conversation on a stage with these files.
fn on_stage(files: &[(&str, &str)], play: impl AsyncFnOnce(&Stage, &mut Chat)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stage = Stage::new(Config::new(Brief), &json!({"ollama": {"contextLength": 8192}}));
        for (name, text) in files {
            stage.write(name, text);
        }
        let mut chat = stage.chat().await;
        play(&stage, &mut chat).await;
    });
}

/// The last message of the last request.
fn sent(stage: &Stage) -> String {
    let body = stage.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

fn notes(chat: &Chat) -> Vec<&str> {
    let texts = chat.events.iter().filter_map(|event| match event {
        Event::Note { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts
        .filter(|text| text.contains("attached") || text.contains('@'))
        .collect()
}

#[test]
fn a_file_goes_below_the_message_with_numbered_lines() {
    on_stage(&[("a.txt", "one\ntwo\n")], async |stage, chat| {
        chat.say("What is in @a.txt?").await;
        let sent = sent(stage);
        let begins = "What is in @a.txt?\n\na.txt (2 lines):\n1\tone\n2\ttwo\n";
        assert!(sent.starts_with(begins), "{sent}");
        assert_eq!(notes(chat), ["attached a.txt: 2 lines"]);
    });
}

#[test]
fn a_long_file_is_bounded_and_says_how_to_read_on() {
    let text = "a line of the long file\n".repeat(5_000);
    on_stage(&[("long.txt", &text)], async |stage, chat| {
        chat.say("@long.txt please").await;
        let sent = sent(stage);
        assert!(sent.len() < 4_096 + 256, "{}", sent.len());
        assert!(sent.contains("long.txt (lines 1–"), "{sent}");
        assert!(sent.contains(" of 5,000):\n"), "{sent}");
        let last = sent
            .lines()
            .rev()
            .find(|line| line.starts_with(char::is_numeric))
            .unwrap();
        let next: usize = last.split_once('\t').unwrap().0.parse::<usize>().unwrap() + 1;
        let way = format!("[more: read_file long.txt with offset {next}]");
        assert!(sent.contains(&way), "{way}\n{sent}");
    });
}

#[test]
fn a_folder_is_listed_without_what_is_ignored() {
    let files = [(".gitignore", "*.log\n"), ("a.txt", ""), ("b.log", "")];
    on_stage(&files, async |stage, chat| {
        chat.say("@. has what?").await;
        let sent = sent(stage);
        assert!(sent.contains("\n\n. (2 entries):\n.gitignore\na.txt"), "{sent}");
        assert!(!sent.contains("b.log"), "{sent}");
    });
}

#[test]
fn an_address_and_a_name_that_is_no_file_stay_text_and_a_path_that_is_missing_is_said() {
    on_stage(&[("a.txt", "one\n")], async |stage, chat| {
        chat.say("mail x@a.txt, ask @ada, see @src/none.rs").await;
        let sent = sent(stage);
        assert!(!sent.contains("1\tone"), "{sent}");
        assert_eq!(notes(chat), ["@src/none.rs was not found: sent as text"]);
    });
}

#[test]
fn several_files_share_what_one_may_have() {
    let text = "a line of the long file\n".repeat(5_000);
    on_stage(&[("a.txt", &text), ("b.txt", &text)], async |stage, chat| {
        chat.say("compare @a.txt with @b.txt and @a.txt").await;
        let sent = sent(stage);
        assert!(sent.len() < 4_096 + 512, "{}", sent.len());
        assert_eq!(sent.matches("(lines 1–").count(), 2, "{sent}");
    });
}

#[test]
fn a_path_is_completed_while_it_is_typed() {
    on_stage(&[("manual.md", ""), ("main.rs", "")], async |_, chat| {
        chat.send(Command::Complete {
            id: "tab-1".into(),
            text: "see @mrs now".into(),
            cursor: 8,
        });
        loop {
            let event = chat.next().await.unwrap();
            if let Event::Completions { from, candidates, .. } = event {
                assert_eq!((from, candidates), (4, vec!["@main.rs".to_owned()]));
                break;
            }
        }
    });
}
