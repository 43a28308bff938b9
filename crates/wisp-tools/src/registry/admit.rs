//! Admission: what the model is shown of a result is decided here, once, and the whole is kept when it is more.

use std::io::Read;

use wisp_exec::{Outcome, StreamOutput};
use wisp_output::fit::FirstError;
use wisp_output::store::About as Described;
use wisp_output::{Context, HeldBack, Kept, Output, Piece, Place, Stream, present};

use crate::call::{Keep, Services};
use crate::tool::{Body, Ending};

/// A stretch of the stored output that the model was not shown.
pub type HeldRange = HeldBack;

/// What is known of a kept output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecord {
    /// Bytes of the stored file.
    pub bytes: u64,
    /// Lines of the stored file.
    pub lines: u64,
    /// SHA-256 of the stored file.
    pub sha256: String,
    /// Whether the ceiling cut it.
    pub cut: bool,
    /// Bytes before any cut.
    pub total_bytes: u64,
    /// Lines before any cut.
    pub total_lines: u64,
}

/// A result as the model is shown it, with the account of the rest.
#[derive(Debug)]
pub struct Admitted {
    /// What the model is shown, at most the budget.
    pub shown: String,
    /// The beginning of the whole, for the person, at most 16 KiB.
    pub beginning: String,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// Bytes and lines that were printed: the whole less a command's header and frames.
    pub printed: (u64, u64),
    /// What the model was not shown.
    pub held: Vec<HeldRange>,
    /// The stored output, when there is one.
    pub kept: Option<KeptRecord>,
    /// Why there is none although it was wanted.
    pub not_kept: Option<String>,
    /// Whether it is a command's.
    pub command: bool,
    /// How a command ended, in words, for the note.
    pub exit: Option<String>,
}

/// What is known of a call besides what it returned.
pub(super) struct About<'a> {
    /// The call's id, under which the output is kept.
    pub call: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// What it was asked for, on one line.
    pub arguments: String,
    /// Whether the conversation has `memory`.
    pub memory: bool,
    /// A line above the result: that the call is repeated.
    pub note: Option<String>,
}

/// The most bytes of an output's beginning that travel to a face.
const BEGINNING: usize = 16 * 1024;

/// Shows a result within its budget and keeps the whole when it is more.
pub(super) fn admit(body: Body, ending: &Ending, about: &About<'_>, services: &Services) -> Admitted {
    let note = about.note.as_ref().map_or_else(String::new, |n| format!("{n}\n"));
    match body {
        Body::Text(text) => plain(text, &note, about, services),
        Body::Page(text) => page(&text, &note),
        Body::Command {
            header,
            outcome,
            footer,
        } => {
            let exit = match ending {
                Ending::Exit(code) => Some(format!("exit status {code}")),
                other => Some(other.words()),
            };
            let budget = services.budget.command_bytes();
            let shape = Shape {
                budget,
                command: true,
                exit,
            };
            let beginning = beginning(&outcome);
            let printed = (
                outcome.stdout.bytes() + outcome.stderr.bytes(),
                outcome.stdout.lines() + outcome.stderr.lines(),
            );
            let output = command(&header, &outcome, &footer);
            let admitted = shown(output, &note, &shape, (about, services), beginning);
            Admitted { printed, ..admitted }
        }
    }
}

/// A page is bounded by its tool; what is shown is what it is.
fn page(text: &str, note: &str) -> Admitted {
    Admitted {
        bytes: text.len() as u64,
        lines: text.lines().count() as u64,
        printed: (text.len() as u64, text.lines().count() as u64),
        beginning: text.to_owned(),
        shown: format!("{note}{text}"),
        held: Vec::new(),
        kept: None,
        not_kept: None,
        command: false,
        exit: None,
    }
}

fn plain(text: String, note: &str, about: &About<'_>, services: &Services) -> Admitted {
    let beginning = cut(&text, BEGINNING).to_owned();
    let shape = Shape {
        budget: services.budget.bytes(),
        command: false,
        exit: None,
    };
    shown(
        Output::text(text.into_bytes()),
        note,
        &shape,
        (about, services),
        beginning,
    )
}

/// How a result is shown.
struct Shape {
    budget: usize,
    command: bool,
    exit: Option<String>,
}

fn shown(
    output: Output<'_>,
    note: &str,
    shape: &Shape,
    (about, services): (&About<'_>, &Services),
    beginning: String,
) -> Admitted {
    let bytes = output.bytes();
    let described = Described {
        tool: about.tool.to_owned(),
        arguments: about.arguments.clone(),
        exit: shape.exit.clone(),
    };
    let context = Context {
        id: about.call,
        about: described,
        budget: shape.budget.saturating_sub(note.len()),
        memory: about.memory,
        command: shape.command,
        now: services.clock.now(),
        first_error: Some(&first_error),
    };
    let place = match &services.keep {
        Keep::In(store) => Place::Store(store),
        Keep::Nowhere(why) => Place::Nowhere(why),
    };
    let presented = present(output, place, &context);
    let kept = presented.kept.as_ref().map(KeptRecord::of);
    let lines = kept
        .as_ref()
        .map_or_else(|| presented.text.lines().count() as u64, |k| k.total_lines);
    Admitted {
        shown: format!("{note}{}", presented.text),
        beginning,
        bytes,
        lines,
        printed: (bytes, lines),
        held: presented.held,
        kept,
        not_kept: presented.not_kept,
        command: shape.command,
        exit: shape.exit.clone(),
    }
}

impl KeptRecord {
    pub(super) fn of(kept: &Kept) -> Self {
        let record = &kept.record;
        Self {
            bytes: record.bytes,
            lines: record.lines,
            sha256: record.sha256.clone(),
            cut: record.cut,
            total_bytes: record.total_bytes,
            total_lines: record.total_lines,
        }
    }
}

/// The first line of an output in a known failure format.
pub(super) fn first_error(reader: &mut dyn Read) -> Option<FirstError> {
    let found = wisp_digest::first_error_of(reader).ok().flatten()?;
    Some(FirstError {
        line: found.line,
        text: found.text,
    })
}

/// A command's output as it is kept: its header, its streams in their frames, its footer.
fn command<'a>(header: &str, outcome: &'a Outcome, footer: &str) -> Output<'a> {
    let streams = vec![
        stream("stdout", &outcome.stdout),
        stream("stderr", &outcome.stderr),
    ];
    Output::command(header, streams, footer)
}

fn stream<'a>(name: &'static str, printed: &'a StreamOutput) -> Stream<'a> {
    let ends = (printed.head(), printed.tail());
    let stream = Stream::ends(Some(name), ends, printed.bytes(), printed.newlines());
    if printed.is_in_memory() {
        return stream;
    }
    stream.with_pieces(pieces(printed))
}

/// Everything the runner kept of a stream, with the stretch it could not keep.
fn pieces(printed: &StreamOutput) -> Vec<Piece<'_>> {
    let mut pieces = vec![Piece::Bytes(Box::new(printed.before_gap()))];
    if let Some(gap) = printed.gap() {
        pieces.push(Piece::Missing {
            bytes: gap.bytes,
            newlines: gap.newlines,
        });
        pieces.push(Piece::Bytes(Box::new(printed.after_gap())));
    }
    pieces
}

/// What the person sees under the call: stdout, then stderr.
fn beginning(outcome: &Outcome) -> String {
    let out = String::from_utf8_lossy(cut_bytes(outcome.stdout.head(), BEGINNING)).into_owned();
    let room = BEGINNING - out.len().min(BEGINNING);
    let joint = if out.is_empty() || out.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let err = String::from_utf8_lossy(cut_bytes(outcome.stderr.head(), room)).into_owned();
    format!("{out}{joint}{err}")
}

fn cut_bytes(bytes: &[u8], most: usize) -> &[u8] {
    &bytes[..bytes.len().min(most)]
}

fn cut(text: &str, most: usize) -> &str {
    let mut at = most.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    &text[..at]
}
