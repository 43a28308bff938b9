//! Writing: the envelope to the byte, continuing, crashes, locking, failure, finding and following.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::naive_bytecount,
    reason = "tests damage files as no code of wisp's may, and a failed step is a failed test"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;

use serde_json::json;
use wisp_audit::{
    AuditError, AuditFile, AuditLog, Event, EventId, Filter, Follower, Kind, SessionId, Sweep, Trail,
    Verdict, sessions, verify,
};
use wisp_host::{Clock, FixedClock, FixedIds, RandomIds, SystemClock};

fn session() -> SessionId {
    SessionId::parse("s").unwrap()
}

fn open(home: &Path) -> AuditLog {
    AuditLog::open(home, &session(), Arc::new(SystemClock), Arc::new(RandomIds)).unwrap()
}

fn fixed(home: &Path) -> AuditLog {
    let clock = Arc::new(FixedClock::at("2026-11-30T09:00:00.5Z"));
    AuditLog::open(home, &session(), clock, Arc::new(FixedIds::default())).unwrap()
}

fn prompt(text: &str) -> Event<'static> {
    Event::new(Kind::Prompt, json!({ "text": text }))
}

fn lines(home: &Path) -> Vec<String> {
    let text = fs::read_to_string(home.join("audit/s.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn an_event_is_one_line_with_the_envelope_in_order() {
    let home = tempfile::tempdir().unwrap();
    let log = fixed(home.path());
    let id = log.append(prompt("hi\n").in_turn(1).of_call("c9")).unwrap();
    assert_eq!(id.as_str(), "0000000000000001");
    // SHA-256 of "s".
    let prev = "043a718774c572bd8a25adbeb1bfcd5c0256ae11cecf9f9c3f925d0e52beaf89";
    let line = format!(
        "{{\"schema\":1,\"id\":\"0000000000000001\",\"seq\":1,\"time\":\"2026-11-30T09:00:00.500Z\",\
         \"version\":\"{}\",\"pid\":{},\"session\":\"s\",\"turn\":1,\"call\":\"c9\",\"kind\":\"prompt\",\
         \"details\":{{\"text\":\"hi\\n\"}},\"prev\":\"{prev}\"}}",
        env!("CARGO_PKG_VERSION"),
        std::process::id()
    );
    assert_eq!(lines(home.path()), [line]);
}

#[test]
fn file_seal_and_folder_are_private() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    log.append(prompt("x")).unwrap();
    let mode = |name: &str| fs::metadata(home.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        ["audit", "audit/s.jsonl", "audit/s.seal", "audit/s.ids"].map(mode),
        [0o700, 0o600, 0o600, 0o600]
    );
}

#[test]
fn a_session_opened_again_continues_the_chain() {
    let home = tempfile::tempdir().unwrap();
    open(home.path()).append(prompt("one")).unwrap();
    open(home.path()).append(prompt("two")).unwrap();
    let log = open(home.path());
    log.append(prompt("three")).unwrap();
    let events = AuditFile::open(home.path(), &session()).unwrap();
    let events: Vec<_> = events.events().unwrap().map(Result::unwrap).collect();
    assert_eq!(events.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(events.iter().all(|e| e.kind == "prompt"));
    assert!(matches!(
        verify(&log.path().unwrap()).unwrap(),
        Verdict::Whole { events: 3, .. }
    ));
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let first = open(home.path());
    first.append(prompt("one")).unwrap();
    let clone = first.clone();
    drop(first);
    let second = || {
        AuditLog::open(
            home.path(),
            &session(),
            Arc::new(SystemClock),
            Arc::new(RandomIds),
        )
    };
    assert!(matches!(second(), Err(AuditError::InUse { path }) if path.ends_with("audit/s.jsonl")));
    drop(clone);
    assert!(second().is_ok());
}

#[test]
fn a_session_in_which_nothing_happened_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    assert!(log.is_on() && log.path().unwrap().ends_with("audit/s.jsonl"));
    assert!(log.find("0000000000000001").unwrap().is_none());
    log.sync().unwrap();
    let files = || fs::read_dir(home.path().join("audit")).unwrap().count();
    assert_eq!(files(), 0);
    drop(log);
    assert_eq!(files(), 0);
    // One that a kill left between the making of the file and the first event goes with the next that writes nothing.
    fs::write(home.path().join("audit/s.jsonl"), "").unwrap();
    drop(open(home.path()));
    assert_eq!(files(), 0);
}

#[test]
fn of_two_that_have_written_nothing_yet_the_first_to_write_has_the_session() {
    let home = tempfile::tempdir().unwrap();
    let (first, second) = (open(home.path()), open(home.path()));
    first.append(prompt("one")).unwrap();
    assert!(matches!(
        second.append(prompt("two")),
        Err(AuditError::InUse { .. })
    ));
    drop(first);
    second.append(prompt("two")).unwrap();
    let path = second.path().unwrap();
    assert!(matches!(verify(&path).unwrap(), Verdict::Whole { events: 2, .. }));
}

#[test]
fn a_torn_last_line_stays_is_said_and_is_passed_over() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    log.append(prompt("one")).unwrap();
    let path = log.path().unwrap();
    drop(log);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"schema\":1,\"id\":\"00");
    fs::write(&path, &bytes).unwrap();
    let log = open(home.path());
    log.append(prompt("two")).unwrap();
    drop(log);
    let lines = lines(home.path());
    assert_eq!(lines[1], "{\"schema\":1,\"id\":\"00");
    let events = AuditFile::at(&path).unwrap().last(9, &Filter::default()).unwrap();
    let kinds: Vec<_> = events.iter().map(|e| (e.seq, e.kind.as_str())).collect();
    assert_eq!(kinds, [(1, "prompt"), (2, "audit.recovered"), (3, "prompt")]);
    // The torn bytes and the newline that ends them now.
    assert_eq!(events[1].details["bytes"], 21);
    assert!(matches!(verify(&path).unwrap(), Verdict::Whole { events: 3, torn, .. } if torn == [2]));
}

#[test]
fn a_file_and_a_seal_without_an_event_between_crashes_are_quiet() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let log = open(home.path());
    log.append(prompt("one")).unwrap();
    assert_eq!(lines(home.path()).len(), 1);
}

#[test]
fn events_lost_from_the_end_are_said_when_the_session_is_opened_again() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    (0..3).for_each(|_| drop(log.append(prompt("x")).unwrap()));
    let path = log.path().unwrap();
    drop(log);
    let kept = lines(home.path())[..1].join("\n") + "\n";
    fs::write(&path, kept).unwrap();
    drop(open(home.path()));
    let event = &AuditFile::at(&path).unwrap().last(1, &Filter::default()).unwrap()[0];
    assert_eq!((event.seq, event.details["sealedSeq"].as_u64()), (2, Some(3)));
    let change = wisp_audit::Change::Removed { events: 2 };
    assert_eq!(verify(&path).unwrap(), Verdict::Broken { line: 2, change });
}

#[test]
fn a_link_in_place_of_the_file_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("audit")).unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::os::unix::fs::symlink(&elsewhere, home.path().join("audit/s.jsonl")).unwrap();
    let opened = AuditLog::open(
        home.path(),
        &session(),
        Arc::new(SystemClock),
        Arc::new(RandomIds),
    );
    assert!(matches!(opened, Err(AuditError::File(_))));
    assert!(!elsewhere.exists());
}

#[test]
fn a_log_that_is_off_tells_listeners_and_writes_nothing() {
    let log = AuditLog::off();
    let (tell, told) = mpsc::channel();
    log.subscribe(move |record| tell.send(record.kind.clone()).unwrap());
    let trail = Trail::of(&log, 2);
    for text in ["one", "two", "three"] {
        log.append(prompt(text)).unwrap();
    }
    assert_eq!(told.try_iter().count(), 3);
    let texts: Vec<_> = trail
        .events()
        .iter()
        .map(|e| e.text("text").unwrap().to_owned())
        .collect();
    assert_eq!(texts, ["two", "three"]);
    assert!(!log.is_on() && log.path().is_none());
}

#[test]
fn last_reads_from_the_end_and_filters() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    for turn in 1..=3 {
        log.append(prompt("x").in_turn(turn)).unwrap();
        let call = Event::new(
            Kind::ToolCall,
            json!({ "tool": format!("t{turn}"), "arguments": {} }),
        );
        log.append(call.in_turn(turn).of_call("c")).unwrap();
        log.append(Event::new(Kind::ContextCut, json!({ "bytes": 1 })).in_turn(turn))
            .unwrap();
    }
    let file = AuditFile::open(home.path(), &session()).unwrap();
    let seqs = |count, filter: &Filter| -> Vec<u64> {
        file.last(count, filter).unwrap().iter().map(|e| e.seq).collect()
    };
    let kinds = |kinds: &[&str]| Filter {
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..Filter::default()
    };
    assert_eq!(seqs(2, &Filter::default()), [8, 9]);
    assert_eq!(seqs(0, &Filter::default()), [0; 0]);
    assert_eq!(seqs(2, &kinds(&["tool.call"])), [5, 8]);
    assert_eq!(seqs(9, &kinds(&["context", "prompt"])), [1, 3, 4, 6, 7, 9]);
    assert_eq!(seqs(9, &kinds(&["tool.cal"])), [0; 0]);
    let turn = Filter {
        turn: Some(2),
        ..Filter::default()
    };
    assert_eq!(seqs(9, &turn), [4, 5, 6]);
    let tool = Filter {
        tool: Some("t3".into()),
        call: Some("c".into()),
        ..Filter::default()
    };
    assert_eq!(seqs(9, &tool), [8]);
}

#[test]
fn an_event_is_found_by_id_and_not_by_what_another_says() {
    let home = tempfile::tempdir().unwrap();
    let log = open(home.path());
    let padding = "x".repeat(300_000);
    let ids: Vec<_> = (0..8)
        .map(|n| log.append(prompt(&format!("{n} {padding}"))).unwrap())
        .collect();
    // Another event's text repeats how the one looked for begins.
    let decoy = format!("{{\"schema\":1,\"id\":\"{}\"", ids[0]);
    log.append(prompt(&decoy)).unwrap();
    let file = AuditFile::open(home.path(), &session()).unwrap();
    for (id, seq) in ids.iter().zip(1..) {
        assert_eq!(log.find(id.as_str()).unwrap().unwrap().seq, seq);
        assert_eq!(file.find(id).unwrap().unwrap().seq, seq);
    }
    assert_eq!(file.find(&EventId::from("ffffffffffffffff")).unwrap(), None);
    drop(log);
    let index = wisp_audit::index_of(&wisp_audit::file_of(home.path(), &session()));
    // A wrong index misleads nobody, nor does a missing one.
    let entries = fs::read(&index).unwrap();
    fs::write(&index, [&entries[16..24], &[9; 8], &entries[32..]].concat()).unwrap();
    assert_eq!(file.find(&ids[1]).unwrap().unwrap().seq, 2);
    fs::remove_file(&index).unwrap();
    assert_eq!(file.find(&ids[2]).unwrap().unwrap().seq, 3);
    assert_eq!(open(home.path()).find(ids[3].as_str()).unwrap().unwrap().seq, 4);
}

#[test]
fn a_follower_sees_each_event_once_and_waits_for_the_end_of_a_line() {
    let home = tempfile::tempdir().unwrap();
    let path = wisp_audit::file_of(home.path(), &session());
    let mut early = Follower::new(&path, false).unwrap();
    assert!(early.poll().unwrap().is_empty());
    let log = open(home.path());
    log.append(prompt("one")).unwrap();
    let mut late = Follower::new(&path, false).unwrap();
    log.append(prompt("two")).unwrap();
    let seqs = |events: Vec<wisp_audit::Record>| events.iter().map(|e| e.seq).collect::<Vec<_>>();
    assert_eq!(seqs(early.poll().unwrap()), [1, 2]);
    assert_eq!(seqs(late.poll().unwrap()), [2]);
    drop(log);
    let whole = fs::read(&path).unwrap();
    let third = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .last()
        .unwrap()
        .replace("\"seq\":2", "\"seq\":3");
    fs::write(&path, [&whole, &third.as_bytes()[..40]].concat()).unwrap();
    assert_eq!(seqs(late.poll().unwrap()), [0; 0]);
    fs::write(&path, [&whole, third.as_bytes(), b"\n"].concat()).unwrap();
    assert_eq!(seqs(late.poll().unwrap()), [3]);
}

#[test]
fn a_sweep_removes_what_is_past_its_time_and_not_needed() {
    let home = tempfile::tempdir().unwrap();
    let named = |name: &str| SessionId::parse(name).unwrap();
    let open = |name| {
        AuditLog::open(
            home.path(),
            &named(name),
            Arc::new(SystemClock),
            Arc::new(RandomIds),
        )
    };
    for name in ["old", "needed"] {
        open(name).unwrap().append(prompt("x")).unwrap();
    }
    let in_use = open("in-use").unwrap();
    in_use.append(prompt("x")).unwrap();
    let day = 24 * 3600;
    let sweep = |days, age: i64| Sweep {
        key: None,
        home: home.path(),
        now: SystemClock.now() + jiff::SignedDuration::from_secs(age),
        days,
        keep: &|session| session.as_str() == "needed",
    };
    assert_eq!(sweep(0, 999 * day).run().unwrap().removed, []);
    assert_eq!(sweep(90, 90 * day - 60).run().unwrap().removed, []);
    let report = sweep(90, 90 * day + 60).run().unwrap();
    let removed: Vec<_> = report.removed.iter().map(|file| file.session.as_str()).collect();
    assert_eq!((removed, report.deferred), (vec!["old"], 0));
    let left = fs::read_dir(home.path().join("audit")).unwrap().count();
    assert_eq!(
        left, 8,
        "two sessions with their seals and indexes, and the register with its seal"
    );
}

#[test]
fn a_sweep_takes_sixteen_at_once_the_oldest_first() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("audit")).unwrap();
    for n in 0..20 {
        let file = fs::File::create(home.path().join(format!("audit/s{n:02}.jsonl"))).unwrap();
        let age = std::time::Duration::from_secs(1000 - n);
        file.set_modified(std::time::SystemTime::now() - age).unwrap();
    }
    let sweep = Sweep {
        key: None,
        home: home.path(),
        now: SystemClock.now() + jiff::SignedDuration::from_hours(48),
        days: 1,
        keep: &|_| false,
    };
    let report = sweep.run().unwrap();
    assert_eq!((report.removed.len(), report.deferred), (16, 4));
    assert_eq!(report.removed[0].session.as_str(), "s00");
    assert_eq!(sweep.run().unwrap().removed[0].session.as_str(), "s16");
}

#[test]
#[should_panic(expected = "add [\"speed\"] to the row of prompt")]
fn a_field_outside_the_kinds_row_is_refused_in_debug_builds() {
    let _ = AuditLog::off().append(Event::new(Kind::Prompt, json!({ "speed": 1 })));
}

#[test]
fn sessions_are_listed_and_strangers_passed_over() {
    let home = tempfile::tempdir().unwrap();
    assert!(sessions(home.path()).unwrap().is_empty());
    open(home.path()).append(prompt("x")).unwrap();
    fs::write(home.path().join("audit/.x.jsonl"), "").unwrap();
    fs::write(home.path().join("audit/notes.txt"), "").unwrap();
    let listed = sessions(home.path()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].session, session());
}
