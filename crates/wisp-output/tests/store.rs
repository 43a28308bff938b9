//! The store: what is kept, under which ceiling, how privately, and what happens when it cannot be.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests put files where the store must not look"
)]

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use support::keeping::{ID, context, kept, stored};
use wisp_output::store::StoreError;
use wisp_output::{Context, Measured, Output, Place, Shelf, Store, Stream, present, receive};

#[test]
fn a_command_is_stored_as_it_is_laid_out_with_its_frames() {
    let out = b"no newline at the end".repeat(300);
    let streams = vec![
        Stream::whole(Some("stdout"), &out),
        Stream::whole(Some("stderr"), b"bad\n".as_slice()),
    ];
    let home = tempfile::tempdir().unwrap();
    let (presented, bytes) = kept(
        home.path(),
        Output::command("exit status: 1", streams, "sandbox: denied"),
        16 << 20,
    );
    let expected = [
        b"exit status: 1\nstdout:\n".as_slice(),
        &out,
        b"\nstderr:\nbad\nsandbox: denied\n",
    ]
    .concat();
    assert_eq!(bytes, expected);
    let record = presented.kept.unwrap().record;
    let places: Vec<_> = record
        .sections
        .iter()
        .map(|part| (part.from, part.bytes, part.line, part.lines, part.number))
        .collect();
    assert_eq!(
        places,
        [
            (23, out.len() as u64, 3, 1, 1),
            (24 + out.len() as u64 + 8, 4, 5, 1, 2)
        ]
    );
}

#[test]
fn the_record_has_the_fields_of_the_document() {
    let home = tempfile::tempdir().unwrap();
    let (presented, _) = kept(home.path(), Output::text(b"line\n".repeat(2_000)), 16 << 20);
    let text = fs::read_to_string(home.path().join(format!("output/session/{ID}.json"))).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["tool"], "run_command");
    assert_eq!(record["arguments"], "make");
    assert_eq!(record["exit"], "exit status 2");
    assert_eq!(
        (record["bytes"].as_u64(), record["totalBytes"].as_u64()),
        (Some(10_000), Some(10_000))
    );
    assert_eq!(
        (record["lines"].as_u64(), record["totalLines"].as_u64()),
        (Some(2_000), Some(2_000))
    );
    assert_eq!(record["cut"], false);
    assert_eq!(record["created"], "2026-11-30T09:00:00Z");
    assert_eq!(record["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(record["held"][0]["fromLine"], presented.held[0].from_line);
}

#[test]
fn a_command_without_output_says_so() {
    let output = Output::command(
        "exit status: 3",
        vec![Stream::whole(Some("stdout"), b"".as_slice())],
        "",
    );
    let presented = present(output, Place::Nowhere("the audit is off"), &context(4_096));
    assert_eq!(presented.text, "exit status: 3\nno output\n");
    assert!(presented.kept.is_none() && presented.not_kept.is_none());
}

#[test]
fn files_are_private_and_found_by_the_start_of_their_id() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("output");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
    let (presented, bytes) = kept(
        home.path(),
        Output::text("line\n".repeat(2_000).into_bytes()),
        16 << 20,
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&root), mode(&root.join("session"))), (0o700, 0o700));
    assert_eq!(mode(&root.join("session").join(ID)), 0o600);
    assert_eq!(mode(&root.join("session").join(format!("{ID}.json"))), 0o600);
    assert_eq!(fs::read_dir(root.join("session")).unwrap().count(), 2);

    let shelf = Shelf::new(home.path());
    for id in [ID, "3f9a2c1b", "3f9a"] {
        let found = shelf.open(id).unwrap();
        assert_eq!(found.record, presented.kept.as_ref().unwrap().record);
        assert_eq!(stored(&found), bytes);
    }
    assert!(matches!(shelf.open("3f9"), Err(StoreError::TooShort(_))));
    assert!(matches!(shelf.open("../../etc"), Err(StoreError::BadName(_))));
    assert!(matches!(shelf.open("3f9a2c1c"), Err(StoreError::NotFound(_))));
    assert!(matches!(
        Store::new(home.path(), "../x"),
        Err(StoreError::BadName(_))
    ));
    let other = Store::new(home.path(), "other").unwrap();
    let mut context = context(4_096);
    context.id = "3f9a2c1b00000002";
    present(Output::text(vec![b'x'; 9_000]), Place::Store(&other), &context);
    let Err(StoreError::Ambiguous { matches, .. }) = shelf.open("3f9a2c1b") else {
        panic!("two begin so")
    };
    assert_eq!(matches, [context.id, ID]);
    assert_eq!(other.open("3f9a2c1b").unwrap().record.id, context.id);
    assert_eq!(shelf.list().unwrap().len(), 2);
}

#[test]
fn a_link_in_place_of_the_store_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let victim = home.path().join("victim");
    fs::create_dir(&victim).unwrap();
    symlink(&victim, home.path().join("output")).unwrap();
    let (presented, _) = kept(
        home.path(),
        Output::text("line\n".repeat(2_000).into_bytes()),
        16 << 20,
    );
    assert!(presented.kept.is_none());
    assert!(
        presented.text.contains("; the rest was not kept: "),
        "{}",
        presented.text
    );
    assert!(presented.text.contains("it is a symbolic link"));
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
    assert!(presented.text.len() <= 4_096);
}

#[test]
fn a_link_in_place_of_an_output_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path(), "session").unwrap();
    let dir = store.make_dir().unwrap();
    symlink(home.path().join("victim"), dir.join(ID)).unwrap();
    let presented = present(
        Output::text(vec![b'x'; 9_000]),
        Place::Store(&store),
        &context(4_096),
    );
    assert!(presented.kept.is_none() && !home.path().join("victim").exists());
    fs::write(dir.join(format!("{ID}.json")), "{}").unwrap();
    assert!(store.open(ID).is_err());
}

#[test]
fn a_file_without_a_record_is_never_served() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path(), "session").unwrap();
    let mut output = Output::text(vec![b'x'; 9_000]);
    let draft = store.draft(ID, &mut output).unwrap();
    assert!(store.dir().join(ID).exists());
    assert!(matches!(store.open(ID), Err(StoreError::NotFound(_))));
    drop(draft);
    assert!(
        !store.dir().join(ID).exists(),
        "a draft that is given up leaves nothing"
    );
}

#[test]
fn a_stored_file_that_was_changed_is_not_served() {
    let home = tempfile::tempdir().unwrap();
    let (presented, _) = kept(home.path(), Output::text(vec![b'x'; 9_000]), 16 << 20);
    assert!(presented.kept.is_some());
    fs::write(home.path().join("output/session").join(ID), "short").unwrap();
    let opened = Shelf::new(home.path()).open(ID);
    assert!(matches!(
        opened,
        Err(StoreError::Changed {
            bytes: 5,
            recorded: 9_000,
            ..
        })
    ));
}

#[test]
fn without_a_store_the_result_arrives_and_says_why_it_was_not_kept() {
    let log: String = (1..=5_000).fold(String::new(), |log, line| log + &format!("line {line}\n"));
    let stream = Stream::whole(Some("stdout"), log.as_bytes());
    let output = Output::command("exit status: 1", vec![stream], "");
    let presented = present(output, Place::Nowhere("the audit is off"), &context(4_096));
    assert!(presented.kept.is_none());
    assert_eq!(presented.not_kept.as_deref(), Some("the audit is off"));
    assert!(presented.text.len() <= 4_096);
    let note = presented.text.lines().last().unwrap();
    assert!(
        note.ends_with(
            "; exit status 2; the rest was not kept: the audit is off; do not run the command again to see it"
        ),
        "{note}"
    );
    assert!(!note.contains("memory"));
}

#[test]
fn what_memory_alone_holds_is_shown_with_true_numbers() {
    let log: Vec<u8> = (1..=50_000).fold(Vec::new(), |mut log, line| {
        log.extend(format!("line {line}\n").into_bytes());
        log
    });
    let (head, tail) = (&log[..8_192], &log[log.len() - 8_192..]);
    let whole = Measured {
        bytes: log.len() as u64,
        newlines: 50_000,
        dropped_ends_line: log[..log.len() - 8_192].ends_with(b"\n"),
    };
    let stream = Stream::ends(None, (head, tail), whole);
    let presented = present(
        Output::stream(stream),
        Place::Nowhere("the audit is off"),
        &context(4_096),
    );
    let [part] = &presented.held[..] else {
        panic!("one stretch")
    };
    assert_eq!(part.from_line, support::line_of(&log, part.from));
    assert_eq!(part.to_line, support::line_of(&log, part.range().end - 1));
    assert!(presented.text.starts_with("line 1\nline 2\n"));
    assert!(
        presented.text.contains("\nline 50000\nheld back: "),
        "{}",
        presented.text
    );
}

#[test]
fn a_reader_is_kept_as_it_comes_and_shown_when_it_cannot_be() {
    let log: Vec<u8> = b"one line of a log that is piped in\n".repeat(100_000);
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path(), "session").unwrap();
    let presented = receive(log.as_slice(), Place::Store(&store), &context(4_096)).unwrap();
    assert!(stored(presented.kept.as_ref().unwrap()) == log);
    assert_eq!(presented.kept.unwrap().record.total_lines, 100_000);

    let lost = receive(
        log.as_slice(),
        Place::Nowhere("the audit is off"),
        &context(4_096),
    )
    .unwrap();
    assert_eq!(
        lost.held[0].to_line - lost.held[0].from_line + 1 + shown_lines(&lost.text),
        100_000
    );
    let small = receive(b"small".as_slice(), Place::Store(&store), &context(4_096)).unwrap();
    assert_eq!((small.text.as_str(), small.kept.is_none()), ("small", true));
    let exact = receive([b'x'; 4_096].as_slice(), Place::Store(&store), &context(4_096)).unwrap();
    assert!(exact.held.is_empty() && exact.kept.is_none());
}

fn shown_lines(text: &str) -> u64 {
    text.lines().filter(|line| line.starts_with("one line")).count() as u64
}

#[test]
fn two_stores_of_one_home_do_not_disturb_each_other() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|threads| {
        for session in ["one", "two"] {
            let home = home.path();
            threads.spawn(move || {
                let store = Store::new(home, session).unwrap();
                for at in 0..8 {
                    let id = format!("{session}0000000{at}");
                    let bytes = format!("{session} {at}\n").repeat(2_000).into_bytes();
                    let context = Context {
                        id: &id,
                        ..context(4_096)
                    };
                    let presented = present(Output::text(&bytes), Place::Store(&store), &context);
                    assert!(stored(&presented.kept.unwrap()) == bytes);
                }
            });
        }
    });
    assert_eq!(Shelf::new(home.path()).list().unwrap().len(), 16);
}
