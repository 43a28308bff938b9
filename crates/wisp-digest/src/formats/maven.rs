//! Maven and its Surefire and compiler plugins.
//!
//! Written from real runs of Maven 3.8 with Surefire 3.5; reactors from documentation of 3.9. Maven prints compile
//! errors twice, test failures three times, and a page of help; each failure counts once, under the module that has
//! it.

use super::java::Trace;
use crate::diag::missing_name;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, number_after};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "maven",
    tools: "mvn, mvnw (compiler, surefire, failsafe)",
    recognises: "compile errors, failed tests with their root exception, modules that failed or were skipped, the sums",
    version: "Maven 3.8, Surefire 3.5",
    triggers: &[
        "[ERROR]",
        "[WARNING]",
        "[FATAL] Non-",
        "[INFO] Error stacktraces are turned on",
        "T E S T S",
        "Results:",
        "Tests run:",
        "BUILD ",
        "Reactor Summary",
        "SUCCESS [",
        "FAILURE [",
        "SKIPPED",
        "\norg.apache.maven.",
        "<<< FAILURE!",
        "<<< ERROR!",
    ],
    reader: || Box::<Maven>::default(),
};

#[derive(Debug, Default)]
struct Maven {
    compile: Option<Finding>,
    /// A test that failed, whose exception comes next.
    test: Option<(String, bool, u64)>,
    trace: Option<(String, bool, Trace)>,
    /// Maven's own exception, which `-e` and `-X` have it print.
    own: bool,
    summary: bool,
    list: List,
    /// While tests run, whose own words may look like Maven's.
    testing: bool,
}

/// Which list after `Results:` is being read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum List {
    #[default]
    None,
    Failed,
    /// Of tests that passed when they were run again.
    Flakes,
}

impl Reader for Maven {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        self.own &= !text.starts_with('[');
        // `[ERROR]: …` is Ansible's.
        if let Some(rest) = text.strip_prefix("[ERROR]").filter(|rest| !rest.starts_with(':')) {
            return self.error(rest.trim(), line, report);
        }
        if let Some(rest) = text.strip_prefix("[WARNING]") {
            self.close(report);
            return self.warning(rest.trim(), line, report);
        }
        if let Some(rest) = text.strip_prefix("[INFO]") {
            self.close(report);
            return self.info(rest.trim(), line, report);
        }
        if let Some(problem) = text.strip_prefix("[FATAL] Non-") {
            let title = joined!["Non-", problem];
            report.fail(Finding::new(Kind::Configure, &title, line).known_as(joined!["maven ", title]));
            return Step::Take;
        }
        self.continues(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Maven {
    fn error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest.starts_with("symbol:") || rest.starts_with("location:") {
            return Step::Take;
        }
        self.close(report);
        if let Some((location, message)) = java_place(rest) {
            return self.compile_error(location, message, line);
        }
        if self.list == List::Flakes && rest.starts_with("Run ") {
            return Step::Take;
        }
        if rest.has("<<< FAILURE!") || rest.has("<<< ERROR!") {
            return self.test_header(rest, line, report);
        }
        if let Some(rest) = rest.strip_prefix("Tests run:") {
            return tests_run(rest, true, line, report);
        }
        self.other_error(rest, line, report)
    }

    fn compile_error(&mut self, location: Location, message: &str, line: &Line<'_>) -> Step {
        let copy = joined!["javac ", location, " ", message];
        self.compile = Some(
            Finding::new(Kind::Compile, message, line)
                .at(location)
                .known_as(copy),
        );
        Step::Hold
    }

    fn test_header(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest.starts_with("Tests run:") {
            report.announce(line);
            return Step::Take;
        }
        let name = rest.before(" -- ").before("  Time").trim();
        self.test = Some((short(name), rest.has("<<< ERROR!"), line.number));
        Step::Hold
    }

    /// Lines without a mark: the rest of a compile error, or a test's exception and its trace.
    fn continues(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(finding) = &mut self.compile {
            if line.indent() > 0 {
                finding.add(line);
                return Step::Hold;
            }
            self.close(report);
        }
        if self.own || is_own_exception(line.text) {
            if !self.own || line.text.starts_with("Caused by: ") {
                ended(line.text, line, report);
            }
            self.own = true;
            return Step::Hold;
        }
        if let Some((name, error, _)) = self.test.take() {
            self.trace = Some((name, error, Trace::new(line.text, line)));
            return Step::Hold;
        }
        if let Some((_, _, trace)) = &mut self.trace {
            if trace.line(line) {
                return Step::Hold;
            }
            if line.is_blank() && !trace.says(line.number) {
                self.close(report);
                return Step::Take;
            }
            return Step::Hold;
        }
        Step::Pass
    }

    fn info(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(rest) = rest.strip_prefix("Tests run:") {
            return tests_run(rest, false, line, report);
        }
        if rest.is_empty() {
            self.list = List::None;
        }
        self.testing = (self.testing || rest == "T E S T S") && rest != "Results:";
        self.summary |= rest.starts_with("Reactor Summary");
        if rest == "BUILD SUCCESS" {
            report.succeeded(line);
        } else if rest == "BUILD FAILURE" {
            self.summary = false;
            report.failed(line);
            report.announce(line);
        } else if self.summary {
            module(rest, line, report);
        }
        Step::Take
    }

    /// The lists after `Results:`, Maven's closing words and its help.
    fn other_error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest == "Failures:" || rest == "Errors:" {
            self.list = List::Failed;
            return Step::Take;
        }
        let listed = self.list == List::Failed && line.text.starts_with("[ERROR]   ");
        if !listed {
            self.list = List::None;
        }
        if self.testing && !rest.is_empty() {
            report.unclaimed(line);
            return Step::Take;
        }
        if listed {
            list(rest, line, report);
            return Step::Take;
        }
        if rest.starts_with("Failed to execute goal") || rest.has("There are test failures") {
            failed_goal(rest, line, report);
        } else if rest.starts_with("[ERROR] Some problems were encountered") {
            report.announce(line);
        } else if is_statement(rest) {
            ended(rest, line, report);
        }
        Step::Take
    }

    /// Surefire's list of tests that passed when they were run again, and any other warning.
    fn warning(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest == "Flakes:" {
            self.list = List::Flakes;
        } else if self.list == List::Flakes && !rest.starts_with("Tests run:") {
            report.forgive(&joined!["maven ", short(rest)]);
        } else {
            return warning(rest, line, report);
        }
        Step::Take
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.compile.take() {
            let cause = missing_symbol(&finding);
            report.fail(finding.because(cause));
        }
        if let Some((name, _, trace)) = self.trace.take() {
            let key = joined!["maven ", name];
            report.fail(trace.finding(Kind::Test, Some(&name)).known_as(key));
        }
        if let Some((name, _, number)) = self.test.take() {
            let line = Line { number, text: "" };
            report.fail(
                Finding::new(Kind::Test, joined![name, " failed"], &line)
                    .of(&name)
                    .known_as(joined!["maven ", name]),
            );
        }
    }
}

/// javac says which symbol on the next line.
fn missing_symbol(finding: &Finding) -> Option<String> {
    let symbol = finding
        .explain
        .iter()
        .find_map(|quote| quote.text.trim().strip_prefix("symbol:"));
    match symbol {
        Some(symbol) => Some(joined!["missing ", symbol.trim()]),
        None => missing_name(&finding.title),
    }
}

/// `/srv/Main.java:[14,9] cannot find symbol`.
fn java_place(text: &str) -> Option<(Location, &str)> {
    let (path, rest) = text.part_at(":[")?;
    let (line, rest) = leading_number(rest)?;
    let (column, rest) = leading_number(rest.strip_prefix(',')?)?;
    let message = rest.strip_prefix(']')?.trim();
    Some((
        Location {
            path: path.to_owned(),
            line: Some(line),
            column: Some(column),
        },
        message,
    ))
}

/// `test.curlew.io.ReaderTest.readsHeader` and the older `readsHeader(test.curlew.io.ReaderTest)`: class and method.
fn short(name: &str) -> String {
    if let Some((method, class)) = name.strip_suffix(')').and_then(|name| name.halves(b'(')) {
        return joined![class.rsplit('.').next().unwrap_or(class), ".", method];
    }
    let mut parts = name.rsplitn(3, '.');
    match (parts.next(), parts.next()) {
        (Some(method), Some(class)) => joined![class, ".", method],
        _ => name.to_owned(),
    }
}

/// `Tests run: 4, Failures: 1, Errors: 1, Skipped: 1`; with a time it is one class's.
fn tests_run(rest: &str, bad: bool, line: &Line<'_>, report: &mut Report) -> Step {
    if rest.has("Time elapsed") {
        if bad {
            report.cascade(line);
        }
        return Step::Take;
    }
    let run = leading_number(rest.trim()).map_or(0, |(number, _)| number);
    let number = |name| number_after(rest, name).unwrap_or(0);
    let counts = [
        ("run", run),
        ("failures", number("Failures")),
        ("errors", number("Errors")),
        ("skipped", number("Skipped")),
        ("flaky", number("Flakes")),
    ];
    let told = if rest.has("Flakes: ") { 5 } else { 4 };
    report.tally("maven tests", &counts[..told], line);
    if bad {
        report.cascade(line);
    }
    Step::Take
}

/// `curlew-io ....... FAILURE [  1.402 s]`.
fn module(rest: &str, line: &Line<'_>, report: &mut Report) {
    let Some((_, end)) = rest.part_at(" ..") else {
        return;
    };
    for (word, name) in [
        ("SUCCESS", "succeeded"),
        ("FAILURE", "failed"),
        ("SKIPPED", "skipped"),
    ] {
        if end.has(word) {
            report.tally("maven modules", &[(name, 1)], line);
        }
    }
}

/// `ReaderTest.readsHeader:22 expected: …` in the list.
fn list(rest: &str, line: &Line<'_>, report: &mut Report) {
    let name = rest.split([':', ' ']).next().unwrap_or(rest);
    let name = name.before("->");
    if let Some(test) = setup_of(rest, name, report) {
        report.repeat(&joined!["maven ", test], line.number);
    } else if !report.repeat(&joined!["maven ", name], line.number) {
        report.fail(
            Finding::new(Kind::Test, rest, line)
                .of(name)
                .known_as(joined!["maven ", name]),
        );
    }
}

/// A setup that failed is listed by its own name, `DbTest.open:10 …`: the test of its class that failed there.
fn setup_of(rest: &str, name: &str, report: &Report) -> Option<String> {
    let (row, _) = leading_number(rest.strip_prefix(name)?.strip_prefix(':')?)?;
    let (class, _) = name.halves(b'.')?;
    let mut tests = report
        .failures
        .iter()
        .filter(|failure| failure.location.as_ref().and_then(|place| place.line) == Some(row));
    let test = tests.find_map(|failure| {
        failure
            .subject
            .as_ref()
            .filter(|test| test.split('.').next() == Some(class))
    })?;
    (test != name).then(|| test.clone())
}

/// The closing words name a goal; for dependencies they are the only statement of the failure.
fn failed_goal(rest: &str, line: &Line<'_>, report: &mut Report) {
    let dependency = rest.has("Could not resolve dependencies") || rest.has("could not be resolved");
    if dependency {
        report.fail(Finding::new(Kind::Dependency, rest, line));
    } else {
        ended(rest, line, report);
    }
}

/// Maven's last word: where nothing else says what failed, this does.
fn ended(rest: &str, line: &Line<'_>, report: &mut Report) {
    let known = report
        .failures
        .iter()
        .any(|failure| failure.section == report.section);
    if known {
        report.cascade(line);
    } else {
        let said = rest.before(" -> [Help ");
        report.fail(Finding::new(Kind::Tool, said, line));
    }
}

/// `org.apache.maven.lifecycle.LifecycleExecutionException: Failed to execute goal …`.
fn is_own_exception(text: &str) -> bool {
    text.starts_with("org.apache.maven.") && text.before(": ").ends_with("Exception")
}

/// Neither help nor an empty line.
fn is_statement(rest: &str) -> bool {
    const HELP: &[&str] = &[
        "->",
        "[Help",
        "To see the full",
        "Re-run Maven",
        "For more information",
        "Please refer to",
        "After correcting",
        "mvn <",
        "COMPILATION ERROR",
        "See ",
    ];
    !rest.is_empty() && !HELP.iter().any(|start| rest.starts_with(start))
}

fn warning(rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
    if rest.is_empty() {
        return Step::Take;
    }
    let (location, message) =
        java_place(rest).map_or((None, rest), |(location, message)| (Some(location), message));
    let kind = message
        .strip_prefix('[')
        .and_then(|rest| rest.halves(b']'))
        .map_or("maven", |(kind, _)| kind);
    if let Some(rest) = rest.strip_prefix("Tests run:") {
        return tests_run(rest, false, line, report);
    }
    report.warn(kind, location, line);
    Step::Take
}
