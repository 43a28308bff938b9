//! Saving as it goes, through the real binary, when things go wrong: killed at any moment, on a full disk, long after.
//! What was saved last opens each time, and the person is told what is not saved.
#![allow(
    clippy::disallowed_methods,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests start and kill programs, fill disks, and fail"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};

use ollama_sim::{Model, Reply, Seen, Server};
use serde_json::{Value, json};
use wisp_tests::{Wisp, binary, quoted, serve};

/// How long one event is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A model that says at some length how many messages it was sent.
fn counts() -> Server {
    serve(Model::new("sim"), |seen: &Seen| {
        let said = "It was a calm night and the lamp burned well. ".repeat(8);
        Reply::text(&format!("I see {} messages. {said}", seen.messages.len()))
    })
}

/// A conversation over JSON lines.
struct Talk {
    child: Child,
    stdin: ChildStdin,
    events: Receiver<Value>,
}

impl Talk {
    fn start(mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, events) = channel();
        std::thread::spawn(move || {
            let lines = out.lines().map_while(Result::ok);
            // A line that a kill tore is none.
            for event in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
                if send.send(event).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, events }
    }

    fn send(&mut self, text: &str) {
        writeln!(self.stdin, "{}", json!({"type": "message", "text": text})).unwrap();
    }

    /// The events up to the next wish for a line.
    fn until_asked(&self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.events.recv_timeout(PATIENCE).expect("an event in time");
            let asked = event["type"] == "status";
            events.push(event);
            if asked {
                return events;
            }
        }
    }

    fn say(&mut self, text: &str) -> Vec<Value> {
        self.send(text);
        self.until_asked()
    }

    /// Sends a line and gives the notes of a level that came of it.
    fn notes(&mut self, text: &str, level: &str) -> Vec<String> {
        let events = self.say(text);
        let notes = events
            .iter()
            .filter(|e| e["type"] == "note" && e["level"] == level);
        notes
            .filter_map(|e| e["text"].as_str().map(str::to_owned))
            .collect()
    }

    fn leave(mut self) {
        writeln!(self.stdin, "{}", json!({"type": "quit"})).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// How many turns a conversation had when it was gone on with: `going on with work: 12 turns, …`.
fn turns_of(events: &[Value]) -> Option<u64> {
    let mut notes = events.iter().filter_map(|e| e["text"].as_str());
    let said = notes.find_map(|text| text.strip_prefix("going on with work: "))?;
    said.split(' ').next()?.replace(',', "").parse().ok()
}

/// The files of saves that did not come to their end.
fn unfinished(saved: &Path) -> usize {
    let files = std::fs::read_dir(saved).into_iter().flatten().flatten();
    files
        .filter(|file| file.file_name().to_string_lossy().starts_with(".wisp-"))
        .count()
}

/// Which save a file of `work` belongs to: its first line says so.
fn save_of(saved: &Path, ending: &str) -> String {
    let text = std::fs::read_to_string(saved.join(format!("work.{ending}"))).unwrap();
    let from = text.find("\"save\":").unwrap() + "\"save\":".len();
    text[from..].chars().take_while(char::is_ascii_digit).collect()
}

/// Kills the real program so many times, at random moments of a turn and as soon as a save is seen to have begun by
/// turns; each time what was saved last is gone on with, and at most the turn in flight is lacking. How many of the
/// kills fell between the beginning and the end of a save.
fn killed(times: u64) -> usize {
    let server = counts();
    let wisp = Wisp::with(&server);
    let saved = wisp.root().join("transcripts");
    let mut inside = 0;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut known = 0;
    wisp.run(&["chat", "--save", "work"], "zero\n/quit\n");
    for kill in 0..times {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut talk = Talk::start(wisp.command(&["chat", "--json", "--resume", "work"]));
        let opened = talk.until_asked();
        let turns = turns_of(&opened).unwrap_or_else(|| panic!("kill {kill} opens nothing: {opened:?}"));
        assert!(
            (known..=known + 1).contains(&turns),
            "kill {kill}: {turns} turns, {known} were over"
        );
        assert!(
            opened
                .iter()
                .all(|e| e["level"] != "warning" && e["level"] != "error"),
            "kill {kill}: {opened:?}"
        );
        known = turns;
        // Some turns to their end, then more lines than are waited for: the kill falls into a turn or its saves.
        for _ in 0..kill % 2 {
            talk.say("and the next watch?");
            known += 1;
        }
        for _ in 0..3 {
            talk.send("and the next watch?");
        }
        let before = unfinished(&saved);
        let (moment, seen) = (Instant::now(), kill % 2 == 1);
        let random = Duration::from_micros((state >> 33) % if seen { 3_000 } else { 60_000 });
        while seen && unfinished(&saved) == before && moment.elapsed() < PATIENCE {}
        let moment = Instant::now();
        while moment.elapsed() < random {
            std::thread::yield_now();
        }
        talk.child.kill().unwrap();
        talk.child.wait().unwrap();
        let torn = save_of(&saved, "store") != save_of(&saved, "json");
        inside += usize::from(torn || unfinished(&saved) > before);
        // A turn whose end was told was saved: one more may have been, and be told by nobody.
        let told = talk
            .events
            .iter()
            .filter(|e| e["type"] == "turn" && e["phase"] == "end")
            .count();
        known += told as u64;
    }
    let ran = wisp.run(&["threads", "--json"], "");
    let listed: Value = serde_json::from_str(&ran.text()).unwrap();
    assert!(listed[0]["turns"].as_u64().unwrap() >= known, "{listed}");
    inside
}

#[test]
fn wherever_it_is_killed_the_last_complete_save_opens() {
    let inside = killed(50);
    assert!(inside >= 10, "{inside} of 50 kills fell into a save");
}

/// The command line that runs wisp while `folders` are file systems of 256 KiB of their own, as a person with no rights
/// may make them; none where the system does not let them.
fn on_a_small_disk(wisp: &Wisp, folders: &[&Path], args: &[&str]) -> Option<Command> {
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: this system lets nobody mount a small disk (unshare -rm)");
        return None;
    }
    let mounts = folders.iter().map(|folder| {
        std::fs::create_dir_all(folder).unwrap();
        format!(
            "mount -t tmpfs -o size=256k,mode=700 tmpfs {} && ",
            quoted(folder)
        )
    });
    let script = format!(
        "{}exec {} {}",
        mounts.collect::<String>(),
        quoted(&binary("wisp")),
        args.join(" ")
    );
    let mut command = wisp.command(args);
    let envs: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", &script])
        .current_dir(wisp.work())
        .env_clear()
        .envs(envs);
    Some(command)
}

#[test]
fn on_a_full_disk_the_person_is_told_the_last_save_stays_and_saving_resumes_with_space() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let (saved, kept) = (wisp.root().join("transcripts"), wisp.root().join("output"));
    let args = ["chat", "--json", "--save", "work"];
    let Some(command) = on_a_small_disk(&wisp, &[&saved, &kept], &args) else {
        return;
    };
    let copy = |name: &str| format!("!mkdir {name} && cp {}/work.* {name}/ ; true", quoted(&saved));
    let mut talk = Talk::start(command);
    talk.until_asked();
    talk.say("one");
    talk.say(&copy("before"));
    // The command itself is the first thing that cannot be saved.
    let fill = format!("!head -c 400000 /dev/zero > {}/ballast ; true", quoted(&saved));
    let said = talk.notes(&fill, "error");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("could not be saved")
            && said[0].contains("what was saved before is intact")
            && said[0].contains("make room on the disk"),
        "{said:?}"
    );
    for line in ["two, a long story", "three"] {
        assert_eq!(talk.notes(line, "error"), Vec::<String>::new(), "it is said once");
    }
    talk.say(&copy("during"));
    talk.say(&format!(
        "!find {} -type f -size 0 > empty ; true",
        quoted(&saved)
    ));
    talk.say(&format!("!ls -A {} > left ; true", quoted(&saved)));
    let said = talk.notes(&format!("!rm {}/ballast", quoted(&saved)), "info");
    assert!(said.iter().any(|s| s.contains("being saved again")), "{said:?}");
    talk.say("four");
    talk.say(&copy("after"));
    talk.leave();
    let read = |file: &str| std::fs::read_to_string(wisp.work().join(file)).unwrap();
    assert_eq!(read("empty"), "", "no file of no bytes");
    assert!(
        !read("left").contains(".wisp-"),
        "nothing of the unfinished saves is left: {}",
        read("left")
    );
    // Each copy is a conversation that opens, with the turns that had been saved by then.
    for (from, turns) in [("before", 1), ("during", 1), ("after", 4)] {
        let files = wisp.work().join(from);
        std::fs::create_dir_all(&saved).unwrap();
        for file in std::fs::read_dir(&files).unwrap().flatten() {
            if file.path().extension().is_some_and(|ending| ending != "lock") {
                std::fs::copy(file.path(), saved.join(file.file_name())).unwrap();
            }
        }
        let mut again = Talk::start(wisp.command(&["chat", "--json", "--resume", "work"]));
        assert_eq!(turns_of(&again.until_asked()), Some(turns), "{from}");
        again.say("and on");
        again.leave();
    }
}

#[test]
fn with_the_whole_home_on_a_full_disk_the_turn_ends_with_an_error_and_what_was_saved_opens() {
    let server = counts();
    let wisp = Wisp::with(&server);
    let home = wisp.work().join("small");
    let args = ["chat", "--json", "--model", "sim", "--save", "work"];
    let Some(mut command) = on_a_small_disk(&wisp, &[&home], &args) else {
        return;
    };
    command.env("WISP_HOME", home.join("wisp"));
    let mut talk = Talk::start(command);
    talk.until_asked();
    talk.say("one");
    talk.say(&format!(
        "!head -c 400000 /dev/zero > {}/ballast ; true",
        quoted(&home)
    ));
    for turn in ["two", "three"] {
        let said = talk.notes(&format!("{turn} {}", "and a long story ".repeat(800)), "error");
        assert!(
            said.iter().any(|s| s.contains("make room on the disk")),
            "{said:?}"
        );
    }
    // What cannot be recorded is not run, so the room is made from outside.
    let inside = format!("/proc/{}/root{}/ballast", talk.child.id(), home.display());
    std::fs::remove_file(inside).unwrap();
    let said = talk.notes("four", "error");
    assert_eq!(said, Vec::<String>::new(), "with space it works again");
    talk.say(&format!("!cp -r {}/wisp kept", quoted(&home)));
    talk.leave();
    let mut again = wisp.command(&["chat", "--json", "--model", "sim", "--resume", "work"]);
    again.env("WISP_HOME", wisp.work().join("kept"));
    let again = Talk::start(again);
    let turns = turns_of(&again.until_asked());
    assert!(turns.is_some_and(|turns| turns >= 2), "{turns:?}");
    again.leave();
}

#[test]
fn a_conversation_goes_on_with_another_model_and_window() {
    let models = [Model::new("sim"), Model::new("other").with_context_length(4096)];
    let answer = |seen: &Seen| Reply::text(&format!("I see {} messages.", seen.messages.len()));
    let server = Server::start(ollama_sim::Config::new(answer).models(models)).unwrap();
    let wisp = Wisp::with(&server);
    wisp.run(
        &["chat", "--save", "work"],
        "my name is Ada\n!seq 1 300\nand mine is Bo\n/quit\n",
    );
    wisp.configure(&json!({"ollama": {"contextLength": 4096}}));
    let ran = wisp.run(
        &["chat", "--resume", "work", "--model", "other"],
        "what is my name?\n/quit\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let last = server.chats().pop().and_then(|chat| chat.json).unwrap();
    assert_eq!(
        (&last["model"], &last["options"]["num_ctx"]),
        (&json!("other"), &json!(4096))
    );
    let text = last["messages"].to_string();
    assert!(
        text.contains("my name is Ada") && text.contains("and mine is Bo"),
        "{text}"
    );
    let started = started(&wisp);
    let first = started.iter().find(|e| e["details"]["resume"].is_null()).unwrap();
    let second = started.iter().find(|e| e["details"]["resume"] == "work").unwrap();
    assert_eq!(second["details"]["carriedFrom"], json!([first["session"]]));
}

/// The events that began each audit session.
fn started(wisp: &Wisp) -> Vec<Value> {
    let files = std::fs::read_dir(wisp.root().join("audit")).unwrap().flatten();
    let logs = files
        .map(|f| f.path())
        .filter(|f| f.extension().is_some_and(|e| e == "jsonl"));
    let mut found = Vec::new();
    for log in logs {
        let text = std::fs::read_to_string(log).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        found.extend(events.filter(|e| e["kind"] == "session.start"));
    }
    found
}

fn age(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600 + 60);
    std::fs::File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn unnamed_conversations_go_after_their_days_and_named_or_open_ones_never() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.run(&["chat", "--save", "work"], "one\n/quit\n");
    wisp.run(&["chat"], "two\n/quit\n");
    wisp.run(&["chat"], "three\n/quit\n");
    let saved = wisp.root().join("transcripts");
    let all = || -> Vec<String> {
        let files = std::fs::read_dir(&saved).unwrap().flatten();
        let mut names: Vec<String> = files
            .map(|f| f.file_name().to_string_lossy().into_owned())
            .collect();
        names.retain(|name| name.ends_with(".store"));
        names.sort();
        names
    };
    let closed: Vec<String> = all().into_iter().filter(|name| name != "work.store").collect();
    let mut open = Talk::start(wisp.command(&["chat", "--json"]));
    open.until_asked();
    open.say("four");
    let before = all();
    assert_eq!(before.len(), 4, "{before:?}");
    // What a killed save and a deletion stopped in the middle left; the other past is a conversation's.
    for (name, text) in [(".wisp-left", "torn"), ("gone.past", "{}"), ("work.past", "")] {
        std::fs::write(saved.join(name), text).unwrap();
    }
    for file in std::fs::read_dir(&saved).unwrap().flatten() {
        age(&file.path(), 31);
    }
    // The youngest of the unnamed ones that nobody has open was used yesterday.
    let third = &closed[1];
    for ending in ["store", "json"] {
        age(&saved.join(third).with_extension(ending), 1);
    }
    let found = wisp.run(&["doctor"], "").text();
    assert!(found.contains("4 conversations saved, 1 under a name"), "{found}");
    assert!(
        found.contains("the next start removes 2 conversations without a name"),
        "{found}"
    );
    wisp.run(&["chat"], "/quit\n");
    let after = all();
    assert_eq!(
        after.len(),
        3,
        "one went, the named, the recent and the open one stay: {after:?}"
    );
    assert!(after.contains(&"work.store".to_owned()) && after.contains(third));
    assert!(
        after
            .iter()
            .any(|name| name != "work.store" && !closed.contains(name)),
        "{after:?}"
    );
    assert!(!saved.join(".wisp-left").exists() && !saved.join("gone.past").exists());
    assert!(saved.join("work.past").exists());
    let swept: Vec<Value> = started(&wisp)
        .into_iter()
        .filter_map(|e| e["details"].get("threadSweep").cloned())
        .collect();
    assert_eq!(swept.len(), 1);
    assert_eq!(
        (&swept[0]["removed"], &swept[0]["open"], &swept[0]["files"]),
        (&json!(1), &json!(1), &json!(2))
    );
    assert_eq!(
        format!("{}.store", swept[0]["conversations"][0].as_str().unwrap()),
        closed[0]
    );
    open.leave();
    wisp.configure(&json!({"model": "sim", "context": {"unnamedDays": 0}}));
    for file in std::fs::read_dir(&saved).unwrap().flatten() {
        age(&file.path(), 3000);
    }
    wisp.run(&["chat"], "/quit\n");
    assert_eq!(all(), after, "0 days keeps them for ever");
}

#[test]
fn what_a_condensation_did_is_in_the_log_and_the_contexts_before_and_after_can_be_read() {
    let server = counts();
    let wisp = Wisp::with(&server);
    wisp.configure(&json!({"model": "sim", "ollama": {"contextLength": 4096}}));
    let line = |n: u32| format!("what of watch {n}? {}", "tell me more of it ".repeat(20));
    let lines = (1..=16).map(line).collect::<Vec<_>>().join("\n");
    let began = Instant::now();
    let ran = wisp.run(&["chat"], &format!("{lines}\n/quit\n"));
    assert_eq!(ran.code, Some(0), "{} after {:?}", ran.err, began.elapsed());
    let events = wisp.audit();
    let done = events
        .iter()
        .find(|e| e["kind"] == "context.condensation")
        .expect("4,096 tokens are few");
    let read = |name: &str| std::fs::read_to_string(done["details"][name].as_str().unwrap()).unwrap();
    let (before, after) = (read("savedBefore"), read("savedAfter"));
    assert!(
        before.contains("what of watch 1?") && after.contains("From earlier in this conversation"),
        "{after}"
    );
    assert!(before.len() > after.len());
    let turn = done["turn"].as_u64().unwrap();
    let condensed: Vec<u64> = events
        .iter()
        .filter(|e| e["kind"] == "response" && e["details"]["condensed"] == true)
        .filter_map(|e| e["turn"].as_u64())
        .collect();
    assert_eq!(condensed[0], turn, "the turn whose room it was");
    let log = wisp.run(&["logs", "--kind", "context.condensation"], "").text();
    let row = log.lines().next().unwrap();
    assert!(
        row.contains("budget · ") && row.contains("dropped ") && row.contains("contextSize 4096"),
        "{row}"
    );
}
