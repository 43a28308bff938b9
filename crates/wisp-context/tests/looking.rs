//! Looking at a conversation: its context, its turns, a search, a recall.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Sim, record, run, stamp, talk, work};
use wisp_context::{
    EntryId, Estimator, Gauge, Outcome, PartKind, Phase, Reason, Target, ThreadRecord, Wanted, turns_markdown,
};

/// Three turns, a condensation that dropped the first, a fourth under way.
fn condensed() -> ThreadRecord {
    let mut record = record();
    work(
        &mut record,
        "Port tide.c; do not touch legacy.c.",
        &"compiling tide.o\n".repeat(60),
        &"It failed. ".repeat(200),
    );
    let page = "a line of six words here\n".repeat(30);
    record.begin_turn("show it", stamp());
    run(&mut record, "cat page", &page);
    record.request();
    record.record_reply(format!("Here:\n\n{page}"), false, stamp());
    record.end_turn(Outcome::Completed);
    talk(&mut record, "thanks | again", "You are welcome.");
    record.begin_turn("and now?", stamp());
    let estimator = Estimator::default();
    let target = Target {
        target: 0.05,
        margin: 0.0,
        ..Target::default()
    };
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(8192),
        target,
    };
    let plan = record.plan(&gauge, Phase::TurnStart, Reason::Budget).unwrap();
    assert_eq!(plan.leaving, [1], "{plan:?}");
    record.condense(plan, "event-9").unwrap();
    record.request();
    record
}

fn gauge(estimator: &Estimator) -> Gauge<'_> {
    Gauge {
        estimator,
        window: Some(8192),
        target: Target::default(),
    }
}

#[test]
fn the_next_request_is_shown_part_by_part_with_what_changed() {
    let record = condensed();
    let estimator = Estimator::default();
    let view = record.context_next(&gauge(&estimator));
    assert_eq!(view.turn, Some(4));
    let bytes: u64 = view.rows.iter().map(|row| row.bytes).sum();
    assert_eq!(bytes, record.compose().bytes());
    assert_eq!(view.totals.iter().map(|total| total.bytes).sum::<u64>(), bytes);
    let note = |kind| {
        view.rows
            .iter()
            .find(|row| row.kind == kind)
            .and_then(|row| row.note.clone())
            .unwrap()
    };
    assert_eq!(note(PartKind::Earlier), "turn 1 left; the record keeps it");
    assert_eq!(
        note(PartKind::Reference),
        "a reference since turn 3: its own turn carried 750 bytes"
    );
    assert_eq!(note(PartKind::CutReply), "cut: 749 bytes copied from entry 8");
    let text = view.markdown();
    assert!(text.starts_with("# The context of turn 4\n\n"), "{text}");
    assert!(text.contains("of 8,192 tokens ("), "{text}");
    assert!(
        text.contains("## entry 12 · prompt · turn 4 (this one) · 14:05:12\n"),
        "{text}"
    );
    assert!(
        text.contains("- turn 4: the next turn would have passed the budget: dropped 1 turn; "),
        "{text}"
    );
    assert!(text.contains("do not touch legacy.c"), "{text}");
}

/// The numbers in the last cell of each row of the table of parts.
fn parts_of(text: &str) -> Vec<u64> {
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cell = row.trim_end_matches(" |").rsplit('|').next().unwrap();
            cell.trim().replace(',', "").parse().unwrap()
        })
        .collect()
}

#[test]
fn the_parts_add_up_to_the_heading_estimated_and_counted() {
    let record = condensed();
    let bytes = record.compose().bytes();
    let mut estimator = Estimator::default();
    estimator.set_tool_bytes(3_001);
    let mut counted = estimator.clone();
    counted.report(bytes, 1_777);
    let mut since = estimator.clone();
    since.report(bytes - 100, 1_702);
    for (estimator, heading) in [
        (estimator, None),
        (
            counted,
            Some("1,777 of 8,192 tokens (22 %), as the server counted."),
        ),
        (since, None),
    ] {
        let view = record.context_next(&gauge(&estimator));
        let parts: u64 = view.rows.iter().map(|row| row.tokens).sum();
        assert_eq!(parts + view.tool_tokens, view.estimate.tokens);
        let text = view.markdown();
        assert_eq!(
            parts_of(&text).iter().sum::<u64>(),
            view.estimate.tokens,
            "{text}"
        );
        assert!(heading.is_none_or(|heading| text.contains(heading)), "{text}");
    }
}

#[test]
fn an_old_turn_is_shown_as_it_was() {
    let record = condensed();
    let estimator = Estimator::default();
    let view = record.context_of(1, &gauge(&estimator)).unwrap();
    assert_eq!(view.condensations, []);
    assert!(
        view.rows
            .iter()
            .any(|row| row.kind == PartKind::Output && row.own)
    );
    assert_eq!(record.context_of(9, &gauge(&estimator)), None);
}

#[test]
fn turns_are_listed_with_what_changed_at_each() {
    let record = condensed();
    let estimator = Estimator::default();
    let rows = record.context_turns(&gauge(&estimator));
    let changed: Vec<_> = rows
        .iter()
        .map(|row| (row.turn, row.dropped, row.changed.join(", ")))
        .collect();
    assert_eq!(
        changed,
        [
            (1, true, String::new()),
            (2, false, "referenced 1, cut 1".to_owned()),
            (3, false, "referenced 1".to_owned()),
            (4, false, "condensed".to_owned()),
        ]
    );
    let table = turns_markdown(&rows);
    assert!(table.contains("\n| (1) | 14:05:12 | "), "{table}");
    assert!(table.contains("| thanks \\| again |"), "{table}");
}

#[test]
fn text_that_left_is_found() {
    let record = condensed();
    let hits = record.search("tide.o compiling", 10);
    assert_eq!(hits.len(), 1);
    assert_eq!(
        (hits[0].entry, hits[0].turn, hits[0].line, hits[0].dropped),
        (EntryId(4), 1, 1, true)
    );
    assert_eq!(hits[0].excerpt, "compiling tide.o");
    let hits = record.search("LEGACY.C", 10);
    assert_eq!(hits[0].entry, EntryId(2));
    assert_eq!(record.search("six words here", 10).len(), 2);
    assert_eq!(
        record.search("six words here", 1)[0].entry,
        EntryId(9),
        "the latest first"
    );
    assert_eq!(record.search("  ", 10), []);
    assert_eq!(record.search("no such thing anywhere", 10), []);
}

#[test]
fn recall_reads_what_the_hints_say() {
    assert_eq!(Wanted::parse("entry 7"), Wanted::Entry(EntryId(7)));
    assert_eq!(Wanted::parse(" Output of entry #7."), Wanted::Entry(EntryId(7)));
    assert_eq!(Wanted::parse("7"), Wanted::Entry(EntryId(7)));
    assert_eq!(Wanted::parse("turn 3"), Wanted::Turn(3));
    assert_eq!(Wanted::parse("the task"), Wanted::Task);
    assert_eq!(
        Wanted::parse("turn it off"),
        Wanted::Words("turn it off".to_owned())
    );
    assert_eq!(Wanted::parse("what about entry 7"), Wanted::Entry(EntryId(7)));
}

#[test]
fn recall_brings_back_what_left() {
    let record = condensed();
    let entry = record.recall(&Wanted::Entry(EntryId(4))).unwrap();
    assert_eq!(
        entry.header,
        "entry 4: output of run_command, exit status 0, turn 1, 14:05:12"
    );
    assert_eq!(entry.text, "compiling tide.o\n".repeat(60));
    let turn = record.recall(&Wanted::Turn(1)).unwrap();
    assert_eq!(turn.header, "turn 1: entries 2–5");
    assert!(
        turn.text
            .contains("[entry 3: tool calls, turn 1, 14:05:12]\nrun_command {\"command\":\"make\"}")
    );
    let task = record.recall(&Wanted::Task).unwrap();
    assert_eq!(task.text, "Port tide.c; do not touch legacy.c.");
    let words = record.recall(&Wanted::parse("legacy")).unwrap();
    assert!(
        words
            .text
            .starts_with("entry 2 (prompt, turn 1), line 1: Port tide.c")
    );
    for (wanted, why) in [
        (
            Wanted::Entry(EntryId(40)),
            "memory: there is no entry 40; entries go from 2 to 12",
        ),
        (
            Wanted::Entry(EntryId(1)),
            "memory: there is no entry 1; entries go from 2 to 12",
        ),
        (
            Wanted::Turn(0),
            "memory: there is no turn 0; turns go from 1 to 4",
        ),
    ] {
        assert_eq!(record.recall(&wanted).unwrap_err(), why);
    }
}

#[test]
fn a_recall_that_finds_nothing_in_the_first_turn_says_that_all_of_it_is_in_view() {
    let mut record = common::record();
    let wanted = ["task", "entry 40", "turn 2", "the lighthouse"].map(Wanted::parse);
    let answer = "memory: nothing has left this conversation: the first turn is all in view";
    for of in &wanted {
        assert_eq!(record.recall(of).unwrap_err(), answer, "{of:?}");
    }
    record.begin_turn("where is the keeper?", stamp());
    for of in &wanted[1..] {
        assert_eq!(record.recall(of).unwrap_err(), answer, "{of:?}");
    }
    assert_eq!(
        record.recall(&Wanted::Entry(EntryId(2))).unwrap().text,
        "where is the keeper?"
    );
    record.end_turn(Outcome::Completed);
    record.begin_turn("and now?", stamp());
    assert_eq!(
        record.recall(&wanted[1]).unwrap_err(),
        "memory: there is no entry 40; entries go from 2 to 3"
    );
}

#[test]
fn every_hint_that_is_sent_can_be_followed() {
    let mut sim = Sim::new(4096, 4.0);
    for turn in 0..30 {
        sim.turn(&format!("question {turn}"), &[900, 1200], 300);
    }
    let mut followed = 0;
    for message in sim.record.compose().messages {
        for (_, hint) in message
            .content
            .match_indices("memory \"recall ")
            .map(|(at, _)| (at, &message.content[at + 15..]))
        {
            let wanted = hint.split('"').next().unwrap();
            if wanted.ends_with(" N") {
                continue;
            }
            assert!(sim.record.recall(&Wanted::parse(wanted)).is_ok(), "{wanted}");
            followed += 1;
        }
    }
    assert!(followed > 2);
}
