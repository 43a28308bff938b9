//! The points of a digest as rows with ranks.

use super::Row;
use super::{View, others};
use crate::counted::{counted, thousands};
use crate::digest::{Content, Digest, Failure, Verdict};

const HEAD: u32 = 0;
pub(super) const CAUSE: u32 = 1;
const UNEXPLAINED: u32 = 2;
const TALLY: u32 = 3;
const NOTE: u32 = 4;
const UNDER: u32 = 4;
pub(super) const REST: u32 = 7;
const DETAIL: u32 = 5;

/// Collects rows.
#[derive(Debug, Default)]
pub(super) struct Rows(pub Vec<Row>);

impl Rows {
    pub(super) fn add(&mut self, rank: u32, text: impl Into<String>) {
        self.0.push(Row {
            rank,
            text: text.into(),
        });
    }
}

/// All rows of the view.
pub(super) fn rows(digest: &Digest, view: View) -> Vec<Row> {
    let mut rows = Rows::default();
    rows.add(HEAD, headline(digest));
    if view == View::Overview {
        others::overview(digest, &mut rows);
    }
    failures(digest, &mut rows);
    tallies(digest, &mut rows);
    warnings(digest, &mut rows);
    notes(digest, &mut rows);
    others::content(digest, view, &mut rows);
    unexplained(digest, &mut rows);
    rows.0
}

/// Outcome, size and kind in one line.
fn headline(digest: &Digest) -> String {
    let size = format!(
        "{}, {}",
        counted(digest.lines, "lines"),
        wisp_amount::size(digest.bytes)
    );
    let ended = match digest.content {
        Content::Empty => bare(digest, "no output at all"),
        Content::Binary => bare(digest, "binary, not text: nothing to read in it"),
        _ => ended(digest),
    };
    let read = if digest.formats.is_empty() {
        String::new()
    } else {
        format!("; read as {}", digest.formats.join(", "))
    };
    format!("{ended} ({size}{read})")
}

/// What there is to say of an input without text.
fn bare(digest: &Digest, what: &str) -> String {
    match digest.outcome.exit {
        Some(0) => format!("succeeded: exit 0, {what}"),
        Some(exit) => format!("failed: {}, {what}", exit_words(exit)),
        None => what.to_owned(),
    }
}

fn ended(digest: &Digest) -> String {
    let exit = digest.outcome.exit.map(exit_words);
    let word = digest
        .outcome
        .last_word
        .as_ref()
        .map(|quote| format!("{} (L{})", quote.text.trim(), quote.line));
    match (digest.outcome.verdict, exit) {
        (Verdict::Failed, Some(exit)) => format!("failed: {exit}{}", said(word)),
        (Verdict::Failed, None) => format!("failed{}", said(word)),
        (Verdict::Succeeded, exit) if digest.unexplained.count > 0 || !digest.failures.is_empty() => {
            format!(
                "ended{}, but not everything in it is clean{}",
                exit.map_or(String::new(), |exit| format!(" with {exit}")),
                said(word)
            )
        }
        (Verdict::Succeeded, Some(exit)) => format!("succeeded: {exit}{}", said(word)),
        (Verdict::Succeeded, None) => format!("succeeded{}", said(word)),
        (Verdict::Unknown, _) => kind_words(digest.content).to_owned(),
    }
}

fn said(word: Option<String>) -> String {
    word.map_or(String::new(), |word| format!("; it says: {word}"))
}

fn kind_words(content: Content) -> &'static str {
    match content {
        Content::Log => "a log",
        Content::Json => "a JSON document",
        Content::JsonLines => "JSON Lines",
        Content::Diff => "a diff",
        Content::Build => "a build or test output that does not say how it ended",
        _ => "text in no format known here",
    }
}

/// What an exit status means.
fn exit_words(exit: i32) -> String {
    match exit {
        126 => "exit 126, not executable".to_owned(),
        127 => "exit 127, command not found".to_owned(),
        134 => "exit 134, aborted (SIGABRT)".to_owned(),
        137 => "exit 137, killed (SIGKILL), often for want of memory".to_owned(),
        139 => "exit 139, segmentation fault (SIGSEGV)".to_owned(),
        143 => "exit 143, terminated (SIGTERM)".to_owned(),
        other => format!("exit {other}"),
    }
}

fn failures(digest: &Digest, rows: &mut Rows) {
    if digest.failures.is_empty() {
        return;
    }
    let causes = digest.failures.len() as u64 + digest.more_failures;
    let errors = digest.errors();
    let heading = if errors > causes {
        format!(
            "{} ({}):",
            counted(causes, "causes to fix"),
            counted(errors, "errors")
        )
    } else {
        format!("{}:", counted(causes, "errors to fix"))
    };
    rows.add(CAUSE, heading);
    for failure in &digest.failures {
        failure_rows(failure, rows);
    }
    if digest.more_failures > 0 {
        rows.add(
            CAUSE,
            format!("  … {} more", counted(digest.more_failures, "causes")),
        );
    }
}

fn failure_rows(failure: &Failure, rows: &mut Rows) {
    let place = failure.location.as_ref().map(ToString::to_string);
    let place = place.filter(|place| !failure.title.contains(place.as_str()));
    let subject = failure
        .subject
        .as_ref()
        .filter(|subject| !failure.title.contains(subject.as_str()));
    let mut head = format!("  {} {}", failure.lines, failure.title);
    for part in subject.into_iter().chain(place.as_ref()) {
        head.push_str(" — ");
        head.push_str(part);
    }
    rows.add(CAUSE, head);
    for quote in failure
        .explain
        .iter()
        .filter(|quote| quote.text.trim() != failure.title)
    {
        rows.add(DETAIL, format!("      L{} {}", quote.line, quote.text));
    }
    related_rows(failure, rows);
}

fn related_rows(failure: &Failure, rows: &mut Rows) {
    for related in &failure.related {
        let place = related
            .location
            .as_ref()
            .map_or(String::new(), |place| format!(" — {place}"));
        rows.add(
            UNDER,
            format!("    same cause: L{} {}{place}", related.line, related.title),
        );
    }
    let unlisted = (failure.diagnostics - 1).saturating_sub(failure.related.len() as u64);
    if unlisted > 0 {
        rows.add(UNDER, format!("    same cause: {} more", thousands(unlisted)));
    }
    let mut tail = Vec::new();
    if failure.cascade > 0 {
        tail.push(format!(
            "set off {} ({})",
            counted(failure.cascade, "lines"),
            listed(&failure.cascade_lines, failure.cascade)
        ));
    }
    if failure.copies > 0 {
        tail.push(format!(
            "printed again {}× ({})",
            thousands(failure.copies),
            listed(&failure.copy_lines, failure.copies)
        ));
    }
    if !tail.is_empty() {
        rows.add(UNDER, format!("    {}", tail.join("; ")));
    }
}

/// `L8, L30 …`.
pub(super) fn listed(lines: &[u64], count: u64) -> String {
    let shown: Vec<String> = lines.iter().map(|line| format!("L{line}")).collect();
    let more = if count > lines.len() as u64 { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

fn tallies(digest: &Digest, rows: &mut Rows) {
    for tally in &digest.tallies {
        let counts: Vec<String> = tally
            .counts
            .iter()
            .map(|(name, number)| counted(*number, name))
            .collect();
        rows.add(
            TALLY,
            format!("{}: {} ({})", tally.what, counts.join(", "), tally.lines),
        );
    }
}

fn warnings(digest: &Digest, rows: &mut Rows) {
    if digest.warnings.total == 0 {
        return;
    }
    rows.add(TALLY, format!("{}:", counted(digest.warnings.total, "warnings")));
    for kind in &digest.warnings.kinds {
        let lines = listed(&kind.lines, kind.count);
        rows.add(
            REST,
            format!(
                "  {}× {} ({lines}): {}",
                thousands(kind.count),
                kind.kind,
                kind.example.text.trim()
            ),
        );
    }
}

fn notes(digest: &Digest, rows: &mut Rows) {
    for note in &digest.notes {
        rows.add(NOTE, format!("note: {} (L{})", note.text, note.line));
    }
}

fn unexplained(digest: &Digest, rows: &mut Rows) {
    let found = &digest.unexplained;
    if found.count > 0 {
        let verb = if found.count == 1 {
            "looks like a failure and is"
        } else {
            "look like failures and are"
        };
        rows.add(
            UNEXPLAINED,
            format!("{} that {verb} not explained:", counted(found.count, "lines")),
        );
        for quote in &found.first {
            rows.add(REST - 1, format!("  L{} {}", quote.line, quote.text.trim()));
        }
    } else if digest.outcome.verdict == Verdict::Failed && digest.failures.is_empty() {
        let shown = if digest.tail.is_empty() {
            ""
        } else {
            "; the last lines are above"
        };
        rows.add(UNEXPLAINED, format!("no reader found the cause{shown}"));
    }
}
