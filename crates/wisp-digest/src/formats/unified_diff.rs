//! Unified diffs, as git and diff write them: what changes, not what the changed lines say.
//!
//! Written from real runs of git 2.39, GNU diff 3.8 and GNU patch 2.7. A hunk's header says how many lines it has,
//! so that no line of it is taken for anything else.

use crate::diff::{DiffFile, DiffShape};
use crate::digest::{Kind, Location};
use crate::find::Find;
use crate::joined::joined;
use crate::limits;
use crate::line::{Line, leading_number, place_at_start, states};
use crate::reader::{Format, Reader, Step};
use crate::report::{Finding, Report};
use crate::rest::Rest;

/// The row of the table.
pub(crate) const FORMAT: Format = Format {
    name: "diff",
    tools: "git diff, git show, diff -u; git apply, git merge, git rebase, patch",
    recognises: "files with lines added and removed, renames, binary files; hunks that do not apply, merge conflicts",
    version: "git 2.39, GNU patch 2.7",
    triggers: &[
        "diff --git ",
        "\n--- ",
        "\n+++ ",
        "\n@@ -",
        "patching file ",
        "Hunk #",
        "patch does not apply",
        "error: patch failed",
        "CONFLICT (",
        "Automatic merge failed",
        "could not apply",
        "Could not apply",
        "previously applied) patch",
        " saving rejects to",
        "hint: ",
    ],
    reader: || Box::<Diff>::default(),
};

#[derive(Debug, Default)]
struct Diff {
    file: Option<DiffFile>,
    before: Option<(String, u64)>,
    old: u64,
    new: u64,
    /// The file that patch is at.
    patched: String,
}

impl Reader for Diff {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        if self.old > 0 || self.new > 0 {
            self.changed(line.text);
            return Step::Hold;
        }
        let text = line.text;
        if let Some(rest) = text.strip_prefix("diff --git ") {
            self.close(report);
            let path = rest.last_part_at(" b/").map_or(rest, |(_, path)| path);
            self.file = Some(file(path, line.number));
            return Step::Hold;
        }
        if let Some(path) = text.strip_prefix("--- ") {
            self.before = Some((name(path), line.number));
            return if self.file.is_some() {
                Step::Hold
            } else {
                Step::Pass
            };
        }
        if let Some((before, number)) = text.strip_prefix("+++ ").and(self.before.take()) {
            self.names(&before, &name(&text[4..]), number, report);
            return Step::Hold;
        }
        let step = self.others(line, report);
        if step == Step::Pass {
            return self.applied(line, report);
        }
        step
    }

    fn read_on(&mut self, rest: &mut Rest<'_>, _: &mut Report) -> bool {
        rest.read_hunk_while(|line| {
            let within = self.old > 0 || self.new > 0;
            if within {
                self.changed(line.text);
            }
            within
        });
        true
    }

    fn finish(&mut self, report: &mut Report) {
        self.close(report);
    }
}

fn file(path: &str, line: u64) -> DiffFile {
    DiffFile {
        path: path.to_owned(),
        from: None,
        change: "modified",
        added: 0,
        removed: 0,
        hunks: 0,
        line,
    }
}

/// The path without `a/`, `b/` and a time stamp.
fn name(text: &str) -> String {
    let path = text.split('\t').next().unwrap_or(text);
    path.strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(path)
        .to_owned()
}

impl Diff {
    fn names(&mut self, before: &str, after: &str, number: u64, report: &mut Report) {
        if self.file.as_ref().is_none_or(|file| file.hunks > 0) {
            self.close(report);
            self.file = Some(file(after, number));
        }
        let Some(file) = &mut self.file else { return };
        if before == "/dev/null" {
            file.change = "added";
        } else if after == "/dev/null" {
            file.change = "deleted";
            before.clone_into(&mut file.path);
        }
    }

    /// Between hunks: a header, or git's extended header lines, or the end of the diff.
    fn others(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let Some(file) = &mut self.file else {
            return Step::Pass;
        };
        let text = line.text;
        if let Some((old, new)) = hunk(text) {
            file.hunks += 1;
            (self.old, self.new) = (old, new);
            return Step::Hold;
        }
        if let Some(from) = text.strip_prefix("rename from ") {
            file.from = Some(from.to_owned());
            file.change = "renamed";
            return Step::Hold;
        }
        if text.starts_with("Binary files ") || text == "GIT binary patch" {
            file.change = "binary";
            return Step::Hold;
        }
        let extended = [
            "index ",
            "new file mode",
            "deleted file mode",
            "old mode",
            "new mode",
            "similarity index",
            "rename to",
            "copy ",
            "\\ No newline",
        ];
        if let Some(change) = [("new file", "added"), ("deleted file", "deleted")]
            .iter()
            .find(|(start, _)| text.starts_with(start))
        {
            file.change = change.1;
        }
        if extended.iter().any(|start| text.starts_with(start)) {
            return Step::Hold;
        }
        self.close(report);
        Step::Pass
    }

    /// What git and patch say when a diff cannot be applied.
    fn applied(&mut self, line: &Line<'_>, report: &mut Report) -> Step {
        let text = line.text;
        if let Some(file) = text.strip_prefix("patching file ") {
            file.clone_into(&mut self.patched);
            return Step::Take;
        }
        if let Some(place) = text
            .strip_prefix("error: patch failed: ")
            .and_then(place_at_start)
        {
            report.fail(Finding::new(Kind::Tool, text, line).at(place.0));
        } else if let Some(row) = failed_hunk(text) {
            let location = Location {
                path: self.patched.clone(),
                line: Some(row),
                column: None,
            };
            let title = joined![self.patched, ": ", text];
            report.fail(Finding::new(Kind::Tool, &title, line).at(location));
        } else if text.starts_with("CONFLICT (") || text.starts_with("Reversed (or previously applied) patch")
        {
            report.fail(Finding::new(Kind::Tool, text, line).known_as(joined!["diff ", text]));
        } else if is_sum(text) {
            report.failed(line);
            report.cascade(line);
        } else if text.starts_with("hint: ") {
            return Step::Common;
        } else {
            return Step::Pass;
        }
        Step::Take
    }

    /// A line of a hunk. Trailing blanks have been cut, so an empty line is an unchanged one.
    fn changed(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        match text.as_bytes().first() {
            Some(b'+') => {
                file.added += 1;
                self.new = self.new.saturating_sub(1);
            }
            Some(b'-') => {
                file.removed += 1;
                self.old = self.old.saturating_sub(1);
            }
            Some(b'\\') => {}
            _ => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
        }
    }

    fn close(&mut self, report: &mut Report) {
        (self.old, self.new) = (0, 0);
        let Some(file) = self.file.take() else { return };
        let shape = report.diff.get_or_insert_with(DiffShape::default);
        shape.count += 1;
        shape.added += file.added;
        shape.removed += file.removed;
        if shape.files.len() < limits::FAILURES {
            shape.files.push(file);
        }
    }
}

/// `Hunk #1 FAILED at 2.`: the line.
fn failed_hunk(text: &str) -> Option<u64> {
    let (_, rest) = text.strip_prefix("Hunk #")?.part_at(" FAILED at ")?;
    leading_number(rest).map(|(row, _)| row)
}

/// Lines that only report that something did not apply.
fn is_sum(text: &str) -> bool {
    (text.starts_with("error: ") && text.ends_with(": patch does not apply"))
        || text.starts_with("Automatic merge failed")
        || text.starts_with("error: could not apply ")
        || text.starts_with("Could not apply ")
        || states(text, " -- saving rejects to")
}

/// `@@ -1,7 +1,9 @@`: how many lines of each side.
fn hunk(text: &str) -> Option<(u64, u64)> {
    let (old, rest) = side(text.strip_prefix("@@ -")?)?;
    let (new, rest) = side(rest.strip_prefix(" +")?)?;
    rest.starts_with(" @@").then_some((old, new))
}

fn side(text: &str) -> Option<(u64, &str)> {
    let (_, rest) = leading_number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => leading_number(rest),
        None => Some((1, rest)),
    }
}
