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

use sha2::{Digest, Sha256};
use wisp_output::content::Content;
use wisp_output::store::{About, StoreError};
use wisp_output::{Context, Kept, Output, Piece, Place, Presented, Shelf, Store, Stream, present, receive};

const ID: &str = "3f9a2c1b00000001";
const MIB: usize = 1 << 20;

fn context(budget: usize) -> Context<'static> {
    Context {
        id: ID,
        about: About {
            tool: "run_command".into(),
            arguments: "make".into(),
            exit: Some("exit status 2".into()),
        },
        budget,
        memory: true,
        command: true,
        now: "2026-11-30T09:00:00Z".parse().unwrap(),
        first_error: None,
    }
}

fn kept(home: &Path, output: Output<'_>, ceiling: u64) -> (Presented, Vec<u8>) {
    let store = Store::new(home, "session").unwrap().with_ceiling(ceiling);
    let presented = present(output, Place::Store(&store), &context(4_096));
    let bytes = presented.kept.as_ref().map(stored).unwrap_or_default();
    (presented, bytes)
}

fn stored(kept: &Kept) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(kept.content.bytes()).unwrap()];
    let mut at = 0;
    while at < bytes.len() {
        at += kept.content.read_at(at as u64, &mut bytes[at..]).unwrap();
    }
    let record = &kept.record;
    assert_eq!(record.lines, support::lines(&bytes));
    assert_eq!(
        record.sha256,
        base16ct::lower::encode_string(&Sha256::digest(&bytes))
    );
    bytes
}

/// The counts that the line in the stored file states: lines, bytes, and where that line is.
fn stated_gap(bytes: &[u8]) -> (u64, u64, usize) {
    let text = String::from_utf8_lossy(bytes);
    let line = text
        .lines()
        .find(|line| line.contains("not kept: past the ceiling"))
        .unwrap();
    let rest = line.strip_prefix("[… ").unwrap();
    let (lines, rest) = rest.split_once(" line").unwrap();
    let bytes_text = rest.split_once(", ").unwrap().1.split_once(" byte").unwrap().0;
    (
        support::number(lines),
        support::number(bytes_text),
        text.find(line).unwrap(),
    )
}

#[test]
fn sixteen_mib_are_kept_whole_and_one_byte_more_is_cut() {
    let home = tempfile::tempdir().unwrap();
    let whole: Vec<u8> = b"0123456789abcde\n".repeat(MIB);
    assert_eq!(whole.len(), 16 * MIB);
    let (presented, bytes) = kept(home.path(), Output::text(&whole), 16 << 20);
    assert!(bytes == whole);
    let record = &presented.kept.unwrap().record;
    assert!(!record.cut);
    assert_eq!((record.total_bytes, record.total_lines), (16 << 20, 1 << 20));

    let home = tempfile::tempdir().unwrap();
    let mut more = whole;
    more.push(b'!');
    let (presented, bytes) = kept(home.path(), Output::text(&more), 16 << 20);
    let record = &presented.kept.unwrap().record;
    assert!(record.cut && bytes.len() <= 16 * MIB);
    assert_eq!(
        (record.total_bytes, record.total_lines),
        ((16 << 20) + 1, (1 << 20) + 1)
    );
    check_cut(&more, &bytes, 16 * MIB);
    let clause = format!(
        "the output is kept as output 3f9a2c1b ({} lines) but for {} lines ({} bytes), which passed the ceiling of \
         16 MiB and were not kept",
        wisp_output::amount::grouped(record.lines),
        wisp_output::amount::grouped(record.dropped_lines),
        wisp_output::amount::grouped(record.dropped_bytes),
    );
    assert!(presented.text.contains(&clause), "{}", presented.text);
}

/// Holds a cut file against the output it came from: head, statement, tail, and true counts.
fn check_cut(output: &[u8], bytes: &[u8], ceiling: usize) {
    let (lines, dropped, at) = stated_gap(bytes);
    let line_end = at + bytes[at..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let tail = &bytes[line_end..];
    let head = &bytes[..at];
    let head = if output.starts_with(head) {
        head
    } else {
        head.strip_suffix(b"\n").unwrap()
    };
    assert!(output.starts_with(head) && output.ends_with(tail));
    assert!(
        head.len() <= ceiling / 4 * 3 && head.len() + 65_536 >= ceiling / 4 * 3,
        "head {}",
        head.len()
    );
    assert!(
        tail.len() <= ceiling / 4 && tail.len() + 66_000 >= ceiling / 4,
        "tail {}",
        tail.len()
    );
    let lost = &output[head.len()..output.len() - tail.len()];
    assert_eq!(dropped, lost.len() as u64);
    assert_eq!(lines, support::line_of(lost, lost.len() as u64) - 1);
}

#[test]
fn the_end_survives_the_ceiling_whatever_the_lines_are() {
    let ceiling = MIB;
    let outputs: [Vec<u8>; 4] = [
        (0..60_000).fold(Vec::new(), |mut log, line| {
            log.extend(format!("line {line} of a log, größer\n").into_bytes());
            log
        }),
        "漢".repeat(MIB).into_bytes(),
        b"\n".repeat(3 * MIB),
        vec![b'x'; MIB + 1],
    ];
    for output in outputs {
        let home = tempfile::tempdir().unwrap();
        let (presented, bytes) = kept(home.path(), Output::text(&output), ceiling as u64);
        check_cut(&output, &bytes, ceiling);
        assert!(bytes.len() <= ceiling);
        assert!(String::from_utf8(bytes).is_ok(), "no character is cut");
        let record = presented.kept.unwrap().record;
        assert_eq!(
            (record.total_bytes, record.total_lines),
            (output.len() as u64, support::lines(&output))
        );
    }
}

#[test]
fn what_the_runner_could_not_keep_is_counted_with_the_rest() {
    let (head, tail) = (
        b"first\nsecond\n".repeat(100),
        b"last but one\nlast\n".repeat(100),
    );
    let pieces = || {
        vec![
            Piece::Bytes(Box::new(head.as_slice())),
            Piece::Missing {
                bytes: 5_000_000,
                newlines: 40_000,
            },
            Piece::Bytes(Box::new(tail.as_slice())),
        ]
    };
    let total = (head.len() + tail.len()) as u64 + 5_000_000;
    let stream = || {
        Stream::ends(Some("stdout"), (head.as_slice(), tail.as_slice()), total, 40_400).with_pieces(pieces())
    };
    let home = tempfile::tempdir().unwrap();
    let (presented, bytes) = kept(
        home.path(),
        Output::command("exit status: 0", vec![stream()], ""),
        16 << 20,
    );
    let (lines, dropped, at) = stated_gap(&bytes);
    assert_eq!((lines, dropped), (40_000, 5_000_000));
    let expected = [b"exit status: 0\nstdout:\n".as_slice(), &head].concat();
    assert!(bytes[..at] == expected, "the head stays as the runner placed it");
    assert!(bytes.ends_with(&tail) && bytes[at..].len() < tail.len() + 100);
    let record = presented.kept.unwrap().record;
    assert_eq!((record.total_bytes, record.total_lines), (total + 23, 40_402));
    assert_eq!(record.sections[0].line, 3);
}

#[test]
fn both_streams_survive_a_ceiling_that_one_alone_would_use_up() {
    let noise = b"noise on the error stream, again and again\n".repeat(200_000);
    let streams = vec![
        Stream::whole(Some("stdout"), b"ok\n".as_slice()),
        Stream::whole(Some("stderr"), &noise),
    ];
    let home = tempfile::tempdir().unwrap();
    let (presented, bytes) = kept(
        home.path(),
        Output::command("exit status: 0", streams, ""),
        1 << 20,
    );
    assert!(bytes.starts_with(b"exit status: 0\nstdout:\nok\nstderr:\nnoise"));
    assert!(bytes.len() <= MIB && bytes.ends_with(b"again and again\n"));
    assert!(
        presented
            .text
            .starts_with("exit status: 0\nstdout:\nok\nstderr:\nnoise"),
        "{}",
        presented.text
    );
}

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
        .map(|part| (part.from, part.bytes, part.line, part.lines))
        .collect();
    assert_eq!(
        places,
        [(23, out.len() as u64, 3, 1), (24 + out.len() as u64 + 8, 4, 5, 1)]
    );
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
    let stream = Stream::ends(None, (head, tail), log.len() as u64, 50_000);
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
