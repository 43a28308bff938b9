//! The question whether something may run, in a frame of its level's colour: all of it, scrolled where the window is
//! lower, above the keys, which are always in view.

use ratatui::text::Line;
use wisp_agent::protocol::Decision;
use wisp_term::width::cells;
use wisp_term::{Role, diff, visible};

use crate::app::{App, ApprovalDialog};
use crate::looks::Frame;

/// Rows that are none of the question's: the frame's two, the keys', and the status row.
const AROUND: usize = 4;

/// The words for the answers, with the action whose key gives them.
const ANSWERS: [(Decision, &str, &str); 7] = [
    (Decision::Once, "approve-once", "once"),
    (Decision::Turn, "approve-turn", "turn"),
    (Decision::Session, "approve-session", "session"),
    (Decision::Project, "approve-project", "project 30d"),
    (Decision::Always, "approve-always", "always 30d"),
    (Decision::No, "refuse", "no"),
    (Decision::No, "refuse-with-reason", "reason"),
];

/// Cells of a row of the question.
pub(crate) fn width(app: &App) -> usize {
    app.width().saturating_sub(4).max(1)
}

/// How many of the question's `total` rows are in view: what does not fit leaves one for the count.
pub(crate) fn room(app: &App, total: usize) -> usize {
    let room = usize::from(app.size.height).saturating_sub(AROUND).max(1);
    if total <= room { total } else { (room - 1).max(1) }
}

/// The framed question.
pub(super) fn rows(app: &App, dialog: &ApprovalDialog) -> Vec<Line<'static>> {
    let inner = width(app);
    let all = dialog.rows(inner);
    let (total, room) = (all.len(), room(app, all.len()));
    let in_view = all.into_iter().skip(dialog.seen.first).take(room);
    let mut rows: Vec<Line<'static>> = in_view
        .map(|row| {
            row.into_iter()
                .map(|(role, text)| app.looks.span(role, text))
                .collect()
        })
        .collect();
    if room < total {
        rows.push(Line::from(
            app.looks.span(Role::Quiet, count(dialog, total, room, inner)),
        ));
    }
    rows.push(Line::from(app.looks.span(Role::Prompt, keys(app, dialog, inner))));
    let level = visible(&dialog.approval.level);
    let title = if level.is_empty() {
        "may it run?".to_owned()
    } else {
        format!("{level} · may it run?")
    };
    let style = app.looks.style(dialog.role());
    Frame {
        title: &title,
        footer: if dialog.too_soon {
            "see all of it first"
        } else {
            ""
        },
        style,
    }
    .around(rows, app.width())
}

/// `12 of 84 rows · +40 -2 · ↑↓ space`, as much of it as the row has room for.
fn count(dialog: &ApprovalDialog, total: usize, room: usize, inner: usize) -> String {
    let count = dialog.seen.words(total, room);
    let (added, removed) = diff::counts(&dialog.difference);
    let changed = if added + removed > 0 {
        format!(" · +{added} -{removed}")
    } else {
        String::new()
    };
    let forms = [
        format!("{count}{changed} · ↑↓ scroll, space: next view"),
        format!("{count}{changed} · ↑↓ space"),
        format!("{count} · ↑↓"),
        count,
    ];
    let fits = forms.iter().find(|form| cells(form) <= inner);
    fits.unwrap_or(&forms[3]).clone()
}

/// The keys of the answers that can be given, with as many words as the row has room for.
fn keys(app: &App, dialog: &ApprovalDialog, inner: usize) -> String {
    let offered = &dialog.approval.decisions;
    let answers = ANSWERS.iter().filter(|(decision, ..)| {
        // A yes is offered once it is one.
        *decision == Decision::No || dialog.seen.all() && (offered.is_empty() || offered.contains(decision))
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
    let stops = format!("{} · {} ends the turn", whole.join(" "), hint("refuse-and-stop"));
    let forms = [stops, whole.join(" "), first_words, letters.clone()];
    forms
        .into_iter()
        .find(|form| cells(form) <= inner)
        .unwrap_or(letters)
}
