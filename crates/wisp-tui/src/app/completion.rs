//! Completing the line under the cursor: asked of the engine, shown above the box, stepped through.

use wisp_agent::protocol::Command;
use wisp_term::visible;

use super::App;

/// Candidates for the text before the cursor.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// The request it answers.
    id: String,
    /// Where the completed text starts, in bytes.
    from: usize,
    /// What it could become; empty until the answer comes.
    pub candidates: Vec<String>,
    /// The candidate in the box.
    pub at: Option<usize>,
}

impl App {
    /// Steps to the candidate before; where no candidates stand, goes on to the next mode.
    pub(super) fn complete_back_or_change_mode(&mut self) {
        if self.completion.as_ref().is_some_and(|c| c.candidates.len() > 1) {
            self.complete(true);
        } else {
            self.send_line("/mode next".to_owned());
        }
    }

    /// Asks for candidates, or steps to the next one.
    pub(super) fn complete(&mut self, backwards: bool) {
        if self.take_from_menu() {
            return;
        }
        if let Some(completion) = self.completion.as_mut().filter(|c| c.candidates.len() > 1) {
            let count = completion.candidates.len();
            let next = match completion.at {
                None if backwards => count - 1,
                None => 0,
                Some(at) if backwards => (at + count - 1) % count,
                Some(at) => (at + 1) % count,
            };
            completion.at = Some(next);
            let (from, with) = (completion.from, completion.candidates[next].clone());
            self.editor.complete(from, &with);
            return;
        }
        let id = self.request_id();
        self.completion = Some(Completion {
            id: id.clone(),
            ..Completion::default()
        });
        let mark = if self.command_mode { "!" } else { "" };
        let before = &self.editor.text()[..self.editor.cursor()];
        let cursor = before.chars().count() + mark.len();
        let text = format!("{mark}{}", self.editor.text());
        self.send(Command::Complete { id, text, cursor });
    }

    /// Takes the answer: one candidate is put in, several fill in what they share.
    pub(super) fn completions(&mut self, id: &str, from: usize, candidates: Vec<String>) {
        if self
            .completion
            .as_ref()
            .is_none_or(|completion| completion.id != id)
        {
            return;
        }
        let from = from.saturating_sub(usize::from(self.command_mode));
        let text = self.editor.text();
        let from = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
        let from = from.min(self.editor.cursor());
        let shared = shared_start(&candidates);
        if !shared.is_empty() && shared.len() >= self.editor.cursor() - from {
            self.editor.complete(from, shared);
        }
        let several = candidates.len() > 1;
        self.completion = several.then(|| Completion {
            id: id.to_owned(),
            from,
            candidates,
            at: None,
        });
    }

    /// The candidates as they are shown.
    pub(crate) fn candidates(&self) -> Vec<(String, bool)> {
        let Some(completion) = &self.completion else {
            return Vec::new();
        };
        let marked = completion.candidates.iter().enumerate();
        marked
            .map(|(at, text)| (visible(text), completion.at == Some(at)))
            .collect()
    }
}

/// The longest beginning that all candidates have.
fn shared_start(candidates: &[String]) -> &str {
    let Some(first) = candidates.first() else {
        return "";
    };
    let shared = |other: &String| {
        let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let len = candidates.iter().map(shared).min().unwrap_or(0);
    &first[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_candidates_share_is_found_between_characters() {
        let shared = |words: &[&str]| {
            shared_start(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()).to_owned()
        };
        assert_eq!(shared(&["/models", "/model"]), "/model");
        assert_eq!(shared(&["é1", "é2"]), "é");
        assert_eq!(shared(&["a", "b"]), "");
        assert_eq!(shared(&[]), "");
    }
}
