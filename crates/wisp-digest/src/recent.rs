//! The few lines before the current one, for a failure whose cause no reader knows: they may tell it.
//!
//! Seldom does anything ask. So the bytes are kept as they are, and the lines are looked for only then.

use crate::clean::clean;
use crate::digest::Quote;
use crate::limits;
use crate::line::cut;
use crate::prefix;

const KEPT: usize = 4;
/// How near a line is that may tell a cause.
const NEAR: u64 = 3;
/// Bytes kept of a line.
const BYTES: usize = 512;
/// Bytes of lines that are kept together before all but the last lines are dropped.
const ROOM: usize = 16 * 1024;
/// Bytes of lines that are all kept; of more the last are looked for.
const FEW: usize = 1_024;

/// The last lines read, as they were before any cleaning.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// Whole lines, each with its end.
    text: Vec<u8>,
    /// The number of the last of them.
    last: u64,
}

impl Recent {
    /// Adds whole lines, the last of which has this number.
    #[inline]
    pub(crate) fn add(&mut self, lines: &[u8], last: u64) {
        self.last = last;
        if lines.len() <= FEW {
            self.text.extend_from_slice(lines);
        } else {
            self.add_last_of(lines);
        }
        if self.text.len() > ROOM {
            self.make_room();
        }
    }

    /// Adds a line without its end.
    pub(crate) fn add_line(&mut self, number: u64, line: &[u8]) {
        self.add(&line[..line.len().min(BYTES)], number);
        self.text.push(b'\n');
    }

    #[cold]
    fn add_last_of(&mut self, lines: &[u8]) {
        let mut found = [&[][..]; KEPT];
        let mut count = 0;
        for line in last_lines(lines) {
            found[count] = line;
            count += 1;
        }
        if count == KEPT {
            self.text.clear();
        }
        for line in found[..count].iter().rev() {
            self.text.extend_from_slice(line);
            self.text.push(b'\n');
        }
    }

    #[cold]
    fn make_room(&mut self) {
        let kept: usize = last_lines(&self.text).map(|line| line.len() + 1).sum();
        self.text.drain(..self.text.len().saturating_sub(kept));
    }

    /// The lines just before `number`, blank ones left out.
    pub(crate) fn before(&self, number: u64) -> Vec<Quote> {
        let near = self
            .numbered()
            .filter(|(at, _)| *at < number && at + NEAR >= number);
        let mut quotes: Vec<Quote> = near.filter_map(|(at, raw)| quote(at, raw)).collect();
        quotes.reverse();
        quotes
    }

    /// Whether the lines just before `number` all begin with two blanks or are empty, as they are told: then none of them
    /// has anything before its text.
    pub(crate) fn is_indented_before(&self, number: u64) -> bool {
        let mut near = self
            .numbered()
            .filter(|(at, _)| *at < number && at + NEAR >= number);
        near.all(|(_, raw)| {
            raw.is_empty() || (raw.starts_with(b"  ") && memchr::memchr2(0x08, b'\r', raw).is_none())
        })
    }

    /// The line with this number, if it is one of the last four and not blank.
    pub(crate) fn at(&self, number: u64) -> Option<Quote> {
        let (at, raw) = self.numbered().find(|(at, _)| *at == number)?;
        quote(at, raw)
    }

    /// The last lines, the last first.
    fn numbered(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let numbers = (0..=self.last).rev();
        numbers.zip(last_lines(&self.text))
    }
}

/// The last lines of a text, the last first, each as far as it is kept.
fn last_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut end = text.len();
    let lines = std::iter::from_fn(move || {
        let stop = end - usize::from(text[..end].last()? == &b'\n');
        end = memchr::memrchr(b'\n', &text[..stop]).map_or(0, |at| at + 1);
        Some(&text[end..stop])
    });
    lines.take(KEPT).map(|line| &line[..line.len().min(BYTES)])
}

fn quote(line: u64, raw: &[u8]) -> Option<Quote> {
    let text = clean(raw);
    let text = cut(prefix::split(&text).written(), limits::QUOTE);
    (!text.is_empty()).then(|| Quote {
        line,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{ROOM, Recent};

    fn before(recent: &Recent, number: u64) -> Vec<(u64, String)> {
        let quotes = recent.before(number).into_iter();
        quotes.map(|quote| (quote.line, quote.text)).collect()
    }

    fn lines(lines: &[(u64, &str)]) -> Vec<(u64, String)> {
        lines.iter().map(|(at, text)| (*at, (*text).to_owned())).collect()
    }

    #[test]
    fn the_three_lines_before_are_told_however_they_came() {
        let mut recent = Recent::default();
        recent.add(b"a\nb\n", 2);
        assert_eq!(before(&recent, 3), lines(&[(1, "a"), (2, "b")]));
        recent.add(b"", 2);
        recent.add(b"c\n", 3);
        assert_eq!(before(&recent, 4), lines(&[(1, "a"), (2, "b"), (3, "c")]));
        recent.add(b"\nd\n", 5);
        assert_eq!(before(&recent, 6), lines(&[(3, "c"), (5, "d")]));
        assert_eq!(recent.at(2).map(|quote| quote.text), Some("b".to_owned()));
        assert_eq!(recent.at(1), None);
        recent.add_line(6, b"carried");
        recent.add_line(7, b"\x1b[1mtoo\x1b[0m ");
        assert_eq!(before(&recent, 8), lines(&[(5, "d"), (6, "carried"), (7, "too")]));
    }

    #[test]
    fn lines_are_indented_that_nothing_could_be_taken_off() {
        for (text, indented) in [
            ("x\n  a\n\n  b\n", true),
            ("  a\n b\n  c\n", false),
            ("  a\n  b\x08\x08\x08c\n", false),
            ("  a\r  b\n", false),
            ("  \x1b[1ma\n", true),
        ] {
            let mut recent = Recent::default();
            let last = text.lines().count() as u64;
            recent.add(text.as_bytes(), last);
            assert_eq!(recent.is_indented_before(last + 1), indented, "{text:?}");
        }
    }

    #[test]
    fn of_many_lines_the_last_are_known() {
        let mut recent = Recent::default();
        recent.add(b"a\n", 1);
        let many: Vec<String> = (2..=300).map(|number| format!("line {number}\n")).collect();
        recent.add(many.concat().as_bytes(), 300);
        assert_eq!(
            before(&recent, 301),
            lines(&[(298, "line 298"), (299, "line 299"), (300, "line 300")])
        );
        recent.add(&[b"x".repeat(2_000), b"\ny\n".to_vec()].concat(), 302);
        assert_eq!(
            before(&recent, 303),
            lines(&[(300, "line 300"), (301, &"x".repeat(240)), (302, "y")])
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut recent = Recent::default();
        for number in 1..=5_000 {
            recent.add(format!("line {number}\n").as_bytes(), number);
            assert!(recent.text.len() <= ROOM);
        }
        assert_eq!(
            before(&recent, 5_001),
            lines(&[(4_998, "line 4998"), (4_999, "line 4999"), (5_000, "line 5000")])
        );
        recent.add(&[vec![b'x'; 1 << 20], b"\n".to_vec()].concat(), 5_001);
        assert_eq!(before(&recent, 5_002)[2].1, "x".repeat(240));
        assert!(recent.text.len() <= ROOM);
    }
}
