//! Bundlers of web programs: webpack, esbuild, and Vite with Rollup or Rolldown.
//!
//! Written from real runs of webpack 5.113 (also with ts-loader), esbuild 0.28, Rollup 4, Vite 5.4 and Vite 8.4; "Failed
//! to compile." from Next's and Create React App's documentation. How a block of Vite's is read stands in `vite`.

use super::vite::Build;
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between, leading_number, number_before, paren_place_at_start, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "bundler",
    tools: "webpack, esbuild, vite, rollup, rolldown",
    recognises: "failed builds with the module and place of each error, warnings by kind, the sums",
    version: "webpack 5.113, esbuild 0.28, Vite 5 and 8, Rollup 4",
    triggers: &[
        "[built] [",
        "ERROR in ",
        "WARNING in ",
        " compiled with ",
        " compiled successfully",
        " detailed information that is not shown",
        "Failed to compile.",
        "Build failed because of webpack errors",
        "✖ Failed to load '",
        "▶ ESM (`import`) failed",
        "▶ CJS (`require`) failed",
        "✘ [ERROR] ",
        "▲ [WARNING] ",
        "X [ERROR] ",
        "⚡ Done in ",
        "x Build failed in ",
        "✗ Build failed in ",
        "error during build:",
        "Transform failed with ",
        "✓ built in ",
        "\n[!] ",
        "\n(!) ",
    ],
    reader: || Box::<Bundler>::default(),
};

#[derive(Debug, Default)]
struct Bundler {
    open: Option<Open>,
    /// Vite's or Rollup's account of what ended the build.
    build: Option<Build>,
}

/// A block of webpack's or esbuild's.
#[derive(Debug)]
struct Open {
    tool: Tool,
    /// None for a warning, which has been reported.
    finding: Option<Finding>,
    /// Whether its message is still to come.
    untitled: bool,
    blank: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Webpack,
    /// "Failed to compile." and a blank line: the module comes next.
    Compile,
    Esbuild,
    /// webpack's own command, which prints the stack of what stopped it.
    Command,
}

impl Reader for Bundler {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if let Some(build) = &mut self.build {
            if build.takes(line, report) {
                return Step::Hold;
            }
            self.close(report);
        }
        if let Some(step) = self.heads(line, report) {
            return step;
        }
        if sums(line.text) {
            self.close(report);
            return sum(line, report);
        }
        if self.open.as_mut().is_some_and(|open| open.takes(line)) {
            return Step::Hold;
        }
        self.close(report);
        Step::Pass
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Bundler {
    /// The first line of a block.
    fn heads(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if let Some(module) = text.strip_prefix("ERROR in ").filter(|rest| is_module(rest)) {
            self.close(report);
            if paren_place_at_start(module).is_some() {
                return Some(Step::Take);
            }
            report.failed(line);
            self.open = Some(Open::module(module, line));
            return Some(Step::Hold);
        }
        if let Some(rest) = text.strip_prefix("WARNING in ") {
            self.close(report);
            warning(rest, line, report);
            self.open = Some(Open::new(Tool::Webpack, None));
            return Some(Step::Hold);
        }
        if text == "Failed to compile." {
            self.close(report);
            report.failed(line);
            report.announce(line);
            self.open = Some(Open::new(Tool::Compile, None));
            return Some(Step::Hold);
        }
        let message = ["✘ [ERROR] ", "X [ERROR] "]
            .iter()
            .find_map(|mark| text.strip_prefix(mark));
        if let Some(message) = message {
            self.close(report);
            report.failed(line);
            let finding = Finding::new(Kind::Compile, message, line).because(unresolved(message));
            self.open = Some(Open::new(Tool::Esbuild, Some(finding)));
            return Some(Step::Hold);
        }
        if let Some(message) = text.strip_prefix("▲ [WARNING] ") {
            self.close(report);
            report.warn(
                crate::diag::check_at_end(message).unwrap_or("esbuild"),
                None,
                line,
            );
            self.open = Some(Open::new(Tool::Esbuild, None));
            return Some(Step::Hold);
        }
        self.others(line, report)
    }

    fn others(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        if text.starts_with("✖ Failed to load '") {
            self.close(report);
            report.failed(line);
            let finding = Finding::new(Kind::Configure, text.past("✖ "), line);
            self.open = Some(Open::new(Tool::Command, Some(finding)));
            return Some(Step::Hold);
        }
        if text.starts_with("▶ ") && text.ends_with("failed:") {
            self.close(report);
            self.open = Some(Open::new(Tool::Command, None));
            return Some(Step::Hold);
        }
        if let Some(build) = Build::begins(line, report) {
            self.close(report);
            self.build = Some(build);
            return Some(Step::Hold);
        }
        if text.has("[built] [") && (text.ends_with(" error]") || text.ends_with(" errors]")) {
            self.close(report);
            report.announce(line);
            return Some(Step::Take);
        }
        if text == "> Build failed because of webpack errors" {
            self.close(report);
            report.cascade(line);
            return Some(Step::Take);
        }
        if text.starts_with("Transform failed with ") {
            return Some(Step::Take);
        }
        let warning = text.strip_prefix("(!) ")?;
        self.close(report);
        report.warn(if warning.len() < 60 { warning } else { "vite" }, None, line);
        Some(Step::Take)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(build) = self.build.take() {
            build.close(report);
        }
        if let Some(finding) = self.open.take().and_then(|open| open.finding) {
            report.fail(finding);
        }
    }
}

impl Open {
    fn new(tool: Tool, finding: Option<Finding>) -> Self {
        Self {
            tool,
            finding,
            untitled: false,
            blank: false,
        }
    }

    /// `./src/a.js 3:4-12`, `src/a.ts:3:4` or a bare module: the message follows.
    fn module(module: &str, line: &Line<'_>) -> Self {
        let mut finding = Finding::new(Kind::Compile, module, line);
        finding.location = module_place(module);
        let mut open = Self::new(Tool::Webpack, Some(finding));
        open.untitled = true;
        open
    }

    /// Whether the line is part of it.
    fn takes(&mut self, line: &Line<'_>) -> bool {
        let blank = std::mem::replace(&mut self.blank, line.is_blank());
        if self.tool == Tool::Compile && line.text.starts_with("./") {
            *self = Self::module(line.text, line);
            return true;
        }
        if line.is_blank() {
            return !blank || self.tool == Tool::Esbuild;
        }
        let inner = line.indent() > 0 || line.text.starts_with(['>', '▶']);
        if match self.tool {
            Tool::Compile => true,
            Tool::Command => !inner && !self.stated(line.text),
            Tool::Webpack => blank && !inner,
            Tool::Esbuild => !inner,
        } {
            return false;
        }
        self.add(line);
        true
    }

    /// webpack 4's command says on the next line what it could not load.
    fn stated(&mut self, text: &str) -> bool {
        let Some(finding) = self.finding.as_mut().filter(|_| text.starts_with("Error: ")) else {
            return false;
        };
        finding.retitle(joined![finding.title, ": ", text]);
        true
    }

    fn add(&mut self, line: &Line<'_>) {
        let Some(finding) = &mut self.finding else { return };
        let body = line.body();
        if self.tool == Tool::Command || body.starts_with("@ ") || body.starts_with("at ") {
            finding.quote(line);
            return;
        }
        finding.add(line);
        if finding.location.is_none() && self.tool == Tool::Esbuild {
            finding.location = place_at_start(body).map(|(place, _)| place);
            return;
        }
        if !self.untitled {
            return;
        }
        if let Some(place) = module_place(body).filter(|place| place.line.is_some()) {
            finding.location = Some(place);
            return;
        }
        self.untitled = false;
        finding.retitle(body);
        finding.cause = unresolved(body);
    }
}

/// The key of a module that cannot be found, wherever it is asked for.
pub(super) fn unresolved(message: &str) -> Option<String> {
    let name = between(message, "resolve '", "'")
        .or_else(|| between(message, "resolve \"", "\""))
        .or_else(|| between(message, "Cannot find module '", "'"))
        .or_else(|| between(message, "resolve import \"", "\""))?;
    Some(joined!["missing ", name])
}

/// A module's name, with or without a place; not the sentence of another tool.
fn is_module(rest: &str) -> bool {
    let (name, place) = rest.halves(b' ').unwrap_or((rest, ""));
    let placed = place.is_empty() || place.starts_with(|first: char| first.is_ascii_digit());
    placed && !name.is_empty() && !rest.has("error TS")
}

/// `./src/a.js 3:4-12`, `src/a.ts:3:4`, `/srv/a.ts`.
fn module_place(module: &str) -> Option<Location> {
    let (path, rest) = module.rsplit_once(' ').unwrap_or((module, ""));
    let Some((row, rest)) = leading_number(rest) else {
        return match place_at_start(module) {
            Some((place, rest)) => rest.is_empty().then_some(place),
            None => is_path(module).then(|| at(module, None, None)),
        };
    };
    let (column, _) = leading_number(rest.strip_prefix(':')?)?;
    is_path(path).then(|| at(path, Some(row), Some(column)))
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) && !text.contains(' ')
}

fn at(path: &str, line: Option<u64>, column: Option<u64>) -> Location {
    Location {
        path: path.to_owned(),
        line,
        column,
    }
}

/// `WARNING in asset size limit: …` or `WARNING in ./src/a.js 3:4-12`.
fn warning(rest: &str, line: &Line<'_>, report: &mut Report) {
    match module_place(rest) {
        Some(place) => report.warn("webpack", Some(place), line),
        None => report.warn(rest.split(':').next().unwrap_or(rest).trim(), None, line),
    }
}

/// Whether the line is a bundler's sum.
fn sums(text: &str) -> bool {
    let counted = text.starts_with(|first: char| first.is_ascii_digit());
    (text.starts_with("webpack ") && text.has(" compiled "))
        || text.ends_with(" detailed information that is not shown.")
        || text.starts_with("⚡ Done in ")
        || text.starts_with("✓ built in ")
        || (counted && (is_count(text) || text.has(" errors shown")))
}

/// esbuild's `1 warning`, `2 errors`, `2 warnings and 1 error`.
fn is_count(text: &str) -> bool {
    text.split(" and ").all(|part| {
        let rest = leading_number(part).map(|(_, rest)| rest);
        matches!(rest, Some(" warning" | " warnings" | " error" | " errors"))
    })
}

fn sum(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    let number = |one: &str, many: &str| number_before(text, many).or_else(|| number_before(text, one));
    let (errors, warnings) = (number("error", "errors"), number("warning", "warnings"));
    let (errors, warnings) = (errors.unwrap_or(0), warnings.unwrap_or(0));
    if text.starts_with("webpack ") || is_count(text) {
        let name = if text.starts_with("webpack ") {
            "webpack"
        } else {
            "esbuild"
        };
        report.tally(name, &[("errors", errors), ("warnings", warnings)], line);
    }
    if errors > 0 {
        report.failed(line);
        report.cascade(line);
    } else if !text.has("shown") && !is_count(text) {
        report.succeeded(line);
    }
    Step::Take
}
