//! Every state at many widths and heights: nothing panics, no row is wider than the window, the band is not
//! higher, and frames are straight.

mod common;

use common::*;
use ratatui::layout::Size;
use wisp_agent::protocol::Event;
use wisp_term::width::cells;
use wisp_tui::{App, Input, view};

const WIDE: &str =
    "漢字 ｆｕｌｌ 🐟👩\u{200d}👩\u{200d}👧 e\u{301}cole 한글 🇳🇴\tand a tab, then words that go on and on";

/// Faces in every state, with wide text wherever text can be.
fn states() -> Vec<(&'static str, App)> {
    let make = |steps: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::ready(80, 24);
        steps(&mut stage);
        stage.app
    };
    vec![
        ("starting", Stage::new(80, 24).app),
        (
            "typing",
            make(&|s| {
                s.give(Input::Paste(format!("{WIDE}\n{WIDE}")));
            }),
        ),
        (
            "paste",
            make(&|s| {
                s.give(Input::Paste(WIDE.repeat(100)));
            }),
        ),
        (
            "busy",
            make(&|s| {
                s.type_text("x")
                    .press("enter")
                    .tell(doing(WIDE))
                    .tell(delta(WIDE));
            }),
        ),
        (
            "approval",
            make(&|s| {
                let mut question = approval();
                question.command = WIDE.repeat(9);
                question.reasons = vec![WIDE.repeat(3); 9];
                s.tell(Event::Approval(question));
            }),
        ),
        (
            "edit",
            make(&|s| {
                s.tell(Event::Approval(edit_approval()));
            }),
        ),
        (
            "choice",
            make(&|s| {
                s.tell(choice(false, true)).wait(500).type_text(WIDE);
            }),
        ),
        (
            "toggles",
            make(&|s| {
                s.tell(choice(true, false)).press("down");
            }),
        ),
        (
            "output",
            make(&|s| {
                s.tell(result(OUTPUT_ID))
                    .press("ctrl-o")
                    .tell(page_of(OUTPUT_ID, &format!("{WIDE}\n").repeat(50)));
            }),
        ),
        (
            "searching",
            make(&|s| {
                s.tell(result(OUTPUT_ID))
                    .press("ctrl-o")
                    .tell(page(OUTPUT_ID))
                    .press("/")
                    .type_text(WIDE);
            }),
        ),
        (
            "full",
            make(&|s| {
                s.tell(result(OUTPUT_ID))
                    .press("ctrl-o")
                    .tell(page(OUTPUT_ID))
                    .press("f");
            }),
        ),
        (
            "keys",
            make(&|s| {
                s.press("f1");
            }),
        ),
    ]
}

#[test]
fn no_window_is_too_narrow_or_too_low() {
    for (name, mut app) in states() {
        for width in (0..=24).chain([40, 79, 80, 81, 120, 200, 500]) {
            for height in [0, 1, 5, 6, 24] {
                app.resize(Size { width, height });
                let band = view::band(&app);
                assert!(
                    band.rows.len() <= usize::from(height),
                    "{name} at {width}×{height}"
                );
                for row in &band.rows {
                    let text: String = row.spans.iter().map(|span| span.content.as_ref()).collect();
                    let wide = cells(&text);
                    assert!(wide <= usize::from(width), "{name} at {width}×{height}: {text}");
                    let framed = text.starts_with(['╭', '│', '╰']);
                    let cut = width < 20 || height < 6;
                    assert!(
                        !framed || cut || wide == usize::from(width),
                        "{name} at {width}×{height}: {text}"
                    );
                    assert!(!text.contains(['\t', '\n', '\u{1b}']), "{name}: {text:?}");
                }
                if let Some(cursor) = band.cursor {
                    assert!(
                        cursor.x < width && usize::from(cursor.y) < band.rows.len(),
                        "{name} at {width}×{height}"
                    );
                }
            }
        }
        app.resize(Size {
            width: 80,
            height: 24,
        });
        assert!(view::band(&app).rows.len() >= 2, "{name} is drawn again");
    }
}

#[test]
fn finished_rows_are_never_wider_than_the_window() {
    for width in (1..=40).chain([80, 120, 200]) {
        let mut stage = Stage::ready(width, 24);
        stage.tell(Event::Note {
            text: WIDE.into(),
            level: wisp_agent::protocol::NoteLevel::Info,
        });
        stage
            .tell(line("tool.call", WIDE))
            .tell(result(OUTPUT_ID))
            .tell(delta(&format!("{WIDE}\n- {WIDE}\n")));
        stage
            .tell(Event::Output { text: WIDE.into() })
            .give(Input::Paste(WIDE.into()))
            .press("enter");
        for row in &stage.above {
            let text: String = row.spans.iter().map(|span| span.content.as_ref()).collect();
            assert!(cells(&text) <= usize::from(width).max(2), "{width}: {text}");
        }
    }
}
