//! Bun: `bun test`, `bun build`, `bun run`, `bun install`.
//!
//! Written from real runs of Bun 1.4.5. Bun says what went wrong before it names the test: source with row numbers, a
//! caret, `error: …`, the frames, and only then `(fail) name [0.35ms]` (`✗ name` in colour). What a test prints stands
//! there too, so a statement counts when the verdict after it is a failure. What a program of Bun's throws and does not
//! catch is `node`'s.

use super::jest::own_frame;
use crate::diag::missing_name;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, between, cut, has_extension, leading_number, place_at_start};
use crate::next::Next;
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "bun",
    tools: "bun test, bun build, bun run, bun install",
    recognises: "failed tests with the error above their name, files that do not load, errors of builds and of the resolver, the sums",
    version: "Bun 1.4",
    triggers: &[
        "\nbun test v",
        "\n(fail) ",
        "\nat /",
        "\nerror: ",
        // Whoever is called by a runner's mark is not interrupted by it.
        "\n##[e",
        "\n##[g",
    ],
    reader: || Box::<Bun>::default(),
};

#[derive(Debug, Default)]
struct Bun {
    /// Whether `bun test` runs.
    begun: bool,
    /// The file of tests that is run.
    file: String,
    /// What was stated last; whose it is a verdict will tell.
    said: Option<Said>,
    /// A test that failed, of which one more line may come.
    failed: Option<(Finding, String)>,
    /// Whether an error that belongs to no test is told.
    outside: bool,
    /// Whether the failures are listed again.
    listing: bool,
    /// The sums, up to the last line of them.
    counts: Vec<(&'static str, u64)>,
}

#[derive(Debug)]
struct Said {
    finding: Finding,
    framed: bool,
}

impl Reader for Bun {
    fn own(&mut self, line: &Line<'_>, _: Next<'_>, report: &mut Report) -> Option<Step> {
        if !self.begun {
            return None;
        }
        if is_next_step(line.text) {
            self.finish(report);
            *self = Self::default();
            return None;
        }
        if let Some(verdict) = Verdict::of(line.text) {
            self.verdict(&verdict, line, report);
        } else if line.text.starts_with("Ran ") && line.text.has(" across ") {
            self.ends(line, report);
            return Some(Step::Take);
        } else if !(self.late(line)
            || self.sum(line)
            || self.boundary(line, report)
            || self.stated(line, report))
        {
            return None;
        }
        Some(Step::Lean)
    }

    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.begun {
            return if self.crashed(line, report) {
                Step::Take
            } else {
                Step::Lean
            };
        }
        let fails = line.text.starts_with("(fail) ");
        if fails || line.text.starts_with("bun test v") {
            self.begun = true;
            if let Some(verdict) = Verdict::of(line.text) {
                self.verdict(&verdict, line, report);
            }
            return Step::Lean;
        }
        if line.text.starts_with("error: ") {
            command(line, report)
        } else {
            built(line, report)
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        if let Some(said) = self.said.take().filter(|said| said.framed) {
            report.fail(said.finding);
        }
    }
}

impl Bun {
    fn verdict(&mut self, verdict: &Verdict<'_>, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        self.counts.clear();
        let said = self.said.take();
        if !verdict.failed || self.listing && report.repeat(&joined!["bun ", verdict.rest], line.number) {
            return;
        }
        let name = untimed(verdict.rest);
        let mut finding = said.map_or_else(
            || Finding::new(Kind::Test, joined![name, " failed"], line),
            |said| {
                let mut finding = said.finding;
                finding.kind = Kind::Test;
                finding.retitle(joined![name, ": ", finding.title.past("error: ")]);
                // Tests that share a broken hook or helper fail at its place with its words.
                finding.cause = finding
                    .location
                    .as_ref()
                    .map(|place| joined![place, " ", Quoted(&finding.explain)]);
                finding
            },
        );
        finding.subject = Some(name.to_owned());
        finding.copy = Some(joined!["bun ", verdict.rest]);
        self.failed = Some((finding, name.to_owned()));
    }

    /// `  ^ this test timed out after 50ms.` under the test's name.
    fn late(&mut self, line: &Line<'_>) -> bool {
        let Some((finding, name)) = &mut self.failed else {
            return false;
        };
        let Some(why) = line.body().strip_prefix("^ ").filter(|_| line.indent() > 0) else {
            return false;
        };
        finding.retitle(joined![name.as_str(), ": ", why]);
        finding.add(line);
        true
    }

    /// ` 8 fail`, before the last line.
    fn sum(&mut self, line: &Line<'_>) -> bool {
        let counted = leading_number(line.body()).filter(|_| line.indent() == 1);
        let Some((number, name)) = counted else {
            return false;
        };
        match ["pass", "skip", "todo", "fail", "errors", "error"]
            .into_iter()
            .find(|known| name.strip_prefix(' ') == Some(known))
        {
            Some(name) if self.counts.len() < 6 => self
                .counts
                .push((if name == "error" { "errors" } else { name }, number)),
            _ => return name.ends_with(" expect() calls"),
        }
        true
    }

    /// Lines that say what comes next: a file's tests, the failures again, or an error of no test between two bars.
    fn boundary(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let named = ["##[group]", "::group::"]
            .iter()
            .find_map(|mark| line.text.strip_prefix(mark))
            .unwrap_or(line.text);
        if let Some(file) = named.strip_suffix(':').filter(|name| is_source(name)) {
            self.close(report);
            cut(file, limits::TITLE).clone_into(&mut self.file);
        } else if line.text == "# Unhandled error between tests" {
            self.close(report);
            self.said = None;
            self.outside = true;
        } else if line.text.starts_with("-----") && self.outside {
            let opens = self.said.is_none();
            self.belongs_to_no_test(report);
            self.outside = opens;
        } else if line.text.ends_with(" tests failed:") {
            self.listing = true;
        } else {
            return ["::error ", "##[error]", "##[endgroup]"]
                .iter()
                .any(|mark| line.text.starts_with(mark));
        }
        true
    }

    /// A row of source, a statement, or what belongs to the one before.
    fn stated(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let text = line.text;
        if is_row(text) {
            return true;
        }
        if states(text) && !text.starts_with("error: script \"") {
            self.close(report);
            self.belongs_to_no_test(report);
            self.said = Some(Said {
                finding: Finding::new(Kind::Exception, text, line)
                    .known_as(joined!["bun said ", line.number]),
                framed: false,
            });
            return true;
        }
        let Some(said) = &mut self.said else {
            return false;
        };
        if let Some(frame) = line.body().strip_prefix("at ").filter(|_| line.indent() > 0) {
            said.framed = true;
            if said.finding.location.is_none() {
                said.finding.location = own_frame(frame);
            }
        } else if !said.framed {
            said.finding.quote(line);
        } else {
            return line.is_blank();
        }
        true
    }

    /// A file of tests does not load, or what it left running failed.
    fn belongs_to_no_test(&mut self, report: &mut Report) {
        let Some(said) = self.said.take_if(|_| self.outside) else {
            return;
        };
        let mut finding = said.finding;
        let message = finding.title.past("error: ").to_owned();
        finding.location = finding.location.or_else(|| from_file(&message));
        finding.kind = Kind::Configure;
        // What else a parser complains of in the file follows from the first.
        finding.cause = missing_name(&message).or_else(|| Some(joined!["bun load ", self.file]));
        finding.subject = Some(self.file.clone()).filter(|file| !file.is_empty());
        finding.retitle(message);
        report.fail(finding);
    }

    /// `Ran 8 tests across 1 file. [107.00ms]`
    fn ends(&mut self, line: &Line<'_>, report: &mut Report) {
        self.close(report);
        let counts = std::mem::take(&mut self.counts);
        report.tally("bun test", &counts, line);
        let failed = |(name, count): &(&str, u64)| matches!(*name, "fail" | "errors") && *count > 0;
        // A run that ends with its first failure says no sums.
        if counts.is_empty() || counts.iter().any(failed) {
            report.failed(line);
        } else {
            report.succeeded(line);
        }
        *self = Self::default();
    }

    /// Bun itself gave up, or its process was killed: there is no last line.
    fn crashed(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        if line.text.starts_with("oh no: Bun has crashed") {
            report.failed(line);
            report.fail(Finding::new(Kind::Crash, line.text.past("oh no: "), line));
        } else if line.text.starts_with("error: script \"") {
            command(line, report);
        } else {
            return false;
        }
        self.close(report);
        *self = Self::default();
        true
    }

    fn close(&mut self, report: &mut Report) {
        if let Some((finding, _)) = self.failed.take() {
            report.fail(finding);
        }
    }
}

/// `(fail) rises [0.35ms]`, in colour `✗ rises [0.35ms]`.
struct Verdict<'a> {
    failed: bool,
    rest: &'a str,
}

impl<'a> Verdict<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let passed = ["(pass) ", "✓ ", "(skip) ", "» ", "(todo) ", "✎ "];
        let failed = text.strip_prefix("(fail) ").or_else(|| text.strip_prefix("✗ "));
        let failed_one = failed.map(|rest| Self { failed: true, rest });
        failed_one.or_else(|| {
            let rest = passed.iter().find_map(|mark| text.strip_prefix(mark))?;
            Some(Self { failed: false, rest })
        })
    }
}

/// A runner's mark that ends the step.
fn is_next_step(text: &str) -> bool {
    text.starts_with("##[group]Run ") || text.starts_with("##[error]Process completed with exit code ")
}

/// The name without the time it took.
fn untimed(rest: &str) -> &str {
    let timed = rest.strip_suffix("s]").and_then(|rest| rest.rsplit_once(" ["));
    timed.map_or(rest, |(name, _)| name)
}

/// `gauge.test.ts`, above its tests.
fn is_source(name: &str) -> bool {
    has_extension(name, &["ts", "tsx", "js", "jsx", "mts", "mjs", "cts", "cjs"]) && !name.has(": ")
}

/// `16 |       expect(1).toBe(2);`
fn is_row(text: &str) -> bool {
    let rest = leading_number(text.trim_start()).map(|(_, rest)| rest);
    rest.is_some_and(|rest| rest == " |" || rest.starts_with(" | "))
}

/// `error: no tide`, `TypeError: depth is undefined`
fn states(text: &str) -> bool {
    let name = text.before(": ");
    name.len() < text.len()
        && (name == "error"
            || (name.ends_with("Error") && name.bytes().all(|byte| byte.is_ascii_alphanumeric())))
}

/// `Cannot find module './gone' from '/srv/wren/load.test.ts'`
fn from_file(message: &str) -> Option<Location> {
    let path = between(message, " from '", "'")?;
    Some(Location {
        path: path.to_owned(),
        line: None,
        column: None,
    })
}

/// `    at /srv/wren/build.ts:1:22` under the statement and its source: an error of the parser or the bundler.
fn built(line: &Line<'_>, report: &mut Report) -> Step {
    let place = line.body().strip_prefix("at ").filter(|_| line.indent() == 4);
    let Some((place, "")) = place.and_then(place_at_start) else {
        return Step::Pass;
    };
    let above = |lines: u64| report.recent.at(line.number.checked_sub(lines)?);
    let caret = above(2).is_some_and(|quote| quote.text.trim() == "^");
    let said = above(1).filter(|quote| caret && quote.text.starts_with("error: "));
    let Some(said) = said else { return Step::Pass };
    report.unknowns.forget(said.line);
    let said = Line {
        number: said.line,
        text: &said.text,
    };
    let message = said.text.past("error: ");
    let resolved = between(message, "resolve: \"", "\"").map(|name| joined!["missing ", name]);
    let cause = resolved.or_else(|| missing_name(message));
    report.fail(
        Finding::new(Kind::Compile, message, &said)
            .at(place)
            .because(cause),
    );
    Step::Take
}

/// What a command of Bun's says in one line.
fn command(line: &Line<'_>, report: &mut Report) -> Step {
    let said = line.text.past("error: ");
    if said.starts_with("script \"") && said.has("\" exited with code ") {
        report.cascade(line);
        return Step::Take;
    }
    let known = said.starts_with("Cannot find module '") && said.has("' from '")
        || said.starts_with("Script not found \"")
        || said.starts_with("lockfile had changes, but lockfile is frozen");
    let package = package(said);
    if !known && package.is_none() {
        return Step::Pass;
    }
    let mut finding = Finding::new(Kind::Configure, said, line);
    finding.location = from_file(said);
    finding.cause = package.map(|name| joined!["bun package ", name]);
    report.fail(finding);
    Step::Take
}

/// The package that cannot be had.
fn package(said: &str) -> Option<&str> {
    if let Some(asked) = said.strip_suffix(" failed to resolve") {
        return asked.last_part_at("@").map(|(name, _)| name);
    }
    if said.starts_with("No version matching \"") {
        return between(said, " for specifier \"", "\"");
    }
    let (address, status) = said.strip_prefix("GET ")?.last_part_at(" - ")?;
    let failed = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    let (_, path) = address.part_at("://")?.1.part_at("/").filter(|_| failed)?;
    Some(path)
}
