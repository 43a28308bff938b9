//! Deno: `deno test`, `deno check`, `deno lint`.
//!
//! Written from real runs of Deno 2.9.6. The tree says which tests failed (`rises ... FAILED (4ms)`), the section
//! ` ERRORS ` why and where, ` FAILURES ` which once more. Where there is no such section, the tree counts. What a
//! program throws and does not catch is `node`'s, and the blocks of `deno lint`, which have rustc's form, are `rustc`'s.

use super::jest::own_frame;
use crate::diag::missing_name;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, leading_number, place_at_start};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "deno",
    tools: "deno test, deno check, deno lint",
    recognises: "failed tests and steps with message and place, modules that throw, TypeScript's errors, lints, the sums",
    version: "Deno 2.9",
    triggers: &[" from ./", "\nFound ", " [ERROR]: ", "No test modules found"],
    reader: || Box::<Deno>::default(),
};

#[derive(Debug, Default)]
struct Deno {
    part: Part,
    /// An error of a test or of the type checker.
    open: Option<Open>,
    /// Failures of the tree, until the section of errors tells them better.
    tree: Vec<Finding>,
}

/// Where in Deno's output the next line lies.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    /// The verdicts.
    Tree,
    /// What a test printed, between two marks.
    Printed,
    /// The section that says why.
    Errors,
    /// The section that says which again.
    Failures,
    /// After the sums, or between errors of the type checker.
    After,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    /// The test's name; none for an error of the type checker.
    name: Option<String>,
    stated: bool,
    framed: bool,
}

impl Reader for Deno {
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        match self.part {
            Part::Outside => None,
            Part::Tree => self.tree(line, report),
            Part::Printed => {
                if is_mark(line.text, "output end") {
                    self.part = Part::Tree;
                }
                Some(Step::Lean)
            }
            Part::Errors => Some(self.errors(line, report)),
            Part::Failures => self.failures(line, report),
            Part::After => self.after(line, report),
        }
    }

    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if self.part == Part::Tree {
            return Step::Lean;
        }
        if is_head(text) {
            self.part = Part::Tree;
            return Step::Lean;
        }
        if let Some(error) = checked(text) {
            self.open = Some(Open::checked(error, line));
            self.part = Part::After;
            return Step::Lean;
        }
        if let Some((problems, " problem" | " problems")) =
            text.strip_prefix("Found ").and_then(leading_number)
        {
            report.tally("deno lint", &[("problems", problems)], line);
            report.failed(line);
            return Step::Take;
        }
        if text == "error: No test modules found" {
            report.fail(Finding::new(Kind::Tool, text.past("error: "), line));
            return Step::Take;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        for finding in std::mem::take(&mut self.tree) {
            report.fail(finding);
        }
    }
}

impl Deno {
    /// `running 5 tests from ./gauge_test.ts`, `falls ... FAILED (3ms)`, marks around what a test prints.
    fn tree(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if is_mark(text, "output") {
            self.part = Part::Printed;
        } else if text == " ERRORS" {
            self.tree.clear();
            self.part = Part::Errors;
        } else if let Some(counts) = sums(text) {
            self.ends(&counts, line, report);
        } else if let Some(name) = text.part_at(" ... FAILED").map(|(name, _)| name.trim_start()) {
            if !text.has("(due to ") && self.tree.len() < limits::PENDING {
                let finding = Finding::new(Kind::Test, joined![name, " failed"], line).of(name);
                self.tree
                    .push(finding.known_as(joined!["deno tree ", line.number]));
            }
        } else {
            let other =
                is_head(text) || text.ends_with(" FAILED") || text.has(" ... ok (") || text.ends_with(" ...");
            return other.then_some(Step::Lean);
        }
        Some(Step::Lean)
    }

    /// `rises => ./gauge_test.ts:9:6`, `error: …`, the source, the frames.
    fn errors(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text == " FAILURES" {
            self.close(report);
            self.part = Part::Failures;
        } else if let Some((name, place)) = heading(text) {
            self.close(report);
            self.open = Some(Open::test(name, place, line));
        } else if let Some(counts) = sums(text) {
            self.close(report);
            self.ends(&counts, line, report);
        } else if let Some(open) = &mut self.open {
            open.line(line);
        }
        Step::Lean
    }

    fn failures(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(counts) = sums(line.text) {
            self.ends(&counts, line, report);
        } else if heading(line.text).is_some() {
            report.repeat(&joined!["deno ", line.text], line.number);
        } else if !line.is_blank() {
            self.part = Part::Outside;
            return None;
        }
        Some(Step::Lean)
    }

    /// `error: Test failed` after the sums; more errors of the type checker, and their sum.
    fn after(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if let Some(error) = checked(text) {
            self.close(report);
            self.open = Some(Open::checked(error, line));
            return Some(Step::Lean);
        }
        if let Some(open) = self.open.as_mut().filter(|_| !line.is_blank()) {
            open.line(line);
            if open.framed {
                self.close(report);
            }
            return Some(Step::Lean);
        }
        if let Some(errors) = text.strip_prefix("Found ").and_then(leading_number) {
            report.tally("deno check", &[("errors", errors.0)], line);
            report.failed(line);
            return Some(Step::Lean);
        }
        if text == "error: Test failed" || text == "error: Type checking failed." {
            report.failed(line);
            report.cascade(line);
            return Some(Step::Lean);
        }
        if line.is_blank() || text.starts_with("  info: The program failed type-checking") {
            return Some(Step::Lean);
        }
        self.close(report);
        self.part = Part::Outside;
        None
    }

    fn ends(&mut self, counts: &[(&str, u64)], line: &Line<'_>, report: &mut Report) {
        report.tally("deno test", counts, line);
        if line.text.starts_with("ok") {
            report.succeeded(line);
        } else {
            report.failed(line);
        }
        self.finish(report);
        self.part = Part::After;
    }

    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take().filter(|open| open.stated) else {
            return;
        };
        let mut finding = open.finding;
        if open.framed && finding.kind != Kind::Compile {
            // Tests that share a broken hook or helper fail at its place with its words.
            let place = finding.location.as_ref();
            finding.cause = place.map(|place| joined![place, " ", Quoted(&finding.explain)]);
        }
        report.fail(finding);
    }
}

impl Open {
    fn test(name: &str, place: Option<Location>, line: &Line<'_>) -> Self {
        let kind = if place.is_some() {
            Kind::Test
        } else {
            Kind::Configure
        };
        let mut finding = Finding::new(kind, name, line)
            .of(name)
            .known_as(joined!["deno ", line.text]);
        finding.location = place;
        Self {
            finding,
            name: Some(name.to_owned()),
            stated: false,
            framed: false,
        }
    }

    fn checked(message: &str, line: &Line<'_>) -> Self {
        let finding = Finding::new(Kind::Compile, message, line).because(missing_name(message));
        Self {
            finding,
            name: None,
            stated: true,
            framed: false,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        if let Some(place) = body
            .strip_prefix("at ")
            .filter(|_| line.indent() > 0)
            .and_then(own)
        {
            if !self.framed {
                self.finding.location = Some(place);
            }
            self.framed = true;
        } else if self.stated {
            let untold = self.finding.title.ends_with(':') && !line.is_blank() && !self.framed;
            if untold {
                self.finding.retitle(joined![self.finding.title, " ", body]);
                self.finding.lines.reach(line.number);
            } else if !self.framed {
                self.finding.quote(line);
            }
        } else if let Some((said, name)) = line.text.strip_prefix("error: ").zip(self.name.as_ref()) {
            self.stated = true;
            self.finding.lines = line.span();
            let said = said.past("(in promise) ");
            self.finding.retitle(joined![name, ": ", said]);
        }
    }
}

/// A frame outside of Deno's own code.
fn own(frame: &str) -> Option<Location> {
    own_frame(frame).filter(|place| !place.path.starts_with("ext:"))
}

/// `running 5 tests from ./gauge_test.ts`, `Uncaught error from ./gauge_test.ts FAILED`
fn is_head(text: &str) -> bool {
    let rest = text.strip_prefix("running ").and_then(leading_number);
    let tests = rest.is_some_and(|(_, rest)| rest.starts_with(" test") && rest.has(" from ./"));
    tests || text.starts_with("Uncaught error from ./")
}

/// `------- output -------`, `----- post-test output end -----`
fn is_mark(text: &str, name: &str) -> bool {
    let inside = text
        .strip_prefix("-----")
        .map(|text| text.trim_matches('-').trim());
    inside.is_some_and(|inside| inside == name || inside.strip_prefix("post-test ") == Some(name))
}

/// `tide ... throws => ./gauge_test.ts:17:11`, `./gauge_test.ts (uncaught error)`
fn heading(text: &str) -> Option<(&str, Option<Location>)> {
    if let Some(name) = text
        .strip_suffix(" (uncaught error)")
        .filter(|name| name.starts_with('.'))
    {
        return Some((name, None));
    }
    let (name, place) = text.last_part_at(" => ")?;
    let (place, rest) = place_at_start(place)?;
    rest.is_empty().then_some((name, Some(place)))
}

/// `FAILED | 2 passed (1 step) | 4 failed (1 step) | 1 ignored (404ms)`
fn sums(text: &str) -> Option<Vec<(&str, u64)>> {
    let rest = text
        .strip_prefix("FAILED | ")
        .or_else(|| text.strip_prefix("ok | "))?;
    rest.split(" | ")
        .map(|part| {
            let (number, name) = leading_number(part)?;
            let name = name.trim_start().split(' ').next()?;
            ["passed", "failed", "ignored", "measured", "filtered"]
                .contains(&name)
                .then_some((name, number))
        })
        .collect()
}

/// `TS2304 [ERROR]: Cannot find name 'tide'.`
fn checked(text: &str) -> Option<&str> {
    let (code, message) = text.part_at(" [ERROR]: ")?;
    let number = code.strip_prefix("TS")?;
    let known = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    known.then_some(message)
}
