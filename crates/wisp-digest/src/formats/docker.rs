//! docker build with plain progress (`BuildKit`), and the older builder.
//!
//! Written from documentation of `BuildKit` 0.12 and docker 24, and seen in runs of docker 20 to 28 and of Compose that
//! their users posted, with plain progress and as a terminal shows it. The lines of a step have been read in the step's
//! own stream; the copy printed at the end is known by its text, and is all there is where a terminal was written to.
//! "failed to solve" reports the step that failed.

use crate::digest::{Kind, Location, Verdict};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, cut, leading_number, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "docker",
    tools: "docker build, docker buildx, docker compose",
    recognises: "steps as sections, the one that failed and its place in the Dockerfile; cancelled steps did not fail",
    version: "docker 20 to 28, Compose 2 (runs posted by their users)",
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
        "\nnaming to ",
        "CACHED",
        "\n------",
        "| >>> ",
        "Dockerfile:",
        "failed to solve",
        "returned a non-zero code",
        "dockerfile parse error",
        "exited with code ",
        "=> ERROR [",
        "executor failed running [",
        "COPY failed: ",
        "ADD failed: ",
        "Error response from daemon: ",
        "Cannot connect to the Docker daemon",
        "error during connect: ",
        "An image does not exist locally",
        "dependency failed to start: ",
        "✘ Container ",
    ],
    reader: || Box::<Docker>::default(),
};

#[derive(Debug, Default)]
struct Docker {
    step: String,
    place: Option<(Location, u64)>,
    excerpt: bool,
    /// What the step's program, or perhaps the builder, called an error; how the step ends will tell.
    errors: Vec<Finding>,
    /// In the copy of a step's last lines, which have been read in the step's own stream.
    copy: bool,
    /// A terminal's row of a step that failed, told before its lines are.
    row: Option<(u64, String)>,
}

/// Beginnings of the builder's own errors.
const OWN: &[&str] = &[
    "failed to ",
    "pull access denied",
    "unexpected status",
    "error getting credentials",
    "no match for platform",
    "denied: ",
    "unauthorized: ",
];

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
        if self.excerpt && (line.is_blank() || text.contains('|')) {
            return Step::Hold;
        }
        self.excerpt = false;
        if text == "------" {
            self.copy = false;
            return Step::Take;
        }
        if let Some(step) = text.trim_start().strip_prefix("> [") {
            let step = step.trim_end_matches(':');
            self.copy = report
                .sections
                .iter()
                .any(|each| each.name.starts_with('#') && each.name.ends_with(step));
            return if self.copy { Step::Lean } else { Step::Take };
        }
        if self.copy {
            return Step::Lean;
        }
        if let Some((path, rest)) = text
            .halves(b':')
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

    fn finish(&mut self, report: &mut Report) {
        self.tell(report);
        self.tell_row(report);
    }
}

impl Docker {
    /// The step failed: what it called an error is why.
    fn tell(&mut self, report: &mut Report) {
        for error in self.errors.drain(..) {
            report.fail(error);
        }
    }

    /// The terminal's row reports what is known by now.
    fn tell_row(&mut self, report: &mut Report) {
        if let Some((number, text)) = self.row.take() {
            report.cascade(&Line { number, text: &text });
        }
    }

    /// Lines of a step's own stream: its name, how it ended.
    fn step_line(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let section = report.section.filter(|at| is_step(report, *at))?;
        let name = text.starts_with('[') && text.has("] ");
        if name {
            let section = report.sections.get_mut(section)?;
            if !section.name.contains(' ') {
                let name = joined![section.name, " ", text];
                cut(&name, crate::limits::QUOTE).clone_into(&mut section.name);
            }
            text.clone_into(&mut self.step);
            return Some(Step::Take);
        }
        if text.starts_with("ERROR: process ") || text.starts_with("ERROR: executor failed") {
            self.tell(report);
            report.failed(line);
            report.cascade(line);
            let code = text
                .last_part_at("exit code: ")
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
            if message.starts_with("unable to select packages:") {
                return Some(Step::Give(super::shell::FORMAT.name));
            }
            let finding = Finding::new(Kind::Tool, message, line).known_as(joined!["docker ", message]);
            if OWN.iter().any(|start| message.starts_with(start)) {
                report.failed(line);
                report.fail(finding);
            } else if self.errors.len() < crate::limits::LISTED {
                self.errors.push(finding);
            }
            return Some(Step::Take);
        }
        // The last thing that a build does, once no step has failed.
        if text.starts_with("naming to ") && text.ends_with(" done") {
            report.succeeded(line);
            return Some(Step::Take);
        }
        if text.starts_with("DONE ") || text == "CACHED" {
            // The program went on after it.
            for error in self.errors.drain(..) {
                report.unclaimed(&Line {
                    number: error.lines.first,
                    text: &joined!["ERROR: ", error.title],
                });
            }
            report.sections.get_mut(section)?.verdict = Verdict::Succeeded;
            return Some(Step::Take);
        }
        (text == "CANCELED").then_some(Step::Take)
    }

    fn end(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.text.trim_start().starts_with("=> ERROR [") {
            self.row = Some((line.number, cut(line.text, crate::limits::QUOTE).to_owned()));
            return Step::Take;
        }
        let step = self.ends(line, report);
        if step == Step::Take {
            self.tell_row(report);
        }
        step
    }

    fn ends(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let told = line.text.part_at("failed to solve: ");
        let own = |start: &str| start.is_empty() || start.starts_with("ERROR: ") || start.ends_with(": ");
        let Some((_, message)) = told.filter(|(start, _)| own(start)) else {
            return old_builder(line, report);
        };
        report.failed(line);
        if let Some((place, number)) = self.place.take() {
            report.note(format!("the step that failed is at {place}"), number);
        }
        if message.has("did not complete successfully") || message.has("executor failed") {
            report.cascade(line);
        } else if !report.repeat(&joined!["docker ", message], line.number) && report.failures.is_empty() {
            report.fail(Finding::new(Kind::Tool, message, line).known_as(joined!["docker ", message]));
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
    let (command, code) = text.part_at(" exited with code ")?;
    let plain = !command.has(": ") && code.parse::<i32>().is_ok();
    plain.then_some((command, code))
}

/// What the daemon refused, and what only tells of a step or a container that failed.
fn daemon(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.text.trim_start();
    let bare = text.past("docker: ").past("ERROR: ");
    if text.starts_with("✘ Container ") && text.has(" Error") {
        report.announce(line);
    } else if text.starts_with("executor failed running [") {
        report.failed(line);
        report.cascade(line);
    } else if let Some(message) = text.strip_prefix("dependency failed to start: ") {
        report.failed(line);
        if report.failures.is_empty() {
            report.fail(Finding::new(Kind::Tool, message, line));
        } else {
            report.cascade(line);
        }
    } else if REFUSED.iter().any(|start| bare.starts_with(start)) && !bare.has("dockerfile parse error") {
        let message = bare.strip_prefix("Error response from daemon: ").unwrap_or(bare);
        let finding = Finding::new(Kind::Tool, message, line).known_as(joined!["docker ", message]);
        // What a script removes need not be there.
        if message.starts_with("No such ") {
            report.advise("docker", finding, line);
        } else {
            report.failed(line);
            report.fail(finding);
        }
    } else {
        return false;
    }
    true
}

/// How the daemon and the older builder begin to say why they did not do it.
const REFUSED: &[&str] = &[
    "Error response from daemon: ",
    "Cannot connect to the Docker daemon",
    "error during connect: ",
    "An image does not exist locally with the tag: ",
    "COPY failed: ",
    "ADD failed: ",
];

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
        // Of concurrently too, and of other runners of several commands.
        return Step::Common;
    }
    if daemon(line, report) {
        return Step::Take;
    }
    if line.text.has("dockerfile parse error") && PARSED.iter().any(|start| line.text.starts_with(start)) {
        report.failed(line);
        report.fail(Finding::new(Kind::Configure, line.text, line));
        return Step::Take;
    }
    Step::Pass
}
