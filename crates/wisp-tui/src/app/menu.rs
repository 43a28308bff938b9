//! The slash commands that a line being typed could become, each with what it does.

use wisp_agent::protocol::Command;

use super::App;
use crate::keys::Place;

/// How the ids of the menu's requests begin; the line follows.
const ID: &str = "menu ";

/// The menu of a line.
#[derive(Debug, Clone, Default)]
pub struct Menu {
    line: String,
    /// Commands and what they do.
    pub rows: Vec<(String, String)>,
    /// The row that is chosen.
    pub at: Option<usize>,
}

impl App {
    /// Opens, narrows or closes the menu after an input.
    pub(super) fn see_menu(&mut self) {
        let line = self.editor.text();
        let is_command = line.starts_with('/') && !line.contains(char::is_whitespace);
        let at_end = self.editor.cursor() == line.len();
        // A line from the history is gone through with the keys that go through the history.
        let recalled = self.recalled.as_deref() == Some(line);
        let open = is_command && at_end && !recalled && !self.command_mode;
        if !open || self.place() != Place::Input || self.completion.is_some() {
            self.menu = None;
            return;
        }
        let menu = self.menu.get_or_insert_default();
        if menu.line == line {
            return;
        }
        line.clone_into(&mut menu.line);
        menu.at = None;
        menu.rows.retain(|(name, _)| name.starts_with(&menu.line));
        let (text, cursor) = (menu.line.clone(), menu.line.chars().count());
        let id = format!("{ID}{text}");
        self.send(Command::Complete { id, text, cursor });
    }

    /// Takes an answer; false when it is none for the menu.
    pub(super) fn menu_answer(&mut self, id: &str, names: &[String], about: Vec<String>) -> bool {
        let Some(line) = id.strip_prefix(ID) else {
            return false;
        };
        if let Some(menu) = self.menu.as_mut().filter(|menu| menu.line == line) {
            let about = about.into_iter().chain(std::iter::repeat(String::new()));
            menu.rows = names.iter().cloned().zip(about).collect();
            menu.at = None;
        }
        true
    }

    /// Goes up or down the menu; false when there is none to go through.
    pub(super) fn move_in_menu(&mut self, up: bool) -> bool {
        let Some(menu) = self.menu.as_mut().filter(|menu| !menu.rows.is_empty()) else {
            return false;
        };
        let count = menu.rows.len();
        menu.at = Some(match (menu.at, up) {
            (None, true) => count - 1,
            (None, false) => 0,
            (Some(at), true) => (at + count - 1) % count,
            (Some(at), false) => (at + 1) % count,
        });
        true
    }

    /// Puts the chosen command into the box; false when none is chosen.
    pub(super) fn take_from_menu(&mut self) -> bool {
        let chosen = self.menu.as_ref().and_then(|menu| menu.rows.get(menu.at?));
        let Some((name, _)) = chosen.cloned() else {
            return false;
        };
        self.editor.set(&name);
        true
    }
}
