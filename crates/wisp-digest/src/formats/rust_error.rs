//! The errors with which Rust programs end: anyhow's `Error: …` with `Caused by:`, and eyre's numbered list.
//!
//! Written from real runs of anyhow 1.0 and color-eyre 0.6. The last cause is the reason; the statement is what it
//! surfaced as.

use crate::digest::{Kind, Location, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "rust errors",
    tools: "programs with anyhow, eyre or color-eyre",
    recognises: "the innermost cause of an error that ended a program, what it surfaced as, the place",
    version: "anyhow 1.0, color-eyre 0.6",
    triggers: &["\nCaused by:", "\nError:"],
    reader: || Box::<RustError>::default(),
};

#[derive(Debug, Default)]
struct RustError {
    /// `Error:` alone, whose causes may come next.
    announced: Option<u64>,
    open: Option<Chain>,
}

/// A statement and its causes.
#[derive(Debug)]
struct Chain {
    stated: Quote,
    causes: Vec<Quote>,
    numbered: bool,
    place: Option<Location>,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Causes,
    /// eyre's place of the statement.
    Location,
    /// Frames.
    Trace,
}

impl Reader for RustError {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if open.line(line) {
                return Step::Hold;
            }
            self.close(report);
        }
        if let Some(number) = self.announced.take()
            && let Some(first) = numbered(line)
        {
            report.unknowns.forget(number);
            self.open = Some(Chain::new(Quote {
                line: line.number,
                text: first.to_owned(),
            }));
            return Step::Hold;
        }
        if line.text.trim_end() == "Error:" {
            self.announced = Some(line.number);
            return Step::Try;
        }
        if line.text.trim_end() != "Caused by:" {
            return Step::Pass;
        }
        let stated = report.recent.before(line.number).pop();
        let Some(stated) = stated.filter(|quote| quote.text.starts_with("Error: ")) else {
            return Step::Pass;
        };
        report.unknowns.forget(stated.line);
        self.open = Some(Chain::new(Quote {
            text: stated.text.past("Error: ").to_owned(),
            ..stated
        }));
        Step::Hold
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl RustError {
    fn close(&mut self, report: &mut Report) {
        if let Some(chain) = self.open.take() {
            report.fail(chain.finding());
        }
    }
}

impl Chain {
    fn new(stated: Quote) -> Self {
        Self {
            stated,
            causes: Vec::new(),
            numbered: false,
            place: None,
            part: Part::Causes,
        }
    }

    /// Takes a cause, the place or a frame. False when the error has ended.
    fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if line.is_blank() {
            return true;
        }
        if line.indent() == 0 {
            self.part = match body.trim_end() {
                "Caused by:" => Part::Causes,
                "Location:" => Part::Location,
                "Stack backtrace:" => Part::Trace,
                _ => return body.starts_with("Backtrace omitted."),
            };
            return true;
        }
        if body.starts_with('━') {
            // color-eyre's bars have the name of what comes next in their middle.
            self.part = Part::Trace;
        }
        let placed = || place_at_start(body.past("at ")).map(|(place, _)| place);
        match self.part {
            Part::Causes => {
                if let Some(text) = cause(line, &mut self.numbered, self.causes.is_empty())
                    && self.causes.len() < 8
                {
                    let text = text.to_owned();
                    self.causes.push(Quote {
                        line: line.number,
                        text,
                    });
                }
            }
            Part::Location => self.place = self.place.take().or_else(placed),
            Part::Trace => {
                let own = body.starts_with("at ./") || body.starts_with("at src/");
                self.place = self.place.take().or_else(|| placed().filter(|_| own));
            }
        }
        true
    }

    fn finding(self) -> Finding {
        let Self {
            stated,
            mut causes,
            place,
            ..
        } = self;
        let reason = causes.pop();
        let (number, title) = match &reason {
            Some(reason) => {
                let surfaced = joined![" (surfaced as ", stated.text, ", L", stated.line, ")"];
                (reason.line, joined![reason.text, surfaced])
            }
            None => (stated.line, stated.text.clone()),
        };
        let line = Line { number, text: "" };
        let mut finding =
            Finding::new(Kind::Exception, title, &line).known_as(joined!["rust error ", number]);
        finding.location = place;
        finding.explain = causes;
        finding
    }
}

/// `   1: No space left on device`: the text.
fn numbered<'a>(line: &Line<'a>) -> Option<&'a str> {
    let (_, rest) = leading_number(line.body())?;
    rest.strip_prefix(": ").filter(|_| line.indent() > 0)
}

/// The cause that the line states; what has no number below one that has is more of its message.
fn cause<'a>(line: &Line<'a>, among: &mut bool, first: bool) -> Option<&'a str> {
    let text = numbered(line);
    *among |= text.is_some();
    text.or_else(|| Some(line.body()).filter(|_| first))
}

/// The causes under the error of a test.
#[derive(Debug)]
pub(super) struct Causes {
    /// The test, and what the error says first.
    head: String,
    surfaced: String,
    stated: u64,
    numbered: bool,
    first: bool,
}

impl Causes {
    /// The causes of what has been found.
    pub(super) fn of(finding: &Finding) -> Self {
        let (head, said) = finding.title.part_at(": ").unwrap_or(("", &finding.title));
        Self {
            head: head.to_owned(),
            surfaced: said.past("Error: ").to_owned(),
            stated: finding
                .explain
                .last()
                .map_or(finding.lines.last, |quote| quote.line),
            numbered: false,
            first: true,
        }
    }

    /// Takes a cause: the last is the reason. False when they have ended.
    pub(super) fn line(&mut self, line: &Line<'_>, finding: &mut Finding) -> bool {
        if line.is_blank() {
            return true;
        }
        if line.indent() == 0 {
            return false;
        }
        if let Some(reason) = cause(line, &mut self.numbered, self.first) {
            self.first = false;
            let surfaced = joined![" (surfaced as ", self.surfaced, ", L", self.stated, ")"];
            finding.retitle(joined![self.head, ": ", reason, surfaced]);
            finding.cause = finding.cause.take().map(|_| joined!["returned ", reason]);
            finding.quote(line);
        }
        true
    }
}
