//! Damage, version by version and byte by byte.

use super::*;
use crate::entry::EntryId;
use crate::output::Arrival;
use crate::recording::NewCall;
use crate::stamp::{Stamp, Time};
use crate::turn::Outcome;

/// A conversation of eight turns with calls, thinking and a cut.
fn record() -> ThreadRecord {
    let stamp = || Stamp::at(Time::utc(1_000)).from("event-1");
    let mut record = ThreadRecord::new("You are wisp.", stamp());
    for turn in 0..8 {
        record.begin_turn(format!("question {turn}: a \"quoted\" word"), stamp());
        record.request();
        record.record_thinking("let me see", stamp());
        let (_, calls) = record.record_calls(
            "",
            vec![NewCall::new("run_command", serde_json::json!({"n": turn}))],
            stamp(),
        );
        let page = "a line of six words here\n".repeat(30);
        record.record_output(Arrival::new(&calls[0].id, "run_command", page.as_str()), stamp());
        record.request();
        record.record_reply(format!("Here it is:\n\n{page}"), false, stamp());
        record.end_turn(Outcome::Completed);
    }
    record
}

fn files() -> (Files, ThreadRecord) {
    let mut record = record();
    let files = record.save();
    (files, record)
}

fn lost(loaded: &Loaded) -> usize {
    loaded.losses.iter().map(|loss| loss.records).sum()
}

#[test]
fn a_whole_pair_comes_back_whole() {
    let (files, mut record) = files();
    let loaded = load(&files.transcript, &files.store).unwrap();
    assert_eq!(loaded.losses, []);
    assert_eq!(loaded.normalised, 0);
    for number in 1..=8 {
        for request in 0..2 {
            assert_eq!(
                loaded.record.recompose(number, request),
                record.recompose(number, request)
            );
        }
    }
    for entry in record.entries.range_mut(1..usize::MAX) {
        entry.origin = crate::entry::Origin::Resumed;
    }
    assert_eq!(loaded.record, record);
}

#[test]
fn either_file_alone_is_enough() {
    let (files, record) = files();
    let from_store = load(b"", &files.store).unwrap();
    assert_eq!(from_store.record.compose(), record.compose());
    assert_eq!(
        from_store.losses[0].what,
        "the transcript is missing or empty; everything was read from the store"
    );
    let from_transcript = load(&files.transcript, b"").unwrap();
    assert_eq!(from_transcript.record.entries().len(), record.entries().len());
    assert_eq!(from_transcript.record.turn_count(), 8);
    assert!(
        from_transcript.losses[0]
            .what
            .starts_with("the store could not be read")
    );
    let error = load(b"", b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the saved conversation is damaged: its store is empty and its transcript is no whole JSON document"
    );
}

#[test]
fn another_version_is_said_and_not_read() {
    let (files, _) = files();
    let store = |version: &str| {
        let text = String::from_utf8(files.store.clone()).unwrap();
        text.replacen("\"version\":1", version, 1).into_bytes()
    };
    assert_eq!(
        load(&files.transcript, &store("\"version\":2")),
        Err(LoadError::Newer { found: 2 })
    );
    assert_eq!(
        load(&files.transcript, &store("\"version\":0")),
        Err(LoadError::Older)
    );
    assert_eq!(
        load(&files.transcript, b"[{\"role\":\"user\"}]"),
        Err(LoadError::Older)
    );
    assert_eq!(
        LoadError::Older.to_string(),
        "the conversation was saved by an older wisp; start a new conversation"
    );
}

/// The modes of damage that are seen in the field, done to line 7 of a store, as functions of its lines.
#[test]
fn damage_in_one_place_loses_what_stood_there() {
    let (files, record) = files();
    let lines: Vec<Vec<u8>> = files
        .store
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let entries = record.entries().len();
    let damaged = |edit: &dyn Fn(&mut Vec<Vec<u8>>)| {
        let mut lines = lines.clone();
        edit(&mut lines);
        load(b"", &lines.join(&b'\n')).unwrap()
    };
    let kept = |loaded: &Loaded| {
        loaded
            .record
            .entries()
            .iter()
            .filter(|entry| entry.kind() != crate::entry::Kind::Lost)
            .count()
    };
    let at = lines[6].windows(7).position(|bytes| bytes == b"Here it").unwrap();

    let nul = damaged(&|lines| lines.insert(7, vec![0; 400]));
    assert_eq!((kept(&nul), lost(&nul)), (entries, 0));
    let fused = damaged(&|lines| {
        let next = lines.remove(7);
        let half = lines[6].len() / 2;
        lines[6].truncate(half);
        lines[6].extend(next);
    });
    assert_eq!((kept(&fused), lost(&fused)), (entries - 1, 1));
    let newline = damaged(&|lines| drop(lines[6].splice(at..at, *b"two\nlines ")));
    assert_eq!((kept(&newline), lost(&newline)), (entries, 0));
    let bytes = damaged(&|lines| drop(lines[6].splice(at..at, *b"\xff\xfe")));
    assert_eq!((kept(&bytes), lost(&bytes)), (entries, 0));
    let separator = damaged(&|lines| drop(lines[6].splice(at..at, "\u{2028}".bytes())));
    assert_eq!(
        (kept(&separator), separator.losses.len()),
        (entries, 1),
        "only the transcript is missing"
    );
    let twice = damaged(&|lines| lines.insert(6, lines[6].clone()));
    assert_eq!((kept(&twice), lost(&twice)), (entries, 0));
    let tail = damaged(&|lines| lines.push(vec![0; 4096]));
    assert_eq!((kept(&tail), lost(&tail)), (entries, 0));
    let torn = damaged(&|lines| {
        let last = lines.len() - 2;
        let half = lines[last].len() / 2;
        lines[last].truncate(half);
        lines.truncate(last + 1);
    });
    assert_eq!((kept(&torn), lost(&torn)), (entries, 1));
}

#[test]
fn a_store_cut_at_half_keeps_everything_before_the_cut() {
    let (files, _) = files();
    let half = &files.store[..files.store.len() / 2];
    let whole = half.split(|&byte| byte == b'\n').count() - 2;
    let loaded = load(b"", half).unwrap();
    assert_eq!(loaded.record.entries().len(), whole);
    assert!(
        loaded
            .losses
            .iter()
            .any(|loss| loss.what.contains("entries are missing"))
    );
    let request = loaded.record.compose();
    assert_eq!(request.messages[0].content, "You are wisp.");
}

#[test]
fn a_file_from_before_admission_is_normalised_once() {
    let (files, _) = files();
    let text = String::from_utf8(files.store).unwrap();
    let long = "x".repeat(9000);
    let older = text.replacen(
        "\"shown\":\"a line of six words here",
        &format!("\"content\":\"{long}"),
        1,
    );
    let mut loaded = load(b"", older.as_bytes()).unwrap();
    assert_eq!(loaded.normalised, 1);
    let shown = loaded
        .record
        .entries()
        .iter()
        .find_map(crate::entry::Entry::output)
        .unwrap()
        .shown
        .clone();
    assert!(shown.len() <= 4096 && shown.contains("held back"));
    let again = loaded.record.save();
    let again = load(&again.transcript, &again.store).unwrap();
    assert_eq!(again.normalised, 0, "it was decided before");
    assert_eq!(
        again
            .record
            .entries()
            .iter()
            .find_map(crate::entry::Entry::output)
            .unwrap()
            .shown,
        shown
    );
}

#[test]
fn a_turn_that_was_open_is_interrupted() {
    let mut record = record();
    record.begin_turn("and now?", Stamp::default());
    let files = record.save();
    let mut loaded = load(&files.transcript, &files.store).unwrap();
    assert_eq!(
        loaded.record.turns().last().unwrap().outcome,
        Some(Outcome::Interrupted)
    );
    loaded.record.begin_turn("again", Stamp::default());
    let request = loaded.record.request();
    let said: Vec<&str> = request
        .messages
        .iter()
        .rev()
        .take(3)
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "again",
            "(no reply: the person interrupted this turn)",
            "and now?"
        ]
    );
}

#[test]
fn notes_and_tasks_come_back_and_outlive_their_turns() {
    let mut record = record();
    record.note("entity codename = BLUE HERON", Time::utc(5)).unwrap();
    record
        .set_task("port it", crate::notes::Author::Person, Time::utc(6))
        .unwrap();
    for turn in 0..3 {
        record.begin_turn(format!("more {turn}"), Stamp::default());
        record.end_turn(Outcome::Completed);
    }
    let files = record.save();
    let mut loaded = load(&files.transcript, &files.store).unwrap().record;
    assert_eq!((loaded.notes(), loaded.tasks()), (record.notes(), record.tasks()));
    let estimator = crate::estimate::Estimator::default();
    let target = crate::target::Target {
        target: 0.0,
        ..Default::default()
    };
    let gauge = crate::target::Gauge {
        estimator: &estimator,
        window: Some(8192),
        target,
    };
    let plan = loaded
        .plan(&gauge, crate::target::Phase::Idle, crate::condense::Reason::Asked)
        .unwrap();
    loaded.condense(plan, "event").unwrap();
    let first = loaded.compose().messages[1].content.clone();
    assert!(
        first.contains("\n- turn 8, entry 37: (noted by the model) entity codename: BLUE HERON"),
        "{first}"
    );
}

#[test]
fn saves_are_numbered_and_the_ratio_is_kept() {
    let mut record = record();
    record.set_ratio("granite4.1:8b", 3.5);
    record.save();
    let files = record.save();
    let mut loaded = load(&files.transcript, &files.store).unwrap();
    assert_eq!(loaded.record.ratio("granite4.1:8b"), Some(3.5));
    assert!(
        String::from_utf8(loaded.record.save().store)
            .unwrap()
            .contains("\"save\":3")
    );
}

/// The store with `lines` put in front of its end line, its header's first.
fn with_lines(store: &[u8], lines: &[&str]) -> Vec<u8> {
    let text = std::str::from_utf8(store).unwrap();
    let end = text.rfind("{\"end\":").unwrap();
    format!("{}{}\n{}", &text[..end], lines.join("\n"), &text[end..]).into_bytes()
}

const LATER: [&str; 3] = [
    "{\"marker\":{\"at\":1.50,  \"big\":123456789012345678901234567890}}",
    "{\"turn\":{\"number\":\"nine\"}}",
    "{\"annotation\":\"plain\"}",
];

#[test]
fn records_of_a_later_kind_are_no_damage_and_are_saved_byte_for_byte() {
    let (files, _) = files();
    let store = with_lines(&files.store, &LATER);
    let mut loaded = load_with_past(&files.transcript, &store, b"{\"older\":[1]}\n").unwrap();
    assert_eq!(
        (loaded.losses.as_slice(), loaded.later),
        (&[][..], 3),
        "the header says that no past is its own"
    );
    for _ in 0..2 {
        let again = loaded.record.save_apart();
        let text = String::from_utf8(again.store.clone()).unwrap();
        for line in LATER {
            assert_eq!(text.lines().filter(|found| *found == line).count(), 1, "{line}");
        }
        loaded = load(&again.transcript, &again.store).unwrap();
        assert_eq!((loaded.losses.as_slice(), loaded.later), (&[][..], 3));
    }
}

#[test]
fn a_record_of_a_later_kind_in_the_past_is_in_the_next_save() {
    let (files, _) = files();
    let past = "{\"older\":[1]}\n";
    let text = String::from_utf8(files.store).unwrap();
    let store = text.replacen("\"ratios\"", "\"x\"", 1).replacen(
        "\"entries\":",
        &format!("\"past\":{},\"entries\":", past.len()),
        1,
    );
    let mut loaded = load_with_past(&files.transcript, store.as_bytes(), past.as_bytes()).unwrap();
    assert_eq!((loaded.losses.as_slice(), loaded.later), (&[][..], 1));
    let again = String::from_utf8(loaded.record.save().store).unwrap();
    assert!(again.contains("\n{\"older\":[1]}\n"));
}

#[test]
fn secrets_in_a_record_of_a_later_kind_are_masked_as_in_any_other() {
    let (files, _) = files();
    let store = with_lines(&files.store, &["{\"annotation\":\"hunter2\"}"]);
    let mut loaded = load(&files.transcript, &store).unwrap();
    let mask = |value: &mut Value| match value.get("annotation") {
        Some(_) => {
            value["annotation"] = "[secret]".into();
            1
        }
        None => 0,
    };
    let saved = String::from_utf8(loaded.record.save_masked(false, Box::new(mask)).store).unwrap();
    assert!(saved.contains("{\"annotation\":\"[secret]\"}") && !saved.contains("hunter2"));
}

#[test]
fn an_entry_of_a_later_kind_keeps_its_number_and_all_it_holds() {
    let (files, record) = files();
    let text = String::from_utf8(files.store).unwrap();
    let line = text.lines().nth(3).unwrap();
    let (front, _) = line.split_once("\"kind\":").unwrap();
    let later = format!("{front}\"kind\":\"picture\",\"width\":640,\"of\":{{\"b\":1,\"a\":[2]}}}}}}");
    let store = text.replace(line, &later);
    let mut loaded = load(b"", store.as_bytes()).unwrap();
    assert_eq!(
        (loaded.losses.len(), loaded.later),
        (1, 1),
        "only the transcript is missing"
    );
    assert_eq!(loaded.record.entry_count(), record.entry_count());
    let recalled = loaded
        .record
        .recall(&crate::recall::Wanted::Entry(EntryId(3)))
        .unwrap();
    assert_eq!(
        recalled.text,
        "(this entry is of the kind \"picture\", which a later wisp wrote and this one cannot show)"
    );
    let again = loaded.record.save();
    let text = String::from_utf8(again.store.clone()).unwrap();
    let found = text.lines().nth(3).unwrap();
    assert!(
        found.ends_with("\"kind\":\"picture\",\"width\":640,\"of\":{\"b\":1,\"a\":[2]}}}"),
        "{found}"
    );
    assert_eq!(load(&again.transcript, &again.store).unwrap().losses, []);
}

#[test]
fn an_entry_of_a_known_kind_that_lacks_a_field_is_damage() {
    let (files, _) = files();
    let text = String::from_utf8(files.store).unwrap();
    let broken = text.replacen(
        "\"kind\":\"prompt\",\"text\":",
        "\"kind\":\"prompt\",\"words\":",
        1,
    );
    let loaded = load(b"", broken.as_bytes()).unwrap();
    assert_eq!((lost(&loaded), loaded.later), (1, 0));
}
