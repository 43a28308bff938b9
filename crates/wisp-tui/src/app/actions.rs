//! The functions that rows of the key table name: one line each, so that the table reads as what it does.

use wisp_agent::protocol::Decision;

use super::App;
use crate::input::Editor;
use crate::panel::Asking;

/// Actions that are one call on the app.
macro_rules! actions {
    ($($name:ident: $app:ident => $body:expr;)*) => {
        $(pub(crate) fn $name($app: &mut App) { $body; })*
    };
}

actions! {
    send: app => app.submit();
    newline: app => app.editor.insert("\n");
    complete_next: app => app.complete(false);
    complete_previous: app => app.complete_back_or_change_mode();
    row_up: app => app.move_row(true);
    row_down: app => app.move_row(false);
    erase_left: app => app.erase();
    interrupt: app => app.interrupt();
    escape: app => app.escape();
    leave: app => app.leave();
    edit_outside: app => app.edit_outside();
    suspend: app => app.suspend();
    redraw: app => app.redraw();
    open_output: app => app.open_output();
    open_context: app => app.ask_for_context();
    show_keys: app => app.show_keys();

    panel_close: app => app.close_panel();
    panel_back: app => app.step_back();
    panel_up: app => app.scroll_panel(-1, 0);
    panel_down: app => app.scroll_panel(1, 0);
    panel_page_up: app => app.scroll_panel(0, -1);
    panel_page_down: app => app.scroll_panel(0, 1);
    text_start: app => app.scroll_panel(isize::MIN, 0);
    text_end: app => app.scroll_panel(isize::MAX, 0);
    context_back: app => app.step_context(-1);
    context_forward: app => app.step_context(1);
    toggle_full: app => app.toggle_full();

    output_start: app => app.go_to_end(false);
    output_end: app => app.go_to_end(true);
    output_search: app => app.ask_in_bar(Asking::Pattern);
    output_line: app => app.ask_in_bar(Asking::Line);
    output_next_match: app => app.with_output(|panel, _| panel.step(false));
    output_previous_match: app => app.with_output(|panel, _| panel.step(true));
    output_digest: app => app.ask_for_digest();
    output_wrap: app => app.toggle_wrap();
    output_select: app => app.toggle_selection();
    output_copy: app => app.copy_selection();
    output_pager: app => app.open_pager();
    output_left: app => app.step_output(-1);
    output_right: app => app.step_output(1);

    bar_take: app => app.take_bar();
    bar_erase: app => app.erase_in_bar();

    choice_up: app => app.move_choice(-1);
    choice_down: app => app.move_choice(1);
    choice_toggle: app => app.toggle_choice();
    choice_take: app => app.take_choice();
    choice_leave: app => app.leave_choice();
    choice_stop: app => app.leave_choice_and_stop();
    choice_erase: app => app.erase_choice();

    approve_once: app => app.decide(Decision::Once);
    approve_turn: app => app.decide(Decision::Turn);
    refuse_with_reason: app => app.refuse_with_reason();
    approve_session: app => app.decide(Decision::Session);
    approve_project: app => app.decide(Decision::Project);
    approve_always: app => app.decide(Decision::Always);
    refuse: app => app.decide(Decision::No);
    refuse_and_stop: app => app.refuse_and_stop();
    question_up: app => app.scroll_question(-1, 0);
    question_down: app => app.scroll_question(1, 0);
    question_page_up: app => app.scroll_question(0, -1);
    question_page_down: app => app.scroll_question(0, 1);
}

/// Editing keys, which only touch the text.
macro_rules! edits {
    ($($name:ident: $method:ident;)*) => {
        $(pub(crate) fn $name(app: &mut App) { Editor::$method(&mut app.editor); })*
    };
}

edits! {
    left: left;
    right: right;
    left_word: left_word;
    right_word: right_word;
    home: home;
    end: end;
    erase_right: delete_right;
    erase_word: delete_word;
    erase_to_start: delete_to_start;
    erase_to_end: delete_to_end;
}

impl App {
    /// The number of the latest turn that ended; 0 before the first.
    pub(super) fn last_turn_number(&self) -> u64 {
        self.turns
    }
}
