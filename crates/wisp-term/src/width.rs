//! How many cells text takes, and fitting text into cells: counted by what a reader sees as one character, never
//! by bytes.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The mark of something cut off: one cell.
pub const ELLIPSIS: char = '…';

/// Cells between two tab stops.
pub const TAB_STOP: usize = 8;

/// The cells a text without tabs and escapes takes on a terminal.
pub fn cells(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// A text of at most `max` cells: whole when it fits, otherwise cut between characters and ended by [`ELLIPSIS`].
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max && text.is_ascii() || cells(text) <= max {
        return Cow::Borrowed(text);
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let (kept, _) = split_at(text, max - 1);
    Cow::Owned(format!("{kept}{ELLIPSIS}"))
}

/// A text of at most `max` cells that keeps its beginning and its end, for paths and commands.
pub fn truncate_middle(text: &str, max: usize) -> Cow<'_, str> {
    let total = cells(text);
    if total <= max {
        return Cow::Borrowed(text);
    }
    if max < 3 {
        return truncate(text, max);
    }
    let (head, _) = split_at(text, (max - 1) / 2);
    let mut tail = text;
    while cells(tail) > max - 1 - cells(head) {
        let first = tail.graphemes(true).next().map_or(tail.len(), str::len);
        tail = &tail[first..];
    }
    Cow::Owned(format!("{head}{ELLIPSIS}{tail}"))
}

/// The longest beginning of `text` that takes at most `max` cells, and the rest. A character is never halved.
pub fn split_at(text: &str, max: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > max {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The text followed by spaces up to `width` cells; longer text stays as it is.
pub fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(cells(text));
    format!("{text}{}", " ".repeat(missing))
}

/// One line broken into rows of at most `width` cells, at spaces where there are some. A character wider than the
/// row stands alone in its own. An empty line is one empty row; no row ends in a space it was broken at.
pub fn wrap(line: &str, width: usize) -> Vec<&str> {
    let width = width.max(1);
    let mut rows = Vec::new();
    let mut rest = line;
    while cells(rest) > width {
        let (row, next) = break_row(rest, width);
        rows.push(row);
        rest = next;
    }
    if !rest.is_empty() || rows.is_empty() {
        rows.push(rest);
    }
    rows
}

fn break_row(rest: &str, width: usize) -> (&str, &str) {
    let (fits, after) = split_at(rest, width);
    if fits.is_empty() {
        let first = rest.graphemes(true).next().map_or(rest.len(), str::len);
        return rest.split_at(first);
    }
    if let Some(after) = after.strip_prefix(' ') {
        return (fits.trim_end_matches(' '), after);
    }
    match fits.rfind(' ') {
        Some(space) if !fits[..space].trim().is_empty() => {
            (fits[..space].trim_end_matches(' '), &rest[space + 1..])
        }
        _ => (fits, after),
    }
}

/// The text with each tab replaced by spaces up to the next stop, when it starts in column `column`.
pub fn expand_tabs(text: &str, column: usize) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + TAB_STOP);
    let mut at = column;
    for piece in text.split_inclusive(['\t', '\n']) {
        let body = piece.trim_end_matches(['\t', '\n']);
        shown.push_str(body);
        at += cells(body);
        if piece.ends_with('\t') {
            let spaces = TAB_STOP - at % TAB_STOP;
            shown.push_str(&" ".repeat(spaces));
            at += spaces;
        } else if piece.ends_with('\n') {
            shown.push('\n');
            at = 0;
        }
    }
    Cow::Owned(shown)
}

/// The text without its last character as a person counts them: an emoji of several parts goes whole.
pub fn without_last(text: &str) -> &str {
    text.grapheme_indices(true)
        .next_back()
        .map_or("", |(start, _)| &text[..start])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn widths_are_those_of_what_is_seen() {
        for (text, wide) in [
            ("plain ascii line of forty characters here", 41),
            ("漢字", 4),
            ("🐟🐟", 4),
            ("👩\u{200d}👩\u{200d}👧 family", 9),
            ("e\u{301}cole (combining acute)", 23),
            ("한글 텍스트", 11),
            ("🇳🇴 flag pair", 12),
            ("👍🏽 skin tone", 12),
        ] {
            assert_eq!(cells(text), wide, "{text}");
        }
    }

    #[test]
    fn a_cut_never_halves_a_wide_character() {
        assert_eq!(truncate("漢字漢字", 8), "漢字漢字");
        assert_eq!(truncate("漢字漢字", 7), "漢字漢…");
        assert_eq!(truncate("漢字漢字", 6), "漢字…");
        assert_eq!(truncate("漢", 1), "…");
        assert_eq!(truncate("abc", 0), "");
        assert_eq!(truncate_middle("/usr/local/share/doc", 9), "/usr…/doc");
    }

    #[test]
    fn rows_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(expand_tabs("tab\there", 0), "tab     here");
        assert_eq!(expand_tabs("12345678\tx", 0), "12345678        x");
        assert_eq!(expand_tabs("a\n\tb", 3), "a\n        b");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_row_is_wider_than_asked(text in "[ -~漢字🐟é]{0,60}", width in 2usize..40) {
            prop_assert!(cells(&truncate(&text, width)) <= width);
            prop_assert!(cells(&truncate_middle(&text, width)) <= width);
            for row in wrap(&text, width) {
                prop_assert!(cells(row) <= width);
            }
        }
    }
}
