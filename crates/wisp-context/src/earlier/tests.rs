//! What stays of turns that left.

use super::*;
use crate::entry::Origin;
use crate::stamp::Time;

fn prompt(turn: u32, text: &str) -> Vec<Line> {
    let entry = Entry {
        id: EntryId(turn * 10),
        turn,
        origin: Origin::Turn,
        time: Time::default(),
        sources: Vec::new(),
        revision: 0,
        dropped: None,
        content: Content::Prompt { text: text.into() },
    };
    of_turn(&[entry])
}

fn block(older: &[Line], newer: &[Line], frame: Frame) -> Text {
    let mut earlier = Earlier::default();
    earlier.extend(older.to_vec());
    earlier.block(newer, frame)
}

fn frame(room: usize, through: u32) -> Frame {
    Frame {
        room,
        through,
        memory: true,
    }
}

#[test]
fn every_line_stands_in_order_while_there_is_room() {
    let lines = [prompt(1, "Fix it.\nDo not touch legacy.c."), prompt(2, "why?")].concat();
    assert_eq!(
        block(&lines[..1], &lines[1..], frame(2000, 2)).as_str(),
        "[From earlier in this conversation: turns 1–2, no longer shown. What the user said then, in their own \
         words; where two lines disagree, the later one holds. memory \"recall turn N\" or \"recall entry N\" shows any \
         of it whole, \"recall WORDS\" searches it.]\n- turn 1, entry 10: Fix it. Do not touch legacy.c.\n- turn 2, \
         entry 20: why?"
    );
    assert_eq!(block(&[], &[], frame(2000, 0)), "");
    assert!(
        !block(
            &lines,
            &[],
            Frame {
                memory: false,
                ..frame(2000, 2)
            }
        )
        .contains("memory")
    );
}

#[test]
fn the_first_prompt_and_the_orders_outlast_the_rest() {
    let mut lines = prompt(1, "Port the tide table to Rust.");
    lines.extend(prompt(2, "Never touch legacy.c."));
    for turn in 3..200 {
        lines.extend(prompt(
            turn,
            &format!("and what about the table number {turn}, then?"),
        ));
    }
    let text = block(&lines, &[], frame(1024, 199));
    assert!(text.contains("- turn 1, entry 10: Port the tide table to Rust."));
    assert!(text.contains("- turn 2, entry 20: Never touch legacy.c."));
    assert!(text.contains("- turn 199, entry 1990: and what"));
    assert!(text.contains(" turns between 3 and "), "{text}");
    assert!(text.len() <= 1024);
}

#[test]
fn turns_without_a_line_are_said() {
    let listed = |turns: &[u32]| turns.iter().copied().collect::<BTreeSet<u32>>();
    assert_eq!(missing(&listed(&[1, 2, 3]), 3), None);
    assert_eq!(
        missing(&listed(&[1, 3]), 3).as_deref(),
        Some("- turn 2 is not listed")
    );
    assert_eq!(
        missing(&listed(&[1, 2]), 3).as_deref(),
        Some("- turn 3 is not listed")
    );
    assert_eq!(
        missing(&listed(&[1, 5]), 9).as_deref(),
        Some("- 7 turns between 2 and 9 are not listed")
    );
    assert_eq!(
        missing(&listed(&[1, 5, 9]), 9).as_deref(),
        Some("- 6 turns between 2 and 8 are not listed")
    );
    assert_eq!(
        missing(&listed(&[]), 2).as_deref(),
        Some("- 2 turns between 1 and 2 are not listed")
    );
}

#[test]
fn a_long_prompt_leaves_its_beginning_and_its_orders_once() {
    let text = format!(
        "Here is a log. {} You must not restart the server.",
        "noise ".repeat(2000)
    );
    let lines = [prompt(1, &text), prompt(2, &text)].concat();
    let block = block(&lines, &[], frame(1024, 2));
    assert!(block.contains("- turn 1, entry 10: Here is a log."), "{block}");
    assert_eq!(
        block.matches("You must not restart the server.").count(),
        1,
        "{block}"
    );
    assert!(block.len() <= 1024);
}

#[test]
fn the_room_is_a_tenth_of_the_window() {
    assert_eq!(room(Some(8192)), 3276);
    assert_eq!(room(Some(2048)), 1024);
    assert_eq!(room(None), 4096);
}

/// What the person said in a turn: some of it again and again, some of it orders, statements and questions.
fn said(turn: u32) -> Vec<Line> {
    match turn % 5 {
        0 => prompt(turn, "go on"),
        1 => prompt(turn, &format!("Do not touch part {turn}.")),
        2 => prompt(turn, &format!("The lamp of watch {turn} is red.")),
        _ => prompt(turn, &format!("and how about watch {turn}?")),
    }
}

#[test]
fn what_is_let_go_of_would_not_have_been_listed() {
    let room = 3276;
    let (mut held, mut all) = (Earlier::default(), Earlier::default());
    let mut most = 0;
    for turn in 1..=3000 {
        held.extend(said(turn));
        all.extend(said(turn));
        held.keep_for(room);
        if turn % 500 == 7 {
            let newer = said(turn + 1);
            for room in [SQUEEZED_BYTES, room] {
                let frame = frame(room, turn + 1);
                assert_eq!(held.block(&newer, frame), all.block(&newer, frame), "{turn}");
            }
        }
        most = most.max(held.len());
    }
    assert!(most <= 400 && all.len() == 3000, "{most} lines held");
}

/// What was enough for a small window is not for a larger one: it is listed again from the whole record.
#[test]
fn a_larger_window_lists_what_a_smaller_one_had_no_room_for() {
    use crate::{Estimator, Gauge, Outcome, Phase, Reason, Stamp, Target, ThreadRecord};
    let mut record = ThreadRecord::new("You are wisp.", Stamp::default());
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(2048),
        target: Target {
            target: 0.1,
            ..Target::default()
        },
    };
    for number in 0..300 {
        record.begin_turn(format!("The lamp of watch {number} is red."), Stamp::default());
        record.record_reply("so it is. ".repeat(100), false, Stamp::default());
        record.end_turn(Outcome::Completed);
        let plan = record.plan(&gauge, Phase::Idle, Reason::Asked).unwrap();
        record.condense(plan, "event").unwrap();
    }
    let frame = frame(room(Some(131_072)), 299);
    let listed = |record: &ThreadRecord| record.earlier.block(&[], frame).matches("is red").count();
    assert!((10..60).contains(&listed(&record)), "{}", listed(&record));
    let whole = record.clone();
    record.list_again(&whole);
    assert_eq!(listed(&record), 299);
}

/// Sixty turns in which three decisions are made in turns 2 to 4 and taken back in everyday words in turns 20 to 22.
fn reversed(room: usize) -> Text {
    let decided = [
        "The cache is kept in SQLite.",
        "The labels are in German.",
        "The report is a PDF.",
    ];
    let back = [
        "Drop SQLite, flat files it is.",
        "Labels in Dutch from now on.",
        "Forget the PDF, Markdown will do.",
    ];
    let mut lines = prompt(1, "Port the tide table to Rust.");
    for turn in 2..=60 {
        lines.extend(match turn {
            2..=4 => prompt(turn, decided[turn as usize - 2]),
            20..=22 => prompt(turn, back[turn as usize - 20]),
            _ if turn % 2 == 0 => prompt(turn, &format!("The buoy at mile {turn} is number {}.", turn * 7)),
            _ => prompt(turn, &format!("go on with station {turn} of the northern coast")),
        });
    }
    block(&lines, &[], frame(room, 60))
}

#[test]
fn what_was_taken_back_stands_with_what_took_it_back_or_not_at_all() {
    let pairs = [
        ("kept in SQLite", "Drop SQLite, flat files it is."),
        ("labels are in German", "Labels in Dutch from now on."),
        ("report is a PDF", "Forget the PDF, Markdown will do."),
    ];
    for room in [1024, 1300, 1638, 2200, 3276, 6553] {
        let text = reversed(room);
        for (old, new) in pairs {
            assert!(!text.contains(old) || text.contains(new), "{room}: {new}\n{text}");
        }
        assert!(text.len() <= room);
    }
    let text = reversed(3276);
    for (_, new) in pairs {
        assert!(text.contains(new), "{new}\n{text}");
    }
}

#[test]
fn a_question_takes_nothing_back() {
    let mut lines = prompt(1, "Port it.");
    lines.extend(prompt(2, "The cache is kept in SQLite."));
    lines.extend(prompt(3, "Is SQLite fast enough?"));
    for turn in 4..80 {
        lines.extend(prompt(turn, &format!("Buoy {turn} is at mile {}.", turn * 3)));
    }
    let text = block(&lines, &[], frame(1024, 79));
    assert!(!text.contains("Is SQLite fast enough?"), "{text}");
}

#[test]
fn words_are_told_apart_by_their_stems() {
    assert_eq!(topics::of("The labels"), topics::of("Label it"));
    assert_eq!(topics::of("deploys"), topics::of("The deployment"));
    assert!(topics::of("go on, and then? 42").is_empty());
}
