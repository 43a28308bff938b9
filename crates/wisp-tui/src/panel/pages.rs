//! The pages of a stored output that are held while it is looked at: at most four, next to one another, with the
//! rows they are broken into and the row at the top of the view.
//!
//! An output may have gigabytes; the panel holds 256 KiB of it. Scrolling past the end of what is held asks for the
//! next page and lets go of the one farthest from the view, so the rows in view stay where they are.

use std::collections::VecDeque;
use std::ops::Range;

use ratatui::text::Span;
use wisp_agent::protocol::OutputView;

use super::copying::{Copying, Offered};
use crate::ansi;
use crate::wrap::{self, Break};

/// The most pages held at once (output.md, "The person sees all of it").
pub const HELD_PAGES: usize = 4;

/// One row of a page: a part of one of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RowOf {
    line: usize,
    bytes: Range<usize>,
}

/// One page, broken into rows.
#[derive(Debug, Clone)]
struct Page {
    number: u64,
    /// The number of each line; none for a line of a frame.
    numbers: Vec<Option<u64>>,
    lines: Vec<Vec<Span<'static>>>,
    rows: Vec<RowOf>,
    /// Whether its last line ends here.
    ended: bool,
}

impl Page {
    fn new(info: &OutputView, text: &str, layout: Layout) -> Self {
        let lines = ansi::untrusted(text);
        let mut page = Self {
            number: info.page,
            numbers: numbers(info, lines.len()),
            lines,
            rows: Vec::new(),
            ended: text.ends_with('\n') || info.page + 1 >= info.pages,
        };
        page.break_rows(layout);
        page
    }

    fn break_rows(&mut self, layout: Layout) {
        self.rows.clear();
        for (line, spans) in self.lines.iter().enumerate() {
            let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
            let ranges = if layout.wrap {
                wrap::rows(&text, layout.width, Break::Anywhere)
            } else {
                std::iter::once(0..text.len()).collect()
            };
            self.rows
                .extend(ranges.into_iter().map(|bytes| RowOf { line, bytes }));
        }
    }

    /// Gives a selection its lines.
    fn copy_into(&self, copying: &mut Copying) {
        let text = |line: &Vec<Span<'static>>| line.iter().map(|span| span.content.as_ref()).collect();
        let lines: Vec<String> = self.lines.iter().map(text).collect();
        copying.take(Offered {
            numbers: &self.numbers,
            lines: &lines,
            ended: self.ended,
        });
    }

    /// The number of a line, or of the next that has one.
    fn number_from(&self, line: usize) -> Option<u64> {
        self.numbers.get(line..)?.iter().find_map(|number| *number)
    }

    /// The place of line `number` among the page's lines; the last when the page ends before it.
    fn place_of(&self, number: u64) -> usize {
        let at = self
            .numbers
            .iter()
            .position(|one| one.is_some_and(|one| one >= number));
        at.unwrap_or(self.numbers.len().saturating_sub(1))
    }

    /// The row that shows a byte of a line.
    fn row_at(&self, line: usize, byte: usize) -> usize {
        let after = self
            .rows
            .partition_point(|row| (row.line, row.bytes.start) <= (line, byte));
        after.saturating_sub(1)
    }
}

/// The numbers of a page's lines, which its frames have none of.
fn numbers(info: &OutputView, lines: usize) -> Vec<Option<u64>> {
    let mut next = info.first_line;
    let numbered = |at: usize| {
        if info.frames.contains(&(at as u64)) {
            return None;
        }
        next += 1;
        Some(next - 1)
    };
    (0..lines).map(numbered).collect()
}

/// How lines become rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Cells of a row.
    pub width: usize,
    /// Whether long lines are broken; otherwise they are cut at the edge.
    pub wrap: bool,
}

/// Where the view is to go once its page is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The first row of the output.
    Start,
    /// The last rows of the output.
    End,
    /// A line of the output, from 1, on a page.
    Line {
        /// The line.
        line: u64,
        /// The page that holds it.
        page: u64,
    },
}

/// A row as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its line in the whole output, from 1; none for a line of a frame.
    pub line: Option<u64>,
    /// Whether it begins the line.
    pub begins: bool,
    /// Its text.
    pub spans: Vec<Span<'static>>,
}

/// The pages held of one output.
#[derive(Debug, Clone)]
pub struct Pages {
    held: VecDeque<Page>,
    layout: Layout,
    /// The rows before the view, among those of the pages held.
    top: usize,
    total: u64,
    asked: Option<u64>,
    goal: Option<Goal>,
}

impl Pages {
    /// No pages yet; the first is wanted.
    pub fn new(layout: Layout) -> Self {
        Self {
            held: VecDeque::new(),
            layout,
            top: 0,
            total: 1,
            asked: None,
            goal: Some(Goal::Start),
        }
    }

    /// The numbers of the pages held, lowest first.
    pub fn held(&self) -> Vec<u64> {
        self.held.iter().map(|page| page.number).collect()
    }

    /// Whether anything can be shown yet.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    fn rows_held(&self) -> usize {
        self.held.iter().map(|page| page.rows.len()).sum()
    }

    /// The page and the row in it of a row among those held.
    fn locate(&self, mut row: usize) -> Option<(&Page, &RowOf)> {
        for page in &self.held {
            match page.rows.get(row) {
                Some(found) => return Some((page, found)),
                None => row -= page.rows.len(),
            }
        }
        None
    }

    /// The rows in a view of `height` rows.
    pub fn view(&self, height: usize) -> Vec<Row> {
        let rows = (self.top..self.top + height).map_while(|at| self.locate(at));
        rows.map(|(page, row)| Row {
            line: page.numbers.get(row.line).copied().flatten(),
            begins: row.bytes.start == 0,
            spans: wrap::slice(&page.lines[row.line], &row.bytes),
        })
        .collect()
    }

    /// The line at the top of the view, from 1.
    pub fn top_line(&self) -> u64 {
        let top = self.locate(self.top);
        let number = top.and_then(|(page, row)| {
            let after = self.held.iter().find(|held| held.number == page.number + 1);
            page.number_from(row.line)
                .or_else(|| after.and_then(|page| page.number_from(0)))
        });
        number.or_else(|| self.last_number()).unwrap_or(1)
    }

    /// The last line in a view of `height` rows that has a number.
    pub fn last_line(&self, height: usize) -> Option<u64> {
        self.view(height).iter().rev().find_map(|row| row.line)
    }

    /// The number of the last line held that has one.
    fn last_number(&self) -> Option<u64> {
        let mut numbers = self.held.iter().rev().flat_map(|page| page.numbers.iter().rev());
        numbers.find_map(|number| *number)
    }

    /// The number of the page whose line is at the top of the view.
    pub fn top_page(&self) -> u64 {
        self.locate(self.top).map_or(0, |(page, _)| page.number)
    }

    /// Has a selection take the page it needs. False when that is not held.
    pub fn copy_into(&self, copying: &mut Copying) -> bool {
        let page = self.held.iter().find(|page| page.number == copying.page);
        page.map(|page| page.copy_into(copying)).is_some()
    }

    /// Moves the view by rows, as far as the pages held go.
    pub fn scroll(&mut self, by: isize, height: usize) {
        self.goal = None;
        let last = self.rows_held().saturating_sub(height);
        self.top = self.top.saturating_add_signed(by).min(last);
    }

    /// Sets off for a place; at once when its page is held.
    pub fn go(&mut self, goal: Goal, height: usize) {
        self.goal = Some(goal);
        self.asked = None;
        self.arrive(height);
    }

    /// The page a goal is on.
    fn page_of(&self, goal: Goal) -> u64 {
        match goal {
            Goal::Start => 0,
            Goal::End => self.total.saturating_sub(1),
            Goal::Line { page, .. } => page,
        }
    }

    /// Puts the view where the goal says, if its page is held.
    fn arrive(&mut self, height: usize) {
        let Some(goal) = self.goal else { return };
        let page = self.page_of(goal);
        let Some(at) = self.held.iter().position(|held| held.number == page) else {
            return;
        };
        let before: usize = self.held.iter().take(at).map(|page| page.rows.len()).sum();
        let last = self.rows_held().saturating_sub(height);
        let row = match goal {
            Goal::Start => 0,
            Goal::End => last,
            Goal::Line { line, .. } => before + self.held[at].row_at(self.held[at].place_of(line), 0),
        };
        self.top = row.min(last);
        self.goal = None;
    }

    /// The page to ask for now, if one is needed that has not been asked for: the goal's, or the one next to an edge
    /// less than a view away. A page in view is never given up for another.
    pub fn wanted(&mut self, height: usize) -> Option<u64> {
        let wanted = match (self.goal, self.held.front(), self.held.back()) {
            (Some(goal), _, _) => Some(self.page_of(goal)),
            (None, Some(first), Some(last)) => {
                let held = self.rows_held();
                let below = held.saturating_sub(self.top + height);
                let room = self.held.len() < HELD_PAGES;
                let first_seen = first.rows.len() > self.top;
                let last_seen = held - last.rows.len() < self.top + height;
                if below < height && last.number + 1 < self.total && (room || !first_seen) {
                    Some(last.number + 1)
                } else if self.top < height && first.number > 0 && (room || !last_seen) {
                    Some(first.number - 1)
                } else {
                    None
                }
            }
            _ => None,
        }?;
        if self.asked == Some(wanted) {
            return None;
        }
        self.asked = Some(wanted);
        self.asked
    }

    /// Has a selection take a page that came for it alone.
    pub fn lend(&self, info: &OutputView, text: &str, copying: &mut Copying) {
        Page::new(info, text, self.layout).copy_into(copying);
    }

    /// Takes a page that came. One that is neither the goal's nor next to those held is let go.
    pub fn take(&mut self, info: &OutputView, text: &str, height: usize) {
        self.total = info.pages.max(1);
        if self.asked == Some(info.page) {
            self.asked = None;
        }
        let page = Page::new(info, text, self.layout);
        let first = self.held.front().map(|page| page.number);
        let last = self.held.back().map(|page| page.number);
        if last.is_some_and(|last| last + 1 == page.number) {
            self.held.push_back(page);
            if self.held.len() > HELD_PAGES {
                self.drop_first();
            }
        } else if first.is_some_and(|first| first == page.number + 1) {
            self.top += page.rows.len();
            self.held.push_front(page);
            self.held.truncate(HELD_PAGES);
        } else if self.goal.is_some_and(|goal| self.page_of(goal) == page.number) {
            self.held.clear();
            self.top = 0;
            self.held.push_back(page);
        }
        self.arrive(height);
    }

    fn drop_first(&mut self) {
        let dropped = self.held.pop_front().map_or(0, |page| page.rows.len());
        self.top = self.top.saturating_sub(dropped);
    }

    /// Breaks the lines anew; the row at the top keeps its first byte in view.
    pub fn lay_out(&mut self, layout: Layout) {
        if layout == self.layout {
            return;
        }
        self.layout = layout;
        let anchor = self
            .locate(self.top)
            .map(|(page, row)| (page.number, row.line, row.bytes.start));
        for page in &mut self.held {
            page.break_rows(layout);
        }
        let Some((number, line, byte)) = anchor else {
            return;
        };
        let mut before = 0;
        for page in &self.held {
            if page.number == number {
                self.top = before + page.row_at(line, byte);
            }
            before += page.rows.len();
        }
    }
}

#[cfg(test)]
mod tests;
