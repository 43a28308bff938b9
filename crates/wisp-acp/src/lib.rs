//! wisp inside editors: the Agent Client Protocol over standard input and output.
//!
//! A session is a conversation, run by the engine that every front end has. What the engine says becomes updates of the
//! session, its questions become permission requests with wisp's own scopes, and the editor's prompts become lines, so that
//! slash commands work as in a chat. Nothing but the protocol is written to standard output.

mod prompt;
mod serve;
mod session;
mod updates;

pub use serve::{Options, serve};
