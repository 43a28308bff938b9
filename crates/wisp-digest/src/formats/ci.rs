//! Marks of CI runners: GitHub Actions' groups and annotations, GitLab's closing words.
//!
//! Written from documentation and published logs of Actions runner 2.320, `gh run view --log`, `GitLab` Runner 17 and Azure
//! Pipelines. A step's script is echoed before it runs and is no output; `Process completed with exit code` reports a
//! failure stated above it.

mod others;

use crate::counted::counted;
use crate::diag::{colon, paren};
use crate::digest::{Kind, Location, Verdict};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, cut, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ci",
    tools: "GitHub Actions, GitLab CI, Azure Pipelines, Jenkins, Travis, CircleCI, Buildkite logs",
    recognises: "steps as sections and how each ended, annotations; echoed scripts are not output",
    version: "Actions runner 2.320, GitLab Runner 17, Azure Pipelines (published logs)",
    triggers: &[
        "\n##[a",
        "\n##[c",
        "\n##[d",
        "\n##[e",
        "\n##[g",
        "\n##[n",
        "\n##[s",
        "\n##[w",
        "section_start:",
        "section_end:",
        "::error",
        "::warning",
        "ERROR: Job failed",
        "ERROR: No files to upload",
        "Job succeeded",
        "[command]",
        "Cleaning up project directory",
        "Error: Process completed with exit code ",
        "The process '/",
        "[Pipeline] ",
        "ERROR: script returned exit code ",
        "Finished: ",
        "skipped due to earlier failure(s)",
        "WorkflowScript: ",
        "control.MultipleCompilationErrorsException",
        "\" exited with ",
        "Your build exited with ",
        "Exited with code ",
        "Error: The command exited with status ",
        "user command error: exit status ",
        "Exit status",
        "fastlane finished with errors",
        " - see the log above",
        "[!] Shell command exited with exit status ",
        "Called from Fastfile at line ",
    ],
    reader: || Box::<Ci>::default(),
};

#[derive(Debug, Default)]
struct Ci {
    /// In an open group that echoes a step's script and settings.
    script: bool,
    /// In fastlane's excerpt of its file, and how many of its marks have come.
    excerpt: Option<u8>,
    step: String,
    /// The steps that ended in error, and whether another was run after it.
    failed: Vec<Ended>,
    last: u64,
    /// The failure whose text may go on.
    told: Option<Told>,
    /// The sections around the open one of `GitLab`.
    outer: Vec<Option<usize>>,
}

/// A step that ended in error.
#[derive(Debug)]
struct Ended {
    name: String,
    code: String,
    went_on: bool,
}

/// An error's text of which more lines may come.
#[derive(Debug)]
struct Told {
    key: String,
    last: u64,
    room: usize,
}

/// How many lines of an error's text are kept.
const TEXT: usize = 10;

impl Ci {
    /// `Called from Fastfile at line 104`, and then lines of it between two marks.
    fn excerpt(&mut self, text: &str) -> bool {
        let mark = text == "```";
        self.excerpt = match self.excerpt {
            None if text.starts_with("Called from Fastfile at line ") => Some(0),
            Some(0) if mark => Some(1),
            Some(1) if mark => Some(2),
            Some(1) => Some(1),
            _ => None,
        };
        self.excerpt.is_some()
    }
}

impl Reader for Ci {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if self.goes_on(line, report) {
            return Step::Lean;
        }
        if let Some(rest) = text.strip_prefix("##[") {
            let Some((mark, rest)) = rest.halves(b']') else {
                return Step::Pass;
            };
            return self.mark(mark, rest, line, report);
        }
        if text.starts_with("section_start:") || text.starts_with("section_end:") {
            self.marks(line, report);
            return Step::Take;
        }
        if self.script || self.excerpt(text) {
            return Step::Hold;
        }
        if text.starts_with("::error") || text.starts_with("::warning") {
            return command(text, line, report);
        }
        // What an action tries again is no failure.
        if text.starts_with("The process '") && text.has("' failed with exit code ") {
            return Step::Take;
        }
        // As the page of a run shows it.
        if text.starts_with("Error: Process completed with exit code ") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if let Some(why) = text.strip_prefix("ERROR: Job failed") {
            report.failed(line);
            match said(why) {
                Some(why) => report.fail(Finding::new(Kind::Tool, why, line)),
                None => report.cascade(line),
            }
            return Step::Take;
        }
        // A job that left nothing to keep has not failed by that.
        if text == "ERROR: No files to upload" {
            return Step::Take;
        }
        if text.starts_with("Job succeeded") {
            report.succeeded(line);
            return Step::Take;
        }
        if text.starts_with("[command]") {
            Step::Take
        } else {
            others::read(line, report).unwrap_or(Step::Pass)
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let Some((ended, earlier)) = self.failed.split_last() else {
            return;
        };
        let all: Vec<String> = self
            .failed
            .iter()
            .map(|step| joined![step.name, " (exit ", step.code, ")"])
            .collect();
        let count = counted(self.failed.len() as u64, "steps");
        report.note(format!("{count} ended in error: {}", all.join(", ")), self.last);
        let survived: Vec<&str> = earlier
            .iter()
            .chain(ended.went_on.then_some(ended))
            .filter(|step| step.went_on)
            .map(|step| step.name.as_str())
            .collect();
        if survived.is_empty() {
            return;
        }
        let end = if ended.went_on {
            String::new()
        } else {
            joined![" and ended on ", ended.name]
        };
        report.note(
            format!("the job went on after {}{end}", survived.join(", ")),
            self.last,
        );
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
            "section" => {
                if let Some(name) = rest.strip_prefix("Starting: ") {
                    self.enter(name, line, report);
                } else {
                    report.reach(line.number);
                    report.section = None;
                }
                Step::Take
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
                .and_then(|rest| rest.halves(b':'))
            {
                let outer = report.section;
                if self.outer.len() < crate::limits::PENDING {
                    self.outer.push(outer);
                }
                let name = name.halves(b'[').map_or(name, |(name, _)| name);
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
        if let Some(ended) = self.failed.last_mut() {
            ended.went_on = true;
        }
        cut(name, 120).clone_into(&mut self.step);
        report.enter(name, line.number);
        if let Some(section) = report.section.and_then(|at| report.sections.get_mut(at)) {
            section.lines.reach(line.number);
        }
    }

    fn error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let ended = exit_code(rest);
        if let Some(section) = report.section.and_then(|at| report.sections.get_mut(at)) {
            section.verdict = Verdict::Failed;
            section.lines.reach(line.number);
        }
        report.failed(line);
        let stated = report.failures.iter().any(|failure| {
            report.section.is_some() && report.nesting.covers(report.section, failure.section)
        });
        if ended.is_some() || stated || rest.starts_with("The operation was canceled") {
            report.cascade(line);
        } else {
            return self.tell(rest, line, report);
        }
        if let Some(code) = ended
            && self.failed.len() < crate::limits::LISTED
        {
            self.failed.push(Ended {
                name: self.step.clone(),
                code: code.to_owned(),
                went_on: false,
            });
            self.last = line.number;
        }
        Step::Take
    }

    /// An error in the words of an action, which may take more lines.
    fn tell(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let key = joined!["annotation ", line.number];
        let mut finding = Finding::new(Kind::Tool, text, line).known_as(key.as_str());
        finding.location = in_workflow(text);
        report.fail(finding);
        self.told = Some(Told {
            key,
            last: line.number,
            room: TEXT,
        });
        Step::Lean
    }

    /// Whether the line is more of the text of an error: marked as one itself, or not marked at all.
    fn goes_on(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        const ENDS: &[&str] = &["##[", "Post job cleanup", "Cleaning up ", "[command]", "section_"];
        let Some(told) = self.told.as_mut().filter(|told| told.last + 1 == line.number) else {
            return false;
        };
        let marked = line.text.strip_prefix("##[error]").filter(|text| is_words(text));
        let plain = Some(line.text).filter(|text| {
            !text.is_empty() && is_words(text) && !ENDS.iter().any(|end| text.starts_with(end))
        });
        let Some((text, failure)) = marked.or(plain).zip(report.known(&told.key)) else {
            self.told = None;
            return false;
        };
        told.last = line.number;
        if told.room > 0 {
            told.room -= 1;
            failure.lines.reach(line.number);
            let line = Line { text, ..*line };
            failure.explain.push(line.quote());
        }
        true
    }
}

/// The words of an action: not the runner's own, and no compiler's diagnostic.
fn is_words(text: &str) -> bool {
    !text.starts_with("Process completed with exit code ")
        && !text.starts_with("The operation was canceled")
        && paren(text).is_none()
        && colon(text).is_none()
}

/// Why `GitLab` says that a job failed, when it is not the code that its script ended with.
fn said(why: &str) -> Option<&str> {
    let why = why.past(" (system failure)").strip_prefix(": ")?;
    (!why.has("exit code ")).then_some(why)
}

/// `.github/workflows/ci.yml (Line: 191, Col: 21)` in what a runner says of a workflow.
fn in_workflow(text: &str) -> Option<Location> {
    let (before, rest) = text.part_at(" (Line: ")?;
    let (line, rest) = leading_number(rest)?;
    let column = rest.strip_prefix(", Col: ").and_then(leading_number);
    let path = before.rsplit(' ').next()?;
    path.contains('.').then(|| Location {
        path: path.to_owned(),
        line: Some(line),
        column: column.map(|(column, _)| column),
    })
}

/// The code with which a step ended: `Process completed with exit code 1.`, Azure's `Bash exited with code '1'.`
fn exit_code(text: &str) -> Option<&str> {
    let azure = || {
        let (shell, code) = text.part_at(" exited with code '")?;
        (!shell.contains(' ')).then_some(code)
    };
    let code = text
        .strip_prefix("Process completed with exit code ")
        .or_else(azure)?;
    Some(code.trim_end_matches(['.', '\'']))
}

/// `::error file=a.js,line=1::message`, as a workflow prints it.
fn command(text: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let Some((head, message)) = text[2..].part_at("::") else {
        return Step::Pass;
    };
    // A message's newlines and percent signs are escaped; its first line tells.
    let message = message.before("%0A").replace("%25", "%");
    let message = message.as_str();
    // Turborepo's word on a task of which the output is above.
    if message.contains('#') && message.has(": command (") && message.ends_with(')') {
        report.failed(line);
        report.announce(line);
        return Step::Take;
    }
    let path = between(head, "file=", ",").or_else(|| head.part_at("file=").map(|(_, path)| path));
    let number = |name: &str| {
        let (_, rest) = head.part_at(name)?;
        crate::line::leading_number(rest).map(|(number, _)| number)
    };
    let location = path.map(|path| Location {
        path: path.to_owned(),
        line: number("line="),
        column: number("col="),
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
