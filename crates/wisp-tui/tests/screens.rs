//! Whole screens of every state, as a person sees them.

mod common;

use common::*;
use insta::assert_snapshot;
use wisp_agent::protocol::{Activity, Event, NoteLevel, TurnOutcome, View, ViewKind};
use wisp_tui::Input;

fn shown(stage: &Stage, name: &str) {
    assert_snapshot!(name, stage.screen());
}

#[test]
fn before_anything_was_said() {
    shown(&Stage::new(80, 24), "starting");
}

#[test]
fn the_box() {
    let mut stage = Stage::ready(80, 24);
    let banner = "wisp 0.1.0 · qwen3:8b · 9 tools · session 3f9a2c1b\n/help lists the commands";
    stage.tell(Event::Note {
        text: banner.into(),
        level: NoteLevel::Info,
    });
    shown(&stage, "idle");
    stage.type_text("why does 漢字 and 👩\u{200d}👩\u{200d}👧 not fit?");
    stage.press("alt-enter").type_text("second line");
    shown(&stage, "typing_two_lines");
    stage
        .press("ctrl-u ctrl-u backspace ctrl-u")
        .type_text("!git status");
    shown(&stage, "command_mode");
    stage.press("ctrl-c ctrl-c");
    shown(&stage, "once_more_leaves");
}

#[test]
fn candidates_stand_above_the_box() {
    let mut stage = Stage::ready(80, 12);
    stage.type_text("/mo").press("tab");
    let candidates = ["/model", "/models", "/models check"].map(str::to_owned).to_vec();
    stage.tell(Event::Completions {
        id: "tui-1".into(),
        from: 0,
        candidates,
        about: Vec::new(),
    });
    shown(&stage, "candidates");
    stage.press("tab tab");
    shown(&stage, "second_candidate");
}

#[test]
fn a_turn_from_start_to_end() {
    let mut stage = Stage::ready(80, 32);
    stage.type_text("build it").press("enter");
    stage
        .tell(turn_start())
        .tell(doing("waiting for the model"))
        .wait(3000);
    shown(&stage, "waiting");
    stage.tell(Event::Activity(Activity {
        doing: Some("thinking".into()),
        thinking: true,
        ..Activity::default()
    }));
    stage
        .tell(Event::Thinking {
            text: "Let me see. ".repeat(40),
        })
        .wait(1000);
    shown(&stage, "thinking");
    stage.tell(line("tool.call", "⚙ run_command cargo build"));
    stage
        .tell(doing("running cargo build"))
        .type_text("next?")
        .wait(2000);
    shown(&stage, "running_with_held_keys");
    stage.press("ctrl-c");
    shown(&stage, "stopping");
    stage.tell(result(OUTPUT_ID));
    stage.tell(delta(
        "It **failed**: `main` is missing, which the linker says in a line that is longer than a row",
    ));
    shown(&stage, "streaming");
    stage.tell(delta(
        ".\n\n| step | time |\n|---|---|\n| 編譯 | 3 s |\n| link | failed |\n\n```rust\nfn main() {}\n```\n",
    ));
    stage
        .tell(turn_end(7.25, TurnOutcome::Ok))
        .tell(Event::Status(status()));
    shown(&stage, "turn_over");
}

#[test]
fn an_interrupted_turn_says_so() {
    let mut stage = Stage::ready(60, 14);
    stage
        .type_text("tell me all")
        .press("enter")
        .tell(turn_start())
        .tell(delta("Once upon"));
    stage
        .press("ctrl-c")
        .tell(turn_end(2.0, TurnOutcome::Interrupted))
        .tell(Event::Status(status()));
    shown(&stage, "interrupted");
}

#[test]
fn questions_whether_something_may_run() {
    let mut stage = Stage::ready(80, 24);
    stage.tell(Event::Approval(approval()));
    shown(&stage, "approval");
    stage.tell(Event::Approval(edit_approval()));
    shown(&stage, "approval_and_one_more");
    stage.wait(600).press("s").wait(600);
    shown(&stage, "approval_of_an_edit");
    stage.press("down down page-down");
    shown(&stage, "approval_of_an_edit_scrolled");
    stage.press("n");
    shown(&stage, "approval_refused");
}

#[test]
fn a_dangerous_command_is_shown_whole() {
    let mut stage = Stage::ready(60, 16);
    let mut question = approval();
    question.level = "dangerous".into();
    question.command = format!("rm -rf {} /", "/very/long/path/".repeat(30));
    question.line = question.command.clone();
    question
        .decisions
        .retain(|decision| !matches!(decision, wisp_agent::protocol::Decision::Always));
    stage.tell(Event::Approval(question));
    shown(&stage, "approval_dangerous");
}

#[test]
fn lists() {
    let mut stage = Stage::ready(80, 14);
    stage.tell(choice(false, false)).press("down");
    shown(&stage, "choice");
    let mut stage = Stage::ready(80, 14);
    stage.tell(choice(false, true)).wait(500).type_text("phi4");
    shown(&stage, "choice_with_text");
    let mut stage = Stage::ready(80, 14);
    stage.tell(choice(true, false)).wait(500).press("down space down");
    shown(&stage, "toggles");
}

fn with_output(width: u16, height: u16) -> Stage {
    let mut stage = Stage::ready(width, height);
    stage
        .tell(result("1111111111111111"))
        .tell(result(OUTPUT_ID))
        .press("ctrl-o")
        .tell(page(OUTPUT_ID));
    stage
}

#[test]
fn the_output_panel() {
    let mut stage = with_output(80, 24);
    shown(&stage, "output");
    stage.press("/").type_text("line 42");
    shown(&stage, "output_search_bar");
    stage.press("enter");
    let found = |pattern: &str, line| Event::Found {
        id: OUTPUT_ID.into(),
        pattern: pattern.into(),
        line,
        page: line.map(|_| 0),
    };
    stage.tell(found("line 42", Some(42)));
    shown(&stage, "output_found");
    stage.press("n").tell(found("line 42", None));
    shown(&stage, "output_no_later_match");
    stage.press("v down down");
    shown(&stage, "output_selected");
    stage.press("esc G");
    shown(&stage, "output_end");
    stage.press("left");
    shown(&stage, "output_before");
}

#[test]
fn the_output_panel_on_the_whole_screen() {
    let mut stage = with_output(80, 24);
    stage.press("f");
    shown(&stage, "output_full");
}

#[test]
fn long_lines_are_broken_or_cut() {
    let mut stage = Stage::ready(40, 12);
    stage.tell(result(OUTPUT_ID)).press("ctrl-o");
    stage.tell(page_of(
        OUTPUT_ID,
        &format!(
            "{}\n漢字{}\n\x1b[31mred\x1b[0m\ttab\n",
            "x".repeat(50),
            "字".repeat(20)
        ),
    ));
    shown(&stage, "output_broken");
    stage.press("w");
    shown(&stage, "output_cut");
}

#[test]
fn texts_in_panels() {
    let mut stage = with_output(80, 20);
    stage.press("s");
    let digest = "# cargo build\n\n2 errors, 1 warning\n- `E0425` src/main.rs:3\n";
    stage.tell(Event::View(View {
        kind: ViewKind::Digest,
        turn: None,
        text: digest.into(),
        output: None,
    }));
    shown(&stage, "digest");
    let mut stage = Stage::ready(80, 20);
    let context = "## system\n\nYou are wisp.\n\n## prompt 1\n\nbuild it\n";
    stage.tell(Event::View(View {
        kind: ViewKind::Context,
        turn: None,
        text: context.into(),
        output: None,
    }));
    shown(&stage, "context");
    let mut stage = Stage::ready(80, 30);
    stage.press("f1");
    shown(&stage, "keys");
}

#[test]
fn a_large_paste_is_a_label() {
    let mut stage = Stage::ready(80, 12);
    stage
        .type_text("look: ")
        .give(Input::Paste("line\n".repeat(10_000)));
    shown(&stage, "paste");
    stage.press("enter");
    shown(&stage, "paste_sent");
}

#[test]
fn twenty_columns_and_six_rows_still_work() {
    let mut stage = Stage::ready(20, 6);
    stage.type_text("hello 漢字 and more");
    shown(&stage, "narrow_typing");
    stage.press("enter").tell(doing("running cargo build"));
    shown(&stage, "narrow_busy");
    stage.tell(Event::Approval(approval()));
    shown(&stage, "narrow_approval");
    stage.press("ctrl-c").tell(choice(false, false));
    shown(&stage, "narrow_choice");
    stage.press("esc");
    let mut stage = with_output(20, 6);
    shown(&stage, "narrow_output");
    stage.press("esc f1");
    shown(&stage, "narrow_keys");
}

#[test]
fn two_hundred_columns() {
    let mut stage = with_output(200, 24);
    shown(&stage, "wide_output");
    stage.press("esc").tell(Event::Approval(approval()));
    shown(&stage, "wide_approval");
}

#[test]
fn below_the_smallest_window_only_the_text_is_shown() {
    let mut stage = Stage::ready(19, 6);
    stage.type_text("hi");
    shown(&stage, "too_small");
    stage.tell(Event::Approval(approval())).wait(1000).press("y");
    shown(&stage, "too_small_for_a_question");
    assert!(stage.sent().is_empty(), "an approval cannot be given unseen");
}

#[test]
fn themes() {
    for theme in ["dark", "light", "ansi16", "none"] {
        let mut stage = Stage::in_colours(60, 20, palette(theme));
        stage
            .tell(Event::Status(status()))
            .type_text("!ls")
            .press("enter")
            .tell(result(OUTPUT_ID));
        stage
            .tell(delta("# T\n**bold** `code`\n"))
            .tell(turn_end(1.0, TurnOutcome::Ok));
        stage.tell(Event::Approval(approval()));
        let mut bytes = Vec::new();
        let size = ratatui::layout::Size {
            width: 60,
            height: 20,
        };
        let mut screen = wisp_tui::Screen::new(&mut bytes, size, wisp_tui::Reflow::Breaks);
        let band = wisp_tui::view::band(&stage.app);
        screen
            .frame(stage.above.clone(), &band.rows, band.cursor)
            .unwrap();
        let text = String::from_utf8(bytes)
            .unwrap()
            .replace('\x1b', "␛")
            .replace("\r\n", "\n");
        if theme == "none" {
            assert!(!text.contains("[0;"), "no colour, no weight");
        }
        assert_snapshot!(format!("theme_{theme}"), text);
    }
}
