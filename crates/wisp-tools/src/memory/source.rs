//! What a request is about, opened: a stored output, or an entry of the record.

use wisp_output::content::{Content, FileContent, MemoryContent, Section};
use wisp_output::request::Target;
use wisp_output::{Kept, Store, Streams, streams};

use crate::behind::Wanted;
use crate::call::{Call, Keep};

/// How the header of an entry that is a command's output names it.
const OF_A_COMMAND: &str = "output of run_command";

/// The bytes a request reads, and what they are called.
pub(super) struct Source {
    /// As a request names it: `output 3f9a2c1b`, `entry 7`.
    pub name: String,
    /// What it is, on one line; for an entry.
    pub header: Option<String>,
    /// How a command ended, in words.
    pub exit: Option<String>,
    /// Lines, a last one without a newline included.
    pub lines: u64,
    /// A command's streams, by which their lines are named.
    pub sections: Vec<Section>,
    /// Bytes that were printed, where the record has them.
    printed: Option<u64>,
    bytes: Bytes,
}

enum Bytes {
    Stored(Streams<FileContent>),
    Held(Vec<u8>),
}

impl Source {
    /// Opens what `target` names, or says on one line why it cannot be.
    pub(super) fn open(target: &Target, call: &Call<'_>) -> Result<Self, String> {
        match target {
            Target::Output(id) => output(id, call),
            Target::Entry(number) => entry(*number, call),
        }
    }

    /// A text that is no output: what the record gave.
    pub(super) fn text(name: String, header: String, text: String) -> Self {
        let lines = text.matches('\n').count() as u64 + u64::from(!text.is_empty() && !text.ends_with('\n'));
        Self {
            name,
            header: Some(header),
            exit: None,
            lines,
            sections: Vec::new(),
            printed: None,
            bytes: Bytes::Held(text.into_bytes()),
        }
    }

    /// The text of a command's output, its lines counted in its streams.
    fn without_frames(mut self, printed: Option<(u64, streams::Counts)>) -> Self {
        if let Bytes::Held(bytes) = &self.bytes {
            let sections =
                streams::framed(&String::from_utf8_lossy(bytes), printed.map(|(_, counts)| counts));
            if !sections.is_empty() {
                self.lines = streams::lines_of(&sections);
                self.sections = sections;
                self.printed = printed.map(|(bytes, _)| bytes);
            }
        }
        self
    }

    fn stored(name: String, header: Option<String>, kept: Kept) -> Self {
        Self {
            name,
            header,
            exit: kept.record.exit.clone(),
            lines: kept.record.lines,
            bytes: Bytes::Stored(kept.streams()),
            sections: kept.record.sections,
            printed: None,
        }
    }

    /// Does `what` with the content.
    pub(super) fn with<T>(&self, what: impl FnOnce(&dyn Content) -> T) -> T {
        match &self.bytes {
            Bytes::Stored(file) => what(file),
            Bytes::Held(bytes) => what(&Streams::new(MemoryContent::whole(bytes), &self.sections)),
        }
    }

    /// How many bytes were printed: its size without a command's frames.
    pub(super) fn printed(&self) -> u64 {
        match &self.bytes {
            Bytes::Stored(file) => file.printed(),
            Bytes::Held(bytes) => {
                let counted = || Streams::new(MemoryContent::whole(bytes), &self.sections).printed();
                self.printed.unwrap_or_else(counted)
            }
        }
    }
}

fn output(id: &str, call: &Call<'_>) -> Result<Source, String> {
    let kept = stored(id, call)?;
    let name = format!("output {}", kept.record.shown_id());
    Ok(Source::stored(name, None, kept))
}

/// The stored output `id`: of this conversation, else of an earlier session that it goes on from. What other
/// conversations printed is theirs.
fn stored(id: &str, call: &Call<'_>) -> Result<Kept, String> {
    let kept = opened(id, call)?;
    match call.scene.behind.record {
        Some(record) if !record.keeps(&kept.record.id) => Err(format!(
            "output {} is not of this conversation; recall the outputs whose notes you were shown, or an entry",
            kept.record.shown_id()
        )),
        _ => Ok(kept),
    }
}

/// The stored output `id`, whoever it is of: an entry of the record names only what is its own.
fn opened(id: &str, call: &Call<'_>) -> Result<Kept, String> {
    let store: &Store = match &call.services.keep {
        Keep::In(store) => store,
        Keep::Nowhere(why) => return Err(format!("nothing is kept in this conversation: {why}")),
    };
    let kept = store.open(id).or_else(|_| store.shelf().open(id));
    kept.map_err(|e| format!("{e}; an output that was shown whole is not stored, recall its entry instead"))
}

fn entry(number: u64, call: &Call<'_>) -> Result<Source, String> {
    let record = call
        .scene
        .behind
        .record
        .ok_or("this conversation keeps no record")?;
    let recalled = record.recall(&Wanted::Entry(number))?;
    let name = format!("entry {number}");
    let Some(id) = &recalled.kept else {
        let command = recalled.header.contains(OF_A_COMMAND);
        let source = Source::text(name, recalled.header, recalled.text);
        return Ok(if command {
            source.without_frames(recalled.printed)
        } else {
            source
        });
    };
    match opened(id, call) {
        Ok(kept) => {
            let header = format!("{}, from the stored output", recalled.header);
            Ok(Source::stored(name, Some(header), kept))
        }
        Err(why) => {
            let header = format!("{}, as it was shown ({why})", recalled.header);
            Ok(Source::text(name, header, recalled.text))
        }
    }
}
