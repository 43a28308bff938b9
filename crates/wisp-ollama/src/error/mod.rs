//! Everything that can go wrong, as one type that knows what to do about it.
//!
//! A person should meet none of Ollama's failures as a mystery: every text the server is known to answer with is a
//! row of [`refusal::ROWS`], and each error has a [`Error::hint`] for the person and a [`Error::remedy`] for the
//! program.

pub mod body;
pub mod refusal;
mod rows;

use std::time::Duration;

use thiserror::Error;
use wisp_amount::grouped;

use crate::host::HostError;
use crate::reply::Reply;
pub use refusal::{Refusal, Refused};

/// What a request to the server can end in.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is none.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The HTTP client could not be made (certificates, TLS).
    #[error("cannot prepare a connection to {host}: {detail}")]
    Client {
        /// The server's address.
        host: String,
        /// What the HTTP library said.
        detail: String,
    },
    /// No connection came about.
    #[error("cannot reach an ollama server at {host}: {detail}")]
    Unreachable {
        /// The server's address.
        host: String,
        /// The innermost reason, as the system words it.
        detail: String,
    },
    /// The connection broke before the answer, or within it.
    #[error("the connection to {host} was lost: {detail}")]
    Lost {
        /// The server's address.
        host: String,
        /// The innermost reason.
        detail: String,
    },
    /// Nothing arrived for as long as was allowed.
    #[error("{host} sent nothing for {} seconds", after.as_secs_f64())]
    Silent {
        /// The server's address.
        host: String,
        /// The silence that was allowed.
        after: Duration,
        /// Whether anything of the answer had arrived before.
        answering: bool,
    },
    /// Bytes arrived for as long as a silence may last, but no whole line.
    #[error("{host} sent no whole line for {} seconds", after.as_secs_f64())]
    Trickling {
        /// The server's address.
        host: String,
        /// The time that was allowed.
        after: Duration,
    },
    /// The answer took longer than a whole answer may.
    #[error("the answer of {host} had not ended after {} seconds", after.as_secs_f64())]
    Endless {
        /// The server's address.
        host: String,
        /// The time that was allowed.
        after: Duration,
    },
    /// The stream ended in good order but without its last line. Nothing may be executed from the reply.
    #[error("the reply ended before it was finished")]
    Unfinished {
        /// What had arrived.
        partial: Box<Reply>,
    },
    /// A download ended without the word that it succeeded.
    #[error("the download ended before it was finished")]
    PullUnfinished,
    /// A line beyond the bound, or a body beyond it.
    #[error("the answer is larger than {} bytes", grouped(*limit as u64))]
    TooLarge {
        /// The most bytes accepted.
        limit: usize,
    },
    /// A line or a body that is not what the API gives.
    #[error("the server's answer cannot be read ({detail}): {excerpt}")]
    Unreadable {
        /// What the parser said.
        detail: String,
        /// The beginning of the text, at most 200 characters.
        excerpt: String,
    },
    /// An answer that no Ollama gives: a web page, plain text.
    #[error("{host} answered {status} with something that is not ollama's: {excerpt}")]
    NotOllama {
        /// The server's address.
        host: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of the text, at most 200 characters.
        excerpt: String,
    },
    /// The server wants to be spoken to elsewhere. Never followed: a redirect would turn the request into another.
    #[error("{host} redirects to {location:?}")]
    Redirected {
        /// The server's address.
        host: String,
        /// Where to.
        location: String,
    },
    /// A server from before what wisp needs: calls that arrive while a reply is streamed, and a schema as `format`.
    #[error("the server at {host} is Ollama {version}, which is too old: 0.5.0 is the oldest that will do")]
    TooOld {
        /// The server's address.
        host: String,
        /// Its version.
        version: String,
    },
    /// The prompt does not fit the window, in any of the ways a server says it.
    #[error("the prompt does not fit the model's window: {text}")]
    ContextOverflow {
        /// Tokens of the prompt, where the server says them.
        prompt_tokens: Option<u64>,
        /// Tokens of the window, where the server says them.
        window: Option<u64>,
        /// The server's own words.
        text: String,
    },
    /// Any other refusal or failure the server reports.
    #[error("{0}")]
    Refused(Box<Refused>),
}

/// What a program may do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the person has to act.
    Stop,
    /// The same request again after a pause that grows (1, 2, 4, 8 s), at most five times.
    Wait,
    /// The same request once more after a pause.
    Once,
    /// A changed request (another seed, a corrective message); never the same again: it may fail alike or hang.
    Change,
    /// The same request without `think`.
    WithoutThink,
    /// The same request without `tools`.
    WithoutTools,
    /// A shorter prompt.
    Condense,
}

impl Error {
    /// What a program may do, provided that nothing was executed from the reply.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Unreachable { .. } | Self::Lost { .. } | Self::Unfinished { .. } | Self::PullUnfinished => {
                Remedy::Once
            }
            Self::ContextOverflow { .. } => Remedy::Condense,
            Self::NotOllama {
                status: 502..=504, ..
            } => Remedy::Wait,
            Self::Refused(refused) => refused.refusal.remedy(),
            _ => Remedy::Stop,
        }
    }

    /// What the person can do, as a sentence without a full stop.
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::Refused(refused) => return refused.hint(),
            Self::Host(_) => "give a host, host:port or a URL in OLLAMA_HOST",
            Self::Unreachable { host, .. } if host.starts_with("https") => {
                "check the address, the network and the server's certificate"
            }
            Self::Unreachable { .. } => "start it with `ollama serve`, or name another with OLLAMA_HOST",
            Self::Client { .. } => "check that this machine's certificates can be read",
            Self::Lost { .. } => "look at the server's log; a model too large for the memory ends it",
            Self::Silent { answering: true, .. } => {
                "a model writing a long tool call is silent meanwhile; allow a longer silence"
            }
            Self::Silent { answering: false, .. } => {
                "a model may be loading or another request may be before this one: see `ollama ps`"
            }
            Self::Trickling { .. } => "the server, or a proxy before it, holds its answer back; see its log",
            Self::Endless { .. } => {
                "a model may be in a loop; allow more with `wisp config set ollama.totalTimeoutSeconds`"
            }
            Self::Unfinished { .. } => {
                "models that repeat one token are stopped this way; ask again or choose another model"
            }
            Self::PullUnfinished => "ask again: what was downloaded is kept",
            Self::TooOld { .. } => "update Ollama: https://ollama.com/download",
            Self::NotOllama { .. } => "a proxy or another server answers there; check OLLAMA_HOST",
            Self::Redirected { location, .. } => return Some(format!("use {location} as the address")),
            Self::ContextOverflow { .. } => "make the conversation shorter or give the model a larger window",
            Self::TooLarge { .. } | Self::Unreadable { .. } => return None,
        };
        Some(fixed.to_owned())
    }

    /// The kind of a refusal, for errors that are one.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused(refused) => Some(refused.refusal),
            _ => None,
        }
    }

    /// An answer of status 400 or more, or an error line of a stream (`status` is then 200).
    pub fn from_body(host: &str, status: u16, bytes: &[u8]) -> Self {
        match body::read(bytes) {
            body::Body::Empty => Self::refused(status, body::Told::default()),
            body::Body::Json(told) => Self::refused(status, told),
            // A web page is a proxy's, whatever it says.
            body::Body::Text(text) if !text.starts_with('<') && refusal::known(&text).is_some() => {
                let text = excerpt(&text);
                Self::refused(
                    status,
                    body::Told {
                        text,
                        ..body::Told::default()
                    },
                )
            }
            body::Body::Text(text) => Self::NotOllama {
                host: host.to_owned(),
                status,
                excerpt: excerpt(&text),
            },
        }
    }

    fn refused(status: u16, told: body::Told) -> Self {
        let refused = Refused::new(status, told);
        if refused.refusal == Refusal::ContextOverflow {
            return Self::ContextOverflow {
                prompt_tokens: refused.prompt_tokens,
                window: refused.window,
                text: refused.text,
            };
        }
        Self::Refused(Box::new(refused))
    }

    pub(crate) fn unreadable(cause: &serde_json::Error, bytes: &[u8]) -> Self {
        Self::Unreadable {
            detail: cause.to_string(),
            excerpt: excerpt(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// The first 200 characters, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let flat = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    flat.take(200).collect()
}
