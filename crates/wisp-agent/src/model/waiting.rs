//! What a server is doing while it sends nothing, learnt from `/api/ps` on a second connection.
//!
//! No status, no header comes while a request queues, the model loads and the prompt is evaluated. Only what is
//! known is said: where loading and reading cannot be told apart, the words say both.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use wisp_ollama::{Client, Error, Loaded, same_model};

use super::waits::Waits;
use crate::events::Doing;

/// A stage of the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Loading,
    Either,
    Reading,
    Long,
}

impl Stage {
    fn words(self, model: &str) -> String {
        match self {
            Self::Loading => format!("loading {model}"),
            Self::Either => format!("loading {model} or reading the prompt"),
            Self::Reading => "the model is reading the prompt".to_owned(),
            Self::Long => "the model is reading the prompt, or another request is before this one".to_owned(),
        }
    }
}

/// One wait.
pub struct Waiting<'a> {
    /// The server.
    pub client: &'a Client,
    /// The model that is waited for.
    pub model: &'a str,
    /// Says what is being done.
    pub doing: &'a Doing,
    /// How often to ask.
    pub waits: &'a Waits,
    /// Whether the model was loaded when the request was sent.
    pub warm: bool,
}

impl Waiting<'_> {
    /// Says what the server is doing for as long as it is polled.
    pub async fn watch(&self) -> Infallible {
        let mut said = None;
        let mut known_loaded = self.warm;
        let mut listed_since = None;
        loop {
            tokio::time::sleep(self.waits.poll).await;
            let loading = match self.client.ps().await {
                // Newer servers hold the answer back until a load has ended.
                Err(Error::Silent { .. }) => true,
                Err(_) => continue,
                Ok(loaded) => self.is_loading(&loaded),
            };
            let stage = if loading {
                known_loaded = true;
                Stage::Loading
            } else {
                let since = listed_since.get_or_insert_with(Instant::now).elapsed();
                self.listed(known_loaded, since)
            };
            if said != Some(stage) {
                said = Some(stage);
                self.doing.say(stage.words(self.model));
            }
        }
    }

    /// Whether the model is not in memory yet: not listed, or without a time to expire at.
    fn is_loading(&self, loaded: &[Loaded]) -> bool {
        let here = loaded.iter().find(|l| same_model(&l.name, self.model));
        here.is_none_or(|here| here.expires_at.starts_with("0001-"))
    }

    /// The stage of a model that is listed. Some servers list one that still loads, so only a model that was seen
    /// loading, or was loaded before, is known to read.
    fn listed(&self, known_loaded: bool, so_far: Duration) -> Stage {
        match known_loaded {
            false => Stage::Either,
            true if so_far < self.waits.long => Stage::Reading,
            true => Stage::Long,
        }
    }
}
