//! The words that stand for what is held back: the marker in the text and the note at its end.
//!
//! The note comes in tiers, from the full account to the bare identifier, because a share of a crowded batch can
//! be a few hundred bytes. No tier understates, and none names a tool the conversation lacks.

use crate::amount::{counted, grouped, range, size};
use crate::clean;

use super::{HeldBack, Telling};

/// The most of a first error's text that the note quotes, in bytes.
pub const QUOTE: usize = 160;

/// The first line in a known failure format, or else the first that looks like a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstError {
    /// Its number in the stored whole.
    pub line: u64,
    /// The line, raw or clean.
    pub text: String,
    /// Whether a known format states it; else it only looks like a failure.
    pub known: bool,
}

/// What is known exactly about an output without a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    /// How a command ended, in words: `exit status 1`, `killed by signal 9 (SIGKILL)`.
    pub exit: Option<String>,
    /// The first line in a known failure format, or else the first that looks like a failure.
    pub first_error: Option<FirstError>,
}

/// Where the whole of an output is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeping {
    /// In the store.
    Kept {
        /// The output's id, as models are shown it.
        id: String,
        /// Lines of the stored file.
        lines: u64,
        /// Bytes and lines that the ceiling cut out of it, when it did, and the ceiling in bytes.
        cut: Option<Cut>,
    },
    /// Nowhere, with the reason in words: `the disk is full`.
    Lost(String),
}

impl Default for Keeping {
    fn default() -> Self {
        Self::Lost("there is no output store".to_owned())
    }
}

/// What the store's ceiling cut out of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Bytes not kept.
    pub bytes: u64,
    /// Lines not kept.
    pub lines: u64,
    /// The ceiling, in bytes.
    pub ceiling: u64,
    /// Whether the output was longer than the ceiling, which is then why; else it could not be written as it came.
    pub passed: bool,
}

/// How much a note says, from most to least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// Everything, the first error quoted.
    Full,
    /// Without the quotation.
    Plain,
    /// What is held back, how it ended and where the rest is.
    Short,
    /// What is held back and the id.
    Bare,
    /// Nothing but the marker in the text.
    None,
}

/// The tiers in order.
pub(super) const TIERS: [Tier; 5] = [Tier::Full, Tier::Plain, Tier::Short, Tier::Bare, Tier::None];

/// The marker that stands where `held` was, without its newline.
pub(super) fn marker(held: &HeldBack) -> String {
    if held.binary {
        return format!("[binary, {}]", counted(held.bytes, "byte"));
    }
    if held.within.is_some() {
        let line = grouped(held.from_line);
        return format!("[… {} of line {line} held back …]", counted(held.bytes, "byte"));
    }
    format!(
        "[… {} ({}) held back …]",
        counted(held.lines(), "line"),
        size(held.bytes)
    )
}

/// The note for `held`, without a newline; empty at [`Tier::None`].
pub(super) fn note(held: &[HeldBack], telling: &Telling, tier: Tier) -> String {
    if tier == Tier::None || held.is_empty() {
        return String::new();
    }
    let mut clauses = vec![format!("held back: {}", places(held))];
    if tier != Tier::Bare {
        clauses.extend(signals(held, telling, tier));
    }
    clauses.extend(keeping(held, telling, tier));
    if telling.command && tier != Tier::Bare {
        clauses.push("do not run the command again to see it".to_owned());
    }
    clauses.join("; ")
}

fn places(held: &[HeldBack]) -> String {
    held.iter().map(place).collect::<Vec<_>>().join(", ")
}

/// One held-back stretch: `stdout lines 44–2,313 (180 KiB)`.
fn place(held: &HeldBack) -> String {
    let name = held
        .section
        .as_ref()
        .map_or_else(String::new, |name| format!("{name} "));
    let noun = if held.lines() == 1 { "line" } else { "lines" };
    let lines = range(held.from_line, held.to_line);
    let own = own_lines(held);
    match held.within {
        Some((from, to)) => {
            let inside = range(from, to);
            format!("{name}bytes {inside} of line {lines} ({}{own})", size(held.bytes))
        }
        None if held.binary => {
            let bytes = counted(held.bytes, "byte");
            format!("{name}{noun} {lines} (binary, {bytes}{own})")
        }
        None => format!("{name}{noun} {lines} ({}{own})", size(held.bytes)),
    }
}

/// Where the numbers of a stream that follows another differ from its own: `, its own 1–40`.
fn own_lines(held: &HeldBack) -> String {
    if held.before == 0 {
        return String::new();
    }
    let own = |line: u64| line.saturating_sub(held.before);
    format!(", its own {}", range(own(held.from_line), own(held.to_line)))
}

/// The exit status and the first error, as one clause when there is either.
fn signals(held: &[HeldBack], telling: &Telling, tier: Tier) -> Option<String> {
    let signals = &telling.signals;
    let first = signals.first_error.as_ref().map(|error| {
        let what = if error.known {
            "first error at line"
        } else {
            "what looks like an error at line"
        };
        let at = format!("{what} {}", grouped(error.line));
        let quote = tier == Tier::Full && is_held(held, error.line);
        if quote { at + &quotation(telling) } else { at }
    });
    let parts: Vec<String> = signals.exit.clone().into_iter().chain(first).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The first error's line as the note quotes it, with the colon before it; empty when none is known.
pub(super) fn quotation(telling: &Telling) -> String {
    let error = telling.signals.first_error.as_ref();
    error.map_or_else(String::new, |error| format!(": \"{}\"", quoted(&error.text)))
}

fn is_held(held: &[HeldBack], line: u64) -> bool {
    held.iter()
        .any(|part| (part.from_line..=part.to_line).contains(&line))
}

/// The line cleaned and cut to [`QUOTE`] bytes, an ellipsis included.
fn quoted(text: &str) -> String {
    let first = text.lines().next().unwrap_or("");
    let cleaned = clean::line(first.as_bytes(), clean::View::Plain);
    let cleaned = cleaned.trim();
    if cleaned.len() <= QUOTE {
        return cleaned.to_owned();
    }
    let end = cleaned.floor_char_boundary(QUOTE - "…".len());
    let end = clean::word_start(cleaned.as_bytes(), end);
    format!("{}…", &cleaned[..end])
}

/// Where the whole is, and the ways to it.
fn keeping(held: &[HeldBack], telling: &Telling, tier: Tier) -> Vec<String> {
    let (id, lines, cut) = match &telling.keeping {
        Keeping::Kept { id, lines, cut } => (id, *lines, cut),
        Keeping::Lost(_) if tier == Tier::Bare => return vec!["not kept".to_owned()],
        Keeping::Lost(why) => return vec![format!("the rest was not kept: {why}")],
    };
    if tier == Tier::Bare {
        return vec![format!("output {id}")];
    }
    let whom = if telling.memory { "" } else { "for the person " };
    let count = counted(lines, "line");
    let kept = match cut {
        None => format!("the whole output is kept {whom}as output {id} ({count})"),
        Some(cut) => format!(
            "the output is kept {whom}as output {id} ({count}) but for {} ({}), {}",
            counted(cut.lines, "line"),
            counted(cut.bytes, "byte"),
            why_cut(*cut)
        ),
    };
    let mut clauses = vec![kept];
    if telling.memory && tier != Tier::Short {
        clauses.push(ways(id, held[0].from_line));
    } else if telling.memory {
        clauses.push(format!(
            "memory \"recall output {id} from line {}\" pages it",
            held[0].from_line
        ));
    }
    clauses
}

/// Why a part of the output is not in its file.
fn why_cut(cut: Cut) -> String {
    if cut.passed {
        return format!(
            "which passed the ceiling of {} and were not kept",
            size(cut.ceiling)
        );
    }
    "which could not be written as they came and were not kept".to_owned()
}

/// The four requests of `memory` that read a stored output.
fn ways(id: &str, line: u64) -> String {
    format!(
        "memory \"recall output {id} from line {line}\" pages it, \"recall output {id} matching PATTERN\" filters it, \
         \"summarise output {id}\" gives the notable lines, \"condense output {id}: QUESTION\" answers from all of it"
    )
}
