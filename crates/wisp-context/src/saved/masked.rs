//! Saving without secrets: what is written of a record has markers in their place, while the record itself keeps them.
//!
//! Byte offsets that an entry has into its own text hold no longer where a marker of another length stands before them.
//! A reply's cuts are therefore left out with it: from the next opening on, that reply is sent whole.

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
    if (mask.borrow_mut())(&mut value) == 0 {
        return None;
    }
    if let Some(entry) = value.as_object_mut() {
        entry.remove("cuts");
        entry.remove("cut_revision");
    }
    Some(value)
}
