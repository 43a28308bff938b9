//! From what the readers found to the digest: order, outcome, and what is left to say.

use crate::counted::counted;
use crate::digest::{Content, Digest, Failure, Kind, Note, Outcome, Quote, Verdict};
use crate::digester::Options;
use crate::document::Documents;
use crate::ending;
use crate::find::Find;
use crate::report::{Orphan, Report};
use crate::templates::LogReader;
use crate::unknown::Ends;

/// Everything the digester has gathered.
#[derive(Debug)]
pub(crate) struct Parts {
    pub options: Options,
    pub bytes: u64,
    pub lines: u64,
    pub report: Report,
    pub log: LogReader,
    pub documents: Documents,
    pub ends: Ends,
}

/// Makes the digest.
pub(crate) fn close(parts: Parts) -> Digest {
    let exit = parts.options.exit;
    let sized = Sized {
        exit,
        bytes: parts.bytes,
        lines: parts.lines,
    };
    if parts.bytes == 0 {
        return sized.bare(Content::Empty);
    }
    if parts.ends.is_binary() {
        return sized.bare(Content::Binary);
    }
    let read = parts
        .report
        .formats
        .iter()
        .any(|format| READ_AS_JSON.contains(format));
    let fault = parts.documents.fault();
    if let Some((shape, sarif)) = parts.documents.close().filter(|_| !read) {
        let mut report = Report::default();
        let known = sarif.report(&mut report);
        let mut digest = sized.read(report, &parts.log);
        digest.content = if shape.documents > 1 {
            Content::JsonLines
        } else {
            Content::Json
        };
        digest.json = (!known).then_some(shape);
        return digest;
    }
    let mut digest = sized.text(parts.report, parts.log, parts.ends);
    if let Some((text, line)) = fault.filter(|_| digest.formats.is_empty()) {
        digest.notes.push(Note { text, line });
    }
    digest
}

/// Formats whose lines are JSON documents: their findings go before an outline.
const READ_AS_JSON: &[&str] = &["go test", "cargo json"];

struct Sized {
    exit: Option<i32>,
    bytes: u64,
    lines: u64,
}

impl Sized {
    fn bare(&self, content: Content) -> Digest {
        let mut digest = self.read(Report::default(), &LogReader::default());
        digest.content = content;
        digest
    }

    fn text(&self, mut report: Report, log: LogReader, ends: Ends) -> Digest {
        let unknowns = std::mem::take(&mut report.unknowns);
        let mut digest = self.read(report, &log);
        // Of few entries the long outputs between them are read as any output is.
        let dense = log.is_dense();
        digest.log = log.close();
        digest.content = content(&digest);
        if digest.content != Content::Diff {
            ending::add(&mut digest, &ends, unknowns.state_any());
        }
        let succeeded = digest.outcome.verdict == Verdict::Succeeded;
        digest.unexplained = unknowns.close(digest.log.is_some() && dense, succeeded);
        if succeeded && tests_passed(&digest) {
            printed_by_tests(&mut digest);
        }
        let shown = digest.failures.is_empty() && digest.log.is_none() && digest.diff.is_none();
        if shown && (digest.content == Content::Text || digest.outcome.verdict == Verdict::Failed) {
            digest.head = ends.head();
            digest.tail = ends.tail(self.lines);
        }
        digest
    }

    fn read(&self, report: Report, log: &LogReader) -> Digest {
        let mut report = report;
        report.drop_forgiven();
        demote_exceptions(&mut report, self.exit, log);
        units_follow(&mut report);
        report.settle_steps();
        promote_orphans(&mut report);
        if report.failures.is_empty() && self.exit.is_some_and(|exit| exit != 0) {
            report.heed();
        }
        let more_failures = report.more();
        let mut failures = report.failures;
        failures.sort_by_key(|failure| (failure.kind == Kind::Unknown, failure.lines.first));
        end_sections(&mut report.sections, &failures, self.lines);
        let mut outcome = outcome(self.exit, &failures, report.words.failed, report.words.succeeded);
        // A system's log goes on after a service has failed: it has no outcome unless it says so.
        let system = log.is_dense() && failures.iter().all(is_unit);
        if system && self.exit.is_none() && outcome.last_word.is_none() {
            outcome.verdict = Verdict::Unknown;
        }
        Digest {
            content: Content::Text,
            bytes: self.bytes,
            lines: self.lines,
            formats: report.formats,
            outcome,
            failures,
            more_failures,
            warnings: report.warnings.close(),
            tallies: report.tallies,
            sections: report.sections,
            notes: report.notes,
            log: None,
            json: None,
            diff: report.diff,
            head: Vec::new(),
            tail: Vec::new(),
            unexplained: crate::digest::Unexplained::default(),
        }
    }
}

/// Whether a test runner counted tests, and none that failed.
fn tests_passed(digest: &Digest) -> bool {
    const RAN: &[&str] = &[
        "passed",
        "passing",
        "pass",
        "run",
        "runs",
        "ok",
        "tests",
        "examples",
        "success",
        "successful",
    ];
    const BAD: &[&str] = &["failed", "failing", "fail", "failures", "errors", "error"];
    let counts = || digest.tallies.iter().flat_map(|tally| &tally.counts);
    let any = |names: &[&str]| counts().any(|(name, count)| *count > 0 && names.contains(&name.as_str()));
    digest.failures.is_empty() && any(RAN) && !any(BAD)
}

/// What the program under test printed, in a run whose tests passed, is no failure of the run: it is told, not counted.
fn printed_by_tests(digest: &mut Digest) {
    let printed = std::mem::take(&mut digest.unexplained);
    let Some(first) = printed.first.first() else {
        return;
    };
    let more = match printed.count - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "lines more")),
    };
    digest.notes.push(Note {
        text: format!("printed while the tests passed: {}{more}", first.text.trim()),
        line: first.line,
    });
}

/// Whether it is a service's end as the system's log tells it.
fn is_unit(failure: &Failure) -> bool {
    let unit = failure.subject.as_deref().filter(|_| failure.format == "kernel");
    unit.is_some_and(|unit| unit.ends_with(".service"))
}

fn content(digest: &Digest) -> Content {
    if digest.diff.is_some() && digest.failures.is_empty() {
        Content::Diff
    } else if digest.log.is_some() && digest.failures.iter().all(is_unit) && digest.tallies.is_empty() {
        Content::Log
    } else if !digest.formats.is_empty() {
        Content::Build
    } else {
        Content::Text
    }
}

/// An exception that is printed and survived is no failure of a run that succeeded, and one that a log has an entry of
/// is none as long as the log goes on: each is worth a note, where the log does not tell it.
fn demote_exceptions(report: &mut Report, exit: Option<i32>, log: &LogReader) {
    let said = report
        .words
        .succeeded
        .as_ref()
        .filter(|_| report.words.failed.is_none())
        .map_or(0, |quote| quote.line);
    let failures = report.take_failures();
    let only = failures
        .iter()
        .all(|(failure, _)| failure.kind == Kind::Exception);
    let survivable = |failure: &Failure, logged: bool| {
        logged && failure.kind == Kind::Exception && failure.lines.last < log.last_entry()
    };
    let other = failures
        .iter()
        .any(|(failure, logged)| !survivable(failure, *logged));
    for (failure, logged) in failures {
        let ended = failure.kind == Kind::Exception
            && (exit == Some(0) || (exit.is_none() && only && failure.lines.first < said));
        let survived = survivable(&failure, logged) && (exit.is_none() || other);
        if !ended && !survived {
            report.failures.push(failure);
        } else if !(logged && log.is_log()) {
            let did = if logged { "logged" } else { "printed" };
            report.note(
                format!("{did} an exception and went on: {}", failure.title),
                failure.lines.first,
            );
        }
    }
}

/// That a service's process exited follows from what its program said before, where it said why.
fn units_follow(report: &mut Report) {
    let mut at = 0;
    while at < report.failures.len() {
        match said_before(report, &report.failures[at]) {
            Some(earlier) => {
                let exited = report.failures.remove(at);
                let earlier = &mut report.failures[earlier - usize::from(earlier > at)];
                earlier.cascade += 1 + exited.cascade;
                crate::report::list(&mut earlier.cascade_lines, exited.lines.first);
                for line in exited.cascade_lines {
                    crate::report::list(&mut earlier.cascade_lines, line);
                }
            }
            None => at += 1,
        }
    }
}

/// The failure that the program of this unit, `tern[812]` of `tern.service`, stated before its process exited.
fn said_before(report: &Report, exited: &Failure) -> Option<usize> {
    let unit = exited.subject.as_deref().filter(|_| exited.format == "kernel")?;
    let name = unit.strip_suffix(".service")?;
    report.failures.iter().rposition(|failure| {
        let section = failure.section.and_then(|at| report.sections.get(at));
        let pid = section.and_then(|section| section.name.strip_prefix(name));
        pid.is_some_and(|pid| pid.starts_with('[')) && failure.lines.first < exited.lines.first
    })
}

/// Lines that reported a failure which nothing stated. The first is all there is to know of it; those after it
/// go under it, or under the last failure before them.
fn promote_orphans(report: &mut Report) {
    let nesting = std::mem::take(&mut report.nesting);
    for orphan in std::mem::take(&mut report.orphans) {
        let line = orphan.quote.line;
        // A step of a CI job holds the streams of the jobs it ran side by side.
        let step = orphan
            .section
            .filter(|_| orphan.format == "ci")
            .and_then(|at| report.sections.get(at))
            .map(|section| section.lines);
        let before = |failure: &&mut Failure| {
            let inside = step.is_some_and(|lines| lines.holds(failure.lines.first));
            (inside || nesting.covers(orphan.section, failure.section)) && failure.lines.first < line
        };
        match report
            .failures
            .iter_mut()
            .filter(before)
            .max_by_key(|failure| failure.lines.first)
        {
            Some(failure) if !is_beside(failure, &orphan) => {
                failure.cascade += 1;
                crate::report::list(&mut failure.cascade_lines, line);
            }
            _ => report.unknown(orphan),
        }
    }
}

/// Whether a recipe failed beside one that failed before, and not for it: two of one make, of which nothing but make's own
/// lines is known. A recipe that needs one that failed is not run.
fn is_beside(failure: &Failure, orphan: &Orphan) -> bool {
    let make = |format| format == "make";
    let level = |text: &str| Some(text.part_at(": *** [")?.0.to_owned());
    let same = level(&orphan.quote.text).is_some_and(|this| level(&failure.title) == Some(this));
    make(failure.format) && make(orphan.format) && failure.kind == Kind::Unknown && same
}

fn end_sections(sections: &mut [crate::digest::Section], failures: &[Failure], lines: u64) {
    for failure in failures {
        if let Some(section) = failure.section.and_then(|at| sections.get_mut(at)) {
            section.verdict = Verdict::Failed;
        }
    }
    for section in sections {
        section.lines.last = section.lines.last.min(lines.max(1));
    }
}

fn outcome(
    exit: Option<i32>,
    failures: &[Failure],
    failed: Option<Quote>,
    succeeded: Option<Quote>,
) -> Outcome {
    let verdict = match exit {
        Some(0) => Verdict::Succeeded,
        Some(_) => Verdict::Failed,
        None if failed.is_some() || !failures.is_empty() => Verdict::Failed,
        None if succeeded.is_some() => Verdict::Succeeded,
        None => Verdict::Unknown,
    };
    let last_word = if verdict == Verdict::Failed {
        failed
    } else {
        succeeded
    };
    Outcome {
        verdict,
        exit,
        last_word,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Digest, Options};

    fn notes(text: &str) -> Vec<(String, u64)> {
        let digest = Digest::of(text.as_bytes(), Options::default());
        digest
            .notes
            .into_iter()
            .map(|note| (note.text, note.line))
            .collect()
    }

    #[test]
    fn the_line_that_is_not_json_is_named() {
        let mut lines: Vec<String> = (0..200).map(|id| format!("{{\"id\": {id}}}")).collect();
        lines[120] = "{\"id\": oops}".to_owned();
        let said = "JSON Lines up to here, 120 documents: this line is not JSON";
        assert_eq!(notes(&lines.join("\n")), [(said.to_owned(), 121)]);
        let said = "JSON up to here, where it is not";
        assert_eq!(
            notes("{\n \"a\": 1,\n \"b\": 2,\n \"c\" 3\n}\n"),
            [(said.to_owned(), 4)]
        );
        let said = "JSON cut short: 1 not closed at its end";
        assert_eq!(notes("[\n 1,\n 2,\n 3,\n"), [(said.to_owned(), 5)]);
        let said = "JSON nested more than 65,536 levels deep: not outlined";
        assert_eq!(notes(&"[".repeat(70_000)), [(said.to_owned(), 1)]);
        assert!(notes("[1/3] Building\n[2/3] Linking\n").is_empty());
    }
}
