//! `dotnet build`, `MSBuild`, the C# and Visual C++ compilers, and `dotnet test`.
//!
//! Written from documentation of .NET SDK 8 and 9, and seen in runs of SDK 6 to 10 and Visual Studio that their users
//! posted: the console logger's and the terminal logger's. `MSBuild` prints every diagnostic again in its summary; each
//! counts once.

mod build;
mod tests;
mod thrown;

use build::Open;
use tests::Failed;
use thrown::{Absent, Thrown};

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, number_after, number_before};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "dotnet",
    tools: "dotnet build, dotnet test, dotnet run, msbuild, csc, cl, NuGet",
    recognises: "errors and warnings once each, failed tests with message and place, uncaught exceptions, the sums",
    version: ".NET SDK 6 to 10, Visual Studio (runs posted by their users)",
    triggers: &[
        "): error ",
        "): warning ",
        ": error CS",
        ": error MSB",
        ": error NU",
        ": error NETSDK",
        ": warning CS",
        ": warning MSB",
        ": warning NU",
        "CSC : error",
        "MSBUILD : error",
        "error LNK",
        "error run failed",
        "Build FAILED",
        "Build succeeded",
        " Warning(s)",
        " Error(s)",
        " error(s)",
        "Passed!  -",
        "Failed!  -",
        "  Failed ",
        "): fatal error ",
        "Test Run ",
        "Test summary: total: ",
        "Test run summary: ",
        "Total tests: ",
        "Running tests from ",
        "Testing.Platform Runner",
        "test run was aborted",
        "[xUnit.net ",
        "-- FAILED.",
        " skipped ==========",
        "Unhandled exception. ",
        "Unhandled Exception: ",
        "You must install or update .NET",
        "A compatible .NET SDK was not found",
        "The build failed. Fix the build errors",
        "Build failed. Use dotnet build to see",
        "Could not execute because the specified",
    ],
    reader: || Box::<Dotnet>::default(),
};

#[derive(Debug, Default)]
struct Dotnet {
    test: Option<Failed>,
    /// A diagnostic whose text follows.
    open: Option<Open>,
    /// Why the tests' host ended, and where.
    aborted: Option<Finding>,
    thrown: Option<Thrown>,
    /// An exception was the last thing read: the runtime then aborts.
    threw: bool,
    absent: Option<Absent>,
    runner: Runner,
    /// A sum whose numbers stand on lines of their own.
    sum: bool,
}

/// Whose tests are being run: the words of their sums are those of other tools too.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Runner {
    #[default]
    None,
    VsTest,
    /// Microsoft.Testing.Platform.
    Platform,
}

impl Reader for Dotnet {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.goes_on(line, report) {
            return Step::Hold;
        }
        if std::mem::take(&mut self.threw) && line.text.has("Aborted") {
            report.cascade(line);
            return Step::Take;
        }
        if self.sum && number_line(line, report) {
            return Step::Hold;
        }
        self.sum = false;
        if let Some(found) = build::parse(line.body()) {
            // A symbol that is nowhere is the linker's own.
            if ["LNK2001", "LNK2019", "LNK1120"].contains(&found.code) {
                return Step::Pass;
            }
            self.open = build::report(found, line, report);
            return Step::Take.or_hold(self.open.is_some());
        }
        if line.text.starts_with("Test Run ") {
            self.runner = Runner::VsTest;
        }
        if sums(line, report) || consequence(line, report) {
            return Step::Take;
        }
        self.run(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Step {
    fn or_hold(self, hold: bool) -> Self {
        if hold { Self::Hold } else { self }
    }
}

impl Dotnet {
    /// Whether the line is more of what is open; else it is closed.
    fn goes_on(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let on = if let Some(test) = &mut self.test {
            test.line(line)
        } else if let Some(open) = &mut self.open {
            open.line(line)
        } else if let Some(aborted) = &mut self.aborted {
            frame_of(aborted, line)
        } else if let Some(thrown) = &mut self.thrown {
            thrown.line(line)
        } else if let Some(absent) = &mut self.absent {
            absent.line(line)
        } else {
            return false;
        };
        if !on {
            self.close(report);
        }
        on
    }

    /// What a run of tests says.
    fn run(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        // xUnit's runner says so before the test's block does.
        if text.starts_with("[xUnit.net ") {
            if text.ends_with(" [FAIL]") {
                report.announce(line);
            }
            return Step::Take;
        }
        let from = text.starts_with("Running tests from ") && text.has(" (net");
        if from || text.has("Testing.Platform Runner v") {
            self.runner = Runner::Platform;
            return Step::Lean;
        }
        let total = self.runner == Runner::VsTest && text.starts_with("Total tests: ");
        if total || text.starts_with("Test run summary: ") {
            self.runner = Runner::None;
            self.sum = true;
            return begin_sum(line, report);
        }
        if let Some((_, reason)) = text.part_at("test run was aborted. Reason: ") {
            report.failed(line);
            self.aborted = Some(Finding::new(Kind::Crash, reason, line).known_as(joined!["dotnet ", reason]));
            return Step::Hold;
        }
        self.thrown = Thrown::of(line);
        self.absent = Absent::of(line);
        if self.thrown.is_some() || self.absent.is_some() {
            return Step::Hold;
        }
        self.test = Failed::of(line).filter(|_| self.runner == Runner::Platform || text.starts_with(' '));
        if self.test.is_some() {
            return Step::Hold;
        }
        if self.runner == Runner::Platform {
            // What tests print between their results.
            report.unclaimed(line);
            return Step::Lean;
        }
        Step::Pass
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(test) = self.test.take() {
            report.fail(test.close());
        }
        if let Some(open) = self.open.take() {
            open.close(report);
        }
        if let Some(aborted) = self.aborted.take() {
            report.fail(aborted);
        }
        if let Some(thrown) = self.thrown.take() {
            self.threw = true;
            report.fail(thrown.close());
        }
        if let Some(absent) = self.absent.take() {
            report.fail(absent.finding);
        }
    }
}

/// A frame of the exception that ended the tests' host.
fn frame_of(aborted: &mut Finding, line: &Line<'_>) -> bool {
    let body = line.body();
    let is_frame = line.indent() > 0 && (body.starts_with("at ") || body.starts_with("--- End"));
    if is_frame {
        aborted.add(line);
        aborted.location = aborted.location.take().or_else(|| tests::frame(body));
    }
    is_frame
}

/// Lines that say that a project failed, and no more.
fn consequence(line: &Line<'_>, report: &mut Report) -> bool {
    let body = line.body();
    let whole = [
        "Build failed with ",
        "Restore failed with ",
        "Test Run Aborted",
        "The build failed. Fix the build errors",
        "Build failed. Use dotnet build to see",
    ]
    .iter()
    .any(|start| body.starts_with(start));
    let project = body.has(">Done building project ") || body.starts_with("Done Building Project ");
    if whole || (project && body.ends_with("-- FAILED.")) || line.text.starts_with("  Failed to restore ") {
        report.failed(line);
        report.cascade(line);
        return true;
    }
    let of_project = body.has(" failed with ") && body.has(" error(s)");
    if of_project {
        report.announce(line);
    }
    of_project
}

/// Names of the numbers of a run of tests, as the tools write them.
const COUNTS: &[(&str, &str)] = &[
    ("total", "total:"),
    ("passed", "passed:"),
    ("failed", "failed:"),
    ("succeeded", "succeeded:"),
    ("skipped", "skipped:"),
];

/// `Total tests: 4`, with or without the other numbers behind it; `Test run summary: Failed!`.
fn begin_sum(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    if let Some(total) = number_after(text, "Total tests: ") {
        let mut counts = vec![("total", total)];
        let others = [
            ("passed", "Passed:"),
            ("failed", "Failed:"),
            ("skipped", "Skipped:"),
        ];
        counts.extend(
            others
                .iter()
                .filter_map(|(name, word)| Some((*name, number_after(text, word)?))),
        );
        report.tally("dotnet test", &counts, line);
    } else if text.starts_with("Test run summary: Failed") {
        report.failed(line);
        report.cascade(line);
    } else if text.starts_with("Test run summary: Passed") {
        report.succeeded(line);
    }
    Step::Hold
}

/// `     Passed: 3`, `  total: 56`, ` Total time: 1.6 Seconds`.
fn number_line(line: &Line<'_>, report: &mut Report) -> bool {
    let body = line.body();
    if body.is_empty() {
        return true;
    }
    let word = body.split(':').next().unwrap_or("").to_lowercase();
    let count = COUNTS.iter().find(|(name, _)| *name == word);
    if let Some((name, _)) = count {
        let number = number_after(body, ":").unwrap_or(0);
        report.tally("dotnet test", &[(name, number)], line);
    }
    line.indent() > 0 && (count.is_some() || ["total time", "duration", "error"].contains(&word.as_str()))
}

/// The closing lines of a build and of a test run.
fn sums(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.body();
    if text.starts_with("Build FAILED") || text.starts_with("Test Run Failed") {
        report.failed(line);
    } else if text.starts_with("Build succeeded") || text.starts_with("Test Run Successful") {
        report.succeeded(line);
    } else if let Some((count, name)) = leading_number(text)
        .filter(|(_, rest)| rest.starts_with(" Warning(s)") || rest.starts_with(" Error(s)"))
    {
        let name = if name.starts_with(" Warning") {
            "warnings"
        } else {
            "errors"
        };
        report.tally("msbuild", &[(name, count)], line);
    } else if text.starts_with("Passed!  -") || text.starts_with("Failed!  -") {
        let counts = [
            ("failed", "Failed:"),
            ("passed", "Passed:"),
            ("skipped", "Skipped:"),
            ("total", "Total:"),
        ];
        tally(&counts, line, report);
        if text.starts_with("Failed!") {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
    } else if text.starts_with("Test summary: total: ") {
        tally(COUNTS, line, report);
    } else if text.ends_with(" skipped ==========") {
        solution(text, line, report);
    } else {
        return false;
    }
    true
}

fn tally(counts: &[(&str, &str)], line: &Line<'_>, report: &mut Report) {
    let counts: Vec<(&str, u64)> = counts
        .iter()
        .filter_map(|(name, word)| Some((*name, number_after(line.text, word)?)))
        .collect();
    report.tally("dotnet test", &counts, line);
}

/// `========== Build: 0 succeeded, 1 failed, 0 up-to-date, 0 skipped ==========`.
fn solution(text: &str, line: &Line<'_>, report: &mut Report) {
    let number = |word| number_before(text, word).unwrap_or(0);
    let failed = number("failed");
    report.tally(
        "projects",
        &[("succeeded", number("succeeded")), ("failed", failed)],
        line,
    );
    if failed > 0 {
        report.failed(line);
        report.cascade(line);
    } else {
        report.succeeded(line);
    }
}
