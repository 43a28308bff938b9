//! The lines the person typed, as `/history` lists them: the last ones, however many there were.
//!
//! Messages and commands are in the record for ever, so only what a list shows is held.

use std::collections::VecDeque;

/// The most lines that are held.
pub const LINES: usize = 100;
/// The most bytes of them together; the last line is held whatever its size.
pub const BYTES: usize = 256 * 1024;

/// The last lines, numbered among all that were typed.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: VecDeque<String>,
    bytes: usize,
    /// How many there were before those held.
    before: usize,
}

impl History {
    /// Notes a line, unless it is the one before again.
    pub fn note(&mut self, line: &str) {
        if self.lines.back().is_some_and(|last| last == line) {
            return;
        }
        self.bytes += line.len();
        self.lines.push_back(line.to_owned());
        while self.lines.len() > LINES || (self.bytes > BYTES && self.lines.len() > 1) {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            self.before += 1;
        }
    }

    /// The lines held, oldest first, each with its number from 1.
    pub fn last(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbers = self.before + 1..;
        numbers.zip(self.lines.iter().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_held_under_their_numbers() {
        let mut history = History::default();
        for number in 1..=250 {
            history.note(&format!("line {number}"));
            history.note(&format!("line {number}"));
        }
        let held: Vec<_> = history.last().collect();
        assert_eq!(
            (held.len(), held[0], held[99]),
            (100, (151, "line 151"), (250, "line 250"))
        );
    }

    #[test]
    fn long_lines_make_room_sooner_and_the_last_one_stays() {
        let mut history = History::default();
        for letter in ["a", "b", "c", "d", "e"] {
            history.note(&letter.repeat(BYTES / 4));
        }
        assert_eq!(history.last().map(|(at, _)| at).collect::<Vec<_>>(), [2, 3, 4, 5]);
        history.note(&"f".repeat(BYTES + 1));
        assert_eq!(history.last().map(|(at, _)| at).collect::<Vec<_>>(), [6]);
        assert_eq!(history.bytes, BYTES + 1);
    }
}
