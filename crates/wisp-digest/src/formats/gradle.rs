//! Gradle: failed tasks and tests, and what went wrong.
//!
//! Written from documentation of Gradle 8 and 9, not seen from a real run. The task that failed and `BUILD FAILED`
//! report what the compiler or the tests said; "What went wrong" is the root only where nothing else says it.

use super::java::Trace;
use crate::digest::{Kind, Location};
use crate::line::{Line, leading_number};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "gradle",
    tools: "gradle, gradlew (Java, Kotlin, Android)",
    recognises: "failed tests, failed tasks as consequences, what went wrong when nothing else says it",
    version: "Gradle 8.10 (documentation)",
    triggers: &[
        "> Task ",
        "FAILED",
        "BUILD SUCCESSFUL",
        "FAILURE: Build failed",
        "* What went wrong:",
        "* Try:",
        " tests completed",
        " test completed",
        "Test result: ",
        "Build file '",
        " STANDARD_",
    ],
    reader: || Box::<Gradle>::default(),
};

#[derive(Debug, Default)]
struct Gradle {
    test: Option<Test>,
    /// In what a test has printed.
    printed: bool,
    /// Where the build file is wrong.
    place: Option<Location>,
    wrong: Option<Finding>,
    what: bool,
    help: bool,
}

/// A test that failed, with its exception.
#[derive(Debug)]
struct Test {
    finding: Finding,
    name: String,
    trace: Option<Trace>,
    /// After `Caused by:` on a line of its own.
    caused: bool,
}

impl Reader for Gradle {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(test) = &mut self.test {
            if line.indent() >= 4 || (line.is_blank() && test.trace.is_some()) {
                test.line(line);
                return Step::Hold;
            }
            self.close(report);
        }
        if self.printed && (line.indent() >= 4 || line.is_blank()) {
            return Step::Hold;
        }
        self.printed =
            text.contains(" > ") && (text.ends_with(" STANDARD_ERROR") || text.ends_with(" STANDARD_OUT"));
        if self.printed {
            return Step::Hold;
        }
        if self.what || self.help {
            return self.block(line, report);
        }
        if let Some(name) = text
            .strip_suffix(" FAILED")
            .filter(|name| name.contains(" > ") && !name.starts_with("> "))
        {
            let finding = Finding::new(Kind::Test, &format!("{name} failed"), line)
                .of(name)
                .known_as(format!("gradle {name}"));
            self.test = Some(Test {
                finding,
                name: name.to_owned(),
                trace: None,
                caused: false,
            });
            return Step::Hold;
        }
        self.marks(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.end_wrong(report);
    }
}

impl Gradle {
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with("> Task ") {
            if text.ends_with(" FAILED") {
                report.announce(line);
            }
            return Step::Take;
        }
        if text.starts_with("FAILURE: Build failed")
            || text.starts_with("FAILURE: Build completed with")
            || text.starts_with("BUILD FAILED in")
        {
            self.end_wrong(report);
            report.failed(line);
            report.announce(line);
            return Step::Take;
        }
        if text.starts_with("BUILD SUCCESSFUL") {
            report.succeeded(line);
            return Step::Take;
        }
        if let Some(place) = build_file(text) {
            self.place = Some(place);
            return Step::Take;
        }
        if text == "* What went wrong:" {
            self.what = true;
            return Step::Hold;
        }
        if text == "* Try:" {
            self.help = true;
            return Step::Hold;
        }
        sum(line, report)
    }

    /// What went wrong, or the advice after it.
    fn block(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if line.is_blank() || line.text.starts_with("* ") {
            self.what = line.text == "* What went wrong:";
            self.help = line.text == "* Try:" || (self.help && !line.is_blank());
            return Step::Hold.or_take(self.what || self.help);
        }
        if line.text.starts_with("BUILD FAILED") || line.text.starts_with("=====") {
            (self.what, self.help) = (false, false);
            return self.marks(line, report);
        }
        if self.what {
            if let Some(finding) = &mut self.wrong {
                finding.add(line);
            } else {
                let mut finding = Finding::new(Kind::Configure, line.text, line);
                finding.location = self.place.take();
                self.wrong = Some(finding);
            }
        }
        Step::Hold
    }

    /// The block is a root only where nothing else states one.
    fn end_wrong(&mut self, report: &mut Report) {
        let Some(finding) = self.wrong.take() else { return };
        let stated = finding.title.starts_with("Execution failed for task") && !report.failures.is_empty();
        if stated {
            report.cascade(&Line {
                number: finding.lines.first,
                text: &finding.title,
            });
        } else {
            report.fail(finding);
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(test) = self.test.take() {
            report.fail(test.close());
        }
    }
}

impl Step {
    fn or_take(self, hold: bool) -> Self {
        if hold { self } else { Self::Take }
    }
}

/// `Build file '/srv/build.gradle.kts' line: 7`.
fn build_file(text: &str) -> Option<Location> {
    let (path, row) = text.strip_prefix("Build file '")?.split_once("' line: ")?;
    Some(Location {
        path: path.to_owned(),
        line: row.parse().ok(),
        column: None,
    })
}

impl Test {
    /// `    java.lang.AssertionError: text at FooTest.java:12`, then frames and causes.
    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        self.finding.quote(line);
        let Some(trace) = &mut self.trace else {
            self.trace = Some(Trace::new(body, line));
            self.finding.location = at_end(body);
            return;
        };
        if std::mem::take(&mut self.caused) {
            let text = format!("Caused by: {body}");
            let number = line.number;
            trace.line(&Line { number, text: &text });
        } else if body == "Caused by:" {
            self.caused = true;
        } else {
            trace.line(line);
        }
    }

    fn close(self) -> Finding {
        let mut finding = self.finding;
        if let Some(trace) = self.trace {
            let told = trace.finding(Kind::Test, Some(&self.name));
            finding.title = told.title;
            finding.lines = told.lines;
            finding.location = told.location.or(finding.location);
            finding.cause = told.cause;
        }
        finding
    }
}

/// The place at the end of the short form, `… at FooTest.java:12`.
fn at_end(body: &str) -> Option<Location> {
    let (path, row) = body
        .rsplit_once(" at ")
        .and_then(|(_, place)| place.split_once(':'))?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    })
}

/// `3 tests completed, 1 failed, 1 skipped`.
fn sum(line: &Line<'_>, report: &mut Report) -> Step {
    let Some((count, rest)) = leading_number(line.text).filter(|(_, rest)| rest.starts_with(" test")) else {
        let verdict =
            [" PASSED", " SKIPPED"].iter().any(|end| line.text.ends_with(end)) && line.text.contains(" > ");
        return if verdict { Step::Take } else { Step::Pass };
    };
    if !rest.contains("completed") {
        return Step::Pass;
    }
    let number = |word| crate::line::number_before(rest, word).unwrap_or(0);
    report.tally(
        "gradle tests",
        &[
            ("completed", count),
            ("failed", number("failed")),
            ("skipped", number("skipped")),
        ],
        line,
    );
    Step::Take
}
