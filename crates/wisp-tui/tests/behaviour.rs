//! What keys and events do, moment by moment.

mod common;

use common::*;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use wisp_agent::protocol::{
    Command, Decision, Difference, Event, JobStatus, OutputSummary, QueuedLine, Status, Stretch, TurnOutcome,
    View, ViewKind,
};
use wisp_tui::{Effect, Input};

fn message(text: &str) -> Command {
    Command::Message { text: text.into() }
}

#[test]
fn what_is_typed_is_sent_and_recalled() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("hello").press("enter");
    assert_eq!(stage.sent(), [message("hello")]);
    stage
        .tell(Event::Status(status()))
        .type_text("!ls -l")
        .press("enter");
    assert_eq!(stage.sent(), [message("!ls -l")]);
    stage
        .tell(Event::Status(status()))
        .type_text("draft")
        .press("up up");
    assert!(stage.screen().contains("› hello▮"), "{}", stage.screen());
    stage.press("down");
    assert!(stage.screen().contains("! ls -l▮"), "{}", stage.screen());
    stage.press("down");
    assert!(stage.screen().contains("› draft▮"), "{}", stage.screen());
}

#[test]
fn a_backslash_at_the_end_goes_on_and_blank_lines_are_not_sent() {
    let mut stage = Stage::ready(80, 24);
    stage
        .press("enter")
        .type_text("  ")
        .press("enter ctrl-u")
        .type_text("one\\")
        .press("enter");
    assert!(stage.sent().is_empty());
    stage.type_text("two").press("enter");
    assert_eq!(stage.sent(), [message("one\ntwo")]);
}

#[test]
fn escape_twice_within_a_second_in_an_empty_box_lists_earlier_messages() {
    let mut stage = Stage::ready(80, 24);
    stage.press("esc").wait(1001).press("esc");
    assert!(stage.sent().is_empty());
    stage.press("esc");
    assert_eq!(stage.sent(), [message("/edit")]);
}

#[test]
fn escape_twice_with_text_in_the_box_does_nothing() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("a").press("esc esc");
    assert!(stage.sent().is_empty());
    assert!(stage.screen().contains("› a▮"), "{}", stage.screen());
}

#[test]
fn a_message_to_be_edited_comes_into_the_box() {
    let mut stage = Stage::ready(80, 24);
    let text = "fix\nit".to_owned();
    stage
        .tell(Event::Draft { text })
        .press("backspace")
        .press("enter");
    assert_eq!(stage.sent(), [message("fix\ni")]);
}

#[test]
fn the_mark_of_command_mode_is_taken_at_the_start_only() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("a!b").press("enter");
    assert_eq!(stage.sent(), [message("a!b")]);
    stage
        .tell(Event::Status(status()))
        .type_text("ls")
        .press("left left")
        .type_text("!!");
    stage.press("enter");
    assert_eq!(stage.sent(), [message("!!ls")]);
    stage
        .tell(Event::Status(status()))
        .type_text("!x")
        .press("backspace backspace")
        .type_text("y")
        .press("enter");
    assert_eq!(stage.sent(), [message("y")]);
    stage
        .tell(Event::Status(status()))
        .give(Input::Paste("!git status".into()))
        .press("enter");
    assert_eq!(stage.sent(), [message("!git status")]);
}

#[test]
fn a_paste_never_sends_and_comes_whole() {
    let mut stage = Stage::ready(80, 24);
    let text = "line\r\n".repeat(10_000);
    stage.give(Input::Paste(text));
    assert!(stage.sent().is_empty());
    stage.press("enter");
    assert_eq!(stage.sent(), [message(&"line\n".repeat(10_000))]);
}

fn waiting(lines: &[&str]) -> Event {
    let line = |text: &&str| QueuedLine {
        text: (*text).to_owned(),
        steers: false,
    };
    Event::Queue {
        waiting: lines.iter().map(line).collect(),
    }
}

#[test]
fn what_is_typed_during_a_turn_stands_in_the_box_and_enter_sends_it_to_wait() {
    for (columns, rows) in [(80, 24), (40, 10)] {
        let mut stage = Stage::ready(columns, rows);
        stage.type_text("go").press("enter").tell(turn_start());
        stage.sent();
        stage
            .type_text("next")
            .press("left backspace")
            .give(Input::Paste("P".into()));
        assert!(stage.screen().contains("› neP▮"), "{}", stage.screen());
        stage.press("enter");
        assert_eq!(stage.sent(), [message("nePt")]);
        stage.tell(waiting(&["nePt"]));
        assert!(stage.screen().contains("then: nePt"), "{}", stage.screen());
        assert!(
            !stage.screen().contains("› nePt"),
            "not said yet: {}",
            stage.screen()
        );
        let over = Status {
            waiting: 1,
            ..status()
        };
        stage
            .tell(turn_end(1.0, TurnOutcome::Ok))
            .tell(Event::Status(over));
        let text = "nePt".to_owned();
        stage.tell(waiting(&[])).tell(Event::Taken { text });
        assert!(stage.screen().contains("› nePt"), "{}", stage.screen());
        assert!(!stage.screen().contains("then:"), "{}", stage.screen());
    }
}

#[test]
fn escape_takes_the_waiting_line_back_before_it_stops_the_turn() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("go").press("enter").tell(turn_start());
    stage.tell(waiting(&["later"])).sent();
    stage.press("esc");
    assert_eq!(stage.sent(), [Command::TakeBack { all: false }]);
    let lines = vec!["later".to_owned()];
    stage.tell(waiting(&[])).tell(Event::TakenBack { lines });
    assert!(stage.screen().contains("› later▮"), "{}", stage.screen());
    stage.press("esc");
    assert_eq!(stage.sent(), [Command::Interrupt]);
}

#[test]
fn up_takes_a_waiting_line_back_only_into_an_empty_box() {
    for (typed, back) in [("x", Vec::new()), ("", vec![Command::TakeBack { all: false }])] {
        let mut stage = Stage::ready(80, 24);
        stage.type_text("go").press("enter").tell(turn_start());
        stage.tell(waiting(&["later"])).sent();
        stage.type_text(typed).press("up");
        assert_eq!(stage.sent(), back, "{typed:?}");
    }
}

#[test]
fn ctrl_c_stops_the_turn_and_all_that_waits_comes_back_before_what_is_typed() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("go").press("enter").tell(turn_start());
    stage.tell(waiting(&["one", "two"])).type_text("three").sent();
    stage.press("ctrl-c");
    assert_eq!(
        stage.sent(),
        [Command::TakeBack { all: true }, Command::Interrupt]
    );
    let lines = vec!["one".to_owned(), "two".to_owned()];
    stage.tell(waiting(&[])).tell(Event::TakenBack { lines });
    for line in ["› one", "two", "three▮"] {
        assert!(stage.screen().contains(line), "{line}: {}", stage.screen());
    }
}

#[test]
fn help_opens_at_once_during_a_turn() {
    for key in ["?", "f1"] {
        let mut stage = Stage::ready(80, 24);
        stage.type_text("go").press("enter").tell(turn_start());
        if key == "?" {
            stage.type_text("?");
        } else {
            stage.press(key);
        }
        assert!(stage.screen().contains("Typing"), "{key}: {}", stage.screen());
    }
}

#[test]
fn what_was_never_sent_is_shown_when_the_conversation_is_over() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("go").press("enter").tell(turn_start());
    stage.tell(waiting(&["later"])).type_text("and this");
    stage.tell(Event::Exit { code: 1 });
    for line in ["not sent: later", "not sent: and this"] {
        assert!(stage.screen().contains(line), "{line}: {}", stage.screen());
    }
}

#[test]
fn a_question_takes_no_key_before_the_keyboard_was_silent_for_500_ms() {
    let mut stage = Stage::ready(80, 24);
    let key = |c: char| Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    stage.tell(Event::Approval(approval()));
    stage.wait(499).give(key('y'));
    assert!(stage.sent().is_empty(), "too soon, and the wait begins anew");
    stage.wait(499).give(key('s'));
    assert!(stage.sent().is_empty());
    stage.wait(500).give(key('s'));
    assert_eq!(
        stage.sent(),
        [Command::Answer {
            id: "q1".into(),
            decision: Decision::Session,
            reason: None,
        }]
    );
    stage.tell(Event::Status(status()));
    assert!(
        stage.screen().contains("› ys▮"),
        "what came too soon is in the box: {}",
        stage.screen()
    );
}

fn refusal() -> Command {
    Command::Answer {
        id: "q1".into(),
        decision: Decision::No,
        reason: None,
    }
}

#[test]
fn ctrl_c_refuses_at_once_and_ends_the_turn() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(Event::Approval(approval()))
        .give(Input::Key(key_event("ctrl-c")));
    assert_eq!(stage.sent(), [refusal(), Command::Interrupt]);
}

#[test]
fn escape_refuses_and_ends_the_turn_and_n_refuses_one_call() {
    for (key, sent) in [
        ("esc", vec![refusal(), Command::Interrupt]),
        ("n", vec![refusal()]),
    ] {
        let mut stage = Stage::ready(80, 24);
        stage.tell(Event::Approval(approval())).wait(500).press(key);
        assert_eq!(stage.sent(), sent, "{key}");
    }
}

#[test]
fn letters_that_are_no_answers_are_ignored() {
    let mut stage = Stage::ready(80, 40);
    stage
        .tell(Event::Approval(edit_approval()))
        .wait(600)
        .press("x enter a");
    assert!(stage.sent().is_empty(), "`always` was not offered");
    stage.wait(399).press("y").wait(399).press("n");
    assert!(stage.sent().is_empty(), "letters of a word are no answers");
    stage.tell(Event::Withdrawn { id: "q2".into() });
    assert!(
        stage
            .screen()
            .contains("no longer waiting: edit_file src/main.rs")
    );
    assert!(!stage.screen().contains("may it run?"));
}

#[test]
fn a_yes_counts_only_once_all_of_the_question_was_on_the_screen() {
    for (width, height, room) in [(80, 24, 19), (40, 10, 5), (20, 6, 1)] {
        let mut stage = Stage::ready(width, height);
        stage.tell(Event::Approval(edit_approval())).wait(500);
        let total = rows_of_the_edit(&stage);
        stage.press("y");
        assert!(stage.sent().is_empty(), "{room} of {total} rows were seen");
        assert!(!stage.screen().contains("[y]"), "{}", stage.screen());
        stage.press("page-up");
        for _ in 0..(total - 1) / room - 1 {
            stage.press("page-down").wait(1).press("y");
            assert!(stage.sent().is_empty(), "{}", stage.screen());
        }
        stage.press("page-down");
        assert!(
            stage.screen().contains(&format!("{total} of {total} rows")),
            "{}",
            stage.screen()
        );
        assert!(stage.screen().contains("[y]"), "{}", stage.screen());
        stage.press("page-up page-up y");
        let decision = Decision::Once;
        assert_eq!(
            stage.sent(),
            [Command::Answer {
                id: "q2".into(),
                decision,
                reason: None,
            }]
        );
    }
}

/// The number after `of` in `12 of 84 rows`.
fn rows_of_the_edit(stage: &Stage) -> usize {
    let screen = stage.screen();
    let (before, _) = screen.split_once(" rows").expect("the rows are counted");
    before
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .parse()
        .expect("a number")
}

#[test]
fn another_width_shows_a_question_anew() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(Event::Approval(edit_approval()))
        .wait(500)
        .press("page-down");
    stage.resize(40, 12);
    stage.press("y");
    assert!(stage.sent().is_empty());
    assert!(stage.screen().contains("7 of "), "{}", stage.screen());
}

#[test]
fn ctrl_c_at_a_list_ends_the_turn_that_asked() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(doing("ask_user"))
        .tell(choice(false, false))
        .press("ctrl-c");
    let left = Command::Choose {
        id: "c1".into(),
        value: None,
        values: None,
    };
    assert_eq!(stage.sent(), [left, Command::Interrupt]);
}

#[test]
fn a_list_is_answered_left_or_answered_in_words() {
    let choose = |value: Option<&str>, values: Option<&[&str]>| Command::Choose {
        id: "c1".into(),
        value: value.map(str::to_owned),
        values: values.map(|values| values.iter().map(|v| (*v).to_owned()).collect()),
    };
    let answer = |event: Event, keys: &str| {
        let mut stage = Stage::ready(80, 24);
        stage.tell(event).wait(500).press(keys);
        stage.sent()
    };
    assert_eq!(
        answer(choice(false, false), "down enter"),
        [choose(Some("llama3.2:3b"), None)]
    );
    assert_eq!(answer(choice(false, false), "esc"), [choose(None, None)]);
    assert_eq!(
        answer(choice(true, false), "space down space enter"),
        [choose(None, Some(&["llama3.2:3b"]))]
    );
    assert_eq!(
        answer(choice(false, true), "a b space c backspace enter"),
        [choose(Some("ab "), None)]
    );
}

#[test]
fn a_list_takes_nothing_that_was_typed_before_it_was_seen() {
    let mut stage = Stage::ready(80, 24);
    let key = |name: &str| Input::Key(key_event(name));
    stage
        .tell(choice(false, false))
        .give(key("down"))
        .wait(499)
        .give(key("enter"));
    stage.wait(499).give(key("h"));
    assert!(stage.sent().is_empty(), "moving is no answer, the rest waits");
    stage.wait(500).give(key("enter"));
    let Some(Command::Choose { value, .. }) = stage.sent().pop() else {
        panic!("it was answered")
    };
    assert_eq!(value.as_deref(), Some("llama3.2:3b"));
    stage
        .tell(choice(false, true))
        .give(Input::Paste("pasted".into()))
        .give(key("enter"));
    stage.wait(500).give(key("esc")).tell(Event::Status(status()));
    assert!(stage.screen().contains("› hpasted▮"), "{}", stage.screen());
}

#[test]
fn ctrl_c_stops_what_is_done_and_says_so_again_kills() {
    let mut stage = Stage::ready(80, 24);
    stage
        .type_text("go")
        .press("enter")
        .tell(doing("running sleep 60"));
    stage.sent();
    stage.press("ctrl-c ctrl-c");
    assert_eq!(stage.sent(), [Command::Interrupt, Command::Interrupt]);
}

#[test]
fn leaving_takes_two_ctrl_c_within_two_seconds_or_one_ctrl_d() {
    let mut stage = Stage::ready(80, 24);
    stage.press("ctrl-c").wait(2001).press("ctrl-c");
    assert!(stage.sent().is_empty());
    stage.press("ctrl-c");
    assert_eq!(stage.sent(), [Command::Quit]);
    let mut stage = Stage::ready(80, 24);
    stage.type_text("x").press("ctrl-d");
    assert!(stage.sent().is_empty());
    stage.press("ctrl-c ctrl-d");
    assert_eq!(stage.sent(), [Command::Quit]);
    stage.tell(Event::Exit { code: 0 });
    assert_eq!(stage.effects, [Effect::Exit(0)]);
}

#[test]
fn the_output_panel_asks_for_pages_searches_and_digests() {
    let mut stage = Stage::ready(80, 24);
    stage.tell(result(OUTPUT_ID)).press("ctrl-o");
    assert_eq!(
        stage.sent(),
        [Command::Output {
            id: OUTPUT_ID.into(),
            page: 0
        }]
    );
    stage
        .tell(page(OUTPUT_ID))
        .press("/")
        .type_text("er")
        .press("enter");
    let search = |pattern: &str, from_line, backwards| Command::Search {
        id: OUTPUT_ID.into(),
        pattern: pattern.into(),
        from_line,
        backwards,
    };
    assert_eq!(stage.sent(), [search("er", 1, false)]);
    let found = |line| Event::Found {
        id: OUTPUT_ID.into(),
        pattern: "er".into(),
        line: Some(line),
        page: Some(0),
    };
    stage.tell(found(40)).press("n").tell(found(50)).press("N");
    assert_eq!(stage.sent(), [search("er", 41, false), search("er", 49, true)]);
    stage.press(":").type_text("77").press("enter");
    assert_eq!(
        stage.sent(),
        [search("", 77, false)],
        "the empty pattern is found in every line"
    );
    stage.press(":").type_text("7x").press("enter s");
    assert_eq!(stage.sent(), [Command::Digest { id: OUTPUT_ID.into() }]);
}

#[test]
fn the_selection_is_copied_and_the_file_paged() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(result(OUTPUT_ID))
        .press("ctrl-o")
        .tell(page(OUTPUT_ID));
    stage.sent();
    stage.press("v down y");
    let lines = (1..=17).fold(String::new(), |text, n| {
        text + &format!("line {n} of the output\n")
    });
    assert_eq!(std::mem::take(&mut stage.effects), [Effect::Copy(lines)]);
    stage.press("o");
    assert_eq!(
        stage.effects,
        [Effect::Page("/home/ada/.wisp/output/8a7b6c5d".into())]
    );
}

#[test]
fn a_selection_over_pages_that_are_not_loaded_is_fetched_and_cut_where_a_terminal_ends() {
    let mut stage = Stage::ready(80, 24);
    stage.tell(result(OUTPUT_ID)).press("ctrl-o");
    stage.tell(numbered_page(0, 20)).press("v");
    stage.sent();
    stage.press("G").tell(numbered_page(19, 20)).press("y");
    let page = |page| Command::Output {
        id: OUTPUT_ID.into(),
        page,
    };
    assert!(
        stage.sent().ends_with(&[page(0)]),
        "the first page is not held any more"
    );
    let mut copied = None;
    for number in 0..19 {
        stage.tell(numbered_page(number, 20));
        copied = stage.effects.iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text.clone()),
            _ => None,
        });
        if copied.is_some() {
            break;
        }
    }
    let whole = (1..=20_000).fold(String::new(), |text, n| text + &format!("line {n:05}\n"));
    let cut = wisp_term::clipboard::MAX_COPY / 11 * 11;
    assert_eq!(copied.unwrap(), whole[..cut]);
    assert!(
        stage
            .screen()
            .contains("copied lines 1–6,817 of 1–20,000: a terminal takes 74 KiB")
    );
}

#[test]
fn left_and_right_go_through_the_conversations_outputs() {
    let mut stage = Stage::ready(80, 24);
    let ids = ["1111111111111111", "2222222222222222", "3333333333333333"];
    for id in ids {
        stage.tell(result(id));
    }
    stage.press("ctrl-o left left left right");
    let asked: Vec<Command> = [2, 1, 0, 1]
        .map(|at| Command::Output {
            id: ids[at].into(),
            page: 0,
        })
        .to_vec();
    assert_eq!(stage.sent(), asked);
}

#[test]
fn an_answer_that_comes_after_its_panel_was_closed_opens_nothing() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(result(OUTPUT_ID))
        .press("ctrl-o esc")
        .tell(page(OUTPUT_ID));
    assert!(!stage.screen().contains("╭─"), "{}", stage.screen());
    stage.press("ctrl-o").tell(page(OUTPUT_ID)).press("s q");
    let digest = View {
        kind: ViewKind::Digest,
        turn: None,
        text: "late".into(),
        output: None,
    };
    stage.tell(Event::View(digest));
    assert!(!stage.screen().contains("late"), "{}", stage.screen());
    stage.tell(page(OUTPUT_ID));
    assert!(
        stage.screen().contains("output 1 of 1"),
        "a page of a slash command opens one"
    );
}

#[test]
fn a_question_closes_the_panel() {
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(result(OUTPUT_ID))
        .press("ctrl-o")
        .tell(page(OUTPUT_ID))
        .tell(Event::Approval(approval()));
    assert!(stage.screen().contains("may it run?") && !stage.screen().contains("output 1 of 1"));
}

#[test]
fn the_context_panel_goes_back_and_forward_by_turns() {
    let mut stage = Stage::ready(80, 24);
    stage.press("ctrl-t");
    assert_eq!(stage.sent(), [Command::Context { turn: None }]);
    let context = |turn| {
        let text = "what the model sees".to_owned();
        Event::View(View {
            kind: ViewKind::Context,
            turn,
            text,
            output: None,
        })
    };
    stage
        .tell(context(None))
        .tell(Event::Status(status()))
        .tell(turn_end(1.0, TurnOutcome::Ok));
    stage.press("left");
    assert_eq!(stage.sent(), [Command::Context { turn: Some(1) }]);
    stage
        .tell(context(Some(1)))
        .tell(Event::Status(status()))
        .press("right");
    assert_eq!(stage.sent(), [Command::Context { turn: None }]);
}

#[test]
fn the_person_is_told_elsewhere_of_long_turns_and_questions_only() {
    let told = |stage: &mut Stage| {
        let effects = std::mem::take(&mut stage.effects);
        effects
            .into_iter()
            .filter(|effect| matches!(effect, Effect::Notify { .. }))
            .count()
    };
    let mut stage = Stage::ready(80, 24);
    stage
        .tell(turn_end(60.0, TurnOutcome::Ok))
        .tell(Event::Approval(approval()));
    assert_eq!(told(&mut stage), 0, "the person is here");
    stage
        .give(Input::Focus(false))
        .tell(turn_end(19.999, TurnOutcome::Ok));
    assert_eq!(told(&mut stage), 0);
    stage
        .tell(turn_end(20.0, TurnOutcome::Ok))
        .tell(Event::Approval(edit_approval()));
    assert_eq!(told(&mut stage), 2);
    stage
        .give(Input::Focus(true))
        .tell(turn_end(60.0, TurnOutcome::Ok));
    assert_eq!(told(&mut stage), 0);
}

#[test]
fn no_more_than_so_many_notifications_come_in_a_minute() {
    let mut stage = Stage::ready(80, 24);
    stage.give(Input::Focus(false));
    for _ in 0..6 {
        stage.tell(turn_end(60.0, TurnOutcome::Ok));
    }
    assert_eq!(stage.effects.len(), 5);
    stage.wait(59_999).tell(turn_end(60.0, TurnOutcome::Ok));
    assert_eq!(stage.effects.len(), 5);
    stage.wait(1).tell(turn_end(60.0, TurnOutcome::Ok));
    assert_eq!(stage.effects.len(), 6);
}

#[test]
fn completion_fills_in_what_is_shared_and_then_steps() {
    let mut stage = Stage::ready(80, 24);
    stage.type_text("see /mo").press("tab");
    assert_eq!(
        stage.sent(),
        [Command::Complete {
            id: "tui-1".into(),
            text: "see /mo".into(),
            cursor: 7
        }]
    );
    let candidates = |id: &str, words: &[&str]| Event::Completions {
        id: id.into(),
        from: 4,
        candidates: words.iter().map(|word| (*word).to_owned()).collect(),
        about: Vec::new(),
    };
    stage
        .tell(candidates("tui-0", &["/wrong"]))
        .tell(candidates("tui-1", &["/model", "/models"]));
    assert!(stage.screen().contains("› see /model▮"), "{}", stage.screen());
    stage.press("tab tab shift-tab");
    assert!(stage.screen().contains("› see /model▮"), "{}", stage.screen());
    stage.type_text("x");
    assert!(
        !stage.screen().contains("/models"),
        "the candidates go when typing goes on"
    );
}

#[test]
fn the_face_sleeps_when_nothing_is_done() {
    let mut stage = Stage::ready(80, 24);
    assert_eq!(stage.app.next_wake(), None);
    stage.type_text("hello").wait(100);
    assert_eq!(stage.app.next_wake(), None);
    stage.press("enter").tell(doing("waiting for the model"));
    assert!(stage.app.next_wake().is_some());
    stage
        .tell(turn_end(1.0, TurnOutcome::Ok))
        .tell(Event::Status(status()));
    assert_eq!(stage.app.next_wake(), None);
}

#[test]
fn an_edit_that_nobody_was_asked_about_leaves_its_difference_folded_at_20_lines() {
    for (lines, fold) in [
        (20, None),
        (21, Some("… 1 more line · +21 -0")),
        (84, Some("… 64 more lines · +84 -0")),
    ] {
        let mut stage = Stage::ready(80, 40);
        let added = (1..=lines)
            .map(|n| format!("+line {n}\n"))
            .collect::<Vec<_>>()
            .concat();
        let unified = format!("--- a.txt\n+++ a.txt\n@@ -0,0 +1,{lines} @@\n{added}");
        let output = OutputSummary {
            text: "created a.txt; now 9 bytes\n".into(),
            lines: 1,
            bytes: 27,
            excerpt: vec![Stretch {
                from_line: 1,
                text: "created a.txt; now 9 bytes".into(),
            }],
            difference: Some(Difference::of(&unified)),
            ..OutputSummary::default()
        };
        stage.tell(Event::Event {
            kind: "tool.result".into(),
            call: None,
            turn: Some(1),
            details: serde_json::Value::Null,
            text: Some("↳ 27 bytes in 0.0 s".into()),
            output: Some(output),
        });
        let screen = stage.screen();
        assert!(
            screen.contains("\n   1 + line 1\n") && screen.contains("  20 + line 20\n"),
            "{screen}"
        );
        assert!(!screen.contains("line 21"), "{screen}");
        match fold {
            Some(fold) => assert!(screen.contains(&format!("  {fold}\n")), "{screen}"),
            None => assert!(!screen.contains("more line"), "{screen}"),
        }
    }
}

#[test]
fn a_job_has_its_place_in_the_status_row_while_it_lasts_also_in_a_narrow_window() {
    for columns in [100, 40] {
        let mut stage = Stage::ready(columns, 20);
        let job = |id: &str, title: &str, running| JobStatus {
            id: id.into(),
            kind: "warm-up".into(),
            title: title.into(),
            running,
        };
        let jobs = vec![job("j1", "loading qwen3:8b", true), job("j2", "facts", false)];
        stage.tell(Event::Jobs { jobs });
        let screen = stage.screen();
        let shown = if columns == 100 {
            "… loading qwen3:8b (+1)"
        } else {
            "… loading qwen3:8b"
        };
        assert!(screen.contains(shown), "{columns}:\n{screen}");
        stage.tell(Event::Jobs { jobs: Vec::new() });
        assert!(!stage.screen().contains("loading"), "{columns}");
    }
}
