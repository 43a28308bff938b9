//! Texts put together of pieces, one after the other.
//!
//! `format!` asks every value by a table how it is written, and writes into a buffer that grows as it goes. The titles
//! and keys of findings are names, words and numbers in a row: how long they are is known before, so that they are
//! copied once.

use crate::digest::Location;

/// Something that a text is put together of.
pub(crate) trait Piece {
    /// How many bytes it has, or a few more.
    fn length(&self) -> usize;

    /// Writes it at the end of the text.
    fn put(&self, text: &mut String);
}

/// The pieces as one text.
pub(crate) fn together(pieces: &[&dyn Piece]) -> String {
    let mut text = String::with_capacity(pieces.iter().map(Piece::length).sum());
    for piece in pieces {
        piece.put(&mut text);
    }
    text
}

/// The pieces as one text: `joined![name, ": ", body]`.
macro_rules! joined {
    ($($piece:expr),+ $(,)?) => {
        $crate::joined::together(&[$(&$piece),+])
    };
}
pub(crate) use joined;

impl Piece for str {
    fn length(&self) -> usize {
        self.len()
    }

    fn put(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Piece for String {
    fn length(&self) -> usize {
        self.len()
    }

    fn put(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl<T: Piece + ?Sized> Piece for &T {
    fn length(&self) -> usize {
        (**self).length()
    }

    fn put(&self, text: &mut String) {
        (**self).put(text);
    }
}

/// The most digits of a number.
const DIGITS: usize = 20;

impl Piece for u64 {
    fn length(&self) -> usize {
        DIGITS
    }

    fn put(&self, text: &mut String) {
        let (mut digits, mut left) = (['0'; DIGITS], *self);
        let mut first = DIGITS - 1;
        while left > 9 {
            digits[first] = digit(left);
            left /= 10;
            first -= 1;
        }
        digits[first] = digit(left);
        text.extend(&digits[first..]);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "it is less than ten")]
fn digit(number: u64) -> char {
    char::from(b'0' + (number % 10) as u8)
}

/// As it is displayed.
impl Piece for Location {
    fn length(&self) -> usize {
        let numbers = [self.line, self.column].into_iter().flatten().count();
        self.path.len() + numbers * (1 + DIGITS)
    }

    fn put(&self, text: &mut String) {
        text.push_str(&self.path);
        for number in [self.line, self.column].into_iter().flatten() {
            text.push(':');
            number.put(text);
        }
    }
}

/// The lines of quotations with a blank between them.
pub(crate) struct Quoted<'a>(pub &'a [crate::digest::Quote]);

impl Piece for Quoted<'_> {
    fn length(&self) -> usize {
        self.0.iter().map(|quote| quote.text.len() + 1).sum()
    }

    fn put(&self, text: &mut String) {
        for (at, quote) in self.0.iter().enumerate() {
            text.push_str(if at > 0 { " " } else { "" });
            text.push_str(&quote.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quoted;
    use crate::digest::{Location, Quote};

    #[test]
    fn pieces_are_written_as_they_are_displayed() {
        for number in [0, 9, 10, 12_345_678_909, u64::MAX] {
            assert_eq!(joined![number], number.to_string());
        }
        for (line, column) in [
            (None, None),
            (Some(7), None),
            (Some(70), Some(12)),
            (None, Some(3)),
        ] {
            let place = Location {
                path: "src/é.rs".to_owned(),
                line,
                column,
            };
            assert_eq!(joined!["at ", place, String::from("!")], format!("at {place}!"));
        }
    }

    #[test]
    fn quotations_have_a_blank_between_them() {
        let quotes = ["a", "", "b c"].map(|text| Quote {
            line: 1,
            text: text.to_owned(),
        });
        for count in 0..=quotes.len() {
            let texts: Vec<&str> = quotes[..count].iter().map(|quote| quote.text.as_str()).collect();
            assert_eq!(joined![Quoted(&quotes[..count])], texts.join(" "));
        }
    }
}
