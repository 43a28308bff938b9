//! Condensing: making the context smaller, to a target, cheapest step first.
//!
//! In two halves. [`ThreadRecord::plan`] looks and changes nothing; [`ThreadRecord::condense`] applies a plan in one
//! go. Between them a model may be asked to distil what leaves, and the person may press Ctrl-C: a plan not applied
//! has changed nothing.

mod apply;
mod plan;
mod sizes;

use serde::{Deserialize, Serialize};

use crate::entry::{EntryId, Revision};
use crate::text::Text;

pub use apply::StalePlan;
pub use plan::Plan;

/// Why a condensation was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Context, prompt and headroom would pass the budget.
    Budget,
    /// The server refused a request as too long.
    Overflow,
    /// The person asked.
    Asked,
}

/// One step a condensation took, in the order taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Outputs of earlier turns that were still whole became references.
    Referenced(u32),
    /// Turns about to leave were distilled into facts. Taken by the facts layer, between plan and application.
    Distilled(u32),
    /// Turns that left were added to the running summary. Taken by the summary layer, there too.
    Summarised(u32),
    /// The oldest turns left.
    Dropped(u32),
    /// The earlier block was squeezed to [`crate::SQUEEZED_BYTES`].
    Squeezed,
    /// The last complete turn left too: with it the request did not fit the window at all.
    DroppedLast,
    /// Outputs of the turn under way, its latest apart, became references: without that the request did not fit.
    ReferencedInTurn(u32),
}

impl Step {
    /// The step in words, as the audit and the person read it.
    pub fn words(self) -> String {
        match self {
            Self::Referenced(outputs) => format!("referenced {outputs}"),
            Self::Distilled(count) => format!("distilled {}", turns(count)),
            Self::Summarised(count) => format!("summarised {}", turns(count)),
            Self::Dropped(count) => format!("dropped {}", turns(count)),
            Self::Squeezed => "squeezed earlier".to_owned(),
            Self::DroppedLast => "dropped the last turn".to_owned(),
            Self::ReferencedInTurn(outputs) => format!("referenced {outputs} of this turn"),
        }
    }
}

fn turns(count: u32) -> String {
    wisp_amount::counted(count.into(), "turn")
}

/// A condensation as it was applied; the fields of its `context.condensation` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condensation {
    /// Id of its event, which marks the entries it dropped.
    pub event: Text,
    /// From which revision on.
    pub revision: Revision,
    /// The turn during which it was applied.
    pub turn: u32,
    /// The oldest entry still sent one by one.
    pub kept_from: EntryId,
    /// Why.
    pub reason: Reason,
    /// Literal turns before.
    pub turns_before: u32,
    /// Literal turns after.
    pub turns_after: u32,
    /// The window, in tokens.
    pub window: u64,
    /// The goal, in tokens.
    pub goal: u64,
    /// Estimated context before, in tokens, the request itself left out.
    pub fill_before: u64,
    /// The same after.
    pub fill_after: u64,
    /// The headroom counted with, in tokens.
    pub headroom: u64,
    /// What was done.
    pub steps: Vec<Step>,
    /// Whether the context is still above the goal.
    pub floor: bool,
}
