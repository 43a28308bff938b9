//! What Vite and Rollup say of the error that ended a build: a message, its place, the source, a stack.
//!
//! Part of the format `bundler`. Vite 8's Rolldown draws a box around the source, and may do so for several errors.

use super::bundler::unresolved;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, leading_number, place_at_start};
use crate::report::{Finding, Report};

/// The lines from `error during build:` or `[!] …` to the end of the stack.
#[derive(Debug, Default)]
pub(super) struct Build {
    finding: Option<Finding>,
    blank: bool,
    /// The stack has begun.
    frames: bool,
    /// A box has been closed: another message may follow.
    boxed: bool,
}

impl Build {
    /// Whether the line begins such an account.
    pub(super) fn begins(line: &Line<'_>, report: &mut Report) -> Option<Self> {
        let text = line.text;
        let mut build = Self::default();
        let fastlane =
            text.ends_with(" - see the log above") || text.starts_with("[!] Exit status of command '");
        if let Some(said) = text.strip_prefix("[!] ").filter(|_| !fastlane) {
            report.failed(line);
            build.state(said, line);
            return Some(build);
        }
        let heads = text.starts_with("x Build failed in ")
            || text.starts_with("✗ Build failed in ")
            || text == "error during build:";
        heads.then(|| {
            report.failed(line);
            report.announce(line);
            build
        })
    }

    /// Whether the line is part of it.
    pub(super) fn takes(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let blank = std::mem::replace(&mut self.blank, line.is_blank());
        if line.is_blank() {
            return !(blank && self.frames);
        }
        let body = line.body();
        if self.finding.is_none() && self.names_place(line) {
            self.above(line, report);
        }
        if line.indent() > 0 {
            self.frames |= body.starts_with("at ");
            self.inner(body, line);
            return true;
        }
        self.outer(line, blank, report)
    }

    /// What a Rollup plugin or the compiler says of itself is taken for a label; the place stands under it.
    fn names_place(&self, line: &Line<'_>) -> bool {
        !self.frames && (line.text.starts_with("file: ") || line.body().starts_with("╭─[ "))
    }

    fn above(&mut self, line: &Line<'_>, report: &mut Report) {
        let above = report.recent.before(line.number).pop();
        if let Some(quote) = above.filter(|quote| quote.line + 1 == line.number) {
            report.unknowns.forget(quote.line);
            self.state(
                &quote.text,
                &Line {
                    number: quote.line,
                    text: &quote.text,
                },
            );
        }
    }

    fn inner(&mut self, body: &str, line: &Line<'_>) {
        let Some(finding) = &mut self.finding else { return };
        if self.frames {
            return;
        }
        if let Some(place) = body.strip_prefix("╭─[ ").and_then(place_at_start) {
            finding.location = Some(place.0);
        }
        finding.add(line);
    }

    /// A line without indentation. False when it is none of the account's.
    fn outer(&mut self, line: &Line<'_>, blank: bool, report: &mut Report) -> bool {
        let text = line.text;
        if text == "error during build:" || is_errors(text) {
            report.announce(line);
            return true;
        }
        if text == "}" && self.frames {
            return true;
        }
        if self.frames {
            return false;
        }
        if text == "───╯" {
            self.boxed = true;
            return true;
        }
        let another = self.boxed && blank && text.starts_with('[');
        let Some(finding) = self.finding.as_mut().filter(|_| !another) else {
            self.end(report);
            self.state(text, line);
            return true;
        };
        if let Some((place, _)) = text.strip_prefix("file: ").and_then(place_at_start) {
            finding.location = Some(place);
        }
        let source = leading_number(text).is_some_and(|(_, rest)| rest.trim_start().starts_with([':', '|']));
        if blank && !source && !text.starts_with("file: ") && !finding.title.contains(text) {
            return false;
        }
        finding.add(line);
        true
    }

    /// Opens a failure: `src/a.ts (1:16): …`, `/srv/a.ts:2:10: ERROR: …`, or the message alone.
    fn state(&mut self, said: &str, line: &Line<'_>) {
        let said = said.past("RollupError: ").past("Error: ");
        let (location, title) = placed(said).map_or((None, said), |(place, title)| (Some(place), title));
        let mut finding = Finding::new(Kind::Compile, title, line).because(unresolved(title));
        finding.location = location.or_else(|| asked_from(title));
        self.finding = Some(finding);
        self.boxed = false;
    }

    fn end(&mut self, report: &mut Report) {
        if let Some(finding) = self.finding.take() {
            report.fail(finding);
        }
    }

    /// The account has ended.
    pub(super) fn close(mut self, report: &mut Report) {
        self.end(report);
    }
}

/// `Build failed with 2 errors:`.
fn is_errors(text: &str) -> bool {
    text.starts_with("Build failed with ") && text.ends_with(':')
}

fn placed(said: &str) -> Option<(Location, &str)> {
    if let Some((place, rest)) = place_at_start(said) {
        let message = rest.trim_start_matches([':', ' ']);
        return Some((place, message.past("ERROR: ")));
    }
    let (path, rest) = said.part_at(" (")?;
    let (row, rest) = leading_number(rest)?;
    let (column, rest) = leading_number(rest.strip_prefix(':')?)?;
    let message = rest.strip_prefix("): ")?;
    let location = Location {
        path: path.to_owned(),
        line: Some(row),
        column: Some(column),
    };
    (!path.contains(' ')).then_some((location, message))
}

/// `Could not resolve "./gone" from "src/main.ts"`.
fn asked_from(title: &str) -> Option<Location> {
    let (_, rest) = title.part_at("resolve")?.1.part_at(" from \"")?;
    let (path, _) = rest.halves(b'"')?;
    Some(Location {
        path: path.to_owned(),
        line: None,
        column: None,
    })
}
