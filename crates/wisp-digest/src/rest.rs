//! The lines that follow the one being read, for a reader in the middle of its own block to read on by itself.
//!
//! Bringing a line to a reader costs more than most readers do with it: its prefix is looked for, it is asked for
//! literals, readers are asked in their order. Within a block all of that has one answer, and a compiler's log is
//! nothing but blocks. So the reader that holds the stream may go on through the lines that are plainly its own. It
//! gets no line that anything could be taken off: only such as begin with a blank, a bar or a sign, or with a number
//! and a bar, as the margins of quoted source do. No time, label or mark of a runner begins so.

use crate::block::{Block, trimmed};
use crate::line::Line;
use crate::literals::Literals;
use crate::near::{near, near_end_or_tab};
use crate::next::Next;
use crate::prefix::{self, is_marked};

/// What is left of a block of plain lines.
#[derive(Debug)]
pub(crate) struct Rest<'a> {
    block: &'a Block<'a>,
    text: &'a str,
    /// Where the next line begins.
    at: usize,
    /// The number of the last line read.
    number: u64,
    /// Bytes of the lines taken.
    shown: u64,
    /// The triggers, and the bit of the reader's format.
    triggers: &'a Literals,
    format: u64,
}

/// A line with a sure beginning.
pub(crate) struct Beginning<'a> {
    pub line: Line<'a>,
    /// What comes after it.
    pub next: Next<'a>,
    /// The bit of the format.
    pub sure: u64,
    /// Where it ends.
    end: usize,
}

impl<'a> Rest<'a> {
    /// What follows the line of that number, from `at`.
    pub(crate) fn new(block: &'a Block<'a>, at: usize, number: u64, triggers: &'a Literals) -> Self {
        Self {
            block,
            text: block.text().unwrap_or_default(),
            at,
            number,
            shown: 0,
            triggers,
            format: 0,
        }
    }

    /// Goes no farther than to the line that begins there.
    pub(crate) fn until(self, end: usize) -> Self {
        let text = self.text.get(..end).unwrap_or_default();
        Self { text, ..self }
    }

    /// Is for the reader of the format that has this bit.
    pub(crate) fn give_to(&mut self, format: u64) {
        self.format = format;
    }

    /// Gives the reader, which holds the stream no more, the next line if that has the sure beginning of its format.
    /// Whether it says that the line is its own.
    pub(crate) fn begin(&mut self, begins: impl FnOnce(&Line<'_>, Next<'_>) -> bool) -> bool {
        let own = |next: &Beginning<'_>| next.sure & self.format != 0 && begins(&next.line, next.next);
        let Some(next) = self.beginning().filter(own) else {
            return false;
        };
        self.pass(&next.line, next.end);
        true
    }

    /// The next line, if it has the sure beginning of a format and nothing before its text: when none waits for it, the
    /// reader of that format is asked first.
    pub(crate) fn beginning(&self) -> Option<Beginning<'a>> {
        let bytes = self.text.as_bytes();
        let blank = match bytes.get(self.at)? {
            b' ' => true,
            b'a'..=b'z' => false,
            _ => return None,
        };
        let end = near_end_or_tab(bytes, self.at)?;
        if bytes[end] != b'\n' {
            return None;
        }
        let line = Line {
            number: self.number + 1,
            text: trimmed(&self.text[self.at..end]),
        };
        let sure = self.triggers.sure(line.text.as_bytes(), &(0..line.text.len()));
        (sure != 0 && (blank || !is_marked(line.text))).then_some(Beginning {
            line,
            next: Next::Within(self.block, end),
            sure,
            end,
        })
    }

    /// Takes that line, which was shown.
    pub(crate) fn pass_shown(&mut self, beginning: &Beginning<'_>) {
        self.number += 1;
        self.at = beginning.end + 1;
    }

    /// A line was taken that ends there.
    #[inline]
    fn pass(&mut self, line: &Line<'_>, end: usize) {
        self.number += 1;
        self.shown += line.text.len() as u64;
        self.at = end + 1;
    }

    /// Gives the reader lines for as long as it takes them.
    pub(crate) fn read_while(&mut self, takes: impl FnMut(&Line<'_>) -> bool) {
        self.read_while_bare(Self::bare, takes);
    }

    /// As [`Rest::read_while`], the lines of a hunk: they have signs before them, or nothing is on them.
    pub(crate) fn read_hunk_while(&mut self, takes: impl FnMut(&Line<'_>) -> bool) {
        self.read_while_bare(Self::of_hunk, takes);
    }

    fn read_while_bare(
        &mut self,
        bare: impl Fn(&Self) -> Option<usize>,
        mut takes: impl FnMut(&Line<'_>) -> bool,
    ) {
        while let Some(end) = bare(self) {
            let line = Line {
                number: self.number + 1,
                text: trimmed(&self.text[self.at..end]),
            };
            if !takes(&line) {
                return;
            }
            self.pass(&line, end);
        }
    }

    /// Gives the reader lines that have no prefix for as long as it takes them.
    pub(crate) fn read_bare_while(&mut self, mut takes: impl FnMut(&Line<'_>) -> bool) {
        while let Some(end) = near(b'\n', self.text.as_bytes(), self.at) {
            let line = Line {
                number: self.number + 1,
                text: trimmed(&self.text[self.at..end]),
            };
            if prefix::may_have_one(line.text, true) || !takes(&line) {
                return;
            }
            self.pass(&line, end);
        }
    }

    /// Where the next line ends, when it can have nothing before its text.
    fn bare(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let start = match bytes.get(self.at..)? {
            [b' ' | b'|' | b'=', ..] => self.at,
            [b'0'..=b'9', rest @ ..] => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
                let digits = 1 + digits.count();
                if !rest[digits - 1..].starts_with(b" |") {
                    return None;
                }
                self.at + digits
            }
            _ => return None,
        };
        near(b'\n', bytes, start)
    }

    /// Where the next line ends, when it is as a diff has them: nothing stands before a sign either.
    fn of_hunk(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at)? {
            b'\n' => Some(self.at),
            b' ' | b'+' | b'-' => near(b'\n', bytes, self.at),
            _ => None,
        }
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
    use crate::block;
    use crate::literals::Literals;
    use crate::next::Coming;

    fn triggers() -> Literals {
        Literals::new([("\n\nerror[E0", 1), ("\n\ntest ", 2)].into_iter())
    }

    /// How many lines are taken of a text that follows the seventh line.
    fn taken(text: &str, read: impl FnOnce(&mut Rest<'_>)) -> u64 {
        let triggers = triggers();
        let block = block::next(text.as_bytes(), text.len());
        let mut rest = Rest::new(&block, 0, 7, &triggers);
        read(&mut rest);
        rest.taken().1 - 7
    }

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
            let mut last = 7;
            let read = |rest: &mut Rest<'_>| {
                rest.read_while(|line| {
                    last += 1;
                    line.number == last && !line.text.ends_with(' ')
                });
            };
            assert_eq!(taken(text, read), given, "{text:?}");
        }
    }

    #[test]
    fn only_lines_without_a_prefix_are_bare() {
        for (text, given) in [
            (" a\nb  \n\nc", 3),
            ("a\n[web] y\n", 1),
            ("  a\n10:14:07 y\n", 1),
            ("web-1  | y\n", 0),
            ("", 0),
        ] {
            let read = |rest: &mut Rest<'_>| rest.read_bare_while(|line| !line.text.ends_with(' '));
            assert_eq!(taken(text, read), given, "{text:?}");
        }
    }

    #[test]
    fn a_line_that_is_not_taken_stays() {
        let triggers = triggers();
        let block = block::next(" a\n b\n".as_bytes(), " a\n b\n".len());
        let mut rest = Rest::new(&block, 0, 0, &triggers);
        rest.read_while(|line| line.text == " a");
        assert_eq!(rest.taken(), (3, 1, 2));
    }

    #[test]
    fn of_a_hunk_the_lines_with_signs_and_those_with_nothing_are_given() {
        for (text, given) in [
            ("+x\n-y\n z\n\n+\n@@ -1 +1 @@\n", 5),
            ("+x\n\\ No newline\n", 1),
            ("+x\ny\n", 1),
            ("+x\n-y", 1),
            ("\r\n", 0),
            ("+x\r\n+\ty\n", 2),
        ] {
            let read = |rest: &mut Rest<'_>| rest.read_hunk_while(|line| !line.text.ends_with('\r'));
            assert_eq!(taken(text, read), given, "{text:?}");
        }
    }

    #[test]
    fn a_sure_beginning_without_a_prefix_is_told() {
        for (text, sure) in [
            ("error[E0425]: x  \n --> a.rs:1:2\n", Some(1)),
            ("error[E0425]: x\r\n --> a.rs:1:2\n", Some(1)),
            ("  error[E0425]: x\n --> a.rs:1:2\n", Some(1)),
            ("test a::b ... ok\n --> a.rs:1:2\n", Some(2)),
            ("error[E0425]: x", None),
            ("error[E0425]: \tx\n", None),
            ("error[E1]: x\n", None),
            ("test  \n  ", None),
            ("test  | test x\n", None),
            ("10:14:07 error[E0425]: x\n", None),
            ("", None),
        ] {
            let triggers = triggers();
            let block = block::next(text.as_bytes(), text.len());
            let mut rest = Rest::new(&block, 0, 7, &triggers);
            let Some(found) = rest.beginning() else {
                assert_eq!(sure, None, "{text:?}");
                continue;
            };
            assert_eq!(Some(found.sure), sure, "{text:?}");
            let end = text.find('\n').expect("the line ends");
            assert_eq!((found.line.number, found.line.text), (8, text[..end].trim_end()));
            assert_eq!(found.next.line(), Coming::Line(" --> a.rs:1:2".into()));
            rest.pass_shown(&found);
            assert_eq!(rest.taken(), (end + 1, 8, 0));
        }
    }

    #[test]
    fn a_reader_is_given_its_own_beginnings_and_may_refuse_them() {
        let triggers = triggers();
        let text = "error[E0425]: x\nerror[E0425]: y\ntest a::b\n";
        let block = block::next(text.as_bytes(), text.len());
        let mut rest = Rest::new(&block, 0, 0, &triggers);
        rest.give_to(1);
        let y = Coming::Line("error[E0425]: y".into());
        assert!(rest.begin(|line, next| line.text.ends_with('x') && next.line() == y));
        assert_eq!(rest.taken(), (16, 1, 15));
        assert!(!rest.begin(|line, _| line.text.ends_with('x')));
        assert_eq!(rest.taken(), (16, 1, 15));
        assert!(rest.begin(|line, _| line.number == 2));
        assert!(!rest.begin(|_, _| true));
        rest.give_to(2);
        assert!(rest.begin(|line, _| line.text == "test a::b"));
        assert!(!rest.begin(|_, _| true));
    }
}
