//! The contract between the digester and a format's reader.
//!
//! A [`Format`] is a row of [`crate::FORMATS`]: what it is called, which literals its lines begin or carry
//! (its *triggers*), and how to make a [`Reader`]. A line reaches a reader when one of the format's triggers
//! stands in it, or while the reader holds the stream. Everything else is passed over at memory speed.
//!
//! A line that may be a reader's own is shown with what comes next ([`Next`]): always the next line of the input, cleaned
//! as the line itself and without its prefix, wherever the pushes, the blocks or a line's first 32 KiB end. Nothing is
//! known where it is another stream's, and there is none where the input ends. So a reader may rely on it: whatever it
//! decides by it, it decides for every cut.

use crate::line::Line;
use crate::next::Next;
use crate::report::Report;
use crate::rest::Rest;

/// What a reader did with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Not its line; the next reader is asked.
    Pass,
    /// Not its line but one that the format of this name knows, which is asked next.
    Give(&'static str),
    /// Its line. The line is accounted for.
    Take,
    /// As [`Step::Take`], of a line that many tools write: by itself it does not make the output one of this format.
    Common,
    /// Perhaps its line: the next line, which comes to it first, will tell.
    Try,
    /// Its line, and the next line of the stream comes to it first.
    Hold,
    /// Its line, and the next line is its own too unless another reader knows it.
    Lean,
}

/// What a test sees of a reader: how much it keeps.
#[cfg(test)]
pub(crate) trait Watched {
    /// Bytes, written out.
    fn kept(&self) -> usize;
}

#[cfg(test)]
impl<T: std::fmt::Debug> Watched for T {
    fn kept(&self) -> usize {
        format!("{self:?}").len()
    }
}

#[cfg(not(test))]
pub(crate) trait Watched {}

#[cfg(not(test))]
impl<T> Watched for T {}

/// Reads one stream of lines in one format.
pub(crate) trait Reader: Watched {
    /// Is shown a line and says what it did with it.
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step;

    /// Leans on the stream, or is the format of a sure beginning, and is shown the line before it is looked at for what
    /// other readers know: reads it if it is its own whatever else stands in it. The line that comes next may tell.
    fn own(&mut self, line: &Line<'_>, next: Next<'_>, report: &mut Report) -> Option<Step> {
        let _ = (line, next, report);
        None
    }

    /// Holds the stream, and may read on through the lines that come next, as if each had been shown to it and held
    /// the stream. Whether it still does; if not, the next line comes to whom it comes to when none waits.
    fn read_on(&mut self, rest: &mut Rest<'_>, report: &mut Report) -> bool {
        let _ = (rest, report);
        true
    }

    /// Whether it passes over bare lines by itself while it leans on the stream.
    fn passes_bare(&self) -> bool {
        false
    }

    /// Leans on the stream, and may go on through lines that have neither a literal of any format nor a prefix, as if
    /// each had been shown to it and left it leaning. Whether it still leans; if not, the next line is none of its own.
    fn pass_bare(&mut self, rest: &mut Rest<'_>) -> bool {
        let _ = rest;
        true
    }

    /// The stream has ended: what was held back is reported now.
    fn finish(&mut self, report: &mut Report) {
        let _ = report;
    }
}

/// A format that can be read: one row, one file, one folder of fixtures.
#[derive(Debug)]
pub struct Format {
    /// The name under which a digest cites it.
    pub name: &'static str,
    /// The tools that write it.
    pub tools: &'static str,
    /// What of it is recognised, in a phrase.
    pub recognises: &'static str,
    /// Whose output the reader was written from.
    pub version: &'static str,
    /// Literals one of which stands in every line the reader must be shown unasked; one after `\n` counts only where
    /// it is the first of the line, blanks and prefixes left out. After `\n\n` it is a sure beginning: the reader may
    /// say that the line is its own before any other is asked. The first eight bytes count.
    pub(crate) triggers: &'static [&'static str],
    /// Makes a reader for one stream.
    pub(crate) reader: fn() -> Box<dyn Reader>,
}
