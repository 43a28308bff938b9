//! Files as the tools read and change them, without the asking and auditing that stands around it.

pub mod edit;
pub mod place;
pub mod read;
pub mod text;
