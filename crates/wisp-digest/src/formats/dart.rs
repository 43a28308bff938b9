//! Dart and Flutter: their tests, their analyser, their compiler.
//!
//! Written in the form of the test runner's expanded reporter, of `dart analyze` and `flutter analyze`, and of the
//! front end's diagnostics, as the tools' own tests, their documentation and logs that users posted have them; none of
//! it was seen in a run of ours. The reporter that `dart test` chooses on GitHub is not read.

use crate::diag::{Level, missing_name, placed};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, has_extension, leading_number, place_at_start, quoted};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "dart",
    tools: "dart test, flutter test, dart analyze, flutter analyze, the Dart compiler",
    recognises: "failed tests with both sides and the first own frame, files that do not load, findings of the analyser, compile errors, the sums",
    version: "Dart 3, Flutter 3 (documentation and runs posted by their users)",
    triggers: &[
        "\n00:00 +",
        " [E]",
        "\nerror • ",
        "\nwarning • ",
        "\ninfo • ",
        ".dart:",
        "\nTarget kernel_snapshot",
        "Build process failed",
        "issue found.",
        "issues found",
    ],
    reader: || Box::<Dart>::default(),
};

#[derive(Debug, Default)]
struct Dart {
    /// Whether tests run.
    begun: bool,
    open: Option<Open>,
    /// What Flutter's frame around an exception says of the test that is named after it.
    said: Option<Open>,
    /// Whether that frame is open.
    inside: bool,
    /// How many lines have been printed since a test was named.
    printed: u32,
}

/// After so many lines of no test it is not known that tests still run.
const PRINTED: u32 = 10_000;

/// A failure of which more lines may come.
#[derive(Debug)]
struct Open {
    finding: Finding,
    /// The test's name; empty for an error of the compiler.
    name: String,
    stated: bool,
    framed: bool,
}

impl Reader for Dart {
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        if self.inside {
            self.boxed(line);
            return Some(Step::Lean);
        }
        if self.reads(line, report) {
            self.printed = 0;
        } else if self.begun && self.printed < PRINTED {
            self.printed += 1;
        } else {
            self.begun = false;
            return None;
        }
        Some(if self.leans() { Step::Lean } else { Step::Take })
    }

    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.reads(line, report) {
            return if self.leans() { Step::Lean } else { Step::Take };
        }
        if analysed(line, report) || issues(line, report) {
            return Step::Take;
        }
        let target =
            line.text.starts_with("Target kernel_snapshot") && line.text.ends_with(" failed: Exception");
        if target || line.text == "Error: Build process failed" {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Dart {
    fn leans(&self) -> bool {
        self.begun || self.open.is_some()
    }

    /// A line of the tests' or the compiler's.
    fn reads(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        if let Some(status) = Status::of(line.text) {
            self.status(&status, line, report);
            return true;
        }
        if self.begun && line.text.starts_with("══╡ EXCEPTION CAUGHT BY ") {
            self.close(report);
            self.inside = true;
            self.said = Some(Open::new("", line));
            return true;
        }
        if self.compiled(line, report) {
            return true;
        }
        let Some(open) = &mut self.open else { return false };
        if open.takes(line) {
            return true;
        }
        self.close(report);
        false
    }

    /// `00:01 +1 -1: test/gauge_test.dart: rises [E]`, `00:01 +1 -1: Some tests failed.`
    fn status(&mut self, status: &Status<'_>, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        self.begun = true;
        let over = ["Some tests failed.", "All tests passed!", "No tests ran."].contains(&status.rest);
        if over {
            report.set_tally("dart test", &status.counts, line);
            if status.rest.starts_with("All") {
                report.succeeded(line);
            } else {
                report.failed(line);
            }
            *self = Self::default();
        } else if let Some(name) = status.rest.strip_suffix(" [E]") {
            let mut open = Open::new(name, line);
            if let Some(said) = self.said.take().filter(|said| said.stated) {
                open.finding = said.finding;
                open.finding.subject = Some(name.to_owned());
                open.finding.retitle(joined![name, ": ", open.finding.title]);
                (open.stated, open.framed) = (true, true);
            }
            self.open = Some(open);
        }
    }

    /// What Flutter says of an exception in a frame, before it names the test.
    fn boxed(&mut self, line: &Line<'_>) {
        if line.text.starts_with("════") {
            self.inside = false;
            return;
        }
        let Some(said) = &mut self.said else { return };
        let body = line.body();
        if !said.stated {
            said.stated = !line.is_blank() && !body.starts_with("The following ");
            if said.stated {
                said.finding.lines = line.span();
                said.finding.retitle(body);
            }
        } else if let Some(place) = body.strip_prefix("file://").and_then(row) {
            said.finding.location = Some(place);
        } else if !said.framed {
            said.framed = line.is_blank();
            said.finding.add(line);
        }
    }

    /// `lib/main.dart:12:7: Error: Undefined name 'tide'.`, up to the caret under its source.
    fn compiled(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let indent = line.indent();
        let known = indent == 0 || indent == 2 && self.begun;
        let Some((place, level, message)) = placed(line.body()).filter(|_| known) else {
            return false;
        };
        if !has_extension(place.path, &["dart"]) {
            return false;
        }
        // That a file of tests does not load follows from it.
        let loading = |open: &Open| open.name.starts_with("loading ");
        self.open.take_if(|open| loading(open));
        self.close(report);
        if level == Level::Error {
            let mut open = Open::new("", line);
            open.finding = Finding::new(Kind::Compile, message, line)
                .at(place.location())
                .because(missing(message));
            open.stated = true;
            self.open = Some(open);
        } else if level == Level::Warning {
            report.warn_at("dart", Some(place), line);
        }
        true
    }

    fn close(&mut self, report: &mut Report) {
        let Some(mut open) = self.open.take() else { return };
        if open.finding.kind == Kind::Test && open.framed {
            // Tests that share a broken hook or helper fail at its place with its words.
            let place = open.finding.location.as_ref();
            open.finding.cause = place.map(|place| joined![place, " ", Quoted(&open.finding.explain)]);
        }
        report.fail(open.finding);
    }
}

impl Open {
    fn new(name: &str, line: &Line<'_>) -> Self {
        let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
            .of(name)
            .known_as(joined!["dart ", line.number]);
        Self {
            finding,
            name: name.to_owned(),
            stated: false,
            framed: false,
        }
    }

    fn takes(&mut self, line: &Line<'_>) -> bool {
        if self.finding.kind == Kind::Compile {
            let more = !line.is_blank() && !self.framed;
            self.framed |= line.body().starts_with('^');
            if more {
                self.finding.quote(line);
            }
            return more;
        }
        let body = line.body();
        if line.indent() < 2 {
            return line.is_blank();
        }
        if let Some(frame) = frame(body) {
            if !self.framed && !is_library(&frame.path) {
                self.finding.location = Some(frame);
                self.framed = true;
            }
        } else if !self.stated {
            self.stated = true;
            self.finding.lines = line.span();
            self.finding.retitle(joined![self.name, ": ", body]);
            self.finding.quote(line);
        } else if !self.framed {
            self.finding.quote(line);
        }
        true
    }
}

/// `00:01 +1 ~1 -1: ` and what follows it.
struct Status<'a> {
    counts: Vec<(&'static str, u64)>,
    rest: &'a str,
}

impl<'a> Status<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (_, rest) = leading_number(text)?;
        let (_, rest) = rest.strip_prefix(':').and_then(leading_number)?;
        let (passed, mut rest) = rest.strip_prefix(" +").and_then(leading_number)?;
        let mut counts = vec![("passed", passed)];
        for (mark, name) in [(" ~", "skipped"), (" -", "failed")] {
            if let Some((count, after)) = rest.strip_prefix(mark).and_then(leading_number) {
                counts.push((name, count));
                rest = after;
            }
        }
        let rest = rest.strip_prefix(": ")?;
        Some(Self { counts, rest })
    }
}

/// `test/gauge_test.dart 9:5        main.<fn>`
fn frame(body: &str) -> Option<Location> {
    let (path, rest) = body.halves(b' ')?;
    if !has_extension(path, &["dart"]) && !path.starts_with("dart:") && !path.starts_with("package:") {
        return None;
    }
    let (line, rest) = match leading_number(rest) {
        Some((line, rest)) => (Some(line), rest),
        None => (None, rest),
    };
    let column = rest.strip_prefix(':').and_then(leading_number);
    let bare = line.is_some() || body.has("  ");
    bare.then(|| Location {
        path: path.to_owned(),
        line,
        column: column.map(|(column, _)| column),
    })
}

/// Whether the frame is of Dart's own libraries or of those that run tests.
fn is_library(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "dart:",
        "package:matcher",
        "package:test/",
        "package:test_api/",
        "package:test_core/",
        "package:flutter/",
        "package:flutter_test/",
        "package:stack_trace/",
        "package:fake_async/",
        "package:mockito/",
        "package:mocktail/",
    ];
    NAMES.iter().any(|name| path.starts_with(name))
}

/// `/srv/build/wren/test/gauge_test.dart line 19`
fn row(text: &str) -> Option<Location> {
    let (path, line) = text.last_part_at(" line ")?;
    Some(Location {
        path: path.to_owned(),
        line: Some(line.parse().ok()?),
        column: None,
    })
}

/// `error • lib/main.dart:12:7 • Undefined name 'tide'. • undefined_identifier`; Flutter has the place after the message.
fn analysed(line: &Line<'_>, report: &mut Report) -> bool {
    let parts: Vec<&str> = line.body().splitn(9, " • ").collect();
    let [level @ ("error" | "warning" | "info"), inside @ .., code] = parts.as_slice() else {
        return false;
    };
    let place = |text: &str| {
        let (place, rest) = place_at_start(text)?;
        (rest.is_empty() && place.path.has(".")).then_some(place)
    };
    let Some(at) = inside.iter().position(|part| place(part).is_some()) else {
        return false;
    };
    let message = inside.iter().enumerate().find(|(each, _)| *each != at);
    let (Some(location), Some((_, message))) = (place(inside[at]), message) else {
        return false;
    };
    let finding = Finding::new(Kind::Lint, joined![*code, ": ", *message], line).at(location);
    if *level == "error" {
        report.fail(finding.because(missing(message)));
    } else {
        report.advise(code, finding, line);
    }
    true
}

/// `3 issues found. (ran in 10.7s)`, `No issues found!`
fn issues(line: &Line<'_>, report: &mut Report) -> bool {
    if line.text.starts_with("No issues found!") {
        report.succeeded(line);
        return true;
    }
    let counted = leading_number(line.text);
    let Some((count, _)) =
        counted.filter(|(_, rest)| rest.starts_with(" issue found.") || rest.starts_with(" issues found."))
    else {
        return false;
    };
    report.tally("dart analyze", &[("issues", count)], line);
    true
}

/// The key of the name that a message says is missing.
fn missing(message: &str) -> Option<String> {
    if message.has("isn't defined") || message.starts_with("Undefined name") {
        return quoted(message).map(|name| joined!["missing ", name]);
    }
    missing_name(message)
}
