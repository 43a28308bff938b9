//! Where each character of the input stands in a box of a given width, and so where the cursor is and what is above
//! or below it.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use wisp_term::visible;
use wisp_term::width::cells;

use super::Editor;

/// One character in the box.
#[derive(Debug, Clone)]
struct Placed {
    /// Its first byte in the text.
    byte: usize,
    row: usize,
    column: usize,
    shown: String,
}

/// The input broken into rows.
#[derive(Debug, Clone)]
pub struct InputLayout {
    placed: Vec<Placed>,
    rows: usize,
    end: (usize, usize),
    length: usize,
}

impl InputLayout {
    /// Lays out the text of an editor in rows of `width` cells.
    pub fn new(editor: &Editor, width: usize) -> Self {
        let width = width.max(1);
        let (mut row, mut column) = (0, 0);
        let mut placed = Vec::new();
        for (byte, grapheme) in editor.text().grapheme_indices(true) {
            let shown = shown(editor, grapheme, width);
            let wide = cells(&shown);
            if column + wide > width || (column == width && grapheme == "\n") {
                (row, column) = (row + 1, 0);
            }
            placed.push(Placed {
                byte,
                row,
                column,
                shown,
            });
            column += wide;
            if grapheme == "\n" {
                (row, column) = (row + 1, 0);
            }
        }
        if column >= width {
            (row, column) = (row + 1, 0);
        }
        let length = editor.text().len();
        Self {
            placed,
            rows: row + 1,
            end: (row, column),
            length,
        }
    }

    /// How many rows there are; at least one.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The text of some rows.
    pub fn text(&self, rows: Range<usize>) -> Vec<String> {
        let mut text = vec![String::new(); rows.len()];
        for placed in self.placed.iter().filter(|placed| rows.contains(&placed.row)) {
            text[placed.row - rows.start].push_str(&placed.shown);
        }
        text
    }

    /// The row and column of a byte of the text.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let found = self.placed.iter().find(|placed| placed.byte >= byte);
        found.map_or(self.end, |placed| (placed.row, placed.column))
    }

    /// The byte at, or before, a column of a row; none when there is no such row.
    pub fn byte_at(&self, row: usize, column: usize) -> Option<usize> {
        if row >= self.rows {
            return None;
        }
        let in_row = self.placed.iter().filter(|placed| placed.row == row);
        let here = in_row.clone().rfind(|placed| placed.column <= column);
        let past_end = row == self.end.0 && column >= self.end.1;
        if past_end {
            return Some(self.length);
        }
        here.or_else(|| in_row.clone().next())
            .map(|placed| placed.byte)
            .or(Some(self.length))
    }
}

/// How one character is shown: a placeholder as its label, a newline as nothing, a tab as spaces, what cannot be seen
/// as an escape.
fn shown(editor: &Editor, grapheme: &str, width: usize) -> String {
    if let Some(label) = editor.label(grapheme) {
        return wisp_term::width::truncate(&label, width).into_owned();
    }
    match grapheme {
        "\n" => String::new(),
        "\t" => "    ".to_owned(),
        other => {
            let escaped = visible(other);
            if escaped.contains("\\u{200d}") && cells(other) > 0 {
                other.to_owned()
            } else {
                escaped
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.insert(text);
        editor
    }

    #[test]
    fn long_and_several_lines_take_rows() {
        let layout = InputLayout::new(&editor("abcdef\n\nx漢"), 4);
        assert_eq!(layout.text(0..layout.rows()), ["abcd", "ef", "", "x漢"]);
        assert_eq!(layout.place(0), (0, 0));
        assert_eq!(layout.place(5), (1, 1));
        assert_eq!(layout.place(7), (2, 0));
        assert_eq!(layout.place("abcdef\n\nx漢".len()), (3, 3));
    }

    #[test]
    fn a_full_row_puts_the_cursor_on_the_next() {
        let layout = InputLayout::new(&editor("abcd"), 4);
        assert_eq!((layout.rows(), layout.place(4)), (2, (1, 0)));
    }

    #[test]
    fn above_and_below_are_found_by_column() {
        let layout = InputLayout::new(&editor("abcdef\nxy"), 10);
        assert_eq!(layout.byte_at(1, 1), Some(8));
        assert_eq!(layout.byte_at(1, 9), Some(9));
        assert_eq!(layout.byte_at(0, 5), Some(5));
        assert_eq!(layout.byte_at(0, 9), Some(6));
        assert_eq!(layout.byte_at(2, 0), None);
    }

    #[test]
    fn what_cannot_be_seen_is_written_out_and_emoji_are_whole() {
        let layout = InputLayout::new(&editor("a\u{202e}b"), 40);
        assert_eq!(layout.text(0..1), ["a\\u{202e}b"]);
        let family = "👩\u{200d}👩\u{200d}👧";
        assert_eq!(InputLayout::new(&editor(family), 40).text(0..1), [family]);
    }
}
