//! rustc and clippy: `error[E0432]: …` with its `-->` block.
//!
//! Written from real runs of rustc 1.95 and clippy 0.1.95. A diagnostic ends at a blank line or at the next one; a
//! name that cannot be found is one cause however many diagnostics miss it.

use super::cargo;
use crate::digest::{Kind, Location};
use crate::line::{Line, place_at_start, quoted};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "rustc",
    tools: "rustc, clippy, rustdoc",
    recognises: "errors and warnings with their source block; one missing name is one cause",
    version: "rustc 1.95",
    triggers: &["error[", "error: ", "warning: ", "warning["],
    reader: || Box::<Rustc>::default(),
};

#[derive(Debug, Default)]
struct Rustc {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    error: bool,
    code: String,
    message: String,
    finding: Finding,
    first: (u64, String),
    label: Option<String>,
    lint: Option<String>,
    /// Lines seen since the message without a place.
    waiting: u32,
    margin: bool,
}

impl Reader for Rustc {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if cargo::says(line) {
            self.close(report);
            return Step::Pass;
        }
        if let Some(header) = header(line.text) {
            self.close(report);
            self.open = Some(Open::new(&header, line));
            return Step::Try;
        }
        let Some(open) = &mut self.open else {
            return Step::Pass;
        };
        if open.takes(line) {
            return Step::Hold;
        }
        self.close(report);
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

struct Header<'a> {
    error: bool,
    code: &'a str,
    message: &'a str,
}

fn header(text: &str) -> Option<Header<'_>> {
    let (error, rest) = match text.strip_prefix("error") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("warning")?),
    };
    if let Some(message) = rest.strip_prefix(": ") {
        return Some(Header {
            error,
            code: "",
            message,
        });
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    Some(Header { error, code, message })
}

impl Open {
    /// Of a warning only its first line, its place and its lint are told: nothing else is kept of it.
    fn new(header: &Header<'_>, line: &Line<'_>) -> Self {
        let (message, title) = if header.error {
            (header.message, line.text)
        } else {
            ("", "")
        };
        Self {
            error: header.error,
            code: header.code.to_owned(),
            message: message.to_owned(),
            finding: Finding::new(Kind::Compile, title, line),
            first: (line.number, line.text.to_owned()),
            label: None,
            lint: None,
            waiting: 0,
            margin: false,
        }
    }

    /// Whether the line belongs to the block.
    fn takes(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if self.finding.location.is_none() {
            return self.takes_place(line, body);
        }
        let mine = body.starts_with(['|', '=', '.'])
            || body.starts_with("::: ")
            || body.starts_with("--> ")
            || (body.starts_with("help:") || body.starts_with("note:"))
            || numbered(body)
            || (line.indent() > 0 && !line.is_blank());
        if mine {
            self.explain(line, body);
        }
        mine
    }

    /// The line after the message is the place, or the block's margin; a message with a code may take more lines.
    fn takes_place(&mut self, line: &Line<'_>, body: &str) -> bool {
        if let Some(place) = body.strip_prefix("--> ").and_then(place_at_start) {
            self.finding.location = Some(place.0);
            self.keep(line);
            return true;
        }
        self.waiting += 1;
        let margin = line.indent() > 0 && (self.margin || body.starts_with("= ") || body == "|");
        let message = !self.code.is_empty() && self.waiting <= 3 && !line.is_blank();
        self.margin |= margin;
        if margin || message {
            self.keep(line);
        }
        margin || message
    }

    /// A plain `error: …` is rustc's only with a place, a margin, or in words of its own.
    fn is_rustc(&self) -> bool {
        const UNPLACED: &[&str] = &[
            "linking with `",
            "linker `",
            "couldn't read",
            "extern location",
            "crate `",
            "expected value",
        ];
        self.finding.location.is_some()
            || self.margin
            || !self.code.is_empty()
            || UNPLACED.iter().any(|start| self.message.starts_with(start))
    }

    fn keep(&mut self, line: &Line<'_>) {
        if self.error {
            self.finding.add(line);
        }
    }

    fn explain(&mut self, line: &Line<'_>, body: &str) {
        self.keep(line);
        if self.error && self.label.is_none() && body.starts_with('|') {
            self.label = label(body);
        }
        if self.lint.is_none()
            && let Some(lint) = lint(body)
        {
            self.lint = Some(lint.to_owned());
        }
    }

    /// A name that is missing is the cause of every diagnostic that misses it.
    fn cause(&self) -> Option<String> {
        const RESOLUTION: &[&str] = &[
            "E0432", "E0433", "E0412", "E0425", "E0405", "E0583", "E0463", "E0422", "E0531",
        ];
        if !RESOLUTION.contains(&self.code.as_str()) {
            return None;
        }
        let named = self
            .label
            .as_deref()
            .filter(|label| label.contains('`'))
            .unwrap_or(&self.message);
        quoted(named).map(|name| format!("missing {name}"))
    }
}

fn numbered(body: &str) -> bool {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && body[digits..].trim_start().starts_with(['|', '~', '+', '-'])
}

/// What stands after the carets.
fn label(body: &str) -> Option<String> {
    let (_, after) = body.split_once('^')?;
    let text = after.trim_start_matches(['^', '-', ' ', '|']);
    (!text.is_empty()).then(|| text.to_owned())
}

/// The lint's name in `= note: `#[`warn(unused_imports)`]` on by default` or clippy's help link.
fn lint(body: &str) -> Option<&str> {
    let rest = body.strip_prefix("= ")?;
    for open in ["#[warn(", "#[deny(", "#[forbid("] {
        if let Some(name) = crate::line::between(rest, open, ")") {
            return Some(name);
        }
    }
    rest.strip_prefix("help: for further information visit ")
        .and_then(|link| link.rsplit_once(['#', '/']))
        .map(|(_, name)| name)
}

impl Rustc {
    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        let (number, text) = &open.first;
        let line = Line {
            number: *number,
            text,
        };
        if open.error && !open.is_rustc() {
            report.unclaimed(&line);
            return;
        }
        if open.error {
            let cause = open.cause();
            report.fail(open.finding.because(cause));
            return;
        }
        let location: Option<Location> = open.finding.location;
        let kind = open
            .lint
            .as_deref()
            .or(Some(open.code.as_str()).filter(|code| !code.is_empty()))
            .unwrap_or(if location.is_some() { "rustc" } else { "general" });
        report.warn(kind, location, &line);
    }
}
