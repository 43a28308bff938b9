//! Lines sent while something runs: shown as waiting, echoed when they are taken up, taken back into the box.

use wisp_agent::protocol::Command;
use wisp_term::Role;

use super::App;
use crate::input::Editor;

impl App {
    /// A line is taken up: it stands above now, unless it does since it was sent.
    pub(super) fn taken(&mut self, text: &str) {
        if let Some(at) = self.echoed.iter().position(|line| line == text) {
            self.echoed.remove(at);
            return;
        }
        let (command, line) = match text.strip_prefix('!') {
            Some(line) => (true, line),
            None => (false, text),
        };
        let mut said = Editor::default();
        said.set(line);
        let rows = self.sent_rows(&said, command);
        self.finish_rows(rows);
        self.work.busy = true;
    }

    /// Lines that waited are the person's again: before what stands in the box.
    pub(super) fn taken_back(&mut self, lines: &[String]) {
        let mut text = lines.join("\n");
        if !self.editor.is_empty() || self.command_mode {
            let mark = if self.command_mode { "!" } else { "" };
            text = format!("{text}\n{mark}{}", self.editor.expanded());
            self.command_mode = false;
        } else if lines.len() == 1
            && let Some(line) = text.strip_prefix('!')
        {
            self.command_mode = true;
            text = line.to_owned();
        }
        self.editor.set(&text);
    }

    /// Takes the last line back that waits; false when none does.
    pub(super) fn take_back(&mut self) -> bool {
        let waits = !self.queue.is_empty();
        if waits {
            self.send(Command::TakeBack { all: false });
        }
        waits
    }

    /// Esc in the box: closes what is offered there; else takes the last waiting line back; else stops what runs.
    /// Where none of that is to be done, twice lists the earlier messages.
    pub(super) fn escape(&mut self) {
        let before = self.escaped.take();
        if self.completion.take().is_some() || self.menu.take().is_some_and(|menu| !menu.rows.is_empty()) {
            return;
        }
        if self.take_back() {
            return;
        }
        if self.work.busy {
            self.stop_work();
        } else {
            self.escape_idle(before);
        }
    }

    /// The conversation is over: what was never sent is not lost.
    pub(crate) fn say_unsent(&mut self) {
        let mut unsent: Vec<String> = self.queue.drain(..).map(|line| line.text).collect();
        unsent.push(self.editor.expanded());
        for text in unsent.iter().filter(|text| !text.trim().is_empty()) {
            self.say(Role::Warn, &format!("not sent: {text}"));
        }
        self.editor.take();
    }
}
