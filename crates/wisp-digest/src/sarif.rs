//! SARIF: static analysis results in JSON. Read from the document's events while it is outlined.
//!
//! Written from SARIF 2.1.0 as `CodeQL`, Semgrep and clippy-sarif write it.

use crate::digest::{Kind, Location, Span};
use crate::find::Find;
use crate::json::{Event, Listener};
use crate::limits;
use crate::line::{Line, cut};
use crate::report::{Finding, Report};

const DEEP: usize = 16;

/// One result.
#[derive(Debug, Clone, Default)]
struct Found {
    line: u64,
    level: String,
    rule: String,
    message: String,
    path: String,
    row: Option<u64>,
    column: Option<u64>,
}

/// Collects results by where they stand: `runs[].results[]`.
#[derive(Debug, Default)]
pub(crate) struct Sarif {
    /// The names that lead to where it is, as many as it is deep; those after them are what was.
    path: Vec<String>,
    depth: usize,
    current: Found,
    results: Vec<Found>,
    count: u64,
    schema_named: bool,
}

impl Listener for Sarif {
    fn event(&mut self, event: Event<'_>, line: u64) {
        match event {
            Event::ObjectStart | Event::ArrayStart => self.open(line),
            Event::ObjectEnd | Event::ArrayEnd => self.close_one(),
            Event::Key(name) => self.name(name),
            Event::Text(text, _) | Event::Number(text) => self.value(text),
            Event::Word(_) => {}
        }
    }
}

impl Sarif {
    fn open(&mut self, line: u64) {
        self.depth += 1;
        if let Some(name) = self.path.get_mut(self.depth - 1) {
            name.clear();
        } else if self.depth <= DEEP {
            self.path.push(String::new());
        }
        if self.is_result() {
            self.current = Found {
                line,
                ..Found::default()
            };
        }
    }

    /// The object of a result: the document, `runs`, a run, `results`, a result.
    fn is_result(&self) -> bool {
        self.depth == 5 && self.at(0) == "runs" && self.at(2) == "results"
    }

    fn at(&self, depth: usize) -> &str {
        let path = &self.path[..self.depth.min(self.path.len())];
        path.get(depth).map_or("", String::as_str)
    }

    fn close_one(&mut self) {
        if self.is_result() {
            self.count += 1;
            if self.results.len() < limits::FAILURES {
                self.results.push(std::mem::take(&mut self.current));
            }
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn name(&mut self, name: &str) {
        if self.depth <= DEEP
            && let Some(last) = self.depth.checked_sub(1).and_then(|at| self.path.get_mut(at))
        {
            name.clone_into(last);
        }
    }

    fn value(&mut self, text: &str) {
        if self.depth == 1 && self.at(0) == "$schema" {
            self.schema_named |= text.has("sarif");
        }
        if self.depth < 5 || self.at(2) != "results" {
            return;
        }
        match (self.at(4), self.at(self.depth.min(DEEP) - 1)) {
            ("level", "level") => text.clone_into(&mut self.current.level),
            ("ruleId", "ruleId") => text.clone_into(&mut self.current.rule),
            ("message", "text") => text.clone_into(&mut self.current.message),
            ("locations", "uri") if self.current.path.is_empty() => text.clone_into(&mut self.current.path),
            ("locations", "startLine") if self.current.row.is_none() => self.current.row = text.parse().ok(),
            ("locations", "startColumn") if self.current.column.is_none() => {
                self.current.column = text.parse().ok();
            }
            _ => {}
        }
    }

    /// Reports the results. False when the document was no SARIF file.
    pub(crate) fn report(self, report: &mut Report) -> bool {
        if !self.schema_named {
            return false;
        }
        report.format = "sarif";
        report.used();
        let count = self.count;
        for found in self.results {
            found.report(report);
        }
        let line = Line { number: 1, text: "" };
        report.set_tally("sarif results", &[("results", count)], &line);
        true
    }
}

impl Found {
    fn report(self, report: &mut Report) {
        let text = format!("{}: {}", self.rule, self.message);
        let line = Line {
            number: self.line,
            text: cut(&text, limits::QUOTE),
        };
        let location = (!self.path.is_empty()).then_some(Location {
            path: self.path,
            line: self.row,
            column: self.column,
        });
        match self.level.as_str() {
            "error" => {
                let mut finding = Finding::new(Kind::Lint, &text, &line);
                finding.location = location;
                finding.lines = Span::line(self.line);
                report.fail(finding);
            }
            "note" | "none" => {}
            _ => report.warn(&self.rule, location, &line),
        }
    }
}
