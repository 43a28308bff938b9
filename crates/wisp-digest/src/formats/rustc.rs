//! rustc and clippy: `error[E0432]: …` with its `-->` block.
//!
//! Written from real runs of rustc 1.95 and clippy 0.1.95. A diagnostic ends at a blank line or at the next one; a
//! name that cannot be found is one cause however many diagnostics miss it.

mod short;

use std::ops::Range;

use self::short::short;
use super::cargo;
use crate::digest::{Kind, Quote};
use crate::find::Find;
use crate::limits;
use crate::line::{Line, Place, cut, place, quoted, without_indent};
use crate::near::near;
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};
use crate::rest::Rest;

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "rustc",
    tools: "rustc, clippy, rustdoc",
    recognises: "errors and warnings with their source block; one missing name is one cause",
    version: "rustc 1.95",
    triggers: &[
        "\n\nerror[E0",
        "\n\nwarning: ",
        "\nerror[",
        "\nerror: ",
        "\nwarning: ",
        "\nwarning[",
        ": error[",
        ": warning[",
    ],
    reader: || Box::<Rustc>::default(),
};

/// A build has thousands of diagnostics, of which few are told: what is read of one is kept in the room of the one
/// before it, and a finding is made only of what is reported.
#[derive(Debug, Default)]
struct Rustc {
    open: bool,
    block: Block,
    cause: String,
}

/// What is read of a diagnostic's block.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is asked by itself")]
struct Block {
    error: bool,
    /// Its first line, and where in it the code and the message are.
    number: u64,
    text: String,
    code: Range<usize>,
    message: usize,
    path: String,
    place: Option<(u64, Option<u64>)>,
    /// The last line that explains it.
    last: u64,
    /// Whether the lines that explain it may be told: the list of failures was not full when it began.
    told: bool,
    explain: Vec<Quote>,
    /// Whether its code says that a name was not found.
    missing: bool,
    /// What stands after the carets; empty when nothing does, or when it does not matter.
    label: String,
    lint: Option<String>,
    /// Lines seen since the message without a place.
    waiting: u32,
    margin: bool,
}

impl Reader for Rustc {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if cargo::says(line) {
            self.close(report);
            return Step::Give(cargo::FORMAT.name);
        }
        if let Some(header) = header(line.text) {
            // git's list of files follows.
            if line.text.ends_with(':') && line.text.has(" would be overwritten by ") {
                self.close(report);
                return Step::Give("shell");
            }
            return self.begin(&header, line, report);
        }
        if short(line, report) {
            self.close(report);
            return Step::Take;
        }
        if !self.open {
            return Step::Pass;
        }
        if self.block.takes(line) {
            return Step::Hold;
        }
        self.close(report);
        Step::Pass
    }

    /// A diagnostic with a code, or one whose place stands on the next line.
    fn own(&mut self, line: &Line<'_>, next: Next<'_>, report: &mut Report) -> Option<Step> {
        let header = header(line.text)?;
        let sure = line.text.starts_with("error[E") || (next.is_indented(b"--> ") && !cargo::says(line));
        sure.then(|| self.begin(&header, line, report))
    }

    fn read_on(&mut self, rest: &mut Rest<'_>, report: &mut Report) -> bool {
        while self.open {
            let mut cargos = false;
            rest.read_while(|line| {
                if cargo::is_status(line.text) {
                    cargos = cargo::is_sure(line.text);
                    return false;
                }
                self.block.goes_on(line)
            });
            if cargos {
                self.close(report);
            } else if self.block.place.is_some() && rest.pass_blank() {
                self.close(report);
                rest.begin(|line, next| self.own(line, next, report).is_some());
            } else {
                break;
            }
        }
        self.open
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// The severity, and where the code and the message are.
struct Header {
    error: bool,
    code: Range<usize>,
    message: usize,
}

#[inline]
fn header(text: &str) -> Option<Header> {
    let bytes = text.as_bytes();
    let (error, after) = match bytes {
        [b'e', b'r', b'r', b'o', b'r', after @ ..] => (true, after),
        [b'w', b'a', b'r', b'n', b'i', b'n', b'g', after @ ..] => (false, after),
        _ => return None,
    };
    let from = bytes.len() - after.len();
    let (code, message) = match after {
        [b':', b' ', ..] => (from..from, from + 2),
        [b'[', ..] => {
            let end = code_end(bytes, from)?;
            (from + 1..end, end + 3)
        }
        _ => return None,
    };
    Some(Header { error, code, message })
}

/// Where the code ends in `error[E0425]: …`.
fn code_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut end = from;
    loop {
        end += bytes[end..].iter().position(|byte| *byte == b']')?;
        if bytes[end..].starts_with(b"]: ") {
            return Some(end);
        }
        end += 1;
    }
}

/// Whether a code of an error says that a name was not found.
fn is_unresolved(code: &str) -> bool {
    matches!(
        code,
        "E0432" | "E0433" | "E0412" | "E0425" | "E0405" | "E0583" | "E0463" | "E0422" | "E0531"
    )
}

impl Block {
    /// Begins with a diagnostic's first line.
    fn begin(&mut self, header: &Header, line: &Line<'_>, told: bool) {
        line.text.clone_into(&mut self.text);
        (self.error, self.code, self.message) = (header.error, header.code.clone(), header.message);
        (self.number, self.last, self.told) = (line.number, line.number, told);
        (self.place, self.lint, self.waiting, self.margin) = (None, None, 0, false);
        self.missing = is_unresolved(self.code());
        self.explain.clear();
        self.label.clear();
    }

    fn code(&self) -> &str {
        &self.text[self.code.clone()]
    }

    fn message(&self) -> &str {
        &self.text[self.message..]
    }

    fn place(&self) -> Option<Place<'_>> {
        self.place.map(|(line, column)| Place {
            path: &self.path,
            line: Some(line),
            column,
        })
    }

    /// Whether a line belongs to the block that begins with a blank or a sign, or with a number and a bar, and is not
    /// cargo's.
    #[inline]
    fn goes_on(&mut self, line: &Line<'_>) -> bool {
        match line.text.as_bytes().first() {
            Some(b'0'..=b'9') if self.place.is_some() => {
                self.keep(line);
                true
            }
            _ => self.takes(line),
        }
    }

    /// Whether the line belongs to the block.
    fn takes(&mut self, line: &Line<'_>) -> bool {
        if self.place.is_none() {
            return self.takes_place(line, line.body());
        }
        let mine = match line.text.as_bytes().first() {
            None => false,
            Some(b' ' | b'|' | b'=' | b'.') => true,
            Some(b'0'..=b'9') => numbered(line.text),
            Some(_) => {
                let starts = ["::: ", "--> ", "help:", "note:"];
                line.indent() > 0 || starts.iter().any(|start| line.text.starts_with(start))
            }
        };
        if mine {
            self.explain(line);
        }
        mine
    }

    /// The line after the message is the place, or the block's margin; a message with a code may take more lines.
    fn takes_place(&mut self, line: &Line<'_>, body: &str) -> bool {
        if let Some((place, _)) = body.strip_prefix("--> ").and_then(place) {
            place.path.clone_into(&mut self.path);
            self.place = place.line.map(|line| (line, place.column));
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
        self.place.is_some()
            || self.margin
            || !self.code.is_empty()
            || UNPLACED.iter().any(|start| self.message().starts_with(start))
    }

    /// Keeps a line that explains an error. Of a warning only its first line, its place and its lint are told.
    #[inline]
    fn keep(&mut self, line: &Line<'_>) {
        if self.error && self.told && !line.is_blank() {
            self.last = line.number;
            if self.explain.len() < limits::EXPLAIN {
                self.explain.push(line.quote());
            }
        }
    }

    #[inline]
    fn explain(&mut self, line: &Line<'_>) {
        self.keep(line);
        if self.error {
            if self.missing
                && self.label.is_empty()
                && let Some(label) = label(line.body())
            {
                label.clone_into(&mut self.label);
            }
        } else if self.lint.is_none() {
            self.lint = lint(line.body()).map(str::to_owned);
        }
    }

    /// A name that is missing is the cause of every diagnostic that misses it. Written over the one before it.
    fn cause<'a>(&self, cause: &'a mut String) -> Option<&'a str> {
        const MISSING: &str = "missing ";
        if !self.missing {
            return None;
        }
        let named = if self.label.contains('`') {
            &self.label
        } else {
            self.message()
        };
        let name = quoted(named)?;
        cause.truncate(MISSING.len());
        if cause.is_empty() {
            cause.push_str(MISSING);
        }
        cause.push_str(name);
        Some(cause)
    }

    fn finding(&mut self) -> Finding {
        let explain = std::mem::take(&mut self.explain);
        let mut finding = Finding::new(Kind::Compile, &self.text, &self.first());
        finding.lines.reach(self.last);
        finding.location = self.place().map(|place| place.location());
        finding.explain = explain;
        finding
    }

    fn warn(&self, report: &mut Report) {
        let place = self.place();
        let unnamed = if place.is_some() { "rustc" } else { "general" };
        let code = Some(self.code()).filter(|code| !code.is_empty());
        let kind = self.lint.as_deref().or(code).unwrap_or(unnamed);
        report.warn_at(kind, place, &self.first());
    }

    fn first(&self) -> Line<'_> {
        Line {
            number: self.number,
            text: &self.text,
        }
    }
}

fn numbered(body: &str) -> bool {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let margin = match &body.as_bytes()[digits..] {
        [b' ', b'|', ..] => Some(&b'|'),
        _ => without_indent(&body[digits..]).as_bytes().first(),
    };
    digits > 0 && matches!(margin, Some(b'|' | b'~' | b'+' | b'-'))
}

/// What stands after the carets of a line without source.
fn label(body: &str) -> Option<&str> {
    let body = body.strip_prefix('|').filter(|body| !body.is_empty())?;
    let caret = near(b'^', body.as_bytes(), 0)?;
    Some(body[caret..].trim_start_matches(['^', '-', ' ', '|']))
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
    fn begin(&mut self, header: &Header, line: &Line<'_>, report: &mut Report) -> Step {
        self.close(report);
        self.open = true;
        self.block.begin(header, line, !report.is_full());
        Step::Try
    }

    fn close(&mut self, report: &mut Report) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        if !self.block.error {
            self.block.warn(report);
        } else if self.block.is_rustc() {
            self.fail(report);
        } else {
            report.unclaimed(&self.block.first());
        }
    }

    /// When the list of failures is full, what is neither a copy nor of a known cause is only counted.
    fn fail(&mut self, report: &mut Report) {
        let cause = self.block.cause(&mut self.cause);
        let counted = !self.block.told && cause.is_none_or(|cause| !report.knows(cause));
        if counted && let Some(place) = self.block.place() {
            let title = cut(&self.block.text, limits::TITLE);
            return report.count_only(title, place, self.block.number);
        }
        let finding = self.block.finding().because(cause.map(str::to_owned));
        report.fail(finding);
    }
}
