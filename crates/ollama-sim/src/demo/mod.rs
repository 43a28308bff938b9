//! The demo model: rules instead of a language model.
//!
//! It exists so that a person without Ollama can see an agent work, and so that every face can be driven by a
//! test. It says what it is in its first reply. It understands a handful of requests, calls only tools that were
//! offered, with the argument names their schemas have, and comments on results from what the result says. It
//! knows nothing else and says so. Everything around it (counting, cutting, streaming) is the server's, so it
//! also forgets what was cut.

mod arguments;
mod comment;
mod intent;
mod note;
mod quoted;
mod schema;

use std::io;

use serde_json::{Map, Value};

use crate::clock::Clock;
use crate::model::{Capability, Model};
use crate::script::{Event, Reply, Respond};
use crate::seen::Seen;
use crate::server::{Config, Server};
use crate::{Message, profile};

use intent::Intent;

/// The model's name.
pub const NAME: &str = "demo";
/// The window it claims, in tokens.
pub const CONTEXT_LENGTH: u64 = 8192;

/// What it says of itself, once a conversation.
const ANNOUNCEMENT: &str = "I am the demo model: a small set of rules, not a language model. ";

/// What it says when it did not understand.
const HELP: &str = "I did not understand that. I am a few rules, and these are all of them:\n\
- run `COMMAND` (several in backquotes are run in order)\n\
- read FILE, read FILE lines 10-20\n\
- replace \"OLD\" with \"NEW\" in FILE, write \"TEXT\" to FILE, append \"TEXT\" to FILE\n\
- more, matching PATTERN, summarise (of an output that was held back)\n\
- remember TEXT\n\
- what time is it\n\
For anything else, install Ollama and a model.";

/// The rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demo;

impl Demo {
    /// The model it is served as: `demo`, completion and tools, 8,192 tokens.
    pub fn model() -> Model {
        Model::new(NAME)
            .with_capabilities(&[Capability::Completion, Capability::Tools])
            .with_context_length(CONTEXT_LENGTH)
    }
}

impl Respond for Demo {
    fn respond(&mut self, seen: &Seen) -> Result<Reply, String> {
        Ok(reply(seen))
    }
}

/// How many requests the demo model's server remembers: a conversation may be long, and nobody asks.
const REMEMBERS: usize = 4;

impl Server {
    /// Starts the demo model on a free port, on the machine's clock.
    pub fn start_demo() -> io::Result<Self> {
        Self::start(config())
    }
}

/// The server the demo model runs on.
pub fn config() -> Config {
    let config = Config::new(Demo)
        .models([Demo::model()])
        .profile(profile::V0_24_0)
        .clock(Clock::real());
    Config {
        remembers: REMEMBERS,
        ..config
    }
}

fn reply(seen: &Seen) -> Reply {
    if let Some(schema) = seen.request.get("format").filter(|f| f.is_object()) {
        return Reply::text(&schema::smallest(schema).to_string());
    }
    if seen.last().is_some_and(|m| m.role == "tool") {
        return Reply::text(&comment::on_results(seen));
    }
    let mut reply = Reply::new();
    if !seen.messages.iter().any(|m| m.role == "assistant") {
        reply = reply.content(ANNOUNCEMENT);
    }
    let asked = seen.last_of("user").map_or("", |m: &Message| m.content.as_str());
    match intent::read(asked, seen).map(|intent| act(seen, intent)) {
        Some(Ok(calls)) => calls.into_iter().fold(reply, |reply, (name, arguments)| {
            reply.event(Event::Call { name, arguments })
        }),
        Some(Err(text)) => reply.content(&text),
        None => reply.content(HELP),
    }
}

/// A tool and its arguments.
type Call = (String, Map<String, Value>);

/// The calls an intent becomes, or why it becomes none.
fn act(seen: &Seen, intent: Intent) -> Result<Vec<Call>, String> {
    match intent {
        Intent::Say(text) => Err(text),
        Intent::Call { tool, arguments } => {
            let lists = arguments.iter();
            lists
                .map(|given| Ok((tool.to_owned(), arguments::fit(seen, tool, given)?)))
                .collect()
        }
    }
}
