//! Breaking a styled line into rows: at spaces where there are some, between characters as they are seen, in one
//! pass however long the line is.

use std::ops::Range;

use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Where a break may fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// At a space; within a word only when it is longer than a row. For prose.
    Words,
    /// Wherever the row is full, so that nothing of the text is left out. For outputs.
    Anywhere,
}

/// The byte ranges of the rows of one line, `width` cells at most. An empty line is one empty row. With
/// [`Break::Words`] the space broken at belongs to no row.
pub fn rows(text: &str, width: usize, at: Break) -> Vec<Range<usize>> {
    let width = width.max(1);
    let mut found = Vec::new();
    let mut row = Row::default();
    for (start, grapheme) in text.grapheme_indices(true) {
        let cells = grapheme.width();
        let full = row.cells + cells > width;
        let is_space = at == Break::Words && grapheme == " ";
        if full && is_space {
            found.push(row.start..start);
            row = Row::from(start + 1);
            continue;
        }
        if full && start > row.start {
            found.push(row.cut(start));
        }
        if is_space && start > row.start {
            row.space = Some((start, row.cells));
        }
        row.cells += cells;
    }
    found.push(row.start..text.len());
    found
}

/// The row being filled.
#[derive(Default)]
struct Row {
    start: usize,
    cells: usize,
    /// The last space of the row: its place, and the cells before it.
    space: Option<(usize, usize)>,
}

impl Row {
    fn from(start: usize) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }

    /// Ends the row before what stands at `next`, or at the row's last space, and begins the one after it.
    fn cut(&mut self, next: usize) -> Range<usize> {
        let Some((place, before)) = self.space.take() else {
            return std::mem::replace(self, Self::from(next)).start..next;
        };
        let ended = self.start..place;
        self.cells -= before + 1;
        self.start = place + 1;
        ended
    }
}

/// The rows of a styled line, `width` cells at most.
pub fn lines(spans: &[Span<'static>], width: usize, at: Break) -> Vec<Line<'static>> {
    let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
    let rows = rows(&text, width, at);
    if rows.len() == 1 {
        return vec![Line::from(spans.to_vec())];
    }
    rows.into_iter()
        .map(|row| Line::from(slice(spans, &row)))
        .collect()
}

/// The spans of a byte range of a styled line.
pub fn slice(spans: &[Span<'static>], range: &Range<usize>) -> Vec<Span<'static>> {
    let mut found = Vec::new();
    let mut start = 0;
    for span in spans {
        let end = start + span.content.len();
        let (from, to) = (range.start.max(start), range.end.min(end));
        if from < to {
            let text = span.content[from - start..to - start].to_owned();
            found.push(Span::styled(text, span.style));
        }
        if end >= range.end {
            break;
        }
        start = end;
    }
    found
}

/// What the further rows of a line of prose are indented by: those of a list's item stand under its text.
pub fn hang(text: &str) -> usize {
    let item = text.trim_start_matches(' ');
    let indent = text.len() - item.len();
    let digits = item.len() - item.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered =
        (1..=3).contains(&digits) && [". ", ") "].iter().any(|end| item[digits..].starts_with(end));
    match () {
        () if item.starts_with("• ") => indent + 2,
        () if numbered => indent + digits + 2,
        () => 0,
    }
}

/// The same in a window that may be too narrow for it.
pub fn hang_in(hang: usize, width: usize) -> usize {
    if hang * 2 > width { 0 } else { hang }
}

/// A row that stands `indent` cells to the right.
pub fn moved(mut spans: Vec<Span<'static>>, indent: usize) -> Line<'static> {
    if indent > 0 {
        spans.insert(0, Span::raw(" ".repeat(indent)));
    }
    Line::from(spans)
}

/// The rows of a line of prose whose rows after the first stand `hang` cells to the right; with `begun`, its first row
/// was given out before.
pub fn hung(spans: &[Span<'static>], width: usize, begun: bool, hang: usize) -> Vec<Line<'static>> {
    if hang == 0 {
        return lines(spans, width, Break::Words);
    }
    let (mut found, mut rest) = (Vec::new(), spans.to_vec());
    if !begun {
        let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
        let broken = rows(&text, width, Break::Words);
        let Some(second) = broken.get(1) else {
            return vec![Line::from(rest)];
        };
        found.push(Line::from(slice(spans, &broken[0])));
        rest = slice(spans, &(second.start..text.len()));
    }
    let further = lines(&rest, width - hang, Break::Words).into_iter();
    found.extend(further.map(|row| moved(row.spans, hang)));
    found
}

/// Each row of a styled line after its own indent, for text that must not be taken for wisp's own words.
pub fn indented(spans: &[Span<'static>], indent: &Span<'static>, width: usize) -> Vec<Line<'static>> {
    if indent.content.width() + 2 > width {
        return lines(spans, width, Break::Anywhere);
    }
    let room = width - indent.content.width();
    let rows = lines(spans, room, Break::Anywhere).into_iter();
    rows.map(|mut row| {
        row.spans.insert(0, indent.clone());
        row
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Style;

    use super::*;

    fn cut(text: &str, width: usize, at: Break) -> Vec<&str> {
        rows(text, width, at).into_iter().map(|row| &text[row]).collect()
    }

    #[test]
    fn prose_breaks_at_spaces_and_outputs_anywhere() {
        assert_eq!(cut("one two three", 7, Break::Words), ["one two", "three"]);
        assert_eq!(cut("one two three", 7, Break::Anywhere), ["one two", " three"]);
        assert_eq!(cut("abcdefgh ij", 3, Break::Words), ["abc", "def", "gh", "ij"]);
        assert_eq!(cut("", 5, Break::Words), [""]);
        assert_eq!(cut("exactly ten", 7, Break::Words), ["exactly", "ten"]);
    }

    #[test]
    fn a_wide_character_is_never_halved() {
        assert_eq!(cut("漢字漢", 5, Break::Anywhere), ["漢字", "漢"]);
        assert_eq!(cut("漢字", 1, Break::Words), ["漢", "字"]);
        assert_eq!(cut("a 漢字", 4, Break::Words), ["a", "漢字"]);
    }

    #[test]
    fn styles_stay_with_their_letters() {
        let spans = [Span::raw("one tw"), Span::styled("o three", Style::new().red())];
        let broken = lines(&spans, 7, Break::Words);
        assert_eq!(
            broken,
            [
                Line::from(vec![Span::raw("one tw"), Span::styled("o", Style::new().red())]),
                Line::from(vec![Span::styled("three", Style::new().red())])
            ]
        );
    }

    #[test]
    fn rows_of_a_list_item_stand_under_its_text() {
        assert_eq!(
            ["• a", "  • a", "12. a", "1) a", "2026. a", "1.5 a", "a"].map(hang),
            [2, 4, 4, 3, 0, 0, 0]
        );
        assert_eq!((hang_in(4, 8), hang_in(4, 7)), (4, 0));
        let text = |rows: Vec<Line<'_>>| rows.iter().map(Line::to_string).collect::<Vec<_>>();
        let item = [Span::raw("• one two three four")];
        assert_eq!(
            text(hung(&item, 10, false, 2)),
            ["• one two", "  three", "  four"]
        );
        assert_eq!(
            text(hung(&[Span::raw("two three")], 8, true, 2)),
            ["  two", "  three"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn rows_fit_and_lose_nothing(text in "[a-c 漢🐟é]{0,80}", width in 2usize..20) {
            let anywhere = cut(&text, width, Break::Anywhere);
            prop_assert_eq!(anywhere.concat(), text.clone());
            let words = cut(&text, width, Break::Words);
            for row in words.iter().chain(&anywhere) {
                prop_assert!(row.width() <= width, "{row:?} in {width}");
            }
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&words.concat()), letters(&text));
        }

        #[test]
        fn all_rows_but_the_last_stay_when_text_follows(text in "[a-c ]{0,60}", more in "[a-c ]{0,20}", width in 2usize..12) {
            let before = cut(&text, width, Break::Words);
            let longer = format!("{text}{more}");
            let after = cut(&longer, width, Break::Words);
            let settled = &before[..before.len() - 1];
            prop_assert_eq!(settled, &after[..settled.len()]);
        }
    }
}
