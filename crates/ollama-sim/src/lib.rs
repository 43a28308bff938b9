//! # A scripted Ollama
//!
//! `ollama-sim` is a small HTTP server that answers as Ollama does, for programs that talk to Ollama and want to
//! know whether they do it right. It has no language model. What a "model" says is written down beforehand, in a
//! [`Script`]; everything around it is worked out from what the client really sent:
//!
//! - a request is decoded as strictly as Go decodes it, and refused with the server's own words;
//! - the prompt is rendered from messages, tools and system text, counted in [`tokens`], and cut as the imitated
//!   release cuts it, so a script that was promised a fact does not see it when the client let it be cut;
//! - counts, durations, reuse of the last prompt, loads and queues follow from that and can be set by nobody;
//! - the stream is cut into chunks at every awkward place on demand, and broken off wherever a test likes.
//!
//! A script is also a test: an unexpected request is answered with status 500 and remembered, a step nobody asked
//! for is remembered too, and [`Server::finish`] says so.
//!
//! ```
//! use std::io::{Read, Write};
//! use ollama_sim::{Match, Reply, Script, Server};
//!
//! let script = Script::new().when([Match::LastContains("Say hi".into())], Reply::text("Hello there."));
//! let server = Server::scripted(script)?;
//!
//! let body = r#"{"model":"sim","stream":false,"messages":[{"role":"user","content":"Say hi."}]}"#;
//! let mut connection = std::net::TcpStream::connect(("127.0.0.1", server.port()))?;
//! write!(
//!     connection,
//!     "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
//!     body.len()
//! )?;
//! let mut answer = String::new();
//! connection.read_to_string(&mut answer)?;
//! assert!(answer.contains(r#""content":"Hello there.""#));
//! assert!(server.finish().is_ok());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The releases it imitates are the rows of [`profile`]. The same server with rules instead of a script is the
//! [`demo`] model. What it does not imitate stands in the crate's README.

mod answer;
mod chunker;
mod clock;
mod decode;
pub mod demo;
mod generate;
mod gojson;
mod http;
mod model;
pub mod profile;
mod record;
mod render;
mod routes;
mod schedule;
mod script;
mod script_file;
mod seen;
mod server;
pub mod tokens;
mod window;
mod wire;

pub use chunker::{Chunker, Dressing};
pub use clock::Clock;
pub use decode::{Call, Message};
pub use model::{Capability, Model, Parser, Remote};
pub use profile::Profile;
pub use record::{ChatAccount, Ended, Received};
pub use schedule::Counters;
pub use script::{CutAt, End, Event, Foreign, Loss, Match, Reply, Respond, Script, Step};
pub use script_file::{ScriptFile, ScriptFileError};
pub use seen::Seen;
pub use server::{Config, ScriptNotKept, Server};

/// A name with its tag; `latest` when none is written.
pub(crate) fn full_name(name: &str) -> String {
    decode::ModelName::read(name).map_or_else(|_| name.to_owned(), |name| name.full())
}

/// Whether two names are the same model: tags filled in, case ignored.
pub(crate) fn same_model(a: &str, b: &str) -> bool {
    full_name(a).eq_ignore_ascii_case(&full_name(b))
}
