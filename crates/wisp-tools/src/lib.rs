//! To be written.
pub mod arguments;
