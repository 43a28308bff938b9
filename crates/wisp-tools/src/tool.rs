//! What a tool is: a row that describes it and a function that runs it.
//!
//! A tool never throws: whatever goes wrong is text for the model, beginning `error: `. It never bounds its own
//! result either, unless it pages: the registry keeps the whole and shows what fits.

use std::borrow::Cow;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use serde_json::{Map, Value, json};
use wisp_exec::Outcome;

use crate::arguments::{Parameter, schema};
use crate::call::Call;
use crate::files::read::Page;

/// A future of a tool: boxed, because tools live in one list.
pub type Running<'a> = Pin<Box<dyn Future<Output = Returned> + Send + 'a>>;

/// The row that describes a tool. Every text here is in every request, so each is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// Its name: lower-case letters and `_`, no other tool's name within it.
    pub name: Cow<'static, str>,
    /// What it does, in one line for the model.
    pub description: Cow<'static, str>,
    /// What it is called with.
    pub parameters: Cow<'static, [Parameter]>,
    /// Its limits under the options in force, for people.
    pub limits: String,
    /// A prompt that makes a model use it, for people.
    pub example: Cow<'static, str>,
    /// Whether it only reads, so that calling it again is harmless.
    pub reads_only: bool,
}

impl Descriptor {
    /// The definition as Ollama takes it.
    pub fn definition(&self) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": schema(&self.parameters),
            }
        })
    }
}

impl Descriptor {
    /// A section of documentation: what it does, its arguments, its limits, an example.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n{}\n\n", self.name, self.description);
        if !self.parameters.is_empty() {
            text.push_str("| argument | type | needed | meaning |\n| --- | --- | --- | --- |\n");
        }
        for p in self.parameters.iter() {
            let needed = if p.required { "yes" } else { "no" };
            let row = format!(
                "| `{}` | {} | {needed} | {} |\n",
                p.name,
                p.kind.name(),
                p.description
            );
            text.push_str(&row);
        }
        text + &format!("\nLimits: {}.\n\nExample: {}\n\n", self.limits, self.example)
    }
}

/// Something a model may call.
pub trait Tool: Send + Sync {
    /// The row that describes it, under the options in force.
    fn descriptor(&self) -> Descriptor;

    /// The definition as Ollama takes it.
    fn definition(&self) -> Value {
        self.descriptor().definition()
    }

    /// Whether the tool belongs to a program beside wisp, whose tools come and go between turns.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Whether a call may give arguments that are not among the parameters.
    fn takes_others(&self) -> bool {
        false
    }

    /// Whether a call that gives an argument the tool does not have is answered with that and not run. A tool that is
    /// not strict runs without it, and the model is told above the result.
    fn is_strict(&self) -> bool {
        false
    }

    /// Whether an optional argument that looks like a dummy (0, empty, `null` in quotes) means itself in this call.
    fn means(&self, _given: &Map<String, Value>, _name: &str) -> bool {
        false
    }

    /// Puts right what only this tool can know the one meaning of, before anything is asked or done. `renamed` are the
    /// arguments that came under another name.
    fn amend(&self, _given: &mut Map<String, Value>, _renamed: &[String]) {}

    /// Runs one call. `arguments` is what the model wrote, with the tool's own names and without dummies.
    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a>;
}

/// How a call ended, for the record and for the `ran:` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It did what it was asked.
    Done,
    /// A command ended with this status; 0 is success.
    Exit(i32),
    /// It failed; the words say how (`killed by signal 9`, `timed out after 60 s`, `error`).
    Failed(String),
    /// Policy refused it.
    Denied,
    /// The person refused it, or did not answer.
    Declined,
    /// The person stopped it before its end.
    Interrupted,
    /// It never ran: the turn was stopped before its place in the batch.
    NeverRan,
}

impl Ending {
    /// Whether it counts as failed (a refusal does not, nor does a stop by the person).
    pub fn is_failure(&self) -> bool {
        match self {
            Self::Exit(code) => *code != 0,
            Self::Failed(_) => true,
            Self::Done | Self::Denied | Self::Declined | Self::Interrupted | Self::NeverRan => false,
        }
    }

    /// A few words for the audit and the face: `exit 1`, `denied`, `killed by signal 9`.
    pub fn words(&self) -> String {
        match self {
            Self::Done => "ok".to_owned(),
            Self::Exit(code) => format!("exit {code}"),
            Self::Failed(how) => how.clone(),
            Self::Denied => "denied by policy".to_owned(),
            Self::Declined => "declined".to_owned(),
            Self::Interrupted => "stopped".to_owned(),
            Self::NeverRan => "not run".to_owned(),
        }
    }
}

/// What a tool printed.
#[derive(Debug)]
pub enum Body {
    /// Text, whole; what exceeds the budget is kept.
    Text(String),
    /// A page that the tool bounded itself; the rest is reached by asking the tool for it.
    Page(String),
    /// The first page of a file that was asked for whole and is longer: kept as an output, so that it can be filtered,
    /// summarised and questioned.
    File {
        /// The page.
        page: Box<Page>,
        /// The file, cleared for reading.
        path: PathBuf,
    },
    /// A command's streams, spilled where they are long.
    Command {
        /// The lines above the streams.
        header: String,
        /// What the process did.
        outcome: Box<Outcome>,
        /// Lines below the streams.
        footer: String,
    },
}

/// What a tool hands back to the registry.
#[derive(Debug)]
pub struct Returned {
    /// What it printed.
    pub body: Body,
    /// How it ended.
    pub ending: Ending,
    /// For an edit that was made: the unified difference, for the person. The model is told in the text.
    pub difference: Option<String>,
}

impl Returned {
    /// A result that is text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            body: Body::Text(text.into()),
            ending: Ending::Done,
            difference: None,
        }
    }

    /// A page, bounded by the tool.
    pub fn page(text: impl Into<String>) -> Self {
        Self {
            body: Body::Page(text.into()),
            ending: Ending::Done,
            difference: None,
        }
    }

    /// A failure, as text for the model.
    pub fn error(what: impl std::fmt::Display) -> Self {
        Self {
            body: Body::Text(format!("error: {what}")),
            ending: Ending::Failed("error".to_owned()),
            difference: None,
        }
    }

    /// A refusal, as text for the model.
    pub fn refused(what: impl std::fmt::Display, ending: Ending) -> Self {
        Self {
            body: Body::Text(format!("error: {what}")),
            ending,
            difference: None,
        }
    }
    /// Bytes of a text or page; none of a command, whose streams may be on disk.
    pub fn text_len(&self) -> Option<usize> {
        match &self.body {
            Body::Text(text) | Body::Page(text) => Some(text.len()),
            Body::File { page, .. } => Some(page.opening.len() + page.lines.len() + page.closing.len()),
            Body::Command { .. } => None,
        }
    }
}
