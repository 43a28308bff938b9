//! The difference between two texts as lines with numbers, and as coloured text.

use similar::{ChangeTag, TextDiff};

use crate::palette::Palette;
use crate::safe::visible;
use crate::theme::Role;
use crate::width::{expand_tabs, truncate};

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It stands in both texts.
    Kept,
    /// Only in the new one.
    Added,
    /// Only in the old one.
    Removed,
    /// Lines between two changes that are left out here.
    Gap,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to it.
    pub change: Change,
    /// Its number in the old text, from 1.
    pub old: Option<usize>,
    /// Its number in the new text, from 1.
    pub new: Option<usize>,
    /// The line in pieces without its newline; true marks the words that differ from the line it replaces.
    pub pieces: Vec<(bool, String)>,
}

impl DiffLine {
    /// The line as one text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, piece)| piece.as_str()).collect()
    }
}

/// The difference of two texts with `context` unchanged lines around each change. Equal texts give nothing.
pub fn diff(old: &str, new: &str, context: usize) -> Vec<DiffLine> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(context) {
        if !lines.is_empty() {
            lines.push(gap());
        }
        for op in &group {
            lines.extend(diff.iter_inline_changes(op).map(|change| {
                DiffLine {
                    change: match change.tag() {
                        ChangeTag::Equal => Change::Kept,
                        ChangeTag::Insert => Change::Added,
                        ChangeTag::Delete => Change::Removed,
                    },
                    old: change.old_index().map(|at| at + 1),
                    new: change.new_index().map(|at| at + 1),
                    pieces: change
                        .iter_strings_lossy()
                        .map(|(emphasised, piece)| (emphasised, piece.trim_end_matches('\n').to_owned()))
                        .collect(),
                }
            }));
        }
    }
    lines
}

fn gap() -> DiffLine {
    DiffLine {
        change: Change::Gap,
        old: None,
        new: None,
        pieces: Vec::new(),
    }
}

/// How many lines were added and removed.
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let of = |change| lines.iter().filter(|line| line.change == change).count();
    (of(Change::Added), of(Change::Removed))
}

/// A difference as text: number, sign, line, each at most `width` cells; the text of the lines is made safe.
pub fn render(lines: &[DiffLine], palette: &Palette, width: usize) -> String {
    let last = lines.iter().filter_map(|line| line.new.max(line.old)).max();
    let digits = last.unwrap_or(0).to_string().len();
    lines
        .iter()
        .map(|line| row(line, palette, (digits, width)) + "\n")
        .collect()
}

fn row(line: &DiffLine, palette: &Palette, (digits, width): (usize, usize)) -> String {
    let (sign, role, word) = match line.change {
        Change::Gap => return palette.paint(Role::Quiet, &format!("{:>digits$} ⋮", "")),
        Change::Kept => (' ', Role::Quiet, Role::Quiet),
        Change::Added => ('+', Role::Added, Role::AddedWord),
        Change::Removed => ('-', Role::Removed, Role::RemovedWord),
    };
    let number = line.new.or(line.old).unwrap_or_default();
    let mut shown = palette.paint(role, &format!("{number:>digits$} {sign} "));
    let mut left = width.saturating_sub(digits + 3);
    for (emphasised, piece) in &line.pieces {
        let piece = visible(&expand_tabs(piece.trim_end_matches('\r'), 0));
        let fits = truncate(&piece, left).into_owned();
        left = left.saturating_sub(crate::width::cells(&fits));
        shown.push_str(&palette.paint(if *emphasised { word } else { role }, &fits));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_its_surroundings() {
        let old = "one\ntwo\nthree\nfour\nfive\n";
        let new = "one\ntwo\nTHREE\nfour\nfive\n";
        let lines = diff(old, new, 1);
        assert_eq!(
            render(&lines, &Palette::plain(), 80),
            "2   two\n3 - three\n3 + THREE\n4   four\n"
        );
        assert_eq!(counts(&lines), (1, 1));
    }

    #[test]
    fn far_changes_have_a_gap_and_equal_texts_nothing() {
        let old: String = (1..=30).map(|n| n.to_string() + "\n").collect();
        let new = old.replace("2\n3\n", "2\nx\n").replace("28\n", "y\n");
        let lines = diff(&old, &new, 1);
        assert_eq!(lines.iter().filter(|l| l.change == Change::Gap).count(), 1);
        assert!(diff(&old, &old, 3).is_empty());
    }

    #[test]
    fn the_text_of_a_file_cannot_command_the_terminal() {
        let shown = render(&diff("", "\u{1b}]0;title\u{7}x\n", 3), &Palette::plain(), 80);
        assert_eq!(shown, "1 + \\e]0;title\\u{7}x\n");
    }

    #[test]
    fn only_the_words_that_differ_are_marked() {
        let lines = diff("let depth = 3;\n", "let depth = 4;\n", 3);
        let marked: Vec<&str> = lines
            .iter()
            .flat_map(|l| &l.pieces)
            .filter(|(marked, _)| *marked)
            .map(|(_, piece)| piece.as_str())
            .collect();
        assert_eq!(marked, ["3;", "4;"]);
    }

    #[test]
    fn rows_stay_within_the_width() {
        let shown = render(&diff("", "漢字漢字漢字\n", 3), &Palette::plain(), 10);
        assert_eq!(shown, "1 + 漢字…\n");
    }
}
