//! The tests' part of what `dotnet test` prints: `VSTest`'s blocks, and those of Microsoft.Testing.Platform.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::Line;
use crate::report::Finding;

/// A failed test whose block is being read.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) finding: Finding,
    name: String,
    stated: bool,
    /// The first line of the message and its number, and the message of the innermost exception within it.
    message: (u64, String),
    inner: Option<String>,
    part: Part,
    /// Everything indented is its own, and the message has no heading.
    platform: bool,
}

/// Where in a failed test's block a line stands.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Name,
    Message,
    Trace,
    Printed,
}

/// The next test or the sum.
fn starts_anew(text: &str) -> bool {
    [
        "  Failed ",
        "  Passed ",
        "  Skipped ",
        "Failed!",
        "Passed!",
        "Test Run ",
        "Total tests: ",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

impl Failed {
    /// The test of `  Failed Name [12 ms]` or `failed Name (12ms)`.
    pub(super) fn of(line: &Line<'_>) -> Option<Self> {
        let (rest, open, close) = match line.text.strip_prefix("  Failed ") {
            Some(rest) => (rest, " [", ']'),
            None => (line.text.strip_prefix("failed ")?, " (", ')'),
        };
        let (name, took) = rest.rsplit_once(open)?;
        let timed = took.strip_suffix(close)?.ends_with('s');
        let finding = Finding::new(Kind::Test, joined![name, " failed"], line)
            .of(name)
            .known_as(joined!["dotnet ", name]);
        timed.then(|| Self {
            finding,
            name: name.to_owned(),
            stated: false,
            message: (0, String::new()),
            inner: None,
            part: Part::Name,
            platform: open == " (",
        })
    }

    /// The message and the stack trace under a failed test. `VSTest`'s message has lines that are not indented.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if self.platform {
            return self.indented(body, line);
        }
        match body {
            "Error Message:" => self.part = Part::Message,
            "Stack Trace:" => self.part = Part::Trace,
            "Standard Output Messages:" | "Standard Error Messages:" => self.part = Part::Printed,
            _ if starts_anew(line.text) => return false,
            // NUnit tells the place again, with a number before it, after a blank line.
            _ if line.is_blank() => return self.part == Part::Message || self.part == Part::Trace,
            _ => match self.part {
                Part::Message => self.message(body, line),
                Part::Trace if body.starts_with("----- Inner Stack Trace") => self.finding.location = None,
                Part::Trace if line.indent() > 0 || body.starts_with("1) ") || body.starts_with("--") => {
                    self.frame(body);
                }
                Part::Printed => {}
                Part::Name | Part::Trace => return false,
            },
        }
        true
    }

    fn indented(&mut self, body: &str, line: &Line<'_>) -> bool {
        if line.indent() == 0 {
            return false;
        }
        if body.starts_with("at ") {
            self.part = Part::Trace;
            self.frame(body);
        } else if body.starts_with("Standard output") || body.starts_with("Error output") {
            self.part = Part::Printed;
        } else if self.part == Part::Name {
            self.message(body, line);
        }
        true
    }

    fn message(&mut self, body: &str, line: &Line<'_>) {
        if self.stated {
            self.finding.add(line);
            // xUnit's `---- System.IO.IOException : text`, NUnit's `  ----> System.IO.IOException : text`.
            let inner = body.trim_start_matches('-').trim_start_matches('>').trim_start();
            if body.starts_with("----")
                && inner
                    .part_at(" : ")
                    .is_some_and(|(name, _)| name.ends_with("Exception"))
            {
                self.finding.lines = line.span();
                self.inner = Some(inner.to_owned());
            }
        } else {
            self.stated = true;
            self.message = (line.number, body.to_owned());
            self.finding.retitle(joined![self.name, ": ", body]);
            self.finding.lines = line.span();
        }
    }

    /// The failure: the innermost exception is the reason. Tests that fail at one place for one reason have one cause.
    pub(super) fn close(self) -> Finding {
        let mut finding = self.finding;
        let (number, message) = self.message;
        if let Some(inner) = &self.inner {
            let surfaced = joined![" (surfaced as ", message, ", L", number, ")"];
            finding.retitle(joined![self.name, ": ", inner, surfaced]);
        }
        let reason = self.inner.unwrap_or(message);
        let place = finding.location.as_ref().filter(|_| !reason.is_empty());
        finding.cause = place.map(|place| joined![place, " ", reason]);
        finding
    }

    fn frame(&mut self, body: &str) {
        if self.finding.location.is_none() {
            self.finding.location = frame(body);
        }
    }
}

/// `at Dunlin.WadeTests.Depth() in /srv/WadeTests.cs:line 12`, and with `:12` at its end.
pub(super) fn frame(body: &str) -> Option<Location> {
    let (_, place) = body.part_at(") in ")?;
    let (path, line) = place.rsplit_once(':')?;
    Some(Location {
        path: path.to_owned(),
        line: Some(line.past("line ").trim().parse().ok()?),
        column: None,
    })
}
