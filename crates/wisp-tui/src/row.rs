//! One row as the bytes that draw it, from a clean state and without its blank end: a row that ends in nothing can be
//! selected and copied without blanks, and a terminal that breaks rows anew has nothing to break.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use crate::sgr::push_style;

/// A row as text, without its blank end, and the cells it takes.
pub(crate) fn line_row(line: &Line<'_>) -> (String, u16) {
    let mut row = RowText::default();
    for span in &line.spans {
        row.push(&span.content, line.style.patch(span.style));
    }
    (row.text, row.ends)
}

/// A row being written. Blanks are held until something follows them, so that no row ends in them.
#[derive(Default)]
struct RowText {
    text: String,
    held: String,
    style: Option<Style>,
    at: u16,
    ends: u16,
}

impl RowText {
    fn push(&mut self, text: &str, style: Style) {
        let style = plain(style);
        let solid = if is_bare(style) {
            text.trim_end_matches(' ')
        } else {
            text
        };
        if !solid.is_empty() {
            if !self.held.is_empty() {
                self.set(Style::new());
                let held = std::mem::take(&mut self.held);
                self.text.push_str(&held);
            }
            self.set(style);
            self.text.push_str(solid);
            self.ends = self.at + cells(solid);
        }
        self.held.push_str(&text[solid.len()..]);
        self.at += cells(text);
    }

    fn set(&mut self, style: Style) {
        if self.style.unwrap_or_default() != style {
            push_style(&mut self.text, style);
            self.style = Some(style);
        }
    }
}

/// The style without what ratatui writes into every cell ("reset" colours).
fn plain(style: Style) -> Style {
    let colour = |colour| (colour != Some(Color::Reset)).then_some(colour).flatten();
    Style {
        fg: colour(style.fg),
        bg: colour(style.bg),
        underline_color: None,
        add_modifier: style.add_modifier,
        sub_modifier: Modifier::empty(),
    }
}

/// Whether a blank in this style looks like no cell at all.
fn is_bare(style: Style) -> bool {
    let seen = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    style.bg.is_none() && !style.add_modifier.intersects(seen)
}

fn cells(text: &str) -> u16 {
    u16::try_from(wisp_term::width::cells(text)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use ratatui::text::Span;

    use super::*;

    fn row(spans: Vec<Span<'static>>) -> (String, u16) {
        line_row(&Line::from(spans))
    }

    #[test]
    fn blanks_at_the_end_are_left_out_unless_they_can_be_seen() {
        assert_eq!(row(vec![Span::raw("a b  ")]), ("a b".to_owned(), 3));
        assert_eq!(
            row(vec![Span::raw("  "), Span::raw("x"), Span::raw("  ")]),
            ("  x".to_owned(), 3)
        );
        let tinted = Span::styled("  ", Style::new().bg(Color::Blue));
        assert_eq!(row(vec![Span::raw("x"), tinted]), ("x\x1b[0;44m  ".to_owned(), 3));
    }

    #[test]
    fn a_style_lasts_as_long_as_its_letters() {
        let red = Style::new().red();
        let spans = vec![Span::styled("a", red), Span::styled("b", red), Span::raw(" c")];
        assert_eq!(row(spans), ("\x1b[0;31mab\x1b[0m c".to_owned(), 4));
        assert_eq!(row(vec![Span::raw("漢字")]), ("漢字".to_owned(), 4));
    }
}
