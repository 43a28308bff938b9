//! The status row: the model and how full its window is, where one is, and on the right how approvals stand and what
//! the last turn took. What does not fit is left out, the least important first.

use ratatui::text::{Line, Span};
use wisp_agent::protocol::Status;
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
    let attempts = [
        (left(app, status, true), right.clone()),
        (left(app, status, false), right),
        (
            left(app, status, false),
            vec![app.looks.span(Role::Quiet, visible(&status.approval))],
        ),
        (left(app, status, false), Vec::new()),
    ];
    let fits = |(left, right): &(Vec<Span<'static>>, Vec<Span<'static>>)| joined(app, left, right);
    let last = attempts[3].0.clone();
    attempts.iter().find_map(fits).unwrap_or_else(|| Line::from(last))
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

fn left(app: &App, status: &Status, whole: bool) -> Vec<Span<'static>> {
    let looks = &app.looks;
    let mut spans = vec![looks.span(Role::Status, visible(&status.model))];
    if let Some(used) = status.context_used {
        let percent = (used * 100.0).clamp(0.0, 999.0).round();
        spans.push(looks.span(Role::Quiet, ":"));
        spans.push(looks.span(context_role(used), format!("{percent}% used")));
    }
    let directory = visible(&status.directory);
    let short = directory
        .rsplit('/')
        .next()
        .filter(|last| !last.is_empty())
        .unwrap_or(&directory);
    spans.push(looks.span(Role::Quiet, " · "));
    spans.push(looks.span(
        Role::Status,
        if whole {
            directory.clone()
        } else {
            short.to_owned()
        },
    ));
    if let Some(branch) = &status.branch {
        spans.push(looks.span(Role::Quiet, ":"));
        spans.push(looks.span(Role::Prompt, visible(branch)));
    }
    match (status.added, status.removed) {
        (None, None) if status.dirty => spans.push(looks.span(Role::Warn, "*")),
        (added, removed) => {
            let counts = [(added, '+', Role::Added), (removed, '-', Role::Removed)];
            for (count, sign, role) in counts {
                if let Some(count) = count.filter(|count| *count > 0) {
                    spans.push(looks.span(role, format!("{sign}{count}")));
                }
            }
        }
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

fn right(app: &App, status: &Status) -> Vec<Span<'static>> {
    let mut text = visible(&status.approval);
    if let Some(end) = &app.last_turn {
        let separator = if text.is_empty() { "" } else { " · " };
        text = format!("{text}{separator}last: {}", figures(end));
    }
    let waiting = app.dialogs.len().saturating_sub(1);
    let mut spans = Vec::new();
    if waiting > 0 {
        spans.push(app.looks.span(Role::Warn, format!("⚠ {waiting} more waiting  ")));
    }
    spans.push(app.looks.span(Role::Quiet, text));
    spans
}
