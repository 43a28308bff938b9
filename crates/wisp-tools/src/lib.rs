//! To be written.
pub mod arguments;
pub mod files;
