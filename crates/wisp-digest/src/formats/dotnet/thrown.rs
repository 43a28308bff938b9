//! What ends a .NET program: an exception that nobody caught, or a runtime that is not there.

use super::tests::frame;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, cut};
use crate::report::Finding;

/// An exception being read, outermost first. The frames of the innermost stand first.
#[derive(Debug)]
pub(super) struct Thrown {
    surfaced: (u64, String),
    finding: Finding,
    /// The number of the line that states the exception read last, and whether frames have come: before them its
    /// message goes on.
    stated: u64,
    framed: bool,
}

/// Lines that a message of several may have.
const MESSAGE: u64 = 24;

impl Thrown {
    /// The exception of `Unhandled exception. System.InvalidOperationException: text`.
    pub(super) fn of(line: &Line<'_>) -> Option<Self> {
        let text = line
            .text
            .strip_prefix("Unhandled exception. ")
            .or_else(|| line.text.strip_prefix("Unhandled Exception: "))?;
        let name = text.split([':', ' ']).next().unwrap_or("");
        (name.contains('.') && name.ends_with("Exception")).then(|| Self {
            surfaced: (line.number, cut(text, limits::QUOTE).to_owned()),
            finding: Finding::new(Kind::Exception, text, line),
            stated: line.number,
            framed: false,
        })
    }

    /// Takes an inner exception, a frame or a further line of a message. False when it has ended.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if let Some(inner) = body.strip_prefix("---> ") {
            self.finding.retitle(inner);
            self.finding.lines = line.span();
            self.finding.quote(line);
            self.stated = line.number;
            return true;
        }
        let is_frame = line.indent() > 0 && (body.starts_with("at ") || body.starts_with("--- End of"));
        if is_frame
            && self.finding.location.is_none()
            && let Some(place) = frame(body)
        {
            self.finding.location = Some(place);
            self.finding.quote(line);
        }
        self.framed |= is_frame;
        is_frame || (!self.framed && line.number <= self.stated + MESSAGE)
    }

    /// The failure.
    pub(super) fn close(self) -> Finding {
        let mut finding = self.finding;
        let (number, outer) = self.surfaced;
        if finding.lines.first != number {
            let title = joined![finding.title, " (surfaced as ", outer, ", L", number, ")"];
            finding.retitle(title);
        }
        let key = joined!["dotnet thrown ", finding.lines.first];
        finding.known_as(key)
    }
}

/// The account of a runtime, an SDK or a command that is not there.
#[derive(Debug)]
pub(super) struct Absent {
    pub(super) finding: Finding,
    room: u32,
}

impl Absent {
    /// What the host of .NET says when it cannot run something.
    pub(super) fn of(line: &Line<'_>) -> Option<Self> {
        let body = line.body();
        let told = body.starts_with("You must install or update .NET")
            || body == "A compatible .NET SDK was not found."
            || body.starts_with("Could not execute because the specified command or ");
        told.then(|| Self {
            finding: Finding::new(Kind::Dependency, body.trim_end_matches('.'), line),
            room: 12,
        })
    }

    /// Takes a line of it. False when it has said what it wants.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        self.room = self.room.saturating_sub(1);
        let wants = body.starts_with("Framework: '") || body.starts_with("Requested SDK version: ");
        if wants {
            let title = joined![self.finding.title, ": ", body];
            self.finding.retitle(title);
            self.finding.add(line);
        }
        let absent = body
            .strip_prefix("* You intended to execute a .NET")
            .and_then(|rest| Some(rest.part_at("program, but ")?.1));
        if let Some(absent) = absent {
            let title = joined![self.finding.title, ": ", absent.trim_end_matches('.')];
            self.finding.retitle(title);
            self.finding.add(line);
        }
        if let Some(path) = body.strip_prefix("global.json file: ") {
            self.finding.location = Some(Location {
                path: path.to_owned(),
                line: None,
                column: None,
            });
            self.finding.add(line);
        }
        let listed = body.starts_with("Possible reasons for this") || body.starts_with("* You ");
        let of_command = self.finding.title.starts_with("Could not execute ");
        if of_command {
            return listed;
        }
        self.room > 0 && !body.starts_with("Learn ") && !body.starts_with("Installed SDKs")
    }
}
