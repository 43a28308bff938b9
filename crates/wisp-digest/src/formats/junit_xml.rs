//! `JUnit`'s XML, as every other test runner writes it too.
//!
//! Written from real files of Surefire 3.5; pytest's and jest-junit's from documentation. What stands in
//! `system-out` is output.

use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "junit xml",
    tools: "Surefire, pytest --junitxml, jest-junit, gotestsum and others, the file given whole",
    recognises: "failures and errors by test case, the counts of every suite",
    version: "Surefire 3.5's schema",
    triggers: &[
        "<testsuite",
        "<testcase",
        "<failure",
        "<error",
        "</testcase",
        "<system-out",
        "<system-err",
        "</system-out",
        "</system-err",
        "<?xml",
    ],
    reader: || Box::<Junit>::default(),
};

#[derive(Debug, Default)]
struct Junit {
    name: String,
    open: Option<Finding>,
    output: bool,
    /// Whether the open failure has no message yet.
    untold: bool,
    inside: bool,
}

impl Reader for Junit {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if !self.inside && !line.body().starts_with('<') {
            return Step::Pass;
        }
        if line.body().starts_with("<?xml") && !line.text.has("<testsuite") {
            return Step::Take;
        }
        let mut rest = line.text;
        let before = rest.split('<').next().unwrap_or(rest);
        if self.open.is_some() && !before.trim().is_empty() {
            let number = line.number;
            self.text(&Line { number, text: before });
        }
        while let Some(start) = rest.find('<') {
            let Some(end) = tag_end(&rest[start..]) else { break };
            self.tag(&rest[start + 1..start + end], line, report);
            rest = &rest[start + end + 1..];
            self.told_by(rest);
        }
        if self.inside { Step::Hold } else { Step::Take }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
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
                self.close(report);
                self.inside = tag != "/testcase";
            }
            _ => {}
        }
    }

    fn case(&mut self, tag: &str) {
        let name = attribute(tag, "name").unwrap_or_default();
        self.name = match attribute(tag, "classname").filter(|class| !class.is_empty()) {
            Some(class) if class != name => joined![class, ".", name],
            _ => name,
        };
        self.inside = !tag.ends_with('/');
    }

    fn failure(&mut self, name: &str, tag: &str, line: &Line<'_>, report: &mut Report) {
        let message = attribute(tag, "message").or_else(|| attribute(tag, "type"));
        self.untold = message.is_none();
        let said = message.unwrap_or_else(|| name.to_owned());
        let said = said.lines().next().unwrap_or("").to_owned();
        let title = joined![self.name, ": ", said];
        let text = Line {
            number: line.number,
            text: &title,
        };
        let finding = Finding::new(Kind::Test, &title, &text)
            .of(&self.name)
            .known_as(joined!["junit ", self.name]);
        if tag.ends_with('/') {
            report.fail(finding);
        } else {
            self.open = Some(finding);
        }
    }

    /// A failure without a message is told by the text after its tag.
    fn told_by(&mut self, rest: &str) {
        let text = rest.strip_prefix("<![CDATA[").unwrap_or(rest);
        let text = text.split('<').next().unwrap_or(text).trim();
        let Some(finding) = self.open.as_mut().filter(|_| self.untold && !text.is_empty()) else {
            return;
        };
        self.untold = false;
        finding.retitle(joined![self.name, ": ", unescape(text)]);
    }

    fn close(&mut self, report: &mut Report) {
        let Some(mut finding) = self.open.take() else {
            return;
        };
        // Tests that share a broken setup fail at its place with its words.
        let told = finding.title.strip_prefix(&self.name).unwrap_or(&finding.title);
        finding.cause = finding.location.as_ref().map(|place| joined![place, " ", told]);
        report.fail(finding);
    }

    /// A line of a failure's text: it explains, and may name the place.
    fn text(&mut self, line: &Line<'_>) {
        let Some(finding) = self.open.as_mut().filter(|_| !self.output) else {
            return;
        };
        let frame = line.body().strip_prefix("at ").unwrap_or("");
        let foreign = frame.starts_with("org.junit.")
            || frame.starts_with("java.base/")
            || frame.starts_with("org.opentest4j.");
        if finding.location.is_none() && !foreign {
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
    while let Some(found) = tag[from..].place_of(name) {
        let at = from + found;
        let rest = &tag[at + name.len()..];
        let whole = tag[..at].ends_with([' ', '\t']);
        if let Some(rest) = rest.strip_prefix('=').filter(|_| whole) {
            let quote = rest.bytes().next().filter(|each| matches!(each, b'"' | b'\''))?;
            return rest[1..].halves(quote).map(|(value, _)| unescape(value));
        }
        from = at + name.len();
    }
    None
}

/// What XML writes for characters.
const ESCAPES: &[(&str, &str)] = &[
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&apos;", "'"),
    ("&#10;", "\n"),
    ("&#xA;", "\n"),
    ("&amp;", "&"),
];

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, from) = rest.split_at(at);
        let escape = ESCAPES.iter().find(|(escape, _)| from.starts_with(escape));
        let (escape, shown) = escape.unwrap_or(&("&", "&"));
        plain.push_str(before);
        plain.push_str(shown);
        rest = &from[escape.len()..];
    }
    plain.push_str(rest);
    plain
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
