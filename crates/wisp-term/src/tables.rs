//! Tables in a reply, which can be lined up only when their last row has come: their lines are held, and come out as
//! columns of equal width, measured in cells.

use unicode_segmentation::UnicodeSegmentation;

use crate::safe;
use crate::width::cells;

/// The most lines of a table that are held; a longer one comes out in parts.
pub const MAX_ROWS: usize = 200;

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
}

impl Tables {
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
            out = lined_up(&table);
        } else {
            out.push_str(&line);
        }
        *self = Self::default();
        out
    }

    fn take_rows(&mut self) -> String {
        lined_up(&std::mem::take(&mut self.rows))
    }
}

/// Rows with their columns padded to one width, if they are a table: more than one row, the second a rule.
fn lined_up(rows: &[String]) -> String {
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
