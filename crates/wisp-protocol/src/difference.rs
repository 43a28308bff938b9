//! What an edit changed, as the transcript keeps it: the beginning of the difference and its figures, small enough for
//! every event.

use serde::{Deserialize, Serialize};

/// The most lines of a difference that are sent; a front end folds there.
pub const SHOWN: u64 = 20;
/// The most bytes of them: one line may be a whole file.
const BYTES: usize = 16 * 1024;

/// The beginning of a unified difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Difference {
    /// Its beginning: at most 20 lines besides the headers, and 16 KiB.
    pub text: String,
    /// Lines in all, without headers.
    pub lines: u64,
    /// Lines of them that `text` has whole.
    pub shown: u64,
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

impl Difference {
    /// The beginning of a unified difference, or of lines that were appended, each after a `+`.
    pub fn of(unified: &str) -> Self {
        let mut difference = Self::default();
        let mut cut = false;
        let start = unified.find("@@ -").unwrap_or(0);
        for line in unified[start..].split_inclusive('\n') {
            let counts = !line.starts_with("@@ -");
            difference.lines += u64::from(counts);
            difference.added += u64::from(line.starts_with('+'));
            difference.removed += u64::from(line.starts_with('-'));
            let room = BYTES - difference.text.len();
            if difference.lines > SHOWN || cut {
                continue;
            }
            let fits = (0..=room.min(line.len()))
                .rev()
                .find(|at| line.is_char_boundary(*at))
                .unwrap_or(0);
            difference.text.push_str(&line[..fits]);
            cut = fits < line.len();
            difference.shown += u64::from(counts && !cut);
        }
        difference
    }

    /// Lines that are not shown here.
    pub fn rest(&self) -> u64 {
        self.lines.saturating_sub(self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_lines_are_all_and_the_twenty_first_is_folded() {
        let added = |n: usize| format!("--- a\n+++ a\n@@ -0,0 +1,{n} @@\n{}", "+x\n".repeat(n));
        let all = Difference::of(&added(20));
        assert_eq!((all.shown, all.lines, all.added, all.rest()), (20, 20, 20, 0));
        let folded = Difference::of(&added(21));
        assert_eq!(folded.text, format!("@@ -0,0 +1,21 @@\n{}", "+x\n".repeat(20)));
        assert_eq!((folded.rest(), folded.added), (1, 21));
    }

    #[test]
    fn lines_that_look_like_headers_count_within_a_hunk_and_long_ones_are_bounded() {
        let dashes = Difference::of("--- a\n+++ a\n@@ -1,2 +1 @@\n--- x\n-b\n+++ y\n");
        assert_eq!((dashes.added, dashes.removed, dashes.lines), (1, 2, 3));
        let long = Difference::of(&format!("+{}\n+next\n", "é".repeat(20_000)));
        assert_eq!((long.text.len(), long.shown, long.lines), (16 * 1024 - 1, 0, 2));
    }
}
