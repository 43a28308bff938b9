//! Bazel: actions and tests that failed.
//!
//! Written from Bazel 7's documentation, not seen from a real run. An action's `ERROR: … failed: (Exit 1)` reports
//! what the compiler prints after it.

use crate::digest::Kind;
use crate::line::{Line, has_extension, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

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
        "FAILED in ",
        "TIMEOUT in ",
        "Build did NOT complete",
        "PASSED in ",
        "Executed ",
        "FAILED TO BUILD",
        "NO STATUS",
        "Use --",
    ],
    reader: || Box::new(Bazel),
};

#[derive(Debug)]
struct Bazel;

impl Reader for Bazel {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.contains("Build did NOT complete successfully") {
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
        if let Some(rest) = text.strip_prefix("FAIL: //") {
            let target = rest.split(' ').next().unwrap_or(rest);
            test(&format!("//{target}"), "failed", line, report);
            return Step::Take;
        }
        if text.starts_with("Target //") && text.ends_with(" failed to build") {
            report.cascade(line);
            return Step::Take;
        }
        if text.starts_with("//") {
            return target(line, report);
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

/// `//src:error_test      FAILED in 0.1s`.
fn target(line: &Line<'_>, report: &mut Report) -> Step {
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
                "failed" | "timed out" => test(name, count, line, report),
                "not built" => report.cascade(line),
                _ => {}
            }
            return Step::Take;
        }
    }
    Step::Pass
}

/// A test is named when it fails and again at the end; its own output may have stated the failure.
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
