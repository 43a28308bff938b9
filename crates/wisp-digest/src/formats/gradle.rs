//! Gradle: failed tasks and tests, and what went wrong.
//!
//! Written from documentation of Gradle 8 and 9, and seen in runs of Gradle 3 to 8, and of ktlint, detekt,
//! Checkstyle, Spotless and KSP under it, that their users posted. The task
//! that failed and `BUILD FAILED` report what the compiler or the tests said; "What went wrong" is the root only where
//! nothing else says it.

mod style;
mod tests;
mod wrong;

use style::Style;
use tests::{Test, Tests, is_under};
use wrong::Wrong;

use super::jvm;
use crate::diag::missing_name;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "gradle",
    tools: "gradle, gradlew (Java, Kotlin, Android)",
    recognises: "failed tests, flaky ones told apart, ktlint's, detekt's and Checkstyle's remarks, failed tasks as consequences, what went wrong when nothing else says it",
    version: "Gradle 3 to 8 (runs posted by their users), 9 (documentation)",
    triggers: &[
        "> Task ",
        "FAILED",
        " PASSED",
        "There were failing tests",
        "BUILD SUCCESSFUL",
        "FAILURE: Build ",
        "* What went wrong:",
        "* Try:",
        " tests completed",
        " test completed",
        "Test result: ",
        "* Where:",
        "* Exception is:",
        ": Task failed with an exception",
        "Gradle task ",
        "Lint found ",
        "AndroidManifest.xml:",
        "ERROR: R8: ",
        "while running R8.",
        ": D8: ",
        " STANDARD_",
        "[ant:checkstyle] ",
    ],
    reader: || Box::<Gradle>::default(),
};

#[derive(Debug, Default)]
struct Gradle {
    tests: Tests,
    /// In what a test has printed.
    printed: bool,
    /// Where the build file is wrong.
    place: Option<Location>,
    wrong: Option<Wrong>,
    block: Block,
    /// Under a remark of the merger of manifests, which the block says again.
    manifest: bool,
    /// The task whose output is being read, and how many failures were known before it.
    task: Option<(String, u64)>,
    /// The tasks in whose output failures stood.
    explained: Vec<String>,
    style: Style,
}

/// Which part of the report at the end is being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    Where,
    What,
    Trace,
    Help,
}

impl Reader for Gradle {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if self.tests.line(line, report) {
            return Step::Hold;
        }
        if self.printed && (is_under(line) || line.is_blank()) {
            return Step::Hold;
        }
        self.printed =
            text.has(" > ") && (text.ends_with(" STANDARD_ERROR") || text.ends_with(" STANDARD_OUT"));
        if self.printed {
            return Step::Hold;
        }
        if self.block != Block::None {
            return self.block(line, report);
        }
        self.manifest = (self.manifest && text.starts_with('\t')) || self.merger(line, report);
        if self.manifest {
            return Step::Hold;
        }
        if let Some(test) = Test::failed(line) {
            self.tests.open(test);
            return Step::Hold;
        }
        if self.style.row(line, report) || (self.style != Style::Unknown && line.is_blank()) {
            return Step::Hold;
        }
        self.marks(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.tests.settle(report);
        self.end_wrong(report);
    }
}

impl Gradle {
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("> Task ") || (text.starts_with(':') && text.ends_with(" FAILED")) {
            return self.task(line, report);
        }
        if text.starts_with("FAILURE: Build failed")
            || text.starts_with("FAILURE: Build completed with")
            || text.starts_with("BUILD FAILED in")
            || text == "BUILD FAILED"
        {
            self.tests.settle(report);
            self.end_wrong(report);
            report.failed(line);
            report.announce(line);
            return Step::Take;
        }
        if text.starts_with("BUILD SUCCESSFUL") {
            self.tests.passed(line, report);
            report.succeeded(line);
            return Step::Take;
        }
        if let Some(block) = heading(text) {
            if block == Block::What {
                self.end_wrong(report);
            }
            self.block = block;
            return if block == Block::None {
                Step::Take
            } else {
                Step::Hold
            };
        }
        if text.ends_with(": Task failed with an exception.") {
            return Step::Take;
        }
        if let Some((errors, _)) = text.strip_prefix("Lint found ").and_then(leading_number) {
            if errors > 0 && text.has(" error") {
                report.announce(line);
            }
            return Step::Take;
        }
        if let Some(finding) = dexer(line) {
            report.fail(finding);
            return Step::Take;
        }
        if text.starts_with("ERROR: ") && text.has(" while running R8.") {
            report.announce(line);
            return Step::Take;
        }
        // Flutter and others that run gradle say so after it.
        if text.has("Gradle task ") && text.has(" failed with exit code ") {
            report.cascade(line);
            return Step::Take;
        }
        self.tests.verdict(line, report)
    }

    /// `/srv/app/src/main/AndroidManifest.xml:9:5-43 Error:`, and `… Warning:`.
    fn merger(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let Some((place, rest)) = place_at_start(line.text) else {
            return false;
        };
        if !place.path.ends_with("AndroidManifest.xml") {
            return false;
        }
        if rest.ends_with(" Error:") {
            self.place = Some(place);
        } else if rest.ends_with(" Warning:") {
            report.warn("manifest", Some(place), line);
        } else {
            return false;
        }
        true
    }

    /// `> Task :app:detekt FAILED`.
    fn task(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        self.begin(line.text, report);
        if line.text.ends_with(" FAILED") {
            self.tests.settle(report);
            report.announce(line);
        }
        self.style = Style::of(line.text);
        if self.style == Style::Unknown {
            Step::Take
        } else {
            Step::Hold
        }
    }

    /// The output of another task begins.
    fn begin(&mut self, text: &str, report: &mut Report) {
        let name = text.past("> Task ").split(' ').next().unwrap_or("");
        let known = report.total();
        if let Some((task, before)) = self.task.replace((name.to_owned(), known)) {
            if task == name {
                self.task = Some((task, before));
            } else if known > before && self.explained.len() < crate::limits::PENDING {
                self.explained.push(task);
            }
        }
    }

    /// A part of the report at the end: where, what went wrong, the stack trace, the advice.
    fn block(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if heading(text).is_some() || ENDS.iter().any(|start| text.starts_with(start)) {
            self.block = Block::None;
            return self.marks(line, report);
        }
        match self.block {
            Block::Where => self.place = self.place.take().or_else(|| build_file(text)),
            Block::What => return self.what(line, report),
            Block::Trace if text.starts_with("Deprecated Gradle features") => self.block = Block::None,
            Block::Trace => {
                if let Some(wrong) = &mut self.wrong {
                    wrong.trace(line);
                }
            }
            Block::Help if line.is_blank() => self.block = Block::None,
            Block::None | Block::Help => {}
        }
        if self.block == Block::None {
            Step::Take
        } else {
            Step::Hold
        }
    }

    fn what(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        // The compiler's own words are its reader's.
        if jvm::states(line.body()) {
            if let Some(wrong) = &mut self.wrong {
                wrong.quotes = true;
            }
            return Step::Give(jvm::FORMAT.name);
        }
        let Some(wrong) = &mut self.wrong else {
            self.wrong = Some(Wrong::new(line, self.place.take()));
            return Step::Hold;
        };
        if !wrong.line(line) {
            self.block = Block::None;
            return self.marks(line, report);
        }
        Step::Hold
    }

    /// The block is a root only where nothing else states one.
    fn end_wrong(&mut self, report: &mut Report) {
        self.begin("", report);
        let Some(wrong) = self.wrong.take() else { return };
        let explained = wrong
            .task()
            .is_some_and(|task| self.explained.iter().any(|name| name == task));
        wrong.close(explained, report);
    }
}

/// Beginnings of lines that end a part of the report at the end.
const ENDS: &[&str] = &["BUILD FAILED", "=====", "> Task ", "FAILURE: "];

/// `ERROR: R8: Missing class heron.Sounder (referenced from: …)`, `ERROR:/srv/tides.jar: D8: Type … is defined twice`.
fn dexer(line: &Line<'_>) -> Option<Finding> {
    let rest = line.text.strip_prefix("ERROR:")?;
    let (place, message) = rest.part_at("R8: ").or_else(|| rest.part_at("D8: "))?;
    let mut finding = Finding::new(Kind::Link, message, line).because(missing_name(message));
    let path = place.trim().trim_end_matches(':');
    finding.location = (!path.is_empty()).then(|| Location {
        path: path.to_owned(),
        line: None,
        column: None,
    });
    Some(finding)
}

/// What stands under a heading of the report at the end.
fn heading(text: &str) -> Option<Block> {
    match text {
        "* Where:" => Some(Block::Where),
        "* What went wrong:" => Some(Block::What),
        "* Exception is:" => Some(Block::Trace),
        "* Try:" => Some(Block::Help),
        _ => text.starts_with("* Get more help").then_some(Block::None),
    }
}

/// `Build file '/srv/build.gradle.kts' line: 7`, and so of a settings file and a script.
fn build_file(text: &str) -> Option<Location> {
    let (file, row) = text.part_at("' line: ")?;
    let (_, path) = file.halves(b'\'')?;
    Some(Location {
        path: path.to_owned(),
        line: row.parse().ok(),
        column: None,
    })
}
