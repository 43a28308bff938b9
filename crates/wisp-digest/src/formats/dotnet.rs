//! `dotnet build`, `MSBuild`, the C# and Visual C++ compilers, and `dotnet test`.
//!
//! Written from documentation of .NET SDK 8 and 9, not seen from a real run. `MSBuild` prints every diagnostic
//! again in its summary; each counts once.

use crate::diag::{self, Level, missing_name};
use crate::digest::{Kind, Location};
use crate::line::{Line, has_extension, leading_number, number_after};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "dotnet",
    tools: "dotnet build, dotnet test, msbuild, csc, cl, NuGet",
    recognises: "errors and warnings once each, failed tests with message and place, the sums",
    version: ".NET SDK 9 (documentation)",
    triggers: &[
        "): error ",
        "): warning ",
        ": error CS",
        ": error MSB",
        ": error NU",
        ": error NETSDK",
        ": warning CS",
        ": warning MSB",
        ": warning NU",
        "Build FAILED",
        "Build succeeded",
        " Warning(s)",
        " Error(s)",
        "Passed!  -",
        "Failed!  -",
        "  Failed ",
        "): fatal error ",
        "Test Run Failed",
        "Test Run Successful",
        "MSBUILD : error",
        "[xUnit.net ",
    ],
    reader: || Box::<Dotnet>::default(),
};

#[derive(Debug, Default)]
struct Dotnet {
    test: Option<Failed>,
}

#[derive(Debug)]
struct Failed {
    finding: Finding,
    name: String,
    stated: bool,
    part: Part,
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
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

impl Reader for Dotnet {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(test) = &mut self.test {
            if test.line(line) {
                return Step::Hold;
            }
            self.close(report);
        }
        if diagnostic(line, report) || sums(line, report) {
            return Step::Take;
        }
        if line.text.starts_with("  Failed to restore ") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        // xUnit's runner says so before the test's block does.
        if line.text.starts_with("[xUnit.net ") {
            if line.text.ends_with(" [FAIL]") {
                report.announce(line);
            }
            return Step::Take;
        }
        if let Some(rest) = line
            .text
            .strip_prefix("  Failed ")
            .filter(|rest| rest.ends_with(']'))
        {
            let name = rest.rsplit_once(" [").map_or(rest, |(name, _)| name);
            let finding = Finding::new(Kind::Test, &format!("{name} failed"), line)
                .of(name)
                .known_as(format!("dotnet {name}"));
            self.test = Some(Failed {
                finding,
                name: name.to_owned(),
                stated: false,
                part: Part::Name,
            });
            return Step::Hold;
        }
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Dotnet {
    fn close(&mut self, report: &mut Report) {
        if let Some(test) = self.test.take() {
            report.fail(test.finding);
        }
    }
}

impl Failed {
    /// The message and the stack trace under a failed test. The message's own lines are not indented.
    fn line(&mut self, line: &Line<'_>) -> bool {
        let body = line.body();
        match body {
            "Error Message:" => self.part = Part::Message,
            "Stack Trace:" => self.part = Part::Trace,
            "Standard Output Messages:" | "Standard Error Messages:" => self.part = Part::Printed,
            _ if starts_anew(line.text) || (line.is_blank() && self.part != Part::Message) => return false,
            _ => match self.part {
                Part::Message => self.message(body, line),
                Part::Trace => self.frame(body),
                Part::Printed => {}
                Part::Name => return false,
            },
        }
        true
    }

    fn message(&mut self, body: &str, line: &Line<'_>) {
        if self.stated {
            self.finding.add(line);
        } else {
            self.stated = true;
            self.finding.retitle(&format!("{}: {body}", self.name));
            self.finding.lines = line.span();
        }
    }

    /// `at Dunlin.WadeTests.Depth() in /srv/WadeTests.cs:line 12`.
    fn frame(&mut self, body: &str) {
        let place = body
            .split_once(") in ")
            .and_then(|(_, rest)| rest.rsplit_once(":line "));
        if let Some((path, line)) = place.filter(|_| self.finding.location.is_none()) {
            self.finding.location = Some(Location {
                path: path.to_owned(),
                line: line.trim().parse().ok(),
                column: None,
            });
        }
    }
}

/// `Wade.cs(12,38): error CS0103: message [project.csproj]`, and diagnostics of a project or of the tool.
fn diagnostic(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.body();
    let Some((location, level, code, message)) = parse(text) else {
        return false;
    };
    let message = message
        .rsplit_once(" [")
        .filter(|(_, end)| end.ends_with("proj]"))
        .map_or(message, |(message, _)| message);
    let code = code.unwrap_or("");
    match level {
        Level::Error => {
            let title = format!("{code}: {message}").trim_start_matches(": ").to_owned();
            let place = location.as_ref().map_or(String::new(), ToString::to_string);
            let mut finding = Finding::new(kind(code), &title, line)
                .because(missing_name(message))
                .known_as(format!("msbuild {place} {title}"));
            finding.location = location;
            report.fail(finding);
        }
        Level::Warning => {
            let once = Line {
                number: line.number,
                text: line.body(),
            };
            report.warn(if code.is_empty() { "msbuild" } else { code }, location, &once);
        }
        Level::Note => {}
    }
    true
}

fn kind(code: &str) -> Kind {
    match code {
        _ if code.starts_with("NU") => Kind::Dependency,
        _ if code.starts_with("MSB") || code.starts_with("NETSDK") => Kind::Configure,
        _ if code.starts_with("LNK") => Kind::Link,
        _ => Kind::Compile,
    }
}

fn parse(text: &str) -> Option<(Option<Location>, Level, Option<&str>, &str)> {
    if let Some(found) = diag::paren(text).filter(|each| {
        !has_extension(
            &each.location.path,
            &["ts", "tsx", "js", "jsx", "mts", "cts", "vue"],
        )
    }) {
        return Some((Some(found.location), found.level, found.code, found.message));
    }
    let (origin, rest) = text.split_once(" : ").or_else(|| text.split_once(": "))?;
    if origin.contains('`') {
        return None;
    }
    let (level, code, message) = diag::coded(rest)?;
    let coded = code.is_some_and(|code| {
        ["CS", "MSB", "NU", "NETSDK", "LNK", "FS", "BC"]
            .iter()
            .any(|start| code.starts_with(start))
    });
    let location =
        has_extension(origin, &["csproj", "fsproj", "vbproj", "sln", "props", "targets"]).then(|| Location {
            path: origin.to_owned(),
            line: None,
            column: None,
        });
    coded.then_some((location, level, code, message))
}

/// The closing lines of a build and of a test run.
fn sums(line: &Line<'_>, report: &mut Report) -> bool {
    let text = line.body();
    if text.starts_with("Build FAILED") || text.starts_with("Test Run Failed") {
        report.failed(line);
    } else if text.starts_with("Build succeeded") || text.starts_with("Test Run Successful") {
        report.succeeded(line);
    } else if let Some((count, name)) = leading_number(text)
        .filter(|(_, rest)| rest.starts_with(" Warning(s)") || rest.starts_with(" Error(s)"))
    {
        let name = if name.starts_with(" Warning") {
            "warnings"
        } else {
            "errors"
        };
        report.tally("msbuild", &[(name, count)], line);
    } else if text.starts_with("Passed!  -") || text.starts_with("Failed!  -") {
        let counts: Vec<(&str, u64)> = [
            ("failed", "Failed:"),
            ("passed", "Passed:"),
            ("skipped", "Skipped:"),
            ("total", "Total:"),
        ]
        .iter()
        .filter_map(|(name, word)| Some((*name, number_after(text, word)?)))
        .collect();
        report.tally("dotnet test", &counts, line);
        if text.starts_with("Failed!") {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
    } else {
        return false;
    }
    true
}
