//! What a face may ask at any time, also while a turn runs: pages, searches, completions, answers.

use wisp_output::{Store, store::Shelf};

use super::desk::Desk;
use crate::conversation::Conversation;
use crate::events::Events;
use crate::protocol::{Command, Event};
use crate::slash;
use crate::views;

/// The little that is needed to answer on the side, refreshed between turns.
pub struct Side {
    events: Events,
    store: Option<Store>,
    shelf: Shelf,
    models: Vec<String>,
}

impl Side {
    /// What `conversation` has.
    pub fn of(conversation: &Conversation) -> Self {
        let mut side = Self {
            events: conversation.events.clone(),
            store: None,
            shelf: Shelf::new(conversation.paths.home()),
            models: Vec::new(),
        };
        side.refresh(conversation);
        side
    }

    /// Takes what has changed: `/new` opens another session, `/model` another server.
    pub fn refresh(&mut self, conversation: &Conversation) {
        if let wisp_tools::Keep::In(store) = &conversation.registry.services().keep {
            self.store = Some(store.clone());
        }
        if self.models.is_empty() {
            self.models.push(conversation.model.name.clone());
        }
    }

    /// Answers what can be answered without the conversation.
    pub fn answer(&self, command: &Command, desk: &mut Desk) {
        match command {
            Command::Answer { .. } | Command::Choose { .. } => desk.answer(command),
            Command::Output { id, page } => {
                let view = views::page(&self.shelf, id, *page);
                self.events.send(Event::View(view));
            }
            Command::Search {
                id,
                pattern,
                from_line,
                backwards,
            } => {
                let search = views::Search {
                    pattern,
                    from_line: *from_line,
                    backwards: *backwards,
                };
                let event = views::search(&self.shelf, id, &search);
                self.events.send(event);
            }
            Command::Digest { id } => {
                let view = views::digest(&self.shelf, id);
                self.events.send(Event::View(view));
            }
            Command::Complete { id, text, cursor } => {
                let (from, candidates) = slash::complete(text, *cursor, &self.models);
                self.events.send(Event::Completions {
                    id: id.clone(),
                    from,
                    candidates,
                });
            }
            _ => {}
        }
    }
}
