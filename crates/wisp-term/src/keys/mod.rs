//! What a terminal sends, taken apart: bytes in, keys and pastes out.
//!
//! A terminal mixes keys with reports that nobody typed (its attributes, colours, version, cursor position, size,
//! focus), and both come in pieces. The rules here are what keeps rubble out of a line that is being typed:
//!
//! * Every form of a key is known: the old sequences, those of rxvt, screen and the Linux console, `CSI u` with its
//!   releases and texts, and modifyOtherKeys. A release is no key.
//! * A sequence that is no key is a report, known or not, and is passed over whole.
//! * A sequence that stops in the middle is waited for, [`GIVE_UP`] at most. What came after the pause and turns out
//!   not to belong to it was typed, and is given out.
//! * A byte that is not UTF-8 is U+FFFD; what follows it is kept.
//!
//! The moments come in as values, counted from any fixed start, so that a test needs no clock.

mod encode;
mod sequence;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use encode::encoded;
use sequence::{Found, is_report, scan};

/// Silence after which a sequence that is not complete counts as interrupted.
const PAUSE: Duration = Duration::from_millis(40);
/// How long the rest of an interrupted sequence is waited for.
pub const GIVE_UP: Duration = Duration::from_secs(1);
/// How long an Escape is waited with: it may begin a sequence.
pub const ESCAPE: Duration = Duration::from_millis(100);
/// How long after an Escape was given out its sequence may still come.
const LATE: Duration = Duration::from_secs(1);
/// What ends a paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Something that was typed, or that the terminal was asked to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A key was pressed, or repeats.
    Key(KeyEvent),
    /// A text was pasted; bytes that are not UTF-8 are U+FFFD.
    Paste(String),
    /// The terminal gained or lost the person's attention.
    Focus(bool),
}

/// Takes bytes apart; what is not complete waits in it.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    held: Vec<u8>,
    /// How much was held when a pause interrupted it, and since when it has been silent.
    interrupted: Option<(usize, Duration)>,
    last: Duration,
    /// How long a lone Escape waits; for ever when `None`.
    escape: Option<Duration>,
    /// When an Escape was given out that nothing had followed.
    escaped: Option<Duration>,
    /// The paste that is coming.
    paste: Option<Vec<u8>>,
    /// Whether the paste that is coming has stopped without its end.
    stalled: bool,
    /// Whether a key came in a form that a program has to ask for.
    extended: bool,
}

impl Decoder {
    /// A decoder for a place where Escape is a key of its own: it is given out after [`ESCAPE`].
    pub fn with_escape() -> Self {
        Self {
            escape: Some(ESCAPE),
            ..Self::default()
        }
    }

    /// A decoder for a line editor, where Escape only goes before another key, however late that comes.
    pub fn for_lines() -> Self {
        Self::default()
    }

    /// Whether keys come by `CSI u` or modifyOtherKeys: a program before this one left the terminal so, and Ctrl-C is no
    /// signal then.
    pub fn is_extended(&self) -> bool {
        self.extended
    }

    /// Takes bytes that were read at a moment.
    pub fn feed(&mut self, bytes: &[u8], now: Duration) -> Vec<Typed> {
        let paused = now.saturating_sub(self.last) >= PAUSE;
        if paused && !self.held.is_empty() && self.interrupted.is_none() {
            self.interrupted = Some((self.held.len(), self.last));
        }
        self.last = now;
        if self.stalled && bytes.first() == Some(&3) {
            // The end of the paste never came, and the person wants to go on.
            (self.paste, self.stalled) = (None, false);
            self.held.clear();
        }
        self.stalled = false;
        let escaped = self.escaped.take();
        if escaped.is_some_and(|at| now.saturating_sub(at) < LATE) && continues_escape(bytes) {
            self.held.push(0x1b);
        }
        self.held.extend_from_slice(bytes);
        self.parse()
    }

    /// When [`Decoder::tick`] has something to do although no byte came.
    pub fn due(&self) -> Option<Duration> {
        if self.paste.is_some() {
            return (!self.stalled).then(|| self.last + GIVE_UP);
        }
        match self.held.as_slice() {
            [0x1b] | [0x1b, 0x1b] => self.escape.map(|wait| self.last + wait),
            [0x1b, ..] => Some(self.interrupted.map_or(self.last, |(_, since)| since) + GIVE_UP),
            _ => None,
        }
    }

    /// Takes it that a moment has come at which nothing had been read.
    pub fn tick(&mut self, now: Duration) -> Vec<Typed> {
        if self.due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        if let Some(paste) = &mut self.paste {
            self.stalled = true;
            let come = std::mem::take(paste);
            return pasted(&come).into_iter().collect();
        }
        let mut typed = Vec::new();
        if matches!(self.held.as_slice(), [0x1b] | [0x1b, 0x1b]) {
            for _ in self.held.drain(..) {
                typed.push(key(KeyCode::Esc, KeyModifiers::NONE));
            }
            self.escaped = Some(now);
            self.interrupted = None;
        } else {
            self.give_up(self.held.len());
        }
        typed.extend(self.parse());
        typed
    }

    /// Drops what cannot be completed: up to the pause that interrupted it, else `length` bytes.
    fn give_up(&mut self, length: usize) {
        let length = self.interrupted.take().map_or(length, |(length, _)| length);
        self.held.drain(..length.min(self.held.len()));
    }

    fn parse(&mut self) -> Vec<Typed> {
        let mut typed = Vec::new();
        loop {
            if self.paste.is_some() {
                let Some(text) = self.paste_end() else { break };
                typed.extend(pasted(&text));
                continue;
            }
            match scan(&self.held) {
                Found::More => break,
                Found::Broken(length) => self.give_up(length),
                Found::Whole(length, found) => {
                    let sequence = &self.held[..length];
                    let torn = self.interrupted.is_some_and(|(at, _)| at > 1 && at < length);
                    if torn && found.is_none() && !is_report(sequence) && sequence != b"\x1b[200~" {
                        self.give_up(length);
                        continue;
                    }
                    if sequence == b"\x1b[200~" {
                        self.paste = Some(Vec::new());
                    }
                    let form = sequence.ends_with(b"u") || sequence.starts_with(b"\x1b[27;");
                    self.extended |= form && length > 3 && found.is_some();
                    self.held.drain(..length);
                    self.interrupted = None;
                    typed.extend(found);
                }
            }
        }
        typed
    }

    /// The paste that is coming, once its end has come.
    fn paste_end(&mut self) -> Option<Vec<u8>> {
        let paste = self.paste.as_mut()?;
        let end = self.held.windows(PASTE_END.len()).position(|at| at == PASTE_END);
        // The end may be cut as well: what could be its beginning waits.
        let until = end.unwrap_or_else(|| {
            let may_end = |length: &usize| self.held.ends_with(&PASTE_END[..*length]);
            self.held.len() - (0..PASTE_END.len()).rev().find(may_end).unwrap_or(0)
        });
        paste.extend(self.held.drain(..until));
        self.interrupted = None;
        end?;
        self.held.drain(..PASTE_END.len());
        self.paste.take()
    }
}

/// Whether bytes go on with an Escape that was given out as a key already: a report whose first byte came early.
fn continues_escape(bytes: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 6] = [b"[?", b"[>", b"]1", b"]4", b"P>", b"P1"];
    let whole = [b"\x1b", bytes].concat();
    BEGINNINGS.iter().any(|beginning| bytes.starts_with(beginning))
        || matches!(scan(&whole), Found::Whole(length, _) if length > 2 && is_report(&whole[..length]))
}

fn pasted(bytes: &[u8]) -> Option<Typed> {
    (!bytes.is_empty()).then(|| Typed::Paste(String::from_utf8_lossy(bytes).into_owned()))
}

/// A key; deleting with Shift is deleting.
fn key(code: KeyCode, mut modifiers: KeyModifiers) -> Typed {
    if matches!(code, KeyCode::Backspace | KeyCode::Delete) {
        modifiers.remove(KeyModifiers::SHIFT);
    }
    Typed::Key(KeyEvent::new(code, modifiers))
}

#[cfg(test)]
mod tests;
