//! What waits for the person's answer, one at a time, in the input's place.

use std::time::Duration;

use super::{ApprovalDialog, ChoiceDialog};

/// How long the keyboard has to be silent before a dialog takes keys: a word being typed must not answer a question
/// that just appeared.
pub const GRACE: Duration = Duration::from_millis(500);

/// A question.
#[derive(Debug, Clone)]
pub enum Dialog {
    /// May it run?
    Approval(ApprovalDialog),
    /// Which one?
    Choice(ChoiceDialog),
}

impl Dialog {
    /// Since when the keyboard has been silent, counted from its appearance.
    pub fn silent_since(&mut self) -> &mut Duration {
        match self {
            Self::Approval(dialog) => &mut dialog.silent_since,
            Self::Choice(dialog) => &mut dialog.silent_since,
        }
    }

    /// The id that goes back with the answer.
    pub fn id(&self) -> &str {
        match self {
            Self::Approval(dialog) => &dialog.approval.id,
            Self::Choice(dialog) => &dialog.choice.id,
        }
    }
}
