//! A list to choose from, or to switch things on and off in.

use std::time::Duration;

use wisp_agent::protocol::{Choice, Command, Decision};

use super::{App, Dialog};
use crate::input::Editor;

/// How many options are shown at once.
pub const SHOWN_OPTIONS: usize = 8;

/// A list that is open.
#[derive(Debug, Clone)]
pub struct ChoiceDialog {
    /// What can be chosen.
    pub choice: Choice,
    /// The highlighted option.
    pub at: usize,
    /// For toggles: which are on.
    pub on: Vec<bool>,
    /// Other text, where it is taken as an answer.
    pub text: Editor,
    /// Since when the keyboard has been silent, counted from its appearance.
    pub silent_since: Duration,
    /// Whether it stands for a question that was refused, and the text is the reason.
    pub refuses: bool,
}

impl ChoiceDialog {
    /// The list as it opens: the value in force is highlighted.
    pub fn new(choice: Choice, now: Duration) -> Self {
        let current = choice
            .options
            .iter()
            .position(|option| Some(&option.value) == choice.current.as_ref());
        let on = choice.options.iter().map(|option| option.on).collect();
        Self {
            at: current.unwrap_or(0),
            on,
            text: Editor::default(),
            silent_since: now,
            refuses: false,
            choice,
        }
    }

    fn answer(&self) -> Command {
        let id = self.choice.id.clone();
        if self.refuses {
            let reason = Some(self.text.expanded()).filter(|text| !text.trim().is_empty());
            let decision = Decision::No;
            return Command::Answer { id, decision, reason };
        }
        if self.choice.toggles {
            let options = self.choice.options.iter().zip(&self.on);
            let values = options
                .filter(|(_, on)| **on)
                .map(|(option, _)| option.value.clone())
                .collect();
            return Command::Choose {
                id,
                value: None,
                values: Some(values),
            };
        }
        let typed = (!self.text.is_empty()).then(|| self.text.expanded());
        let chosen = self
            .choice
            .options
            .get(self.at)
            .map(|option| option.value.clone());
        Command::Choose {
            id,
            value: typed.or(chosen),
            values: None,
        }
    }
}

impl App {
    pub(super) fn open_choice(&mut self, choice: Choice) {
        self.close_panel();
        let dialog = ChoiceDialog::new(choice, self.now);
        self.dialogs.push_back(Dialog::Choice(dialog));
    }

    fn choice(&mut self) -> Option<&mut ChoiceDialog> {
        match self.dialogs.front_mut() {
            Some(Dialog::Choice(dialog)) => Some(dialog),
            _ => None,
        }
    }

    pub(super) fn move_choice(&mut self, by: isize) {
        if let Some(dialog) = self.choice() {
            let last = dialog.choice.options.len().saturating_sub(1);
            dialog.at = dialog.at.saturating_add_signed(by).min(last);
        }
    }

    pub(super) fn toggle_choice(&mut self) {
        if let Some(dialog) = self.choice() {
            let at = dialog.at;
            if let Some(on) = dialog.on.get_mut(at).filter(|_| dialog.choice.toggles) {
                *on = !*on;
            } else if dialog.choice.accepts_text {
                dialog.text.insert(" ");
            }
        }
    }

    pub(super) fn take_choice(&mut self) {
        if let Some(answer) = self.choice().map(|dialog| dialog.answer()) {
            self.send(answer);
            self.next_dialog();
        }
    }

    pub(super) fn leave_choice(&mut self) {
        let Some(dialog) = self.choice() else { return };
        let (id, refuses) = (dialog.choice.id.clone(), dialog.refuses);
        self.send(if refuses {
            Command::Answer {
                id,
                decision: Decision::No,
                reason: None,
            }
        } else {
            Command::Choose {
                id,
                value: None,
                values: None,
            }
        });
        self.next_dialog();
    }

    /// Leaves the list, and ends the turn that asked.
    pub(super) fn leave_choice_and_stop(&mut self) {
        self.leave_choice();
        if self.work.busy {
            self.stop_work();
        }
    }

    /// A character typed into the list: text, where that is an answer.
    pub(super) fn type_choice(&mut self, text: &str) {
        if let Some(dialog) = self.choice().filter(|dialog| dialog.choice.accepts_text) {
            dialog.text.insert(text);
        }
    }

    pub(super) fn erase_choice(&mut self) {
        if let Some(dialog) = self.choice() {
            dialog.text.backspace();
        }
    }
}
