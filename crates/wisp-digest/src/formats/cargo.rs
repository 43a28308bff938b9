//! cargo: the lines around rustc's diagnostics that report, sum up or repeat.
//!
//! Written from real runs of cargo 1.95. None of them is a diagnostic of its own unless nothing else failed.

use crate::counted::counted;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::line::{Line, number_before, place_at_start, quoted, without_indent};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "cargo",
    tools: "cargo build, check, clippy, run, doc, fmt",
    recognises: "which targets could not be compiled; sums are not diagnostics; manifest and resolver errors",
    version: "cargo 1.95",
    triggers: &[
        "could not compile",
        "\n\nCompiling ",
        "\n\nChecking ",
        "Downloaded ",
        "Documenting ",
        "aborting due to",
        "generated ",
        "For more information about",
        "have detailed explanations",
        "Finished `",
        "process didn't exit successfully",
        "error: failed to ",
        "error: no matching package",
        "build failed, waiting",
        "error: package ID",
        "error: the lock file",
        "failed to run custom build command",
        "test failed, to rerun",
        "targets failed:",
        "target failed:",
        "doctest failed",
        "error: no such command",
        "error: the crate `",
        "Diff in ",
    ],
    reader: || Box::<Cargo>::default(),
};

#[derive(Debug, Default)]
struct Cargo {
    open: Option<Finding>,
    listing: bool,
    /// In the lines that rustfmt would change.
    differs: bool,
}

/// `Diff in /srv/src/lib.rs:12:` of `cargo fmt --check`; before Rust 1.79 `Diff in /srv/src/lib.rs at line 12:`.
fn unformatted(text: &str) -> Option<Location> {
    let rest = text.strip_prefix("Diff in ")?.strip_suffix(':')?;
    let (path, row) = rest.rsplit_once(" at line ").or_else(|| rest.rsplit_once(':'))?;
    Some(Location {
        path: path.to_owned(),
        line: Some(row.parse().ok()?),
        column: None,
    })
}

impl Reader for Cargo {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.open.is_some()
            && let Some(step) = self.inside(line, report)
        {
            return step;
        }
        if let Some(place) = unformatted(line.text) {
            let title = format!("{} is not formatted", place.path);
            let cause = Some(title.clone());
            report.fail(Finding::new(Kind::Lint, &title, line).at(place).because(cause));
            self.differs = true;
            return Step::Hold;
        }
        self.differs &= line.text.is_empty() || line.text.starts_with([' ', '+', '-']);
        if self.differs {
            return Step::Hold;
        }
        if self.listing && line.text.starts_with("    `") {
            report.cascade(line);
            return Step::Hold;
        }
        self.listing = false;
        self.start(line, report)
    }

    /// What it says of its progress.
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        is_status(line.text).then(|| self.line(line, report))
    }

    fn finish(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

impl Cargo {
    fn start(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        // What it says of its progress is the most of what it says, and is indented.
        if !line.text.starts_with(' ')
            && let Some(step) = self.stated(line, report)
        {
            return step;
        }
        let body = line.body();
        if body.starts_with("process didn't exit successfully: ") {
            if body.has("(signal: ") {
                report.fail(Finding::new(Kind::Crash, body, line));
            } else {
                report.cascade(line);
            }
            return Step::Take;
        }
        let progress = ["Compiling ", "Checking ", "Downloaded ", "Documenting "];
        if line.indent() > 0 && progress.iter().any(|word| body.starts_with(word)) {
            return Step::Take;
        }
        if body.starts_with("Finished `") {
            report.succeeded(line);
            return Step::Take;
        }
        Step::Pass
    }

    /// What begins a line.
    fn stated(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        const KNOWN: &[&str] = &[
            "Caused by:",
            "Some errors have detailed",
            "For more information about this error",
            "For more information about an error",
        ];
        let text = line.text;
        if let Some(rest) = text.strip_prefix("error: ") {
            return Some(self.error(rest, line, report));
        }
        if text.starts_with("warning: `") && text.has(" generated ") {
            return Some(Step::Take);
        }
        if text.starts_with("warning: build failed, waiting") {
            report.cascade(line);
            return Some(Step::Take);
        }
        KNOWN
            .iter()
            .any(|start| text.starts_with(start))
            .then_some(Step::Take)
    }

    fn error(&mut self, rest: &str, line: &Line<'_>, report: &mut Report) -> Step {
        if rest.starts_with("could not compile `") {
            count_target(rest, line, report);
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if rest.starts_with("aborting due to") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if rest.starts_with("test failed, to rerun") || rest.starts_with("doctest failed") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        if rest.ends_with("targets failed:") || rest.ends_with("target failed:") {
            report.failed(line);
            report.cascade(line);
            self.listing = true;
            return Step::Hold;
        }
        self.own_error(rest, line)
    }

    /// Errors that cargo itself states: a manifest, the resolver, a build script.
    fn own_error(&mut self, rest: &str, line: &Line<'_>) -> Step {
        const OWN: &[(&str, Kind)] = &[
            ("failed to select a version", Kind::Dependency),
            ("failed to get `", Kind::Dependency),
            ("failed to load source", Kind::Dependency),
            ("no matching package", Kind::Dependency),
            ("failed to parse manifest", Kind::Configure),
            ("failed to parse lock", Kind::Configure),
            ("failed to run custom build command", Kind::Configure),
            ("failed to load manifest", Kind::Configure),
            ("the lock file", Kind::Configure),
            ("package ID", Kind::Configure),
            ("failed to download", Kind::Dependency),
            ("no such command", Kind::Tool),
            ("the crate `", Kind::Dependency),
            ("failed to ", Kind::Tool),
        ];
        let Some((_, kind)) = OWN.iter().find(|(start, _)| rest.starts_with(start)) else {
            return Step::Pass;
        };
        let mut finding = Finding::new(*kind, line.text, line);
        if let Some(subject) = quoted(rest) {
            finding = finding.of(subject);
        }
        self.open = Some(finding);
        Step::Hold
    }

    /// What explains such an error: everything indented, and blank lines between.
    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let more = line.is_blank()
            || line.indent() > 0
            || line.text.starts_with("Caused by:")
            || line.text.starts_with("required by ")
            || line.text.starts_with("location searched: ")
            || line.text.starts_with("versions that meet")
            || line.text.starts_with("note: ")
            || line.text.starts_with("thread '");
        if more {
            if let Some(finding) = &mut self.open {
                tell(finding, line);
            }
            return Some(Step::Hold);
        }
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
        None
    }
}

/// A build script that panicked says where and why.
fn tell(finding: &mut Finding, line: &Line<'_>) {
    let panicked = finding.explain.last().map_or("", |quote| quote.text.trim_start());
    let said = panicked.starts_with("thread '") && !panicked.has("panicked at '");
    if let Some((_, place)) = panicked.part_at(" panicked at ").filter(|_| said) {
        finding.location = place_at_start(place).map(|(location, _)| location);
        finding.retitle(format!("{}: {}", finding.title, line.body()));
    }
    finding.add(line);
}

/// What cargo says among rustc's diagnostics, which have the same look: none of it is one.
pub(super) fn says(line: &Line<'_>) -> bool {
    let text = line.text;
    match text.as_bytes().first() {
        Some(b' ') => is_status(text),
        Some(b'e') => {
            text.starts_with("error: could not compile `") || text.starts_with("error: aborting due to ")
        }
        Some(b'w') => {
            text.starts_with("warning: build failed, waiting")
                || (text.starts_with("warning: `")
                    && text.has("` (")
                    && text.has(") generated ")
                    && text.has(" warning"))
        }
        _ => false,
    }
}

/// Whether it is a line of progress that begins surely as cargo's.
pub(super) fn is_sure(text: &str) -> bool {
    is_status(text) && matches!(without_indent(&text[..12]), "Compiling" | "Checking")
}

/// `   Compiling tern v1.0.0`: a word that ends in the twelfth column.
#[inline]
pub(super) fn is_status(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "Compiling",
        "Checking",
        "Downloading",
        "Downloaded",
        "Documenting",
        "Finished",
        "Running",
        "Blocking",
        "Updating",
        "Locking",
        "Adding",
        "Fresh",
        "Building",
        "Doc-tests",
    ];
    let bytes = text.as_bytes();
    let ends = bytes.get(12) == Some(&b' ') && bytes[11].is_ascii_lowercase();
    ends && WORDS.contains(&without_indent(&text[..12]))
}

/// `could not compile `tidepool-core` (lib test) due to 4 previous errors; 1 warning emitted`.
fn count_target(rest: &str, line: &Line<'_>, report: &mut Report) {
    report.tally("cargo", &[("targets failed", 1)], line);
    let errors = number_before(rest, "previous error")
        .or_else(|| number_before(rest, "previous errors"))
        .unwrap_or(1);
    if let Some(target) = quoted(rest) {
        let kind = crate::line::between(rest, "` (", ")").unwrap_or("");
        report.note(
            format!(
                "could not compile {target} ({kind}): {}",
                counted(errors, "errors")
            ),
            line.number,
        );
    }
}
