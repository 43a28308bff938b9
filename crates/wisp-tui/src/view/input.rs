//! The box: what is being typed, or what is being done meanwhile.

use ratatui::style::Style;
use ratatui::text::Line;
use wisp_agent::protocol::QueuedLine;
use wisp_term::Role;
use wisp_term::units::counted;

use super::Part;
use crate::app::App;
use crate::input::InputLayout;
use crate::looks::filled;

/// The most rows the box takes; longer text scrolls within.
pub(super) const BOX_ROWS: usize = 6;

/// The box with its tint.
pub(super) fn part(app: &App) -> Part {
    let role = if app.command_mode {
        Role::Command
    } else {
        Role::Input
    };
    let style = app.looks.style(role);
    let mut part = if app.work.busy { working(app) } else { bare(app) };
    part.rows = part
        .rows
        .into_iter()
        .map(|row| tinted(row, app.width(), style))
        .collect();
    part
}

/// What is being done, the lines that wait, and the box below them once something is typed.
fn working(app: &App) -> Part {
    let mut rows = vec![busy(app)];
    rows.extend(queue(app));
    let mut cursor = None;
    if !app.editor.is_empty() || app.command_mode {
        let typed = bare(app);
        cursor = typed.cursor.map(|(row, column)| (row + rows.len(), column));
        rows.extend(typed.rows);
    }
    Part { rows, cursor }
}

/// The most lines that wait which are shown; in a low window only the next one is.
const QUEUE_ROWS: usize = 3;

fn queue(app: &App) -> Vec<Line<'static>> {
    let most = if app.size.height < 12 { 1 } else { QUEUE_ROWS };
    let row = |line: &QueuedLine| {
        let when = if line.steers { "next" } else { "then" };
        let text = format!("  {when}: {}", wisp_term::visible(&line.text));
        let text = wisp_term::width::truncate(&text, app.width()).into_owned();
        Line::from(app.looks.span(Role::Person, text))
    };
    let mut rows: Vec<_> = app.queue.iter().take(most).map(row).collect();
    let more = app.queue.len().saturating_sub(most);
    if more > 0 {
        let more = format!("  … {}", counted(more as u64, "more line"));
        rows.push(Line::from(app.looks.span(Role::Quiet, more)));
    }
    rows
}

fn tinted(row: Line<'static>, width: usize, style: Style) -> Line<'static> {
    if style.bg.is_none() {
        return row;
    }
    let mut row = filled(row, width, style);
    for span in &mut row.spans {
        span.style = Style {
            bg: style.bg,
            ..span.style
        };
    }
    row
}

/// The text and the cursor without tint.
pub(super) fn bare(app: &App) -> Part {
    let layout = InputLayout::new(&app.editor, app.input_width());
    let (row, column) = layout.place(app.editor.cursor());
    let room = BOX_ROWS.min(usize::from(app.size.height).saturating_sub(4).max(1));
    let first = (row + 1).saturating_sub(room);
    let shown = layout.text(first..layout.rows().min(first + room));
    let (mark, role) = if app.command_mode {
        ("! ", Role::Command)
    } else {
        ("› ", Role::Prompt)
    };
    let text_role = if app.command_mode {
        Role::Command
    } else {
        Role::Person
    };
    let rows = shown.into_iter().enumerate().map(|(at, text)| {
        let mark = if first + at == 0 { mark } else { "  " };
        Line::from(vec![app.looks.span(role, mark), app.looks.span(text_role, text)])
    });
    Part {
        rows: rows.collect(),
        cursor: Some((row - first, column + 2)),
    }
}

/// What is being done, and how it is stopped.
fn busy(app: &App) -> Line<'static> {
    let mut text = app.work.text(app.now);
    if let Some(key) = app.bindings.hint("interrupt") {
        let verb = if app.work.is_stopping() {
            "again kills it"
        } else {
            "stops it"
        };
        text = format!("{text} · {key} {verb}");
    }
    let role = if app.work.is_thinking() {
        Role::Thinking
    } else {
        Role::Quiet
    };
    Line::from(
        app.looks
            .span(role, wisp_term::width::truncate(&text, app.width()).into_owned()),
    )
}
