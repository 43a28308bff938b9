//! `memory`: what was held back, and what has left the context, read back from where it is kept; and what the model
//! wants kept, noted.
//!
//! Nothing is run to answer: `recall` pages and filters the stored file, `summarise` reads it with the exact readers
//! of `wisp-digest`, `condense` asks the conversation's model about all of it, part by part.

mod asked;
mod condense;
mod request;
mod source;

use serde_json::Value;
use wisp_digest::{Options, View, digest_reader};
use wisp_output::amount::{counted, size};
use wisp_output::content::Stretch;
use wisp_output::recall::{Filter, Start, Stored, recall};
use wisp_output::request::Request;
use wisp_output::streams;

use crate::arguments;
use crate::arguments::Arguments;
use crate::behind::Wanted;
use crate::call::Call;
use crate::tool::{Descriptor, Returned, Running, Tool};

use asked::Asked;
pub use request::{MemoryRequest, grammar};
use source::Source;

arguments! {
    /// What `memory` is called with.
    pub struct MemoryArguments {
        request: String = "request", "recall output ID|entry N [matching PATTERN|lines A-B|head N|tail N] [from line N]; recall turn N; recall WORDS; summarise output ID [overview]; condense output ID: QUESTION; note SUBJECT NAME = VALUE; task TEXT; objective: DONE";
    }
}

/// The tool.
#[derive(Debug, Default, Clone, Copy)]
pub struct Memory;

impl Tool for Memory {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            name: crate::MEMORY.into(),
            description: "Read what was held back or is no longer shown; keep notes.".into(),
            parameters: MemoryArguments::PARAMETERS.into(),
            limits: format!(
                "a page is at most the tool-output budget; condense asks the model at most {} times and once more to combine",
                wisp_output::chunks::MOST
            ),
            example: "Show me every line of that build that mentions gauge.".into(),
            reads_only: true,
        }
    }

    fn run<'a>(&'a self, arguments: &'a Value, call: &'a mut Call<'_>) -> Running<'a> {
        Box::pin(async move {
            match MemoryArguments::from_value(arguments) {
                Ok(arguments) => answer(&arguments.request, call).await,
                Err(e) => Returned::error(e),
            }
        })
    }
}

async fn answer(text: &str, call: &mut Call<'_>) -> Returned {
    let request = match grammar().read(text) {
        Ok(request) => request,
        Err(unreadable) => {
            Asked::unread().record(call, text);
            return Returned::error(unreadable);
        }
    };
    let mut asked = Asked::of(&request);
    let returned = match served(request, call, &mut asked).await {
        Ok(returned) => returned,
        // The record's own answers begin with the tool's name.
        Err(why) => Returned::error(format!("memory: {}", why.trim_start_matches("memory: "))),
    };
    asked.answered(&returned).record(call, text);
    returned
}

async fn served(request: MemoryRequest, call: &mut Call<'_>, asked: &mut Asked) -> Result<Returned, String> {
    match request {
        MemoryRequest::Output(Request::Recall { target, filter, from }) => {
            page(&Source::open(&target, call)?, &filter, from, call.budget()).map(Returned::page)
        }
        MemoryRequest::Output(Request::Summarise { target, overview }) => {
            let view = if overview { View::Overview } else { View::Notable };
            digest(&Source::open(&target, call)?, view, call.budget()).map(Returned::page)
        }
        MemoryRequest::Output(Request::Condense { target, question }) => {
            let source = Source::open(&target, call)?;
            condense::condense(&source, &question, call).await
        }
        MemoryRequest::Record(wanted, from) => {
            let record = call
                .scene
                .behind
                .record
                .ok_or("this conversation keeps no record: answer from what is in your context")?;
            let recalled = record.recall(&wanted)?;
            asked.entries = recalled.entries;
            let source = Source::text(named(&wanted), recalled.header, recalled.text);
            page(&source, &Filter::All, from, call.budget()).map(Returned::page)
        }
        MemoryRequest::Note(text) => kept(call, |record| record.note(&text)),
        MemoryRequest::Task(text) => kept(call, |record| record.set_task(&text)),
    }
}

/// Has the record keep something. Its answer says what, or begins with `error: ` as a failure does.
fn kept(
    call: &Call<'_>,
    keep: impl FnOnce(&dyn crate::behind::Recollection) -> Result<String, String>,
) -> Result<Returned, String> {
    let record = call.scene.behind.record;
    let record = record.ok_or("this conversation keeps no record: answer from what is in your context")?;
    Ok(match keep(record) {
        Ok(noted) => Returned::page(noted),
        Err(why) => Returned::error(why.trim_start_matches("error: ")),
    })
}

fn named(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Entry(number) => format!("entry {number}"),
        Wanted::Turn(number) => format!("turn {number}"),
        Wanted::Task => "task".to_owned(),
        Wanted::Words(words) => words.clone(),
    }
}

/// A page of the source, its header included in the budget.
fn page(source: &Source, filter: &Filter, from: Start, budget: usize) -> Result<String, String> {
    let header = source
        .header
        .as_ref()
        .map_or_else(String::new, |header| format!("{header}\n"));
    let page = source.with(|content| {
        let stored = Stored {
            content,
            lines: source.lines,
            sections: &source.sections,
            exit: source.exit.as_deref(),
            name: &source.name,
        };
        recall(stored, filter, from, budget.saturating_sub(header.len()))
    });
    let page = page.map_err(|e| format!("{} cannot be read: {e}", source.name))?;
    Ok(header + &page)
}

/// What matters in the source, read without a model, within the budget.
fn digest(source: &Source, view: View, budget: usize) -> Result<String, String> {
    let options = Options {
        exit: source.exit.as_deref().and_then(crate::exit_status),
    };
    let digest = source.with(|content| digest_reader(Stretch::all(content), options));
    let mut digest = digest.map_err(|e| format!("{} cannot be read: {e}", source.name))?;
    digest.bytes = source.printed();
    let told = [
        streams::told(&source.sections),
        source.exit.clone().unwrap_or_default(),
    ];
    let told = told
        .iter()
        .filter(|t| !t.is_empty())
        .fold(String::new(), |all, t| all + ", " + t);
    let header = format!(
        "{} in short, read from all of it without a model: {} ({}){told}\n",
        source.name,
        counted(source.lines, "line"),
        size(source.printed()),
    );
    let footer = format!("[memory \"recall {} from line N\" shows the lines]", source.name);
    let room = budget.saturating_sub(header.len() + footer.len());
    Ok(format!("{header}{}{footer}", digest.render(room, view)))
}
