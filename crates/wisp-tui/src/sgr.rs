//! A ratatui style as the escape sequence that sets it, always from a clean state, so that no row depends on what
//! was written before it.

use std::fmt::Write as _;

use ratatui::style::{Color, Modifier, Style};

/// The modifiers the face uses and their SGR numbers.
const MODIFIERS: [(Modifier, u8); 7] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// Appends the sequence that puts `style` in force, whatever was in force before.
pub(crate) fn push_style(out: &mut String, style: Style) {
    out.push_str("\x1b[0");
    for (modifier, number) in MODIFIERS {
        if style.add_modifier.contains(modifier) {
            push_number(out, number);
        }
    }
    push_colour(out, style.fg, 30);
    push_colour(out, style.bg, 40);
    out.push('m');
}

fn push_number(out: &mut String, number: u8) {
    let written = write!(out, ";{number}");
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Appends a colour; `base` is 30 for the foreground and 40 for the background.
fn push_colour(out: &mut String, colour: Option<Color>, base: u8) {
    let written = match colour {
        None | Some(Color::Reset) => Ok(()),
        Some(Color::Indexed(index)) => write!(out, ";{};5;{index}", base + 8),
        Some(Color::Rgb(r, g, b)) => write!(out, ";{};2;{r};{g};{b}", base + 8),
        Some(named) => write!(out, ";{}", base + named_offset(named)),
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// The terminal's own sixteen, as the distance from 30 or 40: 0 to 7, and 60 to 67 for the bright ones.
fn named_offset(colour: Color) -> u8 {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    let at = NAMED.iter().position(|named| *named == colour).unwrap_or(7);
    let at = u8::try_from(at).expect("there are sixteen");
    if at < 8 { at } else { at - 8 + 60 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sgr(style: Style) -> String {
        let mut out = String::new();
        push_style(&mut out, style);
        out
    }

    #[test]
    fn a_style_is_one_sequence_from_a_clean_state() {
        assert_eq!(sgr(Style::new()), "\x1b[0m");
        assert_eq!(sgr(Style::new().bold().red()), "\x1b[0;1;31m");
        assert_eq!(
            sgr(Style::new().fg(Color::White).bg(Color::DarkGray)),
            "\x1b[0;97;100m"
        );
        assert_eq!(sgr(Style::new().fg(Color::Rgb(1, 2, 3))), "\x1b[0;38;2;1;2;3m");
        assert_eq!(sgr(Style::new().bg(Color::Indexed(208))), "\x1b[0;48;5;208m");
    }
}
