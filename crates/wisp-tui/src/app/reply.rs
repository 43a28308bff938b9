//! The reply as it streams: rows that can no longer change go above the band, and only the row still being written
//! stays in it.
//!
//! A line is broken at spaces from its start, so text that follows changes no row but the last. That is why the band
//! needs one row for a reply however long its lines are, and why a resize in the middle of one disturbs nothing.

use ratatui::text::{Line, Span};
use wisp_term::width::expand_tabs;
use wisp_term::{Markdown, Tables};

use crate::ansi::AnsiReader;
use crate::highlight::highlight;
use crate::looks::Looks;
use crate::wrap;

/// A reply being received.
#[derive(Debug, Clone)]
pub struct Reply {
    looks: Looks,
    markdown: Markdown,
    /// The mark that opened the code block the text is in, and its language.
    fence: Option<(String, String)>,
    tables: Tables,
    reader: AnsiReader,
    /// Whole lines that were not broken into rows yet, each with the cells its further rows stand to the right.
    lines: Vec<(Vec<Span<'static>>, usize)>,
    /// The line being written, less the rows that were given out.
    open: Vec<Span<'static>>,
    /// Whether some of the line being written was given out.
    begun: bool,
    /// The cells that further rows of the line being written stand to the right.
    hang: usize,
    started: bool,
}

impl Reply {
    /// No reply yet.
    pub fn new(looks: &Looks) -> Self {
        Self {
            looks: looks.clone(),
            markdown: Markdown::new(looks.palette().clone()),
            fence: None,
            tables: Tables::default(),
            reader: AnsiReader::default(),
            lines: Vec::new(),
            open: Vec::new(),
            begun: false,
            hang: 0,
            started: false,
        }
    }

    /// Takes more of the reply, for a window of so many cells.
    pub fn push(&mut self, delta: &str, width: usize) {
        self.started = true;
        self.tables.set_width(width);
        let ready = self.tables.push(delta);
        let shown = self.markdown.push(&ready);
        self.take(&shown);
    }

    fn take(&mut self, shown: &str) {
        for piece in shown.split_inclusive('\n') {
            let text = piece.strip_suffix('\n');
            self.open
                .extend(self.reader.read(&expand_tabs(text.unwrap_or(piece), 0)));
            if text.is_some() {
                self.end_line();
            }
        }
    }

    /// The line being written is whole.
    fn end_line(&mut self) {
        let hang = if self.goes_on() {
            self.hang
        } else {
            self.hang_of(&self.open)
        };
        let line = std::mem::take(&mut self.open);
        let line = self.coloured(line);
        self.lines.push((line, hang));
    }

    /// Whether rows of the line being written were given out, and not of one before it.
    fn goes_on(&self) -> bool {
        self.begun && self.lines.is_empty()
    }

    /// What a line's further rows are indented by: an item of a list has them under its text.
    fn hang_of(&self, line: &[Span<'static>]) -> usize {
        match self.fence {
            Some(_) => 0,
            None => line_text(line).map_or(0, |text| wrap::hang(&text)),
        }
    }

    /// A whole line, with its code coloured when it stands in a code block and none of it was given out yet.
    fn coloured(&mut self, line: Vec<Span<'static>>) -> Vec<Span<'static>> {
        let text = line_text(&line).unwrap_or_default();
        let start = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (&self.fence, mark) {
            (Some((open, _)), Some(mark)) if open == mark => self.fence = None,
            (None, Some(mark)) => {
                let language = start[mark.len()..].split_whitespace().next().unwrap_or_default();
                self.fence = Some((mark.to_owned(), language.to_lowercase()));
            }
            (Some((_, language)), _) if !self.goes_on() => return highlight(&text, language, &self.looks),
            _ => {}
        }
        line
    }

    /// The rows that can no longer change.
    pub fn settle(&mut self, width: usize) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        for (line, hang) in std::mem::take(&mut self.lines) {
            let begun = std::mem::take(&mut self.begun);
            if !(line.is_empty() && begun) {
                let mut broken = wrap::hung(&line, width, begun, wrap::hang_in(hang, width));
                // A blank at the end of a line makes no row of its own.
                let last = broken.last().map(Line::to_string);
                if broken.len() > 1 && last.is_some_and(|last| last.trim().is_empty()) {
                    broken.pop();
                }
                rows.extend(broken);
            }
        }
        if !self.begun {
            self.hang = self.hang_of(&self.open);
        }
        self.hang = wrap::hang_in(self.hang, width);
        let mut open = wrap::hung(&self.open, width, self.begun, self.hang);
        let mut last = open.pop().unwrap_or_default().spans;
        if !open.is_empty() {
            self.begun = true;
            last.drain(..usize::from(self.hang > 0));
            self.open = last;
            rows.extend(open);
        }
        rows
    }

    /// The row being written.
    pub fn live(&self) -> Option<Line<'static>> {
        let indent = if self.goes_on() { self.hang } else { 0 };
        (!self.open.is_empty()).then(|| wrap::moved(self.open.clone(), indent))
    }

    /// How many rows of a table wait for its end.
    pub fn table_rows(&self) -> usize {
        self.tables.waiting()
    }

    /// Ends the reply: everything that was held comes out.
    pub fn finish(&mut self, width: usize) -> Vec<Line<'static>> {
        if !std::mem::take(&mut self.started) {
            return Vec::new();
        }
        let rest = self.tables.finish();
        let shown = [self.markdown.push(&rest), self.markdown.finish()].concat();
        self.take(&shown);
        if !self.open.is_empty() {
            self.end_line();
        }
        self.reader = AnsiReader::default();
        self.fence = None;
        let rows = self.settle(width);
        self.begun = false;
        rows
    }
}

/// A line's text; none when it is empty.
fn line_text(line: &[Span<'static>]) -> Option<String> {
    let text: String = line.iter().map(|span| span.content.as_ref()).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows of a reply that comes in pieces of `size` characters, each drawn before the next comes.
    fn rows(text: &str, size: usize, width: usize) -> Vec<String> {
        let mut reply = Reply::new(&Looks::default());
        let letters: Vec<char> = text.chars().collect();
        let mut rows = Vec::new();
        for piece in letters.chunks(size) {
            reply.push(&piece.iter().collect::<String>(), 80);
            rows.extend(reply.settle(width));
        }
        rows.extend(reply.finish(width));
        rows.iter()
            .map(|row| row.to_string().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn items_have_their_rows_under_their_text_and_code_is_not_moved() {
        let text = "- one two three\n1. four five six\n```\n1. seven eight nine\n```\nten eleven twelve";
        let shown = [
            "• one two",
            "  three",
            "1. four",
            "   five six",
            "```",
            "1. seven",
            "eight nine",
            "```",
            "ten eleven",
            "twelve",
        ];
        for size in 1..9 {
            assert_eq!(rows(text, size, 11), shown, "{size}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn pieces_of_any_size_give_the_same_rows(text in "[-ab 1.\n]{0,60}", size in 1usize..20, width in 4usize..16) {
            // Blanks at a line's end that do not fit may make an empty row when they come one by one.
            let written = |size| rows(&text, size, width).into_iter().filter(|row| !row.is_empty()).collect::<Vec<_>>();
            prop_assert_eq!(written(size), written(100));
        }
    }
}
