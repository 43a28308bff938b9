//! Every number in a marker and in a note is recomputed from the stored file, over random outputs and budgets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write;

use proptest::prelude::*;
use regex::Regex;
use support::{line_start, number, number_at, states, stream_lines};
use wisp_output::clean::{self, View};
use wisp_output::content::{Content, Section};
use wisp_output::fit::{FirstError, HeldBack};
use wisp_output::store::About;
use wisp_output::{Context, Measured, Output, Place, Presented, Store, Stream, present};

fn bytes_of(content: &dyn Content) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(content.bytes()).unwrap()];
    let mut at = 0;
    while at < bytes.len() {
        let read = content.read_at(at as u64, &mut bytes[at..]).unwrap();
        assert!(read > 0, "the stored file is all there");
        at += read;
    }
    bytes
}

fn at(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}

/// What stands in the shown text for one stretch of the stored file.
fn shown(stored: &[u8], from: u64, end: u64) -> String {
    clean::text(&stored[at(from)..at(end)], View::Plain)
}

/// The text before the note, built again from the held ranges alone.
fn rebuilt(stored: &[u8], sections: &[Section], held: &[HeldBack], markers: &[&str]) -> String {
    let mut text = String::new();
    let mut from = 0;
    let mut markers = markers.iter();
    for section in sections {
        frame(&mut text, &shown(stored, from, section.from));
        from = section.end();
        let Some(part) = held
            .iter()
            .find(|part| section.from <= part.from && part.range().end <= from)
        else {
            text.push_str(&shown(stored, section.from, from));
            continue;
        };
        text.push_str(&shown(stored, section.from, part.from));
        if part.from > section.from && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(markers.next().unwrap());
        text.push('\n');
        text.push_str(&shown(stored, part.range().end, from));
    }
    frame(&mut text, &shown(stored, from, stored.len() as u64));
    text
}

/// A frame's first newline ends a stream that has none; after a marker it is not needed.
fn frame(text: &mut String, frame: &str) {
    let ended = text.is_empty() || text.ends_with('\n');
    text.push_str(frame.strip_prefix('\n').filter(|_| ended).unwrap_or(frame));
}

fn check_place(stored: &[u8], sections: &[Section], part: &HeldBack, place: &str) {
    let place = part.section.as_ref().map_or(place, |name| {
        place
            .strip_prefix(&format!("{name} "))
            .unwrap_or_else(|| panic!("{place} names {name}"))
    });
    let last = part.range().end - 1;
    assert_eq!(
        part.from_line,
        number_at(stored, sections, part.from),
        "first line of {part:?}"
    );
    assert_eq!(
        part.to_line,
        number_at(stored, sections, last),
        "last line of {part:?}"
    );
    let lines = Regex::new(r"^lines? ([\d,]+)(?:–([\d,]+))? \((.+?)(?:, its own ([\d,]+)(?:–([\d,]+))?)?\)$")
        .unwrap();
    let inside =
        Regex::new(r"^bytes ([\d,]+)(?:–([\d,]+))? of line ([\d,]+) \((.+?)(?:, its own ([\d,]+))?\)$")
            .unwrap();
    let section = sections
        .iter()
        .find(|section| section.name == part.section)
        .unwrap();
    let before = stream_lines(stored, sections)
        - stream_lines(
            stored,
            &sections[sections.iter().position(|one| one == section).unwrap()..],
        );
    if let Some(found) = lines.captures(place) {
        let first = number(&found[1]);
        assert_eq!(first, part.from_line);
        assert_eq!(found.get(2).map_or(first, |to| number(to.as_str())), part.to_line);
        let own = |at: usize| found.get(at).map(|to| number(to.as_str()) + before);
        assert_eq!(own(4), (before > 0).then_some(part.from_line));
        assert_eq!(own(5), (before > 0 && part.lines() > 1).then_some(part.to_line));
        let size = found[3].strip_prefix("binary, ").unwrap_or(&found[3]);
        assert!(states(size, part.bytes), "{size} is {} bytes", part.bytes);
        return;
    }
    let found = inside
        .captures(place)
        .unwrap_or_else(|| panic!("a place: {place}"));
    let start = line_start(stored, part.from);
    let first = number(&found[1]);
    assert_eq!(first, part.from - start + 1);
    assert_eq!(
        found.get(2).map_or(first, |to| number(to.as_str())),
        last - start + 1
    );
    assert_eq!(number(&found[3]), number_at(stored, sections, part.from));
    assert!(states(&found[4], part.bytes));
    let own = found.get(5).map(|own| number(own.as_str()) + before);
    assert_eq!(own, (before > 0).then_some(part.from_line));
}

fn check_marker(part: &HeldBack, marker: &str) {
    let lines = Regex::new(r"^\[… ([\d,]+) lines? \((.+)\) held back …\]$").unwrap();
    let inside = Regex::new(r"^\[… ([\d,]+) bytes? of line ([\d,]+) held back …\]$").unwrap();
    let binary = Regex::new(r"^\[binary, ([\d,]+) bytes?\]$").unwrap();
    if let Some(found) = lines.captures(marker) {
        assert_eq!(number(&found[1]), part.to_line - part.from_line + 1);
        assert!(states(&found[2], part.bytes));
    } else if let Some(found) = inside.captures(marker) {
        assert_eq!(
            (number(&found[1]), number(&found[2])),
            (part.bytes, part.from_line)
        );
    } else {
        let found = binary
            .captures(marker)
            .unwrap_or_else(|| panic!("a marker: {marker}"));
        assert_eq!(number(&found[1]), part.bytes);
    }
}

/// Holds the account of `presented` against the stored file.
fn check(presented: &Presented, budget: usize) {
    assert!(
        presented.text.len() <= budget,
        "{} > {budget}:\n{}",
        presented.text.len(),
        presented.text
    );
    let Some(kept) = &presented.kept else {
        assert!(presented.held.is_empty());
        return;
    };
    let stored = bytes_of(&kept.content);
    assert_eq!(
        (kept.record.bytes, kept.record.lines),
        (stored.len() as u64, stream_lines(&stored, &kept.record.sections))
    );
    check_account(presented, &stored, &kept.record.sections);
}

/// Holds markers, note and text against `stored`, the whole as it is, or would be, in the store.
fn check_account(presented: &Presented, stored: &[u8], sections: &[Section]) {
    let markers: Vec<&str> = presented
        .held
        .iter()
        .map(|part| marker_at(&presented.text, part))
        .collect();
    for (part, marker) in presented.held.iter().zip(&markers) {
        check_marker(part, marker);
    }
    let mut expected = rebuilt(stored, sections, &presented.held, &markers);
    if presented.held.is_empty() {
        assert_eq!(presented.text, expected);
        return;
    }
    if let Some(at) = presented.text.rfind("held back: ") {
        let note = &presented.text[at..];
        let places = note["held back: ".len()..].split("; ").next().unwrap();
        let places = split_places(places);
        assert_eq!(places.len(), presented.held.len(), "{note}");
        for (part, place) in presented.held.iter().zip(places) {
            check_place(stored, sections, part, &place);
        }
        let count =
            Regex::new(r"kept (?:for the person )?as output ([0-9a-f]{8}) \(([\d,]+) lines?\)").unwrap();
        if let Some(found) = count.captures(note) {
            assert_eq!(number(&found[2]), stream_lines(stored, sections));
            assert!(ID.starts_with(&found[1]));
        }
        if let Some(found) = Regex::new("from line ([0-9]+)").unwrap().captures(note) {
            assert_eq!(number(&found[1]), presented.held[0].from_line);
        }
        if !expected.ends_with('\n') {
            expected.push('\n');
        }
        expected.push_str(note);
    }
    assert_eq!(presented.text, expected);
}

/// `stdout lines 1–2 (3 KiB), stderr line 4 (1 byte)` in its places.
fn split_places(text: &str) -> Vec<String> {
    let place = Regex::new(r"[^()]*\([^)]*\)").unwrap();
    let strip = |found: regex::Match<'_>| found.as_str().trim_start_matches(", ").to_owned();
    place.find_iter(text).map(strip).collect()
}

fn marker_at<'a>(text: &'a str, part: &HeldBack) -> &'a str {
    text[part.marker_at..].lines().next().unwrap()
}

const ID: &str = "3f9a2c1b00000001";

fn shown_of(
    output: Output<'_>,
    budget: usize,
    memory: bool,
    error: Option<FirstError>,
) -> (Presented, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::new(home.path(), "session").unwrap();
    let find = move |_: &mut dyn std::io::Read| error.clone();
    let context = Context {
        id: ID,
        about: About {
            tool: "run_command".into(),
            arguments: "true".into(),
            exit: Some("exit status 1".into()),
        },
        budget,
        memory,
        command: true,
        now: "2026-11-30T09:00:00Z".parse().unwrap(),
        first_error: Some(&find),
    };
    let presented = present(output, Place::Store(&store), &context);
    (presented, home)
}

proptest! {
    #![proptest_config(support::cases(40))]

    #[test]
    fn a_tools_text_is_accounted_for(bytes in support::output(150), budget in 600..9000usize, memory: bool) {
        let (presented, _home) = shown_of(Output::text(&bytes), budget, memory, None);
        check(&presented, budget);
    }

    #[test]
    fn both_streams_are_accounted_for(
        out in support::output(120),
        err in support::output(120),
        budget in 600..9000usize,
        line in 1..200u64,
    ) {
        let streams = vec![Stream::whole(Some("stdout"), &out), Stream::whole(Some("stderr"), &err)];
        let error = FirstError { line, text: "error[E0308]: mismatched types".into(), known: true };
        let (presented, _home) = shown_of(Output::command("exit status: 1", streams, ""), budget, true, Some(error));
        check(&presented, budget);
    }

    #[test]
    fn what_memory_holds_of_a_lost_output_is_accounted_for(
        bytes in support::output(150),
        (head, tail) in (0..9_000usize, 0..9_000usize),
        budget in 600..5_000usize,
    ) {
        let head = head.min(bytes.len());
        let tail = tail.min(bytes.len() - head);
        let ends = (&bytes[..head], &bytes[bytes.len() - tail..]);
        let whole = Measured {
            bytes: bytes.len() as u64,
            newlines: support::line_of(&bytes, bytes.len() as u64) - 1,
            dropped_ends_line: bytes[head..bytes.len() - tail].ends_with(b"\n"),
        };
        let stream = Stream::ends(Some("stdout"), ends, whole);
        let lost = Output::command("exit status: 1", vec![stream], "");
        let context = support::keeping::context(budget);
        let presented = present(lost, Place::Nowhere("the audit is off"), &context);
        prop_assert!(presented.text.len() <= budget);

        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path(), "session").unwrap();
        let whole = vec![Stream::whole(Some("stdout"), &bytes)];
        let draft = store.draft(ID, &mut Output::command("exit status: 1", whole, "")).unwrap();
        let sections = draft.whole().sections.to_vec();
        let stored = bytes_of(draft.whole().content);
        if head + tail < bytes.len() {
            prop_assert!(!presented.held.is_empty());
        }
        check_account(&presented, &stored, &sections);
    }

    #[test]
    fn no_budget_is_too_small(bytes in support::output(100), budget in 0..700usize) {
        let streams = vec![Stream::whole(Some("stdout"), &bytes)];
        let (presented, _home) = shown_of(Output::command("exit status: 0", streams, "sandbox: none"), budget, true, None);
        prop_assert!(presented.text.len() <= budget);
    }
}

#[test]
fn the_note_is_worded_as_the_design_has_it() {
    let mut log = String::new();
    for line in 1..=2_336 {
        if line == 1_202 {
            log.push_str("error[E0308]: mismatched types\n");
        } else {
            writeln!(
                log,
                "   Compiling crate-{line:04} v0.1.0 (/home/me/project/crates/{line:032})"
            )
            .unwrap();
        }
    }
    let streams = vec![Stream::whole(Some("stdout"), log.as_bytes())];
    let error = FirstError {
        line: 1_202,
        text: "error[E0308]: mismatched types".into(),
        known: true,
    };
    let (presented, _home) = shown_of(
        Output::command("exit status: 1", streams, ""),
        8_192,
        true,
        Some(error),
    );
    check(&presented, 8_192);
    let [held] = &presented.held[..] else {
        panic!("one stretch")
    };
    let expected = format!(
        "held back: stdout lines {}–{} ({}); exit status 1, first error at line 1,202: \"error[E0308]: mismatched \
         types\"; the whole output is kept as output 3f9a2c1b (2,336 lines); memory \"recall output 3f9a2c1b from \
         line {}\" pages it, \"recall output 3f9a2c1b matching PATTERN\" filters it, \"summarise output 3f9a2c1b\" \
         gives the notable lines, \"condense output 3f9a2c1b: QUESTION\" answers from all of it; do not run the \
         command again to see it",
        held.from_line,
        wisp_output::amount::grouped(held.to_line),
        wisp_output::amount::size(held.bytes),
        held.from_line,
    );
    assert_eq!(presented.text.lines().last().unwrap(), expected);
    assert!(
        presented
            .text
            .starts_with("exit status: 1\nstdout:\n   Compiling crate-0001")
    );
    assert!(
        presented.text.len() > 8_192 - 200,
        "the room is used: {}",
        presented.text.len()
    );
}
