//! The build's part: `MSBuild`'s diagnostics in all the ways in which it, its terminal logger and Visual Studio print
//! them.

use crate::diag::{self, Level, missing_name};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number};
use crate::report::{Finding, Report};

/// A diagnostic taken apart.
pub(super) struct Diagnostic<'a> {
    pub(super) location: Option<Location>,
    pub(super) level: Level,
    pub(super) code: &'a str,
    pub(super) message: &'a str,
}

/// Codes by which a diagnostic of a project or of a tool, without a place in a source, is known.
const CODES: &[&str] = &["CS", "MSB", "NU", "NETSDK", "LNK", "FS", "BC"];

/// Tools that stand where a place would.
const TOOLS: &[&str] = &["CSC", "VBC", "FSC", "MSBUILD", "LINK", "NuGet", "ILC", "EXEC"];

/// Codes of errors that only say that something else failed.
const CONSEQUENCES: &[&str] = &["MSB3073", "MSB3075", "MSB3077", "MSB4181", "MSB6006", "LNK1169"];

/// Extensions of files whose diagnostics are another's, tsc's.
const OTHERS: &[&str] = &["ts", "tsx", "js", "jsx", "mts", "cts", "vue"];

/// A diagnostic of this text, which may have Visual Studio's `1>` before it.
pub(super) fn parse(text: &str) -> Option<Diagnostic<'_>> {
    let text = bare(text);
    let (location, level, code, message) = placed(text).or_else(|| of_tool(text))?;
    let message = message
        .last_part_at(" [")
        .filter(|(_, end)| end.ends_with("proj]") || end.has("proj::") || end.has("|x64]"))
        .map_or(message, |(message, _)| message);
    Some(Diagnostic {
        location,
        level,
        code,
        message,
    })
}

/// The text without the number of its project before it.
fn bare(text: &str) -> &str {
    leading_number(text)
        .and_then(|(_, rest)| rest.strip_prefix('>'))
        .unwrap_or(text)
        .trim_start()
}

type Parts<'a> = (Option<Location>, Level, &'a str, &'a str);

/// `Wade.cs(12,38): error CS0103: message`, also without a code: `Heron.targets(12,3): error : message`.
fn placed(text: &str) -> Option<Parts<'_>> {
    if let Some(found) = diag::paren(text).filter(|found| !has_extension(&found.location.path, OTHERS)) {
        let code = found.code.unwrap_or("");
        return Some((Some(found.location), found.level, code, found.message));
    }
    let (location, rest) = crate::line::paren_place_at_start(text)?;
    let ours = has_extension(
        &location.path,
        &["targets", "props", "csproj", "fsproj", "vbproj"],
    );
    let (level, message) = uncoded(rest.strip_prefix(": ")?).filter(|_| ours)?;
    Some((Some(location), level, "", message))
}

/// `error : message`, `error message`: the terminal logger leaves the colon out where there is no code.
fn uncoded(text: &str) -> Option<(Level, &str)> {
    let levels = [("error ", Level::Error), ("warning ", Level::Warning)];
    levels.iter().find_map(|(word, level)| {
        let rest = text.strip_prefix(word)?;
        Some((*level, rest.strip_prefix(": ").unwrap_or(rest)))
    })
}

/// `CSC : error CS5001: message`, `/srv/Wade.csproj : error NU1101: message`, `Wade.dll : error run failed: message`.
fn of_tool(text: &str) -> Option<Parts<'_>> {
    let (origin, rest) = text.part_at(" : ").or_else(|| text.part_at(": "))?;
    if origin.contains('`') {
        return None;
    }
    if has_extension(origin, &["dll", "exe"]) && rest.starts_with("error run failed") {
        let (level, message) = uncoded(rest)?;
        return Some((None, level, "", message));
    }
    let (level, code, message) = diag::coded(rest)?;
    let code = code?;
    let known = CODES.iter().any(|start| code.starts_with(start)) || TOOLS.contains(&origin);
    let project = has_extension(
        origin,
        &["csproj", "fsproj", "vbproj", "sln", "slnx", "props", "targets"],
    );
    let location = project.then(|| Location {
        path: origin.to_owned(),
        line: None,
        column: None,
    });
    known.then_some((location, level, code, message))
}

/// A diagnostic whose text may stand on the lines under it.
#[derive(Debug)]
pub(super) struct Open {
    finding: Finding,
    indent: usize,
    stated: bool,
    trace: bool,
}

impl Open {
    /// Takes a line that is indented under the diagnostic. False when it has ended.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        if body.is_empty() || line.indent() <= self.indent {
            return false;
        }
        if !self.stated {
            self.stated = true;
            self.state(body, line);
        } else if body == "Stack Trace:" {
            self.trace = true;
        } else if !self.trace {
            self.finding.add(line);
        }
        true
    }

    /// The first line of the text: a test's name and message, or a message.
    fn state(&mut self, body: &str, line: &Line<'_>) {
        let test = self.finding.kind == Kind::Test;
        match body.part_at(": Error Message: ").filter(|_| test) {
            Some((name, message)) => {
                let name = name.last_part_at(" (").map_or(name, |(name, _)| name);
                self.finding.retitle(joined![name, ": ", message]);
                self.finding.subject = Some(name.to_owned());
                self.finding.copy = Some(joined!["dotnet ", name]);
            }
            None if test => self.finding.retitle(body),
            None => {
                let title = joined![self.finding.title, " ", body];
                self.finding.retitle(title);
            }
        }
        self.finding.lines = line.span();
    }

    /// It is over.
    pub(super) fn close(self, report: &mut Report) {
        report.fail(self.finding);
    }
}

/// Reports a diagnostic. One whose text is to follow is given back.
pub(super) fn report(found: Diagnostic<'_>, line: &Line<'_>, report: &mut Report) -> Option<Open> {
    let Diagnostic {
        location,
        level,
        code,
        message,
    } = found;
    if level == Level::Warning {
        let text = bare(line.body());
        let once = Line { text, ..*line };
        report.warn(if code.is_empty() { "msbuild" } else { code }, location, &once);
        return None;
    }
    if level == Level::Note {
        return None;
    }
    if CONSEQUENCES.contains(&code) || (message.starts_with("run failed: ") && !report.failures.is_empty()) {
        report.cascade(line);
        return None;
    }
    let title = joined![code, ": ", message].past(": ").to_owned();
    let place = location.as_ref().map_or(String::new(), ToString::to_string);
    let mut finding = Finding::new(kind(code), &title, line)
        .because(missing_name(message))
        .known_as(joined!["msbuild ", place, " ", title]);
    finding.location = location;
    if message.is_empty() {
        return Some(Open {
            finding,
            indent: line.indent(),
            stated: false,
            trace: false,
        });
    }
    report.fail(finding);
    None
}

fn kind(code: &str) -> Kind {
    match code {
        "TESTERROR" => Kind::Test,
        _ if code.starts_with("NU") => Kind::Dependency,
        _ if code.starts_with("MSB") || code.starts_with("NETSDK") => Kind::Configure,
        _ if code.starts_with("LNK") => Kind::Link,
        _ => Kind::Compile,
    }
}
