//! Python's checkers: mypy, ruff, flake8, pyright, pylint.
//!
//! Written from real runs of mypy 2.4, ruff 0.17 (full and concise), flake8 7.5, pylint 4.1 and pyright 1.1.

use crate::diag::{Level, check_at_end, colon, missing_name};
use crate::digest::Kind;
use crate::line::{Line, has_extension, leading_number, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "python checkers",
    tools: "mypy, ruff, flake8, pyright, pylint",
    recognises: "findings with code and place, notes, the sums",
    version: "mypy 2.4, ruff 0.17, flake8 7.5, pylint 4.1",
    triggers: &[
        ".py:",
        ".pyi:",
        "--> ",
        "Found ",
        "Success: no issues",
        "All checks passed",
        " errors, ",
        " informations",
    ],
    reader: || Box::<Checkers>::default(),
};

#[derive(Debug, Default)]
struct Checkers {
    open: Option<Finding>,
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
        if let Some(step) = self.ruff_block(line, report) {
            return step;
        }
        if finding(line, report) || sums(line, report) {
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
        let (location, _) = place_at_start(line.body().strip_prefix("--> ")?)?;
        if !has_extension(&location.path, &["py", "pyi", "ipynb"]) {
            return None;
        }
        let above = report
            .recent
            .before(line.number)
            .pop()
            .filter(|quote| quote.line + 1 == line.number && is_code(&quote.text))?;
        report.unknowns.forget(above.line);
        let said = Line {
            number: above.line,
            text: &above.text,
        };
        let title = above.text.replacen(" [*] ", " ", 1);
        self.open = Some(Finding::new(Kind::Lint, &title, &said).at(location));
        Some(Step::Hold)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
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
        || text.starts_with("SyntaxError: ")
}

fn finding(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.body();
    if let Some(found) = colon(text).filter(|each| has_extension(&each.location.path, &["py", "pyi"])) {
        typed(found.level, found.message, found.location, line, report);
        return true;
    }
    let Some((location, rest)) =
        place_at_start(text).filter(|(place, _)| has_extension(&place.path, &["py", "pyi"]))
    else {
        return false;
    };
    if let Some((level, message)) = rest.strip_prefix(" - ").and_then(crate::diag::level_at_start) {
        typed(level, message, location, line, report);
        return true;
    }
    let Some(message) = rest
        .strip_prefix(": ")
        .filter(|message| is_code(message) && location.column.is_some())
    else {
        return false;
    };
    if advice(message) {
        let kind = message.split(':').next().unwrap_or("pylint");
        report.advise(kind, Finding::new(Kind::Lint, message, line).at(location), line);
        return true;
    }
    let message = message.replacen(" [*] ", " ", 1);
    report.fail(Finding::new(Kind::Lint, &message, line).at(location));
    true
}

/// pylint's convention, refactoring and warning messages, `C0114: …`: with errors told apart, these are none.
fn advice(message: &str) -> bool {
    let Some((code, _)) = message.split_once(": ") else {
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
) {
    match level {
        Level::Error => report.fail(
            Finding::new(Kind::Compile, message, line)
                .at(location)
                .because(missing_name(message)),
        ),
        Level::Warning => report.warn(check_at_end(message).unwrap_or("python"), Some(location), line),
        Level::Note => {}
    }
}

/// `Found 3 errors in 2 files (checked 5 source files)`, `2 errors, 0 warnings, 0 informations`.
fn sums(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if text.starts_with("Success: no issues found") || text == "All checks passed!" {
        report.succeeded(line);
        return true;
    }
    let pyright = text.contains(" informations") || text.contains(" notes");
    let found = text
        .strip_prefix("Found ")
        .and_then(leading_number)
        .filter(|(_, rest)| rest.starts_with(" error"));
    let errors = match (found, pyright) {
        (Some((errors, rest)), _) if rest.trim_end_matches('.').len() < 8 || rest.contains(" file") => errors,
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
