//! Marks of CI runners: GitHub Actions' groups and annotations, GitLab's closing words.
//!
//! Written from documentation and published logs of Actions runner 2.320 and `GitLab` Runner 17. A step's script is
//! echoed before it runs and is no output; `Process completed with exit code` reports a failure stated above it.

use crate::diag::{Level, colon, missing_name, paren};
use crate::digest::{Kind, Location, Verdict};
use crate::line::{Line, between, cut};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ci",
    tools: "GitHub Actions, GitLab CI, Azure Pipelines logs",
    recognises: "steps as sections and how each ended, annotations; echoed scripts are not output",
    version: "Actions runner 2.320, GitLab Runner 17 (published logs)",
    triggers: &[
        "##[",
        "section_start:",
        "section_end:",
        "::error",
        "::warning",
        "ERROR: Job failed",
        "Job succeeded",
        "[command]",
        "Cleaning up project directory",
    ],
    reader: || Box::<Ci>::default(),
};

#[derive(Debug, Default)]
struct Ci {
    /// In an open group that echoes a step's script and settings.
    script: bool,
    step: String,
    failed: Vec<String>,
    last: u64,
    /// The sections around the open one of `GitLab`.
    outer: Vec<Option<usize>>,
}

impl Reader for Ci {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("##[") {
            let Some((mark, rest)) = rest.split_once(']') else {
                return Step::Pass;
            };
            return self.mark(mark, rest, line, report);
        }
        if text.starts_with("section_start:") || text.starts_with("section_end:") {
            self.marks(line, report);
            return Step::Take;
        }
        if self.script {
            return Step::Hold;
        }
        if text.starts_with("::error") || text.starts_with("::warning") {
            return command(text, line, report);
        }
        if text.starts_with("ERROR: Job failed") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if text.starts_with("Job succeeded") {
            report.succeeded(line);
            return Step::Take;
        }
        if text.starts_with("[command]") {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.failed.is_empty() {
            let count = self.failed.len();
            let noun = if count == 1 { "step" } else { "steps" };
            report.note(
                format!("{count} {noun} ended in error: {}", self.failed.join(", ")),
                self.last,
            );
        }
    }
}

impl Ci {
    fn mark(&mut self, mark: &str, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        match mark {
            "group" => {
                if let Some(name) = rest.strip_prefix("Run ") {
                    self.enter(name, line, report);
                    self.script = true;
                    return Step::Hold;
                }
                self.script = rest.starts_with("Operating System")
                    || rest.starts_with("Runner Image")
                    || rest.starts_with("GITHUB_TOKEN");
                if self.script { Step::Hold } else { Step::Take }
            }
            "endgroup" => {
                self.script = false;
                Step::Take
            }
            "error" => self.error(rest, line, report),
            "warning" => {
                report.warn(
                    "annotation",
                    None,
                    &Line {
                        number: line.number,
                        text: rest,
                    },
                );
                Step::Take
            }
            _ => Step::Take,
        }
    }

    /// `section_start:1717171717:step_script[collapsed=true]`, `section_end:…`, and what is shown after them.
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) {
        self.script = false;
        for word in line.text.split(' ') {
            if let Some((_, name)) = word
                .strip_prefix("section_start:")
                .and_then(|rest| rest.split_once(':'))
            {
                let outer = report.section;
                if self.outer.len() < crate::limits::PENDING {
                    self.outer.push(outer);
                }
                let name = name.split_once('[').map_or(name, |(name, _)| name);
                cut(name, 120).clone_into(&mut self.step);
                report.enter(name, line.number);
                report.nesting.open(outer, report.section);
            } else if word.starts_with("section_end:") {
                report.reach(line.number);
                report.section = self.outer.pop().flatten();
            }
        }
    }

    fn enter(&mut self, name: &str, line: &Line<'_>, report: &mut Report) {
        if let Some(section) = report.section.and_then(|at| report.sections.get_mut(at)) {
            section.lines.last = line.number.saturating_sub(1);
        }
        cut(name, 120).clone_into(&mut self.step);
        report.enter(name, line.number);
        if let Some(section) = report.section.and_then(|at| report.sections.get_mut(at)) {
            section.lines.reach(line.number);
        }
    }

    fn error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let ended = rest
            .strip_prefix("Process completed with exit code ")
            .map(|code| code.trim_end_matches('.'));
        if let Some(section) = report.section.and_then(|at| report.sections.get_mut(at)) {
            section.verdict = Verdict::Failed;
            section.lines.reach(line.number);
        }
        report.failed(line);
        if let Some(finding) = matched(rest, line) {
            report.fail(finding);
            return Step::Take;
        }
        let stated = report
            .failures
            .iter()
            .any(|failure| failure.section == report.section && report.section.is_some());
        if ended.is_some() || stated || rest.starts_with("The operation was canceled") {
            report.cascade(line);
        } else {
            report.fail(Finding::new(Kind::Tool, rest, line));
        }
        if let Some(code) = ended
            && self.failed.len() < crate::limits::LISTED
        {
            self.failed.push(format!("{} (exit {code})", self.step));
            self.last = line.number;
        }
        Step::Take
    }
}

/// A compiler's diagnostic that a problem matcher has made an annotation of.
fn matched(text: &str, line: &Line<'_>) -> Option<Finding> {
    let found = paren(text)
        .or_else(|| colon(text))
        .filter(|found| found.level == Level::Error)?;
    let title = match found.code {
        Some(code) => format!("{code}: {}", found.message),
        None => found.message.to_owned(),
    };
    let cause = missing_name(found.message);
    Some(
        Finding::new(Kind::Compile, &title, line)
            .at(found.location)
            .because(cause),
    )
}

/// `::error file=a.js,line=1::message`, as a workflow prints it.
fn command(text: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let Some((head, message)) = text[2..].split_once("::") else {
        return Step::Pass;
    };
    let path = between(head, "file=", ",").or_else(|| head.split_once("file=").map(|(_, path)| path));
    let number = head
        .split_once("line=")
        .and_then(|(_, rest)| crate::line::leading_number(rest))
        .map(|(number, _)| number);
    let location = path.map(|path| Location {
        path: path.to_owned(),
        line: number,
        column: None,
    });
    if head.starts_with("warning") {
        report.warn(
            "annotation",
            location,
            &Line {
                number: line.number,
                text: message,
            },
        );
    } else {
        let mut finding = Finding::new(Kind::Tool, message, line);
        finding.location = location;
        report.fail(finding);
    }
    Step::Take
}
