//! Linters of scripts, Dockerfiles, YAML and Markdown, Biome, and golangci-lint's sums.
//!
//! Written from real runs of shellcheck 0.9, yamllint 1.38 (parsable form; its standard form is `ESLint`'s) and
//! markdownlint-cli2 0.22; golangci-lint 1.64 and 2 seen in runs that their users posted, hadolint 2.12 from
//! documentation. What is no error fails such a run all the same: it is a warning unless nothing else says why the run
//! failed. How Biome's blocks are read stands in `biome`.

use super::biome::Biome;
use crate::diag::{Level, level_at_start};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, Place, leading_number, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "linters",
    tools: "shellcheck, hadolint, yamllint, markdownlint, biome; golangci-lint's sums",
    recognises: "remarks with code and place, several to a line; what is no error fails a run only when nothing else does",
    version: "shellcheck 0.9, yamllint 1.38, markdownlint-cli2 0.22, Biome 2.6, golangci-lint 1.64 and 2 (runs posted by their users)",
    triggers: &[
        "^-- SC",
        "-^ SC",
        "^^ SC",
        " [SC1",
        " [SC2",
        " [SC3",
        ": [error] ",
        ": [warning] ",
        " DL10",
        " DL30",
        " DL40",
        " SC20",
        " SC21",
        " SC22",
        " SC23",
        " MD00",
        " MD01",
        " MD02",
        " MD03",
        " MD04",
        " MD05",
        "━━━━━━━━",
        " No fixes applied.",
        "Summary: ",
        " issues:",
        "0 issues.",
        "msg=\"[linters_context]",
        "msg=\"Running error: ",
        "msg=\"Timeout exceeded",
        "The command is terminated due to an error: ",
    ],
    reader: || Box::<Linters>::default(),
};

#[derive(Debug, Default)]
struct Linters {
    /// The file and row that shellcheck speaks of.
    place: Option<(String, u64)>,
    part: Part,
    biome: Biome,
}

/// Where in shellcheck's or golangci-lint's output the next line lies.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    /// Between remarks.
    Between,
    /// `In a.sh line 2:` has been read; the row itself follows.
    Row,
    /// "Did you mean:" has been read; what it should be follows, up to a blank line.
    Fix,
    /// "For more information:" has been read.
    More,
    /// `2 issues:` has been read.
    Issues,
}

impl Reader for Linters {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.biome.takes(line, report) || self.inside(line, report) {
            return Step::Hold;
        }
        self.part = Part::Outside;
        if let Some(mark) = mark(line) {
            self.begins(line, report);
            self.remark(&mark, line, report);
            return Step::Hold;
        }
        if let Some(issues) = line
            .text
            .strip_suffix(" issues:")
            .and_then(|count| count.parse().ok())
        {
            report.tally("golangci-lint", &[("issues", issues)], line);
            report.failed(line);
            self.part = Part::Issues;
            return Step::Hold;
        }
        if line.text == "0 issues." {
            report.succeeded(line);
            return Step::Take;
        }
        if sum(line, report) || one_line(line, report) || golangci(line, report) {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.biome.close(report);
    }
}

impl Linters {
    /// A line in the middle of shellcheck's output or golangci-lint's sums.
    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let text = line.text;
        match self.part {
            Part::Outside => return false,
            Part::Row => {
                self.part = Part::Between;
                return true;
            }
            Part::Fix => {
                if line.is_blank() {
                    self.part = Part::Between;
                }
                return true;
            }
            Part::More => return text.starts_with("  http"),
            Part::Issues => return issue(text, line, report),
            Part::Between => {}
        }
        if let Some(mark) = mark(line) {
            self.remark(&mark, line, report);
        } else if let Some(place) = heading(text) {
            self.place = Some(place);
            self.part = Part::Row;
        } else if text.starts_with("Did you mean:") {
            self.part = Part::Fix;
        } else if text == "For more information:" {
            self.part = Part::More;
        } else {
            return line.is_blank();
        }
        true
    }

    /// The first remark shown: its file and row stand above it.
    fn begins(&mut self, line: &Line<'_>, report: &mut Report) {
        self.part = Part::Between;
        for quote in report.recent.before(line.number) {
            match heading(&quote.text) {
                Some(place) => self.place = Some(place),
                None => report.unknowns.forget(quote.line),
            }
        }
    }

    fn remark(&self, mark: &Mark<'_>, line: &Line<'_>, report: &mut Report) {
        let mut finding = Finding::new(Kind::Lint, joined![mark.code, ": ", mark.message], line);
        finding.location = self.place.as_ref().map(|(path, row)| Location {
            path: path.clone(),
            line: Some(*row),
            column: Some(line.indent() as u64 + 1),
        });
        tell(mark.level == "error", mark.code, finding, line, report);
    }
}

/// `     ^-- SC2086 (info): Double quote to prevent …`.
struct Mark<'a> {
    code: &'a str,
    level: &'a str,
    message: &'a str,
}

fn mark<'a>(line: &Line<'a>) -> Option<Mark<'a>> {
    let (mark, rest) = line.body().part_at(" SC")?;
    if !mark.starts_with('^') || mark.bytes().any(|byte| byte != b'^' && byte != b'-') {
        return None;
    }
    let (_, after) = leading_number(rest)?;
    let digits = rest.len() - after.len();
    let (level, message) = after.strip_prefix(" (")?.part_at("): ")?;
    let start = line.text.len() - rest.len() - 2;
    Some(Mark {
        code: &line.text[start..start + 2 + digits],
        level,
        message,
    })
}

/// `In a.sh line 2:`.
fn heading(text: &str) -> Option<(String, u64)> {
    let (path, row) = text
        .strip_prefix("In ")?
        .strip_suffix(':')?
        .last_part_at(" line ")?;
    Some((path.to_owned(), row.parse().ok()?))
}

fn tell(error: bool, code: &str, finding: Finding, line: &Line<'_>, report: &mut Report) {
    if error {
        report.failed(line);
        report.fail(finding);
    } else {
        report.advise(code, finding, line);
    }
}

/// A remark that is one line.
fn one_line(line: &Line<'_>, report: &mut Report) -> bool {
    let Some((place, rest)) = place(line.text) else {
        return false;
    };
    let Some((error, code, message)) = shellcheck(rest)
        .or_else(|| yamllint(rest))
        .or_else(|| coded(rest))
    else {
        return false;
    };
    let finding = Finding::new(Kind::Lint, message, line).at(Place::location(&place));
    tell(error, code, finding, line, report);
    true
}

/// `: warning: failed is referenced but not assigned. [SC2154]`.
fn shellcheck(rest: &str) -> Option<(bool, &str, &str)> {
    let (level, message) = level_at_start(rest.strip_prefix(':')?)?;
    let (_, code) = message.strip_suffix(']')?.last_part_at(" [")?;
    let number = code.strip_prefix("SC")?;
    number
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some((level == Level::Error, code, message))
}

/// `: [error] too many spaces after colon (colons)`.
fn yamllint(rest: &str) -> Option<(bool, &str, &str)> {
    let (level, message) = rest.strip_prefix(": [")?.part_at("] ")?;
    let (_, code) = message.strip_suffix(')')?.last_part_at(" (")?;
    matches!(level, "error" | "warning").then_some((level == "error", code, message))
}

/// hadolint's ` DL3006 warning: Always tag …` and markdownlint's ` error MD022/blanks-around-headings Headings …`.
fn coded(rest: &str) -> Option<(bool, &str, &str)> {
    let rest = rest.strip_prefix(' ')?;
    let stated = rest
        .strip_prefix("error ")
        .or_else(|| rest.strip_prefix("warning "));
    let message = stated.unwrap_or(rest);
    let (code, said) = message.halves(b' ')?;
    let number = code
        .get(2..)
        .map_or("", |number| number.split('/').next().unwrap_or(number));
    let known = ["DL", "SC", "MD"].iter().any(|family| code.starts_with(family));
    if !known || number.is_empty() || number.bytes().any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    if code.starts_with("MD") {
        return Some((!rest.starts_with("warning "), code, message));
    }
    let level = ["error:", "warning:", "info:", "style:"]
        .iter()
        .find(|level| said.starts_with(**level))?;
    Some((*level == "error:", code, message))
}

/// markdownlint's `Summary: 3 error(s)`.
fn sum(line: &Line<'_>, report: &mut Report) -> bool {
    let counted = line.text.strip_prefix("Summary: ").and_then(leading_number);
    let Some((errors, _)) = counted.filter(|(_, rest)| rest.starts_with(" error(s)")) else {
        return false;
    };
    report.tally("markdownlint", &[("errors", errors)], line);
    if errors > 0 {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    true
}

/// What golangci-lint says of itself, `level=error msg="[linters_context] typechecking error: …"`: it may go on and
/// find nothing to remark on.
fn golangci(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text;
    if let Some(message) = text.strip_prefix("The command is terminated due to an error: ") {
        for quote in report.recent.before(line.number) {
            if quote.text.strip_prefix("Error: ") == Some(message) {
                report.unknowns.forget(quote.line);
            }
        }
        report.failed(line);
        report.fail(Finding::new(Kind::Configure, message, line));
        return true;
    }
    let Some((level, message)) = text
        .part_at("level=")
        .and_then(|(_, rest)| rest.part_at(" msg=\""))
    else {
        return false;
    };
    let message = message.strip_suffix('"').unwrap_or(message);
    let message = message.strip_prefix("[linters_context] ").unwrap_or(message);
    // The compiler's own lines in it are printed again as remarks.
    let first = message.before("\\n");
    let finding = Finding::new(Kind::Configure, first, line).known_as(joined!["golangci ", message]);
    match level {
        "error" if message.starts_with("typechecking error: ") => {
            report.advise("golangci-lint", finding, line);
        }
        "error" => report.fail(finding),
        _ => report.warn("golangci-lint", None, line),
    }
    true
}

/// golangci-lint's `* errcheck: 1`.
fn issue(text: &str, line: &Line<'_>, report: &mut Report) -> bool {
    let Some((linter, count)) = text.strip_prefix("* ").and_then(|rest| rest.last_part_at(": ")) else {
        return false;
    };
    let Ok(count) = count.parse() else { return false };
    report.tally("golangci-lint", &[(linter, count)], line);
    true
}
