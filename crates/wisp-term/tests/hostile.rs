//! A file of hostile sequences and one of wide characters, through everything that shows text.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use wisp_term::width::{cells, expand_tabs, truncate, wrap};
use wisp_term::{Palette, SafeText, diff};

/// 36 numbered lines, each with a sequence and `STILL-HERE-NN` after it.
const ESCAPES: &[u8] = include_bytes!("data/escapes.bin");

/// Lines of wide, joined and combining characters.
const WIDE: &str = include_str!("data/wide.txt");

fn shown(colour: bool, chunk: usize) -> String {
    let mut filter = SafeText::new(colour);
    let mut out: String = ESCAPES
        .chunks(chunk)
        .map(|bytes| filter.push_bytes(bytes))
        .collect();
    out.push_str(&filter.finish());
    out
}

/// The text without `ESC [ digits ; m`.
fn without_colour(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        left.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap();
        assert_eq!(&after[end..=end], "m", "a sequence that is no colour");
        rest = &after[end + 1..];
    }
    left + rest
}

fn is_forbidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200b}' | '\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

#[test]
fn nothing_reaches_the_terminal_but_colour() {
    for (colour, chunk) in [(false, 1753), (true, 1753), (true, 1), (true, 7)] {
        let shown = shown(colour, chunk);
        assert_eq!(shown, self::shown(colour, 3), "cut differently");
        let plain = if colour { without_colour(&shown) } else { shown };
        assert_eq!(plain.chars().find(|c| is_forbidden(*c)), None);
        assert_eq!(plain.lines().count(), 37);
    }
}

#[test]
fn every_line_can_be_read_to_its_end() {
    let shown = shown(false, 64);
    for n in 1..=35 {
        assert!(shown.contains(&format!("STILL-HERE-{n:02}")), "{n}");
    }
    assert!(shown.ends_with("36 last line of the file\n"));
    assert!(shown.contains("20 invisible text: hidden STILL-HERE-20"));
}

#[test]
fn colour_ends_with_its_line() {
    for line in shown(true, 100).lines().filter(|line| line.contains('\u{1b}')) {
        assert!(
            line.rfind("\u{1b}[0m")
                .is_some_and(|end| end == line.rfind('\u{1b}').unwrap()),
            "{line:?}"
        );
    }
}

#[test]
fn widths_are_those_a_terminal_shows() {
    let expected = [
        41, 4, 4, 9, 23, 23, 21, 11, 19, 12, 14, 12, 12, 12, 11, 64, 59, 240, 9, 10,
    ];
    for (line, wide) in WIDE.lines().zip(expected) {
        assert_eq!(cells(&expand_tabs(line, 0)), wide, "{line}");
    }
}

#[test]
fn no_row_is_wider_than_the_terminal_at_any_width() {
    for line in WIDE.lines() {
        let line = expand_tabs(line, 0);
        for width in 1..=200 {
            assert!(cells(&truncate(&line, width)) <= width);
            let rows = wrap(&line, width);
            assert!(
                rows.iter().all(|row| cells(row) <= width.max(2)),
                "{line} at {width}"
            );
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&rows.concat()), letters(&line));
        }
        let rows = diff::render(&diff::diff("", &line, 3), &Palette::plain(), 40);
        assert!(rows.lines().all(|row| cells(row) <= 40));
    }
}
