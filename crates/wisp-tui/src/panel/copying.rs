//! A selection on its way to the clipboard: its lines put together page by page, those that are not loaded fetched, up
//! to what a terminal takes.

use wisp_term::clipboard::MAX_COPY;
use wisp_term::units::{format_bytes, thousands};

/// A selection being put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copying {
    from: u64,
    to: u64,
    /// The page that is needed next.
    pub page: u64,
    text: String,
    /// The line taken last.
    last: u64,
    whole: bool,
}

/// What a page offers: the numbers of its lines, the lines as shown, and whether the last one ends there.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// The number of each line, from 1; none for a line of a frame, which is not copied.
    pub numbers: &'a [Option<u64>],
    /// The lines, without newlines.
    pub lines: &'a [String],
    /// Whether the last line ends with the page.
    pub ended: bool,
}

impl Copying {
    /// Lines `from` to `to`, the first of which is on page `page` (or goes on there).
    pub fn new((from, to): (u64, u64), page: u64) -> Self {
        Self {
            from,
            to,
            page,
            text: String::new(),
            last: 0,
            whole: false,
        }
    }

    /// Whether no other page is needed.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Takes the page that was needed.
    pub fn take(&mut self, page: Offered<'_>) {
        self.page += 1;
        self.whole = self.fill(page);
    }

    /// Appends the lines of a page. True when no other is needed.
    fn fill(&mut self, page: Offered<'_>) -> bool {
        let numbered = page.numbers.iter().zip(page.lines);
        for (number, line) in numbered.filter_map(|(number, line)| Some(((*number)?, line))) {
            if number > self.to || self.text.len() > MAX_COPY {
                return true;
            }
            if number < self.from {
                continue;
            }
            // A line longer than a page goes on in the next.
            if number == self.last {
                self.text.pop();
            }
            self.text.push_str(line);
            self.text.push('\n');
            self.last = number;
        }
        self.text.len() > MAX_COPY || (self.last == self.to && page.ended)
    }

    /// The text, cut at the end of a line where it is more than a terminal takes, and what is said of it.
    pub fn end(mut self) -> (String, String) {
        let (from, to) = (thousands(self.from), thousands(self.to));
        if self.text.len() <= MAX_COPY {
            return (self.text, format!("copied lines {from}–{to}"));
        }
        let mut cut = (0..=MAX_COPY).rev().find(|at| self.text.is_char_boundary(*at));
        cut = cut.map(|cut| self.text[..cut].rfind('\n').map_or(cut, |newline| newline + 1));
        self.text.truncate(cut.unwrap_or(0));
        let lines = self.text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let size = format_bytes(MAX_COPY as u64);
        let last = thousands((self.from + lines).saturating_sub(1).max(self.from));
        let said = format!("copied lines {from}–{last} of {from}–{to}: a terminal takes {size}");
        (self.text, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(first_line: u64, lines: &[String]) -> Offered<'_> {
        let numbers: Vec<Option<u64>> = (first_line..).map(Some).take(lines.len()).collect();
        Offered {
            numbers: numbers.leak(),
            lines,
            ended: true,
        }
    }

    fn lines(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn lines_of_several_pages_are_joined() {
        let mut copying = Copying::new((2, 4), 7);
        copying.take(page(1, &lines(&["a", "b"])));
        assert!(!copying.is_whole());
        assert_eq!(copying.page, 8);
        copying.take(page(3, &lines(&["c", "d", "e"])));
        assert!(copying.is_whole());
        assert_eq!(copying.end(), ("b\nc\nd\n".into(), "copied lines 2–4".into()));
    }

    #[test]
    fn frames_are_not_copied() {
        let mut copying = Copying::new((1, 2), 0);
        let shown = lines(&["exit status 0", "stdout:", "a", "stderr:", "b"]);
        copying.take(Offered {
            numbers: &[None, None, Some(1), None, Some(2)],
            lines: &shown,
            ended: true,
        });
        assert!(copying.is_whole());
        assert_eq!(copying.end().0, "a\nb\n");
    }

    #[test]
    fn a_line_that_goes_on_in_the_next_page_is_one_line() {
        let mut copying = Copying::new((1, 1), 0);
        let first = lines(&["long"]);
        let open = Offered {
            ended: false,
            ..page(1, &first)
        };
        copying.take(open);
        assert!(!copying.is_whole());
        copying.take(page(1, &lines(&[" line", "next"])));
        assert!(copying.is_whole());
        assert_eq!(copying.end().0, "long line\n");
    }

    #[test]
    fn what_a_terminal_does_not_take_is_cut_at_a_line_and_said() {
        let fits = lines(&[&"x".repeat(MAX_COPY - 1)]);
        let mut copying = Copying::new((1, 1), 0);
        copying.take(page(1, &fits));
        assert!(copying.is_whole());
        assert_eq!(copying.end().0.len(), MAX_COPY);
        let mut copying = Copying::new((1, 90_000), 0);
        let many: Vec<String> = (0..90_000).map(|_| "x".to_owned()).collect();
        copying.take(page(1, &many));
        assert!(copying.is_whole());
        let (text, said) = copying.end();
        assert_eq!(text.len(), MAX_COPY);
        assert_eq!(said, "copied lines 1–37,497 of 1–90,000: a terminal takes 74 KiB");
        let mut copying = Copying::new((5, 5), 0);
        copying.take(page(5, &lines(&[&"é".repeat(MAX_COPY)])));
        assert!(copying.is_whole());
        let (text, said) = copying.end();
        assert_eq!(text.len(), MAX_COPY, "cut before a character");
        assert!(said.starts_with("copied lines 5–5 of 5–5"), "{said}");
    }
}
