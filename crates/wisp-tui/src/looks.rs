//! Roles as ratatui styles, and the few ways in which rows of the band are put together.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use wisp_term::width::{cells, split_at, truncate};
use wisp_term::{Palette, Role};

use crate::ansi;
use crate::wrap::{Break, lines};

/// The colours in use, by role.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    palette: Palette,
}

impl Looks {
    /// The looks of a palette.
    pub fn new(palette: Palette) -> Self {
        Self { palette }
    }

    /// The palette, for renderers of `wisp-term`.
    pub fn palette(&self) -> &Palette {
        &self.palette
    }

    /// The style of a role, as deep as the terminal's colours go.
    pub fn style(&self, role: Role) -> Style {
        let painted = self.palette.paint(role, "x");
        ansi::spans(&painted)
            .first()
            .map_or_else(Style::new, |span| span.style)
    }

    /// Text of wisp's own, or made safe, in a role.
    pub fn span(&self, role: Role, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.style(role))
    }

    /// The rows of a paragraph of safe text in a role.
    pub fn prose(&self, role: Role, text: &str, width: usize) -> Vec<Line<'static>> {
        let paragraphs = text.split('\n');
        paragraphs
            .flat_map(|line| lines(&[self.span(role, line)], width, Break::Words))
            .collect()
    }
}

/// A row cut off at `width` cells.
pub(crate) fn clip(line: Line<'static>, width: usize) -> Line<'static> {
    let mut left = width;
    let mut clipped = Line::default().style(line.style);
    for span in line.spans {
        let (fits, rest) = split_at(&span.content, left);
        let whole = rest.is_empty();
        left -= cells(fits);
        clipped.spans.push(Span::styled(fits.to_owned(), span.style));
        if !whole {
            break;
        }
    }
    clipped
}

/// A row followed by blanks in `style` up to `width` cells.
pub(crate) fn filled(line: Line<'static>, width: usize, style: Style) -> Line<'static> {
    let mut line = clip(line, width);
    let missing = width.saturating_sub(line_cells(&line));
    line.spans.push(Span::styled(" ".repeat(missing), style));
    line
}

/// The cells of a row.
pub(crate) fn line_cells(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| cells(&span.content)).sum()
}

/// A rounded frame: what stands in its top and bottom border, and its colour.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'a> {
    /// In the top border.
    pub(crate) title: &'a str,
    /// In the bottom border.
    pub(crate) footer: &'a str,
    /// The border's style.
    pub(crate) style: Style,
}

impl Frame<'_> {
    /// Rows within the frame, `width` cells in all; each row is cut or filled to fit.
    pub(crate) fn around(&self, rows: Vec<Line<'static>>, width: usize) -> Vec<Line<'static>> {
        let inner = width.saturating_sub(4);
        let mut framed = vec![self.border('╭', '╮', self.title, width)];
        for row in rows {
            let mut row = filled(row, inner, Style::new());
            row.spans.insert(0, Span::styled("│ ", self.style));
            row.spans.push(Span::styled(" │", self.style));
            framed.push(row);
        }
        framed.push(self.border('╰', '╯', self.footer, width));
        framed
    }

    fn border(&self, left: char, right: char, text: &str, width: usize) -> Line<'static> {
        let room = width.saturating_sub(6);
        let text = truncate(text, room);
        let label = if text.is_empty() {
            String::new()
        } else {
            format!(" {text} ")
        };
        let rule = "─".repeat(width.saturating_sub(3 + cells(&label)));
        Line::from(Span::styled(format!("{left}─{label}{rule}{right}"), self.style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn a_frame_is_straight_at_every_width() {
        let frame = Frame {
            title: "漢字 title",
            footer: "esc closes",
            style: Style::new(),
        };
        for width in 7..60 {
            let rows = vec![Line::from("漢字漢字漢字 and 🐟🐟"), Line::from("")];
            for row in frame.around(rows, width) {
                assert_eq!(line_cells(&row), width, "{}", text(&row));
            }
        }
    }

    #[test]
    fn a_row_is_cut_between_characters() {
        assert_eq!(
            text(&clip(Line::from(vec![Span::raw("ab"), Span::raw("漢字")]), 5)),
            "ab漢"
        );
        assert_eq!(text(&filled(Line::from("漢"), 4, Style::new())), "漢  ");
    }
}
