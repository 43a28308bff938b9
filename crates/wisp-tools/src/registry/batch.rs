//! The batch: results of one reply that together exceed their room are fitted again, each to its max-min share.
//!
//! How room is shared and that it is never exceeded is decided in `wisp_output::batch`; here a result is made again
//! within its share, from its stored output. One that is not stored yet is stored now, once.

use jiff::Timestamp;
use serde_json::{Value, json};
use wisp_output::batch::{cap_all, finish};
use wisp_output::store::About;
use wisp_output::{Context, Place, Store, present, refit};
use wisp_template_tokens::boundary;

use super::Pending;
use super::admit::{KeptRecord, data_in, first_error, growth, line_of, output_of};
use crate::call::{Keep, Services};
use crate::tool::Body;

/// Reduces a batch that exceeds its budget, in place, and gives the details of `batch.reduced`; none when nothing was
/// reduced. The result depends on nothing but the batch, and a reduced batch is not reduced again.
pub(super) fn reduce(batch: &mut [Pending], services: &Services, memory: bool) -> Option<Value> {
    let room = room(services);
    let mut texts: Vec<String> = batch
        .iter_mut()
        .map(|pending| std::mem::take(&mut pending.admitted.shown))
        .collect();
    let before: usize = texts.iter().map(String::len).sum();
    let whole = texts.clone();
    let reduced = finish(&mut texts, room, |index, share| {
        let pending = &mut batch[index];
        let text = again(pending, share, services, memory);
        // What cannot be made again from a file is cut from what is held.
        text.unwrap_or_else(|why| cut(pending, &whole[index], share, why))
    });
    let after: usize = texts.iter().map(String::len).sum();
    for (pending, text) in batch.iter_mut().zip(texts) {
        if text.get(pending.admitted.data.clone()).is_none() {
            // It was cut where it stood: what is left of it is all taken for the tool's.
            pending.admitted.data = 0..text.len();
        }
        pending.admitted.shown = text;
        pending.admitted.whole = None;
    }
    let calls: Vec<&str> = reduced.iter().map(|one| batch[one.index].call.as_str()).collect();
    let details = json!({
        "calls": batch.len(), "budget": room, "bytesBefore": before, "bytesAfter": after, "reduced": calls,
    });
    (!reduced.is_empty()).then_some(details)
}

/// The most bytes of the results of one reply: twice one result's, and never less than a command alone may have.
pub(super) fn room(services: &Services) -> usize {
    services.budget.batch_bytes().max(services.budget.command_bytes())
}

/// One result made again within its share, from its kept output; one not yet kept is kept now. Says in words why not.
fn again(pending: &mut Pending, share: usize, services: &Services, memory: bool) -> Result<String, String> {
    let store = match &services.keep {
        Keep::In(store) => store,
        Keep::Nowhere(why) => return Err(why.clone()),
    };
    let about = About {
        tool: pending.tool.clone(),
        arguments: pending.arguments.clone(),
        exit: pending.admitted.exit.clone(),
    };
    if pending.admitted.kept.is_none() {
        keep(pending, &about, store, services)?;
    }
    let mut kept = store.open(&pending.call).map_err(|e| e.reason())?;
    let note = line_of(pending.admitted.note.as_deref());
    let context = Context {
        id: &pending.call,
        about,
        budget: share.saturating_sub(note.len() + boundary::BYTES),
        memory,
        command: pending.admitted.command,
        now: services.clock.now(),
        first_error: Some(&first_error),
    };
    let mut fitted = refit(&kept, &context).map_err(|e| e.to_string())?;
    let grown = growth(&fitted.text);
    if grown > 0 {
        let budget = context.budget.saturating_sub(grown);
        fitted = refit(&kept, &Context { budget, ..context }).map_err(|e| e.to_string())?;
    }
    let (head, foot) = &pending.admitted.around;
    let data = data_in(&fitted.text, (head, foot), fitted.note);
    pending.admitted.data = note.len() + data.start..note.len() + data.end;
    pending.admitted.held = fitted.held;
    // The text goes out either way; a record that cannot be written keeps what it said before.
    let _ = store.record_held(&mut kept, &pending.admitted.held);
    Ok(note + &fitted.text)
}

/// One result cut to its share without a store, with the account of what it leaves out.
fn cut(pending: &mut Pending, shown: &str, share: usize, why: String) -> String {
    let admitted = &mut pending.admitted;
    let note = line_of(admitted.note.as_deref());
    let context = Context {
        id: &pending.call,
        about: About {
            exit: admitted.exit.clone(),
            ..About::default()
        },
        budget: share.saturating_sub(note.len()),
        memory: false,
        command: admitted.command,
        now: Timestamp::UNIX_EPOCH,
        first_error: Some(&first_error),
    };
    let text = Body::Text(shown.strip_prefix(&note).unwrap_or(shown).to_owned());
    let output = output_of(admitted.whole.as_ref().unwrap_or(&text));
    let presented = present(output, Place::Nowhere(&why), &context);
    admitted.held = presented.held;
    admitted.not_kept = Some(why);
    note + &presented.text
}

/// Keeps a result that fitted its own budget but not the batch's: the bytes the tool returned.
fn keep(pending: &mut Pending, about: &About, store: &Store, services: &Services) -> Result<(), String> {
    let body = pending.admitted.whole.as_ref().ok_or("it was not held")?;
    let draft = store.draft(&pending.call, &mut output_of(body));
    let kept = draft.and_then(|draft| draft.commit(about.clone(), &[], services.clock.now()));
    pending.admitted.kept = Some(KeptRecord::of(&kept.map_err(|e| e.reason())?));
    Ok(())
}

/// The boundary once more, at the point of sending, on the results of one reply that are about to go out: in normal
/// use it changes nothing. No file is read or written. Returns whether it had to cut.
pub fn cap_at_send(shown: &mut [String], services: &Services) -> bool {
    !cap_all(shown, room(services)).is_empty()
}
