//! The band: rows that are drawn again and again at the cursor, below finished lines that are written once.
//!
//! ratatui's own inline viewport erases the whole screen when a window gets narrower, and with it lines that were
//! put above the band. [`Screen`] takes ratatui's lines and styles but writes the rows itself, with relative moves
//! only: it never asks the terminal where the cursor is, never scrolls by hand, and never erases a row above
//! the band's first. A finished line is printed in place of the band's first rows and the band after it, so that it
//! leaves for the scrollback as any program's output does.
//!
//! Some rules keep lines from being lost or doubled when the window changes:
//! - While the cursor is hidden it stands at the band's first cell, so a terminal that breaks rows anew carries the
//!   band's first row with it. The box is the band's first part, so a cursor in its first row stands there too. Only a
//!   cursor further down needs the rows above it counted as such a terminal breaks them.
//! - tmux breaks rows at once but tells the program up to a quarter of a second later. A frame that was drawn in
//!   between stands unbroken, so after a recent frame the smaller count is taken: a row of an old band may be left
//!   behind, but no line is written over.
//! - Band rows are written with automatic wrapping off: when the window shrank an instant ago, a row is clipped
//!   and not broken in two.
//! - A row is erased before a finished line is written there, because terminals remember of a row that it went on in
//!   the next.
//! - The band's first row is never erased by "erase below", which some terminals answer at the top of the screen by
//!   pushing the screen into the scrollback.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::layout::{Position, Size};
use ratatui::text::Line;

use crate::row::line_row;

/// Whether the terminal breaks its rows anew when its width changes. Nearly all do; xterm and the Linux console cut
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflow {
    /// Rows are broken anew at the new width.
    Breaks,
    /// Rows are cut off at the new width.
    Cuts,
}

/// What of the band stands on the terminal.
#[derive(Debug, Clone, Default)]
struct Drawn {
    /// The rows as written: escape sequences and all.
    rows: Vec<String>,
    /// The cells each row takes.
    widths: Vec<u16>,
    /// Where the cursor is, from the band's first cell.
    cursor: Position,
    /// Whether every row has to be written again.
    stale: bool,
}

impl Drawn {
    fn nothing() -> Self {
        Self {
            stale: true,
            ..Self::default()
        }
    }
}

/// The terminal as this face uses it: a band at the cursor, or the whole alternate screen.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    size: Size,
    reflow: Reflow,
    drawn: Drawn,
    /// The band that waits on the main screen while the alternate one is shown.
    beneath: Option<Drawn>,
    /// Finished lines that came while the alternate screen was shown.
    waiting: Vec<Line<'static>>,
    bytes: String,
    frames: u64,
}

impl<W: Write> Screen<W> {
    /// A screen on `out`, whose cursor stands at the start of an empty row.
    pub fn new(out: W, size: Size, reflow: Reflow) -> Self {
        Self {
            out,
            size,
            reflow,
            drawn: Drawn::nothing(),
            beneath: None,
            waiting: Vec::new(),
            bytes: String::new(),
            frames: 0,
        }
    }

    /// Columns and rows of the terminal.
    pub fn size(&self) -> Size {
        self.size
    }

    /// How many frames have been written.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Whether the alternate screen is shown.
    pub fn is_full(&self) -> bool {
        self.beneath.is_some()
    }

    /// The writer, for a sequence that is no part of a frame (a notification, the clipboard).
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Takes note that the window has a new size; the next frame draws every row again from the band's first row.
    /// `settled` says that no frame was written for half a second.
    pub fn resize(&mut self, size: Size, settled: bool) {
        if size == self.size {
            return;
        }
        let (reflow, width) = (self.reflow, size.width);
        for drawn in [Some(&mut self.drawn), self.beneath.as_mut()]
            .into_iter()
            .flatten()
        {
            let broken = rows_above(drawn, reflow, width);
            drawn.cursor.y = if settled {
                broken
            } else {
                broken.min(drawn.cursor.y)
            };
            drawn.cursor.x = 0;
            drawn.stale = true;
        }
        self.size = size;
    }

    /// Writes one frame as one synchronized update: `finished` lines above the band, each broken into rows by the
    /// caller, then the band, then the cursor (hidden when `None`). Only rows that changed are written. No row may be
    /// wider than the window, and the band not higher.
    pub fn frame(
        &mut self,
        finished: Vec<Line<'static>>,
        band: &[Line<'static>],
        cursor: Option<Position>,
    ) -> io::Result<()> {
        self.waiting.extend(finished);
        let rows = Rows::of(band);
        let lines = if self.is_full() {
            Vec::new()
        } else {
            std::mem::take(&mut self.waiting)
        };
        let target = cursor.unwrap_or_default();
        let nothing = !self.drawn.stale && lines.is_empty() && rows.text == self.drawn.rows;
        if nothing && target == self.drawn.cursor {
            return Ok(());
        }
        self.bytes.push_str("\x1b[?2026h\x1b[?25l");
        if self.drawn.stale || !lines.is_empty() {
            self.write_all_rows(&lines, &rows);
        } else {
            self.write_changed_rows(&rows);
        }
        self.drawn.rows = rows.text;
        self.drawn.widths = rows.widths;
        self.go(target.y);
        self.column(target.x);
        if cursor.is_some() {
            self.bytes.push_str("\x1b[?25h");
        }
        self.bytes.push_str("\x1b[?2026l");
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.frames += 1;
        let bytes = std::mem::take(&mut self.bytes);
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Prints the finished lines over the band's first rows, then every row of the band below them.
    fn write_all_rows(&mut self, lines: &[Line<'static>], rows: &Rows) {
        if self.is_full() && self.drawn.stale {
            self.bytes.push_str("\x1b[H\x1b[2J");
            self.drawn.cursor = Position::ORIGIN;
        }
        self.go(0);
        self.column(0);
        for line in lines {
            let (text, _) = line_row(line);
            self.write_over(&text);
            self.bytes.push_str("\r\n");
        }
        self.bytes.push_str("\x1b[?7l");
        let last = rows.text.len().saturating_sub(1);
        for (y, text) in rows.text.iter().enumerate() {
            if y > 0 {
                self.bytes.push_str("\r\n");
            }
            if y > 0 && y == last {
                self.bytes.push_str("\x1b[J");
            }
            self.write_over(text);
        }
        let old = self
            .drawn
            .widths
            .iter()
            .map(|cells| cells.div_ceil(self.size.width.max(1)).max(1));
        if last == 0 && usize::from(old.sum::<u16>()) > lines.len() + 1 {
            // One row is left of a higher band: what stood below it goes, by a row that is there.
            self.bytes.push_str("\r\n\x1b[J\x1b[1A");
        }
        self.bytes.push_str("\x1b[?7h");
        self.drawn.cursor.y = u16::try_from(last).unwrap_or(u16::MAX);
        self.drawn.stale = false;
    }

    /// Rewrites the rows that differ from those drawn, adding rows below or erasing those that are gone.
    fn write_changed_rows(&mut self, rows: &Rows) {
        self.bytes.push_str("\x1b[?7l");
        let before = std::mem::take(&mut self.drawn.rows);
        for (y, (text, width)) in rows.text.iter().zip(&rows.widths).enumerate() {
            if before.get(y) == Some(text) {
                continue;
            }
            let row = u16::try_from(y).unwrap_or(u16::MAX);
            if y < before.len() {
                self.go(row);
                self.column(0);
            } else {
                self.go(row - 1);
                self.bytes.push_str("\r\n");
                self.drawn.cursor.y = row;
            }
            self.write_row(text, *width);
        }
        if rows.text.len() < before.len() {
            self.go(u16::try_from(rows.text.len()).unwrap_or(u16::MAX));
            self.column(0);
            self.bytes.push_str("\x1b[J");
        }
        self.bytes.push_str("\x1b[?7h");
    }

    /// Erases the row the cursor is at the start of and writes another in its place.
    fn write_over(&mut self, text: &str) {
        self.bytes.push_str("\x1b[2K");
        self.bytes.push_str(text);
        self.bytes.push_str("\x1b[0m");
    }

    /// Writes one row from its first cell. The rest is erased, unless there is none: erasing with the cursor on the
    /// last cell would take that one.
    fn write_row(&mut self, text: &str, width: u16) {
        self.bytes.push_str(text);
        self.bytes.push_str("\x1b[0m");
        if width < self.size.width {
            self.bytes.push_str("\x1b[K");
        }
    }

    /// Moves between the band's rows. Downwards by line feeds: in a window that has just become lower, the rows below
    /// may be gone, and a cursor that is only moved would stop at the last one and be believed further down.
    fn go(&mut self, row: u16) {
        let at = self.drawn.cursor.y;
        if row < at {
            self.moved(at - row, 'A');
        }
        for _ in at..row {
            self.bytes.push('\n');
        }
        self.drawn.cursor.y = row;
    }

    /// Appends a move of `by` cells: `A` up, `C` right.
    fn moved(&mut self, by: u16, direction: char) {
        let written = write!(self.bytes, "\x1b[{by}{direction}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }

    fn column(&mut self, column: u16) {
        self.bytes.push('\r');
        if column > 0 {
            self.moved(column, 'C');
        }
        self.drawn.cursor.x = column;
    }

    /// Takes the band away and leaves the cursor where its first row was, shown: before another program uses the
    /// terminal, and at the end. Finished lines that still wait are written first.
    pub fn clear(&mut self) -> io::Result<()> {
        self.leave_full()?;
        let waiting = std::mem::take(&mut self.waiting);
        self.go(0);
        self.column(0);
        for line in &waiting {
            let (text, _) = line_row(line);
            self.write_over(&text);
            self.bytes.push_str("\r\n");
        }
        self.bytes.push_str("\x1b[K");
        if self.drawn.rows.len() > 1 {
            self.bytes.push_str("\r\n\x1b[J\x1b[1A\r");
        }
        self.bytes.push_str("\x1b[?25h");
        self.drawn = Drawn::nothing();
        self.flush()
    }

    /// Draws the next frame on the alternate screen, leaving the band and everything above it as they are.
    pub fn enter_full(&mut self) -> io::Result<()> {
        if self.is_full() {
            return Ok(());
        }
        self.go(0);
        self.column(0);
        self.bytes.push_str("\x1b[?1049h\x1b[H\x1b[2J");
        self.beneath = Some(std::mem::replace(&mut self.drawn, Drawn::nothing()));
        self.flush()
    }

    /// Goes back to the main screen and the band that waits there.
    pub fn leave_full(&mut self) -> io::Result<()> {
        let Some(mut beneath) = self.beneath.take() else {
            return Ok(());
        };
        beneath.stale = true;
        self.drawn = beneath;
        self.bytes.push_str("\x1b[?1049l");
        self.flush()
    }

    /// Takes it that the band is gone and the cursor at the start of an empty row: somebody else wrote meanwhile.
    pub fn forget(&mut self) {
        self.drawn = Drawn::nothing();
    }

    /// Makes the next frame write every row again.
    pub fn redraw(&mut self) {
        self.drawn.stale = true;
    }
}

/// How many rows stand between the band's first row and the cursor once the window is `width` columns wide.
fn rows_above(drawn: &Drawn, reflow: Reflow, width: u16) -> u16 {
    if reflow == Reflow::Cuts || width == 0 {
        return drawn.cursor.y;
    }
    let above = drawn.widths.iter().take(usize::from(drawn.cursor.y));
    let broken: u16 = above.map(|row| row.div_ceil(width).max(1)).sum();
    broken + drawn.cursor.x / width
}

/// A band's rows, ready to be written and compared.
struct Rows {
    text: Vec<String>,
    widths: Vec<u16>,
}

impl Rows {
    fn of(band: &[Line<'_>]) -> Self {
        let (text, widths) = band.iter().map(line_row).unzip();
        Self { text, widths }
    }
}
