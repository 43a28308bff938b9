//! A question of plain chat as rows: what would run first, then where, why and what it would change, two cells to the
//! right. What is higher than the window is shown a page at a time, because a yes counts only once all of it was shown.

use wisp_agent::protocol::Approval;
use wisp_term::question::{self, Asked, Row};
use wisp_term::{Printer, Role, diff};

/// What rows after the command begin with.
const INDENT: &str = "  ";
/// Rows of a window that are none of the question's: the keys', and the one above a page.
const AROUND: usize = 2;

/// A question being shown.
pub struct Pages {
    rows: Vec<Row>,
    shown: usize,
    height: usize,
}

impl Pages {
    /// The rows of a question in a window of some columns and rows.
    pub fn new(approval: &Approval, (columns, height): (usize, usize)) -> Self {
        let role = role(approval);
        let command = format!("{}: {}", approval.level, approval.command);
        let width = columns.saturating_sub(INDENT.len() + 1).max(2);
        let head = Asked {
            command: &command,
            ..Asked::default()
        };
        let difference = approval.diff.as_deref().map(diff::of_unified).unwrap_or_default();
        let unless_same = |text| if text == approval.command { "" } else { text };
        let rest = Asked {
            command: "",
            line: unless_same(approval.line.as_str()),
            directory: &approval.directory,
            reasons: &approval.reasons,
            difference: &difference,
            pattern: unless_same(approval.pattern.as_str()),
        };
        let mut rows = question::rows(&head, width + INDENT.len());
        for span in rows.iter_mut().flatten() {
            span.0 = role;
        }
        rows.extend(question::rows(&rest, width).into_iter().map(|mut row| {
            row.insert(0, (Role::Text, INDENT.to_owned()));
            row
        }));
        Self {
            rows,
            shown: 0,
            height: height.saturating_sub(AROUND).max(1),
        }
    }

    /// Prints the next rows: a page of them, or so many.
    pub fn show(&mut self, rows: Option<usize>, err: &mut Printer) {
        let until = self.rows.len().min(self.shown + rows.unwrap_or(self.height));
        for row in &self.rows[self.shown..until] {
            for (role, text) in row {
                let _ = err.painted(*role, text);
            }
            let _ = err.line("");
        }
        self.shown = until;
    }

    /// Whether all of it was shown.
    pub fn all_shown(&self) -> bool {
        self.shown == self.rows.len()
    }

    /// Whether it took more than one page.
    pub fn are_several(&self) -> bool {
        self.rows.len() > self.height
    }

    /// `12 of 84 rows`.
    pub fn count(&self) -> String {
        format!("{} of {} rows", self.shown, self.rows.len())
    }
}

/// The role of a question's level.
pub fn role(approval: &Approval) -> Role {
    if approval.level == "dangerous" {
        Role::Danger
    } else {
        Role::Warn
    }
}
