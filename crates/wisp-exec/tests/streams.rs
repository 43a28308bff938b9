//! What is kept of a command's output: at the exact byte of each bound, from both streams, live, and when the disk
//! does not play along.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::io::Read;

use support::{bytes, case, text};
use wisp_exec::{CommandSpec, Ending, Gap, Outcome, SpillTo, Stream, StreamOutput, run};

async fn printed(line: &str, bound: usize, spill: Option<SpillTo>) -> StreamOutput {
    let mut spec = CommandSpec::shell(line);
    spec.bound = bound;
    spec.spill = spill;
    run(spec).await.unwrap().stdout
}

fn counted(lines: std::ops::RangeInclusive<u32>) -> String {
    lines.map(|line| line.to_string() + "\n").collect()
}

#[tokio::test]
async fn twice_the_bound_is_held_whole_and_one_byte_more_is_not() {
    let at = printed("printf 1234567890", 5, None).await;
    assert_eq!((at.head(), at.tail()), (&b"12345"[..], &b"67890"[..]));
    assert_eq!(at.whole().unwrap(), b"1234567890");
    assert_eq!((at.gap(), at.lines()), (None, 1));
    let over = printed("printf 12345678901", 5, None).await;
    assert_eq!((over.head(), over.tail()), (&b"12345"[..], &b"78901"[..]));
    assert_eq!(over.whole(), None);
    let gap = Gap {
        bytes: 1,
        newlines: 0,
        inside_line: true,
    };
    assert_eq!(
        (over.gap(), text(&over)),
        (Some(gap), "12345<GAP>78901".to_owned())
    );
}

#[tokio::test]
async fn one_byte_more_is_spilled_whole_and_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let spill = SpillTo {
        dir: dir.path().to_owned(),
        ceiling: 1 << 20,
    };
    let over = printed("printf 12345678901", 5, Some(spill)).await;
    assert_eq!((over.gap(), text(&over)), (None, "12345678901".to_owned()));
    assert_eq!(over.whole(), None);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn without_a_place_the_middle_is_dropped_at_line_ends() {
    let out = printed("seq 1 1000", 100, None).await;
    assert_eq!((out.bytes(), out.newlines()), (3893, 1000));
    // 100 bytes end inside "37", and the last 100 begin inside "976".
    let (first, last) = (counted(1..=36), counted(977..=1000));
    let gap = Gap {
        bytes: 3893 - first.len() as u64 - last.len() as u64,
        newlines: 940,
        inside_line: false,
    };
    assert_eq!(
        (out.gap(), text(&out)),
        (Some(gap), format!("{first}<GAP>{last}"))
    );
}

#[tokio::test]
async fn the_ceiling_keeps_all_of_it_and_one_byte_more_keeps_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let spill = |ceiling| {
        Some(SpillTo {
            dir: dir.path().to_owned(),
            ceiling,
        })
    };
    let at = printed("seq 1 1000", 10, spill(3893)).await;
    assert_eq!((at.gap(), text(&at)), (None, counted(1..=1000)));
    let over = printed("seq 1 1000", 10, spill(3892)).await;
    // Three quarters are 2,919 bytes, to inside "757"; the last quarter, 973 bytes, begins with "758". That
    // it does so at a line's start cannot be seen any more, so that line is given up too.
    let gap = Gap {
        bytes: 8,
        newlines: 2,
        inside_line: false,
    };
    let kept = format!("{}<GAP>{}", counted(1..=756), counted(759..=1000));
    assert_eq!((over.gap(), text(&over)), (Some(gap), kept));
}

#[tokio::test]
async fn a_gap_in_one_enormous_line_falls_between_characters() {
    let out = printed("for i in 1 2 3 4 5 6 7 8 9; do printf 漢; done", 10, None).await;
    let gap = Gap {
        bytes: 9,
        newlines: 0,
        inside_line: true,
    };
    assert_eq!(
        (out.gap(), text(&out)),
        (Some(gap), "漢漢漢<GAP>漢漢漢".to_owned())
    );
}

#[tokio::test]
async fn a_folder_that_is_not_there_costs_the_middle_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let spill = SpillTo {
        dir: dir.path().join("gone"),
        ceiling: 1000,
    };
    let out = printed("seq 1 1000", 100, Some(spill)).await;
    assert!(
        out.spill_failure().unwrap().contains("No such file or directory"),
        "{out:?}"
    );
    assert!(out.gap().is_some() && text(&out).ends_with("999\n1000\n"));
}

#[tokio::test]
async fn nothing_only_newlines_and_a_last_line_without_one() {
    for (line, bytes, newlines, lines) in [
        ("true", 0, 0, 0),
        ("echo; echo", 2, 2, 2),
        ("printf 'a\nb'", 3, 1, 2),
    ] {
        let out = printed(line, 1, None).await;
        assert_eq!(
            (out.bytes(), out.newlines(), out.lines()),
            (bytes, newlines, lines),
            "{line}"
        );
    }
}

#[tokio::test]
async fn neither_stream_waits_for_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = case("13-stderr.py", "");
    spec.bound = 4096;
    spec.spill = Some(SpillTo {
        dir: dir.path().to_owned(),
        ceiling: 16 << 20,
    });
    let Outcome {
        ending,
        stdout,
        stderr,
        ..
    } = run(spec).await.unwrap();
    assert_eq!(ending, Ending::Exited { code: 0 });
    assert_eq!((stderr.bytes(), stderr.lines()), (8_388_608, 131_072));
    assert_eq!((stdout.bytes(), text(&stdout)), (3, "ok\n".to_owned()));
    let kept = bytes(&stderr);
    assert_eq!(kept.len(), 8_388_608);
    assert!(kept.starts_with(b"000000 noise") && kept[kept.len() - 64..].starts_with(b"131071 noise"));
}

#[tokio::test]
async fn characters_cut_between_writes_are_whole_live_and_kept() {
    let (to, mut from) = wisp_exec::live(10_000);
    let mut spec = case("07-split-utf8.py", "");
    spec.bound = 64 * 1024;
    spec.live = Some(to);
    let out = run(spec).await.unwrap().stdout;
    let mut live = String::new();
    let mut missed = 0;
    while let Some(chunk) = from.recv().await {
        assert_eq!(chunk.stream, Stream::Stdout);
        live.push_str(&chunk.text);
        missed += chunk.missed;
    }
    let kept = text(&out);
    assert_eq!((out.bytes(), out.lines()), (77_847, 4));
    assert!(kept.starts_with("≤ — 漢 🐟\n") && kept.matches('漢').count() == 4);
    assert!(!live.contains('\u{FFFD}'));
    // Of a read larger than a chunk the face is shown the end; it is told what it was not shown.
    assert_eq!(live.len() as u64 + missed, 77_847);
}

#[tokio::test]
async fn a_reader_may_be_read_a_byte_at_a_time_and_again() {
    let out = printed("seq 1 50", 10, None).await;
    let whole = bytes(&out);
    let mut reader = out.reader(|_| b"<GAP>".to_vec());
    let (mut again, mut byte) = (Vec::new(), [0]);
    while reader.read(&mut byte).unwrap() == 1 {
        again.extend(byte);
    }
    assert_eq!(whole, again);
}
