//! Panels over the band: an output in full, or a text.

pub mod copying;
pub mod output;
pub mod pages;
pub mod text;

pub use copying::{Copying, Offered};
pub use output::{Asking, OutputPanel, Search};
pub use pages::{Goal, HELD_PAGES, Layout, Pages, Row};
pub use text::{About, TextPanel};

/// What is open over the band.
#[derive(Debug, Clone)]
pub enum Panel {
    /// An output, page by page.
    Output(Box<OutputPanel>),
    /// A text.
    Text(TextPanel),
}
