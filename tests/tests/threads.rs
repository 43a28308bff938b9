//! Conversations saved and gone on with, through the real binary: the list, a copy, what is damaged, who holds it.
#![allow(
    clippy::disallowed_methods,
    reason = "tests damage the files of a home of their own"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::json;
use wisp_tests::{Talk, Wisp, notes, outcome, serve};

/// A model that says how many messages it was sent.
fn counts() -> Server {
    serve(Model::new("sim"), |seen: &Seen| {
        Reply::text(&format!("I see {} messages.", seen.messages.len()))
    })
}

fn lines(wisp: &Wisp, args: &[&str], lines: &[&str]) -> wisp_tests::Ran {
    wisp.run(args, &format!("{}\n/quit\n", lines.join("\n")))
}

#[test]
fn a_saved_conversation_is_listed_printed_gone_on_with_and_deleted() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let ran = lines(&wisp, &["chat", "--save", "work"], &["my name is Ada"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let listed = wisp.run(&["threads"], "").text();
    let row: Vec<&str> = listed.trim_end().split('\t').collect();
    assert_eq!((row[0], row[2], row[4]), ("work", "1", "my name is Ada"));
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["and now?"]);
    assert!(ran.text().contains("I see 4 messages."), "{}", ran.text());
    assert!(ran.err.contains("going on with work: 1 turn"), "{}", ran.err);
    // Without a name: the last one, which this was.
    let ran = lines(&wisp, &["chat", "--resume"], &["and now?"]);
    assert!(ran.text().contains("I see 6 messages."), "{}", ran.text());
    let shown = wisp.run(&["threads", "show", "work"], "").text();
    assert!(
        shown.contains("> my name is Ada") && shown.contains("turn 3"),
        "{shown}"
    );
    assert_eq!(wisp.run(&["threads", "delete", "work"], "").code, Some(0));
    let ran = lines(&wisp, &["chat", "--resume", "work"], &[]);
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    assert!(
        ran.err.contains("no conversation is saved as work"),
        "{}",
        ran.err
    );
}

#[test]
fn what_cannot_be_read_stops_the_resume_and_stays_as_it_is() {
    let server = counts();
    let wisp = Wisp::with(&server);
    lines(&wisp, &["chat", "--save", "work"], &["one", "two", "three"]);
    let file = |name: &str| wisp.root().join("transcripts").join(name);
    let store = std::fs::read(file("work.store")).expect("it was saved");
    // A torn end: the transcript has what the store lost.
    std::fs::write(file("work.store"), &store[..store.len() - 40]).expect("written");
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["four"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err.matches("work.store, line").count(), 1, "{}", ran.err);
    assert!(ran.text().contains("I see 8 messages."), "{}", ran.text());
    assert!(file("work.store.damaged-1").exists());
    for name in ["work.store", "work.json"] {
        std::fs::write(file(name), "{\"version\":0}\n").expect("written");
    }
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["five"]);
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    assert!(
        ran.err.contains("older wisp") && ran.err.contains("hint:"),
        "{}",
        ran.err
    );
    let left = std::fs::read_to_string(file("work.json")).expect("it is there");
    assert_eq!(left, "{\"version\":0}\n");
}

#[test]
fn a_second_wisp_is_told_which_process_has_it_and_a_kill_leaves_no_lock() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let mut command = wisp.command(&["chat", "--json", "--save", "work"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut first = command.spawn().expect("the binary starts");
    let mut stdin = first.stdin.take().expect("a pipe");
    writeln!(stdin, "hello").expect("it reads");
    // Kept to the end: a face whose output nobody reads leaves.
    let mut out = BufReader::new(first.stdout.take().expect("a pipe")).lines();
    let ended = |line: &String| line.contains("\"type\":\"turn\"") && line.contains("\"phase\":\"end\"");
    assert!(out.by_ref().map_while(Result::ok).any(|line| ended(&line)));
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["me too"]);
    assert_eq!(ran.code, Some(64), "{}", ran.err);
    let named = format!("(process {})", first.id());
    assert!(ran.err.contains(&named), "{}", ran.err);
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["me now"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.text().contains("I see 4 messages."), "{}", ran.text());
}

/// Two who take turns at one conversation, one of whom condenses it, and a copy taken while it was open.
#[test]
fn what_two_wisps_say_in_turn_is_all_there_also_when_one_condenses() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "ollama": {"contextLength": 4096}}));
    let start = |args: &[&str]| {
        let mut talk = Talk::start(&wisp, args, Duration::from_secs(40));
        talk.until("wish for a line", |e| e["type"] == "status");
        talk
    };
    let say = |talk: &mut Talk, who: &str, turns: std::ops::RangeInclusive<u32>| {
        for turn in turns {
            let text = format!("{who} {turn}: {}", "the lamp was lit at dusk. ".repeat(16));
            assert_eq!(outcome(&talk.say(&text)), "ok");
        }
    };
    let mut first = start(&["--save", "work"]);
    say(&mut first, "A", 1..=2);
    // Open in the first: refused to others, as is its deletion; a copy may be taken and gone on with.
    let named = format!("(process {})", first.process());
    for args in [
        &["chat", "--resume", "work"][..],
        &["chat", "--resume"],
        &["threads", "delete", "work"],
    ] {
        let ran = lines(&wisp, args, &["me too"]);
        assert!(
            ran.code == Some(64) && ran.err.contains(&named),
            "{args:?}: {}",
            ran.err
        );
    }
    let mut copy = start(&["--resume", "work", "--save", "copy"]);
    say(&mut copy, "C", 1..=3);
    say(&mut first, "A", 3..=3);
    copy.leave();
    first.leave();
    let mut second = start(&["--resume", "work"]);
    say(&mut second, "B", 1..=3);
    second.leave();
    let mut again = start(&["--resume", "work"]);
    say(&mut again, "A", 4..=14);
    assert!(
        !notes(&again.seen, "info")
            .iter()
            .all(|note| !note.contains("made room")),
        "it is condensed"
    );
    drop(again);
    // Killed, the last one leaves nothing that blocks, and everything anybody said is there once.
    let ran = lines(&wisp, &["chat", "--resume", "work"], &["last"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let shown = |name: &str| wisp.run(&["threads", "show", name], "").text();
    let (work, copied) = (shown("work"), shown("copy"));
    let said = (1..=14)
        .map(|n| format!("> A {n}: "))
        .chain((1..=3).map(|n| format!("> B {n}: ")));
    for line in said.chain(["> last".to_owned()]) {
        assert_eq!(work.matches(&line).count(), 1, "{line} in {work}");
    }
    assert!(!work.contains("> C 1: "), "{work}");
    for line in ["> A 1: ", "> A 2: ", "> C 1: ", "> C 2: ", "> C 3: "] {
        assert_eq!(copied.matches(line).count(), 1, "{line} in {copied}");
    }
    assert!(!copied.contains("> A 3: "), "{copied}");
}

#[test]
fn a_conversation_goes_on_with_its_own_model_in_another_directory_and_says_so() {
    let models = [Model::new("sim"), Model::new("other")];
    let answer = |seen: &Seen| Reply::text(&format!("I see {} messages.", seen.messages.len()));
    let server = Server::start(ollama_sim::Config::new(answer).models(models)).unwrap();
    let wisp = Wisp::with(&server);
    let (before, now) = (wisp.work().join("before"), wisp.work().join("now"));
    std::fs::create_dir(&before).unwrap();
    std::fs::create_dir(&now).unwrap();
    let run = |directory: &std::path::Path, args: &[&str], text: &str| {
        let mut command = wisp.command(args);
        command.current_dir(directory);
        wisp.run_command(command, text)
    };
    run(
        &before,
        &["chat", "--save", "work", "--model", "other"],
        "one\n/quit\n",
    );
    std::fs::remove_dir(&before).unwrap();
    let ran = run(&now, &["chat", "--resume", "work"], "two\nthree\n/quit\n");
    let moved = format!(
        "this conversation was held in {}, which is gone; commands now run in {}",
        before.display(),
        now.display()
    );
    let unwrapped = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains(&moved), "{}", ran.err);
    let sent: Vec<_> = server.chats().into_iter().filter_map(|chat| chat.json).collect();
    let last = sent.last().unwrap();
    assert_eq!(last["model"], "other");
    // Once, with the first message, which keeps it: what was sent before does not change.
    let text = last["messages"].to_string();
    assert_eq!(
        text.matches("which is gone; commands now run in").count(),
        1,
        "{text}"
    );
    assert_eq!(last["messages"][3]["content"], format!("two\n\n[{moved}]"));
    assert_eq!(last["messages"][5]["content"], "three");
}
