//! The key table. A new action is a row here; the panel of keys and the documentation follow by themselves.

use super::When::{Always, Edits, Idle};
use super::{Action, Place};
use crate::app;

macro_rules! table {
    ($($place:ident $when:ident $name:literal [$($key:literal),*] $help:literal $run:ident;)*) => {
        /// Every action with its keys.
        pub static ACTIONS: &[Action] = &[
            $(Action {
                name: $name,
                place: Place::$place,
                when: $when,
                keys: &[$($key),*],
                help: $help,
                run: app::$run,
            },)*
        ];
    };
}

table! {
    Input Always "send"           ["enter"]                                 "send; while something runs: wait until it is over" send;
    Input Edits  "newline"        ["alt-enter", "shift-enter", "ctrl-j"]    "new line (or end the line with \\)" newline;
    Input Always "complete"       ["tab"]                                   "complete; again: the next candidate" complete_next;
    Input Idle   "complete-back"  ["shift-tab"]                             "the candidate before; with none, the next mode (/mode)" complete_previous;
    Input Always "up"             ["up", "ctrl-p"]                          "row up; in an empty box, the line that waits; else the line sent before" row_up;
    Input Always "down"           ["down", "ctrl-n"]                        "row down; on the last row, the line sent after" row_down;
    Input Edits  "left"           ["left", "ctrl-b"]                        "character left" left;
    Input Edits  "right"          ["right", "ctrl-f"]                       "character right" right;
    Input Edits  "left-word"      ["alt-left", "ctrl-left", "alt-b"]        "word left" left_word;
    Input Edits  "right-word"     ["alt-right", "ctrl-right", "alt-f"]      "word right" right_word;
    Input Edits  "home"           ["home", "ctrl-a"]                        "start of the line" home;
    Input Edits  "end"            ["end", "ctrl-e"]                         "end of the line" end;
    Input Edits  "erase-left"     ["backspace", "ctrl-h"]                   "delete left; at the start, leave command mode" erase_left;
    Input Edits  "erase-right"    ["delete"]                                "delete right" erase_right;
    Input Edits  "erase-word"     ["ctrl-w", "alt-backspace", "ctrl-backspace"] "delete back to white space" erase_word;
    Input Edits  "erase-to-start" ["ctrl-u"]                                "delete to the start of the line" erase_to_start;
    Input Edits  "erase-to-end"   ["ctrl-k"]                                "delete to the end of the line" erase_to_end;
    Input Idle   "edit-outside"   ["ctrl-x ctrl-e"]                         "edit in $EDITOR" edit_outside;
    Input Always "open-output"    ["ctrl-o"]                                "the last output, whole" open_output;
    Input Idle   "open-context"   ["ctrl-t"]                                "what the model is about to be sent" open_context;
    Input Always "keys"           ["f1"]                                    "these keys (? in an empty box)" show_keys;
    Input Always "redraw"         ["ctrl-l"]                                "draw everything again" redraw;
    Input Always "suspend"        ["ctrl-z"]                                "stop; fg comes back" suspend;
    Input Always "escape"         ["esc"]                                   "close what is offered; else take a waiting line back; else stop what is being done; twice in an empty box: edit an earlier message (/edit)" escape;
    Input Always "interrupt"      ["ctrl-c"]                                "stop what is being done, waiting lines go back into the box; clear the box; twice: leave" interrupt;
    Input Always "leave"          ["ctrl-d"]                                "leave, when the box is empty" leave;

    Output Always "output-close"      ["ctrl-o", "q", "ctrl-c", "ctrl-d"]   "close" panel_close;
    Output Always "output-back"       ["esc"]                               "one step back" panel_back;
    Output Always "output-up"         ["up", "k"]                           "row up" panel_up;
    Output Always "output-down"       ["down", "j", "enter"]                "row down" panel_down;
    Output Always "output-page-up"    ["page-up", "b"]                      "view up" panel_page_up;
    Output Always "output-page-down"  ["page-down", "space"]                "view down" panel_page_down;
    Output Always "output-start"      ["g", "home"]                         "start" output_start;
    Output Always "output-end"        ["G", "end"]                          "end" output_end;
    Output Always "output-search"     ["/"]                                 "search all of it for a regular expression" output_search;
    Output Always "output-next"       ["n"]                                 "next match" output_next_match;
    Output Always "output-previous"   ["N"]                                 "match before" output_previous_match;
    Output Always "output-line"       [":"]                                 "go to a line" output_line;
    Output Always "output-digest"     ["s"]                                 "its digest" output_digest;
    Output Always "output-wrap"       ["w"]                                 "break long lines, or cut them" output_wrap;
    Output Always "output-full"       ["f"]                                 "the whole screen, or the band" toggle_full;
    Output Always "output-select"     ["v"]                                 "select from the top line on" output_select;
    Output Always "output-copy"       ["y"]                                 "copy the selection, or the view" output_copy;
    Output Always "output-pager"      ["o"]                                 "open in $PAGER" output_pager;
    Output Always "output-older"      ["left"]                              "the output before" output_left;
    Output Always "output-newer"      ["right"]                             "the output after" output_right;

    Bar Always "bar-take"  ["enter"]                                        "search, or go to the line" bar_take;
    Bar Always "bar-erase" ["backspace", "ctrl-h"]        "delete left" bar_erase;
    Bar Always "bar-leave" ["esc", "ctrl-c", "ctrl-d"]                      "back to the output" panel_back;

    Text Always "text-close"     ["ctrl-o", "ctrl-t", "q", "f1", "?", "ctrl-c", "ctrl-d"] "close" panel_close;
    Text Always "text-back"      ["esc", "s"]                               "one step back" panel_back;
    Text Always "text-up"        ["up", "k"]                                "row up" panel_up;
    Text Always "text-down"      ["down", "j"]                              "row down" panel_down;
    Text Always "text-page-up"   ["page-up", "b"]                           "view up" panel_page_up;
    Text Always "text-page-down" ["page-down", "space"]                     "view down" panel_page_down;
    Text Always "text-start"     ["g", "home"]                              "start" text_start;
    Text Always "text-end"       ["G", "end"]                               "end" text_end;
    Text Always "text-full"      ["f"]                                      "the whole screen, or the band" toggle_full;
    Text Always "context-older"  ["left"]                                   "context: one turn back" context_back;
    Text Always "context-newer"  ["right"]                                  "context: one turn on" context_forward;

    Choice Always "choice-up"     ["up"]                                    "option above" choice_up;
    Choice Always "choice-down"   ["down"]                                  "option below" choice_down;
    Choice Always "choice-toggle" ["space"]                                 "switch on or off" choice_toggle;
    Choice Always "choice-take"   ["enter"]                                 "take it" choice_take;
    Choice Always "choice-leave"  ["esc"]                                   "leave it as it is" choice_leave;
    Choice Always "choice-stop"   ["ctrl-c", "ctrl-d"]                      "leave it as it is, and end the turn" choice_stop;
    Choice Always "choice-erase"  ["backspace", "ctrl-h"] "delete left" choice_erase;

    Approval Always "approve-once"    ["y"]                                 "yes, this call only" approve_once;
    Approval Always "approve-turn"    ["t"]                                 "yes, for the rest of this turn" approve_turn;
    Approval Always "approve-session" ["s"]                                 "yes, until the conversation closes" approve_session;
    Approval Always "approve-project" ["p"]                                 "yes, in this directory, 30 days" approve_project;
    Approval Always "approve-always"  ["a"]                                 "yes, everywhere, 30 days" approve_always;
    Approval Always "refuse"          ["n"]                                 "no, and the turn goes on" refuse;
    Approval Always "refuse-with-reason" ["r"]                              "no, with a reason that the model is told" refuse_with_reason;
    Approval Always "refuse-and-stop" ["esc", "ctrl-c", "ctrl-d"]           "no, and the turn ends" refuse_and_stop;
    Approval Always "question-up"     ["up"]                                "row up" question_up;
    Approval Always "question-down"   ["down"]                              "row down" question_down;
    Approval Always "question-page-up" ["page-up"]                          "view up" question_page_up;
    Approval Always "question-page-down" ["page-down", "space"]             "view down" question_page_down;
}
