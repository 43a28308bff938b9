//! Scala: the compiler's boxes, sbt's marks before them, and `ScalaTest`'s failed tests.
//!
//! Written from real runs of Scala 3.3's compiler; sbt 1, Scala 2.12 and 2.13 under it, `ScalaTest` 3, munit, specs2
//! and `ScalaCheck` seen in runs that their users posted. A plain `scalac` 2 writes as javac does and is read there.

mod specs2;

use self::specs2::Specs;
use crate::diag::missing_name;
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number, number_after, place, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "scala",
    tools: "scalac 3, sbt, ScalaTest, munit, specs2, ScalaCheck",
    recognises: "errors with place and both types, warnings by kind, failed tests; sbt's reports as consequences",
    version: "Scala 3.3; sbt 1, ScalaTest 3, munit, specs2 (runs posted by their users)",
    triggers: &[
        "-- [E",
        "-- Error: ",
        "-- Warning: ",
        " error found",
        " errors found",
        " warning found",
        " warnings found",
        "[error] ",
        "[warn] /",
        "[success] Total time",
        "*** FAILED ***",
        "*** ABORTED ***",
        " ABORTED ***",
        "==> X ",
        "Project loading failed: ",
        " TEST FAILED ***",
        " TESTS FAILED ***",
        "Tests: succeeded ",
        "[info] - ",
        "[info]   - ",
        "[info]     - ",
        "[info] + ",
        "[info]   + ",
        "[info]     + ",
        "[info] x ",
        "[info] ! ",
        " example, ",
        " examples, ",
    ],
    reader: || Box::<Scala>::default(),
};

#[derive(Debug, Default)]
struct Scala {
    open: Option<Open>,
    /// Exceptions of which no task has said yet that it ended in them: a program's own are printed so too.
    thrown: Vec<Finding>,
    /// Whether anything of Scala's has been read: its sums are words of other tools too.
    known: bool,
    specs: Specs,
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
    /// munit's: the source, and the message after it.
    Munit,
    /// An exception that a task of sbt's ended in: what it says more, and its frames.
    Thrown,
    /// An exception that may be one.
    Printed,
}

/// What sbt says of a task when the cause has been told.
const REPORTS: &[&str] = &["Compilation failed", "sbt.TestsFailedException: "];

impl Reader for Scala {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = unmarked(line.text);
        if self.open.as_mut().is_some_and(|open| open.takes(text, line)) {
            return Step::Hold;
        }
        self.close(report);
        if let Some(step) = self.specs.line(text, line, report) {
            return step;
        }
        let opens = self.heading(text, line, report)
            || self.plain(text, line, report)
            || self.test(text, line, report)
            || self.thrown(text, line, report);
        if opens {
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
        self.specs.close(report);
        for finding in self.thrown.drain(..) {
            let text = joined!["[error] ", finding.title];
            let number = finding.lines.first;
            report.unclaimed(&Line { number, text: &text });
        }
    }
}

impl Scala {
    /// `-- [E007] Type Mismatch Error: Main.scala:2:19 ------`.
    fn heading(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        let Some((name, place)) = text
            .strip_prefix("-- ")
            .and_then(|rest| rest.trim_end_matches('-').trim_end().last_part_at(": "))
        else {
            return false;
        };
        let Some((place, "")) = place_at_start(place) else {
            return false;
        };
        let kind = name.part_at("] ").map_or(name, |(_, kind)| kind);
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
            place(text).filter(|(place, _)| has_extension(place.path, &["scala", "sbt"]))
        else {
            return false;
        };
        let Some(message) = rest.strip_prefix(": ") else {
            return false;
        };
        let place = place.location();
        if line.text.starts_with("[warn] ") {
            report.warn("scala", Some(place), line);
            self.opens(None, Form::Plain);
            return true;
        }
        if !line.text.starts_with("[error] ") {
            return false;
        }
        report.failed(line);
        let finding = Finding::new(Kind::Compile, message, line).at(place);
        self.opens(Some(finding.because(missing(message))), Form::Plain);
        true
    }

    /// `[info] - closes *** FAILED ***`, with the time it took behind it, and munit's `==> X Suite.closes  0.003s …`.
    fn test(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        if let Some(finding) = munit(text, line) {
            report.failed(line);
            self.opens(Some(finding), Form::Munit);
            return true;
        }
        let text = text.trim_start();
        let name = text
            .strip_prefix("- ")
            .and_then(|rest| Some(rest.part_at(" *** FAILED ***")?.0))
            .or_else(|| text.strip_suffix(" *** ABORTED ***"));
        let Some(name) = name else { return false };
        report.failed(line);
        self.opens(Some(Finding::new(Kind::Test, name, line).of(name)), Form::Test);
        true
    }

    /// `[error] sbt.librarymanagement.ResolveException: Error downloading …`, and the same said of its task.
    fn thrown(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> bool {
        if !line.text.starts_with("[error] ") {
            return false;
        }
        let of_task = task(text).map(|(_, said)| said);
        let said = of_task.unwrap_or(text);
        let (name, message) = said.part_at(": ").unwrap_or((said, ""));
        let is_name = !name.contains(' ') && name.contains('.');
        let thrown = is_name && (name.ends_with("Exception") || name.ends_with("Error"));
        if !thrown || message.is_empty() || REPORTS.iter().any(|start| said.starts_with(start)) {
            return false;
        }
        let kind = if name.ends_with("ResolveException") {
            Kind::Dependency
        } else {
            Kind::Exception
        };
        let finding = Finding::new(kind, said, line).known_as(joined!["sbt ", said]);
        if of_task.is_some() {
            report.failed(line);
            let known = self.thrown.iter().position(|other| other.title == finding.title);
            if let Some(at) = known {
                report.fail(self.thrown.swap_remove(at));
            }
        }
        self.opens(
            Some(finding),
            if of_task.is_some() {
                Form::Thrown
            } else {
                Form::Printed
            },
        );
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
            && (task(text).is_some()
                || text.starts_with("Failed: Total ")
                || text.starts_with("Error: Total ")
                || text.starts_with("No warnings can be incurred under "));
        let tests =
            text.starts_with("*** ") && (text.ends_with(" FAILED ***") || text.ends_with(" ABORTED ***"));
        let heads = marked && (text == "Failed tests:" || text == "Error during tests:");
        let loading = line.text.starts_with("Project loading failed: ");
        if (found && (self.known || marked)) || task || tests || heads || loading {
            report.failed(line);
            report.cascade(line);
            return true;
        }
        if text.starts_with("Tests: succeeded ") {
            let counts = ["succeeded", "failed"].map(|word| (word, number_after(text, word).unwrap_or(0)));
            report.tally("scalatest", &counts, line);
            return true;
        }
        let passed = line.text.starts_with("[info] ") && text.trim_start().starts_with("- ");
        if passed || marked && text.starts_with('\t') {
            return true;
        }
        let warned = text.ends_with(" warning found") || text.ends_with(" warnings found");
        (warned && self.known) || (marked && text.starts_with("Total time: "))
    }

    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        match open.finding {
            Some(finding) if open.form == Form::Printed && self.thrown.len() < crate::limits::LISTED => {
                self.thrown.push(finding);
            }
            Some(finding) => report.fail(finding),
            None => {}
        }
    }
}

/// Lines of munit's message and the source before it.
const MOST: u32 = 40;

/// More lines than a message and its source have in Scala 2's form.
const ENDED: u32 = 7;

impl Open {
    /// What a line of an exception says more: nothing when it is a frame, none when it is another's.
    fn more<'a>(&self, text: &'a str, line: &Line<'_>) -> Option<&'a str> {
        let frame = text.trim_start().starts_with("at ");
        let own = if self.form == Form::Munit {
            let begins = ["==> ", "  + "].iter().any(|start| text.starts_with(start));
            frame || !(line.text.starts_with('[') || begins || self.told > MOST)
        } else {
            let under = ["  ", "\t", "Caused by: "]
                .iter()
                .any(|start| text.starts_with(start));
            line.text.starts_with("[error] ") && under
        };
        own.then(|| if frame { "" } else { text.trim() })
    }

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
            // The source ends with the caret under it.
            Form::Plain => {
                let mark = if self.finding.is_some() {
                    "[error] "
                } else {
                    "[warn] "
                };
                if self.told >= ENDED || !line.text.starts_with(mark) || place(text).is_some() {
                    return false;
                }
                text.trim()
            }
            Form::Test => {
                let said = text.trim();
                let place = said.starts_with("Location: (") || said.starts_with("at ");
                if !text.starts_with("  ") || (self.told > 0 && said.starts_with("- ")) {
                    return false;
                }
                if self.told > 0 && !place {
                    self.told += 1;
                    return true;
                }
                said
            }
            Form::Munit | Form::Thrown | Form::Printed => match self.more(text, line) {
                Some("") => return true,
                Some(said) => said,
                None => return false,
            },
        };
        let more = said.starts_with("longer explanation available");
        if let Some(finding) = self.finding.as_mut().filter(|_| !said.is_empty() && !more) {
            finding.add(line);
        }
        let caret = !said.is_empty() && said.bytes().all(|byte| byte == b'^');
        if caret {
            self.told = if self.form == Form::Plain { ENDED } else { 1 };
        } else if self.told > 0 || self.form != Form::Box {
            self.told += 1;
            if let Some(finding) = &mut self.finding {
                tell(finding, self.form, said);
            }
        }
        true
    }
}

/// Adds a line of the message to the title.
fn tell(finding: &mut Finding, form: Form, said: &str) {
    match form {
        Form::Test if said.starts_with("Location: (") => {
            let place = said.past("Location: (").trim_end_matches(')');
            finding.location = place_at_start(place).map(|(place, _)| place);
        }
        Form::Test if said.starts_with("at ") => {
            let place = said
                .halves(b'(')
                .map_or("", |(_, place)| place.trim_end_matches(')'));
            finding.location = finding
                .location
                .take()
                .or(place_at_start(place).map(|(place, _)| place));
        }
        Form::Munit if finding.title.ends_with("Exception") && is_told(said) => {
            let name = finding.subject.clone().unwrap_or_default();
            finding.retitle(joined![name, ": ", said]);
        }
        Form::Test => {
            if let Some((message, place)) = said.strip_suffix(')').and_then(|rest| rest.last_part_at(" (")) {
                finding.location = place_at_start(place).map(|(place, _)| place);
                finding.retitle(joined![finding.title, ": ", message]);
            } else {
                finding.retitle(joined![finding.title, ": ", said]);
            }
        }
        Form::Plain if said.starts_with("found ") || said.starts_with("required:") => {
            finding.retitle(joined![finding.title, " ", said]);
        }
        Form::Box if finding.title.ends_with("Error") && !said.is_empty() => {
            finding.retitle(joined![finding.title, ": ", said]);
            finding.cause = missing(said);
        }
        Form::Box if said.starts_with("Required: ") => {
            finding.retitle(joined![finding.title, " ", said]);
        }
        Form::Plain | Form::Box | Form::Munit | Form::Thrown | Form::Printed => {}
    }
}

/// Not a row of the source, `20:      assertEquals(a, b)`.
fn is_told(said: &str) -> bool {
    !said.is_empty() && leading_number(said).is_none_or(|(_, rest)| !rest.starts_with(':'))
}

/// munit's `==> X Suite.name  0.003s munit.ComparisonFailException: /srv/Suite.scala:20`.
fn munit(text: &str, line: &Line<'_>) -> Option<Finding> {
    let (timed, thrown) = text.strip_prefix("==> X ")?.part_at("s munit.")?;
    let name = timed.last_part_at("  ").map_or(timed, |(name, _)| name);
    let (kind, place) = thrown.part_at(": ").unwrap_or((thrown, ""));
    let (location, message) = place_at_start(place)?;
    let message = Some(message.trim())
        .filter(|message| !message.is_empty())
        .unwrap_or(kind);
    let finding = Finding::new(Kind::Test, joined![name, ": ", message], line).of(name);
    Some(finding.at(location))
}

/// sbt's `(Test / test) said`.
fn task(text: &str) -> Option<(&str, &str)> {
    let (task, said) = text.strip_prefix('(')?.part_at(") ")?;
    let named = !task.is_empty()
        && task
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" /-_.:".contains(&byte));
    named.then_some((task, said))
}

/// `Not found: missing`, `not found: value missing`, `value missing is not a member of Int`.
fn missing(said: &str) -> Option<String> {
    let name = said
        .strip_prefix("Not found: ")
        .or_else(|| said.strip_prefix("not found: value "));
    name.map_or_else(|| missing_name(said), |name| Some(joined!["missing ", name]))
}

/// The line without sbt's mark.
fn unmarked(text: &str) -> &str {
    ["[error] ", "[warn] ", "[info] "]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))
        .unwrap_or(text)
}
