//! The loop of a conversation, and the protocol its faces speak.
//!
//! A face prepares the [`ground`], [`start`]s an engine on it and holds a [`Handle`]: commands go in, events come
//! out ([`protocol`]). Everything else (which model, what runs, what is kept, what the model sees) happens behind
//! the handle, in one task that owns the [`Conversation`].
//!
//! ```
//! use wisp_agent::protocol::{Command, Event};
//! let line = r#"{"type":"message","text":"What is in this folder?"}"#;
//! let command: Command = serde_json::from_str(line).unwrap();
//! assert_eq!(command, Command::Message { text: "What is in this folder?".into() });
//! let event = serde_json::to_string(&Event::Delta { text: "Let me look.".into() }).unwrap();
//! assert_eq!(event, r#"{"type":"delta","text":"Let me look."}"#);
//! ```

mod agents_md;
#[cfg(feature = "args")]
pub mod args;
mod background;
mod behind;
mod cited;
mod condense;
mod conversation;
mod engine;
mod events;
#[cfg(feature = "mcp")]
mod foreign;
#[cfg(not(feature = "mcp"))]
#[path = "foreign_none.rs"]
mod foreign;
pub mod form;
mod git;
mod guided;
mod history;
mod honest;
mod hooks;
mod images;
mod instructions;
pub mod jobs;
mod looking;
mod mentions;
pub mod model;
pub mod offer;
mod open;
mod piped;
mod places;
mod printed;
mod receipt;
pub mod saved;
mod secrets;
#[cfg(feature = "mcp")]
pub mod servers_shown;
mod slash;
mod turn;
mod typed;
pub mod views;

pub use conversation::{Conversation, Shown};
pub use engine::desk::reach;
pub use engine::{Handle, Launch, start, start_with};
pub use events::Events;
pub use open::{
    Ground, OpenError, SYSTEM_PROMPT, Selection, Setup, audit_key, client, confining, ground, sandbox,
};
pub use secrets::{MaskWhen, Masking, Secrets, far};
pub use slash::permissions::row as approval_row;
pub use turn::{MAX_STEPS, TurnError};
pub use wisp_protocol as protocol;
