//! Condensing: making the context smaller, to a target, cheapest step first.

use serde::{Deserialize, Serialize};

use crate::entry::{EntryId, Revision};
use crate::text::Text;

/// A condensation as it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condensation {
    /// Id of its `context.condensation` event.
    pub event: Text,
    /// From which revision on.
    pub revision: Revision,
    /// The turn during which it was applied.
    pub turn: u32,
    /// The oldest entry still sent one by one.
    pub kept_from: EntryId,
}
