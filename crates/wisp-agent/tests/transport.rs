//! A conversation is the same wherever the transport cuts it: every server, every way of cutting, every dressing a proxy
//! may add. Characters of two to four bytes, escapes, a call, thinking, a runner that dies in the middle.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at what it does not expect"
)]

mod common;

use common::Stage;
use ollama_sim::{
    Capability, Chunker, Config, Dressing, Event as Does, Match, Model, Profile, Reply, Script, profile,
};
use serde_json::{Value, json};
use wisp_agent::protocol::{NoteLevel, TurnOutcome};

const FILE: &str = "größe 𝄞.txt";
const SAID: &str = "Größe: 12 µm – „<b>gut</b>“ & 👍🏽\u{2028}";

/// Every way of cutting, and what a proxy may add under the two that cut anywhere.
fn cuts() -> impl Iterator<Item = (Chunker, Dressing)> {
    let plain = Chunker::ALL.map(|chunker| (chunker, Dressing::Plain));
    let anywhere = [Chunker::Bytes(1), Chunker::Seeded(7)];
    let dressed = [Dressing::CrlfAndBlanks, Dressing::NoLastNewline];
    let dressed = anywhere
        .into_iter()
        .flat_map(move |chunker| dressed.map(|dressing| (chunker, dressing)));
    plain.into_iter().chain(dressed)
}

fn script() -> Script {
    let call = Reply::new()
        .thinking("Erst <lesen>, dann … 🤔")
        .content(SAID)
        .and_call("read_file", json!({"path": FILE, "limit": 3}));
    let dies = Reply::new().content("Ich weiß ").event(Does::Crash);
    Script::new()
        .reply(call)
        .when([Match::ToolResultContains("sieben µ".into())], Reply::text(SAID))
        .reply(dies)
        .reply(Reply::text("Noch einmal: ✓"))
}

/// The conversation, and what it leaves: all that was sent but the system message, and what the person was shown.
async fn held(profile: Profile, chunker: Chunker, dressing: Dressing) -> (Vec<Value>, String) {
    let what = format!("{} {chunker:?} {dressing:?}", profile.name);
    let model = Model::new("sim").with_capabilities(&[
        Capability::Completion,
        Capability::Tools,
        Capability::Thinking,
    ]);
    let config = Config::new(script())
        .profile(profile)
        .chunker(chunker)
        .dressing(dressing)
        .models([model]);
    let stage = Stage::new(config, &json!({"ollama": {"contextLength": 16384}}));
    stage.write(FILE, "sieben µ\nacht\n");
    let mut chat = stage.chat().await;
    for said in ["lies: é𝄞", "und nun?"] {
        let end = chat.say(said).await;
        let errors = chat.notes(NoteLevel::Error);
        assert_eq!(end.outcome, TurnOutcome::Ok, "{what}: {errors}");
    }
    stage.server.finish().unwrap_or_else(|e| panic!("{what}: {e}"));
    let bodies = stage.bodies().into_iter();
    let messages = bodies.map(|b| unmarked(&json!(b["messages"].as_array().unwrap()[1..])));
    (
        messages.collect(),
        format!("{}|{}", chat.thinking(), chat.reply()),
    )
}

/// Messages with the mark of their conversation, which is another in each, replaced.
fn unmarked(messages: &Value) -> Value {
    let text = messages.to_string();
    let mark = text
        .split_once("<output-")
        .map(|(_, after)| after[..8].to_owned());
    let text = mark.map_or(text.clone(), |mark| text.replace(&mark, "00000000"));
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_the_same_on_every_server_however_it_is_cut() {
    for profile in profile::ALL {
        let (sent, shown) = held(profile, Chunker::Line, Dressing::Plain).await;
        assert_eq!(sent.len(), 4, "{}", profile.name);
        let call = &sent[1][1]["tool_calls"][0]["function"];
        assert_eq!(
            call["arguments"],
            json!({"path": FILE, "limit": 3}),
            "{}",
            profile.name
        );
        assert!(shown.contains(SAID), "{}: {shown}", profile.name);
        assert!(shown.ends_with("Noch einmal: ✓"), "{}: {shown}", profile.name);
        for (chunker, dressing) in cuts() {
            let (again, also) = held(profile, chunker, dressing).await;
            let what = format!("{} {chunker:?} {dressing:?}", profile.name);
            assert_eq!(again, sent, "{what}");
            assert_eq!(also, shown, "{what}");
        }
    }
}
