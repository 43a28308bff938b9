//! A list to choose from: up to eight options, the highlighted one marked, the value in force starred.

use ratatui::text::{Line, Span};
use wisp_agent::protocol::Choice;
use wisp_term::width::{cells, pad, truncate};
use wisp_term::{Role, visible};

use crate::app::{App, ChoiceDialog, SHOWN_OPTIONS};
use crate::looks::Frame;

/// The framed list.
pub(super) fn rows(app: &App, dialog: &ChoiceDialog) -> Vec<Line<'static>> {
    let width = app.width();
    let inner = width.saturating_sub(4).max(1);
    let choice = &dialog.choice;
    let typed = usize::from(choice.accepts_text);
    let room = usize::from(app.size.height)
        .saturating_sub(4 + typed)
        .clamp(1, SHOWN_OPTIONS);
    let first = dialog.at.saturating_sub(room - 1);
    let shown = choice.options.iter().enumerate().skip(first).take(room);
    let widest = choice
        .options
        .iter()
        .map(|option| cells(&visible(&option.label)))
        .max()
        .unwrap_or(0);
    let column = widest.min(inner / 2);
    let mut rows = vec![Line::from(
        app.looks
            .span(Role::Text, truncate(&visible(&choice.title), inner).into_owned()),
    )];
    rows.extend(shown.map(|(at, _)| option(app, dialog, at, column)));
    if choice.accepts_text {
        let text = visible(dialog.text.text());
        rows.push(Line::from(vec![
            app.looks.span(Role::Prompt, "› "),
            app.looks.span(Role::Person, text),
            super::drawn_cursor(),
        ]));
    }
    let frame = Frame {
        title: if choice.options.is_empty() {
            "asked"
        } else {
            "choose"
        },
        footer: footer(choice),
        style: app.looks.style(Role::Border),
    };
    frame.around(rows, width)
}

/// What the keys do, of those that do something here.
fn footer(choice: &Choice) -> &'static str {
    match (choice.options.len(), choice.toggles) {
        (0, _) => "enter answers · esc leaves",
        (1, true) => "space switches · enter saves · esc leaves",
        (_, true) => "↑↓ move · space switches · enter saves · esc leaves",
        (1, false) => "enter takes · esc leaves",
        (_, false) => "↑↓ move · enter takes · esc leaves",
    }
}

fn option(app: &App, dialog: &ChoiceDialog, at: usize, column: usize) -> Line<'static> {
    let option = &dialog.choice.options[at];
    let here = at == dialog.at;
    let mark = if here { "▸" } else { " " };
    let state = if dialog.choice.toggles {
        if dialog.on.get(at) == Some(&true) {
            "[x] "
        } else {
            "[ ] "
        }
    } else if dialog.choice.current.as_ref() == Some(&option.value) {
        "* "
    } else {
        "  "
    };
    let label = visible(&option.label);
    let label = pad(&truncate(&label, column), column);
    let role = if here { Role::Selected } else { Role::Text };
    Line::from(vec![
        app.looks.span(Role::Prompt, mark),
        Span::raw(state),
        app.looks.span(role, label),
        app.looks
            .span(Role::Quiet, format!("  {}", visible(&option.detail))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use wisp_agent::protocol::ChoiceOption;

    #[test]
    fn the_footer_names_the_keys_that_do_something() {
        let choice = |options, toggles| Choice {
            options: vec![ChoiceOption::default(); options],
            toggles,
            ..Choice::default()
        };
        assert_eq!(footer(&choice(0, false)), "enter answers · esc leaves");
        assert_eq!(footer(&choice(1, false)), "enter takes · esc leaves");
        assert_eq!(footer(&choice(2, false)), "↑↓ move · enter takes · esc leaves");
        assert_eq!(
            footer(&choice(1, true)),
            "space switches · enter saves · esc leaves"
        );
        assert_eq!(
            footer(&choice(9, true)),
            "↑↓ move · space switches · enter saves · esc leaves"
        );
    }
}
