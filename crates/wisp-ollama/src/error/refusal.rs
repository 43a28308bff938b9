//! What the server says no with: the kinds, and how its words are matched to them.

use std::fmt;

use super::Remedy;
use super::body::Told;
pub use super::rows::ROWS;

/// What a refusal or failure reported by the server means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The request was not understood: the client's own fault.
    Malformed,
    /// No model was named, or with a name that is none.
    ModelName,
    /// The model is not on this server.
    ModelNotFound,
    /// The model cannot be offered tools.
    NoTools,
    /// The model cannot think.
    NoThinking,
    /// The level of thinking is not one this model or this server knows.
    ThinkValue,
    /// The model is for embeddings only.
    NoChat,
    /// The prompt does not fit the window.
    ContextOverflow,
    /// A model that is not on this machine needs a signed-in account.
    SignIn,
    /// The operator has switched remote models off.
    CloudDisabled,
    /// A remote model's quota is used up.
    Quota,
    /// The remote service has too much to do.
    Overloaded,
    /// The remote service cannot be reached from the server.
    CloudUnreachable,
    /// The engine died before its first byte.
    RunnerStopped,
    /// The engine failed while it generated.
    RunnerFailed,
    /// The model did not load in time.
    LoadTimeout,
    /// The engine ended while it loaded.
    LoadFailed,
    /// Not enough memory.
    Memory,
    /// The model's file is of another time than the server.
    IncompatibleModel,
    /// The engine is not ready yet.
    NotReady,
    /// The model wrote a tool call that cannot be read.
    ToolCallSyntax,
    /// The model repeated one token until it was stopped.
    Repetition,
    /// The model's template refused the messages.
    Template,
    /// The reply's schema is not one.
    Format,
    /// An option of the wrong type.
    OptionType,
    /// The queue is full.
    Busy,
    /// The Host header was refused: 403 without a word.
    HostRejected,
    /// The server does not know the route: too old, or no Ollama.
    NoRoute,
    /// A proxy waited too long for the server.
    Gateway,
    /// A download's name or tag does not exist.
    PullUnknown,
    /// A download broke; asking again resumes it.
    PullBroken,
    /// No room for a download.
    DiskFull,
    /// The request was given up by the client.
    Canceled,
    /// Words that are not known.
    Other,
}

impl Refusal {
    /// What a program may do about it.
    pub fn remedy(self) -> Remedy {
        match self {
            Self::Busy | Self::Overloaded | Self::NotReady | Self::Gateway | Self::CloudUnreachable => {
                Remedy::Wait
            }
            Self::RunnerStopped | Self::RunnerFailed | Self::PullBroken => Remedy::Once,
            Self::ToolCallSyntax | Self::Repetition => Remedy::Change,
            Self::NoThinking | Self::ThinkValue => Remedy::WithoutThink,
            Self::NoTools => Remedy::WithoutTools,
            Self::ContextOverflow => Remedy::Condense,
            _ => Remedy::Stop,
        }
    }
}

/// How a text is recognised.
#[derive(Debug, Clone, Copy)]
pub enum Pattern {
    /// The text begins with this.
    Starts(&'static str),
    /// The text holds this.
    Has(&'static str),
    /// The text holds both.
    Both(&'static str, &'static str),
}

impl Pattern {
    fn matches(self, text: &str) -> bool {
        match self {
            Self::Starts(start) => text.starts_with(start),
            Self::Has(part) => text.contains(part),
            Self::Both(one, other) => text.contains(one) && text.contains(other),
        }
    }
}

/// One text the server is known to answer with.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// How it is recognised. The first row that matches is the one.
    pub pattern: Pattern,
    /// The status it comes with before the first line of a stream; later, and before 0.12.6, it is 200.
    pub status: u16,
    /// What it means.
    pub refusal: Refusal,
    /// What the person can do; empty when nothing.
    pub hint: &'static str,
}

/// The row a text belongs to, looked for in the words and in the engine's own name for the error.
pub fn known(text: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.pattern.matches(text))
}

/// What the server refused with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// What it means.
    pub refusal: Refusal,
    /// The HTTP status; 200 for an error that came as a line of a stream.
    pub status: u16,
    /// The server's own words, unwrapped; empty when it said nothing.
    pub text: String,
    /// Where to sign in. To be shown, never to be opened unasked.
    pub signin_url: Option<String>,
    /// Tokens of the prompt, where they were told.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the window, where they were told.
    pub window: Option<u64>,
    hint: &'static str,
}

impl Refused {
    /// Recognises what was told with a status.
    pub fn new(status: u16, told: Told) -> Self {
        let row = known(&told.text).or_else(|| told.kind.as_deref().and_then(known));
        let (refusal, hint) = match row {
            Some(row) => (row.refusal, row.hint),
            None => by_status(status, &told),
        };
        Self {
            refusal,
            status,
            text: shortened(told.text),
            signin_url: told.signin_url,
            prompt_tokens: told.prompt_tokens,
            window: told.window,
            hint,
        }
    }

    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        match &self.signin_url {
            Some(url) => Some(format!("the model is not on this machine; sign in at {url}")),
            None => Some(self.hint.to_owned()).filter(|hint| !hint.is_empty()),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, self.text.as_str()) {
            (status, "") => write!(f, "ollama answered {status} without a word"),
            (200, text) => write!(f, "ollama reported: {text}"),
            (status, text) => write!(f, "ollama answered {status}: {text}"),
        }
    }
}

/// At most about 4,000 bytes: a failed tool call is repeated whole by the server, and the reason stands at its end.
fn shortened(text: String) -> String {
    const HEAD: usize = 3000;
    const TAIL: usize = 1000;
    if text.len() <= HEAD + TAIL {
        return text;
    }
    let head = text.floor_char_boundary(HEAD);
    let tail = text.ceil_char_boundary(text.len() - TAIL);
    format!("{} […] {}", &text[..head], &text[tail..])
}

/// What unknown words mean by their status alone.
fn by_status(status: u16, told: &Told) -> (Refusal, &'static str) {
    match status {
        401 => (
            Refusal::SignIn,
            "sign in with `ollama signin`, or set OLLAMA_API_KEY for ollama.com",
        ),
        403 if told.text.is_empty() => (
            Refusal::HostRejected,
            "the server refuses this Host header: reach it as localhost, by its IP address, or let the tunnel rewrite Host",
        ),
        404 => (
            Refusal::NoRoute,
            "the server is too old for this, or it is no ollama",
        ),
        405 => (Refusal::NoRoute, "something between changes the request's method"),
        429 => (
            Refusal::Quota,
            "wait until the quota is renewed, or choose a local model",
        ),
        502 | 504 => (
            Refusal::Gateway,
            "a proxy gave up waiting: load the model first, or speak to the server directly",
        ),
        503 => (
            Refusal::Busy,
            "the server has too much to do; try again in a moment",
        ),
        400 => (Refusal::Malformed, ""),
        _ => (Refusal::Other, "look at the server's log"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Refused};
    use crate::error::body::Told;

    fn refused(status: u16, text: &str) -> Refused {
        let text = text.to_owned();
        Refused::new(
            status,
            Told {
                text,
                ..Told::default()
            },
        )
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let whole = format!("error parsing tool call: raw='{}', err=bad", "é".repeat(9000));
        let found = refused(500, &whole);
        assert_eq!(found.refusal, Refusal::ToolCallSyntax);
        assert!(
            found.text.len() <= 4010 && found.text.ends_with("', err=bad"),
            "{}",
            found.text.len()
        );
        let exactly = "x".repeat(4000);
        assert_eq!(refused(500, &exactly).text, exactly);
    }

    #[test]
    fn unknown_words_are_judged_by_their_status() {
        for (status, text, refusal) in [
            (401, "", Refusal::SignIn),
            (403, "", Refusal::HostRejected),
            (403, "no", Refusal::Other),
            (404, "what", Refusal::NoRoute),
            (429, "slow down", Refusal::Quota),
            (502, "", Refusal::Gateway),
            (503, "", Refusal::Busy),
            (400, "new words", Refusal::Malformed),
            (500, "new words", Refusal::Other),
            (200, "new words", Refusal::Other),
        ] {
            assert_eq!(refused(status, text).refusal, refusal, "{status} {text}");
        }
    }
}
