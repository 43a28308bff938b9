//! Saving without secrets: what is written of a record has markers in their place, while the record itself keeps them.
//!
//! Byte offsets that an entry has into its own text hold no longer where a marker of another length stands before them.
//! What was shown of an output is masked piece by piece, so that it is still known where wisp's own words end; a reply's
//! cuts are left out with it: from the next opening on, that reply is sent whole.

use std::cell::RefCell;

use serde::Serialize;
use serde_json::Value;

use crate::record::ThreadRecord;

use super::{Files, Marks};

/// Replaces the secrets in every text of a JSON value, and says how many there were.
pub type Masking = Box<dyn FnMut(&mut Value) -> usize>;

/// The masking of a save, if any: shared by everything that is written of it.
pub(super) type Mask<'a> = Option<&'a RefCell<Masking>>;

impl ThreadRecord {
    /// [`ThreadRecord::save`], or with `apart` [`ThreadRecord::save_apart`], with `mask` applied to whatever is written.
    pub fn save_masked(&mut self, apart: bool, mask: Masking) -> Files {
        let marks = if apart { self.marks() } else { Marks::default() };
        self.saved_with(marks, Some(&RefCell::new(mask)))
    }
}

/// An item as it is written: itself, or a JSON value of it with markers in it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Written<'a, T> {
    Own(&'a T),
    Masked(Value),
}

impl<'a, T: Serialize> Written<'a, T> {
    pub(super) fn of(item: &'a T, mask: Mask<'_>) -> Self {
        mask.and_then(|mask| masked(item, mask))
            .map_or(Self::Own(item), Self::Masked)
    }
}

fn masked<T: Serialize>(item: &T, mask: &RefCell<Masking>) -> Option<Value> {
    let mut value = serde_json::to_value(item).ok()?;
    let in_pieces = take_apart(&mut value).is_some();
    if (mask.borrow_mut())(&mut value) == 0 {
        return None;
    }
    if in_pieces {
        put_together(&mut value);
    }
    if let Some(entry) = value.as_object_mut() {
        entry.remove("cuts");
        entry.remove("cut_revision");
    }
    Some(value)
}

/// Takes what was shown of an output apart at the ends of what its tool returned, so that they are still known when the
/// pieces have become longer or shorter.
fn take_apart(entry: &mut Value) -> Option<()> {
    let data: (usize, usize) = serde_json::from_value(entry.get("data")?.clone()).ok()?;
    let shown = entry.get("shown")?.as_str()?;
    let pieces = [
        shown.get(..data.0)?,
        shown.get(data.0..data.1)?,
        shown.get(data.1..)?,
    ];
    entry["shown"] = Value::from(&pieces[..]);
    Some(())
}

fn put_together(entry: &mut Value) {
    let Some(pieces) = entry.get("shown").and_then(Value::as_array) else {
        return;
    };
    let pieces: Vec<&str> = pieces.iter().filter_map(Value::as_str).collect();
    let [before, data, _] = pieces[..] else { return };
    let ends = [before.len(), before.len() + data.len()];
    let shown = pieces.concat();
    entry["data"] = Value::from(&ends[..]);
    entry["shown"] = shown.into();
}
