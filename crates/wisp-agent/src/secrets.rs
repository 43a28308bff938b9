//! The secrets of a conversation: one masker for all that is written of it and, where that is wanted, for what is sent,
//! so that the same value has the same marker everywhere.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use wisp_guard::secrets::Masker;
use wisp_ollama::Host;
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

/// When secrets are masked in what a model is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskWhen {
    /// When it runs on another machine.
    Away,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl MaskWhen {
    /// The meaning of `secrets.maskForModel`.
    pub fn of(setting: &str) -> Self {
        match setting {
            "on" => Self::Always,
            "off" => Self::Never,
            _ => Self::Away,
        }
    }
}

/// What masks secrets in what a model is sent, and when.
#[derive(Debug, Clone)]
pub struct Masking {
    /// The masker of the conversation.
    pub secrets: Secrets,
    /// When it is used.
    pub when: MaskWhen,
}

/// What is said of a server on another machine; nothing of one on this.
///
/// ```
/// let host = wisp_ollama::Host::parse("http://10.1.2.3:11434").unwrap();
/// assert!(wisp_agent::far(&host).unwrap().contains("plain HTTP"));
/// ```
pub fn far(host: &Host) -> Option<String> {
    if host.is_loopback() {
        return None;
    }
    let way = if host.sends_in_clear() {
        " over plain HTTP, which everyone on the way can read and change"
    } else {
        ""
    };
    Some(format!(
        "{host} is not this machine: what you type and what tools return is sent there{way}"
    ))
}

impl Default for Secrets {
    fn default() -> Self {
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

    /// What a save replaces secrets with.
    pub(crate) fn masking(&self) -> wisp_context::Masking {
        let secrets = self.clone();
        Box::new(move |value| secrets.mask_value(value))
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
        if new > 0 && self.model.masks().is_some() {
            let secrets = counted(new as u64, "secret");
            let text = format!(
                "{secrets} masked in what {} is sent and in all that is written; kept outputs hold what was printed. \
                 wisp config set secrets.maskForModel off sends them",
                self.model.name
            );
            self.events.note(NoteLevel::Info, text);
            return;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(host: &str) -> Option<String> {
        far(&Host::parse(host).unwrap())
    }

    #[test]
    fn a_server_elsewhere_is_said_and_plain_http_is_named() {
        for near in [
            "127.0.0.1",
            "http://localhost:1",
            "[::1]:2",
            "http://[::ffff:127.0.0.1]:3",
            "0.0.0.0",
        ] {
            assert_eq!(said(near), None, "{near}");
        }
        assert_eq!(
            said("http://gpu.example:11434").unwrap(),
            "http://gpu.example:11434 is not this machine: what you type and what tools return is sent there over \
             plain HTTP, which everyone on the way can read and change"
        );
        let secure = said("https://gpu.example").unwrap();
        assert!(secure.ends_with("is sent there"), "{secure}");
    }
}
