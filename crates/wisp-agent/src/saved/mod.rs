//! The saved conversation of the one that is going on: when it is written, how it is taken up again, and how it reads
//! as text. Where the files are and what they hold is `wisp_threads`.

pub mod export;
mod going_on;
mod keeping;
pub mod search;
mod text;

pub(crate) use going_on::shown;
pub use text::text;
pub use wisp_threads::*;
