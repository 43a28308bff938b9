//! Lines are numbered in the streams of a command's output: stdout's from 1, stderr's follow on, frames have none.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test lays out files and fails by panicking"
)]

mod support;

use support::keeping::kept;
use wisp_output::content::{Content, Stretch};
use wisp_output::recall::{Filter, Start, Stored, recall};
use wisp_output::{Kept, Output, Pages, Stream};

/// A command that printed 2,000 numbered lines and three to stderr, the last lines of both without a newline.
fn both() -> (tempfile::TempDir, Kept) {
    let out: Vec<String> = (1..=2_000).map(|n| format!("out {n}")).collect();
    let streams = vec![
        Stream::whole(Some("stdout"), out.join("\n").into_bytes()),
        Stream::whole(Some("stderr"), b"err 1\nerr 2\nerr 3".as_slice()),
    ];
    let home = tempfile::tempdir().unwrap();
    let (presented, _) = kept(
        home.path(),
        Output::command("exit status 2", streams, "a footer"),
        16 << 20,
    );
    let kept = presented.kept.unwrap();
    (home, kept)
}

fn page(kept: &Kept, filter: &Filter) -> String {
    let streams = kept.streams();
    let stored = Stored {
        content: &streams,
        lines: kept.record.lines,
        sections: &kept.record.sections,
        exit: kept.record.exit.as_deref(),
        name: "output 3f9a2c1b",
    };
    recall(stored, filter, Start::default(), 4_096).unwrap()
}

#[test]
fn the_streams_are_read_without_the_frames() {
    let (_home, kept) = both();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut Stretch::all(&kept.streams()), &mut text).unwrap();
    assert!(text.starts_with("out 1\nout 2\n"), "{}", &text[..20]);
    assert!(text.ends_with("out 2000\nerr 1\nerr 2\nerr 3"), "{text}");
    assert_eq!((kept.record.lines, kept.record.total_lines), (2_003, 2_003));
}

#[test]
fn a_line_of_stderr_has_its_own_number_beside_it() {
    let (_home, kept) = both();
    let found = page(&kept, &Filter::Matching("err 2".into()));
    assert_eq!(
        found,
        "output 3f9a2c1b matching 'err 2': 1 of 2,003 lines matches, 2,002 do not (stdout 1–2,000, stderr \
         2,001–2,003 (its own 1–3); exit status 2)\n2002 (stderr 2): err 2\n[end of matching 'err 2' of output 3f9a2c1b]"
    );
    let tail = page(&kept, &Filter::Tail(4));
    let rows: Vec<&str> = tail.lines().skip(1).take(4).collect();
    assert_eq!(
        rows,
        [
            "2000: out 2000",
            "2001 (stderr 1): err 1",
            "2002 (stderr 2): err 2",
            "2003 (stderr 3): err 3"
        ]
    );
}

#[test]
fn a_place_among_the_streams_is_found_in_the_file() {
    let (_home, kept) = both();
    let streams = kept.streams();
    let at = Pages::new(kept.streams()).line_start(2_002).unwrap().unwrap();
    let mut found = [0; 5];
    assert_eq!(kept.content.read_at(streams.in_file(at), &mut found).unwrap(), 5);
    assert_eq!(&found, b"err 2");
}

#[test]
fn a_record_written_when_frames_had_numbers_is_numbered_anew() {
    let (home, kept) = both();
    let path = home
        .path()
        .join("output/session")
        .join(format!("{}.json", kept.record.id));
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    (record["lines"], record["totalLines"]) = (2_007.into(), 2_007.into());
    std::fs::write(&path, record.to_string()).unwrap();
    let again = wisp_output::Shelf::new(home.path())
        .open(&kept.record.id)
        .unwrap();
    assert_eq!((again.record.lines, again.record.total_lines), (2_003, 2_003));
    assert_eq!(again.record.sections[1].number, 2_001);
}
