//! The Swift compiler and `swift build`.
//!
//! Written from documentation of Swift 6.0 on Linux and Xcode's older pictures, and seen in runs of Xcode 15 to 16 and
//! Swift 6 that their users posted. The same error is printed for the module, the file and the target; inside its
//! picture it stands once more. What `xcodebuild` lists at the end are the commands that failed, not why.

use crate::diag::{self, Diagnostic, Level, missing_name};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, place_at_start, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "swift",
    tools: "swift build, swiftc, xcodebuild, xcbeautify",
    recognises: "errors once however often they are printed, warnings; emit-module and fatalError lines as consequences",
    version: "Swift 6, Xcode 15 to 16 (runs posted by their users)",
    triggers: &[
        ".swift:",
        "error: emit-module",
        "error: fatalError",
        "command failed",
        "`- error: ",
        "`- warning: ",
        "`- note: ",
        " FAILED **",
        "Build complete!",
        "] Emitting module ",
        " SUCCEEDED **",
        "The following build commands failed",
        "xcodebuild: error: ",
        ".xcodeproj: error: ",
        "error: Provisioning profile ",
        "Testing failed:",
        "with a nonzero exit code",
        "Failed frontend command:",
        ": Invalid manifest",
        "Dependencies could not be resolved",
        "\n❌ ",
        ".swift, line ",
        " Program crashed: ",
        "Exited with unexpected signal code ",
    ],
    reader: || Box::<Swift>::default(),
};

#[derive(Debug, Default)]
struct Swift {
    open: Option<Finding>,
    picture: bool,
    /// In a list of which every line is indented.
    list: Option<List>,
    crash: Option<Crash>,
}

/// What the runtime tells of a program that crashed, up to the shell's word.
#[derive(Debug)]
struct Crash {
    /// The failure it goes under.
    key: String,
    /// How many more lines it may have.
    room: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    /// The commands that failed.
    Commands,
    /// Why the tests could not be built.
    Testing,
    /// What there is instead of what was asked for.
    Choice,
}

impl Reader for Swift {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.crashed(line, report) {
            return Step::Hold;
        }
        if let Some(list) = self.list.filter(|_| line.is_blank() || line.indent() > 0) {
            self.listed(list, line, report);
            return Step::Hold;
        }
        if self.list.take() == Some(List::Commands) && line.text.starts_with('(') {
            return Step::Take;
        }
        let found = diag::colon(line.text)
            .filter(|each| has_extension(&each.location.path, &["swift"]))
            .or_else(|| pretty(line.text));
        if let Some(found) = found.filter(|each| each.location.column.is_some()) {
            self.close(report);
            self.picture = true;
            match found.level {
                Level::Error => {
                    let finding =
                        Finding::new(Kind::Compile, found.message, line).because(missing_name(found.message));
                    self.open = Some(finding.at(found.location));
                }
                Level::Warning => report.warn("swift", Some(found.location.clone()), line),
                Level::Note => {}
            }
            return Step::Hold;
        }
        if self.picture && is_picture(line) {
            if let Some(open) = &mut self.open {
                open.add(line);
            }
            return Step::Hold;
        }
        self.picture = false;
        self.close(report);
        self.begins(line, report).unwrap_or_else(|| words(line, report))
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// How many lines a crash's report may have.
const REPORT: u32 = 400;

impl Swift {
    /// `Tern/Gauge.swift:12: Fatal error: text`, `💣 Program crashed: Bad pointer dereference at 0x…`, and what follows.
    fn crashed(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let crashed = line.text.has(" Program crashed: ");
        if let Some(crash) = &mut self.crash {
            crash.room = crash.room.saturating_sub(1);
            let place = line
                .text
                .last_part_at(" at ")
                .and_then(|(_, place)| place_at_start(place));
            let own = place.filter(|(place, rest)| rest.is_empty() && has_extension(&place.path, &["swift"]));
            let failure = report.known(&crash.key);
            if let Some(((place, _), failure)) = own.zip(failure.filter(|failure| failure.location.is_none()))
            {
                failure.location = Some(place);
            }
            let death = !crashed && DEATHS.iter().any(|death| line.text.has(death));
            if crashed || death {
                report.cascade(line);
            }
            if death || crash.room == 0 {
                self.crash = None;
            }
            return true;
        }
        let Some(finding) =
            fatal(line).or_else(|| crashed.then(|| Finding::new(Kind::Crash, line.body(), line)))
        else {
            return false;
        };
        let key = joined!["swift crash ", line.number];
        report.failed(line);
        report.fail(finding.known_as(key.as_str()));
        self.crash = Some(Crash { key, room: REPORT });
        true
    }

    /// A line of a list.
    fn listed(&mut self, list: List, line: &Line<'_>, report: &mut Report) {
        let body = line.body();
        if let Some(open) = &mut self.open {
            open.add(line);
        } else if list == List::Testing && !body.is_empty() {
            if report.failures.is_empty() {
                report.fail(Finding::new(Kind::Compile, body, line).because(missing_name(body)));
            } else {
                report.cascade(line);
            }
        }
    }

    /// A line under which a list may stand, and errors of a project.
    fn begins(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if text.starts_with("The following build commands failed") {
            report.failed(line);
            report.announce(line);
            self.list = Some(List::Commands);
        } else if text == "Testing failed:" {
            self.list = Some(List::Testing);
        } else if let Some(message) = text.strip_prefix("xcodebuild: error: ") {
            report.failed(line);
            self.open = Some(Finding::new(Kind::Configure, message, line));
            self.list = Some(List::Choice);
        } else {
            report.fail(project(line)?);
            return Some(Step::Take);
        }
        Some(Step::Hold)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// The numbered source, the margin with the message under it, and the older source and caret.
fn is_picture(line: &Line<'_>) -> bool {
    let body = line.body();
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let piped = body[digits..].trim_start().starts_with('|');
    let caret = !body.is_empty() && body.bytes().all(|byte| b"^~ ".contains(&byte));
    piped || caret || (line.indent() > 0 && !line.is_blank() && !body.starts_with("Executed "))
}

/// How a shell or the package manager says that a program died.
const DEATHS: &[&str] = &[
    "Illegal instruction",
    "Trace/BPT trap",
    "Trace/breakpoint trap",
    "Segmentation fault",
    "Aborted",
    "Exited with unexpected signal code ",
];

/// `Tern/Gauge.swift:12: Fatal error: text`; before Swift 5.4 the place stood behind: `…: file Gauge.swift, line 12`.
fn fatal(line: &Line<'_>) -> Option<Finding> {
    if let Some((place, rest)) = place_at_start(line.text) {
        let message = rest
            .strip_prefix(": ")
            .filter(|rest| rest.starts_with("Fatal error"))?;
        return has_extension(&place.path, &["swift"])
            .then(|| Finding::new(Kind::Crash, message, line).at(place));
    }
    let (message, place) = line.text.last_part_at(": file ")?;
    let (path, row) = place.part_at(", line ")?;
    let place = Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    };
    message
        .starts_with("Fatal error")
        .then(|| Finding::new(Kind::Crash, message, line).at(place))
}

/// xcbeautify's and xcpretty's `❌ /srv/Depth.swift:12:9: message`, and `⚠️  …`.
fn pretty(text: &str) -> Option<Diagnostic<'_>> {
    let (level, rest) = if let Some(rest) = text.strip_prefix("❌ ") {
        (Level::Error, rest)
    } else {
        (Level::Warning, text.strip_prefix("⚠️")?)
    };
    let (location, rest) = place_at_start(rest.trim_start())?;
    Some(Diagnostic {
        location,
        level,
        code: None,
        message: rest.strip_prefix(": ")?,
    })
}

/// `/srv/Tern.xcodeproj: error: text (in target 'Tern' from project 'Tern')`, and of signing without a place.
fn project(line: &Line<'_>) -> Option<Finding> {
    let pretty = line.text.strip_prefix("❌ ");
    let text = pretty.unwrap_or(line.text).trim_start_matches(' ');
    let (place, message) = match text.strip_prefix("error: ") {
        Some(message) if message.starts_with("Provisioning profile ") => (None, message),
        Some(message) if message.starts_with("Dependencies could not be resolved") => (None, message),
        Some(_) => return None,
        None => {
            let (path, message) = text
                .part_at(": error: ")
                .or_else(|| pretty.and_then(|_| text.part_at(": ")))?;
            let project = path.ends_with(".xcodeproj") || message.has(" (in target '");
            (project.then_some(path), message)
        }
    };
    if place.is_none() && !text.starts_with("error: ") {
        return None;
    }
    let (message, target) = message.part_at(" (in target '").unwrap_or((message, ""));
    let kind = if message.starts_with("Dependencies ") {
        Kind::Dependency
    } else {
        Kind::Configure
    };
    let mut finding = Finding::new(kind, message, line).known_as(joined!["xcode ", text]);
    finding.location = place.map(|path| Location {
        path: path.to_owned(),
        line: None,
        column: None,
    });
    match target.halves(b'\'') {
        Some((target, _)) => Some(finding.of(target)),
        None => Some(finding),
    }
}

fn words(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    let command = text.strip_prefix("error: ").is_some_and(|rest| {
        rest == "fatalError"
            || rest.has("command failed with exit code")
            || rest.has("command failed due to signal")
            || rest.has(": Invalid manifest")
    });
    let of_xcode = text.starts_with("Command ") && text.ends_with(" failed with a nonzero exit code");
    let ended = text.starts_with("** ") && text.ends_with(" FAILED **") && states(text, " FAILED **");
    if command || of_xcode || ended || text == "Failed frontend command:" {
        report.failed(line);
        report.announce(line);
        return Step::Take;
    }
    let ended = text.starts_with("** ") && text.ends_with(" SUCCEEDED **");
    if ended || text.starts_with("Build complete!") {
        report.succeeded(line);
        return Step::Take;
    }
    // A module may be called anything.
    if text.starts_with('[') && text.has("] Emitting module ") {
        Step::Take
    } else {
        Step::Pass
    }
}
