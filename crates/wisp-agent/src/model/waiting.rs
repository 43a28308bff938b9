//! What a server is doing while it sends nothing, learnt from `/api/ps` on a second connection.
//!
//! No status, no header comes while a request queues, the model loads and the prompt is evaluated. Only what is
//! known is said: where loading and reading cannot be told apart, the words say both.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use wisp_ollama::{Client, Error, Loaded, same_model};
use wisp_output::amount::grouped;

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
    fn words(self, model: &str, reads: Option<Reads>) -> String {
        let prompt = reads.map_or_else(|| "the prompt".to_owned(), Reads::words);
        match self {
            Self::Loading => format!("loading {model}"),
            Self::Either => format!("loading {model} or reading {prompt}"),
            Self::Reading => format!("the model is reading {prompt}"),
            Self::Long => format!("the model is reading {prompt}, or another request is before this one"),
        }
    }
}

/// What a server has to read of a prompt, estimated from what it read before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reads {
    /// Tokens of the whole prompt.
    pub tokens: u64,
    /// Those of them that the last request had, which it does not read again.
    pub cached: u64,
    /// Tokens it reads in a second; none while that is unknown.
    pub speed: Option<f64>,
}

impl Reads {
    /// `about 3,900 tokens (12,000 cached), some 12 s`.
    fn words(self) -> String {
        let new = self.tokens.saturating_sub(self.cached);
        let cached = match self.cached {
            0 => String::new(),
            cached => format!(" ({} cached)", grouped(cached)),
        };
        #[expect(clippy::cast_precision_loss, reason = "prompts stay far below 2^53 tokens")]
        let seconds = self.speed.map(|speed| (new as f64 / speed).ceil());
        let seconds = seconds.filter(|seconds| seconds.is_finite());
        let time = seconds.map_or_else(String::new, |seconds| format!(", some {seconds} s"));
        format!("about {} tokens{cached}{time}", grouped(new))
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
    /// What it has to read.
    pub reads: Option<Reads>,
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
                self.doing.say(stage.words(self.model, self.reads));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_told_with_what_is_cached_and_how_long_it_takes() {
        let reads = Reads {
            tokens: 15_900,
            cached: 12_000,
            speed: Some(340.0),
        };
        let said = |stage: Stage, reads| stage.words("m", reads);
        assert_eq!(
            said(Stage::Reading, Some(reads)),
            "the model is reading about 3,900 tokens (12,000 cached), some 12 s"
        );
        let unknown = Reads {
            cached: 0,
            speed: None,
            ..reads
        };
        assert_eq!(
            said(Stage::Reading, Some(unknown)),
            "the model is reading about 15,900 tokens"
        );
        assert_eq!(said(Stage::Either, None), "loading m or reading the prompt");
        let still = Reads {
            speed: Some(0.0),
            ..reads
        };
        assert_eq!(
            said(Stage::Reading, Some(still)),
            "the model is reading about 3,900 tokens (12,000 cached)"
        );
    }
}
