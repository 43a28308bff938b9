//! Bazel: actions and tests that failed.
//!
//! Written from Bazel 7's documentation, and seen in runs of Bazel 5 to 8 that their users posted. An action's `ERROR: …
//! failed: (Exit 1)` reports what the compiler prints after it, and a test's `FAIL:` and its row report what its output
//! states, where the log has that. A package that cannot be loaded is told once more by each that asked for it.

use crate::digest::{Failure, Kind, Location, Span};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, between, has_extension, leading_number, place_at_start, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report, list};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "bazel",
    tools: "bazel build, bazel test",
    recognises: "failed tests and targets, errors of BUILD files; failed actions as consequences",
    version: "Bazel 5 to 8 (runs posted by their users)",
    triggers: &[
        "ERROR: ",
        "Target //",
        "INFO: ",
        "FAIL: //",
        "TIMEOUT: //",
        " Test output for //",
        "\n================================================================================",
        "FAILED in ",
        "TIMEOUT in ",
        "Build did NOT complete",
        "PASSED in ",
        "Executed ",
        "FAILED TO BUILD",
        "NO STATUS",
        "FLAKY, failed in ",
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
    trace: Option<Trace>,
    /// The error whose list of folders may follow.
    told: Option<String>,
}

/// A traceback of Starlark: the deepest place in it that is the person's own.
#[derive(Debug, Default)]
struct Trace {
    place: Option<Location>,
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
        let line = &Line {
            text: untimed(line.text),
            ..*line
        };
        let text = line.text;
        if self.trace.is_some() && self.traced(line, report) || self.listed(line, report) {
            return Step::Hold;
        }
        if states(text, "Build did NOT complete successfully") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if let Some(rest) = text.strip_prefix("ERROR: ") {
            return self.error(rest, line, report);
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
        if text.starts_with("INFO: ") {
            return if is_own_info(text) {
                Step::Take
            } else {
                Step::Common
            };
        }
        if text.starts_with("Executed ") && text.has(" tests") {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.settle(None, report);
    }
}

/// Whether it is what Bazel tells of its own course; `INFO: ` alone is how many tools begin a line.
fn is_own_info(text: &str) -> bool {
    const OWN: &[&str] = &[
        "Analyzed ",
        "Found ",
        "Elapsed time: ",
        "Build completed",
        "From ",
        "Invocation ID: ",
        "Repository ",
    ];
    let told = &text["INFO: ".len()..];
    OWN.iter().any(|start| told.starts_with(start)) && !told.starts_with("Found existing")
        || told.has(" processes: ")
        || told.has(" process: ")
}

/// The text without the time of `--show_timestamps`, `(10:14:07) `.
fn untimed(text: &str) -> &str {
    let time = text.strip_prefix('(').and_then(|rest| rest.part_at(") "));
    let is_time =
        |time: &str| time.len() == 8 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    time.filter(|(time, _)| is_time(time))
        .map_or(text, |(_, rest)| rest)
}

/// Beginnings of errors that only say that another one stopped what was asked for.
const CONSEQUENCES: &[&str] = &[
    "Analysis of target",
    "command succeeded, but",
    "package contains errors",
    "Error evaluating '",
    "Couldn't start the build",
];

/// Beginnings of errors that say why only where nothing has said so before.
const REPEATED: &[&str] = &[
    "Skipping '",
    "no such package '",
    "no such target '",
    "error loading package '",
];

/// A test is named when it fails and again at the end.
fn test(name: &str, how: &str, line: &Line<'_>, report: &mut Report) {
    let key = joined!["bazel ", name];
    if !report.repeat(&key, line.number) {
        report.failed(line);
        report.fail(
            Finding::new(Kind::Test, joined![name, " ", how], line)
                .of(name)
                .known_as(key),
        );
    }
}

impl Bazel {
    /// `/srv/src/BUILD:3:8: Compiling src/error.cc failed: (Exit 1): gcc failed: …`, errors of a BUILD file and of what
    /// was asked for.
    fn error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest.ends_with("Traceback (most recent call last):")
            || rest.starts_with("An error occurred during the fetch")
        {
            self.trace = Some(Trace::default());
            return Step::Hold;
        }
        let Some((location, message)) = place_at_start(rest).filter(|(place, _)| {
            place.path.has("BUILD")
                || has_extension(&place.path, &["bzl"])
                || place.path.has("WORKSPACE")
                || place.path.has("MODULE.bazel")
        }) else {
            return self.placeless(rest, line, report);
        };
        let message = message.trim_start_matches([':', ' ']);
        if message.has(" failed: (") {
            report.announce(line);
        } else if message.has(" which failed to fetch") && !report.failures.is_empty() {
            report.cascade(line);
        } else {
            report.fail(Finding::new(Kind::Configure, message, line).at(location));
        }
        Step::Take
    }

    fn placeless(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        let begins = |starts: &[&str]| starts.iter().any(|start| rest.starts_with(start));
        if begins(CONSEQUENCES) || (begins(REPEATED) && !report.failures.is_empty()) {
            report.cascade(line);
            return Step::Take;
        }
        if !begins(REPEATED) {
            return Step::Pass;
        }
        let asked = rest
            .strip_prefix("Skipping '")
            .and_then(|rest| rest.part_at("': "));
        let message = asked.map_or(rest, |(_, message)| message);
        let key = joined!["bazel ", message];
        report.failed(line);
        report.fail(Finding::new(Kind::Configure, message, line).known_as(key.as_str()));
        self.told = Some(key);
        Step::Hold
    }

    /// The folders looked in, ` - app/nope`.
    fn listed(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let Some(key) = &self.told else { return false };
        if !line.text.starts_with(" - ") {
            self.told = None;
            return false;
        }
        if let Some(failure) = report
            .known(key)
            .filter(|each| each.explain.len() < limits::EXPLAIN)
        {
            failure.lines.reach(line.number);
            failure.explain.push(line.quote());
        }
        true
    }

    /// A line of a traceback, up to the error that it ends in.
    fn traced(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let body = line.body();
        if let Some((trace, place)) = self.trace.as_mut().zip(frame(body)) {
            if !place.path.has("/external/") {
                trace.place = Some(place);
            }
            return true;
        }
        if line.indent() > 0 || body.starts_with("Traceback ") {
            return true;
        }
        let place = self.trace.take().and_then(|trace| trace.place);
        let ended = body.starts_with("Error in ") || body.starts_with("Error: ");
        if ended {
            let mut finding = Finding::new(Kind::Configure, body, line).known_as(joined!["bazel ", body]);
            finding.location = place;
            report.failed(line);
            report.fail(finding);
        }
        ended
    }

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
        let (name, rest) = line.text.halves(b' ').unwrap_or((line.text, ""));
        let verdict = rest.trim_start().past("(cached) ");
        for (word, count) in [
            ("PASSED", "passed"),
            ("FAILED TO BUILD", "not built"),
            ("FAILED", "failed"),
            ("TIMEOUT", "timed out"),
            ("NO STATUS", "no status"),
            ("FLAKY", "flaky"),
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

/// `File "/srv/WORKSPACE", line 26, column 17, in <toplevel>`.
fn frame(body: &str) -> Option<Location> {
    let path = between(body, "File \"", "\", line ")?;
    let (_, rest) = body.part_at("\", line ")?;
    let (line, rest) = leading_number(rest)?;
    Some(Location {
        path: path.to_owned(),
        line: Some(line),
        column: rest
            .strip_prefix(", column ")
            .and_then(leading_number)
            .map(|(column, _)| column),
    })
}

/// A line that reports a failure known by its place.
fn follow(failure: &mut Failure, line: u64) {
    failure.cascade += 1;
    list(&mut failure.cascade_lines, line);
}
