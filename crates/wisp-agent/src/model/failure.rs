//! Why no usable reply came, and what may be done about it. The server's own errors, and those a reply is judged to
//! be although the server calls it a success.

use std::time::Duration;

use wisp_ollama::{DoneReason, Error, Remedy, Reply};

/// Why an exchange came to nothing. Nothing may be executed from what had arrived.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The server, or the way to it.
    #[error(transparent)]
    Server(#[from] Error),
    /// The model wrote the same thing over and over.
    #[error("the model repeated itself without end and was stopped")]
    Repeats,
    /// The server answered a chat as if it had been asked to load or unload the model.
    #[error("the server {0} the model and gave no reply")]
    NoReply(&'static str),
    /// Nothing came for a request that some servers never answer.
    #[error("nothing came for {} s: this server may hang after a tool call it could not read", .0.as_secs_f32())]
    Hangs(Duration),
}

impl Failure {
    /// What the program may do.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Server(error) => error.remedy(),
            Self::Repeats | Self::Hangs(_) => Remedy::Change,
            Self::NoReply(_) => Remedy::Once,
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::Server(error) => return error.hint(),
            Self::Repeats => "ask in other words, or choose another model with /model",
            Self::NoReply(_) => {
                "another program may be loading and unloading models on this server: see `ollama ps`"
            }
            Self::Hangs(_) => "unload the model with `ollama stop`, or update Ollama to 0.32.15 or later",
        };
        Some(fixed.to_owned())
    }
}

/// A reply to a real chat that only says that the model was loaded or unloaded is none.
pub fn not_a_reply(reply: &Reply) -> Option<Failure> {
    match reply.done.as_ref().map(|done| &done.reason) {
        Some(DoneReason::Load) => Some(Failure::NoReply("only loaded")),
        Some(DoneReason::Unload) => Some(Failure::NoReply("unloaded")),
        _ => None,
    }
}
