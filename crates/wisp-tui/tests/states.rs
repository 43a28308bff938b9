//! Every state of the face at 20, 80 and 200 columns, with wide characters and emoji wherever text can stand. One
//! snapshot a state; `screens.rs` tells the stories between them.
//!
//! | state | snapshot |
//! | --- | --- |
//! | before the engine said anything | `starting` in `screens.rs` |
//! | the box: empty, typed in, command mode, candidates, a pasted label | `box_empty`, `box_typed`, `box_command`, `box_candidates`, `box_paste` |
//! | busy: waiting, thinking, a tool, a typed command, stopping, keys held | `busy_waiting`, `busy_thinking`, `busy_tool`, `busy_typed_command`, `busy_stopping` |
//! | a reply: streaming, a table that waits, finished | `reply_streaming`, `reply_table`, `reply_finished` |
//! | a turn that failed, one that was stopped | `turn_failed`, `turn_stopped` |
//! | the questions: moderate, dangerous, safe, an edit, two at once, withdrawn | `ask_moderate`, `ask_dangerous`, `ask_safe`, `ask_edit`, `ask_two`, `ask_withdrawn` |
//! | the lists: one of several, with text, toggles | `list_choice`, `list_text`, `list_toggles` |
//! | the output panel: loading, loaded, searching, found, selected, copied, unstored, digest, whole screen | `output_loading`, `output_loaded`, `output_bar`, `output_found`, `output_selected`, `output_copied`, `output_missing`, `output_digest`, `output_whole` |
//! | panels of text: the context, the keys | `panel_context`, `panel_keys` |
//! | the themes | `theme_dark`, `theme_light`, `theme_ansi16`, `theme_none` in `screens.rs` |
//! | a window too small | `too_small`, `too_small_for_a_question` in `screens.rs` |

mod common;

use common::*;
use insta::assert_snapshot;
use wisp_agent::protocol::{Activity, Event, NoteLevel, OutputView, TurnOutcome, View, ViewKind};
use wisp_tui::Input;

/// Text of every width a character can have.
const WIDE: &str = "漢字 한글 ｆｕｌｌ 🐟 👩\u{200d}👩\u{200d}👧 🇳🇴 e\u{301}cole";

/// The state at each width, one below the other.
fn at_each_width(name: &str, reach: impl Fn(&mut Stage)) {
    let mut text = String::new();
    for (columns, rows) in [(20, 8), (80, 14), (200, 14)] {
        let mut stage = Stage::ready(columns, rows);
        reach(&mut stage);
        text = format!("{text}== {columns} columns\n{}\n", stage.screen());
    }
    assert_snapshot!(name, text);
}

fn busy(doing: &str, thinking: bool) -> Event {
    Event::Activity(Activity {
        doing: Some(doing.into()),
        thinking,
        ..Activity::default()
    })
}

fn asked(stage: &mut Stage) {
    stage.type_text("go").press("enter").tell(turn_start());
}

#[test]
fn the_box() {
    at_each_width("box_empty", |_| {});
    at_each_width("box_typed", |stage| {
        stage.give(Input::Paste(format!("{WIDE}\nsecond line")));
    });
    at_each_width("box_command", |stage| {
        stage.type_text("!").give(Input::Paste(format!("echo {WIDE}")));
    });
    at_each_width("box_candidates", |stage| {
        stage.type_text("/mo").press("tab");
        let candidates = ["/model", "/models", "/model 漢字:8b", "/model 🐟:1b"];
        stage.tell(Event::Completions {
            id: "tui-1".into(),
            from: 0,
            candidates: candidates.map(str::to_owned).to_vec(),
            about: Vec::new(),
        });
        stage.press("tab");
    });
    at_each_width("box_paste", |stage| {
        stage
            .type_text("see ")
            .give(Input::Paste(format!("{WIDE}\n").repeat(300)));
    });
}

#[test]
fn busy_states() {
    at_each_width("busy_waiting", |stage| {
        asked(stage);
        stage.tell(busy("loading 漢字:8b", false)).wait(12_000);
    });
    at_each_width("busy_thinking", |stage| {
        asked(stage);
        stage.tell(busy("thinking", true)).wait(1_200);
    });
    at_each_width("busy_tool", |stage| {
        asked(stage);
        stage.tell(line("tool.call", &format!("⚙ run_command echo {WIDE}")));
        stage
            .tell(busy(&format!("running echo {WIDE}"), false))
            .type_text("more")
            .wait(3_000);
    });
    at_each_width("busy_typed_command", |stage| {
        stage.type_text("!").type_text("make 漢字").press("enter");
        stage.tell(Event::Activity(Activity {
            doing: Some("running make 漢字".into()),
            stoppable: true,
            ..Activity::default()
        }));
        stage.wait(42_000);
    });
    at_each_width("busy_stopping", |stage| {
        asked(stage);
        stage
            .tell(busy(&format!("running echo {WIDE}"), false))
            .press("ctrl-c")
            .wait(2_000);
    });
}

#[test]
fn replies() {
    at_each_width("reply_streaming", |stage| {
        asked(stage);
        stage.tell(delta(&format!(
            "It **says** `{WIDE}`, and then goes on in {WIDE} until the edge"
        )));
    });
    at_each_width("reply_table", |stage| {
        asked(stage);
        stage.tell(delta(&format!("| a | b |\n|---|---|\n| {WIDE} | 1 |\n")));
    });
    at_each_width("reply_finished", |stage| {
        asked(stage);
        let reply =
            format!("## {WIDE}\n- one {WIDE} and more words\n\n| a | b |\n|---|---|\n| {WIDE} | 1 |\n\n");
        stage.tell(delta(&format!(
            "{reply}```rust\nlet 漢 = \"🐟\"; // {WIDE}\n```\n"
        )));
        stage
            .tell(turn_end(3.0, TurnOutcome::Ok))
            .tell(Event::Status(status()));
    });
    at_each_width("turn_failed", |stage| {
        asked(stage);
        stage.tell(delta("half a")).tell(Event::Note {
            text: format!("the server said: {WIDE}"),
            level: NoteLevel::Error,
        });
        stage
            .tell(turn_end(3.0, TurnOutcome::Error))
            .tell(Event::Status(status()));
    });
    at_each_width("turn_stopped", |stage| {
        asked(stage);
        stage.tell(delta(WIDE)).press("ctrl-c");
        stage
            .tell(turn_end(3.0, TurnOutcome::Interrupted))
            .tell(Event::Status(status()));
    });
}

#[test]
fn questions() {
    let question = |level: &str| {
        let mut question = approval();
        question.level = level.into();
        question.command = format!("rm -r build/{WIDE}");
        question.reasons = vec![format!("removes {WIDE}")];
        Event::Approval(question)
    };
    for level in ["safe", "moderate", "dangerous"] {
        at_each_width(&format!("ask_{level}"), |stage| {
            stage.tell(question(level));
        });
    }
    at_each_width("ask_edit", |stage| {
        let mut edit = edit_approval();
        let lines = format!(" kept 漢字\n-the old {WIDE}\n+the new {WIDE}\n-\tgone 🐟\n");
        edit.diff = Some(format!("--- a\n+++ a\n@@ -8,3 +8,2 @@\n{lines}"));
        stage.tell(Event::Approval(edit));
    });
    at_each_width("ask_two", |stage| {
        let mut second = approval();
        second.id = "q9".into();
        stage
            .tell(question("moderate"))
            .tell(Event::Approval(second))
            .wait(600)
            .press("y");
    });
    at_each_width("ask_withdrawn", |stage| {
        stage
            .tell(question("moderate"))
            .tell(Event::Withdrawn { id: "q1".into() });
    });
}

#[test]
fn lists() {
    at_each_width("list_choice", |stage| {
        stage.tell(choice(false, false)).press("down down");
    });
    at_each_width("list_text", |stage| {
        stage.tell(choice(false, true)).wait(500).type_text("漢字:8b");
    });
    at_each_width("list_toggles", |stage| {
        stage.tell(choice(true, false)).wait(500).press("down space down");
    });
}

/// The panel on an output of wide lines.
fn opened(stage: &mut Stage) {
    stage.tell(result(OUTPUT_ID)).press("ctrl-o");
    stage.tell(page_of(
        OUTPUT_ID,
        &format!("{WIDE} \x1b[32mgreen\x1b[0m\tand so on {WIDE}\n").repeat(60),
    ));
}

#[test]
fn the_output_panel() {
    at_each_width("output_loading", |stage| {
        stage.tell(result(OUTPUT_ID)).press("ctrl-o");
    });
    at_each_width("output_loaded", opened);
    at_each_width("output_bar", |stage| {
        opened(stage);
        stage.press("/").type_text("漢字.*🐟");
    });
    at_each_width("output_found", |stage| {
        opened(stage);
        stage.press("/").type_text("green").press("enter");
        stage.tell(Event::Found {
            id: OUTPUT_ID.into(),
            pattern: "green".into(),
            line: Some(20),
            page: Some(0),
        });
    });
    at_each_width("output_selected", |stage| {
        opened(stage);
        stage.press("v down");
    });
    at_each_width("output_copied", |stage| {
        opened(stage);
        stage.press("v down y");
    });
    at_each_width("output_missing", |stage| {
        stage.tell(result(OUTPUT_ID)).press("ctrl-o");
        stage.tell(Event::View(View {
            kind: ViewKind::Output,
            turn: None,
            text: String::new(),
            output: Some(OutputView {
                id: OUTPUT_ID.into(),
                about: format!("output 8a7b6c5d was removed after 30 days {WIDE}"),
                ..OutputView::default()
            }),
        }));
    });
    at_each_width("output_digest", |stage| {
        opened(stage);
        stage.press("s").tell(Event::View(View {
            kind: ViewKind::Digest,
            turn: None,
            text: format!("# cargo build\n\n- `E0425` {WIDE}\n"),
            output: None,
        }));
    });
    at_each_width("output_whole", |stage| {
        opened(stage);
        stage.press("f");
    });
}

#[test]
fn panels_of_text() {
    at_each_width("panel_context", |stage| {
        stage.tell(Event::View(View {
            kind: ViewKind::Context,
            turn: Some(3),
            text: format!("## prompt 3\n\n{WIDE} {WIDE}\n\n```\n{WIDE}\n```\n"),
            output: None,
        }));
    });
    at_each_width("panel_keys", |stage| {
        stage.press("f1");
    });
}

#[test]
fn rows_of_a_listing_stand_under_its_last_column() {
    let mut stage = Stage::ready(40, 24);
    let text = "tools          current_date, run_command, read_file".to_owned();
    stage.tell(Event::Output { text });
    let path = "audit          /home/ada/.wisp/audit/20261130T112922.jsonl".to_owned();
    stage.tell(Event::Output { text: path });
    let screen = stage.screen();
    assert!(
        screen.contains("tools          current_date,\n               run_command, read_file\n"),
        "{screen}"
    );
    assert!(
        screen.contains("\n/home/ada/.wisp/audit/20261130T112922.js\nonl\n"),
        "{screen}"
    );
}
