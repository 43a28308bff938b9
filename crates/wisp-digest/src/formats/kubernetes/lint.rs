//! `helm lint`: a heading for each chart, and under it what it has to say of its files.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, between};
use crate::report::{Finding, Report};

/// What it says of one chart.
#[derive(Debug)]
pub(super) struct Lint {
    chart: String,
    open: Option<Finding>,
    /// A file of this chart was wrong already, so the chart cannot be loaded.
    wrong: bool,
}

impl Lint {
    pub(super) fn begin(text: &str) -> Option<Self> {
        let chart = text.strip_prefix("==> Linting ")?;
        Some(Self {
            chart: crate::line::cut(chart.trim_end_matches('/'), crate::limits::QUOTE).to_owned(),
            open: None,
            wrong: false,
        })
    }

    /// Takes a line of it. False when it has ended.
    pub(super) fn line(&mut self, line: &Line<'_>, report: &mut Report) -> bool {
        let text = line.text;
        if line.is_blank() {
            return true;
        }
        if line.indent() > 0 {
            if let Some(open) = &mut self.open {
                if open.lines.first + 1 == line.number {
                    open.retitle(line.body());
                }
                open.add(line);
            }
            return true;
        }
        self.close(report);
        if let Some(said) = text.strip_prefix("[ERROR] ") {
            self.error(said, line, report);
            return true;
        }
        if let Some(why) = text.strip_prefix("Error unable to check Chart.yaml file in chart: ") {
            let mut finding = Finding::new(Kind::Configure, why, line);
            finding.location = between(why, "stat ", ": ").map(whole_file);
            report.failed(line);
            report.fail(finding);
            self.wrong = true;
            return true;
        }
        if text.starts_with("[WARNING] ") {
            report.warn("helm lint", None, line);
            return true;
        }
        text.starts_with("[INFO] ")
    }

    fn error(&mut self, said: &str, line: &Line<'_>, report: &mut Report) {
        report.failed(line);
        let (file, message) = said.part_at(": ").unwrap_or(("", said));
        if self.wrong && (message.starts_with("cannot load ") || message.starts_with("unable to load chart"))
        {
            report.cascade(line);
            return;
        }
        self.wrong = true;
        let mut finding = Finding::new(Kind::Configure, message, line);
        finding.location = super::place(said).or_else(|| {
            let named = !file.is_empty() && !file.ends_with('/');
            named.then(|| whole_file(&joined![self.chart, "/", file]))
        });
        self.open = Some(finding);
    }

    pub(super) fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

fn whole_file(path: &str) -> Location {
    Location {
        path: path.to_owned(),
        line: None,
        column: None,
    }
}
