//! make: `*** [Makefile:7: x.o] Error 1` reports what a recipe said; what make itself cannot do is a root.
//!
//! Written from real runs of GNU make 4.3; BSD make from documentation.

use crate::digest::Kind;
use crate::find::Find;
use crate::line::{Line, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "make",
    tools: "GNU make, BSD make",
    recognises: "failed recipes as consequences; missing rules and makefile errors as causes",
    version: "GNU make 4.3",
    triggers: &["make: ", "make[", "gmake", ": *** ", "mingw32-make"],
    reader: || Box::new(Make),
};

#[derive(Debug)]
struct Make;

impl Reader for Make {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let Some(rest) = after_name(line.text) else {
            return makefile_error(line, report);
        };
        if let Some(message) = rest.strip_prefix("*** ") {
            return stop(message, line, report);
        }
        if rest.starts_with("Target '") || rest.starts_with("Target `") || rest.has("stopped in ") {
            report.cascade(line);
            return Step::Take;
        }
        let known = [
            "Entering directory",
            "Leaving directory",
            "warning:",
            "Nothing to be done",
            "'",
            "`",
        ];
        if known.iter().any(|start| rest.starts_with(start))
            || rest.has("Clock skew")
            || rest.has("(ignored)")
        {
            return Step::Take;
        }
        Step::Pass
    }
}

/// The text after `make: ` or `make[1]: `.
fn after_name(text: &str) -> Option<&str> {
    let rest = ["make", "gmake", "mingw32-make"]
        .iter()
        .find_map(|name| text.strip_prefix(name))?;
    let rest = match rest.strip_prefix('[') {
        Some(level) => level.halves(b']')?.1,
        None => rest,
    };
    rest.strip_prefix(": ")
}

fn stop(message: &str, line: &Line<'_>, report: &mut Report) -> Step {
    if message.starts_with("Waiting for unfinished jobs") {
        return Step::Take;
    }
    if message.starts_with('[') {
        report.failed(line);
        if message.has(" Killed") || message.has("Segmentation fault") {
            report.fail(Finding::new(Kind::Crash, message, line));
        } else {
            report.cascade(line);
        }
        return Step::Take;
    }
    report.failed(line);
    report.fail(Finding::new(Kind::Configure, message, line));
    Step::Take
}

/// `Makefile:12: *** missing separator.  Stop.`
fn makefile_error(line: &Line<'_>, report: &mut Report) -> Step {
    let Some((place, rest)) = place(line.text) else {
        return Step::Pass;
    };
    let Some(message) = rest.strip_prefix(": *** ") else {
        return Step::Pass;
    };
    report.failed(line);
    report.fail(Finding::new(Kind::Configure, message, line).at(place.location()));
    Step::Take
}
