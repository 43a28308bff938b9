//! Python's checkers: mypy, ruff, flake8, pyright, pylint, black.
//!
//! Written from real runs of mypy 2.4 (plain and pretty), ruff 0.17 (full, concise, `format --check`),
//! flake8 7.5, pylint 4.1, pyright 1.1 and black.

use std::borrow::Cow;

use crate::diag::{Level, check_at_end, level_at_start, missing_name};
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number, number_before, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "python checkers",
    tools: "mypy, ruff, flake8, pyright, pylint, black",
    recognises: "findings with code and place, notes, the sums",
    version: "mypy 2.4, ruff 0.17, flake8 7.5, pylint 4.1",
    triggers: &[
        ".py:",
        ".pyi:",
        "\n--> ",
        "Found ",
        "Success: no issues",
        "All checks passed",
        " errors, ",
        " informations",
        "ould reformat",
        " be reformatted",
    ],
    reader: || Box::<Checkers>::default(),
};

#[derive(Debug, Default)]
struct Checkers {
    open: Option<Finding>,
    /// A type checker's error of which more lines may come.
    told: Option<Finding>,
}

impl Reader for Checkers {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if !line.is_blank() {
                open.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        if self.goes_on(line) {
            return Step::Lean;
        }
        self.close(report);
        if let Some(step) = self.ruff_block(line, report) {
            return step;
        }
        match finding(line, report) {
            Found::Open(finding) => {
                self.told = Some(*finding);
                return Step::Lean;
            }
            Found::Told => return Step::Take,
            Found::Nothing => {}
        }
        if sums(line, report) || formatted(line, report) {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Checkers {
    /// ruff's full form has the place under the message: ` --> a.py:1:8`.
    fn ruff_block(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let (place, _) = place(line.body().strip_prefix("--> ")?)?;
        if !has_extension(place.path, &["py", "pyi", "ipynb"]) {
            return None;
        }
        let above = report
            .recent
            .at(line.number.checked_sub(1)?)
            .filter(|quote| is_code(&quote.text))?;
        report.unknowns.forget(above.line);
        let said = Line {
            number: above.line,
            text: &above.text,
        };
        self.open = Some(Finding::new(Kind::Lint, unmarked(&above.text), &said).at(place.location()));
        Some(Step::Hold)
    }

    fn close(&mut self, report: &mut Report) {
        for finding in self.open.take().into_iter().chain(self.told.take()) {
            let compiled = finding.kind == Kind::Compile;
            let cause = compiled.then(|| missing_name(&finding.title)).flatten();
            report.fail(finding.because(cause));
        }
    }

    /// A line more of a type checker's error: the rest of a message that `mypy --pretty` broke, the source, or what
    /// pyright adds.
    fn goes_on(&mut self, line: &Line<'_>) -> bool {
        let Some(told) = self.told.as_mut().filter(|_| !line.is_blank()) else {
            return false;
        };
        if line.indent() >= 4 {
            told.quote(line);
            return true;
        }
        let open = check_at_end(&told.title).is_none() && !told.title.ends_with(')');
        let code = line.text.starts_with('[') && check_at_end(line.text).is_some();
        let broken = open || code || told.title.ends_with(',');
        let rest = line.indent() == 0
            && broken
            && told.title.len() > 30
            && told.lines.last + 1 == line.number
            && !line.text.starts_with("Found ")
            && !line.text.has(".py:");
        if rest {
            told.retitle(joined![told.title, " ", line.text]);
            told.lines.reach(line.number);
        }
        rest
    }
}

/// What black and `ruff format --check` say of a file; without `--check` it is only news.
fn formatted(line: &Line<'_>, report: &mut Report) -> bool {
    let lower = line.text.strip_prefix("would reformat ");
    let Some(path) = lower.or_else(|| line.text.strip_prefix("Would reformat: ")) else {
        return line.text.ends_with(" would be reformatted.") || line.text.has(" would be reformatted, ");
    };
    let mut finding = Finding::new(Kind::Lint, line.text, line);
    finding.location = Some(crate::digest::Location {
        path: path.to_owned(),
        line: None,
        column: None,
    });
    report.advise("format", finding, line);
    true
}

/// `F401 …`: letters, digits, a blank.
fn is_code(text: &str) -> bool {
    let word = text.split([' ', ':']).next().unwrap_or("");
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    (1..=4).contains(&letters)
        && word.len() - letters >= 2
        && word.len() <= 9
        && word[letters..].bytes().all(|byte| byte.is_ascii_digit())
        || text.starts_with("invalid-syntax")
        || text.starts_with("unformatted: ")
        || text.starts_with("SyntaxError: ")
}

/// What a line has of a finding.
enum Found {
    Nothing,
    /// All of it.
    Told,
    /// A failure of which more lines may come.
    Open(Box<Finding>),
}

fn finding(line: &Line<'_>, report: &mut Report) -> Found {
    stated(line, report).unwrap_or(Found::Nothing)
}

fn stated(line: &Line<'_>, report: &mut Report) -> Option<Found> {
    let text = line.body();
    let (place, rest) = place(text).filter(|(place, _)| has_extension(place.path, &["py", "pyi"]))?;
    let location = place.location();
    if let Some((level, message)) = rest.strip_prefix(':').and_then(level_at_start) {
        return Some(typed(level, message, location, line, report));
    }
    let said = rest.strip_prefix(" - ").or_else(|| after_end(rest));
    if let Some((level, message)) = said.and_then(level_at_start) {
        return Some(typed(level, message, location, line, report));
    }
    let message = rest
        .strip_prefix(": ")
        .filter(|message| is_code(message) && location.column.is_some())?;
    if advice(message) {
        let kind = message.split(':').next().unwrap_or("pylint");
        report.advise(kind, Finding::new(Kind::Lint, message, line).at(location), line);
        return Some(Found::Told);
    }
    report.fail(Finding::new(Kind::Lint, unmarked(message), line).at(location));
    Some(Found::Told)
}

/// The message without ruff's mark that it can be fixed.
fn unmarked(message: &str) -> Cow<'_, str> {
    match message.part_at(" [*] ") {
        Some((code, rest)) => Cow::Owned(joined![code, " ", rest]),
        None => Cow::Borrowed(message),
    }
}

/// `:8:14: ` of `mypy --show-error-end`, after the place where the error begins.
fn after_end(rest: &str) -> Option<&str> {
    let (_, rest) = leading_number(rest.strip_prefix(':')?)?;
    let (_, rest) = leading_number(rest.strip_prefix(':')?)?;
    rest.strip_prefix(": ")
}

/// pylint's convention, refactoring and warning messages, `C0114: …`: with errors told apart, these are none.
fn advice(message: &str) -> bool {
    let Some((code, _)) = message.part_at(": ") else {
        return false;
    };
    code.len() == 5
        && code.starts_with(['C', 'R', 'W', 'I'])
        && code[1..].bytes().all(|byte| byte.is_ascii_digit())
}

fn typed(
    level: Level,
    message: &str,
    location: crate::digest::Location,
    line: &Line<'_>,
    report: &mut Report,
) -> Found {
    match level {
        Level::Error => {
            return Found::Open(Box::new(Finding::new(Kind::Compile, message, line).at(location)));
        }
        Level::Warning => report.warn(check_at_end(message).unwrap_or("python"), Some(location), line),
        Level::Note => {}
    }
    Found::Told
}

/// `Found 3 errors in 2 files (checked 5 source files)`, `2 errors, 0 warnings, 0 informations`.
fn sums(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if text.starts_with("Success: no issues found") || text == "All checks passed!" {
        report.succeeded(line);
        return true;
    }
    let counted = text.starts_with(|first: char| first.is_ascii_digit());
    let pyright = counted && (text.has(" informations") || text.has(" notes"));
    let found = text
        .strip_prefix("Found ")
        .and_then(leading_number)
        .filter(|(_, rest)| rest.starts_with(" error"));
    let errors = match (found, pyright) {
        (Some((errors, rest)), _) if rest.trim_end_matches('.').len() < 8 || rest.has(" file") => errors,
        (None, true) => match number_before(text, "errors").or_else(|| number_before(text, "error")) {
            Some(errors) => errors,
            None => return false,
        },
        _ => return false,
    };
    report.set_tally("python checkers", &[("errors", errors)], line);
    if errors > 0 {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    true
}
