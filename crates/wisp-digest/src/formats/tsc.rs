//! The TypeScript compiler, plain and pretty.
//!
//! Written from real runs of TypeScript 5.9 and 7.0. Both forms give the same findings: what stands indented under
//! one continues or quotes it. A name that is unused because its import failed is the import's failure.

use crate::diag::{self, Level, missing_name};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "tsc",
    tools: "tsc, vue-tsc, ts-loader's plain form",
    recognises: "errors with code and place in both forms; a failed import and the names unused because of it are one cause",
    version: "TypeScript 7.0",
    triggers: &["error TS", "warning TS", "- error", "Found ", "Errors  Files"],
    reader: || Box::<Tsc>::default(),
};

const EXTENSIONS: &[&str] = &[
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "json", "svelte",
];
const UNUSED: &[&str] = &["TS6133", "TS6192", "TS6196", "TS6198"];
const IMPORTS: &[&str] = &["TS2305", "TS2307", "TS2614", "TS2724", "TS7016", "TS2792"];

#[derive(Debug, Default)]
struct Tsc {
    open: Option<Finding>,
    pretty: bool,
    /// The source line of the last finding and the key of its cause.
    last: Option<(Location, String)>,
    table: bool,
    /// Whether a finding has been read: other tools write `Found 2 errors` too.
    read: bool,
}

impl Reader for Tsc {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(header) = header(line.text) {
            let finding = self.finding(&header, line);
            self.unused_because(&header, &finding);
            self.close(report);
            self.read = true;
            self.pretty = header.pretty;
            self.open = Some(finding);
            return Step::Hold;
        }
        if let Some(step) = self.sum(line, report) {
            return step;
        }
        if self.open.is_some() && self.continues(line) {
            return Step::Hold;
        }
        self.close(report);
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

struct Header<'a> {
    location: Option<Location>,
    code: &'a str,
    message: &'a str,
    pretty: bool,
}

fn header(text: &str) -> Option<Header<'_>> {
    let plain = diag::paren(text)
        .filter(|each| each.level == Level::Error && has_extension(&each.location.path, EXTENSIONS));
    if let Some(found) = plain {
        let code = found.code.filter(|code| code.starts_with("TS"))?;
        return Some(Header {
            location: Some(found.location),
            code,
            message: found.message,
            pretty: false,
        });
    }
    if let Some((location, rest)) = place_at_start(text) {
        let (_, code, message) = diag::coded(rest.strip_prefix(" - ")?)?;
        return Some(Header {
            location: Some(location),
            code: code?,
            message,
            pretty: true,
        });
    }
    let (code, message) = text.strip_prefix("error ")?.part_at(": ")?;
    code.starts_with("TS").then_some(Header {
        location: None,
        code,
        message,
        pretty: false,
    })
}

impl Tsc {
    fn finding(&mut self, header: &Header<'_>, line: &Line<'_>) -> Finding {
        let title = joined![header.code, ": ", header.message];
        let mut finding = Finding::new(Kind::Compile, &title, line);
        if let Some(location) = &header.location {
            finding.copy = Some(joined!["tsc ", location, " ", title]);
            finding.cause = self.cause(header, location);
            finding.location = Some(location.clone());
        }
        finding.secondary = UNUSED.contains(&header.code);
        finding
    }

    /// A name told unused just before its import is told to have failed is unused because of that.
    fn unused_because(&mut self, header: &Header<'_>, finding: &Finding) {
        if let Some(open) = self.open.as_mut().filter(|open| open.secondary)
            && IMPORTS.contains(&header.code)
            && let (Some(unused), Some(import)) = (&open.location, &finding.location)
            && (&unused.path, unused.line) == (&import.path, import.line)
        {
            open.cause.clone_from(&finding.cause);
        }
    }

    /// A failed import and the names unused because of it stand on one line of the source.
    fn cause(&mut self, header: &Header<'_>, location: &Location) -> Option<String> {
        let related = UNUSED.contains(&header.code) || IMPORTS.contains(&header.code);
        let same = self
            .last
            .take()
            .filter(|(last, _)| related && last.path == location.path && last.line == location.line);
        let key = match same {
            Some((_, key)) if UNUSED.contains(&header.code) => Some(key),
            _ if UNUSED.contains(&header.code) => {
                Some(format!("unused {}:{:?}", location.path, location.line))
            }
            _ if IMPORTS.contains(&header.code) => {
                missing_name(header.message).or_else(|| Some(header.message.to_owned()))
            }
            _ => missing_name(header.message),
        };
        self.last = key.clone().filter(|_| related).map(|key| (location.clone(), key));
        key
    }

    /// Source, related places and further sentences of the finding.
    fn continues(&mut self, line: &Line<'_>) -> bool {
        let quoted =
            leading_number(line.text).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(' '));
        // pnpm's last word has a blank before it.
        let script = line.body().starts_with("ELIFECYCLE");
        let mine = (line.indent() > 0 && !script) || (self.pretty && (line.is_blank() || quoted));
        if mine && let Some(open) = &mut self.open {
            if line.indent() > 0 && !self.pretty {
                open.add(line);
            } else {
                open.quote(line);
            }
        }
        mine
    }

    /// `Found 10 errors in 2 files.` and the table after it.
    fn sum(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if self.table && (line.is_blank() || line.indent() > 0) {
            return Some(Step::Hold);
        }
        self.table = line.text == "Errors  Files";
        if self.table {
            return Some(Step::Hold);
        }
        if !self.read && !line.text.has("Watching for file changes") {
            return None;
        }
        let found = line
            .text
            .part_at("Found ")
            .map(|(_, rest)| rest)
            .filter(|rest| rest.has(" error"))?;
        let (errors, _) = leading_number(found)?;
        self.close(report);
        let files = number_before(found, "files")
            .or_else(|| number_before(found, "file"))
            .unwrap_or(u64::from(errors > 0));
        report.set_tally("tsc", &[("errors", errors), ("files", files)], line);
        if errors == 0 {
            report.succeeded(line);
        } else {
            report.failed(line);
        }
        Some(Step::Take)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}
