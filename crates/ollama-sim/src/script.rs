//! Scripts: what a reply is, and which request it answers.
//!
//! A step says which request it expects and what the model then generates. Steps are taken in order. A request
//! that fits no step is answered with status 500, naming it, and is remembered; so are steps nobody asked for.
//! Both fail [`Server::finish`](crate::Server::finish). The rules of honesty are enforced here: a script cannot
//! state counts or a success's status, and a step that answers a tool's result must be guarded by that result.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::seen::Seen;

/// What a request must be like for a step to answer it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The prompt that was left contains this text.
    PromptContains(String),
    /// The prompt that was left does not contain this text.
    PromptLacks(String),
    /// The last message has this role.
    LastRole(String),
    /// The last message, as far as it was not cut, contains this text.
    LastContains(String),
    /// The last messages are tool results and one contains this text.
    ToolResultContains(String),
    /// This tool was offered.
    ToolOffered(String),
    /// This tool was not offered.
    ToolNotOffered(String),
    /// No tools were offered.
    NoTools,
    /// The prompt has at least this many tokens.
    TokensAtLeast(u64),
    /// The prompt has at most this many tokens.
    TokensAtMost(u64),
    /// The request is for this model.
    Model(String),
    /// The value at a JSON pointer of the request, exactly.
    Field(String, Value),
    /// The request has nothing at this JSON pointer.
    FieldAbsent(String),
    /// This many messages were left.
    Messages(usize),
}

impl Match {
    /// Whether the request is so.
    pub fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::PromptContains(text) => seen.prompt.contains(text),
            Self::PromptLacks(text) => !seen.prompt.contains(text),
            Self::LastRole(role) => seen.last().is_some_and(|m| m.role == *role),
            Self::LastContains(text) => {
                seen.last().is_some_and(|m| m.content.contains(text)) && seen.prompt.contains(text)
            }
            Self::ToolResultContains(text) => {
                let results = seen.messages.iter().rev().take_while(|m| m.role == "tool");
                results.into_iter().any(|m| m.content.contains(text)) && seen.prompt.contains(text)
            }
            Self::ToolOffered(name) => seen.offers(name),
            Self::ToolNotOffered(name) => !seen.offers(name),
            Self::NoTools => seen.tools.is_empty(),
            Self::TokensAtLeast(n) => seen.prompt_tokens >= *n,
            Self::TokensAtMost(n) => seen.prompt_tokens <= *n,
            Self::Model(name) => crate::same_model(&seen.model, name),
            Self::Field(pointer, value) => seen.request.pointer(pointer) == Some(value),
            Self::FieldAbsent(pointer) => seen.request.pointer(pointer).is_none(),
            Self::Messages(n) => seen.messages.len() == *n,
        }
    }

    /// Whether it can only hold if the client sent a tool's result back.
    fn guards_a_result(&self) -> bool {
        matches!(
            self,
            Self::PromptContains(_) | Self::LastContains(_) | Self::ToolResultContains(_)
        )
    }
}

/// One thing a model does while it replies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Thinks this text.
    Thinking(String),
    /// Writes this text, a token a line.
    Content(String),
    /// Writes this text in one line.
    Line(String),
    /// A line with empty content.
    Empty,
    /// Calls a tool.
    Call {
        /// The tool.
        name: String,
        /// Its arguments.
        #[serde(default)]
        arguments: Map<String, Value>,
    },
    /// Writes this text, which goes through the server's parser: a tag becomes a call, an unknown tool is
    /// swallowed, a malformed call fails as the model's parser fails.
    Raw(String),
    /// Is silent for so many milliseconds of the server's clock.
    SilenceMs(u64),
    /// Fails with this text: a status before the first line (by release), a line after it.
    Error(String),
    /// Fails with an object of this key and text, as some releases of gpt-oss did.
    ErrorKey {
        /// The key, such as `error parsing tool call`.
        key: String,
        /// The text.
        text: String,
    },
    /// The runner dies: its own texts, before and after the first line, and the model is unloaded.
    Crash,
    /// These bytes on the wire, as they are.
    Bytes(String),
    /// Silent for ever: nothing more comes, the connection stays open.
    Stall,
    /// The stream ends cleanly without its last line.
    EofWithoutDone,
}

/// How a reply ends when nothing in it ended it before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The model was done.
    #[default]
    Stop,
    /// The model was cut off, as if `num_predict` had been reached.
    Length,
    /// The last line without a `done_reason`.
    NoReason,
    /// The last line twice.
    DoneTwice,
}

/// How a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Closed in order.
    Fin,
    /// Reset.
    Reset,
    /// Left open, silent.
    Stall,
}

/// Where a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutAt {
    /// Before the status line.
    BeforeHeaders,
    /// After the headers, before the body.
    AfterHeaders,
    /// After so many bytes of the body.
    Byte(usize),
    /// After so many whole lines of the body.
    Line(usize),
    /// In the middle of line `n`, counted from 0.
    MidLine(usize),
}

/// An answer that is not Ollama's: a proxy's page, a plain-text error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// The status; must not be a success.
    pub status: u16,
    /// The content type, when there is one.
    #[serde(default)]
    pub content_type: Option<String>,
    /// The body.
    #[serde(default)]
    pub body: String,
}

/// What the model does in answer to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it does, in order.
    pub events: Vec<Event>,
    /// How it ends.
    pub end: End,
    /// Where and how the connection is lost, when it is.
    pub cut: Option<(CutAt, Loss)>,
    /// Something else than the server answers.
    pub foreign: Option<Foreign>,
    /// Bytes written after the last line.
    pub after_done: String,
}

impl Reply {
    /// A reply that does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reply of this text.
    pub fn text(text: &str) -> Self {
        Self::new().content(text)
    }

    /// A reply of one call. Arguments that are not an object become an empty one.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new().and_call(name, arguments)
    }

    /// And then this event.
    #[must_use]
    pub fn event(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// And then this text.
    #[must_use]
    pub fn content(self, text: &str) -> Self {
        self.event(Event::Content(text.to_owned()))
    }

    /// And then this thought.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.event(Event::Thinking(text.to_owned()))
    }

    /// And then this call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        self.event(Event::Call {
            name: name.to_owned(),
            arguments,
        })
    }

    /// And then silence, in milliseconds of the server's clock.
    #[must_use]
    pub fn silence_ms(self, ms: u64) -> Self {
        self.event(Event::SilenceMs(ms))
    }

    /// And then this error.
    #[must_use]
    pub fn error(self, text: &str) -> Self {
        self.event(Event::Error(text.to_owned()))
    }

    /// Ending so.
    #[must_use]
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// The connection lost there, so.
    #[must_use]
    pub fn cut(mut self, at: CutAt, how: Loss) -> Self {
        self.cut = Some((at, how));
        self
    }

    /// Answered by something else than the server.
    #[must_use]
    pub fn foreign(status: u16, content_type: Option<&str>, body: &str) -> Self {
        let content_type = content_type.map(str::to_owned);
        Self {
            foreign: Some(Foreign {
                status,
                content_type,
                body: body.to_owned(),
            }),
            ..Self::default()
        }
    }
}

/// One expected request and its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What the request must be like.
    pub expect: Vec<Match>,
    /// The answer.
    pub reply: Reply,
    /// May come at any time, out of order.
    pub whenever: bool,
    /// May come any number of times, also none.
    pub repeat: bool,
}

impl Step {
    /// A step for any request.
    pub fn new(reply: Reply) -> Self {
        Self {
            reply,
            ..Self::default()
        }
    }

    /// A step for a request like this.
    pub fn when(expect: impl IntoIterator<Item = Match>, reply: Reply) -> Self {
        Self {
            expect: expect.into_iter().collect(),
            reply,
            ..Self::default()
        }
    }

    /// The same step, taken whenever it fits.
    #[must_use]
    pub fn whenever(mut self) -> Self {
        self.whenever = true;
        self
    }

    /// The same step, taken as often as it fits, also never.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.whenever = true;
        self.repeat = true;
        self
    }

    fn refuses(&self, seen: &Seen) -> Option<&Match> {
        self.expect.iter().find(|m| !m.holds(seen))
    }

    fn unguarded(&self, seen: &Seen) -> bool {
        seen.last().is_some_and(|m| m.role == "tool") && !self.expect.iter().any(Match::guards_a_result)
    }
}

/// Who answers: a script, the demo model, or a test's own rules.
pub trait Respond: Send {
    /// The answer to one request, or why there is none. The reason fails the test.
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String>;

    /// What was expected and did not come, in words.
    fn left_over(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<F: FnMut(&Seen) -> Reply + Send> Respond for F {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        Ok(self(seen))
    }
}

/// A list of steps.
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
    taken: Vec<bool>,
}

impl Script {
    /// An empty script, under which every request is unexpected.
    pub fn new() -> Self {
        Self::default()
    }

    /// And then this step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// And then this reply to any request.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        self.step(Step::new(reply))
    }

    /// And then this reply to a request like this.
    #[must_use]
    pub fn when(self, expect: impl IntoIterator<Item = Match>, reply: Reply) -> Self {
        self.step(Step::when(expect, reply))
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or(false)
    }

    /// The steps that may answer now: the first of the ordered ones, and those that may come at any time.
    fn candidates(&self) -> Vec<usize> {
        let free = |at: &usize| !self.is_taken(*at);
        let next = (0..self.steps.len())
            .filter(free)
            .find(|&at| !self.steps[at].whenever);
        let whenever = (0..self.steps.len())
            .filter(free)
            .filter(|&at| self.steps[at].whenever);
        next.into_iter().chain(whenever).collect()
    }

    fn unexpected(&self, seen: &Seen, candidates: &[usize]) -> String {
        let last = seen.last().map_or_else(
            || "no messages".to_owned(),
            |m| format!("{} {:?}", m.role, m.content.chars().take(80).collect::<String>()),
        );
        let why = match candidates.first() {
            None => "the script has no step left".to_owned(),
            Some(&at) => match self.steps[at].refuses(seen) {
                Some(refused) => format!("step {at} expects {refused:?}"),
                None => format!("step {at} answers a tool's result but no match is guarded by its text"),
            },
        };
        format!("unexpected request, its last message {last}: {why}")
    }
}

impl Respond for Script {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        let candidates = self.candidates();
        let fits = |at: &usize| self.steps[*at].refuses(seen).is_none() && !self.steps[*at].unguarded(seen);
        let Some(at) = candidates.iter().copied().find(fits) else {
            return Err(self.unexpected(seen, &candidates));
        };
        if !self.steps[at].repeat {
            self.taken.resize(self.steps.len(), false);
            self.taken[at] = true;
        }
        Ok(self.steps[at].reply.clone())
    }

    fn left_over(&self) -> Vec<String> {
        let missing = (0..self.steps.len()).filter(|&at| !self.is_taken(at) && !self.steps[at].repeat);
        missing
            .map(|at| {
                format!(
                    "step {at} was never asked for, it expects {:?}",
                    self.steps[at].expect
                )
            })
            .collect()
    }
}
