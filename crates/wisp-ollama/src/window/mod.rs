//! The window: how large it is to be, how full it is, and whether the server cut what it was sent.
//!
//! All of it is arithmetic on values handed in; nothing here asks a server or looks at the machine. There are
//! two sets of rules: how `num_ctx` is sized from memory, and how cuts that a server does not report are found.

pub mod choose;
pub mod cut;
pub mod estimate;
mod hybrid;
pub mod shape;
pub mod size;

pub use choose::{Choice, Reason, choose, num_predict};
pub use cut::{Observation, SilentCut, silent_cut};
pub use estimate::{Ratio, Ratios};
pub use shape::{Cost, Layers};
pub use size::{FLOOR, Memory, Sized, size};

/// Tokens left free at the end of a window: one engine refuses a prompt of exactly the window's size.
pub const SLACK: u64 = 256;
