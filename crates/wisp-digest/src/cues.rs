//! What calls for readers: the literals that stand in a line. And where the line lies, so that the next is known.

use std::ops::Range;

use crate::ahead::Ahead;
use crate::block::Block;
use crate::literals::Literals;
use crate::looks;
use crate::next::{Next, Place};
use crate::reader::Format;

/// A set of formats; the top bit stands for the words of failure.
pub(crate) type Bits = u64;

pub(crate) const WORDS: Bits = 1 << 63;

/// Which formats a line's literals call for. Searched when first asked: a reader in the middle of a block knows its
/// lines without.
pub(crate) struct Cues<'a> {
    lines: Lines<'a>,
    part: Range<usize>,
    found: Option<Bits>,
    /// The label of the line's stream.
    stream: Option<&'a str>,
}

/// Where the line lies, and where the literals are looked for.
enum Lines<'a> {
    /// It lies by itself, and these are its bytes; the next line lies there.
    Alone(&'a Literals, &'a [u8], &'a Place<'a>),
    /// In the block it lies in, where it begins there.
    Ahead(&'a mut Ahead, &'a Block<'a>, usize),
}

impl<'a> Cues<'a> {
    /// The cues of a line that is all of these bytes.
    pub(crate) fn alone(triggers: &'a Literals, line: &'a [u8], next: &'a Place<'a>) -> Self {
        Self {
            lines: Lines::Alone(triggers, line, next),
            part: 0..line.len(),
            found: None,
            stream: None,
        }
    }

    /// The cues of a line that is this part of a block.
    pub(crate) fn ahead(ahead: &'a mut Ahead, block: &'a Block<'a>, line: Range<usize>) -> Self {
        Self {
            lines: Lines::Ahead(ahead, block, line.start),
            part: line,
            found: None,
            stream: None,
        }
    }

    /// The line belongs to the stream of that label.
    pub(crate) fn belong_to(&mut self, stream: Option<&'a str>) {
        self.stream = stream;
    }

    /// Leaves the line's last bytes, so many, without what stands before them.
    pub(crate) fn keep_last(&mut self, length: usize) {
        self.part.start = self.part.end - length;
    }

    pub(crate) fn bits(&mut self) -> Bits {
        if let Some(found) = self.found {
            return found;
        }
        let part = self.part.clone();
        let found = match &mut self.lines {
            Lines::Alone(triggers, bytes, _) => triggers.bits_in(bytes, part),
            Lines::Ahead(ahead, block, line) => ahead.bits(block.bytes, *line, &part),
        };
        *self.found.insert(found)
    }

    /// What comes after the line.
    pub(crate) fn next(&self) -> Next<'_> {
        Next::Of(self)
    }

    /// Where that lies.
    pub(crate) fn next_place(&self) -> Place<'a> {
        match &self.lines {
            Lines::Alone(_, _, place) => **place,
            Lines::Ahead(_, block, _) => Place::Block(block, self.part.end),
        }
    }

    /// The label of the line's stream.
    pub(crate) fn stream(&self) -> Option<&'a str> {
        self.stream
    }

    /// The format whose sure beginning the line has.
    pub(crate) fn sure(&self) -> Bits {
        match &self.lines {
            Lines::Alone(triggers, bytes, _) => triggers.sure(bytes, &self.part),
            Lines::Ahead(ahead, block, _) => ahead.triggers().sure(block.bytes, &self.part),
        }
    }

    /// Whether the line calls for the format.
    pub(crate) fn calls(&mut self, format: usize) -> bool {
        self.bits() & (1 << format) != 0
    }

    /// Whether the line calls for any format.
    pub(crate) fn calls_any(&mut self) -> bool {
        self.bits() & !WORDS != 0
    }

    /// Whether the line holds one of the words of failure.
    pub(crate) fn has_words(&mut self) -> bool {
        self.bits() & WORDS != 0
    }
}

/// The triggers of a table of at most 63 formats, and the words of failure.
pub(crate) fn triggers(formats: &[Format]) -> Literals {
    let rows = formats
        .iter()
        .enumerate()
        .flat_map(|(at, format)| format.triggers.iter().map(move |each| (*each, 1 << at)));
    Literals::new(rows.chain(looks::TRIGGERS.iter().map(|each| (*each, WORDS))))
}
