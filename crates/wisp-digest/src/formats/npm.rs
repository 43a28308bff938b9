//! npm, pnpm and yarn: a block of `npm error` lines is one failure or none.
//!
//! Written from real runs of npm 11, pnpm 12 and yarn 1; pnpm 9, yarn 4 and turbo 2 from documentation. A script
//! that failed has said why before npm repeats it; a dependency that cannot be resolved is npm's own failure.

use crate::digest::{Kind, Quote, Span};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, cut, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "npm",
    tools: "npm, pnpm, yarn, turbo",
    recognises: "resolution, registry and file errors; a failed script's report is a consequence; warnings",
    version: "npm 11, pnpm 12, yarn 1",
    triggers: &[
        "npm error",
        "npm ERR!",
        "npm warn",
        "npm WARN",
        "ELIFECYCLE",
        "ERR_PNPM_",
        "error Command failed",
        "YN00",
        "error An unexpected error",
        "command finished with error",
        " exited (",
        "run failed: command",
        "husky - ",
        "NX   Running target ",
        "error: script \"",
        "Failed",
    ],
    reader: || Box::<Npm>::default(),
};

#[derive(Debug, Default)]
struct Npm {
    block: Vec<Quote>,
    count: u64,
    last: u64,
    /// pnpm's account of what it was doing.
    pnpm: Option<Finding>,
}

impl Reader for Npm {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(step) = self.pnpm(line, report) {
            return step;
        }
        if let Some(rest) = text
            .strip_prefix("npm error")
            .or_else(|| text.strip_prefix("npm ERR!"))
        {
            self.count += 1;
            self.last = line.number;
            if self.block.len() < limits::PENDING {
                self.block.push(Quote {
                    line: line.number,
                    text: cut(rest.strip_prefix(' ').unwrap_or(rest), limits::QUOTE).to_owned(),
                });
            }
            return Step::Hold;
        }
        self.close(report);
        if text.starts_with("npm warn") || text.starts_with("npm WARN") {
            report.warn("npm", None, line);
            return Step::Take;
        }
        others(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

impl Npm {
    /// `Error: ERR_PNPM_FETCH_404`, and indented under it `× …`, `├─▶ …`, `╰─▶ …`.
    fn pnpm(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        if let Some(code) = line.text.strip_prefix("Error: ERR_PNPM_") {
            self.close(report);
            report.failed(line);
            self.pnpm = Some(Finding::new(Kind::Dependency, joined!["ERR_PNPM_", code], line));
            return Some(Step::Hold);
        }
        let open = self.pnpm.as_mut()?;
        if !line.is_blank() && line.indent() == 0 {
            self.close(report);
            return None;
        }
        let body = line.body();
        if let Some(told) = body.strip_prefix("├─▶ ").filter(|_| !open.title.has(": ")) {
            open.retitle(joined![open.title, ": ", told]);
        }
        if body.starts_with(['×', '├', '│', '╰']) {
            open.add(line);
        }
        Some(Step::Hold)
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.pnpm.take() {
            report.fail(finding);
        }
        let block = std::mem::take(&mut self.block);
        let Some(first) = block.first() else { return };
        let code = block
            .iter()
            .find_map(|quote| quote.text.strip_prefix("code "))
            .unwrap_or("");
        let script = code.bytes().all(|byte| byte.is_ascii_digit())
            || code == "ELIFECYCLE"
            || block
                .iter()
                .any(|quote| quote.text.starts_with("Lifecycle script") || quote.text == "command failed");
        report.failed(&Line {
            number: first.line,
            text: &joined!["npm error ", first.text],
        });
        if script {
            for quote in &block {
                report.cascade(&Line {
                    number: quote.line,
                    text: &joined!["npm error ", quote.text],
                });
            }
            return;
        }
        report.fail(failure(&block, code));
    }
}

/// The statement that says most, and for a conflict the lines that name its sides.
fn failure(block: &[Quote], code: &str) -> Finding {
    let peer = block
        .iter()
        .position(|quote| quote.text.starts_with("peer "))
        .map_or(block.len(), |at| at + 1);
    let roots: Vec<&Quote> = block[..peer]
        .iter()
        .filter(|quote| is_side(&quote.text))
        .collect();
    let stated = block
        .iter()
        .find(|quote| !code.is_empty() && quote.text.starts_with(code));
    let stated = stated
        .or_else(|| {
            block
                .iter()
                .find(|quote| !quote.text.starts_with("code ") && !quote.text.is_empty())
        })
        .unwrap_or(&block[0]);
    let title = if stated.text.contains(code) {
        stated.text.clone()
    } else {
        joined![code, ": ", stated.text]
    };
    let mut finding = Finding::new(
        Kind::Dependency,
        &title,
        &Line {
            number: stated.line,
            text: &stated.text,
        },
    );
    if let (Some(first), Some(last)) = (roots.first(), roots.last()) {
        finding.lines = Span {
            first: first.line,
            last: last.line,
        };
        let sides = roots.iter().map(|quote| quote.text.trim());
        finding.retitle(format!("{title}: {}", sides.collect::<Vec<_>>().join("; ")));
    }
    let help = |quote: &&Quote| !quote.text.is_empty() && !quote.text.has("complete log of this run");
    finding.explain = block.iter().filter(help).take(limits::EXPLAIN).cloned().collect();
    finding.known_as(joined!["npm ", title])
}

/// What was found and who wants another.
fn is_side(text: &str) -> bool {
    let body = text.trim_start();
    text.starts_with("Found: ")
        || body.starts_with("peer ")
        || body.starts_with("Conflicting peer dependency")
        || (text.starts_with("  ") && body.has(" from the root project"))
}

/// Turborepo's and Nx's sums of the tasks that failed, and bun's and husky's word on a script.
fn turbo(body: &str) -> bool {
    (states(body, ": command (") && body.has(" exited ("))
        || body.starts_with("ERROR  run failed: command")
        || (body.starts_with("NX   Running target ") && body.ends_with(" failed"))
        || body == "Failed tasks:"
        || (body.starts_with("husky - ") && body.has(" failed (code "))
        || (body.starts_with("husky - ") && body.has(" hook exited with code "))
        || (body.starts_with("error: script \"") && body.has("\" exited with code "))
        || body
            .strip_prefix("Failed:    ")
            .is_some_and(|tasks| tasks.contains('#') && !tasks.contains(['=', '(']))
}

/// pnpm's and yarn's own lines.
fn others(line: &Line<'_>, report: &mut Report) -> Step {
    let body = line.body();
    let script = body.trim_start_matches('[').starts_with("ELIFECYCLE")
        || body == "Failed"
        || body.starts_with("error Command failed")
        || states(body, "ERR_PNPM_RECURSIVE_RUN")
        || states(body, "command finished with error")
        || turbo(body);
    if script {
        report.failed(line);
        report.cascade(line);
        return Step::Take;
    }
    if body.starts_with("ERR_PNPM_") || body.starts_with("error An unexpected error") {
        report.failed(line);
        report.fail(Finding::new(Kind::Dependency, body, line));
        return Step::Take;
    }
    if let Some((_, rest)) = body.part_at("YN0").filter(|(mark, _)| mark.starts_with('➤')) {
        let error = rest.has("Error:") || rest.has("can't be found") || rest.has("couldn't be resolved");
        if error {
            report.fail(Finding::new(Kind::Dependency, body, line));
        }
        return Step::Take;
    }
    Step::Pass
}
