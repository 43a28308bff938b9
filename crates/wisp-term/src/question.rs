//! What a person is shown before they say yes: all of it, in rows of a terminal's width. Nothing is cut with `…`: a row
//! that does not fit goes on below, and what does not fit the screen is scrolled. [`Seen`] counts what was on it, because
//! a yes is worth something only once all of it was.

use crate::diff::{self, DiffLine};
use crate::safe::visible;
use crate::theme::Role;
use crate::width::{cells, expand_tabs, split_at};

/// One row: stretches of one role each, made safe.
pub type Row = Vec<(Role, String)>;

/// What is asked about.
#[derive(Debug, Clone, Default)]
pub struct Asked<'a> {
    /// The command, the edit or the read; empty when it is shown elsewhere.
    pub command: &'a str,
    /// The whole line it is part of; the same as `command`, or empty, when there is no more.
    pub line: &'a str,
    /// Where it would run.
    pub directory: &'a str,
    /// Why it is asked, a sentence each.
    pub reasons: &'a [String],
    /// The lines of an edit's difference.
    pub difference: &'a [DiffLine],
    /// What would be remembered; the same as `command`, or empty, when that says nothing more.
    pub pattern: &'a str,
}

/// All of a question in rows of at most `width` cells.
pub fn rows(asked: &Asked<'_>, width: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut say = |role, label: &str, text: &str| {
        for (at, line) in text.split('\n').enumerate() {
            let label = if at == 0 { label } else { "" };
            let line = visible(&expand_tabs(line, 0));
            rows.extend(wrapped(&[(role, format!("{label}{line}"))], width, 0));
        }
    };
    if !asked.command.is_empty() {
        say(Role::Person, "", asked.command);
    }
    if !asked.line.is_empty() && asked.line != asked.command {
        say(Role::Quiet, "part of: ", asked.line);
    }
    if !asked.directory.is_empty() {
        say(Role::Quiet, "in ", asked.directory);
    }
    for reason in asked.reasons {
        say(Role::Text, "", reason);
    }
    rows.extend(difference(asked.difference, width));
    if !asked.pattern.is_empty() && asked.pattern != asked.command {
        let pattern = format!("remembered as: {}", visible(asked.pattern));
        rows.extend(wrapped(&[(Role::Quiet, pattern)], width, 0));
    }
    rows
}

/// The rows of a difference, each line wrapped under its own text.
pub fn difference(lines: &[DiffLine], width: usize) -> Vec<Row> {
    let digits = diff::digits(lines);
    lines
        .iter()
        .flat_map(|line| wrapped(&diff::spans(line, digits, usize::MAX), width, digits + 3))
        .collect()
}

/// One line broken at `width` cells wherever that falls; rows after the first stand `hang` cells to the right, where that
/// leaves them half of the width.
fn wrapped(spans: &[(Role, String)], width: usize, hang: usize) -> Vec<Row> {
    let width = width.max(2);
    let hang = if hang * 2 > width { 0 } else { hang };
    let (mut rows, mut row, mut left) = (Vec::new(), Row::new(), width);
    for (role, text) in spans {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (fits, more) = split_at(rest, left);
            if !fits.is_empty() {
                left -= cells(fits);
                row.push((*role, fits.to_owned()));
            }
            rest = more;
            if rest.is_empty() {
                break;
            }
            // A character wider than a whole row is left to the terminal: it cannot be placed anywhere.
            let stuck = fits.is_empty() && left == width - hang && !rows.is_empty();
            if stuck {
                break;
            }
            rows.push(std::mem::take(&mut row));
            left = width - hang;
            if hang > 0 {
                row.push((*role, " ".repeat(hang)));
            }
        }
    }
    rows.push(row);
    rows
}

/// How much of a question was on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// The first row in view.
    pub first: usize,
    /// Rows that were in view, from the first on.
    until: usize,
    /// Whether all were, in whatever width.
    all: bool,
    /// The width the rows were counted for.
    width: usize,
}

impl Seen {
    /// Takes it that `room` rows of `total` are in view. In another width rows begin elsewhere, so the count begins anew,
    /// unless all was seen.
    pub fn shown(&mut self, total: usize, room: usize, width: usize) {
        if width != self.width {
            (self.width, self.until) = (width, 0);
            self.first = if self.all { self.first } else { 0 };
        }
        self.first = self.first.min(total.saturating_sub(room));
        // What was scrolled past without a stop was not in view.
        if self.first <= self.until {
            self.until = self.until.max((self.first + room).min(total));
        }
        self.all |= self.until >= total;
    }

    /// Whether all of it was in view.
    pub fn all(&self) -> bool {
        self.all
    }

    /// Scrolls by some rows of `total`, of which `room` are in view; never past what was not seen.
    pub fn scroll(&mut self, by: isize, total: usize, room: usize) {
        let last = total.saturating_sub(room);
        self.first = self.first.saturating_add_signed(by).min(last);
        if !self.all {
            self.first = self.first.min(self.until);
        }
    }

    /// `12 of 84 rows`: the last row in view, of all.
    pub fn words(&self, total: usize, room: usize) -> String {
        format!("{} of {total} rows", (self.first + room).min(total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[Row]) -> Vec<String> {
        let text = |row: &Row| row.iter().map(|(_, text)| text.as_str()).collect();
        rows.iter().map(text).collect()
    }

    #[test]
    fn everything_is_in_the_rows_and_none_is_wider() {
        let command = format!("echo {} && rm -rf {}", "a".repeat(300), "漢".repeat(100));
        let reasons = vec!["writes ".repeat(40)];
        let lines = diff::of_unified(&format!("@@ -1 +1 @@\n-{}\n+short\n", "x".repeat(500)));
        let asked = Asked {
            command: &command,
            line: "the line",
            directory: "/srv",
            reasons: &reasons,
            difference: &lines,
            pattern: "rm *",
        };
        for width in [2, 3, 7, 16, 36, 76] {
            let rows = texts(&rows(&asked, width));
            assert!(rows.iter().all(|row| cells(row) <= width), "{width}: {rows:?}");
            let all = rows.concat().replace(' ', "");
            for part in [
                &command,
                &"x".repeat(500),
                "partof:theline",
                "in/srv",
                "rememberedas:rm*",
            ] {
                assert!(
                    all.contains(&part.replace(' ', "")),
                    "{part} at {width}: {rows:?}"
                );
            }
            assert!(!all.contains('…'));
        }
    }

    #[test]
    fn a_line_of_a_difference_goes_on_under_its_own_text() {
        let lines = diff::of_unified("@@ -9,1 +9,1 @@\n-abcdefghij\n");
        assert_eq!(texts(&difference(&lines, 8)), ["9 - abcd", "    efgh", "    ij"]);
    }

    #[test]
    fn all_is_seen_once_the_last_row_was_in_view_and_nothing_was_jumped_over() {
        let mut seen = Seen::default();
        seen.shown(84, 12, 76);
        assert_eq!(
            (seen.all(), seen.words(84, 12)),
            (false, "12 of 84 rows".to_owned())
        );
        seen.scroll(1000, 84, 12);
        assert_eq!(seen.first, 12, "no further than what comes next");
        seen.shown(84, 12, 76);
        assert_eq!(seen.words(84, 12), "24 of 84 rows");
        for _ in 0..5 {
            seen.scroll(12, 84, 12);
            seen.shown(84, 12, 76);
        }
        assert_eq!((seen.first, seen.all()), (72, true));
        assert_eq!(seen.words(84, 12), "84 of 84 rows");
        seen.scroll(-1000, 84, 12);
        assert_eq!((seen.first, seen.all()), (0, true));
    }

    #[test]
    fn a_question_that_fits_is_seen_at_once_and_another_width_counts_anew() {
        let mut seen = Seen::default();
        seen.shown(5, 5, 76);
        assert!(seen.all());
        let mut seen = Seen::default();
        seen.shown(10, 5, 76);
        seen.scroll(3, 10, 5);
        seen.shown(20, 5, 36);
        assert_eq!((seen.first, seen.all()), (0, false));
    }
}
