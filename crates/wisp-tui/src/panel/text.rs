//! A panel that shows a text: the context, a digest, the keys.

use ratatui::text::{Line, Span};
use wisp_term::{Markdown, Role, Tables};

use crate::ansi;
use crate::keys::{Bindings, Place};
use crate::looks::Looks;
use crate::wrap::{self, Break};

/// What a text panel is about, which decides what its keys do beyond scrolling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The keys.
    Keys,
    /// The context of the next request, or of a turn.
    Context(Option<u64>),
    /// An output's digest.
    Digest,
}

/// A text and how far it is scrolled.
#[derive(Debug, Clone)]
pub struct TextPanel {
    /// What it is about.
    pub about: About,
    /// The border's title.
    pub title: String,
    lines: Vec<Vec<Span<'static>>>,
    top: usize,
}

impl TextPanel {
    /// A panel of Markdown from outside.
    pub fn markdown(about: About, title: impl Into<String>, text: &str, looks: &Looks) -> Self {
        let (mut tables, mut markdown) = (Tables::default(), Markdown::new(looks.palette().clone()));
        let text = [tables.push(text), tables.finish()].concat();
        let shown = [markdown.push(&text), markdown.finish()].concat();
        let shown = wisp_term::width::expand_tabs(&shown, 0).into_owned();
        Self::new(
            about,
            title,
            shown
                .trim_end_matches('\n')
                .split('\n')
                .map(ansi::spans)
                .collect(),
        )
    }

    fn new(about: About, title: impl Into<String>, lines: Vec<Vec<Span<'static>>>) -> Self {
        Self {
            about,
            title: title.into(),
            lines,
            top: 0,
        }
    }

    /// The keys, by place, from the table.
    pub fn keys(bindings: &Bindings, looks: &Looks) -> Self {
        let mut lines = Vec::new();
        for (place, heading) in Place::ALL {
            lines.push(vec![looks.span(Role::Heading, heading)]);
            let actions = crate::keys::ACTIONS.iter().filter(|action| action.place == place);
            for action in actions {
                let keys = wisp_term::width::pad(&bindings.shown(action.name), 24);
                lines.push(vec![
                    looks.span(Role::Prompt, format!("  {keys} ")),
                    looks.span(Role::Text, action.help),
                ]);
            }
            lines.push(Vec::new());
        }
        Self::new(About::Keys, "keys", lines)
    }

    fn rows(&self, width: usize) -> Vec<Line<'static>> {
        let broken = self
            .lines
            .iter()
            .map(|line| wrap::lines(line, width, Break::Words));
        broken.flatten().collect()
    }

    /// The rows in a view of `height` rows of `width` cells.
    pub fn view(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let rows = self.rows(width);
        let top = self.top.min(rows.len().saturating_sub(height));
        rows.into_iter().skip(top).take(height).collect()
    }

    /// Moves the view by rows.
    pub fn scroll(&mut self, by: isize, width: usize, height: usize) {
        let last = self.rows(width).len().saturating_sub(height);
        self.top = self.top.min(last).saturating_add_signed(by).min(last);
    }
}
