//! Ollama's HTTP API, for a client that wants to be told the truth.
//!
//! Ollama is easy to call and easy to be misled by. It drops the front of a prompt that does not fit and answers 200;
//! it sends an error as one more line of a good stream; it ends a stream in good order without having finished; it
//! wraps an engine's refusal in JSON in JSON. This library speaks the native API and turns each of these into a
//! type:
//!
//! - [`Client`] has the routes. [`ChatRequest::body`] turns a request into bytes that never vary, since the server
//!   reuses its prompt cache only for an unchanged front.
//! - [`ChatStream`] gives a reply line by line. Only a line with `done` makes a reply; dropping the stream cancels.
//! - [`Error`] is everything that can go wrong, each with a hint for the person and a remedy for the program; every
//!   text a server is known to answer with is a row of [`error::refusal::ROWS`].
//! - [`ServerVersion`] says what this server can do and what must be kept in mind about it.
//! - [`window`] chooses how large the window is to be, learns how many tokens some bytes are, and finds the cuts a
//!   server does not report; [`thinking`] and [`recover`] put right what a server's parser left in the text, and
//!   [`unread`] notices a call that is not taken for one.
//! - [`adapt`] says what of a wish this server and this model can be sent.
//! - [`Host`] reads `OLLAMA_HOST` as Ollama does.
//!
//! ```
//! use wisp_ollama::{ChatRequest, Client, Error, Host, Message};
//!
//! async fn ask(host: &str) -> Result<String, Error> {
//!     let client = Client::new(Host::parse(host)?)?;
//!     let mut request = ChatRequest::new("qwen3:8b", vec![Message::user("Why is the sky blue?")]);
//!     request.options.num_ctx = Some(8192);
//!     request.truncate = Some(false);
//!     let mut stream = client.chat(&request).await?;
//!     while let Some(line) = stream.next().await {
//!         let _shown_at_once = line?.content;
//!     }
//!     Ok(stream.reply().content.clone())
//! }
//! ```
//!
//! Nothing but the given server is contacted: no proxy for addresses of one's own network, no redirect followed, and
//! the key of `OLLAMA_API_KEY` goes to `https://ollama.com` only.

pub mod adapt;
mod calls;
mod client;
pub mod error;
pub mod host;
mod lenient;
pub mod message;
pub mod models;
pub mod ndjson;
mod prose;
pub mod pull;
pub mod recover;
mod repair;
pub mod reply;
pub mod request;
mod schema;
pub mod show;
pub mod stream;
pub mod thinking;
mod tls;
pub mod unread;
pub mod version;
pub mod window;

pub use client::{Client, KEY_HOST, MAX_BODY_BYTES, MAX_ERROR_BYTES, Timeouts};
pub use error::{Error, Refusal, Refused, Remedy};
pub use host::{Host, HostError};
pub use message::{Fault, Message, Role, ToolCall};
pub use models::{Details, Loaded, Model, host_name, is_cloud, same_model};
pub use pull::{PullLine, PullProgress, PullStream};
pub use reply::{ChatLine, Done, DoneReason, Metrics, Reply};
pub use request::{ChatRequest, KeepAlive, Options, Think, ToolDefinition, Tools};
pub use show::{ModelInfo, PerLayer, Show};
pub use stream::{ChatStream, MAX_REPLY_BYTES, read_line};
pub use version::{Era, Feature, Quirk, ServerVersion};
