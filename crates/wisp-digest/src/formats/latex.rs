//! LaTeX: TeX's own errors and warnings, and latexmk's.
//!
//! Written from real runs of pdfTeX 1.40 (TeX Live 2022), with and without `-file-line-error`, and of latexmk 4.79. TeX
//! names the file of an error only by the parentheses it prints around what it reads.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number, number_after, place, quoted};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "latex",
    tools: "pdflatex, xelatex, lualatex, latexmk",
    recognises: "errors with file and line, what TeX gave up for as a consequence; warnings by kind, wide boxes among them",
    version: "pdfTeX 1.40 (TeX Live 2022), latexmk 4.79",
    triggers: &[
        "TeX, Version ",
        "LaTeX2e <",
        "! LaTeX Error: ",
        "! Undefined control sequence.",
        "! Emergency stop.",
        "==> Fatal error occurred",
        "LaTeX Warning: ",
        "Transcript written on ",
        "Latexmk: ",
        "Latex failed to resolve",
        "gave return code ",
        "Collected error summary",
    ],
    reader: || Box::<Latex>::default(),
};

#[derive(Debug, Default)]
struct Latex {
    part: Part,
    /// What TeX is reading, outermost first.
    files: Vec<String>,
    open: Option<Open>,
    /// Whether this run of TeX had an error.
    bad: bool,
}

/// Whose lines these are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    /// Between TeX's first and last line.
    Tex,
    /// The text of a box that does not fit, up to a blank line.
    Box,
    /// What latexmk lists of TeX's log.
    List,
}

/// An error until its `l.8 …` and the line after that.
#[derive(Debug)]
struct Open {
    finding: Finding,
    /// None for what only says that TeX gave up.
    cause: bool,
    lines: u8,
    /// The place has been read.
    placed: bool,
}

/// An error's help and context have at most so many lines.
const CONTEXT: u8 = 20;
/// Files open in one another that are told apart.
const DEEP: usize = 64;

impl Reader for Latex {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.part == Part::List && line.indent() > 0 {
            return Step::Hold;
        }
        if latexmk(line, report) {
            self.close(report);
            let list = line.text.starts_with("Latexmk: ") && line.text.ends_with(':');
            self.part = if list { Part::List } else { Part::Outside };
            return if list { Step::Hold } else { Step::Take };
        }
        if self.part == Part::List {
            self.part = Part::Outside;
        }
        if line.text.has("TeX, Version ") {
            *self = Self::default();
            self.part = Part::Tex;
            return Step::Lean;
        }
        if self.error(line, report) || self.context(line, report) {
            return Step::Hold;
        }
        if self.part == Part::Outside
            && !line.text.starts_with("LaTeX2e <")
            && !line.text.has("LaTeX Warning: ")
        {
            return self.last(line, report);
        }
        if self.part == Part::Outside {
            self.part = Part::Tex;
        }
        if self.last(line, report) == Step::Take {
            return Step::Take;
        }
        self.reads(line, report);
        Step::Lean
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Latex {
    /// `! Undefined control sequence.` and `./a.tex:3: Undefined control sequence.`
    fn error(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        if line.text.starts_with("!  ==> Fatal error occurred") || line.text.starts_with("*** (job aborted") {
            self.close(report);
            report.failed(line);
            report.cascade(line);
            return true;
        }
        let on = self.part != Part::Outside;
        let placed = on.then(|| place(line.text)).flatten().filter(|(place, rest)| {
            place.column.is_none() && rest.starts_with(": ") && is_source(place.path)
        });
        let (location, message) = match placed {
            Some((place, rest)) => (Some(place.location()), &rest[2..]),
            None => match line.text.strip_prefix("! ") {
                Some(message) if on || is_known(message) => (None, message),
                _ => return false,
            },
        };
        self.close(report);
        self.bad = true;
        report.failed(line);
        let cause = message != "Emergency stop.";
        if !cause {
            report.cascade(line);
        }
        let message = message.strip_prefix("LaTeX Error: ").unwrap_or(message);
        let mut finding = Finding::new(Kind::Compile, message, line);
        finding.location = location;
        self.open = Some(Open {
            finding,
            cause,
            lines: 0,
            placed: false,
        });
        true
    }

    /// A line of the open error: help, what TeX was reading, `l.8 \depth`, and the rest of that row.
    fn context(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.lines += 1;
        if open.placed {
            let rest = line.indent() > 0;
            if rest {
                open.finding.add(line);
            }
            self.close(report);
            return rest;
        }
        let row = line.text.strip_prefix("l.").and_then(leading_number);
        let Some((row, rest)) = row else {
            let ends =
                open.lines > CONTEXT || line.text.starts_with("(see the transcript") || ends(line.text);
            if ends {
                self.close(report);
            }
            return !ends;
        };
        open.finding.add(line);
        open.placed = true;
        if open.finding.location.is_none() {
            let path = self.files.iter().rev().find(|path| is_source(path));
            open.finding.location = path.map(|path| at(path, Some(row)));
        }
        if open.finding.title.starts_with("Undefined control sequence")
            && let Some(name) = rest.rfind('\\').map(|from| &rest[from..])
        {
            open.finding.retitle(joined!["Undefined control sequence ", name]);
            open.finding.cause = Some(joined!["missing ", name]);
        }
        true
    }

    /// TeX's last words.
    fn last(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.starts_with("Output written on ") {
            if !self.bad {
                report.succeeded(line);
            }
            return Step::Lean;
        }
        if line.text.starts_with("Transcript written on ") {
            self.part = Part::Outside;
            return Step::Take;
        }
        Step::Pass
    }

    /// What TeX says while it reads: warnings, boxes, files opened and closed.
    fn reads(&mut self, line: &Line<'_>, report: &mut Report) {
        if line.is_blank() {
            self.part = Part::Tex;
            return;
        }
        if self.part == Part::Box {
            return;
        }
        let text = line.text;
        let file = self.files.iter().rev().find(|path| is_source(path));
        let path = file.map_or("", String::as_str);
        if let Some((kind, rest)) = warning(text) {
            let row = number_after(rest, "input line");
            if let Some(kind) = kind {
                report.warn(kind, Some(at(path, row)), line);
            }
            return;
        }
        if text.starts_with("Overfull ") || text.starts_with("Underfull ") {
            let word = text.before(" (");
            let row = number_after(text, "at lines").or_else(|| number_after(text, "at line"));
            report.warn(word, Some(at(path, row)), line);
            self.part = Part::Box;
            return;
        }
        self.files_in(text);
    }

    /// Follows the parentheses.
    fn files_in(&mut self, text: &str) {
        for (from, each) in text.char_indices() {
            if each == ')' {
                self.files.pop();
            } else if each == '(' && self.files.len() < DEEP {
                let rest = &text[from + 1..];
                let end = rest.find(['(', ')', ' ', '<', '[']).unwrap_or(rest.len());
                self.files.push(rest[..end].to_owned());
            }
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(mut open) = self.open.take().filter(|open| open.cause) {
            if open.finding.location.is_none() {
                let path = self.files.iter().rev().find(|path| is_source(path));
                open.finding.location = path.map(|path| at(path, None));
            }
            report.fail(open.finding);
        }
    }
}

fn ends(text: &str) -> bool {
    text.starts_with("Output written on ") || text.starts_with("Transcript written on ")
}

/// The kind of a warning, none for one that only sums others up, and the rest of the line.
fn warning(text: &str) -> Option<(Option<&str>, &str)> {
    let (who, said) = text.part_at(" Warning: ")?;
    if let Some(package) = who
        .strip_prefix("Package ")
        .or_else(|| who.strip_prefix("Class "))
    {
        return Some((Some(package), said));
    }
    if who != "LaTeX" && who != "LaTeX Font" && who != "pdfTeX" {
        return None;
    }
    let kind = if said.starts_with("Reference `") {
        Some("undefined reference")
    } else if said.starts_with("Citation `") {
        Some("undefined citation")
    } else if said.starts_with("Label `") {
        Some("label defined twice")
    } else if said.starts_with("There were ") || said.starts_with("Label(s) may have changed") {
        None
    } else {
        Some(who)
    };
    Some((kind, said))
}

/// Errors that are known as TeX's where its first lines are missing.
fn is_known(message: &str) -> bool {
    message.starts_with("LaTeX Error: ")
        || message == "Undefined control sequence."
        || message == "Emergency stop."
}

/// Whether TeX's sources have such a name.
fn is_source(path: &str) -> bool {
    has_extension(path, &["tex", "sty", "cls", "ltx", "dtx", "bbl", "aux", "toc"])
}

fn at(path: &str, line: Option<u64>) -> Location {
    Location {
        path: path.to_owned(),
        line,
        column: None,
    }
}

/// What latexmk says around the runs.
fn latexmk(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if let Some(said) = text.strip_prefix("Latexmk: ") {
        if said.starts_with("All targets ") && said.has("up-to-date") {
            report.succeeded(line);
        } else if said.starts_with("Could not find file ") {
            report.failed(line);
            let cause = quoted(said).map(|name| joined!["missing ", name]);
            report.fail(Finding::new(Kind::Configure, said, line).because(cause));
        } else if said.starts_with("Errors, ") || said.starts_with("Failure to make") {
            report.failed(line);
            report.cascade(line);
        }
        return true;
    }
    let body = line.body();
    if body.starts_with("Collected error summary")
        || body.has(": Command for '") && body.has(" gave return code ")
    {
        report.failed(line);
        report.cascade(line);
        return true;
    }
    body.starts_with("Latex failed to resolve ")
}
