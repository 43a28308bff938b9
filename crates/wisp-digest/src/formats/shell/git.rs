//! git's refusals: what the other side said first, and what git then says of it.

use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::line::{Line, cut};
use crate::reader::Step;
use crate::report::{Finding, Report};

#[derive(Debug, Default)]
pub(super) struct Git {
    part: Part,
    open: Option<Finding>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    None,
    /// The connection failed, which git then says too.
    Remote,
    /// Each reference's fate, and then what came of the push.
    Push,
    /// Files that stand in the way.
    Files,
}

impl Git {
    pub(super) fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let step = match self.part {
            Part::None => None,
            Part::Remote => remote(line, report),
            Part::Push => self.push(line, report),
            Part::Files => self.files(line),
        };
        if step == Some(Step::Hold) {
            return step;
        }
        self.close(report);
        if step.is_some() {
            return step;
        }
        if let Some(said) = text.strip_prefix("remote: error: ") {
            self.open = Some(Finding::new(Kind::Tool, said.trim_end(), line));
            self.part = Part::Push;
        } else if is_rejected(text) {
            self.rejected(line);
        } else if connection(text) {
            report.fail(Finding::new(Kind::Tool, text, line).known_as(joined!["shell 0 ", text]));
            self.part = Part::Remote;
        } else if let Some(said) = text
            .strip_prefix("error: ")
            .filter(|said| said.has(" would be overwritten by ") && said.ends_with(':'))
        {
            self.open = Some(Finding::new(Kind::Tool, said, line));
            self.part = Part::Files;
        } else {
            return None;
        }
        Some(Step::Hold)
    }

    fn push(&mut self, line: &Line<'_>, report: &mut Report) -> Option<Step> {
        let text = line.text;
        let told = self
            .open
            .as_ref()
            .is_some_and(|open| !open.title.starts_with("! ["));
        if text.starts_with("remote:") || (is_rejected(text) && told) {
            if let Some(open) = self.open.as_mut().filter(|_| text.len() > "remote: ".len()) {
                open.add(line);
            }
        } else if is_rejected(text) {
            self.close(report);
            self.rejected(line);
        } else if text.starts_with("error: failed to push some refs to ") {
            if let Some(finding) = self.open.take() {
                report.fail(finding);
            }
            report.cascade(line);
        } else if !(text.starts_with("To ") || text.starts_with("hint: ") || text.has(" -> ")) {
            return None;
        }
        Some(Step::Hold)
    }

    fn rejected(&mut self, line: &Line<'_>) {
        let words: Vec<_> = cut(line.text, crate::limits::QUOTE)
            .split_ascii_whitespace()
            .collect();
        self.open = Some(Finding::new(Kind::Tool, words.join(" "), line));
        self.part = Part::Push;
    }

    fn files(&mut self, line: &Line<'_>) -> Option<Step> {
        if line.text.starts_with('\t') {
            if let Some(open) = &mut self.open {
                if open.location.is_none() {
                    let title = joined![open.title, " ", line.body()];
                    open.retitle(title);
                    open.location = Some(Location {
                        path: line.body().to_owned(),
                        line: None,
                        column: None,
                    });
                }
                open.add(line);
            }
            return Some(Step::Hold);
        }
        match line.text {
            "Aborting" => Some(Step::Take),
            text => text.starts_with("Please ").then_some(Step::Hold),
        }
    }

    pub(super) fn close(&mut self, report: &mut Report) {
        self.part = Part::None;
        if let Some(finding) = self.open.take() {
            let copy = joined!["git ", finding.title];
            report.fail(finding.known_as(copy));
        }
    }
}

/// ` ! [rejected]        main -> main (fetch first)`, and `[remote rejected]`.
fn is_rejected(text: &str) -> bool {
    text.starts_with(" ! [re") && text.has("rejected] ")
}

/// What ssh or the other side says where the repository cannot be reached.
fn connection(text: &str) -> bool {
    text.starts_with("ssh: connect to host ")
        || text.starts_with("ssh: Could not resolve hostname ")
        || text.starts_with("Host key verification failed")
        || text == "ERROR: Repository not found."
        || (text.has(": Permission denied (") && text.ends_with(")."))
        || (text.starts_with("fatal: '") && text.ends_with("' does not appear to be a git repository"))
}

/// git's own words on a connection that failed, and its advice.
fn remote(line: &Line<'_>, report: &mut Report) -> Option<Step> {
    match line.text {
        "fatal: Could not read from remote repository." => report.cascade(line),
        "" | "Please make sure you have the correct access rights" => {}
        "and the repository exists." => return Some(Step::Take),
        _ => return None,
    }
    Some(Step::Hold)
}
