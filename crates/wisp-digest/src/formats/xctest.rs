//! `XCTest` and Swift Testing, which `swift test` runs one after the other.
//!
//! Written from documentation of Swift 6.0, and seen in runs of Xcode 15 to 16 and Swift 6 that their users posted.
//! `XCTest` counts assertions as failures; here a test that fails is one failure however many of its assertions do.

use crate::diag::{self, Level};
use crate::digest::{Kind, Quote};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, has_extension, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "xctest",
    tools: "swift test (XCTest and Swift Testing), xcodebuild test",
    recognises: "failed tests with all their assertions, skipped tests, the counts of both frameworks",
    version: "Swift 6, Xcode 15 to 16 (runs posted by their users)",
    triggers: &[
        "Test Case '",
        "Test case '",
        "Test Suite '",
        "Executed ",
        ".swift:",
        " recorded an issue",
        "\n✘ ",
        "\n✔ ",
        "\n◇ ",
        "􀢄 ",
        "\n↳ ",
        "Test run with",
        "\n➜ ",
    ],
    reader: || Box::<XcTest>::default(),
};

#[derive(Debug, Default)]
struct XcTest {
    /// The key of the test whose issue was told last.
    issue: String,
    /// The test that runs and the last line it printed.
    running: Option<(String, Quote)>,
    /// Whether it is run again.
    again: bool,
}

impl Reader for XcTest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("Test Case '") {
            return self.case(rest, line, report);
        }
        if let Some(rest) = text.strip_prefix("Test case '") {
            return parallel(rest, line, report);
        }
        if text.starts_with("Test Suite '") {
            if text.has("' failed at ") {
                report.failed(line);
                report.cascade(line);
            }
            return Step::Take;
        }
        if text.trim_start().starts_with("Executed ") && text.has(", with ") {
            return executed(line, report);
        }
        if let Some(step) = self.swift_testing(line, report) {
            return step;
        }
        let known = assertion(line, report) || text.has(" : Test skipped");
        match &mut self.running {
            // What the runtime or the package manager says of a crash says more than what comes after it.
            Some((_, last)) => {
                if text.starts_with("error: Exited with unexpected signal code ") {
                    report.announce(line);
                } else if !line.is_blank() && !last.text.has("Fatal error") {
                    *last = line.quote();
                }
                Step::Hold
            }
            None if known => Step::Take,
            None => Step::Pass,
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.unfinished(report);
    }
}

impl XcTest {
    /// A test that never ended took the run with it.
    fn unfinished(&mut self, report: &mut Report) {
        let Some((name, last)) = self.running.take() else {
            return;
        };
        let line = Line {
            number: last.line,
            text: &last.text,
        };
        report.fail(
            Finding::new(Kind::Crash, joined![name, " never ended: ", last.text], &line)
                .of(&name)
                .known_as(key(&name)),
        );
    }

    fn case(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let Some((name, verdict)) = rest.part_at("' ") else {
            return Step::Pass;
        };
        if verdict.starts_with("started") {
            self.running = Some((name.to_owned(), line.quote()));
            self.again = is_again(verdict);
            return Step::Hold;
        }
        self.running = None;
        if self.again && verdict.starts_with("passed") && report.forgive(&key(name)) {
            report.tally("xctest", &[("flaky", 1)], line);
        }
        for word in ["passed", "failed", "skipped"] {
            if verdict.starts_with(word) {
                report.tally("xctest", &[("run", 1), (word, 1)], line);
            }
        }
        if verdict.starts_with("failed") && !report.repeat(&key(name), line.number) {
            report.fail(
                Finding::new(Kind::Test, joined![name, " failed"], line)
                    .of(name)
                    .known_as(key(name)),
            );
        }
        Step::Take
    }
}

/// `started (Iteration 2 of 3).`
fn is_again(verdict: &str) -> bool {
    let iteration = verdict
        .part_at("(Iteration ")
        .and_then(|(_, rest)| leading_number(rest));
    iteration.is_some_and(|(number, _)| number > 1)
}

fn key(name: &str) -> String {
    joined!["xctest ", name.trim_matches(['-', '[', ']']).replace(' ', ".")]
}

/// `TideTests.swift:18: error: TideTests.testSpring : XCTAssertEqual failed: …`.
fn assertion(line: &Line<'_>, report: &mut Report) -> bool {
    let found = diag::colon(line.text)
        .filter(|each| each.level == Level::Error && has_extension(&each.location.path, &["swift"]));
    let Some((name, _)) = found.as_ref().and_then(|found| found.message.part_at(" : ")) else {
        return false;
    };
    let Some(found) = &found else { return false };
    if let Some(failure) = report.known(&key(name)) {
        failure.explain.push(line.quote());
        failure.explain.truncate(crate::limits::EXPLAIN);
        failure.lines.reach(line.number);
    } else {
        let finding = Finding::new(Kind::Test, found.message, line)
            .of(name)
            .known_as(key(name));
        // Tests that share a broken setup fail at its place with its words.
        let told = found.message.part_at(" : ").map_or("", |(_, told)| told);
        let finding = finding.because(Some(joined![found.location, " ", told]));
        report.fail(finding.at(found.location.clone()));
    }
    true
}

/// The sum of a suite; the last one is that of all.
fn executed(line: &Line<'_>, report: &mut Report) -> Step {
    let failures = crate::line::number_before(line.text, "failures")
        .or_else(|| crate::line::number_before(line.text, "failure"))
        .unwrap_or(0);
    report.set_tally("xctest assertions", &[("failed", failures)], line);
    if failures == 0 {
        report.succeeded(line);
    }
    Step::Take
}

/// `Test case 'DepthTests.testWade()' failed on 'Clone 1 of iPhone 16 - Tern (4312)' (0.010 seconds)`, of tests in parallel.
fn parallel(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    let Some((name, verdict)) = rest.part_at("' ") else {
        return Step::Pass;
    };
    for word in ["passed", "failed", "skipped"] {
        if verdict.starts_with(word) {
            report.tally("xctest", &[("run", 1), (word, 1)], line);
        }
    }
    if verdict.starts_with("failed") {
        // Its assertions name the module too.
        let end = joined![".", name.short_of("()")];
        let subjects = report
            .failures
            .iter()
            .filter_map(|failure| failure.subject.as_ref());
        let known = subjects
            .map(|subject| key(subject))
            .find(|known| known.ends_with(&end));
        if !known.is_some_and(|known| report.repeat(&known, line.number)) {
            let title = joined![name, " failed"];
            report.fail(Finding::new(Kind::Test, title, line).of(name).known_as(key(name)));
        }
    }
    Step::Take
}

impl XcTest {
    /// `✘ Test probes() recorded an issue at MudTests.swift:11:9: …` and its relatives.
    fn swift_testing(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let (mark, rest) = line.text.halves(b' ')?;
        if mark.chars().count() != 1 || mark.is_ascii() {
            return None;
        }
        // A comment on the issue before it.
        if mark == "↳" && !rest.starts_with("Testing Library ") {
            let failure = report.known(&self.issue)?;
            if failure.explain.len() < crate::limits::EXPLAIN {
                failure.lines.reach(line.number);
                failure.explain.push(line.quote());
            }
            return Some(Step::Take);
        }
        // Others draw such marks too.
        if !["Test ", "Suite ", "Testing Library ", "Passing "]
            .iter()
            .any(|own| rest.starts_with(own))
        {
            return None;
        }
        if let Some(rest) = rest.strip_prefix("Test run with ") {
            return Some(run(rest, line, report));
        }
        if let Some((name, rest)) = rest
            .strip_prefix("Test ")
            .and_then(|rest| rest.part_at(" recorded an issue "))
        {
            self.issue = issue(name, rest, line, report);
            return Some(Step::Take);
        }
        ended(rest, line, report);
        Some(Step::Take)
    }
}

/// How a test or a suite ended.
fn ended(rest: &str, line: &Line<'_>, report: &mut Report) {
    let test = rest.strip_prefix("Test ");
    let ended = |word: &str| test.and_then(|rest| rest.part_at(word)).map(|(name, _)| name);
    if let Some(name) = ended(" failed after ") {
        let name = match name.last_part_at(" with ") {
            Some((name, cases)) if cases.has(" test case") => name,
            _ => name,
        };
        report.tally("swift testing", &[("run", 1), ("failed", 1)], line);
        report.repeat(&key(name), line.number);
    } else if ended(" passed after ").is_some() {
        report.tally("swift testing", &[("run", 1), ("passed", 1)], line);
    } else if ended(" skipped").is_some() {
        report.tally("swift testing", &[("skipped", 1)], line);
    } else if rest.starts_with("Suite ") && rest.has(" failed after ") {
        report.cascade(line);
    }
}

/// `at MudTests.swift:11:9: message`, with `with 1 argument depth → 3 ` before it. The key of the test.
fn issue(name: &str, rest: &str, line: &Line<'_>, report: &mut Report) -> String {
    let key = key(name);
    let (case, rest) = match rest.strip_prefix("at ") {
        Some(rest) => ("", rest),
        None => rest.part_at(" at ").unwrap_or(("", rest)),
    };
    let Some((location, message)) = place_at_start(rest) else {
        return key;
    };
    if let Some(failure) = report.known(&key) {
        failure.lines.reach(line.number);
        failure.explain.push(line.quote());
        failure.explain.truncate(crate::limits::EXPLAIN);
        return key;
    }
    let message = message.trim_start_matches(':').trim();
    let case = case
        .part_at("argument")
        .map_or("", |(_, case)| case.trim_start_matches('s'));
    let title = if message.is_empty() {
        joined![name, case, " recorded an issue"]
    } else {
        joined![name, case, ": ", message]
    };
    let finding = Finding::new(Kind::Test, title, line).of(name).at(location);
    report.fail(finding.known_as(key.as_str()));
    key
}

fn run(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    if rest.has(" failed after ") {
        report.failed(line);
        report.cascade(line);
    } else if between(rest, " passed", ".").is_some() {
        report.succeeded(line);
    }
    Step::Take
}
