//! Clean views of what real programs print: progress bars, colours, NULs, broken bytes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use proptest::prelude::*;
use wisp_output::clean::{self, CleanLines, Cleaner, Part, View};

fn view(raw: &[u8]) -> Vec<String> {
    let mut reader = CleanLines::new(raw, View::Plain);
    let mut lines = Vec::new();
    while let Some(line) = reader.next_line().unwrap() {
        assert_eq!(line.number, lines.len() as u64 + 1);
        lines.push(line.text);
    }
    assert_eq!(
        lines.join("\n"),
        clean::text(raw, View::Plain).trim_end_matches('\n'),
        "both readings agree"
    );
    lines
}

fn progress() -> Vec<u8> {
    let mut raw = Vec::new();
    for at in 1..=2_000 {
        raw.extend(format!("Receiving objects: {:3}% ({at}/2000)\r", at * 100 / 2_000).into_bytes());
    }
    raw.extend(b"Receiving objects: 100% (2000/2000), 1.21 MiB, done.\n");
    raw.extend(b"Rebasing (1/1)\rSuccessfully rebased and updated refs/heads/tern.\n");
    raw.extend(b"longer text\rshort\nalpha\r\nbeta\r\ndone 100%\r\r\nabc\x08\x08\x08xyz\n");
    for frame in b"|/-\\".repeat(50) {
        raw.extend([b'\r', frame]);
    }
    raw.extend(b"\r \rready");
    raw
}

#[test]
fn a_progress_bar_is_its_last_state() {
    let raw = progress();
    assert_eq!(raw.len(), 71_472);
    assert_eq!(
        view(&raw),
        [
            "Receiving objects: 100% (2000/2000), 1.21 MiB, done.",
            "Successfully rebased and updated refs/heads/tern.",
            "short",
            "alpha",
            "beta",
            "done 100%",
            "xyz",
            "ready",
        ]
    );
}

#[test]
fn escape_sequences_inside_words_are_gone() {
    let lines = [
        "\x1b[31merr\x1b[1mor\x1b[0m: boom in gauge 3",
        "\x1b]0;tern: ready\x07build (primary)",
        "see \x1b]8;;https://example.test/x\x1b\\the manual\x1b]8;;\x1b\\ first",
        "\x1b[2K\x1b[1Gstep 2 of 9",
        "\x1b[38;2;255;0;0mFAIL\x1b[39m\t\x1b[4msrc/tide.c\x1b[24m:12",
        "\x1b(B\x1b[mplain\x1b[K",
    ];
    let mut raw = lines.join("\n").into_bytes();
    raw.extend(b"\n\x9b31mC1 colour\x9b0m\n\x1bPq#0;2;0;0;0~\x1b\\after a sixel\n");
    assert_eq!(
        view(&raw),
        [
            "error: boom in gauge 3",
            "build (primary)",
            "see the manual first",
            "step 2 of 9",
            "FAIL\tsrc/tide.c:12",
            "plain",
            "\u{fffd}31mC1 colour\u{fffd}0m",
            "after a sixel",
        ]
    );
}

#[test]
fn a_nul_can_be_seen_and_its_neighbours_read() {
    let raw = b"first line\nkey\0value\n\0\0\0\nlast line\n";
    assert_eq!(view(raw), ["first line", "key␀value", "␀␀␀", "last line"]);
}

#[test]
fn broken_bytes_are_one_mark_for_each_maximal_part() {
    let raw: &[u8] =
        b"1 latin-1: caf\xe9 r\xe9sum\xe9\n2 lone continuation: \x80\x80.\n3 overlong slash: \xc0\xaf.\n\
        4 surrogate: \xed\xa0\x80.\n5 cut char: \xe6\xbc.\n6 beyond unicode: \xf4\x90\x80\x80.\n\
        7 good: caf\xc3\xa9 \xe6\xbc\xa2 \xf0\x9f\x90\x9f\n8 cut at the end: \xf0\x9f\x90";
    assert_eq!(raw.len(), 172);
    let lines = view(raw);
    let marks: Vec<usize> = lines
        .iter()
        .map(|line| line.matches('\u{fffd}').count())
        .collect();
    assert_eq!(marks, [3, 2, 2, 3, 1, 4, 0, 1]);
    assert_eq!(lines[6], "7 good: café 漢 🐟");
}

#[test]
fn no_sequence_swallows_a_line_or_what_it_hides() {
    let raw = "one \x1b]0;never closed  STILL HERE\nsecret \u{202e}gnp.exe \x1bc\x1b[6n\x08\x07\x7f\u{9d}52;c;x\u{9c}end\n";
    assert_eq!(
        view(raw.as_bytes()),
        ["one 0;never closed  STILL HERE", "secret <U+202E>gnp.exeend"]
    );
}

#[test]
fn a_terminal_keeps_colour_closed_at_the_lines_end() {
    let colour = |raw: &str| clean::line(raw.as_bytes(), View::Colour).into_owned();
    assert_eq!(colour("\x1b[31mred"), "\x1b[31mred\x1b[0m");
    assert_eq!(colour("\x1b[31mred\x1b[0m"), "\x1b[31mred\x1b[0m");
    assert_eq!(colour("50%\r\x1b[32mdone\x1b[m"), "\x1b[32mdone\x1b[m");
    assert_eq!(colour("\x1b]52;c;dG91Y2g=\x07\x1b[2Jplain"), "plain");
}

#[test]
fn a_line_longer_than_memory_should_hold_comes_in_pieces_with_its_number() {
    let raw = format!("first\n{}\nlast", "漢".repeat(1_000_000));
    let mut reader = CleanLines::new(raw.as_bytes(), View::Plain);
    let (mut second, mut pieces) = (String::new(), 0);
    while let Some(line) = reader.next_line().unwrap() {
        assert!(line.text.len() <= clean::PIECE + 64 * 1024);
        assert!(!line.text.contains('\u{fffd}'));
        if line.number == 2 {
            assert_eq!(line.start, 6);
            pieces += usize::from(line.part != Part::Whole);
            second.push_str(&line.text);
        }
        if line.number == 3 {
            assert_eq!(
                (line.text.as_str(), line.start, line.newline),
                ("last", 3_000_007, false)
            );
        }
    }
    assert!(pieces > 5 && second == "漢".repeat(1_000_000));
}

#[test]
fn what_overwrites_a_line_is_in_the_colour_that_was_on() {
    let whole = |raw: &[u8]| clean::line(raw, View::Colour).into_owned();
    for raw in ["\r\x1b[31m \r漢", "\x1b[31ma\r漢", "a\r\x1b[31m\x1b[2K漢"] {
        assert_eq!(whole(raw.as_bytes()), "\x1b[31m漢\x1b[0m", "{raw:?}");
    }
    assert_eq!(whole(b"\x1b[31ma\x1b[0m\rb"), "b");
}

proptest! {
    #![proptest_config(support::cases(256))]

    #[test]
    fn a_line_is_the_same_however_it_is_cut_into_reads(
        parts in proptest::collection::vec(prop_oneof![
            "[a-z ]{0,6}".prop_map(String::into_bytes),
            Just(b"\r".to_vec()), Just(b"\x08".to_vec()), Just(b"\x1b[31m".to_vec()), Just(b"\x1b[0m".to_vec()),
            Just(b"\x1b[2K".to_vec()), Just(b"\x1b[K".to_vec()), Just(b"\x1b]0;t\x07".to_vec()), Just(b"\x1b]0;t".to_vec()),
            Just("漢".into()), Just("\u{202e}".into()), Just(vec![0xe6]), Just(vec![0]), Just(vec![0xff]), Just(b"\x1b".to_vec()),
        ], 0..14),
        colour: bool,
    ) {
        let raw = parts.concat();
        let view = if colour { View::Colour } else { View::Plain };
        let mut whole = Cleaner::new(view);
        whole.feed(&raw);
        let whole = whole.finish();
        let mut bytewise = Cleaner::new(view);
        for byte in &raw {
            bytewise.feed(std::slice::from_ref(byte));
        }
        prop_assert_eq!(&whole, &bytewise.finish());
        if !colour {
            prop_assert!(!whole.chars().any(|ch| ch.is_control() && ch != '\t'), "{:?}", whole);
        }
    }
}
