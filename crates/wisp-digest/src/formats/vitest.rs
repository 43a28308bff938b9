//! Vitest: ` FAIL  file > suite > test`, failed suites, the sums.
//!
//! Written from real runs of Vitest 3, 4 and 5. The tree above (`× name`) says the same first, without the place.

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::line::{Line, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "vitest",
    tools: "vitest",
    recognises: "failed tests and suites that do not load; the tree's lines are the same failures",
    version: "Vitest 5",
    triggers: &[
        " FAIL  ",
        " RUN  v",
        " DEV  v",
        " ↓ ",
        " × ",
        "\n→ ",
        "⎯⎯",
        "Test Files  ",
        "      Tests  ",
        "stderr | ",
        "stdout | ",
        "Unhandled Error",
        " ❯ ",
        " ✓ ",
        " □ ",
        "No test files found, exiting",
        "  Snapshots  ",
        "     Errors  ",
    ],
    reader: || Box::<Vitest>::default(),
};

#[derive(Debug, Default)]
struct Vitest {
    open: Option<(Finding, String, bool)>,
    /// What is read that states nothing.
    quiet: Quiet,
    crossed: bool,
    /// Whether Vitest has begun: others draw such trees too.
    begun: bool,
}

/// Lines that state nothing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Quiet {
    #[default]
    No,
    /// Output that a test printed.
    Printed,
    /// What stands before the errors that no test is blamed for.
    Uncaught,
}

impl Reader for Vitest {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        let failed = text.strip_prefix(" FAIL  ");
        if let Some(name) = failed.filter(|name| self.begun || name.has(" > ") || name.has(" [ ")) {
            self.close(report);
            self.open = Some((start(name, line), name.to_owned(), false));
            return Step::Hold;
        }
        if text.starts_with("⎯⎯") {
            self.close(report);
            return self.bar(text.trim_matches('⎯').trim(), line);
        }
        if text.starts_with("No test files found, exiting with code 1") {
            report.fail(Finding::new(Kind::Tool, text, line));
            return Step::Take;
        }
        if let Some(step) = sums(text, line, report) {
            self.close(report);
            return step;
        }
        if let Some((finding, name, stated)) = &mut self.open {
            inside(line, finding, name, stated);
            return Step::Hold;
        }
        if self.quiet == Quiet::Uncaught {
            return Step::Hold;
        }
        self.around(line)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

fn start(name: &str, line: &Line<'_>) -> Finding {
    let suite = name.has(" [ ");
    let subject = name.before(" [ ");
    let kind = if suite { Kind::Configure } else { Kind::Test };
    Finding::new(kind, subject, line)
        .of(subject)
        .known_as(joined!["vitest ", name])
}

fn inside(line: &Line<'_>, finding: &mut Finding, name: &str, stated: &mut bool) {
    let body = line.body();
    if let Some((location, _)) = body
        .strip_prefix("❯ ")
        .and_then(|rest| place_at_start(rest.rsplit(' ').next().unwrap_or(rest)))
    {
        if finding.location.is_none() && !location.path.has("node_modules") {
            finding.location = Some(location);
        }
        return;
    }
    if let Some(framed) = body.strip_prefix("╭─[ ").filter(|_| finding.location.is_none()) {
        finding.location = place_at_start(framed).map(|(location, _)| location);
    }
    if !*stated && !line.is_blank() {
        *stated = true;
        finding.lines = line.span();
        let subject = name.before(" [ ");
        finding.retitle(joined![subject, ": ", body]);
    } else if finding.title.ends_with(':') && !line.is_blank() {
        finding.retitle(joined![finding.title, " ", body]);
        finding.lines.reach(line.number);
    }
    finding.quote(line);
}

/// ` Test Files  2 failed | 1 passed (3)`.
fn sums(text: &str, line: &Line<'_>, report: &mut Report) -> Option<Step> {
    if text.starts_with("  Snapshots  ") {
        return Some(Step::Take);
    }
    if let Some((count, _)) = text.strip_prefix("     Errors  ").and_then(leading_number) {
        report.set_tally("vitest errors", &[("errors", count)], line);
        report.failed(line);
        return Some(Step::Take);
    }
    let (what, rest) = match (
        text.strip_prefix(" Test Files  "),
        text.strip_prefix("      Tests  "),
    ) {
        (Some(rest), _) => ("vitest files", rest),
        (_, Some(rest)) => ("vitest tests", rest),
        _ => return None,
    };
    let counts: Vec<(&str, u64)> = rest
        .split('|')
        .filter_map(|part| {
            leading_number(part.trim())
                .map(|(number, name)| (name.trim().split(' ').next().unwrap_or(""), number))
        })
        .filter(|(name, _)| !name.is_empty())
        .collect();
    report.set_tally(what, &counts, line);
    if counts
        .iter()
        .any(|(name, number)| *name == "failed" && *number > 0)
    {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    Some(Step::Take)
}

impl Vitest {
    /// `⎯⎯ Failed Tests 5 ⎯⎯`, `⎯⎯ Unhandled Errors ⎯⎯`, `⎯⎯ Uncaught Exception ⎯⎯`, or a bar between two failures.
    fn bar(&mut self, title: &str, line: &Line<'_>) -> Step {
        self.quiet = if title == "Unhandled Errors" {
            Quiet::Uncaught
        } else {
            Quiet::No
        };
        if ["Uncaught Exception", "Unhandled Rejection"].contains(&title) {
            let finding =
                Finding::new(Kind::Exception, title, line).known_as(joined!["vitest ", line.number]);
            self.open = Some((finding, title.to_owned(), false));
        }
        if self.quiet == Quiet::Uncaught || self.open.is_some() {
            Step::Hold
        } else {
            Step::Take
        }
    }

    /// The tree of verdicts and what tests print, none of which states a failure on its own.
    fn around(&mut self, line: &Line<'_>) -> Step {
        self.begun |= line.text.starts_with(" RUN  v") || line.text.starts_with(" DEV  v");
        if !self.begun {
            return Step::Pass;
        }
        let body = line.body();
        if self.quiet == Quiet::Printed && !line.is_blank() {
            return Step::Hold;
        }
        let printed = line.text.starts_with("stderr | ") || line.text.starts_with("stdout | ");
        self.quiet = if printed { Quiet::Printed } else { Quiet::No };
        if printed {
            return Step::Hold;
        }
        let tree = ["× ", "✓ ", "❯ ", "↓ ", "□ "]
            .iter()
            .any(|mark| body.starts_with(mark))
            && line.indent() > 0;
        let arrow = body.starts_with("→ ") && self.crossed;
        self.crossed = tree && body.starts_with('×') || arrow;
        if tree || arrow { Step::Take } else { Step::Pass }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some((mut finding, _, stated)) = self.open.take() {
            // Tests that share a broken hook or helper fail at its place with its words.
            finding.cause = finding
                .location
                .as_ref()
                .filter(|_| stated)
                .map(|place| joined![place, " ", Quoted(&finding.explain)]);
            report.fail(finding);
        }
    }
}
