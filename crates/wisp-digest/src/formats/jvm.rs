//! javac, kotlinc and scalac outside Maven.
//!
//! Written from real runs of JDK 17's javac and Kotlin 1.3; Kotlin 2.0 and Scala 3.5 from documentation.

use crate::diag::{Level, colon, missing_name};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, leading_number, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "javac/kotlinc",
    tools: "javac, kotlinc, scalac (also under Gradle and Bazel)",
    recognises: "errors with source line and symbol, warnings, the count at the end",
    version: "JDK 17, Kotlin 2.0 (documentation)",
    triggers: &[
        ".java:",
        "\ne: /",
        "e: file",
        "\nw: /",
        "w: file",
        ".kt:",
        ".kts:",
        ".scala:",
        " errors",
        "1 error",
        "e: [k",
        "e: Error occurred in KSP",
    ],
    reader: || Box::<Jvm>::default(),
};

const EXTENSIONS: &[&str] = &["java", "kt", "kts", "scala", "groovy"];

#[derive(Debug, Default)]
struct Jvm {
    open: Option<Finding>,
    /// What is told already, and may be explained.
    told: Option<String>,
    source: u32,
    read: bool,
}

impl Reader for Jvm {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some((level, location, message)) = parse(line.body()) {
            self.close(report);
            self.read = true;
            match level {
                Level::Error if line.text.starts_with("e: ") => self.tell(message, location, line, report),
                Level::Error => self.open = Some(Finding::new(Kind::Compile, message, line).at(location)),
                Level::Warning => report.warn(kind(message), Some(location), line),
                Level::Note => {}
            }
            self.source = 4;
            return Step::Lean;
        }
        // Processors of annotations that fail themselves, and the word that some have.
        if line.text.starts_with("e: Error occurred in KSP") {
            report.announce(line);
            return Step::Take;
        }
        if let Some(message) = line.text.strip_prefix("e: ").and_then(without_processor) {
            self.close(report);
            report.fail(Finding::new(Kind::Compile, message, line).known_as(joined!["kotlinc ", message]));
            return Step::Take;
        }
        if self.read && counted(line.body()) {
            self.close(report);
            if line.text.has(" error") {
                report.cascade(line);
            }
            return Step::Take;
        }
        let body = line.body();
        let symbol = body.starts_with("symbol:")
            || body.starts_with("location:")
            || body.starts_with("required:")
            || body.starts_with("found:");
        if self.source > 0
            && !line.is_blank()
            && (symbol || line.indent() > 0 || self.source == 4 || is_caret(body))
        {
            self.source -= u32::from(!symbol);
            self.explain(line, report);
            return Step::Lean;
        }
        self.close(report);
        self.source = 0;
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// javac's `A.java:3: error: …`, kotlinc's `e: file:///srv/A.kt:3:4 …` and `e: /srv/A.kt: (3, 4): …`.
fn parse(text: &str) -> Option<(Level, Location, &str)> {
    if let Some(found) = colon(text).filter(|each| has_extension(&each.location.path, EXTENSIONS)) {
        return Some((found.level, found.location, found.message));
    }
    let (level, rest) = if let Some(rest) = text.strip_prefix("e: ") {
        (Level::Error, rest)
    } else {
        (Level::Warning, text.strip_prefix("w: ")?)
    };
    let rest = without_processor(rest).unwrap_or(rest);
    let rest = rest.strip_prefix("file://").map_or(rest, without_root);
    if let Some((location, message)) =
        place_at_start(rest).filter(|(place, _)| has_extension(&place.path, EXTENSIONS))
    {
        return Some((level, location, message.trim_start_matches([':', ' '])));
    }
    let (path, rest) = rest.part_at(": (")?;
    let (row, rest) = leading_number(rest)?;
    let (column, rest) = leading_number(rest.strip_prefix(", ")?)?;
    let location = Location {
        path: path.to_owned(),
        line: Some(row),
        column: Some(column),
    };
    Some((level, location, rest.strip_prefix("): ")?))
}

/// What follows `[ksp] ` and `[kapt] `.
fn without_processor(text: &str) -> Option<&str> {
    text.strip_prefix("[ksp] ")
        .or_else(|| text.strip_prefix("[kapt] "))
}

/// `/C:/srv/A.kt` as Windows writes it.
fn without_root(path: &str) -> &str {
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => &path[1..],
        _ => path,
    }
}

/// Whether the compiler states something on this line.
pub(super) fn states(text: &str) -> bool {
    parse(text).is_some()
}

fn kind(message: &str) -> &str {
    message
        .strip_prefix('[')
        .and_then(|rest| rest.halves(b']'))
        .map_or("jvm", |(kind, _)| kind)
}

/// `2 errors`, `1 error`.
fn counted(text: &str) -> bool {
    leading_number(text)
        .is_some_and(|(_, rest)| matches!(rest, " error" | " errors" | " warning" | " warnings"))
}

fn is_caret(body: &str) -> bool {
    body.bytes().all(|byte| byte == b'^')
}

impl Jvm {
    /// Under Gradle kotlinc's line is the whole of it, and what it set off comes next.
    fn tell(&mut self, message: &str, location: Location, line: &Line<'_>, report: &mut Report) {
        let key = joined!["kotlinc ", location, " ", message];
        let finding = Finding::new(Kind::Compile, message, line).at(location);
        let cause = missing_name(&finding.title);
        report.fail(finding.because(cause).known_as(&*key));
        self.told = Some(key);
    }

    fn explain(&mut self, line: &Line<'_>, report: &mut Report) {
        let told = self.told.as_ref().and_then(|key| report.known(key));
        if let Some(open) = &mut self.open {
            open.add(line);
        } else if let Some(told) = told
            .filter(|told| told.lines.last + 1 == line.number && told.explain.len() < crate::limits::EXPLAIN)
        {
            told.lines.reach(line.number);
            told.explain.push(line.quote());
        }
    }

    fn close(&mut self, report: &mut Report) {
        self.told = None;
        if let Some(finding) = self.open.take() {
            let symbol = finding
                .explain
                .iter()
                .find_map(|quote| quote.text.trim().strip_prefix("symbol:"))
                .map(|symbol| joined!["missing ", symbol.trim()]);
            let mut finding = finding;
            if let Some(symbol) = symbol.as_ref().and_then(|symbol| symbol.strip_prefix("missing ")) {
                finding.retitle(joined![finding.title, ": ", symbol]);
            }
            let cause = symbol.or_else(|| missing_name(&finding.title));
            report.fail(finding.because(cause));
        }
    }
}
