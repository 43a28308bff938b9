//! The lines that follow the one being read, for a reader in the middle of its own block to read on by itself.
//!
//! Bringing a line to a reader costs more than most readers do with it: its prefix is looked for, it is asked for
//! literals, readers are asked in their order. Within a block all of that has one answer, and a compiler's log is
//! nothing but blocks. So the reader that holds the stream may go on through the lines that are plainly its own. It
//! gets no line that anything could be taken off: only such as begin with a blank, a bar or a sign, or with a number
//! and a bar, as the margins of quoted source do. No time, label or mark of a runner begins so.

use crate::block::{line_end, trimmed};
use crate::limits;
use crate::line::Line;

/// What is left of a block of plain lines.
#[derive(Debug)]
pub(crate) struct Rest<'a> {
    text: &'a str,
    /// Where the next line begins.
    at: usize,
    /// The number of the last line read.
    number: u64,
    /// Bytes of the lines taken.
    shown: u64,
}

impl<'a> Rest<'a> {
    /// What follows the line of that number, from `at`.
    pub(crate) fn new(text: &'a str, at: usize, number: u64) -> Self {
        Self {
            text,
            at,
            number,
            shown: 0,
        }
    }

    /// Gives the reader lines for as long as it takes them.
    pub(crate) fn read_while(&mut self, mut takes: impl FnMut(&Line<'_>) -> bool) {
        while let Some(end) = self.bare() {
            let line = Line {
                number: self.number + 1,
                text: trimmed(&self.text[self.at..end]),
            };
            if !takes(&line) {
                return;
            }
            self.number += 1;
            self.shown += line.text.len() as u64;
            self.at = end + 1;
        }
    }

    /// Where the next line ends, when it can have nothing before its text.
    fn bare(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let digits = bytes[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let margin = match bytes.get(self.at + digits)? {
            b' ' if digits > 0 => bytes.get(self.at + digits + 1) == Some(&b'|'),
            b' ' | b'|' | b'=' => digits == 0,
            _ => false,
        };
        if !margin {
            return None;
        }
        let end = line_end(bytes, self.at, 0)?;
        (end - self.at <= limits::LINE).then_some(end)
    }

    /// Takes the next line when nothing is on it.
    pub(crate) fn pass_blank(&mut self) -> bool {
        let blank = self.text.as_bytes().get(self.at) == Some(&b'\n');
        if blank {
            self.number += 1;
            self.at += 1;
        }
        blank
    }

    /// Where the next line begins, the number of the last one taken, and the bytes of all that were.
    pub(crate) fn taken(&self) -> (usize, u64, u64) {
        (self.at, self.number, self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::Rest;

    #[test]
    fn only_lines_that_begin_as_no_prefix_does_are_given() {
        for (text, given) in [
            (" --> a.rs:1:2\n  |\n5 | x  \n = note: y\n", 4),
            ("| x\n\n  y\n", 1),
            (" x\n[web] y\n", 1),
            (" x\n10:14:07 y\n", 1),
            (" x\n12 y\n", 1),
            (" x\n12", 1),
            (" x\n1.234 | y\n", 1),
            ("x\n", 0),
            ("", 0),
        ] {
            let mut rest = Rest::new(text, 0, 7);
            let mut last = 7;
            rest.read_while(|line| {
                last += 1;
                line.number == last && !line.text.ends_with(' ')
            });
            assert_eq!(rest.taken().1 - 7, given, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_is_not_taken_stays() {
        let mut rest = Rest::new(" a\n b\n", 0, 0);
        rest.read_while(|line| line.text == " a");
        assert_eq!(rest.taken(), (3, 1, 2));
    }
}
