//! Text with colour sequences, as `wisp-term` makes it, read back into ratatui's spans.
//!
//! Replies come from `wisp_term::Markdown` and outputs from `wisp_term::safe`: both give text whose only escape
//! sequences are SGR. This face draws cells, so the sequences become styles here, once, and nothing but letters
//! goes on.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use wisp_term::safe;
use wisp_term::width::expand_tabs;

/// Reads styled text in pieces: a style that a piece leaves open goes on in the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnsiReader {
    style: Style,
}

impl AnsiReader {
    /// The spans of one piece, which must hold whole sequences and no newline.
    pub(crate) fn read(&mut self, text: &str) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("\x1b[") {
            self.push(&rest[..at], &mut spans);
            let body = &rest[at + 2..];
            let Some(end) = body.find('m') else {
                return spans;
            };
            self.style = apply(self.style, &body[..end]);
            rest = &body[end + 1..];
        }
        self.push(rest, &mut spans);
        spans
    }

    fn push(&self, text: &str, spans: &mut Vec<Span<'static>>) {
        if !text.is_empty() {
            spans.push(Span::styled(text.to_owned(), self.style));
        }
    }
}

/// The spans of one line of safe text.
pub(crate) fn spans(line: &str) -> Vec<Span<'static>> {
    AnsiReader::default().read(line)
}

/// The lines of untrusted text: made safe, colours kept, tabs spread.
pub(crate) fn untrusted(text: &str) -> Vec<Vec<Span<'static>>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let shown = safe::safe_coloured(text);
    shown.split('\n').map(|line| spans(&spread_tabs(line))).collect()
}

/// Spreads tabs of a line that may hold colour sequences, which take no room.
fn spread_tabs(line: &str) -> String {
    if !line.contains('\t') {
        return line.to_owned();
    }
    if !line.contains('\x1b') {
        return expand_tabs(line, 0).into_owned();
    }
    let mut out = String::new();
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        let at = rest.find("\x1b[").unwrap_or(rest.len());
        let text = expand_tabs(&rest[..at], column);
        column += wisp_term::width::cells(&text);
        out.push_str(&text);
        let tail = &rest[at..];
        let end = tail.find('m').map_or(tail.len(), |end| end + 1);
        out.push_str(&tail[..end]);
        rest = &tail[end..];
    }
    out
}

/// The style after the parameters of one SGR sequence.
fn apply(mut style: Style, parameters: &str) -> Style {
    let mut numbers = parameters.split(';').map(|p| p.split(':').next().unwrap_or(""));
    while let Some(text) = numbers.next() {
        let number: u16 = text.parse().unwrap_or(0);
        style = match number {
            0 => Style::new(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 | 21 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            9 => style.add_modifier(Modifier::CROSSED_OUT),
            22 => without(style, Modifier::BOLD | Modifier::DIM),
            23 => without(style, Modifier::ITALIC),
            24 => without(style, Modifier::UNDERLINED),
            27 => without(style, Modifier::REVERSED),
            29 => without(style, Modifier::CROSSED_OUT),
            30..=37 | 90..=97 => style.fg(named(number % 10, number >= 90)),
            40..=47 | 100..=107 => style.bg(named(number % 10, number >= 100)),
            38 => Style {
                fg: extended(&mut numbers).or(style.fg),
                ..style
            },
            48 => Style {
                bg: extended(&mut numbers).or(style.bg),
                ..style
            },
            39 => Style { fg: None, ..style },
            49 => Style { bg: None, ..style },
            _ => style,
        };
    }
    style
}

fn without(mut style: Style, modifier: Modifier) -> Style {
    style.add_modifier.remove(modifier);
    style
}

/// One of the terminal's own sixteen.
fn named(number: u16, bright: bool) -> Color {
    const DARK: [Color; 8] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
    ];
    const BRIGHT: [Color; 8] = [
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    let colours = if bright { BRIGHT } else { DARK };
    colours[usize::from(number) % 8]
}

/// The colour after 38 or 48: `5;N` or `2;R;G;B`.
fn extended<'a>(numbers: &mut impl Iterator<Item = &'a str>) -> Option<Color> {
    let mut byte = || numbers.next()?.parse::<u8>().ok();
    match byte()? {
        5 => Some(Color::Indexed(byte()?)),
        2 => Some(Color::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_become_styles_and_no_escape_is_left() {
        let read = spans("a\x1b[1;31mb\x1b[22mc\x1b[0md\x1b[38;2;1;2;3me\x1b[48;5;7mf\x1b[97mg");
        let expected = [
            Span::raw("a"),
            Span::styled("b", Style::new().bold().red()),
            Span::styled("c", Style::new().red()),
            Span::raw("d"),
            Span::styled("e", Style::new().fg(Color::Rgb(1, 2, 3))),
            Span::styled("f", Style::new().fg(Color::Rgb(1, 2, 3)).bg(Color::Indexed(7))),
            Span::styled("g", Style::new().fg(Color::White).bg(Color::Indexed(7))),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_style_left_open_goes_on_in_the_next_piece() {
        let mut reader = AnsiReader::default();
        reader.read("\x1b[3mone");
        assert_eq!(reader.read("two"), [Span::styled("two", Style::new().italic())]);
    }

    #[test]
    fn untrusted_text_keeps_colour_and_nothing_else() {
        let lines = untrusted("\x1b[31mred\tx\x1b[0m\n\x1b]0;title\x07plain\x08\n");
        assert_eq!(
            lines,
            [
                vec![Span::styled("red     x", Style::new().red())],
                vec![Span::raw("plain\\u{8}")]
            ]
        );
    }
}
