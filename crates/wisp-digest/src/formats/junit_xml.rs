//! `JUnit`'s XML, as every other test runner writes it too.
//!
//! Written from Surefire's, pytest's and jest-junit's files. What stands in `system-out` is output.

use crate::digest::Kind;
use crate::line::{Line, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "junit xml",
    tools: "Surefire, pytest --junitxml, jest-junit, gotestsum and others, the file given whole",
    recognises: "failures and errors by test case, the counts of every suite",
    version: "Surefire 3.2's schema",
    triggers: &[
        "<testsuite",
        "<testcase",
        "<failure",
        "<error",
        "</testcase",
        "<system-",
        "</system-",
        "<?xml",
    ],
    reader: || Box::<Junit>::default(),
};

#[derive(Debug, Default)]
struct Junit {
    name: String,
    open: Option<Finding>,
    output: bool,
    inside: bool,
}

impl Reader for Junit {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if !self.inside && !line.body().starts_with('<') {
            return Step::Pass;
        }
        if line.body().starts_with("<?xml") && !line.text.contains("<testsuite") {
            return Step::Take;
        }
        let mut rest = line.text;
        if !rest.contains('<') {
            self.text(line);
        }
        while let Some(start) = rest.find('<') {
            let Some(end) = tag_end(&rest[start..]) else { break };
            self.tag(&rest[start + 1..start + end], line, report);
            rest = &rest[start + end + 1..];
        }
        if self.inside { Step::Hold } else { Step::Take }
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// Where the tag ends; `>` inside quotation marks does not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    text.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })
}

impl Junit {
    fn tag(&mut self, tag: &str, line: &Line<'_>, report: &mut Report) {
        let name = tag.split([' ', '/']).next().unwrap_or("");
        match name {
            _ if self.output && tag != "/system-out" && tag != "/system-err" => {}
            "testsuite" => suite(tag, line, report),
            "testcase" => self.case(tag),
            "failure" | "error" => self.failure(name, tag, line, report),
            "system-out" | "system-err" => self.output = !tag.ends_with('/'),
            _ if tag == "/system-out" || tag == "/system-err" => self.output = false,
            _ if tag == "/failure" || tag == "/error" || tag == "/testcase" => {
                if let Some(finding) = self.open.take() {
                    report.fail(finding);
                }
                self.inside = tag != "/testcase";
            }
            _ => {}
        }
    }

    fn case(&mut self, tag: &str) {
        let name = attribute(tag, "name").unwrap_or_default();
        self.name = match attribute(tag, "classname").filter(|class| !class.is_empty()) {
            Some(class) => format!("{class}.{name}"),
            None => name,
        };
        self.inside = !tag.ends_with('/');
    }

    fn failure(&mut self, name: &str, tag: &str, line: &Line<'_>, report: &mut Report) {
        let said = attribute(tag, "message")
            .or_else(|| attribute(tag, "type"))
            .unwrap_or_else(|| name.to_owned());
        let said = said.lines().next().unwrap_or("").to_owned();
        let title = format!("{}: {said}", self.name);
        let text = Line {
            number: line.number,
            text: &title,
        };
        let finding = Finding::new(Kind::Test, &title, &text)
            .of(&self.name)
            .known_as(format!("junit {}", self.name));
        if tag.ends_with('/') {
            report.fail(finding);
        } else {
            self.open = Some(finding);
        }
    }

    /// A line of a failure's text: it explains, and may name the place.
    fn text(&mut self, line: &Line<'_>) {
        let Some(finding) = self.open.as_mut().filter(|_| !self.output) else {
            return;
        };
        if finding.location.is_none() {
            let inside = line
                .body()
                .rsplit_once('(')
                .map_or(line.body(), |(_, inside)| inside)
                .trim_end_matches(')');
            finding.location = place_at_start(inside).map(|(location, _)| location);
        }
        finding.quote(line);
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut from = 0;
    while let Some(found) = tag[from..].find(name) {
        let at = from + found;
        let rest = &tag[at + name.len()..];
        let whole = tag[..at].ends_with([' ', '\t']);
        if let Some(rest) = rest.strip_prefix('=').filter(|_| whole) {
            let quote = rest.chars().next().filter(|each| *each == '"' || *each == '\'')?;
            return rest[1..].split_once(quote).map(|(value, _)| unescape(value));
        }
        from = at + name.len();
    }
    None
}

fn unescape(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'");
    text.replace("&#10;", "\n")
        .replace("&#xA;", "\n")
        .replace("&amp;", "&")
}

fn suite(tag: &str, line: &Line<'_>, report: &mut Report) {
    let number = |name: &str| attribute(tag, name).and_then(|value| value.parse::<u64>().ok());
    let counts: Vec<(&str, u64)> = ["tests", "failures", "errors", "skipped"]
        .iter()
        .filter_map(|name| Some((*name, number(name)?)))
        .collect();
    let said = Line {
        number: line.number,
        text: "test suite",
    };
    let bad = counts
        .iter()
        .any(|(name, number)| matches!(*name, "failures" | "errors") && *number > 0);
    report.tally("junit xml", &counts, &said);
    if bad {
        report.failed(&said);
    } else if !counts.is_empty() {
        report.succeeded(&said);
    }
}
