//! The record beside a stored output: what it is, how large, its hash, and what of it was shown.

use jiff::Timestamp;
use memchr::memchr_iter;
use serde::{Deserialize, Serialize};

use crate::content::Section;
use crate::fit::{Cut, HeldBack};
use crate::pages::{Page, STEP};
use crate::streams;

/// `<id>.json`. Written after the output's file is complete: a file without a record is debris.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The audit call id, which is also the file's name.
    pub id: String,
    /// The tool whose output it is.
    pub tool: String,
    /// What the tool was asked for, on one line: a command, a path.
    #[serde(default)]
    pub arguments: String,
    /// How a command ended, in words: `exit status 1`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit: Option<String>,
    /// Size of the stored file.
    pub bytes: u64,
    /// Lines of the stored streams, a last one without a newline included; a command's frames have none.
    pub lines: u64,
    /// SHA-256 of the stored file, lower-case hex.
    pub sha256: String,
    /// Whether the ceiling cut the output.
    pub cut: bool,
    /// The size the output had, before any cut.
    pub total_bytes: u64,
    /// The lines its streams had.
    pub total_lines: u64,
    /// Bytes of the output that are not in the file.
    #[serde(default)]
    pub dropped_bytes: u64,
    /// Lines whose end is not in the file.
    #[serde(default)]
    pub dropped_lines: u64,
    /// The ceiling that held when it was stored, in bytes.
    pub ceiling: u64,
    /// When it was stored.
    pub created: Timestamp,
    /// The streams in it.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// Newlines of the file before the nominal place of each page but the first, by which a page's first line is known
    /// without reading what is before it. Records of earlier versions have none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<u64>,
    /// What the model was not shown of it.
    #[serde(default)]
    pub held: Vec<HeldBack>,
}

impl Record {
    /// A record with nothing in it yet.
    pub(super) fn empty() -> Self {
        Self {
            id: String::new(),
            tool: String::new(),
            arguments: String::new(),
            exit: None,
            bytes: 0,
            lines: 0,
            sha256: String::new(),
            cut: false,
            total_bytes: 0,
            total_lines: 0,
            dropped_bytes: 0,
            dropped_lines: 0,
            ceiling: 0,
            created: Timestamp::UNIX_EPOCH,
            sections: Vec::new(),
            marks: Vec::new(),
            held: Vec::new(),
        }
    }

    /// The id as people and models are shown it.
    pub fn shown_id(&self) -> &str {
        wisp_host::ids::shown(&self.id)
    }

    /// The line of the file that a page begins in, from 1, frames included; `None` where the record does not know it.
    pub fn file_line(&self, page: &Page) -> Option<u64> {
        let Some(before) = page.number.checked_sub(1) else {
            return Some(1);
        };
        let mark = *self.marks.get(usize::try_from(before).ok()?)?;
        let place = usize::try_from((page.number * STEP).checked_sub(page.from)?).ok()?;
        let inside = memchr_iter(b'\n', page.bytes.get(..place)?).count() as u64;
        Some(mark.checked_sub(inside)? + 1)
    }

    /// Bytes of the stored streams: what was printed and kept, without a command's frames.
    pub fn printed(&self) -> u64 {
        self.bytes - self.framing()
    }

    /// Bytes that were printed, before any cut.
    pub fn total_printed(&self) -> u64 {
        self.total_bytes - self.framing().min(self.total_bytes)
    }

    fn framing(&self) -> u64 {
        let streams: u64 = self.sections.iter().map(|section| section.bytes).sum();
        if self.sections.is_empty() {
            0
        } else {
            self.bytes.saturating_sub(streams)
        }
    }

    /// The record as it was written, its lines numbered: earlier ones counted the frames' lines too.
    pub(super) fn numbered(mut self) -> Self {
        streams::number(&mut self.sections);
        if !self.sections.is_empty() {
            let lines = streams::lines_of(&self.sections);
            self.total_lines -= self.lines.saturating_sub(lines).min(self.total_lines);
            self.lines = lines;
        }
        self
    }

    /// What the ceiling cut out, when it did.
    pub fn cut(&self) -> Option<Cut> {
        self.cut.then_some(Cut {
            bytes: self.dropped_bytes,
            lines: self.dropped_lines,
            ceiling: self.ceiling,
            passed: self.total_bytes > self.ceiling,
        })
    }
}

/// What the keeper of an output says about it.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// The tool.
    pub tool: String,
    /// What it was asked for, on one line.
    pub arguments: String,
    /// How a command ended, in words.
    pub exit: Option<String>,
}
