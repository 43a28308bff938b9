//! Rows and columns: aligned under a header on a terminal, tab-separated without one in a pipe, where every field of
//! every row stands so that `cut` and `awk` find it.

use crate::palette::Palette;
use crate::printer::Surface;
use crate::theme::Role;
use crate::width::{cells, pad, wrap};

/// The least cells the last column is given, on however narrow a terminal.
const LEAST: usize = 20;

/// A table. The texts are safe already, without newlines and tabs.
///
/// ```
/// use wisp_term::{Surface, Table};
/// let mut table = Table::new(["NAME", "SIZE"]);
/// table.row(["qwen3:8b", "5.2 GB"]);
/// assert_eq!(table.render(&Surface::plain()), "qwen3:8b\t5.2 GB\n");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a name for each column.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self {
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Fields it lacks are empty; fields past the last column are left out.
    pub fn row<S: Into<String>>(&mut self, fields: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = fields.into_iter().map(Into::into).collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// The table as text, each line ended by a newline. On a terminal the columns that are empty in every row are
    /// left out and the last one is wrapped to the width.
    pub fn render(&self, surface: &Surface) -> String {
        if !surface.terminal {
            return self.rows.iter().map(|row| row.join("\t") + "\n").collect();
        }
        let used = |at: &usize| self.rows.iter().any(|row| !row[*at].is_empty());
        let columns: Vec<usize> = (0..self.header.len()).filter(used).collect();
        let width = |at: &usize| {
            self.rows
                .iter()
                .chain([&self.header])
                .map(|row| cells(&row[*at]))
                .max()
        };
        let widths: Vec<usize> = columns.iter().filter_map(width).collect();
        let pick = |row: &[String]| columns.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
        let mut text = aligned(&pick(&self.header), &widths, surface.width)
            .lines()
            .map(|line| heading(&surface.palette, line))
            .collect::<String>();
        for row in &self.rows {
            text.push_str(&aligned(&pick(row), &widths, surface.width));
        }
        text
    }
}

fn heading(palette: &Palette, line: &str) -> String {
    palette.paint(Role::Quiet, line) + "\n"
}

/// One row as lines: columns padded, two spaces between them, the last wrapped under itself.
fn aligned(row: &[String], widths: &[usize], total: usize) -> String {
    let Some((last, fields)) = row.split_last() else {
        return String::new();
    };
    let start: String = fields
        .iter()
        .zip(widths)
        .map(|(field, width)| pad(field, *width) + "  ")
        .collect();
    let indent = cells(&start);
    let room = total.saturating_sub(indent).max(LEAST);
    let mut text = String::new();
    for (at, piece) in wrap(last, room).into_iter().enumerate() {
        let before = if at == 0 {
            start.clone()
        } else {
            " ".repeat(indent)
        };
        text.push_str((before + piece).trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["MODEL", "FROM", "CAPABILITIES"]);
        table.row(["qwen3:8b", "", "tools, thinking, structured replies"]);
        table.row(["漢字", "", "text only"]);
        table
    }

    fn on_terminal(width: usize) -> String {
        table().render(&Surface {
            terminal: true,
            width,
            palette: Palette::plain(),
        })
    }

    #[test]
    fn a_pipe_gets_every_field_and_no_header() {
        assert_eq!(
            table().render(&Surface::plain()),
            "qwen3:8b\t\ttools, thinking, structured replies\n漢字\t\ttext only\n"
        );
    }

    #[test]
    fn a_terminal_gets_aligned_columns_without_the_empty_ones() {
        assert_eq!(
            on_terminal(80),
            "MODEL     CAPABILITIES\nqwen3:8b  tools, thinking, structured replies\n漢字      text only\n"
        );
    }

    #[test]
    fn the_last_column_wraps_under_itself() {
        assert_eq!(
            on_terminal(30),
            "MODEL     CAPABILITIES\nqwen3:8b  tools, thinking,\n          structured replies\n漢字      text only\n"
        );
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(Table::new(["A"]).render(&Surface::plain()), "");
    }
}
