//! The go command's compiler and vet: `path/file.go:10:9: message` under `# package`.
//!
//! Written from real runs of Go 1.19 and 1.26; golangci-lint and staticcheck from documentation. A log line of a
//! program (`main.go:23: text`) has no column and is not taken.

use crate::diag::{check_at_end, missing_name};
use crate::digest::Kind;
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, has_extension, place};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "go build",
    tools: "go build, go vet, golangci-lint, staticcheck",
    recognises: "compile and vet errors, missing modules, import cycles",
    version: "Go 1.26",
    triggers: &[
        ".go:",
        "\ngo: ",
        "package ",
        "imports ",
        "no required module provides",
    ],
    reader: || Box::<GoBuild>::default(),
};

#[derive(Debug, Default)]
struct GoBuild {
    open: Option<Finding>,
}

impl Reader for GoBuild {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text.strip_prefix("vet: ").unwrap_or(line.text);
        if let Some((place, rest)) =
            place(text).filter(|(place, _)| has_extension(place.path, &["go"]) && place.column.is_some())
            && let Some(message) = rest.strip_prefix(": ")
            && line.indent() == 0
        {
            let location = place.location();
            self.close(report);
            if message == "too many errors" {
                return too_many(line, report);
            }
            let kind = if message.ends_with(')') && message.has(" (") {
                Kind::Lint
            } else {
                Kind::Compile
            };
            let message = message.strip_prefix("error: ").unwrap_or(message);
            if let Some(warning) = message.strip_prefix("warning: ") {
                report.warn(check_at_end(warning).unwrap_or("go"), Some(location), line);
                return Step::Take;
            }
            self.open = Some(
                Finding::new(kind, message, line)
                    .at(location)
                    .because(missing_name_of(message)),
            );
            return Step::Hold;
        }
        if line.text.starts_with('\t')
            && let Some(open) = &mut self.open
        {
            open.add(line);
            return Step::Hold;
        }
        self.close(report);
        if line.text.starts_with("no required module provides package ") {
            self.open =
                Some(Finding::new(Kind::Dependency, line.text, line).because(missing_name(line.text)));
            return Step::Hold;
        }
        module_error(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

/// Go names what is undefined without quotation marks.
fn missing_name_of(message: &str) -> Option<String> {
    match message.strip_prefix("undefined: ") {
        Some(name) => Some(joined!["missing ", name]),
        None => missing_name(message),
    }
}

fn too_many(line: &Line<'_>, report: &mut Report) -> Step {
    report.note(
        "the Go compiler stopped at ten errors: the list is incomplete",
        line.number,
    );
    report.cascade(line);
    Step::Take
}

/// `go: module …: not found` and `package x is not in std`.
fn module_error(line: &Line<'_>, report: &mut Report) -> Step {
    let text = line.text;
    let go = text.strip_prefix("go: ").is_some_and(|rest| {
        [
            "cannot find",
            "no such",
            "not found",
            "unknown revision",
            "errors parsing",
            "missing go.sum",
            "updates to go.mod needed",
            "cannot load",
            "requires go >=",
        ]
        .iter()
        .any(|words| rest.has(words))
    });
    let package = text.starts_with("package ")
        && (text.has("is not in std")
            || text.has("is not in GOROOT")
            || text.has("import cycle not allowed"));
    if go || package {
        report.fail(Finding::new(Kind::Dependency, text, line).because(missing_name(text)));
        return Step::Take;
    }
    Step::Pass
}

impl GoBuild {
    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}
