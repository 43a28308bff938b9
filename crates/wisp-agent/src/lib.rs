//! The loop of a conversation, and the protocol its faces speak.

pub mod protocol;
