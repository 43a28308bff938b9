//! wisp's own instructions to a model, the first part of every system message: one text for each way of working.
//!
//! The full text is the same everywhere. Those for small models name the folder, the system and the day, so they stay
//! the same, and stay in a server's cache, over all conversations of one folder and day.

use std::path::Path;

use wisp_config::Config;
use wisp_host::Clock;

use crate::agents_md::trust::{KnownFiles, settle};
use crate::agents_md::{AgentsFiles, with_block};
use crate::conversation::Conversation;
use crate::engine::desk::Asker;
use crate::model::Model;
use crate::model::call_style::{CallStyle, ToolSet};
use crate::open::SYSTEM_PROMPT;
use crate::protocol::NoteLevel;

const LEAN: &str = include_str!("../../../assets/system-prompt-lean.md");
const GUIDED: &str = include_str!("../../../assets/system-prompt-guided.md");
/// How both begin: what tells them from the full text in a saved conversation.
const SMALL_BEGINS: &str = "You are wisp, an assistant that works in the folder ";

/// What the full text adds where the model has `memory`.
const MEMORY_RULE: &str = "Recall what is missing of earlier turns; do not guess it.";

/// The full text, with the rule for `memory` where it is offered from the start, then the person's extension.
pub(crate) fn full(config: &Config, memory: bool) -> String {
    let mut text = SYSTEM_PROMPT.trim_end().to_owned();
    if memory {
        text.push_str("\n\n");
        text.push_str(MEMORY_RULE);
    }
    extended(text, config)
}

/// The text for a small model, then the person's extension.
fn small(text: &str, config: &Config, folder: &Path, clock: &dyn Clock) -> String {
    let now = clock.now().to_zoned_datetime(jiff::tz::TimeZone::system());
    let folder = folder.display().to_string();
    let text = text
        .trim_end()
        .replace("{system}", system())
        .replace("{date}", &now.strftime("%A %Y-%m-%d").to_string())
        .replace("{folder}", &wisp_template_tokens::inert(&folder));
    extended(text, config)
}

fn extended(mut text: String, config: &Config) -> String {
    if let Some(extension) = config.system_prompt_extension() {
        text.push_str("\n\n");
        text.push_str(&extension);
    }
    text
}

fn system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "macOS",
        "linux" => "Linux",
        other => other,
    }
}

/// Which text a model works by.
fn of(model: &Model) -> Option<&'static str> {
    match (model.calls, model.set) {
        (CallStyle::Guided, _) => Some(GUIDED),
        (_, ToolSet::Lean) => Some(LEAN),
        (_, ToolSet::Full) => None,
    }
}

/// A model that is held to a schema, or has few tools, has half the room for the user's instructions: it reads slowly.
const SMALL_SHARE: u64 = 2;

impl Conversation {
    /// Gives the conversation the instructions that its model works by, with the user's. A model with the full set goes on
    /// by what the conversation has, unless that was for a small one.
    pub(crate) fn instruct(&mut self) {
        let services = self.registry.services();
        let small_text = of(&self.model).filter(|_| self.tools.is_some());
        let base = match small_text {
            Some(text) => small(text, &self.config, &self.directory, &*services.clock),
            None if self.record.instructions().starts_with(SMALL_BEGINS) => {
                full(&self.config, self.registry.has_memory())
            }
            None => self.record.instructions().to_owned(),
        };
        let share = if small_text.is_some() { SMALL_SHARE } else { 1 };
        let block = self.agents.block(self.model.window.tokens / share);
        let text = with_block(&base, block.as_deref());
        if text != self.record.instructions() {
            self.record.set_instructions(text);
        }
    }

    /// Before a message: files of instructions that have changed are read again, those that are new are asked about.
    pub(crate) async fn notice_agents(&mut self, person: &Asker) {
        if !self.config.agents_md() || !self.agents.is_changed() {
            return;
        }
        let mut found = AgentsFiles::of(&self.directory, self.paths.home());
        let known = KnownFiles::at(self.paths.agents());
        settle(&mut found, known, &self.events, Some(person), self.terms.yes).await;
        let same = found.files == self.agents.files;
        self.agents = found;
        if same {
            return;
        }
        self.instruct();
        let now = self.agents.described(&self.directory);
        let now = now.unwrap_or_else(|| "none are followed".to_owned());
        self.events
            .note(NoteLevel::Info, format!("your instructions have changed: {now}"));
    }
}
