//! A conversation of 29 turns with ten statements in it, and what is left of them when the question comes.
//!
//! What counts as kept: the statement stands in the last request. What counts as reachable: it does not, but a hint
//! that stands there (`recall entry N`, `recall output ID`) brings it back; the model follows every hint it sees, one
//! call each, as a model would, and what comes back is searched.
#![allow(dead_code, reason = "each program uses a part")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests and measurements"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use ollama_sim::profile::V0_24_0;
use ollama_sim::{Profile, Reply, Seen};
use serde_json::json;

use crate::talk::{Talk, chats, notes, serve, text_of};
use wisp_agent::protocol::{Event, NoteLevel};

/// What was said, by what it is, and the text to look for.
pub const STATEMENTS: [(&str, &str); 10] = [
    ("the first thing said", "blue heron"),
    ("the task", "port the billing service from Ruby to Go"),
    ("a ban", "Do not touch legacy/ledger.c"),
    ("another ban", "Never push to the release branch"),
    ("a path", "/srv/billing/rates.toml"),
    ("a version", "Go 1.22.7"),
    ("a decision", "store amounts as floats"),
    ("its reversal", "store amounts as integer cents"),
    ("a name", "Marit Lindqvist"),
    ("a number inside a held-back output", "checksum 7741093"),
];

/// Turns before the question.
const TURNS: usize = 28;

/// What came of it.
#[derive(Debug)]
pub struct Figures {
    pub window: u64,
    /// Statements in the last request.
    pub stand: Vec<&'static str>,
    /// Statements in it or behind a hint in it.
    pub reachable: Vec<&'static str>,
    /// Requests, and those over the window by the server's own count.
    pub requests: usize,
    pub over: usize,
    /// Tokens evaluated, and tokens of new text.
    pub evaluated: u64,
    pub new: u64,
    pub condensations: usize,
    /// Turns that failed.
    pub failed: usize,
    /// The last request before the hints were followed.
    pub last: String,
    /// What the person was told of the context, turn by turn, and `/inspect context turns` and `/tokens` at the end.
    pub told: Vec<String>,
}

impl Figures {
    #[allow(clippy::cast_precision_loss, reason = "a ratio to two digits")]
    pub fn ratio(&self) -> f64 {
        self.evaluated as f64 / self.new.max(1) as f64
    }
}

/// What the person says in turn `n`, from 1.
fn prompt(n: usize) -> String {
    match n {
        1 => "Project blue heron begins. The task: port the billing service from Ruby to Go.".into(),
        2 => "Do not touch legacy/ledger.c, whatever happens.".into(),
        3 => "The rates are in /srv/billing/rates.toml.".into(),
        4 => "We are on Go 1.22.7 here.".into(),
        5 => "We decided to store amounts as floats.".into(),
        6 => "run: cat ledger.txt".into(),
        7 => "Never push to the release branch.".into(),
        8 => "The reviewer is Marit Lindqvist.".into(),
        11 => "We changed our mind: store amounts as integer cents.".into(),
        n if n % 3 == 0 => format!("run: seq -f 'module {n} line %g has nothing of note' 1 40"),
        n => format!("What do you think of part {n} of the port, and what would you do next there?"),
    }
}

fn words(n: usize) -> String {
    let line = |k: usize| {
        format!(
            "Point {k} about part {n}: the handlers come first, then the store, then the checks around it. "
        )
    };
    (1..=6).map(line).collect()
}

/// What turn 6 prints: too long to be shown whole, with the number in the middle, where it is held back.
fn ledger() -> String {
    let row = |n: u32| match n {
        200 => "checksum 7741093\n".to_owned(),
        n => format!("row {n} of the ledger\n"),
    };
    (1..=400).map(row).collect()
}

/// The hints of a request, as requests of `memory`.
fn hints(text: &str) -> BTreeSet<String> {
    let pattern = regex::Regex::new(r"recall (entry \d+|output [0-9a-f]{4,16}|turn \d+)").unwrap();
    let mut hints: BTreeSet<String> = pattern.find_iter(text).map(|m| m.as_str().to_owned()).collect();
    // Lines of the earlier block name their entries in brackets.
    let entries = regex::Regex::new(r"\b(?:entry|entries|outputs?) ((?:\d+(?:, | and )?)+)").unwrap();
    for numbers in entries.captures_iter(text) {
        let each = numbers[1].split(|c: char| !c.is_ascii_digit());
        hints.extend(
            each.filter(|n| !n.is_empty())
                .map(|n| format!("recall entry {n}")),
        );
    }
    hints
}

/// Holds the conversation in a window of so many tokens and measures it.
pub async fn measure(home: &std::path::Path, window: u64) -> Figures {
    let recalled = Arc::new(Mutex::new(String::new()));
    let server = serve(Profile { ..V0_24_0 }, rule(recalled.clone()));
    std::fs::write(home.join("ledger.txt"), ledger()).unwrap();
    let mut talk = Talk::open(home, &server, window, |_| {}).await.unwrap();
    let (mut told, mut failed) = (Vec::new(), 0);
    for n in 1..=TURNS {
        let events = talk.say(&prompt(n)).await;
        failed += usize::from(!notes(&events, NoteLevel::Error).is_empty());
        for level in [NoteLevel::Info, NoteLevel::Warning, NoteLevel::Error] {
            let notes = notes(&events, level).into_iter();
            told.extend(notes.map(|note| format!("turn {n}: {note}")));
        }
    }
    let before = chats(&server).len();
    talk.say("QUESTION: what do you know of this project?").await;
    for line in ["/inspect context turns", "/tokens"] {
        told.extend(talk.say(line).await.into_iter().filter_map(printed));
    }
    talk.leave().await;
    let recalled = recalled.lock().unwrap().clone();
    Figures {
        failed,
        told,
        ..figures(window, &chats(&server), before, &recalled, home)
    }
}

fn printed(event: Event) -> Option<String> {
    match event {
        Event::Output { text } => Some(text),
        Event::View(view) => Some(view.text),
        _ => None,
    }
}

/// The model: runs what it is told to run, talks otherwise, and follows the hints at the question.
fn rule(recalled: Arc<Mutex<String>>) -> impl FnMut(&Seen) -> Reply + Send + 'static {
    let mut turn = 0;
    let mut todo: Option<Vec<String>> = None;
    move |seen: &Seen| {
        let last = seen.last().unwrap();
        let asked = seen.last_of("user").map_or("", |m| m.content.as_str());
        let question = asked.contains("QUESTION:");
        if last.role == "tool" && !question {
            return Reply::text(&words(turn));
        }
        if question {
            if last.role == "tool" {
                recalled.lock().unwrap().push_str(&last.content);
            }
            let todo = todo.get_or_insert_with(|| hints(&seen.prompt).into_iter().collect());
            return match todo.pop() {
                // Whatever is long is asked for by what is wanted of it.
                Some(hint) if hint.starts_with("recall turn") => {
                    Reply::call("memory", json!({ "request": hint }))
                }
                Some(hint) => Reply::call(
                    "memory",
                    json!({ "request": format!("{hint} matching checksum|heron|port|touch|push|rates|1.22|amounts|Marit") }),
                ),
                None => Reply::text("That is all."),
            };
        }
        turn += 1;
        match asked.rsplit_once("run: ") {
            Some((_, command)) => Reply::call("run_command", json!({ "command": command })),
            None => Reply::text(&words(turn)),
        }
    }
}

type Chat = (Vec<serde_json::Value>, ollama_sim::ChatAccount);

fn figures(window: u64, chats: &[Chat], before: usize, recalled: &str, home: &std::path::Path) -> Figures {
    let last = text_of(&chats[before].0);
    let kept = |text: &str| -> Vec<&'static str> {
        let has = |(_, words): &&(&'static str, &str)| text.contains(*words);
        STATEMENTS.iter().filter(has).map(|(what, _)| *what).collect()
    };
    let up_to = &chats[..=before];
    Figures {
        window,
        stand: kept(&last),
        reachable: kept(&format!("{last}\n{recalled}")),
        requests: up_to.len(),
        over: chats
            .iter()
            .filter(|(_, c)| c.tokens_sent > window || c.was_cut())
            .count(),
        evaluated: evaluated(up_to),
        new: new_text(up_to),
        condensations: condensations(home),
        failed: 0,
        last,
        told: Vec::new(),
    }
}

/// Tokens after the longest prefix a request has in common with the one before, summed.
fn evaluated(chats: &[Chat]) -> u64 {
    let mut before = "";
    let mut tokens = 0;
    for (_, account) in chats {
        let prompt = account.prompt.as_str();
        let mut common = prompt
            .bytes()
            .zip(before.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        while !prompt.is_char_boundary(common) {
            common -= 1;
        }
        tokens += ollama_sim::tokens::count(&prompt[common..]);
        before = prompt;
    }
    tokens
}

/// Tokens of text no earlier request had, as the server counts text: each message once, by its bytes' share.
fn new_text(chats: &[Chat]) -> u64 {
    let mut seen = BTreeSet::new();
    let mut tokens = 0;
    for (at, (messages, account)) in chats.iter().enumerate() {
        if at == 0 {
            tokens += account.prompt_tokens;
            seen.extend(messages.iter().map(ToString::to_string));
            continue;
        }
        for message in messages {
            if seen.insert(message.to_string()) {
                let text = message["content"].as_str().unwrap_or_default();
                let calls = message
                    .get("tool_calls")
                    .map_or(String::new(), ToString::to_string);
                tokens += ollama_sim::tokens::count(text) + ollama_sim::tokens::count(&calls) + 4;
            }
        }
    }
    tokens
}

fn condensations(home: &std::path::Path) -> usize {
    let Ok(files) = std::fs::read_dir(home.join("wisp/audit")) else {
        return 0;
    };
    let texts = files
        .flatten()
        .filter_map(|file| std::fs::read_to_string(file.path()).ok());
    texts
        .map(|text| text.matches("\"kind\":\"context.condensation\"").count())
        .sum()
}
