//! CMake's configure step and ninja.
//!
//! Written from real runs of CMake 3.25 and 3.31 and ninja 1.12. A probe that fails (`Performing Test … - Failed`)
//! is an answer, not an error; the message of an error is everything indented under it.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, leading_number, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "cmake",
    tools: "cmake, ninja",
    recognises: "configure errors with their whole message, warnings; ninja's FAILED lines as consequences",
    version: "CMake 3.31, ninja 1.12",
    triggers: &[
        "CMake Error",
        "CMake Warning",
        "CMake Deprecation Warning",
        "Configuring incomplete",
        "CMakeError.log",
        "CMakeOutput.log",
        "Performing Test ",
        "Looking for ",
        "ninja: ",
        "FAILED: ",
        "Generate step failed",
        "Configuring done",
        "CMakeConfigureLog",
    ],
    reader: || Box::<Cmake>::default(),
};

#[derive(Debug, Default)]
struct Cmake {
    open: Option<Open>,
    /// What follows `FAILED: x.o`: the command, which may name flags with "error" in them, then what it printed.
    expects: Expects,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Expects {
    #[default]
    Nothing,
    Command,
    Output,
}

#[derive(Debug)]
struct Open {
    error: bool,
    finding: Finding,
    header: (u64, String),
    text: String,
}

impl Reader for Cmake {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        match std::mem::take(&mut self.expects) {
            Expects::Command if !line.text.has(": error") => {
                self.expects = Expects::Output;
                return Step::Hold;
            }
            Expects::Output if !line.text.starts_with(['[', 'F']) && !line.text.starts_with("ninja: ") => {
                report.step_printed(line);
            }
            _ => {}
        }
        if let Some(open) = &mut self.open {
            if line.is_blank() {
                return Step::Hold;
            }
            if line.indent() > 0 || line.text.starts_with("Call Stack (most recent") {
                open.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        self.start(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Cmake {
    fn start(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        let error = text.starts_with("CMake Error");
        if error || text.starts_with("CMake Warning") || text.starts_with("CMake Deprecation Warning") {
            self.open = Some(Open::new(error, line));
            return Step::Hold;
        }
        if text.starts_with("ninja: ") || text.starts_with("FAILED: ") {
            return self.ninja(line, report);
        }
        if states(text, "Configuring incomplete") || states(text, "Generate step failed") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        let known = text.starts_with("-- ") || text.starts_with("See also \"");
        if known { Step::Take } else { Step::Pass }
    }

    fn ninja(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("FAILED: ") {
            self.expects = Expects::Command;
            report.step_failed(line);
            return Step::Hold;
        }
        if text.starts_with("ninja: build stopped") {
            report.steps_stopped(line);
            report.failed(line);
            report.cascade(line);
        } else if text.starts_with("ninja: error: ") || text.starts_with("ninja: fatal: ") {
            report.failed(line);
            report.fail(Finding::new(Kind::Configure, text, line));
        }
        Step::Take
    }

    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        let line = Line {
            number: open.header.0,
            text: &open.header.1,
        };
        if !open.error {
            report.warn("cmake", open.finding.location, &line);
            return;
        }
        let mut finding = open.finding;
        finding.title = title(&open.header.1, &open.text);
        // One call that goes wrong may say so twice.
        finding.cause = finding.location.as_ref().map(ToString::to_string);
        report.fail(finding);
    }
}

impl Open {
    fn new(error: bool, line: &Line<'_>) -> Self {
        let mut finding = Finding::new(Kind::Configure, line.text, line);
        finding.location = place(line.text);
        Self {
            error,
            finding,
            header: (line.number, line.text.to_owned()),
            text: String::new(),
        }
    }

    fn add(&mut self, line: &Line<'_>) {
        self.finding.add(line);
        if self.text.len() < 1_024 {
            self.text.push(' ');
            self.text.push_str(line.body());
        }
    }
}

/// `CMake Error at CMakeLists.txt:10 (find_package):`.
fn place(text: &str) -> Option<Location> {
    let rest = text.part_at(" at ")?.1;
    let (path, rest) = rest.halves(b':')?;
    let line = leading_number(rest).map(|(line, _)| line);
    Some(Location {
        path: path.to_owned(),
        line,
        column: None,
    })
}

/// The package that is missing, or the header with the message's start.
fn title(header: &str, text: &str) -> String {
    if let Some(name) = between(text, "configuration file provided by \"", "\"") {
        return match between(text, "(requested version ", ")") {
            Some(version) => joined!["CMake: package ", name, ", version ", version, ", not found"],
            None => joined!["CMake: package ", name, " not found"],
        };
    }
    crate::line::cut(
        &joined![header.trim_end_matches(':'), text.replacen(' ', ": ", 1)],
        crate::limits::TITLE,
    )
    .to_owned()
}
