//! `ESLint`'s stylish table, and linters that print the same.
//!
//! Written from real runs of `ESLint` 9 and 10 and stylelint 17. The file stands on a line of its own above its
//! rows; a message may take two lines.

use crate::diag::missing_name;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, number_before};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "eslint",
    tools: "eslint, stylelint, standard, oxlint's stylish form",
    recognises: "errors by file, warnings by rule, messages of two lines, the sum",
    version: "ESLint 10, stylelint 17",
    triggers: &[
        "  error ",
        "  warning ",
        " problems (",
        " problem (",
        "  ✖  ",
        "  ⚠  ",
        " potentially fixable with",
        "ESLint found too many",
        "No files matching the pattern",
    ],
    reader: || Box::<Eslint>::default(),
};

#[derive(Debug, Default)]
struct Eslint {
    file: Option<String>,
    open: Option<Finding>,
    blank: bool,
}

/// A problem's line without its file.
pub(super) struct Row<'a> {
    line: u64,
    column: u64,
    pub error: bool,
    message: &'a str,
}

/// `  4:9   error    Expected '===' and instead saw '=='  eqeqeq`.
pub(super) fn row<'a>(line: &Line<'a>) -> Option<Row<'a>> {
    let (row, rest) = leading_number(line.body()).filter(|_| line.indent() > 0)?;
    let (column, rest) = leading_number(rest.strip_prefix(':')?)?;
    let rest = rest.strip_prefix("  ")?.trim_start();
    let (word, message) = rest.part_at("  ")?;
    let error = match word.trim() {
        "error" | "✖" | "×" => true,
        "warning" | "⚠" => false,
        _ => return None,
    };
    Some(Row {
        line: row,
        column,
        error,
        message: message.trim(),
    })
}

impl Row<'_> {
    /// The problem's place in the file it was found in.
    pub(super) fn location(&self, path: &str) -> Location {
        Location {
            path: path.to_owned(),
            line: Some(self.line),
            column: Some(self.column),
        }
    }

    /// The rule that found it.
    pub(super) fn rule(&self) -> &str {
        self.message
            .last_part_at("  ")
            .map_or("eslint", |(_, rule)| bare(rule))
    }

    /// The problem as a failure.
    pub(super) fn finding(&self, path: &str, line: &Line<'_>) -> Finding {
        let location = self.location(path);
        let title = collapse(self.message);
        let copy = joined!["eslint ", location, " ", title];
        let cause = missing_name(&title);
        let finding = Finding::new(Kind::Lint, &title, line).at(location);
        finding.known_as(copy).because(cause)
    }
}

impl Reader for Eslint {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(row) = row(line) {
            self.close(report);
            self.row(&row, line, report);
            return Step::Hold;
        }
        if is_sum(line.body()) {
            self.close(report);
            sum(line, report);
            self.file = None;
            return Step::Take;
        }
        let alone = line.text.starts_with("ESLint found too many warnings (maximum: ")
            || (line.text.starts_with("No files matching the pattern ")
                && line.text.ends_with(" were found."));
        if alone {
            self.close(report);
            report.fail(Finding::new(Kind::Tool, line.text, line));
            return Step::Take;
        }
        if line
            .text
            .ends_with(" potentially fixable with the `--fix` option.")
        {
            return Step::Take;
        }
        if self.file.is_none() {
            return Step::Pass;
        }
        self.between(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Eslint {
    fn row(&mut self, row: &Row<'_>, line: &Line<'_>, report: &mut Report) {
        if self.file.is_none() {
            self.file = report
                .recent
                .before(line.number)
                .pop()
                .map(|quote| quote.text.trim().to_owned());
        }
        self.blank = false;
        let path = self.file.as_deref().unwrap_or_default();
        if row.error {
            self.open = Some(row.finding(path, line));
        } else {
            report.warn(row.rule(), Some(row.location(path)), line);
        }
    }

    /// A blank line, the next file, or the second line of a message.
    fn between(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.is_blank() {
            self.blank = true;
            return Step::Hold;
        }
        if self.blank {
            self.close(report);
            self.file = None;
            let path = !line.text.contains(' ') && line.text.contains(['/', '\\', '.'])
                || line.text.starts_with('/');
            if path {
                self.file = Some(line.text.to_owned());
                self.blank = false;
                return Step::Hold;
            }
            return Step::Pass;
        }
        if let Some(open) = &mut self.open {
            open.add(line);
        }
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// The rule's name: yamllint writes parentheses around it.
fn bare(rule: &str) -> &str {
    rule.trim().trim_start_matches('(').trim_end_matches(')')
}

/// The message and the rule without the padding between them.
fn collapse(message: &str) -> String {
    match message.last_part_at("  ") {
        Some((text, rule)) => joined![text.trim(), " (", bare(rule), ")"],
        None => message.to_owned(),
    }
}

/// Whether it begins as one: with its mark or its number.
fn is_sum(body: &str) -> bool {
    let number = body.trim_start_matches(['✖', '×', '⚠', ' ']);
    leading_number(number)
        .is_some_and(|(_, rest)| rest.starts_with(" problems (") || rest.starts_with(" problem ("))
}

/// `✖ 7 problems (3 errors, 4 warnings)`.
fn sum(line: &Line<'_>, report: &mut Report) {
    let number =
        |one: &str, many: &str| number_before(line.text, many).or_else(|| number_before(line.text, one));
    let counts = [
        ("problems", number("problem", "problems").unwrap_or(0)),
        ("errors", number("error", "errors").unwrap_or(0)),
        ("warnings", number("warning", "warnings").unwrap_or(0)),
    ];
    report.tally("eslint", &counts, line);
    if counts[1].1 > 0 {
        report.failed(line);
    }
}
