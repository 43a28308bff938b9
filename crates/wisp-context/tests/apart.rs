//! What left the context is put away: nothing a person or a model can see changes by it, and neither what is held nor
//! what is written grows with it.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Happens, apply, happens, record, run, stamp};
use proptest::prelude::*;
use wisp_context::{
    Action, Author, Estimator, Gauge, Outcome, Phase, Reason, SavedFile, Target, ThreadRecord, Time, Wanted,
    load_with_past,
};

/// A file of the past as the saves write it.
#[derive(Default)]
struct Past(Vec<u8>);

impl Past {
    /// Saves the record the way its keeper does; gives the bytes of store and transcript.
    fn save(&mut self, record: &mut ThreadRecord) -> (Vec<u8>, Vec<u8>) {
        let files = record.save_apart();
        self.0.truncate(usize::try_from(files.past_at).unwrap());
        self.0.extend(&files.past);
        record.put_away(&files);
        (files.store, files.transcript)
    }
}

fn condense(record: &mut ThreadRecord, window: u64, share: f64) {
    let estimator = Estimator::default();
    let target = Target {
        target: share,
        ..Target::default()
    };
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(window),
        target,
    };
    let plan = record.plan(&gauge, Phase::Idle, Reason::Asked).unwrap();
    if plan.changes() {
        record.condense(plan, "event").unwrap();
    }
}

/// The sizes that a save has to write.
fn sizes((store, transcript): &(Vec<u8>, Vec<u8>)) -> usize {
    store.len() + transcript.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A record that puts away what left, and one that holds all of it, send the same, and are the same once the past
    /// is read back: from memory and its past, and from the three files.
    #[test]
    fn nothing_that_is_sent_changes(sequence in prop::collection::vec(happens(), 0..60)) {
        let (mut whole, mut apart) = (record(), record());
        let mut past = Past::default();
        for both in [&mut whole, &mut apart] {
            both.set_task("before it began", Author::Person, Time::default()).unwrap();
            both.begin_turn("first", stamp());
        }
        for (at, step) in sequence.iter().enumerate() {
            // A command waits for the end of the turn, and so for the next save; the rest happens within one.
            let open = whole.open_turn().is_some();
            if open == matches!(step, Happens::Command(_)) && !matches!(step, Happens::Turn(_)) {
                continue;
            }
            for both in [&mut whole, &mut apart] {
                apply(both, step);
                if both.open_turn().is_some() {
                    let _ = both.note(&format!("entity step = {at}"), Time::default());
                }
                if at % 7 == 0 {
                    let _ = both.set_task(&format!("step {at}"), Author::Person, Time::default());
                }
                if matches!(step, Happens::End(_)) {
                    condense(both, 2048, 0.1);
                }
                if both.open_turn().is_some() {
                    both.request();
                }
            }
            prop_assert_eq!(whole.compose(), apart.compose());
            past.save(&mut apart);
            whole.save();
        }
        let rejoined = apart.rejoined(&past.0).unwrap();
        prop_assert_eq!(&rejoined, &whole);
        for both in [&mut whole, &mut apart] {
            both.end_turn(Outcome::Completed);
        }
        let (store, transcript) = past.save(&mut apart);
        let files = whole.save();
        let from_three = load_with_past(&transcript, &store, &past.0).unwrap();
        prop_assert_eq!(&from_three.losses, &[]);
        let from_two = wisp_context::load(&files.transcript, &files.store).unwrap();
        prop_assert_eq!(from_three.record, from_two.record);
    }
}

fn turn(record: &mut ThreadRecord, number: usize) {
    record.begin_turn(format!("What about part {number}?"), stamp());
    record.request();
    run(record, "make", &format!("part {number} is in order\n").repeat(12));
    record.request();
    record.record_reply(
        "It is in order, and the next one may begin. ".repeat(6),
        false,
        stamp(),
    );
    record.end_turn(Outcome::Completed);
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(4096),
        target: Target::default(),
    };
    if record.pressure(&gauge, Phase::Idle).action == Action::Condense {
        condense(record, 4096, 0.6);
    }
}

/// What is in memory, and what each save writes, is after two thousand turns what it was after two hundred.
/// `scripts/bench turns` holds ten thousand with the real program.
#[test]
fn two_thousand_turns_are_held_and_saved_at_the_cost_of_the_last_ones() {
    let mut record = record();
    let mut past = Past::default();
    let (mut early, mut late) = ((0, 0, 0), (0, 0, 0));
    for number in 1..=2000 {
        turn(&mut record, number);
        let written = sizes(&past.save(&mut record));
        let now = (written, record.entries().len(), record.turns().len());
        match number {
            101..=200 => early = (early.0.max(now.0), early.1.max(now.1), early.2.max(now.2)),
            1_901.. => late = (late.0.max(now.0), late.1.max(now.1), late.2.max(now.2)),
            _ => {}
        }
    }
    assert_eq!((record.turn_count(), record.entry_count()), (2000, 8001));
    // The numbers written have a few digits more; nothing else is.
    assert!(
        late.0 <= early.0 + early.0 / 10,
        "{} bytes a save, {} early on",
        late.0,
        early.0
    );
    assert!(
        late.1 <= early.1 + 4,
        "{} entries in memory, {} early on",
        late.1,
        early.1
    );
    assert!(
        late.2 <= early.2,
        "{} turns in memory, {} early on",
        late.2,
        early.2
    );
    assert!(
        past.0.len() > 1_000_000,
        "the past has the rest: {} bytes",
        past.0.len()
    );
    assert_eq!(record.condensations().len(), 1);

    let whole = record.rejoined(&past.0).unwrap();
    assert_eq!(whole.entries().len(), 8001);
    let first = whole.recall(&Wanted::Turn(1)).unwrap();
    assert!(first.text.contains("part 1 is in order"), "{}", first.text);
    assert_eq!(
        whole.recompose(1000, 1).unwrap().messages[0].content,
        "You are wisp."
    );
    assert_eq!(record.recompose(1000, 1), None, "it is not in memory");
}

#[test]
fn a_past_that_is_torn_or_gone_is_said_and_the_rest_goes_on() {
    let mut record = record();
    let mut past = Past::default();
    for number in 1..=40 {
        turn(&mut record, number);
        past.save(&mut record);
    }
    let (store, transcript) = past.save(&mut record);
    assert!(!record.is_whole() && record.past_bytes() == past.0.len() as u64);
    // What stands behind the bytes of the save is another save's that never ended.
    past.0.extend(b"{\"entry\":{\"id\":2,\"tu");
    let whole = load_with_past(&transcript, &store, &past.0).unwrap();
    assert_eq!((whole.losses, whole.record.entries().len()), (vec![], 161));

    let lines: Vec<usize> = past
        .0
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(at, _)| at)
        .collect();
    let mut torn = past.0.clone();
    torn[lines[4] + 10..lines[4] + 14].fill(b'#');
    let read = load_with_past(&transcript, &store, &torn).unwrap();
    assert_eq!(
        (read.losses.len(), read.losses[0].file, read.losses[0].line),
        (1, SavedFile::Past, 6)
    );
    assert_eq!(
        read.record.entries().len(),
        161,
        "the number of the lost one stays taken"
    );
    assert_eq!(record.rejoined(&torn), None);

    let gone = load_with_past(&transcript, &store, &[]).unwrap();
    assert_eq!(gone.losses[0].file, SavedFile::Past);
    assert_eq!(gone.record.turn_count(), 40);
    assert_eq!(gone.record.compose(), whole.record.compose());
}

/// What a turn or an entry that left costs to read back: the bytes read, for the one in the middle of so many turns.
fn read_back(turns: usize) -> usize {
    let mut record = record();
    let mut past = Past::default();
    for number in 1..=turns {
        turn(&mut record, number);
        past.save(&mut record);
    }
    let whole = record.rejoined(&past.0).unwrap();
    let mut most = 0;
    let middle = u32::try_from(turns / 2).unwrap();
    let away = record.entries()[1].id.0 - 1;
    let turns = [1, 2, middle, middle + 1].map(Wanted::Turn);
    let entries = [2, 3, 4, away / 2, away - 1, away].map(|id| Wanted::Entry(wisp_context::EntryId(id)));
    for wanted in turns.into_iter().chain(entries) {
        assert!(record.is_away(&wanted), "{wanted:?}");
        let mut read = 0;
        let recalled = record.recall_from(&wanted, &mut |from, bytes| {
            let from = usize::try_from(from).unwrap();
            let count = bytes.len().min(past.0.len() - from);
            bytes[..count].copy_from_slice(&past.0[from..from + count]);
            read += count;
            Ok(count)
        });
        assert_eq!(recalled.unwrap(), whole.recall(&wanted).unwrap(), "{wanted:?}");
        most = most.max(read);
    }
    most
}

#[test]
fn what_left_is_read_back_at_a_cost_that_does_not_grow_with_the_rest() {
    let (short, long) = (read_back(100), read_back(800));
    // Eight times as many turns are halved three times more, at a block or two each.
    let most = short + 3 * 3 * 16 * 1024;
    assert!(long <= most, "{short} bytes of 100 turns, {long} of 800");
}
