//! Where a key goes: to the question that is open, to the panel, or to the box.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{App, Dialog, GRACE};
use crate::input::Burst;
use crate::keys::{Action, Meaning, Place, When};
use crate::panel::Panel;

impl App {
    pub(super) fn on_key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let place = self.place();
        if self.is_held_by_grace(key) {
            return;
        }
        if place == Place::Input && self.prefix.is_none() {
            self.settle_burst(Some(key));
            if let Some(key) = self.bursts.take(key, self.now) {
                self.route(place, key);
            }
            return;
        }
        self.route(place, key);
    }

    /// What keys go to now.
    pub(crate) fn place(&self) -> Place {
        match (self.dialogs.front(), &self.panel) {
            (Some(Dialog::Approval(_)), _) => Place::Approval,
            (Some(Dialog::Choice(_)), _) => Place::Choice,
            (None, Some(Panel::Output(panel))) if panel.prompt.is_some() => Place::Bar,
            (None, Some(Panel::Output(panel))) if panel.digest.is_none() => Place::Output,
            (None, Some(_)) => Place::Text,
            (None, None) => Place::Input,
        }
    }

    /// A key that came within the grace of a question is for the box, and the wait begins anew. What answers
    /// nothing is taken at once: leaving, and going up and down a list.
    fn is_held_by_grace(&mut self, key: KeyEvent) -> bool {
        let leaves = key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('c' | 'd'));
        if leaves || self.answers_nothing(key) || !self.within_grace() {
            return false;
        }
        self.type_behind(key);
        true
    }

    /// Whether a question is open that the keyboard was not yet silent for, in which case the wait begins anew.
    fn within_grace(&mut self) -> bool {
        let now = self.now;
        let Some(dialog) = self.dialogs.front_mut() else {
            return false;
        };
        let silent_since = dialog.silent_since();
        let within = now.saturating_sub(*silent_since) < GRACE;
        if within {
            *silent_since = now;
        }
        within
    }

    /// Whether a key only moves in a list or in a question, or leaves the list.
    fn answers_nothing(&self, key: KeyEvent) -> bool {
        let place = self.place();
        let meaning = self.bindings.meaning(place, self.prefix, key);
        let Meaning::Action(action) = meaning else {
            return false;
        };
        let scrolls = ["question-up", "question-down", "question-page-up"];
        match place {
            Place::Choice => ["choice-up", "choice-down", "choice-leave"].contains(&action.name),
            Place::Approval => scrolls.contains(&action.name) || key.code == KeyCode::PageDown,
            _ => false,
        }
    }

    /// Types into the box while something else has the keys. What would send the line, or ask for anything, does nothing.
    fn type_behind(&mut self, key: KeyEvent) {
        match self.bindings.meaning(Place::Input, None, key) {
            Meaning::Action(action) if action.when == When::Edits => (action.run)(self),
            Meaning::Nothing => {
                let commands = KeyModifiers::CONTROL | KeyModifiers::ALT;
                if let KeyCode::Char(c) = key.code
                    && !key.modifiers.intersects(commands)
                {
                    self.type_only(c);
                }
            }
            Meaning::Action(_) | Meaning::Prefix => {}
        }
    }

    pub(super) fn route(&mut self, place: Place, key: KeyEvent) {
        let prefix = self.prefix.take();
        match self.bindings.meaning(place, prefix, key) {
            Meaning::Action(action) => self.act(action),
            Meaning::Prefix => self.prefix = Some(key.into()),
            Meaning::Nothing => self.unbound(place, key),
        }
    }

    fn act(&mut self, action: &Action) {
        let waits = self.work.busy && action.place == Place::Input;
        match action.when {
            When::Idle if waits => {}
            _ => {
                if action.place == Place::Input && !action.name.starts_with("complete") {
                    self.completion = None;
                }
                (action.run)(self);
            }
        }
    }

    /// A key without a meaning is a character for whatever takes characters.
    fn unbound(&mut self, place: Place, key: KeyEvent) {
        let KeyCode::Char(c) = key.code else { return };
        if key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
        {
            return;
        }
        match place {
            Place::Input => self.type_character(c),
            Place::Bar => self.type_into_bar(c),
            Place::Choice => self.type_choice(c.encode_utf8(&mut [0; 4])),
            // It begins a word, whose other letters are no answers either.
            Place::Approval => {
                if let Some(dialog) = self.dialogs.front_mut() {
                    *dialog.silent_since() = self.now;
                }
                self.type_behind(key);
            }
            Place::Output | Place::Text => {}
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        match self.place() {
            Place::Input | Place::Approval => self.paste(text),
            Place::Choice if self.within_grace() => self.paste(text),
            Place::Choice => self.type_choice(&text.replace(['\r', '\n'], " ")),
            Place::Bar => text
                .chars()
                .filter(|c| !c.is_control())
                .for_each(|c| self.type_into_bar(c)),
            Place::Output | Place::Text => {}
        }
    }

    /// Gives out a run of fast keys once it is known what they are.
    pub(super) fn settle_burst(&mut self, next: Option<KeyEvent>) {
        match self.bursts.settled(self.now, next) {
            Some(Burst::Paste(text)) => self.on_paste(&text),
            Some(Burst::Keys(keys)) => {
                for key in keys {
                    let place = self.place();
                    self.route(place, key);
                }
            }
            None => {}
        }
    }
}
