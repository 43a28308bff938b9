//! The marks condensing works by: when it is due and how far it goes.

use serde::{Deserialize, Serialize};

use crate::estimate::{Estimator, exact, whole};
use crate::record::ThreadRecord;

/// Shares of the window, and how many turns the headroom averages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The share that context, prompt and headroom together must stay under. 0.85.
    pub budget: f64,
    /// The share a condensation brings the context down to (`context.target`, 0.1 to 0.8). 0.6.
    pub target: f64,
    /// The least share between target and budget; a target nearer the budget is used as `budget − margin`. 0.2.
    pub margin: f64,
    /// How many of the latest turns the headroom averages (`context.headroomTurns`, 0 to 64). 8.
    pub headroom_turns: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            budget: 0.85,
            target: 0.6,
            margin: 0.2,
            headroom_turns: 8,
        }
    }
}

impl Target {
    /// Tokens of the budget for a window.
    pub fn budget(&self, window: u64) -> u64 {
        whole(self.budget * exact(window))
    }

    /// The share condensing aims for, its distance from the budget kept.
    pub fn share(&self) -> f64 {
        self.target.min(self.budget - self.margin).max(0.0)
    }

    /// Tokens a condensation must bring the context to: the target, or less when prompt and headroom need more
    /// room under the budget.
    pub fn goal(&self, window: u64, prompt: u64, headroom: u64) -> u64 {
        let target = whole(self.share() * exact(window));
        target.min(
            self.budget(window)
                .saturating_sub(prompt)
                .saturating_sub(headroom),
        )
    }
}

/// What pressure is measured with.
#[derive(Debug, Clone, Copy)]
pub struct Gauge<'a> {
    /// The model's estimator.
    pub estimator: &'a Estimator,
    /// The model's window in tokens; `None` while unknown, and then nothing is ever due.
    pub window: Option<u64>,
    /// The marks.
    pub target: Target,
}

/// When pressure is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the first request of a turn.
    TurnStart,
    /// Before a later request of it: the turn has begun, so no headroom is asked for.
    ToolLoop,
    /// Between turns. The prompt to come is not guessed: what only it would have leave waits for it.
    Idle,
}

impl ThreadRecord {
    /// Tokens the next turn needs: the mean of the latest turns' calls, outputs as shown and replies.
    pub fn headroom(&self, gauge: &Gauge<'_>) -> u64 {
        gauge
            .estimator
            .tokens(self.mean_of_turns(gauge.target.headroom_turns, |turn| turn.grown))
    }

    /// The mean over the latest `count` turns that ended, 0 when there is none.
    fn mean_of_turns(&self, count: u32, of: impl Fn(&crate::turn::Turn) -> u64) -> u64 {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let sizes: Vec<u64> = self
            .turns
            .here()
            .iter()
            .rev()
            .filter(|turn| turn.ended.is_some())
            .take(count)
            .map(of)
            .collect();
        let turns = u64::try_from(sizes.len()).unwrap_or(u64::MAX).max(1);
        sizes.iter().sum::<u64>() / turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_at_8192() {
        let target = Target::default();
        assert_eq!(target.budget(8192), 6963);
        assert_eq!(target.goal(8192, 0, 0), 4915);
        assert_eq!(
            Target {
                target: 0.8,
                ..target
            }
            .goal(8192, 0, 0),
            5324
        );
        assert_eq!(
            Target {
                budget: 0.5,
                ..target
            }
            .goal(8192, 0, 0),
            2457
        );
        assert_eq!(target.goal(8192, 1000, 2000), 3963);
        assert_eq!(target.goal(8192, 8000, 2000), 0);
        assert_eq!(
            Target {
                target: 0.1,
                budget: 0.1,
                ..target
            }
            .goal(8192, 0, 0),
            0
        );
    }
}
