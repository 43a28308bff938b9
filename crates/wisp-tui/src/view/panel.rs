//! The panels: an output with its marks and its bar, or a text.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use regex::Regex;
use wisp_term::width::truncate;
use wisp_term::{Role, visible};

use crate::app::App;
use crate::looks::Frame;
use crate::panel::{About, Asking, OutputPanel, Row, TextPanel};
use crate::wrap;

/// The mark before a line the model was not shown.
const HELD_MARK: &str = "┊ ";

/// An output, or its digest in its place.
pub(super) fn output(app: &App, panel: &OutputPanel) -> Vec<Line<'static>> {
    if let Some(digest) = &panel.digest {
        return text(app, digest);
    }
    let (width, height) = (app.width(), app.panel_height());
    let selected = panel.selected_from.map(|_| panel.selection(height));
    let mut rows: Vec<Line<'static>> = panel
        .pages
        .view(height)
        .into_iter()
        .map(|row| output_row(app, panel, row, selected))
        .collect();
    rows.resize(height, Line::default());
    rows.push(bar(app, panel, height));
    let place = app.output_place(&panel.id);
    let title = format!("output {place} · {}", panel.title());
    let footer = hints(app, &FOOTER);
    let frame = Frame {
        title: &title,
        footer: &footer,
        style: app.looks.style(Role::Border),
    };
    frame.around(rows, width)
}

/// The keys named in the panel's bottom border, most wanted first.
const FOOTER: [(&str, &str); 9] = [
    ("output-back", "closes"),
    ("output-older", "the output before"),
    ("output-newer", "after"),
    ("output-search", "search"),
    ("output-end", "end"),
    ("output-digest", "digest"),
    ("output-full", "full"),
    ("output-copy", "copy"),
    ("output-pager", "pager"),
];

fn hints(app: &App, keys: &[(&str, &str)]) -> String {
    let shown = keys
        .iter()
        .filter_map(|(action, word)| Some(format!("{} {word}", app.bindings.hint(action)?)));
    shown.collect::<Vec<_>>().join(" · ")
}

fn output_row(app: &App, panel: &OutputPanel, row: Row, selected: Option<(u64, u64)>) -> Line<'static> {
    let mark = if row.line.is_some_and(|line| panel.is_held_back(line)) {
        app.looks.span(Role::HeldBack, HELD_MARK)
    } else {
        Span::raw("  ")
    };
    let mut spans = row.spans;
    if let Some(regex) = panel.search.as_ref().and_then(|search| search.regex.as_ref()) {
        spans = marked(&spans, regex);
    }
    if selected
        .zip(row.line)
        .is_some_and(|((from, to), line)| (from..=to).contains(&line))
    {
        for span in &mut spans {
            span.style = span
                .style
                .patch(app.looks.style(Role::Selected))
                .add_modifier(Modifier::REVERSED);
        }
    }
    spans.insert(0, mark);
    Line::from(spans)
}

/// The spans with every match of the pattern in reverse.
fn marked(spans: &[Span<'static>], regex: &Regex) -> Vec<Span<'static>> {
    let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
    let mut out = Vec::new();
    let mut done = 0;
    for found in regex.find_iter(&text).filter(|found| !found.is_empty()) {
        out.extend(wrap::slice(spans, &(done..found.start())));
        let hits = wrap::slice(spans, &found.range()).into_iter();
        out.extend(hits.map(|span| span.patch_style(Style::new().add_modifier(Modifier::REVERSED))));
        done = found.end();
    }
    out.extend(wrap::slice(spans, &(done..text.len())));
    out
}

/// The bar: what is typed there, what was said last, or where the view is.
fn bar(app: &App, panel: &OutputPanel, height: usize) -> Line<'static> {
    if let Some((asking, editor)) = &panel.prompt {
        let mark = match asking {
            Asking::Pattern => "/",
            Asking::Line => ":",
        };
        let text = format!("{mark}{}", visible(editor.text()));
        return Line::from(vec![app.looks.span(Role::Person, text), super::drawn_cursor()]);
    }
    let (role, text) = match &panel.said {
        Some(said) => (Role::Warn, said.clone()),
        None => (Role::Quiet, panel.bar(height)),
    };
    let text = truncate(&text, app.panel_width()).into_owned();
    Line::from(app.looks.span(role, text))
}

/// A text.
pub(super) fn text(app: &App, panel: &TextPanel) -> Vec<Line<'static>> {
    let (width, height) = (app.width(), app.panel_height());
    let mut rows = panel.view(app.panel_width(), height);
    rows.resize(height, Line::default());
    let context = [
        ("text-back", "closes"),
        ("context-older", "one turn back"),
        ("context-newer", "one turn on"),
    ];
    let footer = match panel.about {
        About::Context(_) => hints(app, &context),
        About::Keys | About::Digest => hints(app, &context[..1]),
    };
    Frame {
        title: &panel.title,
        footer: &footer,
        style: app.looks.style(Role::Border),
    }
    .around(rows, width)
}
