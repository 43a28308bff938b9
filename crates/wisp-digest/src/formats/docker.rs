//! docker build with plain progress (`BuildKit`), and the older builder.
//!
//! Written from documentation of `BuildKit` 0.12 and docker 24, not seen from a real run. The lines of a step have
//! been read in the step's own stream; the copy printed at the end is known by its text. "failed to solve" reports
//! the step that failed.

use crate::digest::{Kind, Location, Verdict};
use crate::line::{Line, cut, leading_number, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "docker",
    tools: "docker build, docker buildx, docker compose build",
    recognises: "steps as sections, the one that failed and its place in the Dockerfile; cancelled steps did not fail",
    version: "BuildKit 0.12 (documentation)",
    triggers: &[
        "ERROR: ",
        "] RUN ",
        "] COPY ",
        "] FROM ",
        "] ADD ",
        "] WORKDIR ",
        "[internal] ",
        "CANCELED",
        "DONE ",
        "CACHED",
        "------",
        ">>> ",
        "Dockerfile:",
        "failed to solve",
        "returned a non-zero code",
        "dockerfile parse error",
        "exited with code ",
    ],
    reader: || Box::<Docker>::default(),
};

#[derive(Debug, Default)]
struct Docker {
    step: String,
    place: Option<(Location, u64)>,
    excerpt: bool,
}

impl Reader for Docker {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(step) = self.step_line(line, report) {
            return step;
        }
        if text.starts_with("--------------------") && self.place.is_some() {
            self.excerpt = !self.excerpt;
            return if self.excerpt { Step::Hold } else { Step::Take };
        }
        if self.excerpt {
            return Step::Hold;
        }
        if text == "------" || text.starts_with(" > [") {
            return Step::Take;
        }
        if let Some((path, rest)) = text
            .split_once(':')
            .filter(|(path, _)| path.ends_with("Dockerfile") && !path.contains(' '))
        {
            let number = leading_number(rest).filter(|(_, rest)| rest.is_empty());
            if let Some((row, _)) = number {
                self.place = Some((
                    Location {
                        path: path.to_owned(),
                        line: Some(row),
                        column: None,
                    },
                    line.number,
                ));
                return Step::Take;
            }
        }
        self.end(line, report)
    }
}

impl Docker {
    /// Lines of a step's own stream: its name, how it ended.
    fn step_line(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let section = report.section.filter(|at| is_step(report, *at))?;
        let name = text.starts_with('[') && text.contains("] ");
        if name {
            let section = report.sections.get_mut(section)?;
            if !section.name.contains(' ') {
                let name = format!("{} {text}", section.name);
                cut(&name, crate::limits::QUOTE).clone_into(&mut section.name);
            }
            text.clone_into(&mut self.step);
            return Some(Step::Take);
        }
        if text.starts_with("ERROR: process ") || text.starts_with("ERROR: executor failed") {
            report.failed(line);
            report.cascade(line);
            let code = text
                .rsplit_once("exit code: ")
                .map_or("an error", |(_, code)| code);
            report.note(
                format!("step {} failed with exit code {code}", self.step),
                line.number,
            );
            return Some(Step::Take);
        }
        if let Some(message) = text
            .strip_prefix("ERROR: ")
            .or_else(|| text.strip_prefix("ERROR "))
        {
            report.failed(line);
            report.fail(Finding::new(Kind::Tool, message, line).known_as(format!("docker {message}")));
            return Some(Step::Take);
        }
        if text.starts_with("DONE ") || text == "CACHED" {
            report.sections.get_mut(section)?.verdict = Verdict::Succeeded;
            return Some(Step::Take);
        }
        (text == "CANCELED").then_some(Step::Take)
    }

    fn end(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let told = line.text.split_once("failed to solve: ");
        let own = |start: &str| start.is_empty() || start.starts_with("ERROR: ") || start.ends_with(": ");
        let Some((_, message)) = told.filter(|(start, _)| own(start)) else {
            return old_builder(line, report);
        };
        report.failed(line);
        if let Some((place, number)) = self.place.take() {
            report.note(format!("the step that failed is at {place}"), number);
        }
        if message.contains("did not complete successfully") || message.contains("executor failed") {
            report.cascade(line);
        } else if !report.repeat(&format!("docker {message}"), line.number) && report.failures.is_empty() {
            report.fail(Finding::new(Kind::Tool, message, line));
        } else {
            report.cascade(line);
        }
        Step::Take
    }
}

/// Whether the section is a step of a build.
fn is_step(report: &Report, section: usize) -> bool {
    report
        .sections
        .get(section)
        .is_some_and(|section| section.name.starts_with('#'))
}

/// Compose's word on a container and concurrently's on a command, `web-1 exited with code 1`: who, and the code.
fn ended(text: &str) -> Option<(&str, &str)> {
    let (command, code) = text.split_once(" exited with code ")?;
    let plain = !command.contains(": ") && code.parse::<i32>().is_ok();
    plain.then_some((command, code))
}

/// What stands before "dockerfile parse error".
const PARSED: &[&str] = &[
    "dockerfile parse error",
    "failed to parse Dockerfile: ",
    "Error response from daemon: ",
    "ERROR: ",
];

/// `The command '/bin/sh -c …' returned a non-zero code: 2`.
fn old_builder(line: &Line<'_>, report: &mut Report) -> Step {
    if states(line.text, "returned a non-zero code: ") {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if let Some((command, code)) = ended(line.text) {
        if !["0", "SIGTERM", "SIGINT"].contains(&code) {
            // What failed stands in the container's own stream.
            let outer = report.section;
            let own = report.sections.iter().position(|section| section.name == command);
            report.section = own.or(outer);
            report.cascade(line);
            report.section = outer;
        }
        return Step::Take;
    }
    if line.text.contains("dockerfile parse error") && PARSED.iter().any(|start| line.text.starts_with(start))
    {
        report.failed(line);
        report.fail(Finding::new(Kind::Configure, line.text, line));
        return Step::Take;
    }
    Step::Pass
}
