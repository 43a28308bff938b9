//! What the person types: the text and its cursor, what was sent before, and pastes.

mod burst;
mod editor;
mod history;
mod layout;

pub use burst::{Burst, Bursts, FAST, SETTLE};
pub use editor::{Editor, LARGE_BYTES, LARGE_LINES, MAX_INPUT};
pub use history::{History, REMEMBERED, Sent};
pub use layout::InputLayout;
