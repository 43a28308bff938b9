//! How much of one tool result a model may be shown: a share of its window, read at each call.
//!
//! The window is a property of the model, and a conversation can learn it late (at the first overflow, for a
//! runtime that does not state it). So the budget is not a number handed around but one shared cell: the agent
//! writes the window, every tool reads the budget when it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The least a result may have, in bytes: what an 8,192-token window gets, and a window nobody knows.
pub const FLOOR: usize = 4 * 1024;

/// The most a result may have, in bytes, reached at 131,072 tokens.
pub const CEILING: usize = 64 * 1024;

/// The least a result may have when the server reads slowly, in bytes: the note on what is held back and a few lines.
pub const LEAST: usize = 1024;

/// A conversation's tool-output budget: one for all of its tools. Clones share the window.
#[derive(Debug, Clone, Default)]
pub struct ToolBudget {
    window: Arc<AtomicU64>,
    /// What the server reads in the time that is set, in bytes; 0 is unknown.
    read: Arc<AtomicU64>,
    command_override: Option<usize>,
}

impl ToolBudget {
    /// A budget for a window not yet known, which is the floor.
    pub fn new() -> Self {
        Self::default()
    }

    /// A budget for a window of `tokens`; 0 is unknown.
    pub fn for_window(tokens: u64) -> Self {
        let budget = Self::new();
        budget.set_window(tokens);
        budget
    }

    /// Sets what `run_command` alone may have, in bytes (the setting `commandMaxOutputBytes`); `None` is the budget.
    #[must_use]
    pub fn with_command_override(mut self, bytes: Option<usize>) -> Self {
        self.command_override = bytes;
        self
    }

    /// Writes the window, in tokens, for every clone; 0 is unknown.
    pub fn set_window(&self, tokens: u64) {
        self.window.store(tokens, Ordering::Relaxed);
    }

    /// Writes what the server reads in the time one result may cost, in bytes, for every clone; `None` is unknown. It
    /// only ever makes the budget smaller, and not below [`LEAST`].
    pub fn set_read(&self, bytes: Option<u64>) {
        self.read
            .store(bytes.map_or(0, |bytes| bytes.max(1)), Ordering::Relaxed);
    }

    /// The window in tokens, when it is known.
    pub fn window(&self) -> Option<u64> {
        Some(self.window.load(Ordering::Relaxed)).filter(|tokens| *tokens > 0)
    }

    /// The most bytes one tool result may have now: `min(64 KiB, max(4 KiB, window / 8 × 4))`, and what the server reads in
    /// the time that is set when that is less.
    pub fn bytes(&self) -> usize {
        let share = self.window.load(Ordering::Relaxed) / 8 * 4;
        let share = usize::try_from(share).unwrap_or(CEILING).clamp(FLOOR, CEILING);
        match self.read.load(Ordering::Relaxed) {
            0 => share,
            read => share.min(usize::try_from(read).unwrap_or(CEILING).max(LEAST)),
        }
    }

    /// The most bytes a `run_command` result may have now: the person's own setting, or [`ToolBudget::bytes`].
    pub fn command_bytes(&self) -> usize {
        self.command_override.unwrap_or_else(|| self.bytes())
    }

    /// The most bytes the results of one reply may have together: twice one result's.
    pub fn batch_bytes(&self) -> usize {
        self.bytes() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_an_eighth_of_the_window_between_its_bounds() {
        let table = [
            (0, 4096),
            (1, 4096),
            (8_192, 4096),
            (8_200, 4100),
            (53_248, 26_624),
            (131_071, 65_532),
            (131_072, 65_536),
            (1_000_000, 65_536),
            (u64::MAX, 65_536),
        ];
        for (window, bytes) in table {
            assert_eq!(ToolBudget::for_window(window).bytes(), bytes, "window {window}");
        }
        assert_eq!(ToolBudget::new().bytes(), 4096);
        assert_eq!(ToolBudget::new().window(), None);
    }

    #[test]
    fn a_slow_server_makes_it_smaller_and_a_fast_one_changes_nothing() {
        let budget = ToolBudget::for_window(53_248);
        for (read, bytes) in [
            (None, 26_624),
            (Some(26_624), 26_624),
            (Some(1_000_000), 26_624),
            (Some(2_400), 2_400),
            (Some(1_024), 1_024),
            (Some(100), 1_024),
            (Some(0), 1_024),
        ] {
            budget.clone().set_read(read);
            assert_eq!(budget.bytes(), bytes, "{read:?}");
        }
    }

    #[test]
    fn clones_share_the_window() {
        let budget = ToolBudget::new();
        let tool = budget.clone();
        budget.set_window(53_248);
        assert_eq!(tool.bytes(), 26_624);
        assert_eq!(tool.batch_bytes(), 53_248);
        assert_eq!(tool.window(), Some(53_248));
    }

    #[test]
    fn the_commands_own_setting_replaces_the_budget_for_commands_alone() {
        let budget = ToolBudget::for_window(53_248).with_command_override(Some(1_000));
        assert_eq!(budget.command_bytes(), 1_000);
        assert_eq!(budget.bytes(), 26_624);
        assert_eq!(ToolBudget::for_window(53_248).command_bytes(), 26_624);
    }
}
