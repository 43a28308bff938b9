//! Servers of the Model Context Protocol that the user configured (`mcp.servers`): they are started in the background,
//! kept, and ended with wisp, and their tools stand in the registry beside wisp's own.
//!
//! Nothing a server says is believed or let through as it is. Its names, descriptions and schemas are cut and cleaned
//! before a model or a terminal sees them ([`Servers::tools`]); its results go the way of every tool's result; a call is
//! judged as one of unknown risk, whatever the server says of it; what it asks of its client (sampling, answers of the
//! user) is refused. One that does not answer, floods or dies costs its own tools and nothing else.

mod clean;
mod content;
mod definition;
mod flood;
mod http;
mod launch;
mod names;
mod server;
mod servers;
mod session;
mod tool;
mod use_tool;

pub use server::{Standing, Told};
pub use servers::{Around, Offer, Row, Servers};
pub use use_tool::USE_TOOL;
