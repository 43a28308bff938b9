//! Scala: the compiler's boxes, sbt's marks before them, and `ScalaTest`'s failed tests.
//!
//! Written from real runs of Scala 3.3's compiler; sbt 1.10, Scala 2.13 under it and `ScalaTest` 3.2 from documentation.
//! A plain `scalac` 2 writes as javac does and is read there.

use crate::diag::missing_name;
use crate::digest::Kind;
use crate::line::{Line, has_extension, leading_number, number_after, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "scala",
    tools: "scalac 3, sbt, ScalaTest",
    recognises: "errors with place and both types, warnings by kind, failed tests; sbt's reports as consequences",
    version: "Scala 3.3; sbt 1.10, ScalaTest 3.2 (documentation)",
    triggers: &[
        "-- [E",
        "-- Error: ",
        "-- Warning: ",
        " error found",
        " errors found",
        " warning found",
        " warnings found",
        "[error] ",
        "[success] Total time",
        "*** FAILED ***",
        " TEST FAILED ***",
        " TESTS FAILED ***",
        "Tests: succeeded ",
        "[info] - ",
    ],
    reader: || Box::<Scala>::default(),
};

#[derive(Debug, Default)]
struct Scala {
    open: Option<Open>,
    /// Whether anything of Scala's has been read: its sums are words of other tools too.
    known: bool,
}

#[derive(Debug)]
struct Open {
    /// None for a warning, which has been reported.
    finding: Option<Finding>,
    form: Form,
    /// How many lines of the message have been read; a box's begins after the caret.
    told: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Scala 3's, behind a margin.
    Box,
    /// Scala 2's under sbt: indented lines.
    Plain,
    /// `ScalaTest`'s: the message is the next line.
    Test,
}

impl Reader for Scala {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = unmarked(line.text);
        if self.open.as_mut().is_some_and(|open| open.takes(text, line)) {
            return Step::Hold;
        }
        self.close(report);
        if self.heading(text, line, report) || self.plain(text, line, report) || self.test(text, line, report)
        {
            self.known = true;
            return Step::Hold;
        }
        if self.sbt(text, line, report) {
            Step::Take
        } else {
            Step::Pass
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Scala {
    /// `-- [E007] Type Mismatch Error: Main.scala:2:19 ------`.
    fn heading(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let Some((name, place)) = text
            .strip_prefix("-- ")
            .and_then(|rest| rest.trim_end_matches('-').trim_end().rsplit_once(": "))
        else {
            return false;
        };
        let Some((place, "")) = place_at_start(place) else {
            return false;
        };
        let kind = name.split_once("] ").map_or(name, |(_, kind)| kind);
        let finding = if let Some(kind) = kind.strip_suffix("Warning") {
            let kind = kind.trim_end();
            report.warn(if kind.is_empty() { "scala" } else { kind }, Some(place), line);
            None
        } else if kind.ends_with("Error") {
            report.failed(line);
            Some(Finding::new(Kind::Compile, kind, line).at(place))
        } else {
            return false;
        };
        self.opens(finding, Form::Box);
        true
    }

    /// sbt's `[error] /srv/src/Main.scala:2:19: type mismatch;`.
    fn plain(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let Some((place, rest)) =
            place_at_start(text).filter(|(place, _)| has_extension(&place.path, &["scala", "sbt"]))
        else {
            return false;
        };
        let Some(message) = rest
            .strip_prefix(": ")
            .filter(|_| line.text.starts_with("[error] "))
        else {
            return false;
        };
        report.failed(line);
        let finding = Finding::new(Kind::Compile, message, line).at(place);
        self.opens(Some(finding.because(missing(message))), Form::Plain);
        true
    }

    /// `[info] - closes *** FAILED ***`.
    fn test(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let name = text
            .trim_start()
            .strip_prefix("- ")
            .and_then(|rest| rest.strip_suffix(" *** FAILED ***"));
        let Some(name) = name else { return false };
        report.failed(line);
        self.opens(Some(Finding::new(Kind::Test, name, line).of(name)), Form::Test);
        true
    }

    fn opens(&mut self, finding: Option<Finding>, form: Form) {
        let told = 0;
        self.open = Some(Open { finding, form, told });
    }

    /// Sums, and what sbt says of a task.
    fn sbt(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let marked = line.text.starts_with("[error] ");
        if line.text.starts_with("[success] Total time") {
            report.succeeded(line);
            return true;
        }
        let found = text.ends_with(" error found") || text.ends_with(" errors found");
        let task = marked
            && (text.starts_with("(Compile / ")
                || text.starts_with("(Test / ")
                || text.starts_with("Failed: Total "));
        let tests = text.starts_with("*** ") && text.ends_with(" FAILED ***");
        if (found && (self.known || marked)) || task || tests || (marked && text == "Failed tests:") {
            report.failed(line);
            report.cascade(line);
            return true;
        }
        if text.starts_with("Tests: succeeded ") {
            let counts = ["succeeded", "failed"].map(|word| (word, number_after(text, word).unwrap_or(0)));
            report.tally("scalatest", &counts, line);
            return true;
        }
        if line.text.starts_with("[info] - ") || marked && text.starts_with('\t') {
            return true;
        }
        let warned = text.ends_with(" warning found") || text.ends_with(" warnings found");
        (warned && self.known) || (marked && text.starts_with("Total time: "))
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take().and_then(|open| open.finding) {
            report.fail(finding);
        }
    }
}

impl Open {
    /// Whether the line is part of it.
    fn takes(&mut self, text: &str, line: &Line<'_>) -> bool {
        let said = match self.form {
            Form::Box => {
                let after = leading_number(text).map_or(text, |(_, rest)| rest).trim_start();
                let Some(said) = after.strip_prefix('|') else {
                    return text.starts_with("   ---");
                };
                said.trim()
            }
            Form::Plain => {
                if !line.text.starts_with("[error]  ") {
                    return false;
                }
                text.trim()
            }
            Form::Test => {
                let more = self.told == 0 && text.starts_with("  ");
                if !more {
                    return false;
                }
                text.trim()
            }
        };
        if let Some(finding) = &mut self.finding {
            let more = said.starts_with("longer explanation available");
            if !said.is_empty() && !more {
                finding.add(line);
            }
            let caret = !said.is_empty() && said.bytes().all(|byte| byte == b'^');
            if caret {
                self.told = 1;
            } else if self.told > 0 || self.form != Form::Box {
                self.told += 1;
                tell(finding, self.form, said);
            }
        }
        true
    }
}

/// Adds a line of the message to the title.
fn tell(finding: &mut Finding, form: Form, said: &str) {
    match form {
        Form::Test => {
            if let Some((message, place)) = said.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
                finding.location = place_at_start(place).map(|(place, _)| place);
                finding.retitle(&format!("{}: {message}", finding.title));
            } else {
                finding.retitle(&format!("{}: {said}", finding.title));
            }
        }
        Form::Plain if said.starts_with("found ") || said.starts_with("required:") => {
            finding.retitle(&format!("{} {said}", finding.title));
        }
        Form::Box if finding.title.ends_with("Error") && !said.is_empty() => {
            finding.retitle(&format!("{}: {said}", finding.title));
            finding.cause = missing(said);
        }
        Form::Box if said.starts_with("Required: ") => {
            finding.retitle(&format!("{} {said}", finding.title));
        }
        Form::Plain | Form::Box => {}
    }
}

/// `Not found: missing`, `not found: value missing`, `value missing is not a member of Int`.
fn missing(said: &str) -> Option<String> {
    let name = said
        .strip_prefix("Not found: ")
        .or_else(|| said.strip_prefix("not found: value "));
    name.map_or_else(|| missing_name(said), |name| Some(format!("missing {name}")))
}

/// The line without sbt's mark.
fn unmarked(text: &str) -> &str {
    ["[error] ", "[warn] ", "[info] "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text)
}
