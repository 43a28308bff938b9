//! The one call a tool's result goes through: shown whole when it fits, else kept and shown in part.
//!
//! Keeping can fail (a full disk, a home that cannot be written, an audit that is off). The result still arrives,
//! bounded, from what memory holds, and its note says that the rest was not kept and why.

use std::io::{self, Read};

use jiff::Timestamp;

use crate::content::{Content, Stretch};
use crate::fit::{self, FirstError, Fitted, HeldBack, Keeping, Signals, Telling, Whole};
use crate::output::Output;
use crate::store::{About, Draft, Kept, Store, StoreError};
use crate::streams::Streams;

/// Finds the first line in a known failure format of the output it reads.
pub type FindError<'a> = dyn Fn(&mut dyn Read) -> Option<FirstError> + 'a;

/// What is known of a result besides its bytes.
pub struct Context<'a> {
    /// The audit call id, under which it is kept.
    pub id: &'a str,
    /// The tool, its arguments on one line, how a command ended.
    pub about: About,
    /// The most bytes the model is shown.
    pub budget: usize,
    /// Whether the conversation has the `memory` tool.
    pub memory: bool,
    /// Whether it is a command's output.
    pub command: bool,
    /// The time it is recorded under.
    pub now: Timestamp,
    /// Reads the output for its first error; called only when something is held back.
    pub first_error: Option<&'a FindError<'a>>,
}

/// Where outputs are kept, or why they are not.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// In this store.
    Store(&'a Store),
    /// Nowhere, with the reason in words: `the audit is off`.
    Nowhere(&'a str),
}

/// A result as the model is shown it, and where the rest is.
#[derive(Debug)]
pub struct Presented {
    /// What the model is shown, at most the budget.
    pub text: String,
    /// What it is not shown.
    pub held: Vec<HeldBack>,
    /// The stored output, when there is one. Its record holds the fields of the `output.kept` event.
    pub kept: Option<Kept>,
    /// Why there is none although it was wanted.
    pub not_kept: Option<String>,
    /// Bytes of the note at the text's end.
    pub note: usize,
}

/// Shows `output` within the budget and keeps it when it is longer than that, in its raw bytes or in what is
/// shown. An output that fits is not kept.
pub fn present(mut output: Output<'_>, place: Place<'_>, context: &Context<'_>) -> Presented {
    if let Some(text) = small(&output, context) {
        return Presented {
            text,
            held: Vec::new(),
            kept: None,
            not_kept: None,
            note: 0,
        };
    }
    match keep(&mut output, place, context) {
        Ok(presented) => presented,
        Err(why) => unkept(&output, context, why),
    }
}

/// Shows a kept output again in another budget, such as its share of a batch. Errors are those of reading it.
pub fn refit(kept: &Kept, context: &Context<'_>) -> io::Result<Fitted> {
    fitted(kept.whole(), kept.keeping(), context)
}

/// Keeps `output` and shows what fits; or says in words why it could not be kept.
pub(crate) fn keep(
    output: &mut Output<'_>,
    place: Place<'_>,
    context: &Context<'_>,
) -> Result<Presented, String> {
    let store = match place {
        Place::Store(store) => store,
        Place::Nowhere(why) => return Err(why.to_owned()),
    };
    let draft = store.draft(context.id, output);
    draft
        .and_then(|draft| stored(draft, context))
        .map_err(|error| error.reason())
}

/// The text of an output that is small in raw bytes too.
fn small(output: &Output<'_>, context: &Context<'_>) -> Option<String> {
    if output.bytes() > context.budget as u64 {
        return None;
    }
    let held = output.in_memory();
    fit::shown_whole(held.whole(), context.budget).ok().flatten()
}

fn stored(draft: Draft, context: &Context<'_>) -> Result<Presented, StoreError> {
    let fitted = fitted(draft.whole(), draft.keeping(), context);
    let fitted = fitted.map_err(StoreError::Source)?;
    let kept = draft.commit(context.about.clone(), &fitted.held, context.now)?;
    Ok(Presented {
        note: fitted.note,
        text: fitted.text,
        held: fitted.held,
        kept: Some(kept),
        not_kept: None,
    })
}

/// Shows what memory holds of an output that was not kept.
pub(crate) fn unkept(output: &Output<'_>, context: &Context<'_>, why: String) -> Presented {
    let held = output.in_memory();
    let fitted = fitted(held.whole(), Keeping::Lost(why.clone()), context).expect("memory can be read");
    let not_kept = (!fitted.is_whole()).then_some(why);
    Presented {
        note: fitted.note,
        text: fitted.text,
        held: fitted.held,
        kept: None,
        not_kept,
    }
}

fn fitted(whole: Whole<'_>, keeping: Keeping, context: &Context<'_>) -> io::Result<Fitted> {
    let mut telling = Telling {
        keeping,
        memory: context.memory,
        command: context.command,
        ..Telling::default()
    };
    if let Some(text) = fit::shown_whole(whole, context.budget)? {
        return Ok(Fitted {
            text,
            ..Fitted::default()
        });
    }
    telling.signals = Signals {
        exit: context.about.exit.clone(),
        first_error: context
            .first_error
            .and_then(|find| find(&mut readable(&Streams::new(whole.content, whole.sections)))),
    };
    fit::reduced(whole, context.budget, &telling)
}

/// The content up to what is missing, so that line numbers are true.
fn readable(content: &dyn Content) -> Stretch<'_> {
    Stretch::new(content, 0, content.readable_to(0))
}
