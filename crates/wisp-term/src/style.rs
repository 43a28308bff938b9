//! A style and how it is written for terminals of different depth.

use std::fmt::Write as _;

use serde::Deserialize;

/// A colour as a theme names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Colour {
    /// One of the terminal's own sixteen: 0–7, and 8–15 for the bright ones.
    Ansi(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// The names of the terminal's own colours, by number.
const NAMES: [&str; 8] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
];

impl TryFrom<String> for Colour {
    type Error = String;

    /// Reads `#RRGGBB`, `red` or `bright-red`.
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("not a colour: {text}; write #RRGGBB, or a name such as red or bright-red");
        if let Some(hex) = text.strip_prefix('#') {
            let part = |at: usize| hex.get(at..at + 2).and_then(|h| u8::from_str_radix(h, 16).ok());
            let (Some(r), Some(g), Some(b), 6) = (part(0), part(2), part(4), hex.len()) else {
                return Err(wrong());
            };
            return Ok(Self::Rgb(r, g, b));
        }
        let (name, first) = text
            .strip_prefix("bright-")
            .map_or((text.as_str(), 0), |name| (name, 8));
        let at = NAMES.iter().position(|known| *known == name).ok_or_else(wrong)?;
        Ok(Self::Ansi(first + u8::try_from(at).map_err(|_| wrong())?))
    }
}

/// How a stretch of text looks. The default is the terminal's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent attributes of a terminal cell"
)]
pub struct Style {
    /// Colour of the letters.
    pub fg: Option<Colour>,
    /// Colour behind them.
    pub bg: Option<Colour>,
    /// Heavier.
    pub bold: bool,
    /// Fainter.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Letters and background exchanged.
    pub reverse: bool,
}

/// How many colours a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Depth {
    /// No colours and no attributes.
    #[default]
    None,
    /// The terminal's own sixteen.
    Ansi16,
    /// 256 by number.
    Indexed,
    /// Any.
    True,
}

impl Style {
    /// The sequence that turns the style on; empty when there is nothing to turn on.
    pub fn sequence(&self, depth: Depth) -> String {
        if depth == Depth::None || *self == Self::default() {
            return String::new();
        }
        let flags = [
            (self.bold, 1),
            (self.dim, 2),
            (self.italic, 3),
            (self.underline, 4),
            (self.reverse, 7),
        ];
        let mut codes = String::new();
        for (_, code) in flags.iter().filter(|(on, _)| *on) {
            let written = write!(codes, ";{code}");
            debug_assert!(written.is_ok());
        }
        if let Some(colour) = self.fg {
            codes.push_str(&colour.code(depth, 0));
        }
        if let Some(colour) = self.bg {
            codes.push_str(&colour.code(depth, 10));
        }
        format!("\u{1b}[{}m", codes.trim_start_matches(';'))
    }
}

impl Colour {
    /// `;code` for the letters (`shift` 0) or the background (`shift` 10).
    fn code(self, depth: Depth, shift: u8) -> String {
        match (self, depth) {
            (Self::Rgb(r, g, b), Depth::True) => format!(";{};2;{r};{g};{b}", 38 + shift),
            (Self::Rgb(r, g, b), Depth::Indexed) => format!(";{};5;{}", 38 + shift, indexed(r, g, b)),
            (colour, _) => {
                let number = colour.ansi();
                let base = if number < 8 { 30 } else { 82 };
                format!(";{}", base + number + shift)
            }
        }
    }

    /// The nearest of the terminal's own sixteen.
    fn ansi(self) -> u8 {
        match self {
            Self::Ansi(number) => number,
            Self::Rgb(r, g, b) => {
                let high = r.max(g).max(b);
                let on = |part: u8| u8::from(u16::from(part) * 3 > u16::from(high) * 2 && high > 64);
                let bright = if high > 200 { 8 } else { 0 };
                bright + on(r) + 2 * on(g) + 4 * on(b)
            }
        }
    }
}

/// The nearest of the 6 × 6 × 6 cube of the 256 colours.
fn indexed(r: u8, g: u8, b: u8) -> u8 {
    let step = |part: u8| {
        if part < 48 {
            0
        } else if part < 115 {
            1
        } else {
            (part - 35) / 40
        }
    };
    16 + 36 * step(r) + 6 * step(g) + step(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(fg: &str) -> Style {
        Style {
            fg: Some(Colour::try_from(fg.to_owned()).unwrap()),
            ..Style::default()
        }
    }

    #[test]
    fn a_colour_is_written_as_deep_as_the_terminal_goes() {
        let amber = style("#F2B950");
        assert_eq!(amber.sequence(Depth::True), "\u{1b}[38;2;242;185;80m");
        assert_eq!(amber.sequence(Depth::Indexed), "\u{1b}[38;5;215m");
        assert_eq!(amber.sequence(Depth::Ansi16), "\u{1b}[93m");
        assert_eq!(amber.sequence(Depth::None), "");
        assert_eq!(style("bright-red").sequence(Depth::True), "\u{1b}[91m");
        assert_eq!(Style::default().sequence(Depth::True), "");
    }

    #[test]
    fn attributes_come_before_colours() {
        let heavy = Style {
            bold: true,
            bg: Some(Colour::Ansi(1)),
            ..style("green")
        };
        assert_eq!(heavy.sequence(Depth::Ansi16), "\u{1b}[1;32;41m");
    }

    #[test]
    fn what_is_no_colour_says_what_would_be() {
        for wrong in ["#12345", "#GG0000", "mauve", "#é2345"] {
            let said = Colour::try_from(wrong.to_owned()).unwrap_err();
            assert!(said.starts_with(&format!("not a colour: {wrong};")), "{said}");
        }
    }
}
