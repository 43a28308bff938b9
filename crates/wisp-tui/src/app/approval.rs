//! The question whether a command may run or an edit may be made, and its answers.

use std::time::Duration;

use wisp_agent::protocol::{Approval, Command, Decision};
use wisp_term::diff::{self, DiffLine};
use wisp_term::{Role, visible};

use super::{App, Dialog};

/// A question that is open.
#[derive(Debug, Clone)]
pub struct ApprovalDialog {
    /// What is asked.
    pub approval: Approval,
    /// Since when the keyboard has been silent, counted from its appearance.
    pub silent_since: Duration,
    /// The lines of an edit's difference, their changed words marked.
    pub difference: Vec<DiffLine>,
    /// The first row of the difference that is shown.
    pub scrolled: usize,
}

impl ApprovalDialog {
    /// The role of its level.
    pub fn role(&self) -> Role {
        match self.approval.level.as_str() {
            "safe" => Role::Ok,
            "dangerous" => Role::Danger,
            _ => Role::Warn,
        }
    }
}

/// Words for an answer, as the scrollback keeps them.
fn words(decision: Decision) -> &'static str {
    match decision {
        Decision::Once => "approved once",
        Decision::Session => "approved for this session",
        Decision::Project => "approved for this directory, 30 days",
        Decision::Always => "approved everywhere, 30 days",
        Decision::No => "refused",
    }
}

impl App {
    /// Opens the question, or queues it behind the one that is open.
    pub(super) fn ask_approval(&mut self, approval: Approval) {
        self.close_panel();
        let body = format!("{}: {}", approval.level, approval.command);
        self.tell("wisp waits for your approval", &body);
        let difference = approval.diff.as_deref().map(diff::of_unified).unwrap_or_default();
        let dialog = ApprovalDialog {
            approval,
            difference,
            silent_since: self.now,
            scrolled: 0,
        };
        self.dialogs.push_back(Dialog::Approval(dialog));
    }

    /// Answers the open question, if that answer can be given. What was not offered, and anything but a
    /// refusal while the window is too small to show the question, is no answer.
    pub(super) fn decide(&mut self, decision: Decision) {
        let Some(Dialog::Approval(dialog)) = self.dialogs.front() else {
            return;
        };
        let offered = &dialog.approval.decisions;
        let known = decision == Decision::No || offered.is_empty() || offered.contains(&decision);
        if !known || (self.is_too_small() && decision != Decision::No) {
            return;
        }
        let role = if decision == Decision::No {
            Role::Danger
        } else {
            dialog.role()
        };
        let (id, command) = (dialog.approval.id.clone(), visible(&dialog.approval.command));
        self.say_one(role, &format!("⚠ {}: {command}", words(decision)));
        self.answered += 1;
        self.send(Command::Answer { id, decision });
        self.next_dialog();
    }

    /// Goes on to the next question, whose silence begins now.
    pub(super) fn next_dialog(&mut self) {
        self.dialogs.pop_front();
        let now = self.now;
        if let Some(next) = self.dialogs.front_mut() {
            *next.silent_since() = now;
        }
    }

    /// Closes a question that needs no answer any more.
    pub(super) fn withdraw(&mut self, id: &str) {
        let Some(at) = self.dialogs.iter().position(|dialog| dialog.id() == id) else {
            return;
        };
        if let Some(Dialog::Approval(dialog)) = self.dialogs.get(at) {
            let command = visible(&dialog.approval.command);
            self.say_one(Role::Quiet, &format!("⚠ no longer waiting: {command}"));
        }
        if at == 0 {
            self.next_dialog();
        } else {
            self.dialogs.remove(at);
        }
    }

    /// Scrolls the difference of the open question.
    pub(super) fn scroll_difference(&mut self, by: isize) {
        if let Some(Dialog::Approval(dialog)) = self.dialogs.front_mut() {
            let last = dialog.difference.len().saturating_sub(1);
            dialog.scrolled = dialog.scrolled.saturating_add_signed(by).min(last);
        }
    }
}
