//! pip, uv and poetry: what could not be resolved or built.
//!
//! Written from real runs of pip 24.2, uv 0.13 and poetry 2.5. pip shows the output of a build that failed indented
//! under `error: subprocess-exited-with-error`; the cause is the compiler's or Python's error inside it.

use crate::diag::{Level, colon};
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::Line;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "pip",
    tools: "pip, uv, poetry",
    recognises: "requirements that cannot be met, what went wrong in a wheel's build, warnings",
    version: "pip 24, uv 0.13, poetry 2.5",
    triggers: &[
        "ERROR: Could not find a version",
        "ERROR: No matching distribution",
        "ERROR: Could not install",
        "ERROR: Failed building wheel",
        "ERROR: Cannot install",
        "ERROR: ResolutionImpossible",
        "ERROR: Invalid requirement",
        "WARNING: ",
        "No solution found when resolving",
        "error: subprocess-exited-with-error",
        "version solving failed",
        "ERROR: Could not open requirements",
        "Incompatible constraints in requirements",
        "finished with status 'error'",
        "Failed to build ",
        "failed-wheel-build-for-install",
        "metadata-generation-failed",
        "Installing collected packages",
    ],
    reader: || Box::<Pip>::default(),
};

/// Lines that repeat what stands above them.
const REPEATS: &[&str] = &[
    "ERROR: No matching distribution",
    "ERROR: ResolutionImpossible",
    "ERROR: Failed building wheel",
    "Failed to build ",
    "error: failed-wheel-build-for-install",
    "error: metadata-generation-failed",
    "× Failed to build ",
    "ERROR: Failed to build ",
    "ERROR: ERROR: Failed to build ",
];

#[derive(Debug, Default)]
struct Pip {
    open: Option<Finding>,
    build: Option<Build>,
}

/// The output of a build, as pip shows it.
#[derive(Debug)]
struct Build {
    header: Finding,
    /// What the compiler said, in order.
    compiler: Vec<Finding>,
    /// The last exception or `error:` of the build's own.
    last: Option<Finding>,
    ended: bool,
    /// Lines that only report the failure.
    reports: Vec<u64>,
}

impl Reader for Pip {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(build) = &mut self.build {
            if build.line(line) {
                return Step::Hold;
            }
            self.close(report);
        }
        if let Some(finding) = &mut self.open {
            if line.indent() > 0 && !line.is_blank() {
                finding.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        let body = line.body();
        if body.starts_with("WARNING: ") && body.has("pip") {
            report.warn("pip", None, line);
            return Step::Take;
        }
        // The output that tells why may stand before this line or after it.
        if body.ends_with("finished with status 'error'") {
            report.announce(line);
            return Step::Take;
        }
        if REPEATS.iter().any(|start| body.starts_with(start)) {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        self.start(body, line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Pip {
    fn start(&mut self, body: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if body.starts_with("Installing collected packages: ") {
            return Step::Take;
        }
        let title = body.trim_start_matches(['×', ' ']);
        let finding = Finding::new(Kind::Dependency, title, line).known_as(joined!["pip ", title]);
        if body.starts_with("error: subprocess-exited-with-error") {
            report.failed(line);
            self.build = Some(Build::new(finding));
            return Step::Hold;
        }
        let pip = FORMAT
            .triggers
            .iter()
            .any(|start| start.starts_with("ERROR: ") && body.starts_with(start));
        let told = title.strip_prefix("error: ").unwrap_or(title);
        let resolver = told.starts_with("No solution found when resolving")
            || body.ends_with("version solving failed.")
            || body.starts_with("Incompatible constraints in requirements");
        if !(pip || resolver) {
            return Step::Pass;
        }
        report.failed(line);
        self.open = Some(finding);
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
        if let Some(build) = self.build.take() {
            build.report(report);
        }
    }
}

impl Build {
    fn new(header: Finding) -> Self {
        Self {
            header,
            compiler: Vec::new(),
            last: None,
            ended: false,
            reports: Vec::new(),
        }
    }

    /// Whether the line belongs to the build's output. Blank lines stand inside it, but not after its end.
    fn line(&mut self, line: &Line<'_>) -> bool {
        if self.ended || (line.indent() == 0 && !line.is_blank()) {
            return false;
        }
        let body = line.body();
        self.ended |= body.starts_with("note: This error originates");
        if let Some(found) = colon(body) {
            self.diagnostic(found.level, found.message, found.location, line);
        } else if source(body) {
            if let Some(finding) = self.compiler.last_mut() {
                finding.add(line);
            }
        } else if exception(body) || body.starts_with("error: ") {
            if self.compiler.is_empty() {
                self.last = Some(Finding::new(Kind::Dependency, body, line));
            } else {
                self.reports.push(line.number);
            }
        }
        true
    }

    fn diagnostic(&mut self, level: Level, message: &str, place: crate::digest::Location, line: &Line<'_>) {
        if level == Level::Error && self.compiler.len() < crate::limits::PENDING {
            let cause = crate::diag::missing_name(message);
            self.compiler.push(
                Finding::new(Kind::Compile, message, line)
                    .at(place)
                    .because(cause),
            );
        }
    }

    fn report(self, report: &mut Report) {
        let header = self.header.lines.first;
        let roots: Vec<Finding> = if self.compiler.is_empty() {
            self.last.into_iter().collect()
        } else {
            self.compiler
        };
        if roots.is_empty() {
            return report.fail(self.header);
        }
        for finding in roots {
            report.fail(finding);
        }
        for number in std::iter::once(header).chain(self.reports) {
            report.cascade(&Line { number, text: "" });
        }
    }
}

/// A compiler's quotation of the source: `1 | #include "x.h"` and the mark under it.
fn source(body: &str) -> bool {
    body.trim_start_matches(|each: char| each.is_ascii_digit())
        .trim_start()
        .starts_with('|')
}

/// `ModuleNotFoundError: No module named 'x'`.
fn exception(body: &str) -> bool {
    let name = body.split(':').next().unwrap_or("");
    (name.ends_with("Error") || name.ends_with("Exception")) && !name.contains(' ')
}
