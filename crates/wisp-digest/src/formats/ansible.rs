//! Ansible: `fatal: [host]: FAILED! => …` under its task, and the recap.
//!
//! Written from real runs of ansible-core 2.19 and 2.21. A failure that is ignored is followed by `...ignoring` and
//! counts as none.

use crate::digest::{Kind, Location};
use crate::joined::joined;
use crate::line::{Line, between, number_after, place_at_start};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "ansible",
    tools: "ansible-playbook",
    recognises: "failed and unreachable tasks by host with their message, ignored failures told apart, the recap",
    version: "ansible-core 2.21",
    triggers: &[
        "fatal: [",
        "failed: [",
        "TASK [",
        "PLAY [",
        "PLAY RECAP",
        "unreachable=",
        "RUNNING HANDLER [",
        "[ERROR]: ",
        "ERROR! ",
        "[WARNING]: ",
    ],
    reader: || Box::<Ansible>::default(),
};

#[derive(Debug, Default)]
struct Ansible {
    task: String,
    /// A failure that may yet be ignored.
    open: Option<Finding>,
    /// In the account of an error that a `fatal:` line will state.
    account: bool,
    /// That error, as long as no such line has come.
    told: Option<Finding>,
    /// Where the task stands that failed last.
    origin: Option<Location>,
}

impl Reader for Ansible {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if self.open.is_some() {
            if text == "...ignoring" {
                self.open = None;
                return Step::Take;
            }
            self.close(report);
        }
        if let Some(host) = host(text) {
            self.account = false;
            self.told = None;
            self.open = Some(self.failure(host, line));
            return Step::Hold;
        }
        if let Some(said) = text
            .strip_prefix("[ERROR]: ")
            .or_else(|| text.strip_prefix("ERROR! "))
        {
            self.untold(report);
            self.account = true;
            // What a task says may yet be ignored.
            self.told = (!said.starts_with("Task failed: ")).then(|| Finding::new(Kind::Tool, said, line));
            return Step::Hold;
        }
        let mark = ["TASK [", "RUNNING HANDLER [", "PLAY ["]
            .iter()
            .find(|mark| text.starts_with(**mark));
        if let Some(mark) = mark {
            text[mark.len()..]
                .split(']')
                .next()
                .unwrap_or("")
                .clone_into(&mut self.task);
            self.account = false;
            self.untold(report);
            self.origin = None;
            return Step::Take;
        }
        if text.starts_with("[WARNING]: ") {
            report.warn("ansible", None, line);
            return Step::Take;
        }
        if self.account {
            if let Some(place) = text.strip_prefix("Origin: ").and_then(place_at_start) {
                if let Some(told) = &mut self.told {
                    told.location = Some(place.0.clone());
                }
                self.origin = Some(place.0);
            } else if let Some(told) = &mut self.told {
                told.quote(line);
            }
            return Step::Hold;
        }
        recap(line, report)
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
        self.untold(report);
    }
}

/// The host of `fatal: [tern]: FAILED! => …`.
fn host(text: &str) -> Option<&str> {
    let failed = text.starts_with("fatal: [") || text.starts_with("failed: [");
    between(text, ": [", "]").filter(|_| failed)
}

impl Ansible {
    fn failure(&mut self, host: &str, line: &Line<'_>) -> Finding {
        let said = between(line.text, "\"msg\": \"", "\"")
            .unwrap_or_else(|| line.text.split("=> ").last().unwrap_or(""));
        let title = joined![self.task, " on ", host, ": ", said];
        let mut finding = Finding::new(Kind::Tool, title, line)
            .of(&self.task)
            .known_as(joined!["ansible ", line.number, " ", host])
            .because(Some(joined!["ansible ", self.task, ": ", said]));
        finding.location = self.origin.take();
        finding
    }

    /// An error that no host's line has stated is one of the playbook itself.
    fn untold(&mut self, report: &mut Report) {
        if let Some(finding) = self.told.take() {
            report.failed(&Line {
                number: finding.lines.first,
                text: &finding.title,
            });
            report.fail(finding);
        }
    }

    fn close(&mut self, report: &mut Report) {
        if let Some(finding) = self.open.take() {
            report.fail(finding);
        }
    }
}

/// `tern : ok=4 changed=1 unreachable=0 failed=0 skipped=1 rescued=0 ignored=0`.
fn recap(line: &Line<'_>, report: &mut Report) -> Step {
    if line.text.starts_with("PLAY RECAP") {
        return Step::Take;
    }
    let names = [
        "ok",
        "changed",
        "unreachable",
        "failed",
        "skipped",
        "rescued",
        "ignored",
    ];
    let counts: Vec<(&str, u64)> = names
        .iter()
        .filter_map(|name| Some((*name, number_after(line.text, &joined![name, "="])?)))
        .collect();
    if counts.len() < 4 {
        return Step::Pass;
    }
    report.tally("ansible", &counts, line);
    let bad = counts
        .iter()
        .any(|(name, number)| matches!(*name, "failed" | "unreachable") && *number > 0);
    if bad {
        report.failed(line);
    } else {
        report.succeeded(line);
    }
    Step::Take
}
