//! Biome's diagnostics and sums, which `linters` reads.
//!
//! Written from real runs of Biome 2.6. A heading has the place and the rule and ends in a bar; the message stands
//! under it with `×` for an error and `!` for a warning, then the source and what Biome would do.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, leading_number, place_at_start};
use crate::report::{Finding, Report};

/// What is read of Biome's output.
#[derive(Debug, Default)]
pub(super) struct Biome {
    begun: bool,
    /// The heading: its place, its rule.
    head: Option<(Option<Location>, String)>,
    /// An error of which the source may come.
    open: Option<Finding>,
}

impl Biome {
    /// Whether the line is Biome's.
    pub(super) fn takes(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        if let Some(heading) = line.text.strip_suffix("━━━━") {
            self.close(report);
            self.head = heading_of(heading.trim_end_matches('━').trim_end());
            self.begun = self.begun || self.head.is_some();
            return self.begun;
        }
        if !self.begun {
            // The sums stand alone where a reporter leaves the rest out.
            self.begun = line.text.starts_with("Checked ") && line.text.ends_with(" No fixes applied.");
            return self.begun;
        }
        if line.is_blank() || line.indent() > 0 {
            self.inside(line, report);
            return true;
        }
        self.close(report);
        if line.text.starts_with("Checked ") && line.text.has(" in ") {
            return true;
        }
        let counted = line.text.strip_prefix("Found ").and_then(leading_number);
        match counted {
            Some((count, " error." | " errors.")) => {
                report.tally("biome", &[("errors", count)], line);
                report.failed(line);
            }
            Some((count, " warning." | " warnings.")) => report.tally("biome", &[("warnings", count)], line),
            Some((_, " info." | " infos.")) => {}
            _ => self.begun = false,
        }
        self.begun
    }

    fn inside(&mut self, line: &Line<'_>, report: &mut Report) {
        let body = line.body();
        let mark = |mark: &str| body.strip_prefix(mark).filter(|_| line.indent() == 2);
        if let Some(message) = mark("× ").or_else(|| mark("✖ ")) {
            let Some((place, rule)) = self.head.take() else {
                return;
            };
            if place.is_none() {
                report.cascade(line);
                return;
            }
            let mut finding = Finding::new(Kind::Lint, joined![rule, ": ", message], line);
            finding.location = place;
            self.open = Some(finding);
        } else if let Some(message) = mark("! ").or_else(|| mark("⚠ ")) {
            let Some((place, rule)) = self.head.take() else {
                return;
            };
            let mut finding = Finding::new(Kind::Lint, joined![rule, ": ", message], line);
            finding.location = place;
            report.advise(&rule, finding, line);
        } else if let Some(open) = &mut self.open {
            if body.starts_with("i ") {
                self.close(report);
            } else {
                open.quote(line);
            }
        }
    }

    /// What was open is told.
    pub(super) fn close(&mut self, report: &mut Report) {
        self.head = None;
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// `src/gauge.ts:4:3 lint/suspicious/noDebugger  FIXABLE`, `src/gauge.ts format`, and at the end `lint`.
fn heading_of(text: &str) -> Option<(Option<Location>, String)> {
    if ["lint", "format", "check", "ci"].contains(&text) {
        return Some((None, text.to_owned()));
    }
    let (place, rest) = if let Some((place, rest)) = place_at_start(text) {
        (place, rest.strip_prefix(' ')?)
    } else {
        let (path, rest) = text.halves(b' ')?;
        let whole = Location {
            path: path.to_owned(),
            line: None,
            column: None,
        };
        (whole, rest)
    };
    let rule = rest.split(' ').next().filter(|rule| {
        rule.contains('/') || ["format", "parse", "assist", "organizeImports"].contains(rule)
    })?;
    let name = rule.rsplit('/').next().unwrap_or(rule);
    Some((Some(place), name.to_owned()))
}
