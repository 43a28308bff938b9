//! GHC, cabal and stack.
//!
//! Written from real runs of GHC 9.0 and 9.6; cabal 3.10 from documentation. The message stands indented under the
//! place.

use crate::diag::{Level, check_at_end, colon, missing_name};
use crate::digest::Kind;
use crate::line::{Line, has_extension};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ghc",
    tools: "ghc, cabal, stack",
    recognises: "errors with their indented message, warnings by flag, failed suites",
    version: "GHC 9.6, cabal 3.10 (documentation)",
    triggers: &[
        ".hs:",
        ".lhs:",
        "Error: cabal",
        "Error: [Cabal",
        "Test suite ",
        "test suites (",
        "Failed to build",
    ],
    reader: || Box::<Ghc>::default(),
};

#[derive(Debug, Default)]
struct Ghc {
    open: Option<(Finding, bool)>,
    warned: bool,
}

impl Reader for Ghc {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(found) =
            colon(line.text).filter(|each| has_extension(&each.location.path, &["hs", "lhs"]))
        {
            self.close(report);
            self.warned = found.level == Level::Warning;
            match found.level {
                Level::Error => {
                    let empty = found.message.is_empty() || found.message.starts_with('[');
                    self.open = Some((
                        Finding::new(Kind::Compile, found.message, line).at(found.location),
                        empty,
                    ));
                }
                Level::Warning => report.warn(
                    check_at_end(found.message).unwrap_or("ghc"),
                    Some(found.location),
                    line,
                ),
                Level::Note => {}
            }
            return Step::Hold;
        }
        let block = line.indent() > 0 || is_source(line.text);
        if let Some((finding, empty)) = self.open.as_mut().filter(|_| block) {
            if std::mem::take(empty) {
                let title = format!("{} {}", finding.title, line.body().trim_start_matches("• "));
                finding.retitle(&title);
            }
            finding.add(line);
            return Step::Hold;
        }
        if self.warned && block {
            return Step::Hold;
        }
        self.warned = false;
        self.close(report);
        words(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// `3 | x = y`.
fn is_source(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && text[digits..].starts_with(" |")
}

impl Ghc {
    fn close(&mut self, report: &mut Report) {
        if let Some((finding, _)) = self.open.take() {
            let cause = missing_name(&finding.title).or_else(|| {
                let name = finding
                    .title
                    .split_once("not in scope: ")
                    .map(|(_, name)| name.split(' ').next().unwrap_or(name));
                name.map(|name| format!("missing {name}"))
            });
            report.fail(finding.because(cause));
        }
    }
}

fn words(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    if text.starts_with("Error: cabal")
        || text.starts_with("Error: [Cabal")
        || text.starts_with("Failed to build ")
    {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if text.starts_with("Test suite ") && text.ends_with(": FAIL") {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if text.contains(" test suites (") && text.ends_with(" passed.") {
        return Step::Take;
    }
    if text.starts_with("Test suite ") {
        Step::Take
    } else {
        Step::Pass
    }
}
