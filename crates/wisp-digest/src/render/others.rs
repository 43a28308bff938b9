//! Rows for what is no build: logs, JSON, diffs, plain text; and the overview's parts.

use super::View;
use super::points::{REST, Rows, listed};
use crate::counted::{counted, thousands};
use crate::digest::{Digest, Verdict};
use crate::level::Severity;
use crate::templates::{LogShape, Template};

/// Sections and their ends.
pub(super) fn overview(digest: &Digest, rows: &mut Rows) {
    if digest.sections.is_empty() {
        return;
    }
    rows.add(
        REST,
        format!("{}:", counted(digest.sections.len() as u64, "sections")),
    );
    for section in &digest.sections {
        let mark = match section.verdict {
            Verdict::Failed => " — failed",
            Verdict::Succeeded => " — succeeded",
            Verdict::Unknown => "",
        };
        rows.add(REST, format!("  {} {}{mark}", section.lines, section.name));
    }
}

/// What the reader of the content has to say.
pub(super) fn content(digest: &Digest, view: View, rows: &mut Rows) {
    if let Some(log) = &digest.log {
        log_rows(log, digest.failures.is_empty() || view == View::Overview, rows);
    }
    if let Some(json) = &digest.json {
        json_rows(json, rows);
    }
    if let Some(diff) = &digest.diff {
        diff_rows(diff, rows);
    }
    ends(digest, rows);
}

fn log_rows(log: &LogShape, full: bool, rows: &mut Rows) {
    let severities: Vec<String> = log
        .severities
        .iter()
        .map(|(severity, count)| format!("{} {}", thousands(*count), name(*severity)))
        .collect();
    let merged = if log.merged { ", and more merged" } else { "" };
    rows.add(
        3,
        format!(
            "{}, {}{merged}: {}",
            counted(log.entries, "entries"),
            counted(log.templates.len() as u64, "templates"),
            severities.join(", ")
        ),
    );
    if let (Some(first), Some(last)) = (&log.first_time, &log.last_time) {
        rows.add(4, format!("from {first} to {last}"));
    }
    if let Some(gap) = log.gap {
        rows.add(
            4,
            format!(
                "longest silence: {} s ({})",
                thousands(u64::try_from(gap.millis / 1_000).unwrap_or(0)),
                gap.lines
            ),
        );
    }
    severity_rows(log, full, rows);
}

/// The templates by severity, the serious ones only where failures have been told.
fn severity_rows(log: &LogShape, full: bool, rows: &mut Rows) {
    let rank = if full { 4 } else { 12 };
    let severities = if full {
        &[
            Severity::Fatal,
            Severity::Error,
            Severity::Warning,
            Severity::Info,
        ][..]
    } else {
        &[Severity::Fatal, Severity::Error][..]
    };
    for severity in severities {
        let of_it = || log.templates.iter().filter(|each| each.severity == *severity);
        let most = if *severity <= Severity::Error {
            SEVERE
        } else {
            MILD
        };
        for template in of_it().take(most) {
            template_rows(template, rank, rows);
        }
        let more = of_it().count().saturating_sub(most);
        if more > 0 {
            let entries: u64 = of_it().skip(most).map(|each| each.count).sum();
            rows.add(
                rank + *severity as u32,
                format!(
                    "  {}: {} more of {}",
                    name(*severity),
                    counted(more as u64, "templates"),
                    counted(entries, "entries")
                ),
            );
        }
    }
}

/// Templates told of each severity: a service has hundreds of messages that were logged once.
const SEVERE: usize = 40;
const MILD: usize = 20;

fn template_rows(template: &Template, rank: u32, rows: &mut Rows) {
    let rank = rank + template.severity as u32;
    let lines = listed(&template.entry_lines, template.count);
    rows.add(
        rank,
        format!(
            "  {} {}× ({lines}): {}",
            name(template.severity),
            thousands(template.count),
            template.example.text.trim()
        ),
    );
    if template.severity <= Severity::Error {
        for quote in template.continuation.iter().take(6) {
            rows.add(
                rank + 6,
                format!("      L{} {}", quote.line, quote.text.trim_end()),
            );
        }
    }
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal => "fatal",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn json_rows(json: &crate::shape::JsonShape, rows: &mut Rows) {
    rows.add(3, counted(json.documents, "documents"));
    for (rank, member) in (4..).zip(&json.members) {
        let optional = match member.present {
            Some(present) if present < member.objects => {
                format!(" (in {} of {})", thousands(present), thousands(member.objects))
            }
            _ => String::new(),
        };
        let twice = if member.duplicates > 0 {
            format!(" (this name {} times)", thousands(member.duplicates + 1))
        } else {
            String::new()
        };
        rows.add(
            rank,
            format!(
                "{}{}: {}{optional}{twice}",
                "  ".repeat(member.depth),
                member.path,
                member.types
            ),
        );
    }
    if json.more > 0 {
        rows.add(4, format!("… {} more", counted(json.more, "names")));
    }
}

fn diff_rows(diff: &crate::diff::DiffShape, rows: &mut Rows) {
    rows.add(
        3,
        format!(
            "{}, +{} −{}",
            counted(diff.count, "files"),
            thousands(diff.added),
            thousands(diff.removed)
        ),
    );
    for file in &diff.files {
        let from = file
            .from
            .as_ref()
            .map_or(String::new(), |from| format!(" from {from}"));
        let hunks = counted(file.hunks, "hunks");
        rows.add(
            REST,
            format!(
                "  L{} {} {}{from}: +{} −{}, {hunks}",
                file.line,
                file.change,
                file.path,
                thousands(file.added),
                thousands(file.removed)
            ),
        );
    }
}

fn ends(digest: &Digest, rows: &mut Rows) {
    let after = digest.head.last().map_or(0, |quote| quote.line);
    for quote in &digest.head {
        rows.add(REST + 2, format!("  L{} {}", quote.line, quote.text));
    }
    let tail: Vec<_> = digest.tail.iter().filter(|quote| quote.line > after).collect();
    if tail.first().is_some_and(|quote| quote.line > after + 1) && after > 0 {
        rows.add(REST + 2, "  …");
    }
    for quote in tail {
        rows.add(REST + 1, format!("  L{} {}", quote.line, quote.text));
    }
}
