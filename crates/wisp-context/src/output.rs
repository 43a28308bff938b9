//! What a tool returned: the part the model was shown, decided once, and the account of the rest.
//!
//! A result is admitted when it arrives. From then on every request that carries it carries the same bytes, so a
//! growing history, a smaller budget, a resumed conversation or another model never rewrites what came
//! before, and the server's prompt cache holds.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::admission::excerpt;
use crate::entry::Revision;
use crate::message::size;
use crate::text::Text;

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did what it was asked.
    #[default]
    Ok,
    /// A command ended with this exit status, 0 included.
    Exit(i32),
    /// It failed, or was refused.
    Failed,
    /// Anything else, in the words a reference uses: `killed by signal 9`, `declined`.
    Other(Text),
}

impl Status {
    /// The words a reference and a notice use.
    pub fn words(&self) -> String {
        match self {
            Self::Ok => "ok".to_owned(),
            Self::Exit(code) => format!("exit status {code}"),
            Self::Failed => "failed".to_owned(),
            Self::Other(words) => words.as_str().to_owned(),
        }
    }
}

/// How much a command printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed {
    /// Bytes of both streams.
    pub bytes: u64,
    /// Lines of both streams.
    pub lines: u64,
    /// Lines of stdout.
    pub out_lines: u64,
}

/// How much of an output the model was not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    /// Bytes of the whole that are not in what was shown.
    pub bytes: u64,
    /// Whole lines of it.
    pub lines: u64,
}

/// The short stand-in later requests carry for an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The first turn whose request carried it (`referencedAt`).
    pub turn: u32,
    /// Its bytes, decided once.
    pub text: Text,
    /// From which revision on.
    pub revision: Revision,
}

/// A tool's output on its way into the record. Build it with [`Arrival::new`] and set what differs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The id of the call it answers, as the record gave it out.
    pub call: String,
    /// The tool called.
    pub tool: Text,
    /// What the model is shown, already inside the budget.
    pub shown: Text,
    /// The whole result, when it differs from `shown` and is small enough to hold.
    pub canonical: Option<Text>,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// Lines of a command's stdout, which the others of the whole follow as its stderr.
    pub out_lines: Option<u64>,
    /// What was held back; `None` when `shown` is the whole.
    pub held_back: Option<HeldBack>,
    /// Id of the stored whole, when it was kept.
    pub kept: Option<Text>,
    /// How the call ended.
    pub status: Status,
    /// Whether the tool only reads, so that calling it again is harmless.
    pub reads_only: bool,
    /// Which stretch of `shown` the tool returned, in bytes; the rest is wisp's own. All of it when none is given.
    pub data: Option<Range<usize>>,
}

impl Arrival {
    /// A result that is shown whole.
    pub fn new(call: impl Into<String>, tool: impl Into<Text>, shown: impl Into<Text>) -> Self {
        let shown = shown.into();
        Self {
            call: call.into(),
            tool: tool.into(),
            bytes: size(shown.len()),
            lines: size(shown.lines().count()),
            shown,
            ..Self::default()
        }
    }
}

/// An output as the record holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedOutput")]
pub struct Output {
    /// The id of the call it answers.
    pub call: String,
    /// The tool called.
    pub tool: Text,
    /// What the model was shown. Never recomputed.
    pub shown: Text,
    /// The whole result, where it differs from `shown` and the record holds it.
    #[serde(rename = "content", skip_serializing_if = "Option::is_none")]
    pub canonical: Option<Text>,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// Lines of a command's stdout, which the others of the whole follow as its stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_lines: Option<u64>,
    /// What was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_back: Option<HeldBack>,
    /// Id of the stored whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Text>,
    /// How the call ended.
    pub status: Status,
    /// Whether the tool only reads.
    pub reads_only: bool,
    /// Which stretch of `shown` the tool returned, in bytes; all of it when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<(usize, usize)>,
    /// Whether `shown` was made on loading a file from before there was one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub normalised: bool,
    /// The reference it is sent as, once it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// `shown` was made just now, by the loading that is under way.
    #[serde(skip)]
    pub(crate) just_normalised: bool,
}

impl Output {
    /// The whole as far as the record holds it.
    pub fn whole(&self) -> &str {
        self.canonical.as_ref().unwrap_or(&self.shown)
    }

    /// The stretch of what is sent that the tool returned: of a reference, the lines it quotes.
    pub(crate) fn data(&self, sent: &str, reference: bool) -> Range<usize> {
        if reference {
            let quoted = ["\nfirst line: ", "\nlast line: "];
            let first = quoted.iter().filter_map(|mark| sent.find(mark)).min();
            return first.map_or(sent.len(), |at| at + 1)..sent.len();
        }
        self.data.map_or(0..sent.len(), |(from, to)| from..to)
    }

    /// What a command printed; `None` for another tool, and in a record from before it was counted.
    pub fn printed(&self) -> Option<Printed> {
        Some(Printed {
            bytes: self.bytes,
            lines: self.lines,
            out_lines: self.out_lines?,
        })
    }

    /// What a view at `revision` carries: the reference once it is in force, else what was shown.
    pub(crate) fn sent(&self, revision: Revision) -> (&Text, bool) {
        match &self.reference {
            Some(reference) if reference.revision <= revision => (&reference.text, true),
            _ => (&self.shown, false),
        }
    }
}

impl From<Arrival> for Output {
    fn from(arrival: Arrival) -> Self {
        let canonical = arrival.canonical.filter(|whole| *whole != arrival.shown);
        Self {
            call: arrival.call,
            tool: arrival.tool,
            shown: arrival.shown,
            canonical,
            bytes: arrival.bytes,
            lines: arrival.lines,
            out_lines: arrival.out_lines,
            held_back: arrival.held_back,
            kept: arrival.kept,
            status: arrival.status,
            reads_only: arrival.reads_only,
            data: arrival.data.map(|data| (data.start, data.end)),
            normalised: false,
            reference: None,
            just_normalised: false,
        }
    }
}

/// An output as a file has it. A file from before admission has `content` and no `shown`.
#[derive(Deserialize)]
struct SavedOutput {
    call: String,
    tool: Text,
    shown: Option<Text>,
    content: Option<Text>,
    #[serde(default)]
    bytes: Option<u64>,
    #[serde(default)]
    lines: Option<u64>,
    #[serde(default)]
    out_lines: Option<u64>,
    held_back: Option<HeldBack>,
    kept: Option<Text>,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    reads_only: bool,
    #[serde(default)]
    data: Option<(usize, usize)>,
    #[serde(default)]
    normalised: bool,
    reference: Option<Reference>,
}

impl From<SavedOutput> for Output {
    fn from(saved: SavedOutput) -> Self {
        let just_normalised = saved.shown.is_none();
        let normalised = saved.normalised || just_normalised;
        let content = saved.content.unwrap_or_default();
        let shown = saved
            .shown
            .unwrap_or_else(|| excerpt(&content, crate::admission::LEGACY_BYTES));
        let whole: &str = if content.is_empty() { &shown } else { &content };
        Self {
            bytes: saved.bytes.unwrap_or(size(whole.len())),
            lines: saved.lines.unwrap_or_else(|| size(whole.lines().count())),
            out_lines: saved.out_lines,
            canonical: (!content.is_empty() && content != shown).then_some(content),
            call: saved.call,
            tool: saved.tool,
            shown,
            held_back: saved.held_back,
            kept: saved.kept,
            status: saved.status,
            reads_only: saved.reads_only,
            data: saved.data,
            normalised,
            reference: saved.reference,
            just_normalised,
        }
    }
}
