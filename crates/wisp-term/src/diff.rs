//! The difference between two texts, or one that comes as a unified difference, as lines with numbers and marked words,
//! and as coloured text.

use similar::{ChangeTag, TextDiff};

use crate::palette::Palette;
use crate::safe::visible;
use crate::theme::Role;
use crate::units::{counted, thousands};
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
    /// Lines between two changes that are left out here; its text, if it has one, is a remark (`\ No newline …`).
    Gap,
}

/// The most lines of one stretch of removed and added lines whose words are compared: past it the stretch is no edit
/// of those lines any more, and comparing takes long.
pub const COMPARED: usize = 400;

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

/// The lines of a unified difference (`diff -u`, as edits carry it), with the words marked in which a stretch of
/// added lines differs from the removed ones before it. File headers are left out; what is no part of a hunk stays as
/// a remark. Stretches of more than [`COMPARED`] lines have no marks.
///
/// ```
/// use wisp_term::diff::{Change, of_unified};
/// let lines = of_unified("--- a\n+++ a\n@@ -7 +7 @@\n-let a = 1;\n+let b = 1;\n");
/// assert_eq!((lines[1].change, lines[1].new), (Change::Added, Some(7)));
/// assert!(lines[1].pieces.contains(&(true, "b".to_owned())));
/// ```
pub fn of_unified(text: &str) -> Vec<DiffLine> {
    let mut reading = Unified::default();
    for line in text.split_terminator('\n') {
        reading.take(line);
    }
    reading.end_stretch();
    reading.lines
}

/// A unified difference being read.
#[derive(Default)]
struct Unified {
    lines: Vec<DiffLine>,
    /// The numbers of the next lines, once a hunk began, and how many lines of it are to come.
    hunk: Option<Hunk>,
    /// Where the stretch of removed and added lines that is being read begins among the lines.
    stretch: Option<usize>,
}

/// Where a hunk is.
#[derive(Clone, Copy)]
struct Hunk {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

impl Unified {
    fn take(&mut self, line: &str) {
        if let Some(hunk) = hunk_of(line) {
            self.end_stretch();
            if self.hunk.is_some() {
                self.lines.push(gap());
            }
            self.hunk = Some(hunk);
            return;
        }
        match (line.as_bytes().first(), &mut self.hunk) {
            (Some(b'+'), Some(hunk)) if hunk.new_left > 0 => {
                let new = hunk.next_new();
                self.changed(Change::Added, (None, Some(new)), &line[1..]);
            }
            (Some(b'-'), Some(hunk)) if hunk.old_left > 0 => {
                let old = hunk.next_old();
                self.changed(Change::Removed, (Some(old), None), &line[1..]);
            }
            (Some(b' ') | None, Some(hunk)) if hunk.old_left > 0 && hunk.new_left > 0 => {
                let numbers = (Some(hunk.next_old()), Some(hunk.next_new()));
                self.end_stretch();
                self.push(Change::Kept, numbers, line.get(1..).unwrap_or_default());
            }
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => {}
            _ => self.push(Change::Gap, (None, None), line),
        }
    }

    fn push(&mut self, change: Change, (old, new): (Option<usize>, Option<usize>), text: &str) {
        self.lines.push(DiffLine {
            change,
            old,
            new,
            pieces: vec![(false, text.to_owned())],
        });
    }

    /// A changed line. Lines removed after added ones begin a stretch of their own.
    fn changed(&mut self, change: Change, numbers: (Option<usize>, Option<usize>), text: &str) {
        let after_added = self.lines.last().is_some_and(|last| last.change == Change::Added);
        if change == Change::Removed && after_added {
            self.end_stretch();
        }
        self.stretch.get_or_insert(self.lines.len());
        self.push(change, numbers, text);
    }

    /// Marks the words of the stretch that was read.
    fn end_stretch(&mut self) {
        let Some(start) = self.stretch.take() else { return };
        let stretch = &mut self.lines[start..];
        if stretch.len() > COMPARED {
            return;
        }
        let side = |change| -> Vec<usize> {
            (0..stretch.len())
                .filter(|at| stretch[*at].change == change)
                .collect()
        };
        let (removed, added) = (side(Change::Removed), side(Change::Added));
        if removed.is_empty() || added.is_empty() {
            return;
        }
        let text = |side: &[usize]| -> String { side.iter().map(|at| stretch[*at].text() + "\n").collect() };
        for line in diff(&text(&removed), &text(&added), usize::MAX) {
            let at = match line.change {
                Change::Removed => line.old.and_then(|old| removed.get(old - 1)),
                Change::Added => line.new.and_then(|new| added.get(new - 1)),
                Change::Kept | Change::Gap => None,
            };
            if let Some(at) = at {
                stretch[*at].pieces = line.pieces;
            }
        }
    }
}

impl Hunk {
    fn next_old(&mut self) -> usize {
        self.old_left -= 1;
        self.old += 1;
        self.old - 1
    }

    fn next_new(&mut self) -> usize {
        self.new_left -= 1;
        self.new += 1;
        self.new - 1
    }
}

/// Reads `@@ -12,3 +14,4 @@ …`; a side without a length has one line.
fn hunk_of(line: &str) -> Option<Hunk> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
    Some(Hunk {
        old,
        new,
        old_left,
        new_left,
    })
}

/// The digits of the highest line number.
pub fn digits(lines: &[DiffLine]) -> usize {
    let last = lines.iter().filter_map(|line| line.new.max(line.old)).max();
    last.unwrap_or(0).to_string().len()
}

/// One line in stretches of one role each: number (of `digits` digits), sign and text, at most `width` cells, made safe.
pub fn spans(line: &DiffLine, digits: usize, width: usize) -> Vec<(Role, String)> {
    let (sign, role, word) = match line.change {
        Change::Gap if line.pieces.is_empty() => return vec![(Role::Quiet, format!("{:>digits$} ⋮", ""))],
        Change::Gap | Change::Kept => (' ', Role::Quiet, Role::Quiet),
        Change::Added => ('+', Role::Added, Role::AddedWord),
        Change::Removed => ('-', Role::Removed, Role::RemovedWord),
    };
    let number = line.new.or(line.old).map(|number| number.to_string());
    let number = number.unwrap_or_default();
    let mut spans = vec![(role, format!("{number:>digits$} {sign} "))];
    let (mut left, mut column) = (width.saturating_sub(digits + 3), 0);
    for (emphasised, piece) in &line.pieces {
        // The end of a line is shown where it is what changed.
        let end = if *emphasised { "" } else { "\r" };
        let piece = visible(&expand_tabs(piece.strip_suffix(end).unwrap_or(piece), column));
        column += crate::width::cells(&piece);
        let fits = truncate(&piece, left).into_owned();
        left = left.saturating_sub(crate::width::cells(&fits));
        spans.push((if *emphasised { word } else { role }, fits));
    }
    spans
}

/// What stands under the beginning of a difference: `… 64 more lines · +70 -14`.
pub fn fold(more: u64, (added, removed): (u64, u64)) -> String {
    let changed = format!("+{} -{}", thousands(added), thousands(removed));
    format!("… {} · {changed}", counted(more, "more line"))
}

/// How many lines were added and removed.
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let of = |change| lines.iter().filter(|line| line.change == change).count();
    (of(Change::Added), of(Change::Removed))
}

/// A difference as text: number, sign, line, each at most `width` cells; the text of the lines is made safe.
pub fn render(lines: &[DiffLine], palette: &Palette, width: usize) -> String {
    let digits = digits(lines);
    lines
        .iter()
        .map(|line| {
            let spans = spans(line, digits, width);
            let painted = spans.iter().map(|(role, text)| palette.paint(*role, text));
            painted.collect::<String>() + "\n"
        })
        .collect()
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

    fn marked(lines: &[DiffLine]) -> Vec<(Change, &str)> {
        let pieces = lines
            .iter()
            .flat_map(|line| line.pieces.iter().map(move |piece| (line.change, piece)));
        pieces
            .filter(|(_, (marked, _))| *marked)
            .map(|(change, (_, piece))| (change, piece.as_str()))
            .collect()
    }

    #[test]
    fn a_unified_difference_has_its_numbers_gaps_and_marked_words() {
        let text = "--- src/a.rs\n+++ src/a.rs\n@@ -1,3 +1,3 @@\n one\n-two old words\n+two new words\n three\n\
                    @@ -90,2 +90,3 @@\n ninety\n+added\n--- not a header\n+++ neither\n\\ No newline at end of file\n";
        let lines = of_unified(text);
        assert_eq!(
            render(&lines, &Palette::plain(), 40),
            " 1   one\n 2 - two old words\n 2 + two new words\n 3   three\n   ⋮\n90   ninety\n91 + added\n\
             91 - -- not a header\n92 + ++ neither\n     \\ No newline at end of file\n"
        );
        let words = marked(&lines);
        assert!(words.contains(&(Change::Removed, "old")) && words.contains(&(Change::Added, "new")));
        assert!(!words.iter().any(|(_, word)| word.contains("two")), "{words:?}");
    }

    #[test]
    fn a_stretch_too_long_to_compare_is_shown_without_marks() {
        let stretch = |lines: usize| {
            let side = |sign: char| -> String {
                let line = |n: usize| format!("{sign}word {n} {sign}\n");
                (0..lines).map(line).collect::<Vec<_>>().concat()
            };
            format!("@@ -1,{lines} +1,{lines} @@\n{}{}", side('-'), side('+'))
        };
        assert!(!marked(&of_unified(&stretch(COMPARED / 2))).is_empty());
        let long = of_unified(&stretch(COMPARED / 2 + 1));
        assert_eq!(counts(&long), (COMPARED / 2 + 1, COMPARED / 2 + 1));
        assert!(marked(&long).is_empty());
    }

    #[test]
    fn what_is_no_difference_is_shown_as_it_is() {
        assert_eq!(
            render(&of_unified("just\ntext"), &Palette::plain(), 40),
            "    just\n    text\n"
        );
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]

        #[test]
        fn every_line_of_a_difference_is_kept(
            old in proptest::collection::vec("[ab \\-+@]{0,6}", 0..12),
            new in proptest::collection::vec("[ab \\-+@]{0,6}", 0..12),
        ) {
            let join = |lines: &[String]| lines.iter().map(|line| line.clone() + "\n").collect::<String>();
            let (old, new) = (join(&old), join(&new));
            let unified = TextDiff::from_lines(&old, &new).unified_diff().context_radius(100).header("f", "f").to_string();
            let lines = of_unified(&unified);
            let side = |without: Change| -> String {
                lines.iter().filter(|line| line.change != without).map(|line| line.text() + "\n").collect()
            };
            if old != new {
                proptest::prop_assert_eq!(side(Change::Added), old);
                proptest::prop_assert_eq!(side(Change::Removed), new);
            }
        }
    }
}
