//! The secrets of a conversation: one masker for all that is written of it and, where that is wanted, for what is sent,
//! so that the same value has the same marker everywhere.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use wisp_guard::secrets::Masker;
use wisp_output::amount::counted;

use crate::conversation::Conversation;
use crate::protocol::NoteLevel;

/// A handle on the masker; clones share it.
#[derive(Debug, Clone)]
pub struct Secrets(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    masker: Mutex<Masker>,
    /// How many the person was told of.
    told: AtomicUsize,
}

impl Default for Secrets {
    fn default() -> Self {
        wisp_guard::secrets::warm_up();
        Self(Arc::new(Shared {
            masker: Mutex::new(Masker::new(false)),
            told: AtomicUsize::new(0),
        }))
    }
}

impl Secrets {
    fn masker(&self) -> MutexGuard<'_, Masker> {
        self.0.masker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces every secret in the texts of a JSON value; how many were replaced.
    pub fn mask_value(&self, value: &mut Value) -> usize {
        self.masker().mask_value(value)
    }

    /// A text with its secrets replaced; none when it has none.
    pub fn masked(&self, text: &str) -> Option<String> {
        self.masker().masked(text).map(|(masked, _)| masked)
    }

    /// How many different secrets there were since this was last asked.
    fn untold(&self) -> usize {
        let total = self.masker().total();
        total.saturating_sub(self.0.told.swap(total, Ordering::Relaxed))
    }
}

impl Conversation {
    /// Tells how many secrets were masked in what this turn wrote, when it wrote more of them than the person knows of.
    pub(crate) fn tell_masked(&self) {
        let new = self.secrets.untold();
        let places = match (self.audit.is_on(), self.thread.is_some()) {
            (true, true) => "the audit and the saved conversation",
            (true, false) => "the audit",
            (false, true) => "the saved conversation",
            (false, false) => return,
        };
        if new > 0 {
            let secrets = counted(new as u64, "secret");
            let text = format!("{secrets} masked in {places}; kept outputs hold what was printed");
            self.events.note(NoteLevel::Info, text);
        }
    }
}
