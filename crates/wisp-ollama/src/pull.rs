//! A download as it goes (`/api/pull`): statuses, a bar that never goes back, and the one word that means success.
//!
//! The stream begins with 200 whatever comes of it, so every failure is a line of it. The layers come one after the
//! other, a total of all is not known at first, and a layer's figure may go back when a part is tried again.

use serde::Deserialize;

use crate::error::{Error, Refusal};
use crate::lenient;
use crate::models::text;
use crate::stream::{LineStream, parse};

/// One line of a download.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct PullLine {
    /// As `pulling manifest`, `pulling 4f2d…`, `verifying sha256 digest`, `success`.
    #[serde(default, deserialize_with = "text")]
    pub status: String,
    /// The layer.
    pub digest: Option<String>,
    /// The layer's bytes.
    #[serde(default, deserialize_with = "lenient::count")]
    pub total: Option<u64>,
    /// Those that are there; absent while there are none.
    #[serde(default, deserialize_with = "lenient::count")]
    pub completed: Option<u64>,
}

impl PullLine {
    /// Whether the model is there, whole and checked.
    pub fn is_success(&self) -> bool {
        self.status == "success"
    }
}

/// A download. Dropping it cancels; asking again resumes.
#[derive(Debug)]
pub struct PullStream {
    lines: LineStream,
    progress: PullProgress,
    over: bool,
}

impl PullStream {
    pub(crate) fn new(lines: LineStream) -> Self {
        Self {
            lines,
            progress: PullProgress::default(),
            over: false,
        }
    }

    /// The next line; `None` after success or an error. An end without success is an error.
    pub async fn next(&mut self) -> Option<Result<PullLine, Error>> {
        if self.over {
            return None;
        }
        let line = self.read().await;
        match &line {
            Ok(line) => {
                self.progress.add(line);
                self.over = line.is_success();
            }
            Err(_) => self.over = true,
        }
        Some(line)
    }

    /// How far it is.
    pub fn progress(&self) -> &PullProgress {
        &self.progress
    }

    async fn read(&mut self) -> Result<PullLine, Error> {
        let Some(bytes) = self.lines.next().await? else {
            return Err(Error::PullUnfinished);
        };
        match self.lines.error_in(&bytes) {
            Some(error) => Err(error),
            None => parse(&self.lines.host, &bytes),
        }
    }
}

/// How far a download is, over all the layers seen so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullProgress {
    layers: Vec<Layer>,
    /// The latest status.
    pub status: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Layer {
    digest: String,
    total: u64,
    completed: u64,
}

impl PullProgress {
    /// Takes a line into account. A layer's figure never goes back and never passes its total.
    pub fn add(&mut self, line: &PullLine) {
        self.status.clone_from(&line.status);
        let Some(digest) = &line.digest else { return };
        let layer = self.layer(digest);
        layer.total = line.total.unwrap_or(layer.total);
        layer.completed = line
            .completed
            .unwrap_or_default()
            .max(layer.completed)
            .min(layer.total);
    }

    /// Bytes that are there.
    pub fn completed(&self) -> u64 {
        self.layers.iter().map(|layer| layer.completed).sum()
    }

    /// Bytes of the layers seen so far: it grows as layers come up.
    pub fn total(&self) -> u64 {
        self.layers.iter().map(|layer| layer.total).sum()
    }

    fn layer(&mut self, digest: &str) -> &mut Layer {
        let found = self.layers.iter().position(|layer| layer.digest == digest);
        let index = found.unwrap_or(self.layers.len());
        if found.is_none() {
            self.layers.push(Layer {
                digest: digest.to_owned(),
                total: 0,
                completed: 0,
            });
        }
        &mut self.layers[index]
    }
}

/// Whether asking again may go on where the download broke.
pub fn can_resume(error: &Error) -> bool {
    matches!(
        error,
        Error::PullUnfinished | Error::Lost { .. } | Error::Silent { .. }
    ) || error.refusal() == Some(Refusal::PullBroken)
}

#[cfg(test)]
mod tests {
    use super::{PullLine, PullProgress};

    fn layer(digest: &str, total: u64, completed: Option<u64>) -> PullLine {
        PullLine {
            status: format!("pulling {digest}"),
            digest: Some(digest.to_owned()),
            total: Some(total),
            completed,
        }
    }

    #[test]
    fn the_bar_never_goes_back() {
        let mut progress = PullProgress::default();
        progress.add(&PullLine {
            status: "pulling manifest".into(),
            ..PullLine::default()
        });
        assert_eq!((progress.completed(), progress.total()), (0, 0));
        progress.add(&layer("a", 100, None));
        progress.add(&layer("a", 100, Some(60)));
        progress.add(&layer("a", 100, Some(40)));
        assert_eq!((progress.completed(), progress.total()), (60, 100));
        progress.add(&layer("b", 10, Some(11)));
        assert_eq!((progress.completed(), progress.total()), (70, 110));
        assert_eq!(progress.status, "pulling b");
    }
}
