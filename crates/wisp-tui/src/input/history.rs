//! Lines sent before, newest last, and the draft that was being written when recalling began.

use std::collections::VecDeque;

/// How many lines are remembered.
pub const REMEMBERED: usize = 100;

/// The lines of this conversation that can be recalled.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: VecDeque<String>,
    /// How far back the recalled line is: 0 is the draft.
    back: usize,
    draft: String,
}

impl History {
    /// Remembers a line that was sent; blank ones and repetitions of the last are not kept.
    pub fn add(&mut self, line: &str) {
        self.back = 0;
        self.draft.clear();
        if line.trim().is_empty() || self.lines.back().is_some_and(|last| last == line) {
            return;
        }
        self.lines.push_back(line.to_owned());
        if self.lines.len() > REMEMBERED {
            self.lines.pop_front();
        }
    }

    /// The line before the one shown; `current` is kept when it is the draft.
    pub fn older(&mut self, current: &str) -> Option<String> {
        if self.back >= self.lines.len() {
            return None;
        }
        if self.back == 0 {
            current.clone_into(&mut self.draft);
        }
        self.back += 1;
        self.lines.get(self.lines.len() - self.back).cloned()
    }

    /// The line after the one shown; past the newest, the draft.
    pub fn newer(&mut self) -> Option<String> {
        self.back = self.back.checked_sub(1)?;
        if self.back == 0 {
            return Some(std::mem::take(&mut self.draft));
        }
        self.lines.get(self.lines.len() - self.back).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_comes_back_past_the_newest() {
        let mut history = History::default();
        for line in ["one", "two", "two", " "] {
            history.add(line);
        }
        assert_eq!(history.older("draft").as_deref(), Some("two"));
        assert_eq!(history.older("two").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn the_latest_hundred_are_kept() {
        let mut history = History::default();
        for n in 1..=REMEMBERED + 1 {
            history.add(&n.to_string());
        }
        let oldest = std::iter::from_fn(|| history.older("")).last();
        assert_eq!(oldest.as_deref(), Some("2"));
    }
}
