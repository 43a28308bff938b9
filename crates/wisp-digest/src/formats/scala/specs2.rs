//! specs2's examples and `ScalaCheck`'s properties under sbt: `[error]   x name`, and what went wrong under it.

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, cut, has_extension, leading_number, number_before, place_at_start};
use crate::reader::Step;
use crate::report::{Finding, Report};

#[derive(Debug, Default)]
pub(super) struct Specs {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    indent: usize,
    said: bool,
    /// A property of `ScalaCheck`'s, whose arguments follow.
    property: bool,
}

impl Specs {
    /// Reads a line, without sbt's mark in `text`.
    pub(super) fn line(&mut self, text: &str, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(open) = &mut self.open {
            if open.takes(text, line) {
                return Some(Step::Hold);
            }
            self.close(report);
        }
        let (error, info) = (
            line.text.starts_with("[error] "),
            line.text.starts_with("[info] "),
        );
        if !error && !info {
            return None;
        }
        let body = text.trim_start_matches(' ');
        if info && body.starts_with("+ ") {
            return Some(Step::Take);
        }
        if info && sum(body, line, report) {
            return Some(Step::Take);
        }
        let property = body
            .strip_prefix("! ")
            .filter(|said| info && (said.has(": Falsified after ") || said.has(": Exception raised on ")));
        let example = body
            .strip_prefix("x ")
            .or_else(|| body.strip_prefix("! ").filter(|_| error));
        let name = cut(property.or(example)?, limits::QUOTE);
        report.failed(line);
        self.open = Some(Open {
            finding: Finding::new(Kind::Test, name, line).of(name).known_as(joined![
                "specs2 ",
                line.number,
                " ",
                name
            ]),
            indent: text.len() - body.len(),
            said: property.is_some(),
            property: property.is_some(),
        });
        Some(Step::Hold)
    }

    pub(super) fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            report.fail(open.finding);
        }
    }
}

impl Open {
    fn takes(&mut self, text: &str, line: &Line<'_>) -> bool {
        if self.property {
            let argument = line.text.starts_with("[info] > ");
            if argument {
                self.finding.add(line);
            }
            return argument;
        }
        let marked = line.text.starts_with("[error] ");
        let deeper = text.len() - text.trim_start_matches(' ').len() > self.indent;
        let goes_on = !line.text.starts_with('[') && self.said && line.indent() > 0;
        if (marked && deeper) || goes_on {
            let body = text.trim();
            self.finding.add(line);
            let (message, place) = body
                .strip_suffix(')')
                .and_then(|rest| rest.last_part_at(" ("))
                .map_or((body, None), |(message, place)| (message, Some(place)));
            let place = place.and_then(|place| Some(place_at_start(place)?.0));
            let place = place.filter(|place| has_extension(&place.path, &["scala", "java"]));
            if !std::mem::replace(&mut self.said, true) {
                let message = if place.is_some() { message } else { body };
                let title = joined![self.finding.title, ": ", message];
                self.finding.retitle(title);
            }
            self.finding.location = place.or(self.finding.location.take());
            return true;
        }
        // The frames of an exception.
        marked && self.said && text.ends_with(')') && text.contains(':') && !text.contains(' ')
    }
}

/// `4 examples, 2 failures, 1 error`.
fn sum(body: &str, line: &Line<'_>, report: &mut Report) -> bool {
    let examples = leading_number(body).filter(|(_, rest)| rest.starts_with(" example"));
    let Some((examples, rest)) = examples.filter(|(_, rest)| rest.has(" failure")) else {
        return false;
    };
    let number = |one: &str, many: &str| {
        number_before(rest, many)
            .or_else(|| number_before(rest, one))
            .unwrap_or(0)
    };
    let counts = [
        ("examples", examples),
        ("failures", number("failure", "failures")),
        ("errors", number("error", "errors")),
    ];
    report.tally("specs2", &counts, line);
    true
}
