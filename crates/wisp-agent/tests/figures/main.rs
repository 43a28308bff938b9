//! Every number in a text to the model or to the person, checked against the bytes it is about: random outputs, batches,
//! typed commands, pastes and pages of them, driven through the engine with a scripted model.
//!
//! What is printed, read and pasted has no digit in it, so each digit in a text is wisp's own. A number is read by the
//! form it stands in: the forms are the grammar below, each with what it means. A number in a form that is not there
//! fails, so that a new text has to say here what its numbers are.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and write their own files"
)]

#[path = "../common/mod.rs"]
mod common;
mod forms;
mod things;

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};

use common::{Chat, Stage};
use ollama_sim::{Config, Model, Reply};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};
use wisp_agent::protocol::{Command, Event, NoteLevel, OutputSummary, OutputView, TurnOutcome};

use forms::page_of;
use things::{Act, Prints, Thing, act};

/// The conversation as it is driven, with the truth about all that was printed in it.
struct Driven {
    stage: Stage,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    /// The id of each output and what it is.
    things: Vec<(String, Thing)>,
    /// What is printed or read, by what the command line or the arguments say of it.
    by_name: Vec<(String, Thing)>,
    files: usize,
}

impl Driven {
    fn new() -> Self {
        let replies: Arc<Mutex<VecDeque<Reply>>> = Arc::default();
        let queue = Arc::clone(&replies);
        let rule = move |_: &ollama_sim::Seen| {
            queue
                .lock()
                .unwrap()
                .pop_front()
                .unwrap_or_else(|| Reply::text("Done."))
        };
        let model = Model::new("sim").with_context_length(131_072);
        let config = Config::new(rule).models([model]);
        let mut stage = Stage::new(config, &json!({"ollama": {"contextLength": 16_384}}));
        stage.yes = true;
        stage.ids = Arc::new(wisp_host::RandomIds);
        Self {
            stage,
            replies,
            things: Vec::new(),
            by_name: Vec::new(),
            files: 0,
        }
    }

    /// A name without digits for the next file.
    fn name(&mut self) -> String {
        self.files += 1;
        let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
        format!("f{}{}", letter(self.files / 26), letter(self.files))
    }

    /// Writes what a command is to print and gives its line.
    fn line(&mut self, thing: &Thing) -> String {
        let name = self.name();
        self.stage.write(&format!("{name}.out"), &thing.out);
        self.stage.write(&format!("{name}.err"), &thing.err);
        self.stage.write(
            &format!("{name}.sh"),
            &format!("cat {name}.out; cat {name}.err >&2; exit {}\n", thing.exit),
        );
        self.by_name.push((format!("sh {name}.sh"), thing.clone()));
        format!("sh {name}.sh")
    }

    /// The model makes these calls in one reply, and then says something.
    async fn turn(&mut self, chat: &mut Chat, calls: Vec<(&str, Value)>) -> Vec<Event> {
        let reply = calls.into_iter().fold(Reply::new(), |reply, (tool, arguments)| {
            reply.and_call(tool, arguments)
        });
        self.replies.lock().unwrap().push_back(reply);
        self.say(chat, "go on").await
    }

    async fn say(&mut self, chat: &mut Chat, text: &str) -> Vec<Event> {
        let from = chat.events.len();
        chat.send(Command::Message {
            text: text.to_owned(),
        });
        chat.until(|e| matches!(e, Event::Status(_))).await;
        chat.events[from..].to_vec()
    }

    /// The text with ids of outputs, and the directory, written without digits.
    fn plain(&self, text: &str) -> String {
        let mut text = text.replace(&self.stage.work().display().to_string(), "WORK");
        for (id, _) in &self.things {
            text = text.replace(id.as_str(), "ID").replace(&id[..8], "ID");
        }
        text
    }

    /// Notes under which id a text says that a thing is kept, if it does.
    fn learn(&mut self, text: &str, thing: &Thing) -> bool {
        static ID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"kept as output (\w{8})").unwrap());
        let id = ID.captures(text).map(|found| found[1].to_owned());
        let kept = id.is_some();
        self.things.extend(id.map(|id| (id, thing.clone())));
        kept
    }

    /// Checks each number of a text about a thing.
    fn check(&self, thing: &Thing, text: &str) {
        forms::check(thing, &self.plain(text));
    }

    /// Checks what stands in later requests for what a command printed and a file holds: references of the model's own
    /// calls, and notices of commands that were typed.
    fn check_requests(&self) {
        let bodies = self.stage.bodies();
        let messages = bodies
            .iter()
            .flat_map(|body| body["messages"].as_array().unwrap());
        let texts: BTreeSet<&str> = messages
            .filter_map(|message| message["content"].as_str())
            .collect();
        let notice = Regex::new(r"(?s)\[the person ran .*?(?:\n</output-\w+>|it printed nothing\])").unwrap();
        for text in texts {
            for found in notice.find_iter(text) {
                self.check(self.named(found.as_str()), found.as_str());
            }
            if text.starts_with("[output of entry ") {
                // What `memory` answered has numbers of what it was asked about: of its reference, the first line.
                let about = text.find("\narguments: {\"request\"").unwrap_or(text.len());
                self.check(self.named(text), &text[..about]);
            }
        }
    }

    fn named(&self, text: &str) -> &Thing {
        let mut names = self.by_name.iter();
        &names
            .find(|(name, _)| text.contains(name.as_str()))
            .expect(text)
            .1
    }

    /// Checks a page of an output as a front end shows it.
    fn check_view(&self, thing: &Thing, text: &str, view: &OutputView) {
        assert_eq!(
            (view.lines, view.bytes),
            (thing.lines().len() as u64, thing.bytes() as u64),
            "{view:?}"
        );
        self.check(thing, &view.about);
        let lines = thing.lines();
        let mut at = usize::try_from(view.first_line).unwrap();
        for (row, line) in text.lines().enumerate() {
            if view.frames.contains(&(row as u64)) {
                continue;
            }
            if view.page == 0 || row > 0 {
                assert_eq!(Some(&line), lines.get(at - 1), "line {at} of {view:?}");
            }
            at += 1;
        }
    }

    /// The results of the audit that are new: what the model was sent, and of which call.
    fn results(&self, events: &[Event]) -> Vec<(String, String, Option<OutputSummary>)> {
        let audited = self.stage.audited("tool.result");
        let told = events.iter().filter_map(|event| match event {
            Event::Event {
                kind,
                call,
                text,
                output,
                ..
            } if kind == "tool.result" => Some((call.clone()?, text.clone()?, output.clone())),
            _ => None,
        });
        told.map(|(call, line, output)| {
            let sent = audited
                .iter()
                .find(|event| event["call"] == call.as_str())
                .unwrap();
            (
                call,
                format!("{}\n{line}", sent["details"]["output"].as_str().unwrap()),
                output,
            )
        })
        .collect()
    }
}

/// Checks what a front end is told of an output with its result.
fn check_summary(thing: &Thing, output: &OutputSummary) {
    assert_eq!(output.lines, thing.lines().len() as u64, "{output:?}");
    assert_eq!(output.bytes, thing.bytes() as u64, "{output:?}");
    assert!(
        thing
            .lines()
            .join("\n")
            .starts_with(output.text.trim_end_matches('\n'))
            || output.truncated
    );
    for held in &output.held {
        let place = |line: u64| usize::try_from(line).unwrap();
        let (from, to) = (place(held.from_line), place(held.to_line));
        assert!(
            (1..=thing.lines().len()).contains(&from) && from <= to && to <= thing.lines().len(),
            "{held:?}"
        );
        assert!(held.bytes <= thing.bytes_of(from, to) as u64, "{held:?}");
    }
}

/// The request with which `memory` is asked about an output, by number.
fn request(verb: u8, id: &str, lines: usize) -> String {
    let middle = lines / 2 + 1;
    match verb % 7 {
        0 => format!("recall output {id}"),
        1 => format!("recall output {id} from line {middle}"),
        2 => format!("recall output {id} matching 'it broke'"),
        3 => format!("recall output {id} lines {}-{}", middle, middle + 20),
        4 => format!("recall output {id} head 5"),
        5 => format!("recall output {id} tail 5"),
        _ => format!("summarise output {id}"),
    }
}

async fn done(driven: &mut Driven, chat: &mut Chat, act: &Act) {
    match act {
        Act::Batch(commands) => batch(driven, chat, commands).await,
        Act::Read(stream) => read(driven, chat, stream.text()).await,
        Act::Typed(command) => typed(driven, chat, command.thing()).await,
        Act::Paste(stream) => paste(driven, chat, &format!("look at this:\n{}", stream.text())).await,
        Act::Recall(at, verb) => recall(driven, chat, *at, *verb).await,
        Act::Look(at, how) => look(driven, chat, *at, *how).await,
    }
}

async fn batch(driven: &mut Driven, chat: &mut Chat, commands: &[Prints]) {
    let things: Vec<Thing> = commands.iter().map(|command| command.thing()).collect();
    let lines: Vec<String> = things.iter().map(|thing| driven.line(thing)).collect();
    let calls = lines
        .iter()
        .map(|line| ("run_command", json!({"command": line})))
        .collect();
    let events = driven.turn(chat, calls).await;
    let results = driven.results(&events);
    assert_eq!(results.len(), things.len());
    for ((call, _, _), thing) in results.iter().zip(&things) {
        driven.things.push((call.clone(), thing.clone()));
    }
    for ((_, text, output), thing) in results.iter().zip(&things) {
        driven.check(thing, text);
        check_summary(thing, output.as_ref().unwrap());
    }
}

async fn read(driven: &mut Driven, chat: &mut Chat, text: String) {
    let name = driven.name();
    driven.stage.write(&name, &text);
    let thing = Thing {
        out: text,
        ..Thing::default()
    };
    let events = driven
        .turn(chat, vec![("read_file", json!({"path": name}))])
        .await;
    for (_, text, _) in driven.results(&events) {
        let about = format!("\"path\":\"{name}\"");
        // Of a page of a long file all of it is kept; a page that is all there is, is what was returned.
        let what = if driven.learn(&text, &thing) {
            thing.clone()
        } else {
            page_of(&text)
        };
        driven.check(&thing, &text);
        driven.by_name.push((about, what));
    }
}

async fn typed(driven: &mut Driven, chat: &mut Chat, thing: Thing) {
    let line = driven.line(&thing);
    let events = driven.say(chat, &format!("!{line}")).await;
    let told = events.iter().find_map(|event| match event {
        Event::Event {
            kind,
            call,
            text,
            output,
            details,
            ..
        } if kind == "command.typed" => {
            Some((call.clone()?, text.clone()?, output.clone()?, details.clone()))
        }
        _ => None,
    });
    let (call, text, output, details) = told.unwrap();
    driven.things.push((call, thing.clone()));
    driven.check(&thing, &text);
    driven.check(&thing, details["output"].as_str().unwrap());
    check_summary(&thing, &output);
}

async fn paste(driven: &mut Driven, chat: &mut Chat, message: &str) {
    driven.say(chat, message).await;
    let body = driven.stage.bodies().pop().unwrap();
    let messages = body["messages"].as_array().unwrap().iter().rev();
    let mut texts = messages.filter_map(|message| message["content"].as_str());
    let sent = texts.find(|text| text.contains("look at this:")).unwrap();
    // Notices of what was typed before stand above it.
    let at = sent.find("Message (").or_else(|| sent.find("look at this:"));
    let sent = &sent[at.unwrap()..];
    let thing = Thing {
        out: message.to_owned(),
        ..Thing::default()
    };
    // Too long to be sent whole, it is an output as any other.
    driven.learn(sent, &thing);
    driven.check(&thing, sent);
}

async fn recall(driven: &mut Driven, chat: &mut Chat, at: usize, verb: u8) {
    // What the model wrote itself is repeated in a page's own words, and none of wisp's numbers.
    static ASKED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" (?:lines \d+-\d+|head \d+|tail \d+)").unwrap());
    let Some((id, thing)) = pick(&driven.things, at).cloned() else {
        return;
    };
    let request = request(verb, &id[..8], thing.lines().len());
    let events = driven
        .turn(chat, vec![("memory", json!({"request": request}))])
        .await;
    for (_, text, _) in driven.results(&events) {
        let page = page_of(&text);
        if text.starts_with("error: ") {
            assert!(text.contains("no stored output has the id"), "{text}");
        } else {
            driven.check(&thing, &ASKED.replace_all(&page.out, ""));
        }
        driven
            .by_name
            .push((format!("{{\"request\":\"{request}\"}}"), page));
    }
}

async fn look(driven: &mut Driven, chat: &mut Chat, at: usize, how: u8) {
    let Some((id, thing)) = pick(&driven.things, at).cloned() else {
        return;
    };
    match how % 3 {
        0 => {
            for event in driven.say(chat, &format!("/show {}", &id[..8])).await {
                let Event::View(view) = event else { continue };
                let output = view.output.unwrap();
                driven.check_view(&thing, &view.text, &output);
                // The last page too, as a front end asks for it.
                let (id, page) = (output.id, output.pages.saturating_sub(1));
                chat.send(Command::Output { id, page });
                let last = chat.until(|event| matches!(event, Event::View(_))).await;
                let Event::View(last) = last else { unreachable!() };
                driven.check_view(&thing, &last.text, &last.output.unwrap());
            }
        }
        1 => {
            let events = driven.say(chat, &format!("/summarise {}", &id[..8])).await;
            driven.check(&thing, &printed(&events).join("\n"));
        }
        _ => {
            let events = driven.say(chat, "/outputs").await;
            for row in printed(&events) {
                let named = driven.things.iter().find(|(id, _)| row.starts_with(&id[..8]));
                if let Some((_, thing)) = named {
                    let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
                    driven.check(thing, &row.replace(" lines ", " lines, "));
                }
            }
        }
    }
}

fn printed(events: &[Event]) -> Vec<&str> {
    let mut lines = Vec::new();
    for event in events {
        if let Event::Output { text } = event {
            lines.push(text.as_str());
        }
    }
    lines
}

fn pick<T>(all: &[T], at: usize) -> Option<&T> {
    all.get(at.checked_rem(all.len())?)
}

async fn play(acts: &[Act]) {
    let mut driven = Driven::new();
    let mut chat = driven.stage.chat().await;
    for act in acts {
        done(&mut driven, &mut chat, act).await;
    }
    driven.check_requests();
    let failed = chat.events.iter().any(|event| match event {
        Event::Turn { end: Some(end), .. } => end.outcome == TurnOutcome::Error,
        _ => false,
    });
    assert!(!failed, "{:?}", chat.notes(NoteLevel::Error));
    chat.quit().await;
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_number_of_a_conversation_is_that_of_what_is_kept(acts in proptest::collection::vec(act(), 1..8)) {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
            .block_on(play(&acts));
    }
}
