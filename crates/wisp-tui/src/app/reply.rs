//! The reply as it streams: rows that can no longer change go above the band, and only the row still being written
//! stays in it.
//!
//! A line is broken at spaces from its start, so text that follows changes no row but the last. That is why the band
//! needs one row for a reply however long its lines are, and why a resize in the middle of one disturbs nothing.

use ratatui::text::{Line, Span};
use wisp_term::Markdown;
use wisp_term::width::expand_tabs;

use crate::ansi::AnsiReader;
use crate::highlight::highlight;
use crate::looks::Looks;
use crate::table::Tables;
use crate::wrap::{self, Break};

/// A reply being received.
#[derive(Debug, Clone)]
pub struct Reply {
    looks: Looks,
    markdown: Markdown,
    /// The mark that opened the code block the text is in, and its language.
    fence: Option<(String, String)>,
    tables: Tables,
    reader: AnsiReader,
    /// Whole lines that were not broken into rows yet.
    lines: Vec<Vec<Span<'static>>>,
    /// The line being written, less the rows that were given out.
    open: Vec<Span<'static>>,
    /// Whether some of the line being written was given out.
    begun: bool,
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
            started: false,
        }
    }

    /// Takes more of the reply.
    pub fn push(&mut self, delta: &str) {
        self.started = true;
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
                let line = std::mem::take(&mut self.open);
                let line = self.coloured(line);
                self.lines.push(line);
            }
        }
    }

    /// A whole line, with its code coloured when it stands in a code block and none of it was given out yet.
    fn coloured(&mut self, line: Vec<Span<'static>>) -> Vec<Span<'static>> {
        let text: String = line.iter().map(|span| span.content.as_ref()).collect();
        let start = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (&self.fence, mark) {
            (Some((open, _)), Some(mark)) if open == mark => self.fence = None,
            (None, Some(mark)) => {
                let language = start[mark.len()..].split_whitespace().next().unwrap_or_default();
                self.fence = Some((mark.to_owned(), language.to_lowercase()));
            }
            (Some((_, language)), _) if !self.begun => return highlight(&text, language, &self.looks),
            _ => {}
        }
        line
    }

    /// The rows that can no longer change.
    pub fn settle(&mut self, width: usize) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        for line in std::mem::take(&mut self.lines) {
            if line.is_empty() && std::mem::take(&mut self.begun) {
                continue;
            }
            self.begun = false;
            rows.extend(wrap::lines(&line, width, Break::Words));
        }
        let mut open = wrap::lines(&self.open, width, Break::Words);
        let last = open.pop().unwrap_or_default();
        if !open.is_empty() {
            self.begun = true;
            self.open = last.spans;
            rows.extend(open);
        }
        rows
    }

    /// The row being written.
    pub fn live(&self) -> Option<Line<'static>> {
        (!self.open.is_empty()).then(|| Line::from(self.open.clone()))
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
            self.lines.push(std::mem::take(&mut self.open));
        }
        self.reader = AnsiReader::default();
        self.fence = None;
        let rows = self.settle(width);
        self.begun = false;
        rows
    }
}
