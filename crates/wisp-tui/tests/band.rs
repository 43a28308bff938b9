//! The band on a terminal's screen: finished lines reach the scrollback once each, nothing else does, and nothing from
//! outside commands the terminal.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;
mod pty;

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use common::*;
use proptest::prelude::*;
use ratatui::layout::Size;
use wisp_agent::protocol::{
    Choice, ChoiceOption, Event, NoteLevel, Phase, TurnEnd, TurnOutcome, View, ViewKind,
};
use wisp_tui::terminal::Notifier;
use wisp_tui::{Effect, Input, Reflow, Screen, view};

/// A face whose frames are parsed by a terminal.
struct Window {
    stage: Stage,
    screen: Screen<Vec<u8>>,
    terminal: vt100::Parser,
    bytes: Vec<u8>,
}

impl Window {
    fn new(width: u16, height: u16) -> Self {
        let size = Size { width, height };
        let (rows, columns) = (NonZeroU16::new(height).unwrap(), NonZeroU16::new(width).unwrap());
        Self {
            stage: Stage::ready(width, height),
            screen: Screen::new(Vec::new(), size, Reflow::Breaks),
            terminal: vt100::Parser::new(rows, columns, 1_000_000),
            bytes: Vec::new(),
        }
    }

    fn frame(&mut self) {
        if self.stage.app.is_full() {
            self.screen.enter_full().unwrap();
        } else {
            self.screen.leave_full().unwrap();
        }
        let band = view::band(&self.stage.app);
        let finished = std::mem::take(&mut self.stage.above);
        self.screen.frame(finished, &band.rows, band.cursor).unwrap();
        let bytes = std::mem::take(self.screen.out());
        self.terminal.process(&bytes);
        self.bytes.extend_from_slice(&bytes);
    }
}

#[test]
fn of_a_higher_band_nothing_is_left_below_a_window_of_19_columns() {
    for question in [false, true] {
        let mut window = Window::new(40, 12);
        if question {
            window.stage.tell(Event::Approval(edit_approval()));
        }
        window.frame();
        let size = Size {
            width: 19,
            height: 12,
        };
        let (rows, columns) = (NonZeroU16::new(12).unwrap(), NonZeroU16::new(19).unwrap());
        window.terminal.screen_mut().set_size(rows, columns);
        window.stage.resize(19, 12);
        window.screen.resize(size, true);
        window.frame();
        let shown = window.terminal.screen().contents();
        let expected = if question { "window too small" } else { "›" };
        assert_eq!(shown.trim(), expected, "{shown}");
    }
}

#[test]
fn five_thousand_deltas_lose_nothing_and_every_frame_is_quick() {
    let mut window = Window::new(100, 30);
    window.stage.type_text("go").press("enter").tell(turn_start());
    let mut slowest = Vec::new();
    for n in 0..5000_u32 {
        window
            .stage
            .tell(delta(&format!("word{n}{}", if n % 7 == 0 { "\n" } else { " " })));
        if n % 80 == 0 {
            let began = Instant::now();
            window.frame();
            slowest.push(began.elapsed());
        }
    }
    window
        .stage
        .tell(turn_end(1.0, TurnOutcome::Ok))
        .tell(Event::Status(status()));
    window.frame();
    let history = pty::history(&mut window.terminal);
    let words: Vec<&str> = history
        .split_whitespace()
        .filter(|word| word.starts_with("word"))
        .collect();
    let expected: Vec<String> = (0..5000).map(|n| format!("word{n}")).collect();
    assert_eq!(words, expected);
    slowest.sort_unstable();
    let p99 = slowest[slowest.len() * 99 / 100];
    assert!(
        p99 < Duration::from_millis(160),
        "even without optimisation on a busy machine: {p99:?}"
    );
}

#[test]
fn the_band_alone_is_drawn_again_and_only_what_changed() {
    let mut window = Window::new(80, 24);
    window.frame();
    window.bytes.clear();
    window.frame();
    assert!(window.bytes.is_empty(), "an idle face writes nothing");
    assert_eq!(window.stage.app.next_wake(), None, "and wakes for nothing");
    window.stage.type_text("x");
    window.frame();
    let text = String::from_utf8(window.bytes.clone()).unwrap();
    assert!(
        text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"),
        "{text:?}"
    );
    assert_eq!(text.matches("\x1b[?2026h").count(), 1, "one update");
    assert!(
        !text.contains("approve"),
        "the status row did not change: {text:?}"
    );
}

#[test]
fn a_panel_on_the_whole_screen_leaves_what_is_beneath_as_it_was() {
    let mut window = Window::new(80, 24);
    for n in 0..50 {
        window.stage.tell(Event::Note {
            text: format!("note {n}"),
            level: NoteLevel::Info,
        });
    }
    window
        .stage
        .tell(result(OUTPUT_ID))
        .press("ctrl-o")
        .tell(page(OUTPUT_ID));
    window.frame();
    window.stage.press("f");
    window.frame();
    assert!(window.terminal.screen().alternate_screen());
    window.stage.tell(Event::Note {
        text: "meanwhile".into(),
        level: NoteLevel::Info,
    });
    window.frame();
    window.stage.press("f").press("q");
    window.frame();
    assert!(!window.terminal.screen().alternate_screen());
    let history = pty::history(&mut window.terminal);
    for n in 0..50 {
        let row = format!("note {n}");
        assert_eq!(
            history.lines().filter(|line| line.trim_end() == row).count(),
            1,
            "{row}"
        );
    }
    assert_eq!(history.matches("meanwhile").count(), 1);
    assert!(!history.contains("╭─"), "no panel was left behind:\n{history}");
}

/// What a hostile model, tool, file name or server may send.
const HOSTILE: &str = "a\u{1b}]52;c;dG91Y2g=\u{7}b\u{1b}[2Jc\u{1b}[?1049hd\u{1b}]0;titlee\u{1b}\\\u{9b}31mf\u{8}\u{c}\u{b}\u{7f}\rg\u{202e}h\u{200b}i\u{e0041}j\u{1b}Pq\u{1b}\\k\u{1b}[8mhidden\u{1b}[0m end";

#[test]
fn nothing_from_outside_commands_the_terminal() {
    for keys in ["", "ctrl-o", "ctrl-o f", "f1"] {
        let mut window = Window::new(60, 24);
        let stage = &mut window.stage;
        let mut status = status();
        (status.model, status.directory, status.branch) =
            (HOSTILE.into(), HOSTILE.into(), Some(HOSTILE.into()));
        stage.tell(Event::Status(status)).tell(Event::Note {
            text: HOSTILE.into(),
            level: NoteLevel::Error,
        });
        stage.tell(line("tool.call", HOSTILE)).tell(delta(&format!(
            "{HOSTILE}\n| {HOSTILE} |\n|---|\n| {HOSTILE} |\n\n"
        )));
        stage
            .tell(Event::Output { text: HOSTILE.into() })
            .tell(result(OUTPUT_ID))
            .give(Input::Paste(HOSTILE.into()));
        stage.tell(Event::Completions {
            id: "tui-1".into(),
            from: 0,
            candidates: vec![HOSTILE.into(), "x".into()],
            about: Vec::new(),
        });
        if keys.is_empty() {
            stage.tell(doing(HOSTILE));
        } else {
            stage
                .press(keys)
                .tell(page_of(OUTPUT_ID, &format!("{HOSTILE}\n").repeat(30)));
        }
        window.frame();
        let mut question = approval();
        (question.command, question.line, question.pattern) =
            (HOSTILE.into(), HOSTILE.into(), HOSTILE.into());
        (question.directory, question.level) = (HOSTILE.into(), HOSTILE.into());
        (question.reasons, question.diff) = (vec![HOSTILE.into()], Some(format!("+{HOSTILE}\n-{HOSTILE}")));
        window.stage.tell(Event::Approval(question));
        window.frame();
        window.stage.wait(600).press("y");
        window.frame();
        assert_only_our_sequences(&window.bytes);
        assert!(
            pty::history(&mut window.terminal).contains("hidden"),
            "invisible text can be seen"
        );
    }
}

/// The file of escapes that a terminal must never get (each line ends in a mark that must be seen), in every place a
/// text can come to.
#[test]
fn the_file_of_escapes_through_every_dialog_and_panel_is_shown_and_inert() {
    let escapes =
        String::from_utf8_lossy(include_bytes!("../../wisp-term/tests/data/escapes.bin")).into_owned();
    let view = |kind| {
        Event::View(View {
            kind,
            turn: None,
            text: escapes.clone(),
            output: None,
        })
    };
    let list = |toggles, accepts_text| {
        let option = ChoiceOption {
            value: escapes.clone(),
            label: escapes.clone(),
            detail: escapes.clone(),
            on: true,
        };
        Event::Choice(Choice {
            id: escapes.clone(),
            title: escapes.clone(),
            options: vec![option],
            current: Some(escapes.clone()),
            accepts_text,
            toggles,
        })
    };
    let mut edit = edit_approval();
    edit.diff = Some(format!("@@ -1,99 +1,99 @@\n{}", escapes.replace('\n', "\n+")));
    let ends = Event::Turn {
        phase: Phase::End,
        turn: 1,
        end: Some(TurnEnd {
            seconds: 1.0,
            outcome: TurnOutcome::Error,
            input_tokens: None,
            output_tokens: None,
            tokens_per_second: None,
            first_token_seconds: None,
            ran: Some(escapes.clone()),
            cited: Some(escapes.clone()),
        }),
    };
    let events = [
        vec![view(ViewKind::Context)],
        vec![view(ViewKind::Digest)],
        vec![list(false, true)],
        vec![list(true, false)],
        vec![Event::Approval(edit)],
        vec![
            Event::Thinking {
                text: escapes.clone(),
            },
            ends,
        ],
        vec![
            Event::Notify {
                title: escapes.clone(),
                body: escapes.clone(),
            },
            delta(&format!("```\n{escapes}\n```\n{escapes}")),
        ],
        vec![
            result(OUTPUT_ID),
            page_of(OUTPUT_ID, &escapes),
            Event::Found {
                id: OUTPUT_ID.into(),
                pattern: escapes.clone(),
                line: Some(1),
                page: Some(0),
            },
        ],
    ];
    for told in events {
        let mut window = Window::new(100, 50);
        window.stage.give(Input::Focus(false));
        for event in told {
            window.stage.tell(event);
            window.frame();
        }
        window.stage.press("v y / n f");
        window.frame();
        assert_only_our_sequences(&window.bytes);
        for effect in &window.stage.effects {
            if let Effect::Notify { title, body } = effect {
                let told = Notifier::Osc777.sequence(title, body);
                assert_eq!(told.matches(['\x1b', '\x07']).count(), 2, "its own two: {told:?}");
            }
        }
    }
}

/// The sequences the face itself writes: moves, erasing, colours and its modes.
fn assert_only_our_sequences(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let ours = regex::Regex::new(r"\x1b\[(\?(2026|25|7|1049)[hl]|[0-9]*[ABCJKH]|[0-9;]*m)").unwrap();
    let rest = ours.replace_all(text, "").replace(['\r', '\n'], "");
    let bad = rest.chars().find(|c| {
        c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}')
    });
    assert_eq!(bad, None, "{rest:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text_through_any_event_is_safe(text in "[\\x1b\\x07\\x08\\r\\n\\t\\x9b\\u{202e}\\u{200b}\\[\\]0-9;mJa-c*|`#-]{0,60}") {
        let mut window = Window::new(40, 12);
        window.stage.tell(delta(&text)).tell(Event::Output { text: text.clone() }).tell(line("x", &text));
        window.stage.tell(result(OUTPUT_ID)).press("ctrl-o").tell(page_of(OUTPUT_ID, &text));
        window.frame();
        window.stage.press("esc").give(Input::Paste(text.clone()));
        window.frame();
        assert_only_our_sequences(&window.bytes);
    }

    #[test]
    fn finished_lines_stand_once_in_order_whatever_the_band_does(steps in proptest::collection::vec(0u8..6, 1..60)) {
        let mut window = Window::new(50, 14);
        window.stage.tell(result(OUTPUT_ID));
        let mut said = 0;
        for step in steps {
            match step {
                0 | 1 => {
                    window.stage.tell(Event::Note { text: format!("note {said}."), level: NoteLevel::Info });
                    said += 1;
                }
                2 => { window.stage.press("alt-enter"); }
                3 => { window.stage.press("ctrl-o"); }
                4 => { window.stage.tell(choice(false, false)); }
                // Twice within a second in an empty box asks the engine for something, which nobody here answers.
                _ => { window.stage.wait(1001); window.stage.press("esc"); }
            }
            window.frame();
        }
        while window.stage.app.next_wake().is_some() { window.stage.wait(1000); }
        window.frame();
        let history = pty::history(&mut window.terminal);
        let numbers: Vec<usize> = history
            .lines()
            .filter_map(|line| line.trim().strip_prefix("note ")?.strip_suffix('.')?.parse().ok())
            .collect();
        prop_assert_eq!(numbers, (0..said).collect::<Vec<_>>());
    }
}
