//! The pages of a stored output that are held while it is looked at: at most four, next to one another, with the
//! rows they are broken into and the row at the top of the view.
//!
//! An output may have gigabytes; the panel holds 256 KiB of it. Scrolling past the end of what is held asks for the
//! next page and lets go of the one farthest from the view, so the rows in view stay where they are.

use std::collections::VecDeque;
use std::ops::Range;

use ratatui::text::Span;
use wisp_agent::protocol::OutputView;

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
    first_line: u64,
    lines: Vec<Vec<Span<'static>>>,
    rows: Vec<RowOf>,
}

impl Page {
    fn new(info: &OutputView, text: &str, layout: Layout) -> Self {
        let mut page = Self {
            number: info.page,
            first_line: info.first_line,
            lines: ansi::untrusted(text),
            rows: Vec::new(),
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

    /// The row that shows a byte of a line.
    fn row_at(&self, line: usize, byte: usize) -> usize {
        let after = self
            .rows
            .partition_point(|row| (row.line, row.bytes.start) <= (line, byte));
        after.saturating_sub(1)
    }
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
    /// Its line in the whole output, from 1.
    pub line: u64,
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
            line: page.first_line + row.line as u64,
            begins: row.bytes.start == 0,
            spans: wrap::slice(&page.lines[row.line], &row.bytes),
        })
        .collect()
    }

    /// The line at the top of the view, from 1.
    pub fn top_line(&self) -> u64 {
        let (page, row) = self.locate(self.top).unzip();
        page.map_or(1, |page| page.first_line) + row.map_or(0, |row| row.line as u64)
    }

    /// The text of lines `from` to `to` as shown, and whether all of them are on the pages held.
    pub fn text(&self, from: u64, to: u64) -> (String, bool) {
        let mut text = String::new();
        let mut found = 0;
        for page in &self.held {
            for (number, line) in (page.first_line..).zip(&page.lines) {
                if (from..=to).contains(&number) {
                    text.extend(line.iter().map(|span| span.content.as_ref()));
                    text.push('\n');
                    found += 1;
                }
            }
        }
        (text, found > to.saturating_sub(from))
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
            Goal::Line { line, .. } => {
                let line = line.saturating_sub(self.held[at].first_line);
                before + self.held[at].row_at(usize::try_from(line).unwrap_or(usize::MAX), 0)
            }
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAYOUT: Layout = Layout {
        width: 20,
        wrap: true,
    };
    const HEIGHT: usize = 10;

    /// A file of numbered lines in pages of `per_page` lines, and how often each page was asked for.
    struct Store {
        lines: u64,
        per_page: u64,
        reads: Vec<u64>,
    }

    impl Store {
        fn new(lines: u64, per_page: u64) -> Self {
            Self {
                lines,
                per_page,
                reads: Vec::new(),
            }
        }

        fn page(&mut self, number: u64) -> (OutputView, String) {
            self.reads.push(number);
            let first = number * self.per_page + 1;
            let last = (first + self.per_page - 1).min(self.lines);
            let text: String = (first..=last).fold(String::new(), |text, n| text + &format!("line {n}\n"));
            let view = OutputView {
                page: number,
                pages: self.lines.div_ceil(self.per_page),
                first_line: first,
                lines: self.lines,
                ..OutputView::default()
            };
            (view, text)
        }

        /// Answers every page that is wanted.
        fn answer(&mut self, pages: &mut Pages) {
            while let Some(number) = pages.wanted(HEIGHT) {
                let (view, text) = self.page(number);
                pages.take(&view, &text, HEIGHT);
                assert!(pages.held().len() <= HELD_PAGES);
            }
        }
    }

    fn shown(pages: &Pages) -> Vec<u64> {
        pages.view(HEIGHT).iter().map(|row| row.line).collect()
    }

    #[test]
    fn scrolling_through_256_pages_holds_four_and_reads_each_once() {
        let mut store = Store::new(256 * 100, 100);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        let mut seen = Vec::new();
        loop {
            let rows = shown(&pages);
            seen.extend(
                rows.iter()
                    .copied()
                    .filter(|line| seen.last().is_none_or(|last| line > last))
                    .collect::<Vec<_>>(),
            );
            if rows.last() == Some(&store.lines) {
                break;
            }
            pages.scroll(7, HEIGHT);
            store.answer(&mut pages);
        }
        assert_eq!(seen, (1..=store.lines).collect::<Vec<_>>());
        assert_eq!(store.reads, (0..256).collect::<Vec<_>>());
        assert_eq!(pages.held(), [252, 253, 254, 255]);
    }

    #[test]
    fn rows_in_view_stay_when_pages_come_and_go() {
        let mut store = Store::new(1000, 20);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        for _ in 0..40 {
            pages.scroll(5, HEIGHT);
            let before = shown(&pages);
            store.answer(&mut pages);
            assert_eq!(shown(&pages), before);
        }
        for _ in 0..60 {
            pages.scroll(-3, HEIGHT);
            let before = shown(&pages);
            store.answer(&mut pages);
            assert_eq!(shown(&pages), before);
        }
    }

    #[test]
    fn a_jump_reads_only_the_page_it_goes_to() {
        let mut store = Store::new(100_000, 100);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        pages.go(Goal::End, HEIGHT);
        store.answer(&mut pages);
        assert_eq!(shown(&pages).last(), Some(&100_000));
        assert_eq!(store.reads, [0, 999]);
        pages.go(
            Goal::Line {
                line: 50_050,
                page: 500,
            },
            HEIGHT,
        );
        store.answer(&mut pages);
        assert_eq!(shown(&pages)[0], 50_050);
        assert_eq!(store.reads, [0, 999, 500]);
        pages.go(Goal::Start, HEIGHT);
        store.answer(&mut pages);
        assert_eq!(shown(&pages)[0], 1);
    }

    #[test]
    fn another_width_keeps_the_top_in_view() {
        let info = OutputView {
            pages: 1,
            first_line: 1,
            ..OutputView::default()
        };
        let text: String = (0..50).fold(String::new(), |text, n| {
            format!("{text}{n:02} {}\n", "x".repeat(57))
        });
        let mut pages = Pages::new(LAYOUT);
        pages.take(&info, &text, HEIGHT);
        pages.scroll(31, HEIGHT);
        assert_eq!(pages.top_line(), 11);
        for width in [7, 60, 13, 20] {
            pages.lay_out(Layout { width, wrap: true });
            assert_eq!(pages.top_line(), 11, "{width}");
        }
        pages.lay_out(Layout {
            width: 20,
            wrap: false,
        });
        assert_eq!(pages.top_line(), 11);
    }

    #[test]
    fn a_page_nobody_waits_for_is_let_go() {
        let mut store = Store::new(1000, 10);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        let held = pages.held();
        let (view, text) = store.page(50);
        pages.take(&view, &text, HEIGHT);
        assert_eq!(pages.held(), held);
    }

    #[test]
    fn pages_of_one_row_do_not_push_one_another_out_of_view() {
        let mut store = Store::new(50, 1);
        let mut pages = Pages::new(LAYOUT);
        store.answer(&mut pages);
        assert_eq!(
            (pages.held(), shown(&pages)),
            (vec![0, 1, 2, 3], vec![1, 2, 3, 4])
        );
        pages.scroll(1, HEIGHT);
        store.answer(&mut pages);
        assert_eq!(pages.top_line(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn any_walk_shows_neighbouring_rows_of_at_most_four_pages(steps in proptest::collection::vec((-40isize..60, 0u8..12), 1..40)) {
            let mut store = Store::new(777, 13);
            let mut pages = Pages::new(LAYOUT);
            store.answer(&mut pages);
            for (by, jump) in steps {
                match jump {
                    0 => pages.go(Goal::End, HEIGHT),
                    1 => pages.go(Goal::Start, HEIGHT),
                    _ => pages.scroll(by, HEIGHT),
                }
                store.answer(&mut pages);
                let rows = shown(&pages);
                prop_assert_eq!(rows.len(), HEIGHT);
                prop_assert!(rows.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rows:?}");
            }
        }
    }
}
