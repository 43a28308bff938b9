//! The output panel: a stored output page by page, searched, marked where the model was not shown it.

use regex::{Regex, RegexBuilder};
use wisp_agent::protocol::{Command, HeldRange, OutputView, View};
use wisp_term::units::{counted, format_bytes, thousands};
use wisp_term::visible;

use super::copying::Copying;
use super::pages::{Goal, Layout, Pages};
use super::text::TextPanel;
use crate::input::Editor;

/// What is being typed into the panel's bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// A pattern to search for.
    Pattern,
    /// A line to go to.
    Line,
}

/// The pattern last searched for.
#[derive(Debug, Clone)]
pub struct Search {
    /// As typed.
    pub pattern: String,
    /// As it marks what it finds in view.
    pub regex: Option<Regex>,
    /// The line found last, from 1.
    pub at: Option<u64>,
    /// Whether the last step was towards the start.
    backwards: bool,
}

/// One output being looked at.
#[derive(Debug, Clone)]
pub struct OutputPanel {
    /// Its id.
    pub id: String,
    /// Its pages.
    pub pages: Pages,
    /// What the engine said about it, once a page has come.
    pub info: Option<OutputView>,
    /// What is being typed into the bar.
    pub prompt: Option<(Asking, Editor)>,
    /// The pattern last searched for.
    pub search: Option<Search>,
    /// The first line of the selection, and the page it is on.
    pub selected_from: Option<(u64, u64)>,
    /// The selection that waits for pages to be copied.
    pub copying: Option<Copying>,
    /// Its digest, while that is shown instead.
    pub digest: Option<TextPanel>,
    /// One sentence in the bar, until the next key.
    pub said: Option<String>,
    /// Whether long lines are broken.
    pub wrap: bool,
    seeking: Option<u64>,
}

impl OutputPanel {
    /// A panel for an output; its first page is to be asked for.
    pub fn new(id: impl Into<String>, width: usize) -> Self {
        Self {
            id: id.into(),
            pages: Pages::new(Layout { width, wrap: true }),
            info: None,
            prompt: None,
            search: None,
            selected_from: None,
            copying: None,
            digest: None,
            said: None,
            wrap: true,
            seeking: None,
        }
    }

    /// Takes a page, if it is one of this output. True when a selection waited for it.
    pub fn take(&mut self, view: &View, height: usize) -> bool {
        let Some(info) = view.output.as_ref().filter(|info| info.id == self.id) else {
            return false;
        };
        let waited = match &mut self.copying {
            Some(copying) if copying.page == info.page => {
                self.pages.lend(info, &view.text, copying);
                true
            }
            waiting => waiting.is_some() && info.pages == 0,
        };
        self.pages.take(info, &view.text, height);
        self.info = Some(info.clone());
        waited
    }

    /// Begins to copy the selected lines, or those in view.
    pub fn copy(&mut self, height: usize) {
        let (from, to) = self.selection(height);
        let page = match self.selected_from {
            Some((line, page)) if line == from => page,
            _ => self.pages.top_page(),
        };
        self.copying = Some(Copying::new((from, to), page));
    }

    /// Puts what is loaded into the selection that is being copied: it, when that was all, or the request for the page
    /// it needs.
    pub fn gather(&mut self) -> Result<Copying, Option<Command>> {
        let mut copying = self.copying.take().ok_or(None)?;
        let pages = self.info.as_ref().map_or(1, |info| info.pages);
        while !copying.is_whole() && copying.page < pages {
            if !self.pages.copy_into(&mut copying) {
                break;
            }
        }
        if copying.is_whole() || copying.page >= pages {
            return Ok(copying);
        }
        let page = copying.page;
        self.copying = Some(copying);
        Err(Some(Command::Output {
            id: self.id.clone(),
            page,
        }))
    }

    /// The request for the page that is needed now, if one is.
    pub fn wanted(&mut self, height: usize) -> Option<Command> {
        let page = self.pages.wanted(height)?;
        Some(Command::Output {
            id: self.id.clone(),
            page,
        })
    }

    /// Starts a search at the top of the view.
    pub fn search_for(&mut self, pattern: String) -> Command {
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(true)
            .size_limit(1 << 20)
            .build();
        let literal = || {
            RegexBuilder::new(&regex::escape(&pattern))
                .case_insensitive(true)
                .build()
                .ok()
        };
        let regex = regex.ok().or_else(literal);
        self.search = Some(Search {
            pattern,
            regex,
            at: None,
            backwards: false,
        });
        self.request(self.pages.top_line(), false)
    }

    fn request(&self, from_line: u64, backwards: bool) -> Command {
        Command::Search {
            id: self.id.clone(),
            pattern: self
                .search
                .as_ref()
                .map(|search| search.pattern.clone())
                .unwrap_or_default(),
            from_line,
            backwards,
        }
    }

    /// The request for the next find, or the one before; none when nothing was searched for, or at the first line.
    pub fn step(&mut self, backwards: bool) -> Option<Command> {
        let top = self.pages.top_line();
        let search = self.search.as_mut()?;
        let at = search.at.unwrap_or(top);
        search.backwards = backwards;
        let from = if backwards {
            at.checked_sub(1).filter(|line| *line > 0)
        } else {
            Some(at + 1)
        };
        if from.is_none() {
            self.said = Some("no earlier match".to_owned());
        }
        from.map(|from| self.request(from, backwards))
    }

    /// The request that finds the page of a line: the empty pattern is found in every line.
    pub fn go_to_line(&mut self, line: u64) -> Command {
        let lines = self.info.as_ref().map_or(u64::MAX, |info| info.lines.max(1));
        let line = line.clamp(1, lines);
        self.seeking = Some(line);
        Command::Search {
            id: self.id.clone(),
            pattern: String::new(),
            from_line: line,
            backwards: false,
        }
    }

    /// Takes the answer to a search.
    pub fn found(&mut self, pattern: &str, place: Option<(u64, u64)>, height: usize) {
        if pattern.is_empty() {
            let sought = self.seeking.take();
            return match (sought, place) {
                (Some(_), Some((line, page))) => self.pages.go(Goal::Line { line, page }, height),
                (Some(_), None) => self.pages.go(Goal::End, height),
                (None, _) => {}
            };
        }
        let Some(search) = self.search.as_mut().filter(|search| search.pattern == pattern) else {
            return;
        };
        if let Some((line, page)) = place {
            search.at = Some(line);
            self.pages.go(Goal::Line { line, page }, height);
        } else {
            let kind = match (search.at, search.backwards) {
                (None, _) => "no match",
                (Some(_), false) => "no later match",
                (Some(_), true) => "no earlier match",
            };
            self.said = Some(format!("{kind}: {}", visible(pattern)));
        }
    }

    /// Breaks lines for a new width, or stops breaking them.
    pub fn lay_out(&mut self, width: usize) {
        self.pages.lay_out(Layout {
            width,
            wrap: self.wrap,
        });
    }

    /// The lines to copy: from the selection's start to the end of the view, or the view.
    pub fn selection(&self, height: usize) -> (u64, u64) {
        let top = self.pages.top_line();
        let last = self.pages.last_line(height).unwrap_or(top);
        match self.selected_from {
            Some((from, _)) if from <= last => (from, last),
            Some((from, _)) => (top, from),
            None => (top, last),
        }
    }

    /// Whether the model was not shown a line.
    pub fn is_held_back(&self, line: u64) -> bool {
        let mut held = self.info.iter().flat_map(|info| &info.held);
        held.any(|range| (range.from_line..=range.to_line).contains(&line))
    }

    /// The title: what made the output.
    pub fn title(&self) -> String {
        let title = self.info.as_ref().map(|info| visible(&info.title));
        title.unwrap_or_else(|| "output".to_owned())
    }

    /// The bar: the lines in view, what the model was not shown, and what the whole is.
    pub fn bar(&self, height: usize) -> String {
        let Some(info) = &self.info else {
            return "loading …".to_owned();
        };
        if info.pages == 0 {
            return visible(&info.about);
        }
        let first = thousands(self.pages.top_line());
        let last = thousands(self.pages.last_line(height).unwrap_or(self.pages.top_line()));
        let whole = if info.about.is_empty() {
            format!("{}, {}", counted(info.lines, "line"), format_bytes(info.bytes))
        } else {
            visible(&info.about)
        };
        format!("{first}–{last} · {} · {whole}", held_back(info))
    }
}

/// What the model was not shown of an output, in words.
fn held_back(info: &OutputView) -> String {
    if info.held.is_empty() {
        return "shown to the model whole".to_owned();
    }
    let bytes: u64 = info.held.iter().map(|range| range.bytes).sum();
    let range = |range: &HeldRange| format!("{}–{}", thousands(range.from_line), thousands(range.to_line));
    let places: Vec<String> = info.held.iter().take(3).map(range).collect();
    let more = if info.held.len() > 3 { ", …" } else { "" };
    format!(
        "held back: lines {}{more}, {}",
        places.join(", "),
        format_bytes(bytes)
    )
}
