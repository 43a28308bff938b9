//! Whole documents: an input that is JSON from its first byte to its last is outlined, not searched for errors.

use crate::json::{Event, Listener, Tokenizer};
use crate::sarif::Sarif;
use crate::shape::{JsonShape, Outliner};

/// Reads the input as a document for as long as it can be one.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    json: Option<Box<Json>>,
    decided: bool,
}

#[derive(Debug, Default)]
struct Json {
    tokenizer: Tokenizer,
    both: Both,
}

#[derive(Debug, Default)]
struct Both {
    outliner: Outliner,
    sarif: Sarif,
}

impl Listener for Both {
    fn event(&mut self, event: Event<'_>, line: u64) {
        self.outliner.event(event, line);
        self.sarif.event(event, line);
    }
}

impl Documents {
    /// Reads on.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if !self.decided {
            self.decide(bytes);
        }
        let Some(json) = &mut self.json else { return };
        json.tokenizer.push(bytes, &mut json.both);
        if json.tokenizer.broken {
            self.json = None;
        }
    }

    /// Only an object or an array is worth an outline.
    fn decide(&mut self, bytes: &[u8]) {
        let start = bytes
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(bytes)
            .iter()
            .find(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = start {
            self.decided = true;
            if matches!(first, b'{' | b'[') {
                self.json = Some(Box::default());
            }
        }
    }

    /// The outline and, for a SARIF file, its results, when the input was JSON to its end.
    pub(crate) fn close(self) -> Option<(JsonShape, Sarif)> {
        let mut json = self.json?;
        let whole = json.tokenizer.finish(&mut json.both);
        whole.then(|| {
            (
                json.both.outliner.close(json.tokenizer.documents),
                json.both.sarif,
            )
        })
    }
}
