//! Input piped into a prompt, `wisp "why did this fail?" < build.log`, and a message too long to be sent whole, such as
//! a log pasted into a chat. Both are kept as an output is; the model gets what fits, the note on the rest, and the
//! digest of all of it.

use std::borrow::Cow;
use std::io::{self, Read};

use wisp_output::amount::{counted, size};
use wisp_output::store::Shelf;
use wisp_tools::Pending;

use crate::conversation::{Conversation, Shown};
use crate::views;

/// The name under which piped input is kept.
const PIPED: &str = "stdin";
/// The name under which a long message is kept.
const MESSAGE: &str = "message";

impl Conversation {
    /// The message as it is sent: whole, unless with the instructions and the tools alone it would pass the budget of
    /// the window. Then it is kept whole and held back as piped input is.
    pub(crate) fn within_budget<'a>(&mut self, message: &'a str) -> Cow<'a, str> {
        if !self.is_over_budget(message) {
            return Cow::Borrowed(message);
        }
        let Ok(pending) = self
            .registry
            .receive(MESSAGE, message.as_bytes(), self.turn_number() + 1)
        else {
            return Cow::Borrowed(message);
        };
        self.mentions_read = true;
        let parts = self.parts_of(&pending, "Message", "your message");
        Cow::Owned(parts.join("\n\n"))
    }

    /// Whether a message alone, without any other turn, is more than the budget.
    fn is_over_budget(&self, message: &str) -> bool {
        let instructions = self
            .record
            .entries()
            .first()
            .map_or(0, |entry| entry.text().len());
        let mut fresh = wisp_context::Estimator::with_ratio(self.estimator.ratio());
        fresh.set_tool_bytes(self.estimator.tool_bytes());
        let bytes = (instructions + message.len()) as u64;
        let over = fresh.estimate(bytes).tokens > self.target.budget(self.model.window.tokens);
        over && message.len() > self.registry.services().budget.bytes()
    }

    /// The prompt made of the person's `words` and of everything `input` gives. Errors are those of reading it.
    pub(crate) fn prompt_with(&mut self, words: &str, input: impl Read + Send) -> io::Result<String> {
        let pending = self.registry.receive(PIPED, input, self.turn_number() + 1)?;
        let mut parts = Vec::new();
        if !words.trim().is_empty() {
            parts.push(words.trim().to_owned());
            parts.extend(self.attached(words));
        }
        self.mentions_read = true;
        let shown = &pending.admitted.shown;
        // What is piped in is for the model: a line of it is never a command, whatever it begins with.
        let like_a_command = words.trim().is_empty() && shown.trim_start().starts_with(['/', '!']);
        if like_a_command && pending.admitted.held.is_empty() {
            parts.push(format!("Standard input:\n{}", wisp_template_tokens::inert(shown)));
            self.parts_of(&pending, "Standard input", "standard input");
        } else {
            parts.extend(self.parts_of(&pending, "Standard input", "standard input"));
        }
        Ok(parts.join("\n\n"))
    }

    /// What the model gets of a text that was received, and the text where `/show` finds it under `title`.
    fn parts_of(&mut self, pending: &Pending, label: &str, title: &str) -> Vec<String> {
        self.offer_memory_when_needed();
        let admitted = &pending.admitted;
        let held = self.summary(admitted, &pending.call).held;
        let (bytes, lines) = (admitted.bytes, admitted.lines);
        let shown = wisp_template_tokens::inert(&admitted.shown);
        let mut parts = Vec::new();
        if held.is_empty() {
            parts.push(shown.clone().into_owned());
        } else {
            parts.push(format!(
                "{label} ({}, {}):\n{}",
                counted(lines, "line"),
                size(bytes),
                shown
            ));
            parts.extend(self.digest_for_prompt(&pending.call));
        }
        self.note_shown(Shown {
            id: pending.call.clone(),
            title: title.to_owned(),
            text: admitted.shown.clone(),
            bytes,
            lines,
            out_lines: None,
            held,
            kept: admitted.kept.is_some(),
            not_kept: admitted.not_kept.clone(),
        });
        parts
    }

    /// What matters in all of a kept input, in half of what a result may have.
    fn digest_for_prompt(&self, id: &str) -> Option<String> {
        let kept = Shelf::new(self.paths.home()).open(id).ok()?;
        let room = self.registry.services().budget.bytes() / 2;
        let text = views::digest_within(&kept, room).ok()?;
        Some(format!(
            "What matters in all of it, read without a model (L numbers are its lines):\n{}",
            wisp_template_tokens::inert(&text)
        ))
    }
}
