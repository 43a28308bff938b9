//! Typing into the box: characters, pastes, the command mode, sending and recalling.

use std::time::Duration;

use ratatui::text::Line;
use wisp_agent::protocol::Command;
use wisp_term::Role;
use wisp_term::units::{counted, format_bytes};

use super::{App, LEAVE_WINDOW, TWICE_WINDOW};
use crate::effect::Effect;
use crate::input::{Editor, InputLayout, MAX_INPUT, Sent};
use crate::looks::clip;

/// How many rows of a sent message are repeated above the band.
pub(super) const SENT_ROWS: usize = 12;

impl App {
    pub(super) fn type_character(&mut self, c: char) {
        self.completion = None;
        if self.editor.cursor() == 0 && !self.command_mode && c == '!' {
            self.command_mode = true;
            return;
        }
        if self.editor.is_empty() && !self.command_mode && c == '?' {
            self.show_keys();
            return;
        }
        self.type_only(c);
    }

    /// Puts a character into the text, whatever it would mean at its beginning.
    pub(super) fn type_only(&mut self, c: char) {
        let left_out = self.editor.insert(c.encode_utf8(&mut [0; 4]));
        self.say_left_out(left_out);
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.completion = None;
        let command = self.editor.cursor() == 0 && !self.command_mode && text.starts_with('!');
        self.command_mode |= command;
        let left_out = self.editor.paste(if command { &text[1..] } else { text });
        self.say_left_out(left_out);
    }

    fn say_left_out(&mut self, bytes: usize) {
        if bytes > 0 {
            let (limit, left_out) = (format_bytes(MAX_INPUT as u64), counted(bytes as u64, "byte"));
            self.say_one(
                Role::Warn,
                &format!("an input may have {limit}: {left_out} left out"),
            );
        }
    }

    /// Sends what was typed. A line that ends in a backslash goes on instead.
    pub(super) fn submit(&mut self) {
        self.take_from_menu();
        if !self.command_mode && self.editor.text().ends_with('\\') {
            self.editor.move_to(self.editor.text().len());
            self.editor.backspace();
            self.editor.insert("\n");
            return;
        }
        if self.editor.expanded().trim().is_empty() {
            return;
        }
        if !self.work.busy {
            let rows = self.sent_rows(&self.editor, self.command_mode);
            self.finish_rows(rows);
        }
        self.history.add(self.draft());
        let typed = self.editor.take();
        let line = if self.command_mode {
            format!("!{typed}")
        } else {
            typed
        };
        self.command_mode = false;
        if !self.work.busy {
            self.echoed.push(line.clone());
        }
        self.send_line(line);
    }

    /// What was sent, as it stays above the band: the mark, then the text with placeholders as labels.
    pub(super) fn sent_rows(&self, sent: &Editor, command: bool) -> Vec<Line<'static>> {
        let (mark, role) = if command {
            ("! ", Role::CommandSent)
        } else {
            ("› ", Role::Person)
        };
        let layout = InputLayout::new(sent, self.width().saturating_sub(3));
        let shown = layout.rows().min(SENT_ROWS);
        let mut rows = vec![Line::default()];
        for (at, text) in layout.text(0..shown).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { "  " };
            let line = Line::from(vec![
                self.looks.span(Role::Prompt, mark),
                self.looks.span(role, text),
            ]);
            rows.push(clip(line, self.width()));
        }
        if layout.rows() > shown {
            let more = counted((layout.rows() - shown) as u64, "more row");
            rows.push(Line::from(self.looks.span(Role::Quiet, format!("  … {more}"))));
        }
        rows
    }

    pub(super) fn recall(&mut self, line: Option<Sent>) {
        let Some(Sent { text, command }) = line else {
            return;
        };
        self.command_mode = command;
        self.editor = text;
        self.recalled = Some(self.editor.text().to_owned());
    }

    /// Esc where nothing is to be stopped: twice in an empty box, the list of earlier messages, one of which is edited.
    pub(super) fn escape_idle(&mut self, before: Option<Duration>) {
        if !self.editor.is_empty() || self.command_mode {
            return;
        }
        if before.is_some_and(|at| self.now <= at + TWICE_WINDOW) {
            self.send_line("/edit".to_owned());
        } else {
            self.escaped = Some(self.now);
        }
    }

    /// Puts a message that is to be edited into the box.
    pub(super) fn draft_given(&mut self, text: &str) {
        self.command_mode = false;
        self.completion = None;
        let typed = self.editor.take();
        let gap = if typed.is_empty() { "" } else { "\n" };
        self.editor.set(&format!("{text}{gap}{typed}"));
        self.recalled = Some(self.editor.text().to_owned());
    }

    /// What is in the box, as history keeps it.
    fn draft(&self) -> Sent {
        Sent::of(&self.editor, self.command_mode)
    }

    /// Cells of a row of the box.
    pub(crate) fn input_width(&self) -> usize {
        self.width().saturating_sub(3).max(1)
    }

    /// One row up or down in the box; past its edge, through the history.
    pub(super) fn move_row(&mut self, up: bool) {
        if self.move_in_menu(up) {
            return;
        }
        let layout = InputLayout::new(&self.editor, self.input_width());
        let (row, column) = layout.place(self.editor.cursor());
        let target = if up { row.checked_sub(1) } else { Some(row + 1) };
        match target.and_then(|row| layout.byte_at(row, column)) {
            Some(byte) => self.editor.move_to(byte),
            None if up && self.editor.is_empty() && self.take_back() => {}
            None if up => {
                let draft = self.draft();
                let line = self.history.older(draft);
                self.recall(line);
            }
            None => {
                let line = self.history.newer();
                self.recall(line);
            }
        }
    }

    /// Deletes before the cursor; at the very start, leaves the command mode.
    pub(super) fn erase(&mut self) {
        if self.editor.cursor() == 0 {
            self.command_mode = false;
        } else {
            self.editor.backspace();
        }
    }

    /// Ctrl-C: stops what is being done; clears the box; a second time on an empty one, leaves.
    pub(super) fn interrupt(&mut self) {
        if self.work.busy {
            if !self.queue.is_empty() {
                self.send(Command::TakeBack { all: true });
            }
            self.stop_work();
        } else if !self.editor.is_empty() || self.command_mode {
            self.editor.take();
            self.command_mode = false;
        } else if self.leave_until.is_some_and(|until| self.now <= until) {
            self.send(Command::Quit);
        } else {
            self.leave_until = Some(self.now + LEAVE_WINDOW);
        }
    }

    pub(super) fn stop_work(&mut self) {
        self.work.stop();
        self.send(Command::Interrupt);
    }

    /// Whether the hint stands that a second Ctrl-C leaves.
    pub(crate) fn is_about_to_leave(&self) -> bool {
        self.leave_until.is_some_and(|until| self.now < until) && !self.work.busy
    }

    /// Ctrl-D: leaves, unless there is text or something is being done.
    pub(super) fn leave(&mut self) {
        if self.work.busy && self.editor.is_empty() {
            return self.stop_work();
        }
        if self.editor.is_empty() {
            self.send(Command::Quit);
        } else {
            self.editor.delete_right();
        }
    }

    pub(super) fn edit_outside(&mut self) {
        self.effects.push(Effect::Edit(self.editor.expanded()));
    }

    pub(super) fn suspend(&mut self) {
        self.effects.push(Effect::Suspend);
    }

    pub(super) fn redraw(&mut self) {
        self.effects.push(Effect::Redraw);
    }
}
