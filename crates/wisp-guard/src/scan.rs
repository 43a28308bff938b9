//! Where in a text credentials and personal data stand, for a report that does not show them.

use std::ops::Range;

use crate::secrets::{Category, find, preview};

/// A value that was found, without the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of its shape: `github-token`.
    pub kind: &'static str,
    /// What it is of.
    pub category: Category,
    /// In a diff, the new file it was added to.
    pub path: Option<String>,
    /// Its first line, from 1: of the text, or in a diff of the new file.
    pub line: u64,
    /// As much of it as may be shown.
    pub preview: String,
}

/// Searches a text for secrets, and with `personal` for personal data. Of a unified diff only the added lines are
/// searched, and each is named by its line of the new file.
pub fn scan(text: &str, personal: bool) -> Vec<Finding> {
    let added = is_diff(text).then(|| added_lines(text));
    let (searched, places) = match &added {
        Some((lines, places)) => (lines.as_str(), Some(places)),
        None => (text, None),
    };
    let mut counted = Counted::default();
    find(searched, personal)
        .into_iter()
        .map(|found| {
            let index = counted.newlines_before(searched, &found.range);
            let place = places.and_then(|places| places.get(index));
            Finding {
                kind: found.kind,
                category: found.category,
                path: place.map(|(path, _)| path.clone()),
                line: place.map_or(index as u64 + 1, |(_, line)| *line),
                preview: preview(&searched[found.range]),
            }
        })
        .collect()
}

/// Whether a text is a unified diff.
pub fn is_diff(text: &str) -> bool {
    let begins = |mark: &str| text.lines().any(|line| line.starts_with(mark));
    text.starts_with("diff --git ") || begins("+++ ") && begins("@@ ")
}

/// Newlines up to a place, counted once through a text whose places come in order.
#[derive(Default)]
struct Counted {
    at: usize,
    newlines: usize,
}

impl Counted {
    fn newlines_before(&mut self, text: &str, range: &Range<usize>) -> usize {
        self.newlines += text[self.at..range.start].matches('\n').count();
        self.at = range.start;
        self.newlines
    }
}

/// The lines a diff adds, one after another, with the file and the line each gets. A line that is not added ends what a
/// value can stretch over, as an empty line.
fn added_lines(text: &str) -> (String, Vec<(String, u64)>) {
    let (mut lines, mut places) = (String::new(), Vec::new());
    let (mut path, mut line) = (String::new(), 0);
    let mut left = (0u64, 0u64);
    for raw in text.split('\n') {
        if left == (0, 0) {
            if let Some(named) = raw.strip_prefix("+++ ") {
                path = new_file(named);
            } else if let Some((first, sizes)) = hunk(raw) {
                (line, left) = (first, sizes);
            }
            continue;
        }
        match raw.as_bytes().first() {
            Some(b'+') => {
                lines.push_str(&raw[1..]);
                lines.push('\n');
                places.push((path.clone(), line));
                line += 1;
                left.1 = left.1.saturating_sub(1);
            }
            Some(b'-') => left.0 = left.0.saturating_sub(1),
            Some(b'\\') => {}
            _ => {
                lines.push('\n');
                places.push((path.clone(), line));
                line += 1;
                left = (left.0.saturating_sub(1), left.1.saturating_sub(1));
            }
        }
    }
    (lines, places)
}

/// The name after `+++ `, without the `b/` and what follows a tab.
fn new_file(named: &str) -> String {
    let name = named.split('\t').next().unwrap_or(named).trim_end_matches('\r');
    name.strip_prefix("b/").unwrap_or(name).to_owned()
}

/// The first line of the new file in a hunk's head, and how many lines of the old and the new one follow.
fn hunk(head: &str) -> Option<(u64, (u64, u64))> {
    let ranges = head.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let read = |range: &str| -> Option<(u64, u64)> {
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    let (_, before) = read(old)?;
    let (first, after) = read(new)?;
    Some((first, (before, after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Option<String>, u64, &'static str)> {
        let findings = scan(text, false);
        findings.into_iter().map(|f| (f.path, f.line, f.kind)).collect()
    }

    #[test]
    fn a_text_names_the_line_and_shows_no_value() {
        let token = ["gh", "p_", "Tern0000Example1111Tern2222Example33"].concat();
        let text = format!("one\ntwo {token}\nthree\nPASSWORD=correct-horse-7F3A\n");
        assert_eq!(found(&text), [(None, 2, "github-token"), (None, 4, "env-secret")]);
        let shown: Vec<String> = scan(&text, false).into_iter().map(|f| f.preview).collect();
        assert_eq!(shown, ["ghp_…(40 chars)", "corr…(18 chars)"]);
    }

    #[test]
    fn of_a_diff_the_added_lines_are_searched_and_named_in_the_new_file() {
        let diff = "diff --git a/x.env b/conf/x.env\n--- a/x.env\n+++ b/conf/x.env\n@@ -1,3 +10,4 @@ head\n \
                    A_TOKEN=abcdefgh0\n-B_TOKEN=abcdefgh1\n+C_TOKEN=abcdefgh2\n+++ D_TOKEN=abcdefgh3\n last\n\
                    @@ -20 +22 @@\n-x\n+E_TOKEN=abcdefgh4\ndiff --git a/y b/y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n\
                    +F_TOKEN=abcdefgh5\n";
        let at = |path: &str, line| (Some(path.to_owned()), line, "env-secret");
        assert_eq!(
            found(diff),
            [
                at("conf/x.env", 11),
                at("conf/x.env", 12),
                at("conf/x.env", 22),
                at("y", 1)
            ]
        );
    }

    #[test]
    fn what_only_looks_like_a_diff_is_searched_whole() {
        assert_eq!(
            found("@@ A_TOKEN=abcdefgh0\n- B_TOKEN=abcdefgh1"),
            [(None, 1, "env-secret"), (None, 2, "env-secret")]
        );
        assert!(found("diff --git a b\n@@ -x +y @@\n+A_TOKEN=abcdefgh0").is_empty());
    }
}
