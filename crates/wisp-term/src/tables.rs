//! Tables in a reply, which can be lined up only when their last row has come: their lines are held, and come out as
//! columns of equal width, measured in cells. A table that is wider than the window has its widest columns broken at words;
//! where even that leaves them too narrow, each row comes out as lines of `name: value`.

use unicode_segmentation::UnicodeSegmentation;

use crate::safe;
use crate::width::{cells, split_at};

/// The most lines of a table that are held; a longer one comes out in parts.
pub const MAX_ROWS: usize = 200;

/// Cells of the bar between two columns.
const BAR: usize = 3;
/// A column that is broken has at least so many cells.
const NARROWEST: usize = 8;

/// The filter between a reply's deltas and its [`Markdown`](crate::Markdown). Lines that are no part of a table pass
/// at once.
///
/// ```
/// use wisp_term::Tables;
/// let mut tables = Tables::default();
/// assert_eq!(tables.push("| a | size |\n|---|---:|\n| b | 1 |\n"), "");
/// assert_eq!(tables.finish(), "a   │ size\n────┼─────\nb   │    1\n");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// The line being received, while it may be a row of a table.
    line: String,
    rows: Vec<String>,
    /// Whether the line being received is known to be none.
    passing: bool,
    in_code: bool,
    /// Cells of a row of the window; none where a table may be as wide as it is.
    width: Option<usize>,
}

impl Tables {
    /// For a window of so many cells.
    #[must_use]
    pub fn within(width: usize) -> Self {
        Self {
            width: Some(width),
            ..Self::default()
        }
    }

    /// Takes the window's width as it is now.
    pub fn set_width(&mut self, width: usize) {
        self.width = Some(width);
    }

    /// Takes a delta and gives back what is not held.
    #[must_use]
    pub fn push(&mut self, delta: &str) -> String {
        let mut out = String::new();
        for piece in delta.split_inclusive('\n') {
            self.piece(piece, &mut out);
        }
        out
    }

    fn piece(&mut self, piece: &str, out: &mut String) {
        let ends = piece.ends_with('\n');
        if self.passing {
            out.push_str(piece);
            self.passing = !ends;
            return;
        }
        self.line.push_str(piece);
        let start = self.line.trim_start();
        if start.is_empty() && !ends {
            return;
        }
        if start.starts_with('|') && !self.in_code {
            if ends {
                self.rows.push(std::mem::take(&mut self.line));
            }
            if self.rows.len() >= MAX_ROWS {
                out.push_str(&self.take_rows());
            }
            return;
        }
        let may_be_fence = ["```", "~~~"]
            .iter()
            .any(|mark| mark.starts_with(start) && start.len() < 3);
        if may_be_fence && !ends {
            return;
        }
        if start.starts_with("```") || start.starts_with("~~~") {
            self.in_code = !self.in_code;
        }
        out.push_str(&self.take_rows());
        out.push_str(&std::mem::take(&mut self.line));
        self.passing = !ends;
    }

    /// How many rows are held.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.rows.len()
    }

    /// Ends the reply and gives back what was held.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let mut out = self.take_rows();
        let line = std::mem::take(&mut self.line);
        if line.trim_start().starts_with('|') && !out.is_empty() {
            let mut table = out.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
            table.push(line);
            out = lined_up(&table, self.width);
        } else {
            out.push_str(&line);
        }
        *self = Self {
            width: self.width,
            ..Self::default()
        };
        out
    }

    fn take_rows(&mut self) -> String {
        lined_up(&std::mem::take(&mut self.rows), self.width)
    }
}

/// Rows with their columns padded to one width, if they are a table: more than one row, the second a rule.
fn lined_up(rows: &[String], most: Option<usize>) -> String {
    let cells_of: Vec<Vec<String>> = rows.iter().map(|row| split(row)).collect();
    if !cells_of
        .get(1)
        .is_some_and(|row| row.iter().all(|cell| is_rule(cell)))
    {
        return rows.concat();
    }
    let columns = cells_of.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| {
        let in_column = cells_of.iter().enumerate().filter(|(at, _)| *at != 1);
        in_column
            .filter_map(|(_, row)| row.get(column))
            .map(|cell| seen(cell))
            .max()
            .unwrap_or(0)
            .max(3)
    };
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let shrunk = most.map(|most| shrunk(&widths, most.saturating_sub(BAR * columns.saturating_sub(1))));
    let widths = match shrunk {
        None => widths,
        Some(Some(shrunk)) if shrunk == widths => widths,
        Some(Some(shrunk)) => return broken(&cells_of, &shrunk),
        Some(None) => return as_lines(&cells_of),
    };
    let rule = |column: usize| cells_of[1].get(column).map_or("", String::as_str);
    let mut out = String::new();
    for (at, row) in cells_of.iter().enumerate() {
        let cell = |column: usize| row.get(column).map_or("", String::as_str);
        let padded = widths.iter().enumerate().map(|(column, width)| {
            if at == 1 {
                "─".repeat(*width)
            } else {
                padded(cell(column), *width, rule(column))
            }
        });
        let line = padded
            .collect::<Vec<_>>()
            .join(if at == 1 { "─┼─" } else { " │ " });
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Widths that have `room` together: what is narrow stays, and the others share what is left. None where a column would be
/// too narrow to be read.
fn shrunk(widths: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|column| widths[*column]);
    let mut shrunk = widths.to_vec();
    let mut left = room;
    for (at, column) in order.iter().enumerate() {
        let share = left / (order.len() - at);
        shrunk[*column] = widths[*column].min(share);
        if shrunk[*column] < widths[*column].min(NARROWEST) {
            return None;
        }
        left -= shrunk[*column];
    }
    Some(shrunk)
}

/// A table whose cells are broken at words. Their markers are taken out: a pair of them may stand on two rows.
fn broken(rows: &[Vec<String>], widths: &[usize]) -> String {
    let rule = |column: usize| rows[1].get(column).map_or("", String::as_str);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        if at == 1 {
            let lines: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            out.push_str(&lines.join("─┼─"));
            out.push('\n');
            continue;
        }
        let cell = |column: usize| row.get(column).map_or_else(String::new, |cell| unmarked(cell));
        let lines: Vec<Vec<String>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| in_width(&cell(column), *width))
            .collect();
        for line in 0..lines.iter().map(Vec::len).max().unwrap_or(0) {
            let parts = widths.iter().enumerate().map(|(column, width)| {
                let text = lines[column].get(line).map_or("", String::as_str);
                padded(text, *width, rule(column))
            });
            out.push_str(parts.collect::<Vec<_>>().join(" │ ").trim_end());
            out.push('\n');
        }
    }
    out
}

/// A text in lines of at most `width` cells, broken at blanks where there are any.
fn in_width(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word;
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let gap = usize::from(!line.is_empty());
            if cells(line) + gap + cells(word) <= width {
                line.push_str(if gap > 0 { " " } else { "" });
                line.push_str(word);
                break;
            }
            if line.is_empty() {
                let (fits, rest) = split_at(word, width);
                if fits.is_empty() {
                    line.push_str(word);
                    break;
                }
                line.push_str(fits);
                word = rest;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// A table as lines of `name: value`, a blank line between its rows.
fn as_lines(rows: &[Vec<String>]) -> String {
    let row = |row: &Vec<String>| {
        let names = rows[0].iter().map(String::as_str).chain(std::iter::repeat(""));
        let lines = names.zip(row).filter(|(_, cell)| !cell.is_empty());
        let line = |(name, cell): (&str, &String)| match name {
            "" => format!("{cell}\n"),
            name => format!("{name}: {cell}\n"),
        };
        lines.map(line).collect::<Vec<_>>().concat()
    };
    rows.iter().skip(2).map(row).collect::<Vec<_>>().join("\n")
}

/// The cells of a row, without the outer bars; `\|` is a bar within a cell.
fn split(row: &str) -> Vec<String> {
    let row = safe::safe(row.trim());
    let row = row.strip_prefix('|').unwrap_or(&row);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for grapheme in row.graphemes(true) {
        match grapheme {
            "|" if !escaped => cells.push(String::new()),
            other => cells.last_mut().expect("there is always a cell").push_str(other),
        }
        escaped = grapheme == "\\";
    }
    if cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().replace("\\|", "|")).collect()
}

fn is_rule(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':' | ' '))
}

/// The cells a table cell takes once its markers are gone.
fn seen(cell: &str) -> usize {
    cells(&unmarked(cell))
}

/// A cell filled up to its column's width, on the side that the rule's colons say.
fn padded(cell: &str, width: usize, rule: &str) -> String {
    let missing = width.saturating_sub(seen(cell));
    let before = match (rule.starts_with(':'), rule.ends_with(':')) {
        (false, true) => missing,
        (true, true) => missing / 2,
        (_, false) => 0,
    };
    format!("{}{cell}{}", " ".repeat(before), " ".repeat(missing - before))
}

/// The text without the markers that Markdown will take out.
fn unmarked(cell: &str) -> String {
    let pairs = |mark: &str| cell.matches(mark).count() >= 2;
    let mut text = cell.to_owned();
    for mark in ["**", "`"] {
        if pairs(mark) {
            text = text.replace(mark, "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> String {
        let mut tables = Tables::default();
        [tables.push(text), tables.finish()].concat()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let table = "| name | size |\n|---|--:|\n| 漢字 | 1 |\n| `a|b` | \\| |\n\nafter";
        assert_eq!(
            all(&table.replace("`a|b`", "`ab`")),
            "name │ size\n─────┼─────\n漢字 │    1\n`ab`   │    |\n\nafter"
        );
    }

    fn within(width: usize, text: &str) -> String {
        let mut tables = Tables::within(width);
        [tables.push(text), tables.finish()].concat()
    }

    const WIDE: &str =
        "| file | what it does |\n|---|---|\n| a.rs | reads the **whole** log and counts |\n| b.rs | ok |\n";

    #[test]
    fn a_table_that_is_too_wide_is_broken_at_words_in_its_widest_column() {
        assert_eq!(
            within(24, WIDE),
            "file │ what it does\n─────┼──────────────────\na.rs │ reads the whole\n     │ log and counts\nb.rs │ ok\n"
        );
        assert_eq!(within(41, WIDE), all(WIDE), "it fits to the cell");
        assert!(within(24, WIDE).lines().all(|line| cells(line) <= 24));
    }

    #[test]
    fn where_columns_would_be_too_narrow_rows_are_lines_of_names_and_values() {
        let text = "| file | what it does | why it is there |\n|---|---|---|\n| a.rs | reads the log | it is asked for |\n| b.rs | | no reason given |\n";
        assert_eq!(
            within(20, text),
            "file: a.rs\nwhat it does: reads the log\nwhy it is there: it is asked for\n\nfile: b.rs\nwhy it is there: no reason given\n"
        );
    }

    #[test]
    fn a_word_that_is_wider_than_its_column_is_broken() {
        assert_eq!(in_width("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(in_width("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(in_width("", 5), [""]);
    }

    #[test]
    fn what_is_no_table_passes_as_it_is() {
        for text in [
            "| only a line\n",
            "a | b\n",
            "```\n| x |\n|---|\n```\n",
            "|",
            "no newline",
            "| a |\n| b |\n",
        ] {
            assert_eq!(all(text), text);
        }
    }

    #[test]
    fn words_pass_at_once_and_rows_wait() {
        let mut tables = Tables::default();
        assert_eq!(tables.push("Hel"), "Hel");
        assert_eq!(tables.push("lo\n| a |"), "lo\n");
        assert_eq!(tables.push("\n|--"), "");
        assert_eq!(tables.push("-|\nend"), "a\n───\nend");
    }

    #[test]
    fn deltas_of_any_size_give_the_same() {
        let text = "x\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n| c |\n```\ny";
        for size in 1..8 {
            let mut tables = Tables::default();
            let bytes = text.as_bytes().chunks(size);
            let mut shown: String = bytes
                .map(|part| tables.push(std::str::from_utf8(part).unwrap()))
                .collect();
            shown.push_str(&tables.finish());
            assert_eq!(shown, all(text), "{size}");
        }
    }
}
