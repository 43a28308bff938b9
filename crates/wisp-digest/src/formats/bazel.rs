//! Bazel: actions and tests that failed.
//!
//! Written from Bazel 7's documentation, not seen from a real run. An action's `ERROR: … failed: (Exit 1)` reports
//! what the compiler prints after it, and a test's `FAIL:` and its row report what its output states, where the log
//! has that.

use crate::digest::{Failure, Kind, Span};
use crate::limits;
use crate::line::{Line, has_extension, place_at_start, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report, list};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "bazel",
    tools: "bazel build, bazel test",
    recognises: "failed tests and targets, errors of BUILD files; failed actions as consequences",
    version: "Bazel 7 (documentation)",
    triggers: &[
        "ERROR: ",
        "Target //",
        "INFO: ",
        "FAIL: //",
        "TIMEOUT: //",
        " Test output for //",
        "================================================================================",
        "FAILED in ",
        "TIMEOUT in ",
        "Build did NOT complete",
        "PASSED in ",
        "Executed ",
        "FAILED TO BUILD",
        "NO STATUS",
        "Use --",
    ],
    reader: || Box::<Bazel>::default(),
};

#[derive(Debug, Default)]
struct Bazel {
    /// Tests said to have failed, until their row or the end: by then what they printed has been read.
    failed: Vec<Failed>,
    /// The lines of each test's output.
    outputs: Vec<(String, Span)>,
    /// Whether the last of them goes on.
    printing: bool,
}

/// `FAIL: //src:tide_test (see …)`.
#[derive(Debug)]
struct Failed {
    name: String,
    how: &'static str,
    line: u64,
    text: String,
}

impl Reader for Bazel {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if states(text, "Build did NOT complete successfully") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if let Some(rest) = text.strip_prefix("ERROR: ") {
            return error(rest, line, report);
        }
        if text.starts_with("INFO: Build completed successfully") {
            report.succeeded(line);
            return Step::Take;
        }
        if let Some((rest, how)) = [("FAIL: ", "failed"), ("TIMEOUT: ", "timed out")]
            .iter()
            .find_map(|(mark, how)| Some((text.strip_prefix(mark)?, *how)))
            .filter(|(rest, _)| rest.starts_with("//"))
        {
            self.announce(rest.split(' ').next().unwrap_or(rest), how, line, report);
            return Step::Take;
        }
        if text.starts_with("==========") {
            return self.output(line);
        }
        if text.starts_with("Target //") && text.ends_with(" failed to build") {
            report.cascade(line);
            return Step::Take;
        }
        if text.starts_with("//") {
            return self.target(line, report);
        }
        if text.starts_with("Use --verbose_failures") || text.starts_with("Use --sandbox_debug") {
            return Step::Take;
        }
        if text.starts_with("Executed ") && text.contains(" tests") || text.starts_with("INFO: ") {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.settle(None, report);
    }
}

/// `/srv/src/BUILD:3:8: Compiling src/error.cc failed: (Exit 1): gcc failed: …` and errors of a BUILD file.
fn error(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let Some((location, message)) = place_at_start(rest).filter(|(place, _)| {
        place.path.contains("BUILD")
            || has_extension(&place.path, &["bzl"])
            || place.path.contains("WORKSPACE")
            || place.path.contains("MODULE.bazel")
    }) else {
        let known = rest.starts_with("Analysis of target")
            || rest.starts_with("Skipping '")
            || rest.starts_with("command succeeded, but")
            || rest.starts_with("no such target")
            || rest.starts_with("package contains errors");
        if known {
            report.cascade(line);
            return Step::Take;
        }
        return Step::Pass;
    };
    if message.contains(" failed: (") {
        report.announce(line);
    } else {
        report.fail(Finding::new(Kind::Configure, message.trim_start_matches([':', ' ']), line).at(location));
    }
    Step::Take
}

/// A test is named when it fails and again at the end.
fn test(name: &str, how: &str, line: &Line<'_>, report: &mut Report) {
    let key = format!("bazel {name}");
    if !report.repeat(&key, line.number) {
        report.failed(line);
        report.fail(
            Finding::new(Kind::Test, &format!("{name} {how}"), line)
                .of(name)
                .known_as(key),
        );
    }
}

impl Bazel {
    /// Keeps in mind that a test failed: what it printed comes after the line that says so.
    fn announce(&mut self, name: &str, how: &'static str, line: &Line<'_>, report: &mut Report) {
        report.failed(line);
        if self.failed.len() >= limits::PENDING {
            return test(name, how, line, report);
        }
        self.failed.push(Failed {
            name: name.to_owned(),
            how,
            line: line.number,
            text: line.quote().text,
        });
    }

    /// `==================== Test output for //src:tide_test:` and the rule that ends it.
    fn output(&mut self, line: &Line<'_>) -> Step {
        let printed = line
            .text
            .trim_start_matches('=')
            .strip_prefix(" Test output for ");
        if let Some(name) = printed {
            self.printing = self.outputs.len() < limits::PENDING;
            if self.printing {
                let rest = Span {
                    first: line.number,
                    last: u64::MAX,
                };
                self.outputs.push((name.trim_end_matches(':').to_owned(), rest));
            }
            return Step::Take;
        }
        if !self.printing || line.text.bytes().any(|byte| byte != b'=') {
            return Step::Pass;
        }
        self.printing = false;
        if let Some((_, lines)) = self.outputs.last_mut() {
            lines.last = line.number;
        }
        Step::Take
    }

    /// The failure that a test's own output states.
    fn stated<'a>(&self, name: &str, report: &'a mut Report) -> Option<&'a mut Failure> {
        let mine = |line: u64| {
            let mut outputs = self.outputs.iter().filter(|(test, _)| test == name);
            outputs.any(|(_, lines)| lines.holds(line))
        };
        report
            .failures
            .iter_mut()
            .find(|failure| mine(failure.lines.first))
    }

    /// Reports the failed tests of this name, or all of them.
    fn settle(&mut self, name: Option<&str>, report: &mut Report) {
        let (now, later) = std::mem::take(&mut self.failed)
            .into_iter()
            .partition(|failed| name.is_none_or(|name| failed.name == name));
        self.failed = later;
        let now: Vec<Failed> = now;
        for failed in now {
            if let Some(failure) = self.stated(&failed.name, report) {
                follow(failure, failed.line);
                continue;
            }
            let line = Line {
                number: failed.line,
                text: &failed.text,
            };
            test(&failed.name, failed.how, &line, report);
        }
    }

    /// `//src:error_test      FAILED in 0.1s`.
    fn target(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let (name, rest) = line.text.split_once(' ').unwrap_or((line.text, ""));
        let verdict = rest.trim_start().trim_start_matches("(cached) ");
        for (word, count) in [
            ("PASSED", "passed"),
            ("FAILED TO BUILD", "not built"),
            ("FAILED", "failed"),
            ("TIMEOUT", "timed out"),
            ("NO STATUS", "no status"),
        ] {
            if verdict.starts_with(word) {
                report.tally("bazel tests", &[(count, 1)], line);
                match count {
                    "failed" | "timed out" => self.row(name, count, line, report),
                    "not built" => report.cascade(line),
                    _ => {}
                }
                return Step::Take;
            }
        }
        Step::Pass
    }

    fn row(&mut self, name: &str, how: &str, line: &Line<'_>, report: &mut Report) {
        self.settle(Some(name), report);
        match self.stated(name, report) {
            Some(failure) => follow(failure, line.number),
            None => test(name, how, line, report),
        }
    }
}

/// A line that reports a failure known by its place.
fn follow(failure: &mut Failure, line: u64) {
    failure.cascade += 1;
    list(&mut failure.cascade_lines, line);
}
