//! Turns of any size in windows of any size, on every server: nothing is read that is over the window by the server's
//! own count, a refusal is met once, and a condensation ends at its goal or says that it is at its floor.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect; how many cases is said in the environment"
)]

mod common;

use common::Stage;
use ollama_sim::{Config, Model, Profile, Reply, Respond, Seen, profile};
use proptest::prelude::*;
use serde_json::{Value, json};
use wisp_agent::protocol::NoteLevel;

/// Where the sizes come from: the same for every run.
struct Sizes(u64);

impl Sizes {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }

    /// Text of so many bytes, of one of four kinds, no two stretches of it alike.
    fn text(&mut self, bytes: u64) -> String {
        let kind = self.next(4);
        let mut text = String::new();
        while (text.len() as u64) < bytes {
            let n = self.next(1_000_000);
            let more = match kind {
                0 => format!("the keeper wrote {n} in the log that night. "),
                1 => format!("{{\"k{n}\":[{},{}]}},", n % 7, n % 11),
                2 => format!("{n}{}", self.next(10_000_000)),
                _ => format!("灯台の記録{n}は正しい。"),
            };
            text.push_str(&more);
        }
        text
    }

    /// Bytes of a prompt, or of a file: mostly little, sometimes an eighth of the window, seldom half of it.
    fn bytes(&mut self, window: u64) -> u64 {
        match self.next(10) {
            0..=5 => 1 + self.next(300),
            6..=8 => self.next(window / 2),
            _ => self.next(window * 2),
        }
    }
}

/// A model that reads the file in every second turn and then says so many words.
struct Reader(u64);

impl Respond for Reader {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let last = seen.last().ok_or("nothing was sent")?;
        if last.role != "tool" && last.content.contains("read") && seen.offers("read_file") {
            return Ok(Reply::call("read_file", json!({"path": "a.txt"})));
        }
        self.0 += 1;
        let words = [3, 20, 200][usize::try_from(self.0 % 3).unwrap_or(0)];
        let words: Vec<String> = (0..words)
            .map(|n| format!("word {n} of reply {}, ", self.0))
            .collect();
        Ok(Reply::text(&words.concat()))
    }
}

fn settings(window: u64) -> Value {
    json!({"ollama": {"contextLength": window}, "approval": {"threshold": "never"}})
}

/// A conversation of so many turns in this window, and what must be true of it.
async fn holds(profile: Profile, window: u64, turns: u64, seed: u64) -> usize {
    let of = format!("{} at {window}, seed {seed}", profile.name);
    let model = Model::new("sim").with_context_length(131_072);
    let config = Config::new(Reader(seed)).models([model]).profile(profile);
    let stage = Stage::new(config, &settings(window));
    let mut chat = stage.chat().await;
    let mut sizes = Sizes(seed);
    for turn in 0..turns {
        let bytes = sizes.bytes(window);
        stage.write("a.txt", &sizes.text(bytes));
        let bytes = sizes.bytes(window);
        let what = if turn % 2 == 0 { "read it" } else { "and" };
        let refused = refused(&stage);
        chat.say(&format!("{what} {turn}: {}", sizes.text(bytes))).await;
        let now = self::refused(&stage);
        assert!(
            // Once as composed, once after room was made, once at the floor, where the server is the exact check.
            now <= refused + 3,
            "{of}: turn {turn} was refused {} times",
            now - refused
        );
    }
    // The engine of the newest releases has a window of a multiple of 256 tokens, whatever was asked for.
    let has = if profile.era.is_e4() {
        window.next_multiple_of(256)
    } else {
        window
    };
    let mut shifted = 0;
    for received in stage.server.chats() {
        let Some(account) = received.chat.filter(|_| received.status == Some(200)) else {
            continue;
        };
        let sent = account.tokens_sent;
        assert!(!account.was_cut() && sent <= has, "{of}: {sent} tokens were read");
        shifted += usize::from(account.shifted);
    }
    // Only where a prompt has more tokens than was estimated, in a window that leaves no room for the most it can have.
    let marked = chat
        .notes(NoteLevel::Warning)
        .matches("grew past the window")
        .count();
    assert_eq!(
        marked, shifted,
        "{of}: a front that was forgotten while the model wrote is said"
    );
    assert!(
        shifted == 0 || profile.era.is_e4() && window < 8192,
        "{of}: {shifted} were"
    );
    let done = stage.audited("context.condensation");
    let mut floors = 0;
    for one in &done {
        let details = &one["details"];
        let (after, goal) = (
            details["fillAfter"].as_u64().unwrap(),
            details["target"].as_u64().unwrap(),
        );
        let floor = details["floor"].as_bool().unwrap();
        assert!(after <= goal || floor, "{of}: {details}");
        assert!(floor == (after > goal), "{of}: {details}");
        floors += usize::from(floor);
    }
    let said = chat
        .notes(NoteLevel::Warning)
        .matches("context at its floor")
        .count();
    assert_eq!(said, floors, "{of}: each floor is said");
    let pressures = stage.audited("context.pressure").len();
    assert!(
        pressures >= stage.audited("model.request").len(),
        "{of}: before every request"
    );
    shifted
}

fn refused(stage: &Stage) -> usize {
    let chats = stage.server.chats();
    chats
        .iter()
        .filter(|chat| chat.status.is_some_and(|status| status >= 400))
        .count()
}

/// Windows over the whole range, each profile its own ones.
#[tokio::test]
async fn every_server_in_small_and_middling_windows() {
    for (at, profile) in profile::ALL.into_iter().enumerate() {
        let at = at as u64;
        for (window, turns) in [(2048 + at * 97, 10), (4096 + at * 811, 10)] {
            let shifted = holds(profile, window, turns, 1 + at * 10 + window).await;
            assert_eq!(
                shifted, 0,
                "{profile:?} {window}: the front was forgotten while the model wrote"
            );
        }
    }
}

/// Six cases, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => usual,
        None => ProptestConfig { cases: 6, ..usual },
    }
}

/// Any window from 2,048 to 131,072, the small ones as often as the large ones.
fn windows() -> impl Strategy<Value = u64> {
    (11u32..=16).prop_flat_map(|doublings| (1u64 << doublings)..=(2 << doublings))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_server_in_any_window(
        profile in prop::sample::select(profile::ALL.to_vec()), window in windows(), turns in 1u64..10, seed: u64,
    ) {
        // Turns grow with the window: a few are enough in a large one.
        let turns = if window > 32_768 { turns.min(4) } else { turns };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(holds(profile, window, turns, seed));
    }
}

#[tokio::test]
async fn the_oldest_and_the_newest_in_large_windows() {
    for profile in [profile::V0_5_7, profile::V0_32_15] {
        assert_eq!(holds(profile, 32_768, 8, 5).await, 0);
        assert_eq!(holds(profile, 131_072, 5, 11).await, 0);
    }
}
