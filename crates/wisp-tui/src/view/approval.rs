//! The question whether something may run, in a frame of its level's colour. The command and the keys are always in
//! view; a difference scrolls between them.

use ratatui::text::Line;
use wisp_agent::protocol::Decision;
use wisp_term::diff;
use wisp_term::width::{cells, truncate, truncate_middle};
use wisp_term::{Role, visible};

use crate::app::{App, ApprovalDialog};
use crate::looks::Frame;
use crate::wrap::{self, Break};

/// The most rows the command takes.
const COMMAND_ROWS: usize = 4;
/// The most cells of a reason (upstream's dialog).
const REASON_CELLS: usize = 110;
/// The most rows of a difference in view.
const DIFF_ROWS: usize = 12;

/// The rows of a difference that are in view before anything but the command's first row is.
const SEEN_ROWS: usize = 2;

/// The lowest window in which it is said what would be remembered.
const PATTERN_FROM: u16 = 10;

/// The words for the answers, with the action whose key gives them.
const ANSWERS: [(Decision, &str, &str); 5] = [
    (Decision::Once, "approve-once", "once"),
    (Decision::Session, "approve-session", "session"),
    (Decision::Project, "approve-project", "project 30d"),
    (Decision::Always, "approve-always", "always 30d"),
    (Decision::No, "refuse", "no"),
];

/// The framed question.
pub(super) fn rows(app: &App, dialog: &ApprovalDialog) -> Vec<Line<'static>> {
    let width = app.width();
    let inner = width.saturating_sub(4).max(1);
    let mut head = head(app, dialog, inner);
    let tail = tail(app, dialog, inner);
    let room = usize::from(app.size.height).saturating_sub(3 + tail.len()).max(1);
    // Of an edit something must be seen, in however low a window it is answered.
    let least = dialog.difference.len().min(SEEN_ROWS);
    head.truncate(room.saturating_sub(least).max(1));
    let diff_room = room.saturating_sub(head.len()).min(DIFF_ROWS);
    head.extend(difference(app, dialog, inner, diff_room));
    head.extend(tail);
    let level = visible(&dialog.approval.level);
    let title = if level.is_empty() {
        "may it run?".to_owned()
    } else {
        format!("{level} · may it run?")
    };
    let style = app.looks.style(dialog.role());
    Frame {
        title: &title,
        footer: "",
        style,
    }
    .around(head, width)
}

/// The command, the line it is part of, the directory and the reasons.
fn head(app: &App, dialog: &ApprovalDialog, inner: usize) -> Vec<Line<'static>> {
    let approval = &dialog.approval;
    let command = visible(&approval.command);
    let command = truncate_middle(&command, inner * COMMAND_ROWS).into_owned();
    let mut rows = wrap::lines(&[app.looks.span(Role::Person, command)], inner, Break::Anywhere);
    let quiet = |text: String| Line::from(app.looks.span(Role::Quiet, truncate(&text, inner).into_owned()));
    if !approval.line.is_empty() && approval.line != approval.command {
        rows.push(quiet(format!("in: {}", visible(&approval.line))));
    }
    if !approval.directory.is_empty() {
        rows.push(quiet(format!("at: {}", visible(&approval.directory))));
    }
    for reason in &approval.reasons {
        let reason = truncate(&visible(reason), REASON_CELLS.min(inner)).into_owned();
        rows.push(Line::from(app.looks.span(Role::Text, reason)));
    }
    rows
}

/// What would be remembered, in windows with room for it, and the keys.
fn tail(app: &App, dialog: &ApprovalDialog, inner: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if !dialog.approval.pattern.is_empty() && app.size.height >= PATTERN_FROM {
        let pattern = format!("remembered as: {}", visible(&dialog.approval.pattern));
        rows.push(Line::from(
            app.looks
                .span(Role::Quiet, truncate(&pattern, inner).into_owned()),
        ));
    }
    rows.push(Line::from(app.looks.span(Role::Prompt, keys(app, dialog, inner))));
    rows
}

/// The keys of the answers that can be given, with as many words as the row has room for.
fn keys(app: &App, dialog: &ApprovalDialog, inner: usize) -> String {
    let offered = &dialog.approval.decisions;
    let answers = ANSWERS.iter().filter(|(decision, ..)| {
        offered.is_empty() || *decision == Decision::No || offered.contains(decision)
    });
    let hint = |action: &str| app.bindings.hint(action).unwrap_or_default();
    let whole: Vec<String> = answers
        .map(|(_, action, word)| format!("[{}]{word}", hint(action)))
        .collect();
    let until = |end: char| {
        let start = move |key: &String| key.split(end).next().unwrap_or_default().to_owned();
        whole.iter().map(start)
    };
    let first_words = until(' ').collect::<Vec<_>>().join(" ");
    let letters: String = until(']').map(|key| key + "]").collect();
    let forms = [whole.join(" "), first_words, letters.clone()];
    forms
        .into_iter()
        .find(|form| cells(form) <= inner)
        .unwrap_or(letters)
}

/// The lines of an edit's difference in view.
fn difference(app: &App, dialog: &ApprovalDialog, inner: usize, room: usize) -> Vec<Line<'static>> {
    let lines = &dialog.difference;
    if lines.is_empty() || room == 0 {
        return Vec::new();
    }
    let total = lines.len();
    let fits = total <= room;
    let shown = if fits { room } else { room - 1 };
    let first = dialog.scrolled.min(total.saturating_sub(shown));
    let digits = diff::digits(lines);
    let in_view = lines.iter().skip(first).take(shown);
    let mut rows: Vec<Line<'static>> = in_view
        .map(|line| {
            let spans = diff::spans(line, digits, inner).into_iter();
            spans.map(|(role, text)| app.looks.span(role, text)).collect()
        })
        .collect();
    if !fits {
        let last = (first + shown).min(total);
        let (added, removed) = diff::counts(lines);
        let text = format!(
            "… lines {}–{last} of {total}, +{added} -{removed} · ↑↓ scroll",
            first + 1
        );
        rows.push(Line::from(
            app.looks.span(Role::Quiet, truncate(&text, inner).into_owned()),
        ));
    }
    rows
}
