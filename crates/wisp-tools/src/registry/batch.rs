//! The batch: results of one reply that together exceed their room are fitted again, each to its max-min share.

use serde_json::{Value, json};
use wisp_output::batch::water_fill;
use wisp_output::content::Stretch;
use wisp_output::fit::{Signals, Telling};
use wisp_output::store::About;
use wisp_output::{Context, Output, Place, Store, fit::fit, present};

use super::Pending;
use super::admit::{KeptRecord, first_error};
use crate::call::{Keep, Services};

/// Reduces a batch that exceeds its budget, in place. Returns the details of `batch.reduced`; none when nothing was
/// reduced. The result depends on nothing but the batch, and a reduced batch is not reduced again.
pub(super) fn reduce(batch: &mut [Pending], services: &Services, memory: bool) -> Option<Value> {
    let room = services.budget.batch_bytes().max(services.budget.command_bytes()) as u64;
    let sizes: Vec<u64> = batch.iter().map(|p| p.admitted.shown.len() as u64).collect();
    let before: u64 = sizes.iter().sum();
    if batch.len() < 2 || before <= room {
        return None;
    }
    let shares = water_fill(&sizes, room);
    let mut reduced = Vec::new();
    for ((pending, share), size) in batch.iter_mut().zip(shares).zip(sizes) {
        if share < size {
            refit(
                pending,
                usize::try_from(share).unwrap_or(usize::MAX),
                services,
                memory,
            );
            reduced.push(pending.call.clone());
        }
    }
    let after: u64 = batch.iter().map(|p| p.admitted.shown.len() as u64).sum();
    Some(json!({
        "calls": batch.len(), "budget": room, "bytesBefore": before, "bytesAfter": after, "reduced": reduced,
    }))
}

/// Fits one result into its share, from its kept output; one not yet kept is kept now.
fn refit(pending: &mut Pending, share: usize, services: &Services, memory: bool) {
    if let Err(why) = from_store(pending, share, services, memory) {
        let admitted = &mut pending.admitted;
        let text = std::mem::take(&mut admitted.shown);
        admitted.shown = cap(text, share, &why);
        admitted.not_kept = Some(why);
    }
}

fn from_store(pending: &mut Pending, share: usize, services: &Services, memory: bool) -> Result<(), String> {
    let store = match &services.keep {
        Keep::In(store) => store,
        Keep::Nowhere(why) => return Err(why.clone()),
    };
    if pending.admitted.kept.is_none() {
        keep(pending, store, services)?;
    }
    let admitted = &mut pending.admitted;
    let kept = store.open(&pending.call).map_err(|e| e.reason())?;
    let whole = kept.whole();
    let signals = Signals {
        exit: admitted.exit.clone(),
        first_error: first_error(&mut Stretch::all(whole.content)),
    };
    let telling = Telling {
        keeping: kept.keeping(),
        signals,
        memory,
        command: admitted.command,
    };
    let fitted = fit(whole, share, &telling).map_err(|e| e.to_string())?;
    admitted.shown = fitted.text;
    admitted.held = fitted.held;
    Ok(())
}

/// Keeps a result that fitted its own budget but not the batch's.
fn keep(pending: &mut Pending, store: &Store, services: &Services) -> Result<(), String> {
    let admitted = &mut pending.admitted;
    let mut output = Output::text(admitted.shown.clone().into_bytes());
    let draft = store.draft(&pending.call, &mut output).map_err(|e| e.reason())?;
    let about = About {
        tool: pending.tool.clone(),
        arguments: pending.arguments.clone(),
        exit: admitted.exit.clone(),
    };
    let kept = draft
        .commit(about, &[], services.clock.now())
        .map_err(|e| e.reason())?;
    admitted.kept = Some(KeptRecord::of(&kept));
    Ok(())
}

/// A cut without any reading or writing of files: what stands in for a refit when there is no store.
fn cap(text: String, share: usize, why: &str) -> String {
    let context = Context {
        id: "",
        about: About::default(),
        budget: share,
        memory: false,
        command: false,
        now: jiff::Timestamp::UNIX_EPOCH,
        first_error: None,
    };
    present(Output::text(text.into_bytes()), Place::Nowhere(why), &context).text
}

/// The boundary once more, at the point of sending, on a result that is about to go out: in normal use it changes
/// nothing. Returns the shorter text when it must.
pub fn cap_at_send(shown: &str, room: usize) -> Option<String> {
    (shown.len() > room).then(|| cap(shown.to_owned(), room, "it was too long to send"))
}
