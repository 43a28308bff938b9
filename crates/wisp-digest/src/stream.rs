//! One stream of lines and the readers at work on it. Parallel jobs have a stream each.

use std::ops::Range;

use crate::ahead::Ahead;
use crate::line::Line;
use crate::literals::Literals;
use crate::looks;
use crate::reader::{Format, Reader, Step};
use crate::report::Report;
use crate::rest::Rest;

/// A set of formats; the top bit stands for the words of failure.
type Bits = u64;

const WORDS: Bits = 1 << 63;

/// Which formats a line's literals call for. Searched when first asked: a reader in the middle of a block knows its
/// lines without.
pub(crate) struct Cues<'a> {
    triggers: Triggers<'a>,
    bytes: &'a [u8],
    part: Range<usize>,
    found: Option<Bits>,
}

/// Where the literals are looked for.
enum Triggers<'a> {
    /// In the line by itself.
    Alone(&'a Literals),
    /// In the block it lies in, where it begins there.
    Ahead(&'a mut Ahead, usize),
}

impl<'a> Cues<'a> {
    /// The cues of a line that is all of these bytes.
    pub(crate) fn alone(triggers: &'a Literals, line: &'a [u8]) -> Self {
        Self {
            triggers: Triggers::Alone(triggers),
            bytes: line,
            part: 0..line.len(),
            found: None,
        }
    }

    /// The cues of a line that is this part of a block.
    pub(crate) fn ahead(ahead: &'a mut Ahead, block: &'a [u8], line: Range<usize>) -> Self {
        Self {
            triggers: Triggers::Ahead(ahead, line.start),
            bytes: block,
            part: line,
            found: None,
        }
    }

    /// Leaves the line's last bytes, so many, without what stands before them.
    pub(crate) fn keep_last(&mut self, length: usize) {
        self.part.start = self.part.end - length;
    }

    fn bits(&mut self) -> Bits {
        if let Some(found) = self.found {
            return found;
        }
        let part = self.part.clone();
        let found = match &mut self.triggers {
            Triggers::Alone(triggers) => triggers.bits_in(self.bytes, part),
            Triggers::Ahead(ahead, line) => ahead.bits(self.bytes, *line, &part),
        };
        *self.found.insert(found)
    }

    /// Whether the line calls for the format.
    fn calls(&mut self, format: usize) -> bool {
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

/// The readers of one stream and which of them has the word.
pub(crate) struct Stream {
    readers: Vec<Option<Box<dyn Reader>>>,
    hold: Option<usize>,
    lean: Option<usize>,
    /// Which format is asked next, since the last one asked knows that it is its line.
    given: Option<usize>,
    /// Which formats have read something.
    used: Bits,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Stream")
            .field("hold", &self.hold)
            .field("lean", &self.lean)
            .finish_non_exhaustive()
    }
}

impl Stream {
    pub(crate) fn new(formats: &[Format]) -> Self {
        Self {
            readers: formats.iter().map(|_| None).collect(),
            hold: None,
            lean: None,
            given: None,
            used: 0,
        }
    }

    /// Whether no reader waits for the next line, whatever it is.
    pub(crate) fn is_idle(&self) -> bool {
        self.hold.is_none() && self.lean.is_none()
    }

    /// Whether a reader has said that the next line comes to it first.
    pub(crate) fn is_held(&self) -> bool {
        self.hold.is_some()
    }

    /// A mark of the CI runner ends whatever block was open, but for those of readers that know the line: no
    /// tool prints across the end of its step.
    pub(crate) fn interrupt(&mut self, formats: &[Format], cues: &mut Cues<'_>, report: &mut Report) {
        for at in [self.hold, self.lean]
            .into_iter()
            .flatten()
            .filter(|at| !cues.calls(*at))
        {
            if let Some(mut reader) = self.readers[at].take() {
                report.format = formats[at].name;
                reader.finish(report);
            }
        }
        self.hold = self.hold.filter(|at| cues.calls(*at));
        self.lean = self.lean.filter(|at| cues.calls(*at));
    }

    /// Shows the line to the readers it concerns. True when one of them accounted for it.
    pub(crate) fn line(
        &mut self,
        formats: &[Format],
        cues: &mut Cues<'_>,
        line: &Line<'_>,
        report: &mut Report,
    ) -> bool {
        self.given = None;
        let held = self.hold.take();
        if let Some(at) = held
            && self.ask(formats, at, line, report)
        {
            return true;
        }
        let given = self.given;
        if let Some(at) = given
            && self.ask(formats, at, line, report)
        {
            return true;
        }
        let asked = [held, given]
            .iter()
            .flatten()
            .fold(WORDS, |asked, at| asked | 1 << at);
        let mut rest = cues.bits() & !asked;
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if self.ask(formats, at, line, report) {
                return true;
            }
        }
        let leaning = self.lean.take().filter(|at| !cues.calls(*at));
        leaning.is_some_and(|at| self.ask(formats, at, line, report))
    }

    /// Lets the reader that holds the stream read on.
    pub(crate) fn read_on(&mut self, formats: &[Format], rest: &mut Rest<'_>, report: &mut Report) {
        let Some((at, reader)) = self.hold.and_then(|at| Some((at, self.readers[at].as_mut()?))) else {
            return;
        };
        let before = rest.taken();
        report.format = formats[at].name;
        reader.read_on(rest, report);
        if rest.taken() != before {
            self.settle(at, Step::Hold, report);
        }
    }

    fn ask(&mut self, formats: &[Format], at: usize, line: &Line<'_>, report: &mut Report) -> bool {
        let format = &formats[at];
        let reader = self.readers[at].get_or_insert_with(format.reader);
        report.format = format.name;
        report.shown += line.text.len() as u64;
        match reader.line(line, report) {
            Step::Pass => false,
            Step::Give(name) => {
                self.given = formats.iter().position(|format| format.name == name);
                false
            }
            step => {
                self.settle(at, step, report);
                true
            }
        }
    }

    /// A reader has taken a line.
    fn settle(&mut self, at: usize, step: Step, report: &mut Report) {
        if self.used & (1 << at) == 0 && step != Step::Try {
            self.used |= 1 << at;
            report.used();
        }
        match step {
            Step::Hold | Step::Try => self.hold = Some(at),
            Step::Lean => self.lean = Some(at),
            Step::Take if self.lean == Some(at) => self.lean = None,
            _ => {}
        }
    }

    /// Lets every reader report what it held back.
    pub(crate) fn finish(&mut self, formats: &[Format], report: &mut Report) {
        for (at, reader) in self.readers.iter_mut().enumerate() {
            if let Some(reader) = reader {
                report.format = formats[at].name;
                reader.finish(report);
            }
        }
    }

    /// Bytes that the readers keep, written out.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.readers.iter().flatten().map(|reader| reader.kept()).sum()
    }
}
