//! Admission: what the model is shown of a result is decided here, once, and the whole is kept when it is more.

use std::io::Read;
use std::ops::Range;

use wisp_exec::{Outcome, StreamOutput};
use wisp_output::fit::FirstError;
use wisp_output::store::About as Described;
use wisp_output::{
    Context, HeldBack, Kept, Measured, Output, Piece, Place, Presented, Stream, present, refit,
};
use wisp_template_tokens::boundary;

use super::excerpt::{Excerpt, excerpt};
use super::file;
use crate::call::{Keep, Services};
use crate::run_command;
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
    /// Which stretch of it the tool returned, in bytes: the rest is wisp's own words.
    pub data: Range<usize>,
    /// The beginning of the whole, for the person, at most 16 KiB.
    pub beginning: String,
    /// The stretches of it that the user is shown unasked.
    pub excerpt: Vec<Excerpt>,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// Bytes and lines that were printed: the whole less a command's header and frames.
    pub printed: (u64, u64),
    /// Lines that a command printed to stdout.
    pub out_lines: Option<u64>,
    /// What the model was not shown.
    pub held: Vec<HeldRange>,
    /// The stored output, when there is one.
    pub kept: Option<KeptRecord>,
    /// Why there is none although it was wanted.
    pub not_kept: Option<String>,
    /// Whether it is a command's.
    pub command: bool,
    /// What the command left running and what became of it, for the person.
    pub left: Option<String>,
    /// How a command ended, in words, for the note.
    pub exit: Option<String>,
    /// The lines above the result: that the call is repeated, what of it was ignored.
    pub(super) note: Option<String>,
    /// What the tool returned, until the batch is finished: a result that has to shrink is kept from it.
    pub(super) whole: Option<Body>,
    /// A command's header and footer, which are wisp's own.
    pub(super) around: (String, String),
}

impl Admitted {
    /// Adds lines of wisp's own below what the model is shown.
    pub fn add_below(&mut self, text: &str) {
        if !self.shown.is_empty() && !self.shown.ends_with('\n') {
            self.shown.push('\n');
        }
        self.shown.push_str(text);
    }

    /// What a record holds of a command the person ran: all it printed, unless a part was held back. Then it is what a
    /// model would be shown, the beginning and the end with the marker between them, so that the copy never passes for
    /// the whole.
    pub fn for_record(&self) -> String {
        match &self.whole {
            Some(Body::Command { outcome, .. }) if self.held.is_empty() => printed_text(outcome),
            _ => self.shown.clone(),
        }
    }
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
    /// Lines above the result: that the call is repeated, what of it was ignored.
    pub note: Option<String>,
}

/// The most bytes of an output's beginning that travel to a face.
const BEGINNING: usize = 16 * 1024;

/// Shows a result within its budget and keeps the whole when it is more.
pub(super) fn admit(body: Body, ending: &Ending, about: &About<'_>, services: &Services) -> Admitted {
    let command = matches!(body, Body::Command { .. });
    let exit = command.then(|| match ending {
        Ending::Exit(code) => format!("exit status {code}"),
        other => other.words(),
    });
    let left = match &body {
        Body::Command { outcome, .. } => run_command::left_running(outcome),
        _ => None,
    };
    let note = about.note.clone();
    let admitted = Admitted {
        shown: String::new(),
        data: 0..0,
        beginning: beginning(&body),
        excerpt: excerpt(&body, ending, services.options.shown_lines),
        bytes: 0,
        lines: 0,
        printed: (0, 0),
        out_lines: match &body {
            Body::Command { outcome, .. } => Some(outcome.stdout.lines()),
            _ => None,
        },
        held: Vec::new(),
        kept: None,
        not_kept: None,
        command,
        left,
        exit,
        note,
        whole: None,
        around: (String::new(), String::new()),
    };
    let own = is_wisps_own(ending);
    let mut admitted = match body {
        Body::Page(text) => page((text, ""), admitted),
        Body::File { page, path } => file::read_whole(&page, &path, admitted, about, services),
        body => shown(body, admitted, about, services),
    };
    if own {
        admitted.data = 0..0;
    }
    admitted
}

/// Whether a result that ended so is made of wisp's own words alone.
fn is_wisps_own(ending: &Ending) -> bool {
    match ending {
        Ending::Denied | Ending::Declined | Ending::NeverRan => true,
        Ending::Failed(how) => how == "error",
        Ending::Done | Ending::Exit(_) | Ending::Interrupted => false,
    }
}

/// Where what a tool returned lies in `text`, which begins with wisp's `head` and ends with `note` bytes of wisp's, and
/// before them its `foot`.
pub(super) fn data_in(text: &str, (head, foot): (&str, &str), note: usize) -> Range<usize> {
    let from = if text.starts_with(head) { head.len() } else { 0 };
    let end = text.len().saturating_sub(note).max(from);
    let foot = if text[from..end].ends_with(foot) {
        foot.len()
    } else {
        0
    };
    from..end - foot
}

/// The header and the footer of a command's output, as they stand above and below its streams.
pub(super) fn around(body: &Body) -> (String, String) {
    match body {
        Body::Command {
            header,
            footer,
            outcome,
        } => {
            let printed = outcome.stdout.bytes() + outcome.stderr.bytes();
            let silent = if printed == 0 { "no output\n" } else { "" };
            (ended(header) + silent, ended(footer))
        }
        _ => (String::new(), String::new()),
    }
}

/// A text with the newline that ends its last line.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

/// A page is bounded by its tool; what is shown is what it is.
pub(super) fn page((text, closing): (String, &str), admitted: Admitted) -> Admitted {
    let note = line_of(admitted.note.as_deref());
    let data = note.len()..note.len() + text.len();
    let text = text + closing;
    Admitted {
        data,
        bytes: text.len() as u64,
        lines: text.lines().count() as u64,
        printed: (text.len() as u64, text.lines().count() as u64),
        shown: format!("{note}{text}"),
        whole: Some(Body::Text(text)),
        ..admitted
    }
}

/// A note as the line it is above a result.
pub(super) fn line_of(note: Option<&str>) -> String {
    note.map_or_else(String::new, |note| format!("{note}\n"))
}

fn shown(body: Body, admitted: Admitted, about: &About<'_>, services: &Services) -> Admitted {
    let output = output_of(&body);
    let bytes = output.bytes();
    let note = line_of(admitted.note.as_deref());
    let most = if admitted.command {
        services.budget.command_bytes()
    } else {
        services.budget.bytes()
    };
    let budget = if bytes > most.saturating_sub(note.len()) as u64 {
        // What is cut leaves room for the lines it is sent between.
        most.saturating_sub(boundary::BYTES)
    } else {
        most
    };
    let context = Context {
        id: about.call,
        about: Described {
            tool: about.tool.to_owned(),
            arguments: about.arguments.clone(),
            exit: admitted.exit.clone(),
        },
        budget: budget.saturating_sub(note.len()),
        memory: about.memory,
        command: admitted.command,
        now: services.clock.now(),
        first_error: Some(&first_error),
    };
    let place = match &services.keep {
        Keep::In(store) => Place::Store(store),
        Keep::Nowhere(why) => Place::Nowhere(why),
    };
    let presented = grown(
        present(output, place, &context),
        most - note.len().min(most),
        context,
    );
    let kept = presented.kept.as_ref().map(KeptRecord::of);
    let (head, foot) = around(&body);
    let data = data_in(&presented.text, (&head, &foot), presented.note);
    let shown_lines = || presented.text.lines().count() as u64;
    let lines = kept.as_ref().map_or_else(shown_lines, |k| k.total_lines);
    let printed = printed(&body).unwrap_or((bytes, lines));
    Admitted {
        lines: printed.1,
        printed,
        data: note.len() + data.start..note.len() + data.end,
        around: (head, foot),
        shown: format!("{note}{}", presented.text),
        bytes,
        held: presented.held,
        whole: kept.is_none().then_some(body),
        kept,
        not_kept: presented.not_kept,
        ..admitted
    }
}

/// A kept output fitted once more when what is sent of it, its tokens inert and its two lines beside it, passed `most`
/// bytes.
fn grown(mut presented: Presented, most: usize, context: Context<'_>) -> Presented {
    let sent = presented.text.len() + growth(&presented.text) + boundary::BYTES;
    let budget = context.budget.saturating_sub(sent.saturating_sub(most));
    if let Some(kept) = &presented.kept
        && sent > most
        && let Ok(fitted) = refit(kept, &Context { budget, ..context })
    {
        (presented.text, presented.held, presented.note) = (fitted.text, fitted.held, fitted.note);
    }
    presented
}

/// How many bytes a text grows by when the tokens in it are made inert on the way to the model.
pub(super) fn growth(text: &str) -> usize {
    wisp_template_tokens::inert(text).len() - text.len()
}

/// Bytes and lines of a command's streams.
fn printed(body: &Body) -> Option<(u64, u64)> {
    let Body::Command { outcome, .. } = body else {
        return None;
    };
    let (out, err) = (&outcome.stdout, &outcome.stderr);
    Some((out.bytes() + err.bytes(), out.lines() + err.lines()))
}

/// What a tool returned, as it is shown and kept.
pub(super) fn output_of(body: &Body) -> Output<'_> {
    match body {
        Body::Text(text) | Body::Page(text) => Output::text(text.as_bytes()),
        Body::File { page, .. } => Output::text(page.lines.as_bytes()),
        Body::Command {
            header,
            outcome,
            footer,
        } => command(header, outcome, footer),
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

/// The first line of an output in a known failure format, or else the first that looks like a failure.
pub(super) fn first_error(reader: &mut dyn Read) -> Option<FirstError> {
    let found = wisp_digest::first_error_of(reader).ok().flatten()?;
    Some(FirstError {
        line: found.line,
        text: found.text,
        known: found.known,
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
    let whole = Measured {
        bytes: printed.bytes(),
        newlines: printed.newlines(),
        dropped_ends_line: printed.dropped_ends_line(),
    };
    let stream = Stream::ends(Some(name), ends, whole);
    if printed.is_in_memory() {
        return stream;
    }
    stream.with_pieces(pieces(printed))
}

/// Everything the runner kept of a stream, with the stretch it could not keep.
pub(super) fn pieces(printed: &StreamOutput) -> Vec<Piece<'_>> {
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

/// What the person sees under the call: a command's stdout, then its stderr; else the text.
fn beginning(body: &Body) -> String {
    let outcome = match body {
        Body::Text(text) => return cut(text, BEGINNING).to_owned(),
        // A page is within the budget, and a face that shows it folded shows all of it.
        Body::Page(text) => return text.clone(),
        Body::File { page, .. } => return format!("{}{}{}", page.opening, page.lines, page.closing),
        Body::Command { outcome, .. } => outcome,
    };
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

/// All that a command printed and that was kept: its stdout, then its stderr.
fn printed_text(outcome: &Outcome) -> String {
    let all = |printed: &StreamOutput| {
        let mut bytes = Vec::new();
        // What cannot be read back ends the copy where it is.
        let _ = printed.before_gap().read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (mut text, err) = (all(&outcome.stdout), all(&outcome.stderr));
    if !text.is_empty() && !text.ends_with('\n') && !err.is_empty() {
        text.push('\n');
    }
    text + &err
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
