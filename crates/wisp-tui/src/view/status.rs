//! The status row: the model and how full its window is, where one is, and on the right the work beside the turns, how
//! approvals stand and what the last turn took. What does not fit is left out, the least important first.

use ratatui::text::{Line, Span};
use wisp_agent::protocol::{JobStatus, Status};
use wisp_term::{Role, visible};

use crate::app::{App, figures};
use crate::looks::line_cells;

/// The row for the app's width.
pub(super) fn row(app: &App) -> Line<'static> {
    if app.is_about_to_leave() {
        let key = app.bindings.hint("interrupt").unwrap_or_default();
        return Line::from(app.looks.span(Role::Warn, format!("{key} again leaves")));
    }
    let Some(status) = &app.status else {
        return Line::from(app.looks.span(Role::Quiet, "starting …"));
    };
    let right = right(app, status);
    let bare = left(app, status, Directory::None);
    let room = app
        .width()
        .saturating_sub(line_cells(&Line::from(bare.clone())) + 2);
    let jobs = |most| Vec::from_iter(jobs(app, most));
    let mut short = separated(jobs(usize::MAX));
    short.push(app.looks.span(Role::Quiet, visible(&status.approval)));
    let attempts = [
        (left(app, status, Directory::Whole), right.clone()),
        (left(app, status, Directory::Last), right),
        (left(app, status, Directory::Last), short),
        (left(app, status, Directory::Last), jobs(usize::MAX)),
        (bare.clone(), jobs(room)),
        (bare.clone(), Vec::new()),
    ];
    let fitting = attempts.iter().find_map(|(left, right)| joined(app, left, right));
    fitting.unwrap_or_else(|| Line::from(bare))
}

/// The same with two cells after it, if there is anything.
fn separated(mut spans: Vec<Span<'static>>) -> Vec<Span<'static>> {
    if !spans.is_empty() {
        spans.push(Span::raw("  "));
    }
    spans
}

/// How much of the directory is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directory {
    Whole,
    Last,
    None,
}

/// The two halves at the edges of the row, if they fit with two cells between them.
fn joined(app: &App, left: &[Span<'static>], right: &[Span<'static>]) -> Option<Line<'static>> {
    let cells = |spans: &[Span<'static>]| line_cells(&Line::from(spans.to_vec()));
    let used = cells(left) + cells(right);
    let gap = app
        .width()
        .checked_sub(used)
        .filter(|gap| *gap >= 2 || right.is_empty())?;
    let mut spans = left.to_vec();
    spans.push(Span::raw(" ".repeat(gap)));
    spans.extend_from_slice(right);
    Some(Line::from(spans))
}

fn left(app: &App, status: &Status, shown: Directory) -> Vec<Span<'static>> {
    let looks = &app.looks;
    let mut spans = vec![looks.span(Role::Status, visible(&status.model))];
    if let Some(used) = status.context_used {
        let percent = wisp_term::units::percent_of(used).min(999);
        spans.push(looks.span(Role::Quiet, ":"));
        spans.push(looks.span(context_role(used), format!("{percent}% used")));
    }
    if shown != Directory::None {
        spans.push(looks.span(Role::Quiet, " · "));
        spans.extend(place(app, status, shown));
    }
    spans
}

/// The directory, the branch, and what changed since its last commit.
fn place(app: &App, status: &Status, shown: Directory) -> Vec<Span<'static>> {
    let looks = &app.looks;
    let directory = visible(&status.directory);
    let last = directory.rsplit('/').next().filter(|last| !last.is_empty());
    let short = last.unwrap_or(&directory).to_owned();
    let directory = if shown == Directory::Whole {
        directory
    } else {
        short
    };
    let mut spans = vec![looks.span(Role::Status, directory)];
    if let Some(branch) = &status.branch {
        spans.push(looks.span(Role::Quiet, ":"));
        spans.push(looks.span(Role::Prompt, visible(branch)));
    }
    if status.dirty && status.added.is_none() && status.removed.is_none() {
        spans.push(looks.span(Role::Warn, "*"));
    }
    let counts = [
        (status.added, '+', Role::Added),
        (status.removed, '-', Role::Removed),
    ];
    for (count, sign, role) in counts {
        let count = count.filter(|count| *count > 0);
        spans.extend(count.map(|count| looks.span(role, format!("{sign}{count}"))));
    }
    spans
}

/// Quiet below half, then the prompt's colour, and a warning from four fifths on.
fn context_role(used: f64) -> Role {
    if used >= 0.8 {
        Role::Warn
    } else if used >= 0.5 {
        Role::Prompt
    } else {
        Role::Quiet
    }
}

/// What is done beside the turns, in at most so many cells.
fn jobs(app: &App, most: usize) -> Option<Span<'static>> {
    let line = format!("… {}", visible(&JobStatus::line(&app.jobs)?));
    let line = wisp_term::width::truncate(&line, most).into_owned();
    (!line.is_empty()).then(|| app.looks.span(Role::Status, line))
}

fn right(app: &App, status: &Status) -> Vec<Span<'static>> {
    let mut text = visible(&status.approval);
    if let Some(end) = &app.last_turn {
        let separator = if text.is_empty() { "" } else { " · " };
        text = format!("{text}{separator}last: {}", figures(end));
    }
    let waiting = app.dialogs.len().saturating_sub(1);
    let mut spans = separated(jobs(app, usize::MAX).into_iter().collect());
    if waiting > 0 {
        spans.push(app.looks.span(Role::Warn, format!("⚠ {waiting} more waiting  ")));
    }
    spans.push(app.looks.span(Role::Quiet, text));
    spans
}
