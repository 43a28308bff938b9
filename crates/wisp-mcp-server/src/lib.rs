//! wisp as a server of the Model Context Protocol: an agent hands a piece of work to a model that runs on this machine.
//!
//! The only way to wisp's tools is `respond`: the model uses them, each use judged, asked about, bounded and recorded as in
//! a chat, and the caller gets the reply with an account of what ran. Each thread is a conversation of its own with an audit
//! session of its own. Callers wait in one line for the model. Nothing but the protocol is written to standard output.

mod fold;
mod pages;
mod queue;
mod resources;
mod respond;
mod server;
mod thread;
mod threads;

pub use server::serve;
pub use threads::Options;
