//! The Swift compiler and `swift build`.
//!
//! Written from documentation of Swift 6.0 on Linux and Xcode's older pictures, not seen from a real run. The same
//! error is printed for the module, the file and the target; inside its picture it stands once more.

use crate::diag::{self, Level, missing_name};
use crate::digest::Kind;
use crate::line::{Line, has_extension, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "swift",
    tools: "swift build, swiftc, xcodebuild",
    recognises: "errors once however often they are printed, warnings; emit-module and fatalError lines as consequences",
    version: "Swift 6.0 (documentation)",
    triggers: &[
        ".swift:",
        "error: emit-module",
        "error: fatalError",
        "command failed",
        "`- ",
        "BUILD FAILED",
        "Build complete!",
        "] Emitting module ",
        "BUILD SUCCEEDED",
        "The following build commands failed",
    ],
    reader: || Box::<Swift>::default(),
};

#[derive(Debug, Default)]
struct Swift {
    open: Option<Finding>,
    picture: bool,
}

impl Reader for Swift {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let found = diag::colon(line.text).filter(|each| has_extension(&each.location.path, &["swift"]));
        if let Some(found) = found.filter(|each| each.location.column.is_some()) {
            self.close(report);
            self.picture = true;
            match found.level {
                Level::Error => {
                    let finding =
                        Finding::new(Kind::Compile, found.message, line).because(missing_name(found.message));
                    self.open = Some(finding.at(found.location));
                }
                Level::Warning => report.warn("swift", Some(found.location.clone()), line),
                Level::Note => {}
            }
            return Step::Hold;
        }
        if self.picture && is_picture(line) {
            if let Some(open) = &mut self.open {
                open.add(line);
            }
            return Step::Hold;
        }
        self.picture = false;
        self.close(report);
        words(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Swift {
    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// The numbered source, the margin with the message under it, and the older source and caret.
fn is_picture(line: &Line<'_>) -> bool {
    let body = line.body();
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let piped = body[digits..].trim_start().starts_with('|');
    let caret = !body.is_empty() && body.bytes().all(|byte| b"^~ ".contains(&byte));
    piped || caret || (line.indent() > 0 && !line.is_blank() && !body.starts_with("Executed "))
}

fn words(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    let command = text.strip_prefix("error: ").is_some_and(|rest| {
        rest == "fatalError"
            || rest.contains("command failed with exit code")
            || rest.contains("command failed due to signal")
    });
    if command
        || states(text, "** BUILD FAILED **")
        || text.starts_with("The following build commands failed")
    {
        report.failed(line);
        report.announce(line);
        return Step::Take;
    }
    if text.starts_with("Build complete!") || text.contains("** BUILD SUCCEEDED **") {
        report.succeeded(line);
        return Step::Take;
    }
    // A module may be called anything.
    if text.starts_with('[') && text.contains("] Emitting module ") {
        Step::Take
    } else {
        Step::Pass
    }
}
