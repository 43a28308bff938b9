//! Input piped into a prompt: `wisp "why did this fail?" < build.log`. It is kept as an output is; the model gets
//! what fits, the note on the rest, and the digest of all of it.

use std::io::{self, Read};

use wisp_output::amount::{counted, size};
use wisp_output::store::Shelf;

use crate::conversation::{Conversation, Shown};
use crate::views;

impl Conversation {
    /// The prompt made of the person's `words` and of everything `input` gives. Errors are those of reading it.
    pub(crate) fn prompt_with(&mut self, words: &str, input: impl Read + Send) -> io::Result<String> {
        let pending = self.registry.receive(input, self.turn_number() + 1)?;
        self.offer_memory_when_needed();
        let admitted = &pending.admitted;
        let held = self.summary(admitted, &pending.call).held;
        let (bytes, lines) = (admitted.bytes, admitted.lines);
        let mut parts = Vec::new();
        if !words.trim().is_empty() {
            parts.push(words.trim().to_owned());
        }
        if held.is_empty() {
            // What is piped in is for the model: a line of it is never a command, whatever it begins with.
            let like_a_command =
                words.trim().is_empty() && admitted.shown.trim_start().starts_with(['/', '!']);
            let label = if like_a_command { "Standard input:\n" } else { "" };
            parts.push(format!("{label}{}", admitted.shown));
        } else {
            parts.push(format!(
                "Standard input ({}, {}):\n{}",
                counted(lines, "line"),
                size(bytes),
                admitted.shown
            ));
            parts.extend(self.digest_for_prompt(&pending.call));
        }
        self.note_shown(Shown {
            id: pending.call.clone(),
            title: "standard input".to_owned(),
            text: admitted.shown.clone(),
            bytes,
            lines,
            held,
            kept: admitted.kept.is_some(),
            not_kept: admitted.not_kept.clone(),
        });
        Ok(parts.join("\n\n"))
    }

    /// What matters in all of a kept input, in half of what a result may have.
    fn digest_for_prompt(&self, id: &str) -> Option<String> {
        let kept = Shelf::new(self.paths.home()).open(id).ok()?;
        let room = self.registry.services().budget.bytes() / 2;
        let text = views::digest_within(&kept, room).ok()?;
        Some(format!(
            "What matters in all of it, read without a model (L numbers are its lines):\n{text}"
        ))
    }
}
