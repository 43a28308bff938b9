//! The short stand-in a later request carries for an output.
//!
//! Built mechanically from the output and its call. It says what the output was, how it began and ended, and how
//! to see it again; never that a command should be run again for it.

use serde::Serialize;
use wisp_amount::counted;

use crate::blocks::Place;
use crate::entry::{Content, Entry, EntryId};
use crate::message::{ToolCall, size};
use crate::output::Output;
use crate::record::ThreadRecord;
use crate::text::Text;

/// Most bytes of a reference.
pub const REFERENCE_BYTES: usize = 640;
/// Most characters of a quoted line.
const LINE_CHARS: usize = 100;
/// Most characters of the arguments.
const ARGUMENT_CHARS: usize = 200;

/// The tool whose calls are commands.
const COMMAND_TOOL: &str = "run_command";
/// What is said of a command's output that the model has no tool to see again.
pub(crate) const NOT_RUN_AGAIN: &str = "its output is not repeated; do not run the command again to see it";

/// An output that became a reference; audited as `context.reference`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Referenced {
    /// The output's entry.
    pub entry: EntryId,
    /// Its tool.
    pub tool: Text,
    /// Bytes it was sent with until now.
    pub bytes: u64,
    /// Bytes of its reference.
    pub reference_bytes: u64,
}

impl Referenced {
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let output = entry.output()?;
        Some(Self {
            entry: entry.id,
            tool: output.tool.clone(),
            bytes: size(output.shown.len()),
            reference_bytes: size(output.reference.as_ref()?.text.len()),
        })
    }
}

/// The references of the outputs among `entries` that are still whole and longer than their reference.
pub(crate) fn texts(entries: &[Entry], memory: bool) -> Vec<(EntryId, Text)> {
    let mut calls: &[ToolCall] = &[];
    let mut found = Vec::new();
    for entry in entries {
        match &entry.content {
            Content::Calls { calls: made, .. } => calls = made,
            Content::Output(output) if output.reference.is_none() => {
                let call = calls.iter().find(|call| call.id == output.call);
                let text = reference(entry, output, call, memory);
                if text.len() < output.shown.len() {
                    found.push((entry.id, Text::from(text)));
                }
            }
            _ => {}
        }
    }
    found
}

/// The reference of one output.
fn reference(entry: &Entry, output: &Output, call: Option<&ToolCall>, memory: bool) -> String {
    let mut text = String::new();
    for share in [1, 2, 4, 10] {
        text = build(entry, output, call, (memory, share));
        if text.len() <= REFERENCE_BYTES {
            return text;
        }
    }
    text.truncate(text.floor_char_boundary(REFERENCE_BYTES));
    text
}

/// The reference with its quotations at one `share`th of their room.
fn build(entry: &Entry, output: &Output, call: Option<&ToolCall>, (memory, share): (bool, usize)) -> String {
    let mut lines = vec![format!(
        "[output of entry {} not repeated: {} at {}, {}, {}, {}; {}]",
        entry.id,
        shorten(&output.tool, LINE_CHARS / share),
        entry.time.clock(),
        shorten(&output.status.words(), LINE_CHARS / share),
        counted(output.lines, "line"),
        counted(output.bytes, "byte"),
        how(entry.id, output, memory),
    )];
    if let Some(call) = call {
        let arguments = shorten(&call.arguments.to_string(), ARGUMENT_CHARS / share);
        lines.push(format!("arguments: {arguments}"));
    }
    let (first, last) = content_edges(&output.shown, LINE_CHARS / share);
    lines.extend(first.map(|line| format!("first line: {line}")));
    lines.extend(last.map(|line| format!("last line: {line}")));
    lines.extend(next_offset(&output.shown).map(|offset| format!("paging: more from offset {offset}")));
    lines.join("\n")
}

/// How the model gets at the output again.
fn how(id: EntryId, output: &Output, memory: bool) -> String {
    if memory {
        format!("to see it: memory \"recall entry {id}\"")
    } else if output.reads_only {
        "call it again to see it".to_owned()
    } else if output.tool == COMMAND_TOOL {
        NOT_RUN_AGAIN.to_owned()
    } else {
        "its output is not repeated; do not call it again to see it".to_owned()
    }
}

/// How a text begins the request that it sends the model to the `memory` tool with.
const NAMES_MEMORY: &str = "memory \"";

impl ThreadRecord {
    /// Whether what requests are composed from sends the model to the `memory` tool, or would have to: an output of
    /// which a part was held back, a reference, a notice or the earlier lines that name the tool. A conversation that is
    /// gone on with needs it then, whatever its window.
    pub fn needs_memory(&self) -> bool {
        let names = |text: &str| text.contains(NAMES_MEMORY);
        let earlier = self.blocks.at(Place::Earlier, self.revision);
        let needs = |entry: &Entry| match &entry.content {
            Content::Output(output) => {
                let reference = output.reference.as_ref();
                output.held_back.is_some() || reference.is_some_and(|reference| names(&reference.text))
            }
            Content::Command { notice, kept, .. } => kept.is_some() || names(notice),
            _ => false,
        };
        earlier.is_some_and(|text| names(text)) || self.entries.here().iter().any(needs)
    }
}

/// The first and last lines of `text` that are content, each shortened and marked where it meets a cut.
fn content_edges(text: &str, chars: usize) -> (Option<String>, Option<String>) {
    let first = edge(text.lines(), chars);
    let last = edge(text.lines().rev(), chars);
    (first, last)
}

/// The first line of `lines` that is content.
fn edge<'a>(lines: impl Iterator<Item = &'a str>, chars: usize) -> Option<String> {
    let mut lines = lines.peekable();
    let mut after_cut = false;
    while let Some(line) = lines.next() {
        if is_cut(line) {
            after_cut = true;
        } else if !is_frame(line) {
            let meets_cut = after_cut || lines.peek().is_some_and(|next| is_cut(next));
            let shown = shorten(line, chars);
            return Some(if meets_cut && !shown.ends_with('…') {
                shown + "…"
            } else {
                shown
            });
        }
    }
    None
}

/// The first and last non-empty lines of what a typed command printed, shortened.
pub(crate) fn edges(text: &str) -> (String, String) {
    let (first, last) = content_edges(text, LINE_CHARS);
    (first.unwrap_or_default(), last.unwrap_or_default())
}

/// Whether a line says that something was left out next to it.
fn is_cut(line: &str) -> bool {
    line.starts_with("[truncated: ") || (line.starts_with("[… ") && line.ends_with(" …]"))
}

/// Whether a line is a frame or trailer a tool puts around its content.
fn is_frame(line: &str) -> bool {
    const WHOLE: [&str; 5] = [
        "stdout:",
        "stderr:",
        "[end of file]",
        "[no newline at the end of the file]",
        "",
    ];
    const BEGIN: [&str; 11] = [
        "exit status: ",
        "exit status ",
        "[more: ",
        "[line ",
        "[lines ",
        "held back: ",
        "[timed out",
        "timed out after ",
        "killed by signal ",
        "interrupted by the person after ",
        "not all of the output could be kept: ",
    ];
    let line = line.trim();
    WHOLE.contains(&line) || BEGIN.iter().any(|begin| line.starts_with(begin))
}

/// Where `read_file` says to go on from: an offset, with a column inside a long line.
fn next_offset(text: &str) -> Option<&str> {
    let hint = |line: &&str| line.starts_with("[more: ") || line.starts_with("[line ");
    let line = text.lines().rev().take(3).find(hint)?;
    let (_, offset) = line.rsplit_once("call again with offset ")?;
    let offset = offset.strip_suffix(']')?;
    let plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b' ';
    (offset.starts_with(|digit: char| digit.is_ascii_digit()) && offset.bytes().all(plain)).then_some(offset)
}

/// At most `chars` characters of the first line of `text`, ending in `…` when something was left out.
pub(crate) fn shorten(text: &str, chars: usize) -> String {
    let line = text.trim_end().split('\n').next().unwrap_or_default();
    let whole = line.len() == text.trim_end().len();
    match line.char_indices().nth(chars) {
        None if whole => line.to_owned(),
        None => format!("{line}…"),
        Some(_) => line.chars().take(chars.saturating_sub(1)).chain(['…']).collect(),
    }
}
