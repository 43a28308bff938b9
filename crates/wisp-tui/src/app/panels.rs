//! Opening, closing and moving in the panels.

use wisp_agent::protocol::{Command, View};
use wisp_term::Role;

use super::App;
use crate::effect::Effect;
use crate::input::Editor;
use crate::panel::{About, Asking, Copying, Goal, OutputPanel, Panel, TextPanel};

/// The most rows a panel takes of the window, its frame and bar not counted.
pub(super) const PANEL_ROWS: usize = 16;
/// Rows of a panel that are not its text: the frame, the bar and the status line.
const PANEL_EDGES: usize = 4;
/// Cells of a panel's row that are not its text: the frame, and the column that marks what was held back.
pub(crate) const OUTPUT_EDGES: usize = 6;

impl App {
    /// Rows of text in a panel now.
    pub(crate) fn panel_height(&self) -> usize {
        let room = usize::from(self.size.height).saturating_sub(PANEL_EDGES);
        let most = if self.full { usize::MAX } else { PANEL_ROWS };
        room.min(most).max(1)
    }

    /// Cells of a row of a text panel.
    pub(crate) fn panel_width(&self) -> usize {
        self.width().saturating_sub(4).max(1)
    }

    fn output_width(&self) -> usize {
        self.width().saturating_sub(OUTPUT_EDGES).max(1)
    }

    pub(super) fn lay_out_panel(&mut self) {
        let width = self.output_width();
        if let Some(Panel::Output(panel)) = &mut self.panel {
            panel.lay_out(width);
        }
    }

    pub(super) fn close_panel(&mut self) {
        self.panel = None;
        self.full = false;
    }

    /// Esc: one step back, from what is typed, selected or shown in place of the output; then the panel closes.
    pub(super) fn step_back(&mut self) {
        if let Some(Panel::Output(panel)) = &mut self.panel {
            let open = [panel.prompt.take().is_some(), panel.digest.take().is_some()];
            if open.contains(&true) || panel.selected_from.take().is_some() {
                return;
            }
        }
        self.close_panel();
    }

    pub(super) fn open_output(&mut self) {
        match self.last_output().cloned() {
            Some(id) => self.panel = Some(Panel::Output(Box::new(OutputPanel::new(id, self.output_width())))),
            None => self.say_one(Role::Quiet, "nothing was printed yet"),
        }
    }

    /// Opens the panel on a page that came unasked (a slash command's).
    pub(super) fn open_output_of(&mut self, view: &View) {
        let Some(info) = &view.output else { return };
        let mut panel = OutputPanel::new(info.id.clone(), self.output_width());
        panel.take(view, self.panel_height());
        self.panel = Some(Panel::Output(Box::new(panel)));
    }

    pub(super) fn open_text(&mut self, about: About, title: &str, text: &str) {
        self.panel = Some(Panel::Text(TextPanel::markdown(about, title, text, &self.looks)));
    }

    /// Asks for the context of the next request.
    pub(super) fn ask_for_context(&mut self) {
        self.send(Command::Context { turn: None });
    }

    /// One turn back or forward in the context panel; past the latest, the next request.
    pub(super) fn step_context(&mut self, by: i64) {
        let Some(Panel::Text(TextPanel {
            about: About::Context(turn),
            ..
        })) = &self.panel
        else {
            return;
        };
        let latest = self.last_turn_number();
        let wanted = match *turn {
            None if by < 0 => latest,
            None => return,
            Some(turn) => turn.saturating_add_signed(by).max(1),
        };
        let turn = (wanted <= latest).then_some(wanted);
        self.send(Command::Context { turn });
    }

    pub(super) fn show_keys(&mut self) {
        self.panel = Some(Panel::Text(TextPanel::keys(&self.bindings, &self.looks)));
    }

    pub(super) fn toggle_full(&mut self) {
        self.full = !self.full;
    }

    /// Moves the panel's text by rows, or by views.
    pub(super) fn scroll_panel(&mut self, rows: isize, views: isize) {
        let (width, height) = (self.panel_width(), self.panel_height());
        let view = isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(isize::MAX);
        let by = rows.saturating_add(views.saturating_mul(view));
        match &mut self.panel {
            Some(Panel::Output(panel)) => match &mut panel.digest {
                Some(digest) => digest.scroll(by, width, height),
                None => panel.pages.scroll(by, height),
            },
            Some(Panel::Text(panel)) => panel.scroll(by, width, height),
            None => {}
        }
    }

    pub(super) fn with_output(&mut self, act: impl FnOnce(&mut OutputPanel, usize) -> Option<Command>) {
        let height = self.panel_height();
        let Some(Panel::Output(panel)) = &mut self.panel else {
            return;
        };
        panel.said = None;
        if let Some(command) = act(panel, height) {
            self.send(command);
        }
    }

    pub(super) fn go_to_end(&mut self, end: bool) {
        let goal = if end { Goal::End } else { Goal::Start };
        self.with_output(|panel, height| {
            panel.pages.go(goal, height);
            None
        });
    }

    pub(super) fn ask_in_bar(&mut self, asking: Asking) {
        self.with_output(|panel, _| {
            panel.prompt = Some((asking, Editor::default()));
            None
        });
    }

    /// A character typed into the bar.
    pub(super) fn type_into_bar(&mut self, c: char) {
        if let Some(Panel::Output(panel)) = &mut self.panel
            && let Some((_, editor)) = &mut panel.prompt
        {
            editor.insert(c.encode_utf8(&mut [0; 4]));
        }
    }

    pub(super) fn erase_in_bar(&mut self) {
        if let Some(Panel::Output(panel)) = &mut self.panel
            && let Some((_, editor)) = &mut panel.prompt
        {
            editor.backspace();
        }
    }

    /// Enter in the bar: searches, or goes to the line.
    pub(super) fn take_bar(&mut self) {
        self.with_output(|panel, _| {
            let (asking, mut editor) = panel.prompt.take()?;
            let typed = editor.take();
            match asking {
                Asking::Pattern if typed.is_empty() => None,
                Asking::Pattern => Some(panel.search_for(typed)),
                Asking::Line => {
                    let line = typed.trim().parse().ok();
                    panel.said = line.is_none().then(|| "not a line number".to_owned());
                    line.map(|line| panel.go_to_line(line))
                }
            }
        });
    }

    pub(super) fn ask_for_digest(&mut self) {
        self.with_output(|panel, _| Some(Command::Digest { id: panel.id.clone() }));
    }

    pub(super) fn toggle_wrap(&mut self) {
        self.with_output(|panel, _| {
            panel.wrap = !panel.wrap;
            None
        });
        self.lay_out_panel();
    }

    pub(super) fn toggle_selection(&mut self) {
        self.with_output(|panel, _| {
            panel.selected_from = match panel.selected_from {
                Some(_) => None,
                None => Some((panel.pages.top_line(), panel.pages.top_page())),
            };
            None
        });
    }

    /// Copies the selected lines, or those in view; pages that are not loaded are fetched first.
    pub(super) fn copy_selection(&mut self) {
        let height = self.panel_height();
        if let Some(Panel::Output(panel)) = &mut self.panel {
            panel.copy(height);
        }
        self.go_on_copying();
    }

    /// Copies the selection that is being put together, if it is whole, and else asks for its next page.
    pub(super) fn go_on_copying(&mut self) {
        let Some(Panel::Output(panel)) = &mut self.panel else {
            return;
        };
        match panel.gather() {
            Ok(copying) => self.copied(copying),
            Err(Some(command)) => {
                panel.said = Some("fetching the selection …".to_owned());
                self.send(command);
            }
            Err(None) => {}
        }
    }

    /// Gives a whole selection to the clipboard and says so.
    pub(super) fn copied(&mut self, copying: Copying) {
        let (text, said) = copying.end();
        self.effects.push(Effect::Copy(text));
        if let Some(Panel::Output(panel)) = &mut self.panel {
            panel.said = Some(said);
        }
    }

    /// Opens the stored file in the person's pager.
    pub(super) fn open_pager(&mut self) {
        let Some(Panel::Output(panel)) = &mut self.panel else {
            return;
        };
        match panel.info.as_ref().and_then(|info| info.path.clone()) {
            Some(path) => self.effects.push(Effect::Page(path)),
            None => panel.said = Some("the whole is not stored: there is no file to page".to_owned()),
        }
    }

    /// The output before or after this one, in the same panel.
    pub(super) fn step_output(&mut self, by: isize) {
        let Some(Panel::Output(panel)) = &self.panel else {
            return;
        };
        let id = panel.id.clone();
        if let Some(next) = self.neighbour(&id, by).cloned() {
            let panel = OutputPanel::new(next, self.output_width());
            self.panel = Some(Panel::Output(Box::new(panel)));
            return;
        }
        let end = if by < 0 { "first" } else { "last" };
        self.with_output(|panel, _| {
            panel.said = Some(format!("this is the {end} output"));
            None
        });
    }
}
