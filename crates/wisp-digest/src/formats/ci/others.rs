//! The words of other runners: Jenkins, Travis, `CircleCI`, Buildkite and fastlane.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, cut, leading_number};
use crate::reader::Step;
use crate::report::{Finding, Report};

/// How a runner begins to say that what it ran ended in error.
const ENDED: &[&str] = &[
    "ERROR: script returned exit code ",
    "Finished: FAILURE",
    "Finished: UNSTABLE",
    "Finished: ABORTED",
    "Done. Your build exited with ",
    "Exited with code ",
    "🚨 Error: The command exited with status ",
    "user command error: exit status ",
    "Exit status: ",
    "fastlane finished with errors",
    "[!] Exit status of command '",
    "org.codehaus.groovy.control.MultipleCompilationErrorsException: startup failed",
];

/// Reads a line of one of them; none when it is another's.
pub(super) fn read(line: &Line<'_>, report: &mut Report) -> Option<Step> {
    let text = line.text;
    if let Some(rest) = text.strip_prefix("[Pipeline] ") {
        pipeline(rest, line, report);
        return Some(Step::Take);
    }
    let travis = text.starts_with("The command \"") && text.has("\" exited with ") && text.ends_with('.');
    let fastlane = text.ends_with(" - see the log above")
        || (text.has("fastlane: [!] Shell command exited with exit status ") && text.has(" instead of "));
    if text == "Exit status: 0" {
        return Some(Step::Take);
    }
    if travis || fastlane || ENDED.iter().any(|start| text.starts_with(start)) {
        report.failed(line);
        report.announce(line);
        return Some(Step::Take);
    }
    if text == "Finished: SUCCESS" {
        report.succeeded(line);
        return Some(Step::Take);
    }
    if text.starts_with("Stage \"") && text.ends_with("skipped due to earlier failure(s)") {
        return Some(Step::Take);
    }
    report.fail(script(line)?);
    Some(Step::Take)
}

/// Jenkins' `{ (Build)` and `// stage`.
fn pipeline(rest: &str, line: &Line<'_>, report: &mut Report) {
    if let Some(stage) = rest.strip_prefix("{ (").and_then(|rest| rest.strip_suffix(')')) {
        report.enter(cut(stage, 120), line.number);
    } else if rest == "// stage" || rest == "End of Pipeline" {
        report.reach(line.number);
        report.section = None;
    }
}

/// `WorkflowScript: 12: Expected a step @ line 12, column 17.`
fn script(line: &Line<'_>) -> Option<Finding> {
    let (row, rest) = leading_number(line.text.strip_prefix("WorkflowScript: ")?)?;
    let (message, place) = rest.strip_prefix(": ")?.last_part_at(" @ line ")?;
    let column = place
        .part_at(", column ")
        .and_then(|(_, column)| leading_number(column));
    let location = Location {
        path: "WorkflowScript".to_owned(),
        line: Some(row),
        column: column.map(|(column, _)| column),
    };
    Some(Finding::new(Kind::Configure, message, line).at(location))
}
