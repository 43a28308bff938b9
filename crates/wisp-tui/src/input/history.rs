//! Lines sent before, newest last, and the draft that was being written when recalling began.

use std::collections::VecDeque;

use super::Editor;

/// How many lines are remembered.
pub const REMEMBERED: usize = 100;

/// A line as it was typed: a large paste in it is still a placeholder, which Up brings back as its label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// What was in the box.
    pub text: Editor,
    /// Whether it was a command of the person's own.
    pub command: bool,
}

impl Sent {
    /// What is in the box, the cursor at its end.
    pub fn of(editor: &Editor, command: bool) -> Self {
        let mut text = editor.clone();
        text.move_to(text.text().len());
        Self { text, command }
    }
}

/// The lines of this conversation that can be recalled.
#[derive(Debug, Clone, Default)]
pub struct History {
    lines: VecDeque<Sent>,
    /// How far back the recalled line is: 0 is the draft.
    back: usize,
    draft: Sent,
}

impl History {
    /// Remembers a line that was sent; blank ones and repetitions of the last are not kept.
    pub fn add(&mut self, line: Sent) {
        self.back = 0;
        self.draft = Sent::default();
        if line.text.expanded().trim().is_empty() || self.lines.back() == Some(&line) {
            return;
        }
        self.lines.push_back(line);
        if self.lines.len() > REMEMBERED {
            self.lines.pop_front();
        }
    }

    /// The line before the one shown; `current` is kept when it is the draft.
    pub fn older(&mut self, current: Sent) -> Option<Sent> {
        if self.back >= self.lines.len() {
            return None;
        }
        if self.back == 0 {
            self.draft = current;
        }
        self.back += 1;
        self.lines.get(self.lines.len() - self.back).cloned()
    }

    /// The line after the one shown; past the newest, the draft.
    pub fn newer(&mut self) -> Option<Sent> {
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

    fn sent(text: &str) -> Sent {
        let mut editor = Editor::default();
        editor.set(text);
        Sent::of(&editor, false)
    }

    fn text(sent: Option<Sent>) -> Option<String> {
        sent.map(|sent| sent.text.expanded())
    }

    #[test]
    fn the_draft_comes_back_past_the_newest() {
        let mut history = History::default();
        for line in ["one", "two", "two", " "] {
            history.add(sent(line));
        }
        assert_eq!(text(history.older(sent("draft"))).as_deref(), Some("two"));
        assert_eq!(text(history.older(sent("two"))).as_deref(), Some("one"));
        assert_eq!(history.older(sent("one")), None);
        assert_eq!(text(history.newer()).as_deref(), Some("two"));
        assert_eq!(text(history.newer()).as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn the_latest_hundred_are_kept() {
        let mut history = History::default();
        for n in 1..=REMEMBERED + 1 {
            history.add(sent(&n.to_string()));
        }
        let oldest = std::iter::from_fn(|| history.older(sent(""))).last();
        assert_eq!(text(oldest).as_deref(), Some("2"));
    }

    #[test]
    fn a_large_paste_comes_back_as_its_placeholder_and_with_its_text() {
        let pasted = "a line\n".repeat(8000);
        let mut editor = Editor::default();
        editor.insert("why? ");
        editor.paste(&pasted);
        let mut history = History::default();
        history.add(Sent::of(&editor, false));
        let back = history.older(Sent::default()).unwrap().text;
        let mark = back.text().strip_prefix("why? ").unwrap();
        assert_eq!(mark.chars().count(), 1);
        assert_eq!(back.label(mark).unwrap(), "[pasted 8,000 lines, 55 KiB]");
        assert_eq!(back.expanded(), format!("why? {pasted}"));
    }
}
