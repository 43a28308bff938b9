//! Whole documents: an input that is JSON from its first byte to its last is outlined, not searched for errors.

use crate::json::{Event, Listener, Tokenizer};
use crate::sarif::Sarif;
use crate::shape::{JsonShape, Outliner};

/// A byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads the input as a document for as long as it can be one.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    json: Option<Box<Json>>,
    decided: bool,
    /// Why it is none, and the line.
    fault: Option<(String, u64)>,
    /// How many bytes of a mark have come.
    marked: usize,
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
    /// Reads on. The bytes may end anywhere, in the mark or the blanks before a document too.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes = if self.decided { bytes } else { self.begin(bytes) };
        let Some(json) = &mut self.json else { return };
        json.tokenizer.push(bytes, &mut json.both);
        if json.tokenizer.broken {
            self.fault = json.tokenizer.fault();
            self.json = None;
        }
    }

    /// Only an object or an array is worth an outline. The bytes without a mark before them.
    fn begin<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let ([first, rest @ ..], Some(mark)) = (bytes, MARK.get(self.marked)) {
            if first == mark {
                (bytes, self.marked) = (rest, self.marked + 1);
            } else {
                // A part of a mark is none, and no document begins with it.
                self.decided = self.marked > 0;
                self.marked = MARK.len();
            }
        }
        if self.decided {
            self.json = None;
            return bytes;
        }
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        self.decided = first.is_some();
        match first {
            None | Some(b'{' | b'[') => {
                self.json.get_or_insert_default();
            }
            Some(_) => self.json = None,
        }
        bytes
    }

    /// Why what began as JSON is none, and the line where that shows.
    pub(crate) fn fault(&self) -> Option<(String, u64)> {
        let cut = || self.json.as_ref()?.tokenizer.fault();
        self.fault.clone().or_else(cut)
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

#[cfg(test)]
mod tests {
    use super::Documents;

    /// Whether the bytes are a document, however they are cut.
    fn is_document(bytes: &[u8]) -> bool {
        let found = [1, 2, 3, 1_000].map(|piece| {
            let mut documents = Documents::default();
            bytes.chunks(piece).for_each(|part| documents.push(part));
            documents.close().is_some()
        });
        assert_eq!(found, [found[0]; 4], "{bytes:?}");
        found[0]
    }

    #[test]
    fn a_mark_and_blanks_may_stand_before_a_document() {
        for bytes in [&b"{}"[..], b"\n [1]\n", b"\xEF\xBB\xBF{}", b"\xEF\xBB\xBF\r\n{}"] {
            assert!(is_document(bytes), "{bytes:?}");
        }
        for bytes in [
            &b""[..],
            b"\n ",
            b"x {}",
            b"\xEF{}",
            b"\xEF\xBB{}",
            b"\xEF\xBBx",
            b"\xEF\xBB\xBF",
            b"\xEF\xBB\xBF\xEF\xBB\xBF{}",
        ] {
            assert!(!is_document(bytes), "{bytes:?}");
        }
    }
}
