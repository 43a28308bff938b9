//! cargo's and libtest's JSON: `--message-format=json` and `--format json`.
//!
//! Written from real runs of cargo 1.95, and nightly libtest's documentation. One document a line; those that are
//! neither are passed on.

use serde::Deserialize;

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::Line;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "cargo json",
    tools: "cargo --message-format=json, libtest --format json",
    recognises: "compiler messages and test events, one JSON document a line",
    version: "cargo 1.95",
    triggers: &["\"reason\":", "\"type\":"],
    reader: || Box::new(CargoJson),
};

#[derive(Debug)]
struct CargoJson;

#[derive(Debug, Deserialize)]
struct Message {
    reason: String,
    #[serde(rename = "message")]
    diagnostic: Option<Diagnostic>,
    success: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    code: Option<Code>,
    #[serde(default)]
    spans: Vec<Place>,
}

#[derive(Debug, Deserialize)]
struct Code {
    code: String,
}

#[derive(Debug, Deserialize)]
struct Place {
    file_name: String,
    line_start: u64,
    column_start: u64,
    is_primary: bool,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "event")]
    happened: String,
    name: Option<String>,
    stdout: Option<String>,
    passed: Option<u64>,
    failed: Option<u64>,
    ignored: Option<u64>,
}

impl Reader for CargoJson {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if !line.body().starts_with('{') {
            return Step::Pass;
        }
        if let Ok(message) = serde_json::from_str::<Message>(line.body()) {
            compiler(message, line, report);
            return Step::Take;
        }
        match serde_json::from_str::<Event>(line.body()) {
            Ok(event) if event.kind == "test" || event.kind == "suite" => {
                test(&event, line, report);
                Step::Take
            }
            _ => Step::Pass,
        }
    }
}

fn compiler(message: Message, line: &Line<'_>, report: &mut Report) {
    if message.reason == "build-finished" {
        let end = Line {
            number: line.number,
            text: "build finished",
        };
        if message.success == Some(true) {
            report.succeeded(&end);
        } else {
            report.failed(&end);
        }
        return;
    }
    let Some(found) = message.diagnostic else { return };
    let code = found.code.map(|code| code.code).unwrap_or_default();
    let primary = found.spans.into_iter().find(|place| place.is_primary);
    let location = primary.map(|place| Location {
        path: place.file_name,
        line: Some(place.line_start),
        column: Some(place.column_start),
    });
    let title = if code.is_empty() {
        found.message.clone()
    } else {
        joined![found.level, "[", code, "]: ", found.message]
    };
    let said = Line {
        number: line.number,
        text: &title,
    };
    match (found.level.as_str(), location) {
        (level, Some(location)) if level.starts_with("error") => {
            report.fail(Finding::new(Kind::Compile, &title, &said).at(location));
        }
        ("warning", Some(location)) => report.warn(
            if code.is_empty() { "rustc" } else { &code },
            Some(location),
            &said,
        ),
        (level, None) if level.starts_with("error") => report.cascade(&said),
        _ => {}
    }
}

fn test(event: &Event, line: &Line<'_>, report: &mut Report) {
    let said = Line {
        number: line.number,
        text: "test events",
    };
    if event.kind == "suite" {
        if let (Some(passed), Some(failed)) = (event.passed, event.failed) {
            report.tally(
                "cargo test",
                &[
                    ("passed", passed),
                    ("failed", failed),
                    ("ignored", event.ignored.unwrap_or(0)),
                ],
                &said,
            );
            if failed > 0 {
                report.failed(&said);
            } else {
                report.succeeded(&said);
            }
        }
        return;
    }
    let (Some(name), true) = (&event.name, event.happened == "failed") else {
        return;
    };
    let printed = event.stdout.as_deref().unwrap_or("");
    let panic = printed.part_at("panicked at ").map(|(_, rest)| rest);
    let message = panic
        .and_then(|rest| rest.halves(b'\n'))
        .map_or("", |(_, rest)| rest.lines().next().unwrap_or(""));
    let title = if message.is_empty() {
        joined![name, " failed"]
    } else {
        joined![name, " panicked: ", message]
    };
    let mut finding = Finding::new(Kind::Test, title, &said)
        .of(name)
        .known_as(joined!["rust test ", name]);
    finding.location = panic
        .and_then(crate::line::place_at_start)
        .map(|(location, _)| location);
    report.fail(finding);
}
