//! pip, uv and poetry: what cannot be resolved or built, and pip's warnings.
//!
//! Written from pip 24, uv 0.5 and poetry 1.8.

use crate::digest::Kind;
use crate::line::Line;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "pip",
    tools: "pip, uv, poetry",
    recognises: "requirements that cannot be met, builds of wheels that fail, warnings",
    version: "pip 24, uv 0.5, poetry 1.8",
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
    ],
    reader: || Box::<Pip>::default(),
};

/// Errors that repeat what stands above them.
const REPEATS: &[&str] = &[
    "ERROR: No matching distribution",
    "ERROR: ResolutionImpossible",
    "ERROR: Failed building wheel",
];

#[derive(Debug, Default)]
struct Pip {
    open: Option<Finding>,
}

impl Reader for Pip {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(finding) = &mut self.open {
            let more = line.indent() > 0 && !line.is_blank();
            if more {
                finding.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        let body = line.body();
        if body.starts_with("WARNING: ") && body.contains("pip") {
            report.warn("pip", None, line);
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
        let pip = FORMAT
            .triggers
            .iter()
            .any(|start| start.starts_with("ERROR: ") && body.starts_with(start));
        let resolver =
            body.contains("No solution found when resolving") || body.ends_with("version solving failed.");
        let build = body.starts_with("error: subprocess-exited-with-error");
        if !(pip || resolver || build) {
            return Step::Pass;
        }
        report.failed(line);
        self.open = Some(Finding::new(
            Kind::Dependency,
            body.trim_start_matches(['×', ' ']),
            line,
        ));
        Step::Hold
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}
