//! Files as the tools read and change them, without the asking and auditing that stands around it.

pub mod alike;
pub mod copied;
pub mod edit;
pub mod nearby;
pub mod place;
pub mod read;
pub mod seen;
pub mod text;
pub mod undo;
