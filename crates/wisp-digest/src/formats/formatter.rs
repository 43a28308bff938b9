//! Formatters asked to check: which files they would change is why the run failed.
//!
//! Written from real runs of prettier 3, black 26, isort 9, clang-format 23 and gofmt 1.26; black's older words
//! and ruff's short ones from documentation; ruff's full form is the Python checkers' and rustfmt's is
//! cargo's. All the files of one formatter are one error to fix: it is run once.
//! `gofmt -l` prints bare names, which are read only under the command that asked for them.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, has_extension, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "formatter",
    tools: "prettier, black, ruff format, isort, clang-format, gofmt",
    recognises: "the files that a check would change, as one cause; files that cannot be parsed, with place; the sums",
    version: "prettier 3, black 26, clang-format 23",
    triggers: &[
        "Checking formatting...",
        "Code style issues found in",
        "Error occurred when checking code style",
        "All matched files use Prettier",
        "would reformat ",
        "Would reformat: ",
        "error: cannot parse: ",
        "error: cannot format ",
        "Oh no! 💥",
        "All done! ✨",
        " would be reformatted",
        " would be left unchanged",
        " already formatted",
        "Imports are incorrectly sorted",
        "code should be clang-formatted",
        "gofmt -l",
    ],
    reader: || Box::<Formatter>::default(),
};

#[derive(Debug, Default)]
struct Formatter {
    block: Option<Block>,
    open: Option<Finding>,
    /// Files that black would change: only its last words tell whether it was asked to fail for them.
    black: Vec<Finding>,
    /// Prettier has named files.
    named: bool,
}

/// What the next lines are part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Prettier,
    /// What black could not parse, with its source.
    Black,
    /// So many lines of source are still to come.
    Clang(u8),
    Gofmt,
}

impl Reader for Formatter {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(step) = self.block.and_then(|block| self.inner(block, line, report)) {
            return step;
        }
        self.close(report);
        self.block = None;
        if let Some(step) = self.heads(line, report) {
            return step;
        }
        self.sums(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.spare(report);
    }
}

impl Formatter {
    /// A line of the open block; none when it is none of it.
    fn inner(&mut self, block: Block, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let mine = match block {
            Block::Prettier => return self.prettier(line, report),
            Block::Gofmt => {
                let name = !text.contains(' ') && has_extension(text, &["go"]);
                if name {
                    let finding = changed("gofmt", text, line);
                    report.advise("gofmt", finding, line);
                }
                return name.then_some(Step::Hold);
            }
            Block::Black => line.indent() > 0 || text.starts_with("ParseError: "),
            Block::Clang(more) => {
                self.block = Some(Block::Clang(more.saturating_sub(1)));
                more > 0
            }
        };
        if !mine {
            return None;
        }
        if let Some(open) = &mut self.open {
            open.add(line);
        }
        Some(Step::Hold)
    }

    /// `[warn] src/a.js`, `[error] src/b.js: SyntaxError: … (1:7)` and the source under it.
    fn prettier(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(name) = line.text.strip_prefix("[warn] ") {
            self.close(report);
            if name.starts_with("Code style issues found in") {
                return None;
            }
            self.named = true;
            report.fail(changed("prettier", name, line));
            return Some(Step::Hold);
        }
        let rest = line.text.strip_prefix("[error] ")?;
        if let (Some(open), true) = (
            &mut self.open,
            rest.starts_with([' ', '>', '|']) || is_source(rest),
        ) {
            open.add(line);
            return Some(Step::Hold);
        }
        self.close(report);
        let (path, message) = rest.part_at(": ").unwrap_or(("", rest));
        let (message, place) = message.last_part_at(" (").unwrap_or((message, ""));
        let mut finding = Finding::new(Kind::Compile, message, line);
        finding.location = (!path.is_empty()).then(|| located(path, place.trim_end_matches(')')));
        self.open = Some(finding);
        Some(Step::Hold)
    }

    fn heads(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let (block, finding) = if text == "Checking formatting..." {
            (Block::Prettier, None)
        } else if text.has("gofmt -l") {
            (Block::Gofmt, None)
        } else if text.has(": code should be clang-formatted") {
            return Some(self.clang(line, report));
        } else {
            (Block::Black, Some(unparsed(line)?))
        };
        if finding.is_some() {
            report.failed(line);
        }
        (self.open, self.block) = (finding, Some(block));
        Some(if block == Block::Gofmt {
            Step::Try
        } else {
            Step::Hold
        })
    }

    /// `src/a.c:1:4: error: code should be clang-formatted […]`, which is a warning without `-Werror`.
    fn clang(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let Some((place, rest)) = place_at_start(line.text) else {
            return Step::Pass;
        };
        if rest.starts_with(": warning:") {
            report.warn("clang-format-violations", Some(place), line);
        } else {
            report.failed(line);
            self.open = Some(changed("clang-format", &place.path, line).at(place));
        }
        self.block = Some(Block::Clang(2));
        Step::Hold
    }

    /// The names of files, one a line, and the last words.
    fn sums(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(name) = text.strip_prefix("would reformat ") {
            if self.black.len() < limits::FAILURES {
                let mut finding = changed("black", name, line);
                finding.retitle(text);
                self.black.push(finding);
            }
        } else if let Some(name) = text.strip_prefix("Would reformat: ") {
            report.failed(line);
            report.fail(changed("ruff", name, line));
        } else if let Some((name, _)) = text
            .strip_prefix("ERROR: ")
            .and_then(|rest| rest.part_at(" Imports are incorrectly sorted"))
        {
            report.failed(line);
            report.fail(changed("isort", name, line));
        } else if text.starts_with("Oh no! 💥") {
            report.failed(line);
            for finding in std::mem::take(&mut self.black) {
                report.fail(finding);
            }
        } else if text.starts_with("All done! ✨") || text.starts_with("All matched files use Prettier") {
            self.spare(report);
            report.succeeded(line);
        } else {
            return self.counts(line, report);
        }
        Step::Take
    }

    fn counts(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.has("Code style issues found in")
            || text.starts_with("Error occurred when checking code style")
        {
            report.failed(line);
            report.cascade(line);
            self.named = false;
            return Step::Take;
        }
        if !text.starts_with(|first: char| first.is_ascii_digit()) || !text.has(" file") {
            return Step::Pass;
        }
        let count = |words: &str| {
            let part = text.split(", ").find(|part| part.contains(words))?;
            leading_number(part).map(|(number, _)| number)
        };
        let counts: Vec<(&str, u64)> = [
            (" would be reformatted", "to change"),
            (" would be left unchanged", "unchanged"),
            (" already formatted", "unchanged"),
            (" would fail to reformat", "not parsed"),
        ]
        .iter()
        .filter_map(|(words, name)| Some((*name, count(words)?)))
        .collect();
        if counts.is_empty() {
            return Step::Pass;
        }
        report.tally("formatted", &counts, line);
        if counts.iter().all(|(name, _)| *name == "unchanged") {
            report.succeeded(line);
        }
        Step::Take
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }

    /// black only showed what it would change, or ended without a word.
    fn spare(&mut self, report: &mut Report) {
        for finding in std::mem::take(&mut self.black) {
            let title = finding.title.clone();
            let line = Line {
                number: finding.lines.first,
                text: &title,
            };
            report.advise("black", finding, &line);
        }
    }
}

fn said(tool: &str, path: &str) -> String {
    joined![path, " would be changed by ", tool]
}

/// A file that the formatter would change.
fn changed(tool: &str, path: &str, line: &Line<'_>) -> Finding {
    let finding = Finding::new(Kind::Lint, said(tool, path), line).because(Some(joined![tool, " check"]));
    if path.is_empty() {
        return finding;
    }
    finding.at(Location {
        path: path.to_owned(),
        line: None,
        column: None,
    })
}

/// `error: cannot parse: src/a.py:1:4`, and before black 26 `error: cannot format src/a.py: Cannot parse: 1:4: def (:`.
fn unparsed(line: &Line<'_>) -> Option<Finding> {
    if let Some(rest) = line.text.strip_prefix("error: cannot parse: ") {
        let (place, _) = place_at_start(rest)?;
        return Some(Finding::new(Kind::Compile, line.text, line).at(place));
    }
    let (path, why) = line.text.strip_prefix("error: cannot format ")?.part_at(": ")?;
    let place = ["Cannot parse: ", "Cannot parse for target version "]
        .iter()
        .find_map(|words| why.strip_prefix(words))
        .and_then(|rest| {
            rest.find(|each: char| each.is_ascii_digit())
                .map(|at| &rest[at..])
        });
    let finding = Finding::new(Kind::Compile, line.text, line);
    Some(finding.at(located(path, place.unwrap_or(""))))
}

/// The path with a place `ROW:COLUMN` in it.
fn located(path: &str, place: &str) -> Location {
    let row = leading_number(place);
    let column = row.and_then(|(_, rest)| leading_number(rest.strip_prefix(':')?));
    Location {
        path: path.to_owned(),
        line: row.map(|(row, _)| row),
        column: column.map(|(column, _)| column),
    }
}

/// ` 2 |` without its margin.
fn is_source(text: &str) -> bool {
    leading_number(text).is_some_and(|(_, rest)| rest.starts_with(" |"))
}
