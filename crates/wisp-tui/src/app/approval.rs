//! The question whether a command may run or an edit may be made, and its answers.

use std::time::Duration;

use wisp_agent::protocol::{Approval, Choice, Command, Decision};
use wisp_term::diff::{self, DiffLine};
use wisp_term::question::{self, Asked, Row, Seen};
use wisp_term::{Role, visible};

use super::choice::ChoiceDialog;
use super::{App, Dialog, GRACE};

/// A question that is open.
#[derive(Debug, Clone)]
pub struct ApprovalDialog {
    /// What is asked.
    pub approval: Approval,
    /// Since when the keyboard has been silent, counted from its appearance.
    pub silent_since: Duration,
    /// The lines of an edit's difference, their changed words marked.
    pub difference: Vec<DiffLine>,
    /// What of it is in view, and what was.
    pub seen: Seen,
    /// Whether a yes was tried before all of it was in view.
    pub too_soon: bool,
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

    /// All of the question in rows of `width` cells.
    pub(crate) fn rows(&self, width: usize) -> Vec<Row> {
        let approval = &self.approval;
        let asked = Asked {
            command: &approval.command,
            line: &approval.line,
            directory: &approval.directory,
            reasons: &approval.reasons,
            difference: &self.difference,
            pattern: &approval.pattern,
        };
        question::rows(&asked, width)
    }
}

/// Words for an answer, as the scrollback keeps them.
fn words(decision: Decision) -> String {
    let days = match decision {
        Decision::Project | Decision::Always => ", 30 days",
        _ => "",
    };
    wisp_agent::reach(decision)
        .map_or_else(|| "refused".to_owned(), |reach| format!("approved {reach}{days}"))
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
            seen: Seen::default(),
            too_soon: false,
        };
        self.dialogs.push_back(Dialog::Approval(dialog));
    }

    /// Answers the open question, if that answer can be given. What was not offered, and anything but a
    /// refusal while the window is too small to show the question or not all of it was in view, is no answer.
    pub(super) fn decide(&mut self, decision: Decision) {
        let too_small = self.is_too_small();
        let Some(Dialog::Approval(dialog)) = self.dialogs.front_mut() else {
            return;
        };
        let offered = &dialog.approval.decisions;
        let known = decision == Decision::No || offered.is_empty() || offered.contains(&decision);
        dialog.too_soon = known && decision != Decision::No && !dialog.seen.all();
        if !known || dialog.too_soon || (too_small && decision != Decision::No) {
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
        let reason = None;
        self.send(Command::Answer { id, decision, reason });
        self.next_dialog();
    }

    /// Refuses, and asks for what the model is to know about it: a line of its own in the question's place.
    pub(super) fn refuse_with_reason(&mut self) {
        let Some(Dialog::Approval(dialog)) = self.dialogs.front() else {
            return;
        };
        let choice = Choice {
            id: dialog.approval.id.clone(),
            title: format!("No: {} (what should the model know?)", dialog.approval.command),
            accepts_text: true,
            ..Choice::default()
        };
        let reason = ChoiceDialog {
            refuses: true,
            ..ChoiceDialog::new(choice, self.now.saturating_sub(GRACE))
        };
        self.answered += 1;
        if let Some(front) = self.dialogs.front_mut() {
            *front = Dialog::Choice(reason);
        }
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

    /// Refuses, and ends the turn that asked.
    pub(super) fn refuse_and_stop(&mut self) {
        self.decide(Decision::No);
        self.stop_work();
    }

    /// The rows the open question has, how many of them are in view, and their width.
    fn question_size(&self) -> Option<(usize, usize, usize)> {
        let Some(Dialog::Approval(dialog)) = self.dialogs.front() else {
            return None;
        };
        let width = crate::view::question_width(self);
        let total = dialog.rows(width).len();
        Some((total, crate::view::question_room(self, dialog, total), width))
    }

    /// Takes it that what the open question shows now is seen.
    pub(super) fn see_question(&mut self) {
        if self.is_too_small() {
            return;
        }
        let Some((total, room, width)) = self.question_size() else {
            return;
        };
        if let Some(Dialog::Approval(dialog)) = self.dialogs.front_mut() {
            dialog.seen.shown(total, room, width);
            dialog.too_soon &= !dialog.seen.all();
        }
    }

    /// Scrolls the open question by rows, and by views.
    pub(super) fn scroll_question(&mut self, rows: isize, views: isize) {
        let Some((total, room, _)) = self.question_size() else {
            return;
        };
        let by = rows + views * isize::try_from(room).unwrap_or(1);
        if let Some(Dialog::Approval(dialog)) = self.dialogs.front_mut() {
            dialog.seen.scroll(by, total, room);
        }
    }
}
