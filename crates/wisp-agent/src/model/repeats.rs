//! Telling that a model repeats itself without end: the last four thousand bytes are one short text again and again.
//!
//! Servers stop some such replies themselves, and others not before the window is full. A ruler of dashes is
//! repetition too, so what is looked at is long: no table or drawing has a line of it.

/// Bytes that must be one period after another.
const STRETCH: usize = 4096;
/// The longest period looked for, in bytes.
const PERIOD: usize = 256;
/// Bytes that arrive between two looks.
const EVERY: usize = 1024;

/// Watches a growing text.
#[derive(Debug, Default)]
pub struct Repeats {
    tail: Vec<u8>,
    since: usize,
}

impl Repeats {
    /// Takes the next piece; true when the text has become repetition.
    pub fn push(&mut self, piece: &str) -> bool {
        self.tail.extend_from_slice(piece.as_bytes());
        self.since += piece.len();
        if self.since < EVERY || self.tail.len() < STRETCH {
            return false;
        }
        self.since = 0;
        self.tail.drain(..self.tail.len() - STRETCH);
        periodic(&self.tail)
    }
}

/// Whether a text is a period of at most [`PERIOD`] bytes, over and over.
fn periodic(text: &[u8]) -> bool {
    (1..=PERIOD).any(|period| text[period..] == text[..text.len() - period])
}

#[cfg(test)]
mod tests {
    use super::{EVERY, PERIOD, Repeats, STRETCH};

    fn finds(text: &str) -> bool {
        let mut repeats = Repeats::default();
        let mut chars = text.chars();
        let mut piece: String = chars.by_ref().take(7).collect();
        while !piece.is_empty() {
            if repeats.push(&piece) {
                return true;
            }
            piece = chars.by_ref().take(7).collect();
        }
        false
    }

    #[test]
    fn one_text_over_and_over_is_found_and_no_sooner_than_it_may_be() {
        let line = "I will look at the file again.\n";
        assert!(finds(&line.repeat((STRETCH + 2 * EVERY) / line.len() + 1)));
        assert!(!finds(&line.repeat(STRETCH / line.len() - 1)));
        assert!(finds(&"x".repeat(STRETCH + EVERY)));
        let longest: String = (0..PERIOD)
            .map(|i| char::from(b'a' + u8::try_from(i % 26).unwrap_or(0)))
            .collect();
        assert!(finds(&longest.repeat(40)));
    }

    #[test]
    fn lists_and_tables_are_not_repetition() {
        let numbered: Vec<String> = (0..2000)
            .map(|n| format!("{n}. the same words each time\n"))
            .collect();
        assert!(!finds(&numbered.concat()));
        let rulers: Vec<String> = (0..400)
            .map(|n| format!("{}\nrow {n}\n", "-".repeat(200)))
            .collect();
        assert!(!finds(&rulers.concat()));
    }
}
