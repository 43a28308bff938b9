//! `PHPUnit`, and what PHP itself says when a script dies.
//!
//! Written from real runs of `PHPUnit` 11.5 on PHP 8.4, and 9.6 with `--testdox`. Only what stands under `There was 1
//! error:` and `There were 2 failures:` has failed; risky, skipped and incomplete tests are listed in the same form.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, has_extension, leading_number, place, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "php",
    tools: "phpunit, php",
    recognises: "failed tests and errors with the innermost cause, message and place, the sum; fatal and parse errors of scripts",
    version: "PHPUnit 11.5, PHP 8.4",
    triggers: &[
        "PHPUnit ",
        "There was ",
        "There were ",
        "FAILURES!",
        "ERRORS!",
        "\nOK (",
        "OK, but ",
        ", Assertions: ",
        "PHP Fatal error: ",
        "PHP Parse error: ",
        "Fatal error: Uncaught ",
        "Errors parsing ",
        " ✘ ",
    ],
    reader: || Box::<Php>::default(),
};

#[derive(Debug, Default)]
struct Php {
    part: Part,
    open: Option<Open>,
    /// A script's death, whose place comes at the end of its trace.
    fatal: Option<Finding>,
    /// The class whose tests `--testdox` lists, and those of them that failed, until a list tells them better.
    class: String,
    tree: Vec<Finding>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Outside,
    /// The tests run, and print what they like.
    Running,
    /// Under the heading of errors or failures.
    Failed,
    /// Under another heading.
    Listed,
}

/// A failed test: its message, its places, its causes.
#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    surfaced: Option<(u64, String)>,
    stated: bool,
    /// After `Caused by`: the next line is the cause.
    caused: bool,
}

impl Reader for Php {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(mut finding) = self.fatal.take() {
            let trace = line.text == "Stack trace:" || line.text.starts_with('#') || line.is_blank();
            let thrown = line.body().strip_prefix("thrown in ");
            finding.location = thrown.and_then(on_line).or(finding.location);
            if trace {
                self.fatal = Some(finding);
                return Step::Hold;
            }
            report.fail(finding);
            if thrown.is_some() {
                return Step::Take;
            }
        }
        if let Some(step) = self.marks(line, report) {
            return step;
        }
        if let Some(step) = self.died(line, report) {
            return step;
        }
        self.inside(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.tree(report);
        if let Some(finding) = self.fatal.take() {
            report.fail(finding);
        }
    }
}

impl Php {
    /// The runner's own lines.
    fn marks(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if text.starts_with("PHPUnit ") && text.has(" by Sebastian Bergmann") {
            self.part = Part::Running;
            return Some(Step::Lean);
        }
        let listed = text
            .strip_prefix("There was ")
            .or_else(|| text.strip_prefix("There were "));
        if let Some((_, what)) = listed.and_then(leading_number).filter(|_| text.ends_with(':')) {
            self.close(report);
            let failed = matches!(what, " error:" | " errors:" | " failure:" | " failures:");
            if failed {
                self.tree.clear();
            }
            self.part = if failed { Part::Failed } else { Part::Listed };
            return Some(Step::Hold);
        }
        if text == "FAILURES!" || text == "ERRORS!" {
            self.close(report);
            self.tree(report);
            self.part = Part::Outside;
            report.failed(line);
            return Some(Step::Take);
        }
        let sum = counts(text);
        if sum.is_empty() && !text.starts_with("OK, but ") {
            return None;
        }
        self.close(report);
        self.part = Part::Outside;
        if !sum.is_empty() {
            report.set_tally("phpunit", &sum, line);
        }
        if sum
            .iter()
            .all(|(name, number)| !matches!(*name, "errors" | "failures") || *number == 0)
        {
            report.succeeded(line);
        }
        Some(Step::Take)
    }

    /// `PHP Fatal error:  Uncaught Error: text in /srv/y.php:2`, `PHP Parse error:  text in x.php on line 3`.
    fn died(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if line.text.starts_with("Errors parsing ") {
            report.failed(line);
            report.cascade(line);
            return Some(Step::Take);
        }
        let text = line.text.strip_prefix("PHP ").unwrap_or(line.text);
        let parse = text.strip_prefix("Parse error: ");
        let said = parse.or_else(|| text.strip_prefix("Fatal error: "))?.trim_start();
        if parse.is_none() && !said.starts_with("Uncaught ") && text.len() == line.text.len() {
            return None;
        }
        let (message, place) = said.last_part_at(" in ").unwrap_or((said, ""));
        let kind = if parse.is_some() {
            Kind::Compile
        } else {
            Kind::Crash
        };
        let mut finding = Finding::new(kind, message, line).known_as(joined!["php ", message]);
        finding.location = on_line(place).or_else(|| place_at_start(place).map(|(location, _)| location));
        report.failed(line);
        if message.starts_with("Uncaught ") {
            self.fatal = Some(finding);
            return Some(Step::Hold);
        }
        report.fail(finding);
        Some(Step::Take)
    }

    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        match self.part {
            Part::Outside => Step::Pass,
            Part::Running => self.testdox(line, report),
            Part::Listed => Step::Hold,
            Part::Failed => {
                let header = leading_number(line.text).and_then(|(_, rest)| rest.strip_prefix(") "));
                if let Some(name) = header.filter(|name| name.has("::")) {
                    self.close(report);
                    self.open = Some(Open::new(name, line));
                } else if let Some(open) = &mut self.open {
                    open.line(line);
                }
                Step::Hold
            }
        }
    }

    /// `--testdox`: ` ✘ Equal` under its class, with its message behind a margin.
    fn testdox(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if let Some(text) = line.text.strip_prefix("   │") {
                let text = text.strip_prefix(' ').unwrap_or(text);
                open.line(&Line { text, ..*line });
                return Step::Hold;
            }
            if line.is_blank() {
                return Step::Hold;
            }
            self.close(report);
        }
        if let Some(test) = line.text.strip_prefix(" ✘ ") {
            self.open = Some(Open::new(&joined![self.class, ": ", test], line));
            return Step::Hold;
        }
        if line.indent() == 0 && !line.is_blank() {
            line.text.clone_into(&mut self.class);
        }
        Step::Lean
    }

    fn close(&mut self, report: &mut Report) {
        let Some(open) = self.open.take() else { return };
        let finding = open.close();
        if self.part == Part::Running && self.tree.len() < crate::limits::PENDING {
            self.tree.push(finding);
        } else {
            report.fail(finding);
        }
    }

    /// Reports what only the tree has told.
    fn tree(&mut self, report: &mut Report) {
        for finding in std::mem::take(&mut self.tree) {
            report.fail(finding);
        }
    }
}

impl Open {
    fn new(name: &str, line: &Line<'_>) -> Self {
        let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
            .of(name)
            .known_as(joined!["phpunit ", name, " ", line.number]);
        Self {
            finding,
            name: name.to_owned(),
            surfaced: None,
            stated: false,
            caused: false,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let text = line.text;
        if line.is_blank() || text == "--" {
            return;
        }
        if let Some((place, "")) = place(text).filter(|(place, _)| has_extension(place.path, &["php"])) {
            let own = !place.path.has("/vendor/");
            if own && self.finding.location.is_none() {
                self.finding.location = Some(place.location());
            }
        } else if text == "Caused by" {
            self.caused = true;
        } else if !self.stated || std::mem::take(&mut self.caused) {
            self.state(line);
        } else {
            self.finding.quote(line);
        }
    }

    /// The message, or that of a cause, which is then the root.
    fn state(&mut self, line: &Line<'_>) {
        if self.stated && self.surfaced.is_none() {
            let told = self.finding.title.strip_prefix(&self.name).unwrap_or("");
            self.surfaced = Some((self.finding.lines.first, told.past(": ").to_owned()));
        }
        if self.stated {
            self.finding.location = None;
        }
        self.stated = true;
        self.finding.lines = line.span();
        self.finding.retitle(joined![self.name, ": ", line.text]);
        self.finding.quote(line);
    }

    fn close(self) -> Finding {
        let mut finding = self.finding;
        // Tests that share a broken setup fail at its place with its words.
        let told = finding.title.strip_prefix(&self.name).unwrap_or("");
        finding.cause = finding
            .location
            .as_ref()
            .map(|place| joined![place, " ", told, " ", Quoted(&finding.explain)]);
        if let Some((at, surfaced)) = self.surfaced {
            finding.retitle(joined![finding.title, " (surfaced as ", surfaced, ", L", at, ")"]);
        }
        finding
    }
}

/// `/srv/y.php on line 2`.
fn on_line(text: &str) -> Option<Location> {
    let (path, row) = text.last_part_at(" on line ")?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    })
}

/// `OK (12 tests, 30 assertions)` and `Tests: 11, Assertions: 5, Errors: 3, Failures: 2.`
fn counts(text: &str) -> Vec<(&'static str, u64)> {
    const NAMES: &[&str] = &[
        "tests",
        "assertions",
        "errors",
        "failures",
        "warnings",
        "deprecations",
        "notices",
        "skipped",
        "incomplete",
        "risky",
    ];
    let passed = text.strip_prefix("OK (").filter(|rest| rest.has(" assertion"));
    if let Some(rest) = passed {
        let mut numbers = rest
            .split(", ")
            .filter_map(leading_number)
            .map(|(number, _)| number);
        return NAMES[..2]
            .iter()
            .filter_map(|name| Some((*name, numbers.next()?)))
            .collect();
    }
    let Some(rest) = text
        .strip_prefix("Tests: ")
        .filter(|rest| rest.has(", Assertions: "))
    else {
        return Vec::new();
    };
    let first = rest.split(", ").next().and_then(leading_number);
    let others = rest.split(", ").skip(1).filter_map(|part| part.part_at(": "));
    let numbered = others.filter_map(|(name, number)| {
        let known = NAMES.iter().find(|known| known.eq_ignore_ascii_case(name))?;
        Some((*known, leading_number(number)?.0))
    });
    first
        .map(|(number, _)| ("tests", number))
        .into_iter()
        .chain(numbered)
        .collect()
}
