//! The question whether something may run, in a frame of its level's colour: all of it, scrolled where the window is
//! lower, above the keys, which are always in view.

use ratatui::text::Line;
use wisp_agent::protocol::Decision;
use wisp_term::width::cells;
use wisp_term::{Role, diff, visible};

use crate::app::{App, ApprovalDialog};
use crate::looks::Frame;

/// Rows that are none of the question's, beside the keys: the frame's two, and the status row.
const AROUND: usize = 3;
/// From this height on the keys may take a second row; a lower window has its rows for the question.
const ROOMY: u16 = 16;

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
pub(crate) fn room(app: &App, dialog: &ApprovalDialog, total: usize) -> usize {
    let around = AROUND + keys(app, dialog, width(app), true).len();
    let room = usize::from(app.size.height).saturating_sub(around).max(1);
    if total <= room { total } else { (room - 1).max(1) }
}

/// The framed question.
pub(super) fn rows(app: &App, dialog: &ApprovalDialog) -> Vec<Line<'static>> {
    let inner = width(app);
    let all = dialog.rows(inner);
    let (total, room) = (all.len(), room(app, dialog, all.len()));
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
    let keys = keys(app, dialog, inner, dialog.seen.all());
    rows.extend(
        keys.into_iter()
            .map(|row| Line::from(app.looks.span(Role::Prompt, row))),
    );
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

/// The keys of the answers that can be given, with as many words as one or two rows have room for. A yes is offered once all
/// has been `seen`.
fn keys(app: &App, dialog: &ApprovalDialog, inner: usize, seen: bool) -> Vec<String> {
    let offered = &dialog.approval.decisions;
    let answers = ANSWERS.iter().filter(|(decision, ..)| {
        *decision == Decision::No || seen && (offered.is_empty() || offered.contains(decision))
    });
    let hint = |action: &str| app.bindings.hint(action).unwrap_or_default();
    let whole: Vec<String> = answers
        .map(|(_, action, word)| format!("[{}]{word}", hint(action)))
        .collect();
    let until = |end: char| {
        let start = move |key: &String| key.split(end).next().unwrap_or_default().to_owned();
        whole.iter().map(start)
    };
    let first_words: Vec<String> = until(' ').collect();
    let letters: String = until(']').map(|key| key + "]").collect();
    let stops = format!("{} ends the turn", hint("refuse-and-stop"));
    let with_stops: Vec<String> = whole.iter().cloned().chain([stops]).collect();
    let one_row = format!("{} · {}", whole.join(" "), with_stops[with_stops.len() - 1]);
    if cells(&one_row) <= inner {
        return vec![one_row];
    }
    let forms = [&with_stops, &whole, &first_words];
    let most = if app.size.height < ROOMY { 1 } else { 2 };
    let fits = forms.into_iter().find_map(|words| in_rows(words, inner, most));
    fits.unwrap_or_else(|| vec![letters])
}

/// Words in as few rows as they fit, at most `most`; none where they take more.
fn in_rows(words: &[String], inner: usize, most: usize) -> Option<Vec<String>> {
    let mut rows: Vec<String> = Vec::new();
    for word in words {
        match rows.last_mut() {
            Some(row) if cells(row) + 1 + cells(word) <= inner => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.clone()),
        }
    }
    let fits = rows.len() <= most && rows.iter().all(|row| cells(row) <= inner);
    fits.then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::in_rows;

    #[test]
    fn keys_take_two_rows_at_the_most() {
        let words: Vec<String> = [
            "[y]once",
            "[t]turn",
            "[s]session",
            "[p]project",
            "[a]always",
            "[n]no",
            "[r]reason",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(
            in_rows(&words, 36, 2).unwrap(),
            [
                "[y]once [t]turn [s]session",
                "[p]project [a]always [n]no [r]reason"
            ]
        );
        assert_eq!(in_rows(&words, 35, 2), None);
    }
}
