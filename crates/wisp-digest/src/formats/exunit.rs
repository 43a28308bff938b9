//! Elixir: mix's compiler and ExUnit.
//!
//! Written from real runs of Elixir 1.14 and 1.18. A failure is numbered; a line that a test prints is not.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::{Quoted, joined};
use crate::limits;
use crate::line::{Line, cut, leading_number, number_before, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "mix",
    tools: "mix compile, mix test (ExUnit)",
    recognises: "compile errors, failed tests with both sides and place, warnings of the compiler, the sum",
    version: "Elixir 1.18",
    triggers: &[
        "== Compilation error in file",
        ") test ",
        ") property ",
        ") doctest ",
        "\nwarning: ",
        "Compilation failed due to warnings",
        "\nerror: ",
        " tests, ",
        " test, ",
        "\n** (",
        "could not compile dependency",
        "(.ex)",
        "\n==> ",
    ],
    reader: || Box::<Mix>::default(),
};

#[derive(Debug, Default)]
struct Mix {
    open: Option<Open>,
    told: Option<Finding>,
    /// Whether the compiler has stated an error, which `== Compilation error` then only reports.
    stated: bool,
    /// Inside ExUnit's run: a bare exception is what a test printed.
    running: bool,
    /// Whether the stream is Elixir's: other compilers write `warning: ` too.
    elixir: bool,
    /// Functions that the compiler has warned do not exist, and where.
    undefined: Vec<(String, u64)>,
}

#[derive(Debug)]
struct Open {
    finding: Finding,
    name: String,
    compile: bool,
    stated: bool,
    trace: bool,
}

impl Reader for Mix {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let idle = !self.elixir && self.open.is_none() && self.told.is_none();
        if idle && !may_begin(line.body()) {
            return Step::Pass;
        }
        if line
            .text
            .starts_with("Compilation failed due to warnings while using ")
        {
            self.close(report);
            report.fail(Finding::new(Kind::Compile, line.text, line));
            return Step::Take;
        }
        if let Some(step) = self.warned(line, report) {
            return step;
        }
        if let Some(name) = header(line) {
            self.close(report);
            self.running = true;
            self.elixir = true;
            self.open = Some(Open::test(name, line));
            return Step::Hold;
        }
        if let Some(file) = line.text.strip_prefix("== Compilation error in file ") {
            self.close(report);
            if self.stated {
                report.failed(line);
                report.cascade(line);
                return Step::Take;
            }
            self.open = Some(Open::compile(file.short_of(" =="), line));
            return Step::Hold;
        }
        self.inside(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// `  1) test depth doubles (Dipper.StreamTest)`.
fn header<'a>(line: &Line<'a>) -> Option<&'a str> {
    let (_, rest) = leading_number(line.body()).filter(|_| line.indent() > 0 && line.indent() <= 4)?;
    let rest = rest.strip_prefix(") ")?;
    ["test ", "property ", "doctest "]
        .iter()
        .any(|word| rest.starts_with(word))
        .then_some(rest)
}

/// Whether a line may be Elixir's before anything has shown that the stream is: others write `error: ` too.
fn may_begin(body: &str) -> bool {
    matches!(
        body.as_bytes().first(),
        Some(b'0'..=b'9' | b'=' | b'*' | b'C' | b'c')
    )
}

impl Mix {
    /// `warning: text` with its place on a line below: `  lib/stream.ex:3: …` or `└─ lib/stream.ex:3:9: …`.
    fn warned(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(mut told) = self.told.take() {
            let place = line.body().trim_start_matches(['└', '─', ' ']);
            let location = place_at_start(place)
                .map(|(location, _)| location)
                .filter(|place| is_elixir(&place.path));
            // A crate's, which mix has built. Between lines of other streams rustc's reader cannot know it.
            let rust = line.body().strip_prefix("--> ").and_then(place_at_start);
            if let Some((location, _)) = rust {
                told.location = Some(location);
                told.add(line);
                self.placed("rustc", told, report);
                return Some(Step::Take);
            }
            let more = line.indent() > 0 && told.lines.first + 12 > line.number;
            if location.is_some() {
                told.location = location;
                told.add(line);
                self.placed("elixir", told, report);
                return Some(Step::Take);
            }
            if more {
                told.add(line);
                self.told = Some(told);
                return Some(Step::Hold);
            }
            return None;
        }
        self.elixir |= line.text.starts_with("Compiling ") && line.text.has("(.ex)");
        let named = line.body().starts_with("warning: ") || line.body().starts_with("error: ");
        let starts = self.elixir && named && line.indent() <= 4 && self.open.is_none() && !self.running;
        starts.then(|| {
            self.told = Some(Finding::new(Kind::Compile, line.body(), line));
            Step::Hold
        })
    }

    /// A warning or an error of the compiler, with its place.
    fn placed(&mut self, kind: &str, mut told: Finding, report: &mut Report) {
        let number = told.lines.first;
        if let Some(message) = told.title.strip_prefix("error: ").map(str::to_owned) {
            self.stated = true;
            told.cause = crate::diag::missing_name(&message);
            told.retitle(message);
            return report.fail(told);
        }
        let text = told.title.clone();
        self.remember_undefined(&text, number);
        report.warn(kind, told.location, &Line { number, text: &text });
    }

    fn inside(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(open) = &mut self.open {
            if line.is_blank() {
                return Step::Hold;
            }
            if (line.indent() >= 4 && !open.compile)
                || (open.compile && (line.indent() >= 4 || line.text.starts_with("** (")))
            {
                open.line(line);
                return Step::Hold;
            }
            self.close(report);
        }
        self.between(line, report)
    }

    fn between(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if text.starts_with(|first: char| first.is_ascii_digit()) && text.has(" test") && sum(line, report) {
            self.running = false;
            return Step::Take;
        }
        if let Some(rest) = text.strip_prefix("** (") {
            if self.running {
                return Step::Take;
            }
            if self.stated && rest.has("cannot compile module") {
                report.cascade(line);
                return Step::Take;
            }
            report.fail(Finding::new(Kind::Exception, joined!["** (", rest], line));
            return Step::Take;
        }
        if text.strip_prefix("==> ").is_some_and(|app| !app.contains(' ')) {
            return Step::Take;
        }
        if text.starts_with("could not compile dependency ") {
            report.failed(line);
            report.cascade(line);
            return Step::Take;
        }
        Step::Pass
    }

    /// `warning: Dipper.Gravel.count/1 is undefined (…)`.
    fn remember_undefined(&mut self, text: &str, number: u64) {
        let name = text
            .strip_prefix("warning: ")
            .and_then(|rest| rest.part_at(" is undefined"))
            .map(|(name, _)| name);
        if let Some(name) = name.filter(|name| !name.contains(' ') && self.undefined.len() < limits::PENDING)
        {
            self.undefined.push((name.to_owned(), number));
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            // Rustler's: the compiler that it called has said why.
            let called = open.compile && open.finding.title.has("calling `cargo rustc` failed");
            if called && report.total() > 0 {
                let number = open.finding.lines.first;
                return report.cascade(&Line { number, text: "" });
            }
            let warned = self
                .undefined
                .iter()
                .find(|(name, _)| open.finding.title.contains(name.as_str()));
            if let Some((name, number)) = warned {
                report.note(
                    format!("{}: the compiler had warned that {name} is undefined", open.name),
                    *number,
                );
            }
            let mut finding = open.finding;
            // Tests that share a broken setup fail at its place with its words.
            let told = finding.title.strip_prefix(&open.name).unwrap_or(&finding.title);
            finding.cause = finding
                .location
                .as_ref()
                .filter(|_| !open.compile)
                .map(|place| joined![place, " ", told, " ", Quoted(&finding.explain)]);
            report.fail(finding);
        }
    }
}

impl Open {
    fn test(name: &str, line: &Line<'_>) -> Self {
        let short = name.halves(b' ').map_or(name, |(_, rest)| rest).before(" (");
        let finding = Finding::new(Kind::Test, short, line)
            .of(module(name))
            .known_as(joined!["exunit ", line.number, " ", name]);
        Self {
            finding,
            name: short.to_owned(),
            compile: false,
            stated: false,
            trace: false,
        }
    }

    fn compile(file: &str, line: &Line<'_>) -> Self {
        let mut finding = Finding::new(Kind::Compile, line.text, line);
        finding.location = Some(Location {
            path: file.to_owned(),
            line: None,
            column: None,
        });
        Self {
            finding,
            name: file.to_owned(),
            compile: true,
            stated: false,
            trace: false,
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let body = line.body();
        if let Some((location, _)) = place_at_start(body).filter(|(place, _)| is_elixir(&place.path)) {
            if self.trace || self.finding.location.is_none() {
                self.finding.location = Some(location);
                self.trace = false;
            }
            return;
        }
        if body == "stacktrace:" {
            self.trace = true;
            return;
        }
        if self.stated {
            if self.trace || self.compile {
                self.finding.quote(line);
            } else {
                self.state_more(body, line);
            }
            return;
        }
        self.stated = true;
        self.finding.lines = line.span();
        self.finding.retitle(joined![self.name, ": ", body]);
        if self.compile {
            self.compile_place(body);
        }
        self.finding.quote(line);
    }

    /// The two sides belong to the root; the code of an exception explains it.
    fn state_more(&mut self, body: &str, line: &Line<'_>) {
        let side = ["code: ", "left: ", "right:", "mix "]
            .iter()
            .any(|start| body.starts_with(start));
        if side && !self.finding.title.has("** (") {
            self.finding.add(line);
        } else {
            self.finding.quote(line);
        }
    }

    /// `** (CompileError) lib/pool.ex:2: …`.
    fn compile_place(&mut self, body: &str) {
        let rest = body.part_at(") ").map_or(body, |(_, rest)| rest);
        if let Some((location, _)) = place_at_start(rest) {
            self.finding.location = Some(location);
        }
        body.clone_into(&mut self.finding.title);
        self.finding.title = cut(&self.finding.title, limits::TITLE).to_owned();
    }
}

/// The module in `test depth doubles (Dipper.StreamTest)`.
fn module(name: &str) -> &str {
    name.last_part_at(" (")
        .map_or(name, |(_, module)| module.trim_end_matches(')'))
}

fn is_elixir(path: &str) -> bool {
    crate::line::has_extension(path, &["ex", "exs", "eex", "heex", "leex"])
}

/// `4 tests, 2 failures, 1 skipped`.
fn sum(line: &Line<'_>, report: &mut Report) -> bool {
    let number =
        |one: &str, many: &str| number_before(line.text, many).or_else(|| number_before(line.text, one));
    let (Some(tests), Some(failures)) = (number("test", "tests"), number("failure", "failures")) else {
        return false;
    };
    if !line.text.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let aside: Vec<(&str, u64)> = ["skipped", "excluded", "invalid"]
        .iter()
        .filter_map(|name| Some((*name, number_before(line.text, name)?)))
        .collect();
    let passed = tests.saturating_sub(failures + aside.iter().map(|(_, number)| number).sum::<u64>());
    let mut counts = vec![("tests", tests), ("passed", passed), ("failures", failures)];
    counts.extend(aside);
    report.set_tally("exunit", &counts, line);
    if failures > 0 {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    true
}
