//! The band as rows: what is being written of a reply, then the question, the panel or the box with what it can be
//! completed to, and the status row. Built from the app's values alone; a test compares whole bands.

mod approval;
mod choice;
mod input;
mod panel;
mod status;

pub(crate) use approval::{room as question_room, width as question_width};
use ratatui::layout::Position;
use ratatui::text::{Line, Span};
use wisp_term::Role;

use crate::ansi;
use crate::app::{App, Dialog};
use crate::looks::clip;
use crate::panel::Panel;

/// The smallest window in which everything is drawn; below it one row says so.
pub const SMALLEST: (u16, u16) = (20, 6);

/// The band, ready to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Band {
    /// Its rows, none wider than the window.
    pub rows: Vec<Line<'static>>,
    /// Where the cursor stands, from the band's first cell; hidden when `None`.
    pub cursor: Option<Position>,
    /// Whether the first row is the one of a reply that is being written.
    pub live: bool,
}

/// A part of the band: rows, and the cursor among them.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) rows: Vec<Line<'static>>,
    pub(crate) cursor: Option<(usize, usize)>,
}

impl From<Vec<Line<'static>>> for Part {
    fn from(rows: Vec<Line<'static>>) -> Self {
        Self { rows, cursor: None }
    }
}

/// The band of an app, for a window of the app's size; never higher, never wider.
pub fn band(app: &App) -> Band {
    let (width, height) = (usize::from(app.size.width), usize::from(app.size.height));
    if width == 0 || height == 0 {
        return Band::default();
    }
    let (main, above) = if app.is_too_small() {
        (too_small(app), Vec::new())
    } else {
        (main(app), above(app))
    };
    let mut below = main.rows;
    if height > 1 && !app.is_too_small() {
        below.push(status::row(app));
    }
    below.truncate(height);
    let room = height - below.len();
    let skipped = above.len().saturating_sub(room);
    let mut rows: Vec<Line<'static>> = above.into_iter().skip(skipped).collect();
    let start = rows.len();
    rows.extend(below);
    let cursor = main
        .cursor
        .and_then(|(row, column)| position(start + row, column, (width, height)));
    Band {
        live: start > 0,
        rows: rows.into_iter().map(|row| clip(row, width)).collect(),
        cursor,
    }
}

fn position(row: usize, column: usize, (width, height): (usize, usize)) -> Option<Position> {
    let inside = row < height;
    let x = u16::try_from(column.min(width - 1)).ok()?;
    inside.then_some(Position {
        x,
        y: u16::try_from(row).ok()?,
    })
}

fn main(app: &App) -> Part {
    match (app.dialogs.front(), &app.panel) {
        (Some(Dialog::Approval(dialog)), _) => approval::rows(app, dialog).into(),
        (Some(Dialog::Choice(dialog)), _) => choice::rows(app, dialog).into(),
        (None, Some(Panel::Output(output))) => panel::output(app, output).into(),
        (None, Some(Panel::Text(text))) => panel::text(app, text).into(),
        (None, None) => {
            let mut part = input::part(app);
            part.rows.extend(candidates(app));
            part
        }
    }
}

/// What stands above the box: the row of the reply being written.
fn above(app: &App) -> Vec<Line<'static>> {
    let mut rows: Vec<Line<'static>> = app.reply.live().into_iter().collect();
    let waiting = app.reply.table_rows();
    if waiting > 0 {
        rows.push(Line::from(
            app.looks
                .span(Role::Quiet, format!("… a table, {waiting} rows so far")),
        ));
    }
    // A question has the room while it stands.
    if app.dialogs.is_empty() && app.panel.is_none() {
        let quiet = app.looks.style(Role::Quiet);
        for line in app
            .work
            .last_printed()
            .iter()
            .flat_map(|line| ansi::untrusted(line))
        {
            let spans = line
                .into_iter()
                .map(|span| Span::styled(span.content, quiet.patch(span.style)));
            rows.push(std::iter::once(Span::raw("  ")).chain(spans).collect());
        }
    }
    rows
}

/// The cursor in a row that is not the box's: drawn, because the terminal's own stands at the band's first cell
/// wherever it can.
fn drawn_cursor() -> Span<'static> {
    Span::styled("▏", ratatui::style::Style::new())
}

/// The most rows candidates take.
const CANDIDATE_ROWS: usize = 3;

/// The most rows of the menu.
const MENU_ROWS: usize = 8;

/// The commands that the line could become, a row each, around the chosen one.
fn menu(app: &App) -> Vec<Line<'static>> {
    let Some(menu) = &app.menu else { return Vec::new() };
    let most = MENU_ROWS.min(usize::from(app.size.height) / 2);
    let first = menu.at.unwrap_or(0).saturating_sub(most.saturating_sub(1));
    let cells = menu
        .rows
        .iter()
        .map(|(name, _)| wisp_term::width::cells(name))
        .max();
    let shown = menu.rows.iter().enumerate().skip(first).take(most);
    let mut rows: Vec<Line<'static>> = shown
        .map(|(at, (name, about))| {
            let role = if menu.at == Some(at) {
                Role::Selected
            } else {
                Role::Status
            };
            let pad = cells.unwrap_or(0).saturating_sub(wisp_term::width::cells(name)) + 2;
            let text = Span::raw(" ".repeat(pad));
            let about = app.looks.span(Role::Quiet, wisp_term::visible(about));
            Line::from(vec![app.looks.span(role, wisp_term::visible(name)), text, about])
        })
        .collect();
    let more = menu.rows.len().saturating_sub(first + most);
    if more > 0 {
        let more = format!("… {}", wisp_term::units::counted(more as u64, "more command"));
        rows.push(Line::from(app.looks.span(Role::Quiet, more)));
    }
    rows
}

fn candidates(app: &App) -> Vec<Line<'static>> {
    if app.menu.is_some() {
        return menu(app);
    }
    let shown = app.candidates();
    let first = shown
        .iter()
        .position(|(_, current)| *current)
        .unwrap_or(0)
        .saturating_sub(2);
    let mut spans: Vec<Span<'static>> = Vec::new();
    for (text, current) in shown.iter().skip(first).take(60) {
        let role = if *current { Role::Selected } else { Role::Quiet };
        spans.push(app.looks.span(role, text.clone()));
        spans.push(Span::raw("  "));
    }
    if spans.is_empty() {
        return Vec::new();
    }
    let mut rows = crate::wrap::lines(&spans, app.width(), crate::wrap::Break::Words);
    rows.truncate(CANDIDATE_ROWS);
    rows
}

fn too_small(app: &App) -> Part {
    if app.dialogs.is_empty() && app.panel.is_none() {
        let part = input::bare(app);
        return Part {
            rows: part.rows.into_iter().take(1).collect(),
            cursor: part.cursor.map(|(_, x)| (0, x)),
        };
    }
    vec![Line::from(app.looks.span(Role::Warn, "window too small"))].into()
}
