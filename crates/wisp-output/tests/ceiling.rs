//! The ceiling: its exact byte, the end that survives it, and true counts of what did not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use proptest::prelude::*;
use support::keeping::kept;
use wisp_output::{Measured, Output, Piece, Record, Stream};

const MIB: usize = 1 << 20;

/// The counts that the line in the stored file states: lines, bytes, and where that line is.
fn stated_gap(bytes: &[u8]) -> (u64, u64, usize) {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
    let line = lines
        .find(|line| line.starts_with("[… ") && line.contains(" not kept: "))
        .unwrap();
    let rest = line.strip_prefix("[… ").unwrap();
    let (lines, rest) = rest.split_once(" line").unwrap();
    let stated = rest.split_once(", ").unwrap().1.split_once(" byte").unwrap().0;
    let at = bytes
        .windows(line.len())
        .position(|window| window == line.as_bytes())
        .unwrap();
    (support::number(lines), support::number(stated), at)
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
        b"first\nsecond\n".repeat(300),
        b"last but one\nlast\n".repeat(300),
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
    let whole = Measured {
        bytes: total,
        newlines: 41_200,
        dropped_ends_line: true,
    };
    let stream =
        || Stream::ends(Some("stdout"), (head.as_slice(), tail.as_slice()), whole).with_pieces(pieces());
    let home = tempfile::tempdir().unwrap();
    let (presented, bytes) = kept(
        home.path(),
        Output::command("exit status: 0", vec![stream()], ""),
        16 << 20,
    );
    let (lines, dropped, at) = stated_gap(&bytes);
    assert_eq!((lines, dropped), (40_000, 5_000_000));
    let said = "bytes not kept: they could not be written as they came …]\n";
    assert!(String::from_utf8_lossy(&bytes).contains(said));
    assert!(
        presented
            .text
            .contains("(5,000,000 bytes), which could not be written as they came and were not kept")
    );
    let expected = [b"exit status: 0\nstdout:\n".as_slice(), &head].concat();
    assert!(bytes[..at] == expected, "the head stays as the runner placed it");
    assert!(bytes.ends_with(&tail) && bytes[at..].len() < tail.len() + 100);
    let record = presented.kept.unwrap().record;
    assert_eq!((record.total_bytes, record.total_lines), (total + 23, 41_200));
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

proptest! {
    #![proptest_config(support::cases(24))]

    #[test]
    fn any_output_under_any_ceiling_is_whole_or_truly_counted(
        output in support::output(150),
        ceiling in 4_200..60_000u64,
        both: bool,
    ) {
        let home = tempfile::tempdir().unwrap();
        let mut streams = vec![Stream::whole(Some("stdout"), &output)];
        if both {
            streams.push(Stream::whole(Some("stderr"), b"one error\n".as_slice()));
        }
        let (presented, bytes) = kept(home.path(), Output::command("exit status: 0", streams, ""), ceiling);
        let Some(record) = presented.kept.map(|kept| kept.record) else { return Ok(()) };
        prop_assert!(record.bytes <= ceiling);
        prop_assert_eq!(record.cut, record.dropped_bytes > 0);
        prop_assert!(record.cut || record.total_bytes == record.bytes);
        if record.cut {
            check_stream(&output, &bytes, &record);
        }
    }
}

/// Holds the first stream of a cut file against what the command wrote on it.
fn check_stream(output: &[u8], bytes: &[u8], record: &Record) {
    let part = &record.sections[0];
    let stream = &bytes[usize::try_from(part.from).unwrap()..usize::try_from(part.end()).unwrap()];
    let (lines, dropped, at) = stated_gap(stream);
    let line_end = at + stream[at..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (head, tail) = (&stream[..at], &stream[line_end..]);
    let head = if output.starts_with(head) {
        head
    } else {
        head.strip_suffix(b"\n").unwrap()
    };
    assert!(output.starts_with(head) && output.ends_with(tail));
    let lost = &output[head.len()..output.len() - tail.len()];
    assert_eq!(
        (dropped, record.dropped_bytes),
        (lost.len() as u64, lost.len() as u64)
    );
    assert_eq!(lines, support::line_of(lost, lost.len() as u64) - 1);
    let gap = (stream.len() - head.len() - tail.len()) as u64;
    assert_eq!(record.total_bytes, record.bytes + dropped - gap);
}
