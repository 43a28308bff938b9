//! Saving and reading back: whole files give everything, damaged ones never bring wisp down.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Happens, Sim, apply, assert_legal, happens, record, stamp};
use proptest::prelude::*;
use wisp_context::{Estimator, Files, Gauge, Outcome, Phase, Reason, Target, ThreadRecord, load};

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Condenses hard, as in a tiny window.
fn condense(record: &mut ThreadRecord) {
    let estimator = Estimator::default();
    let target = Target {
        target: 0.1,
        ..Target::default()
    };
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(2048),
        target,
    };
    let plan = record.plan(&gauge, Phase::Idle, Reason::Asked).unwrap();
    if plan.changes() {
        record.condense(plan, "event").unwrap();
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// Any request of a conversation that was saved and read back composes to what was sent.
    #[test]
    fn a_resumed_record_composes_what_was_sent(sequence in prop::collection::vec(happens(), 0..40)) {
        let mut record = record();
        record.begin_turn("first", stamp());
        let mut sent = Vec::new();
        for step in &sequence {
            // A command waits for the end of the turn, and so for the next save; the rest happens within one.
            let open = record.open_turn().is_some();
            if open == matches!(step, Happens::Command(_)) && !matches!(step, Happens::Turn(_)) {
                continue;
            }
            apply(&mut record, step);
            if matches!(step, Happens::End(_)) {
                condense(&mut record);
            }
            if let Some(turn) = record.open_turn().map(|turn| turn.number) {
                let request = record.request();
                sent.push((turn, record.turn(turn).unwrap().requests.len() - 1, request));
            }
        }
        let files = record.save();
        let mut loaded = load(&files.transcript, &files.store).unwrap();
        prop_assert_eq!(&loaded.losses, &[]);
        for (turn, index, request) in sent {
            prop_assert_eq!(loaded.record.recompose(turn, index), Some(request));
        }
        // A turn that was open is over, on both sides, and both go on alike.
        record.end_turn(Outcome::Interrupted);
        prop_assert_eq!(loaded.record.compose(), record.compose());
        condense(&mut record);
        condense(&mut loaded.record);
        for both in [&mut record, &mut loaded.record] {
            both.begin_turn("and now?", stamp());
        }
        prop_assert_eq!(loaded.record.compose(), record.compose());
    }
}

/// Something done to a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip(usize, u8),
    Delete(usize, usize),
    Insert(usize, Vec<u8>),
    Truncate(usize),
    SwapLines(usize, usize),
    RepeatLine(usize),
    DropLine(usize),
    Digit(usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0usize..100_000;
    prop_oneof![
        1 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        1 => (at.clone(), 1usize..300).prop_map(|(at, len)| Damage::Delete(at, len)),
        1 => (at.clone(), prop::collection::vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => at.clone().prop_map(Damage::Truncate),
        1 => (at.clone(), at.clone()).prop_map(|(one, other)| Damage::SwapLines(one, other)),
        1 => at.clone().prop_map(Damage::RepeatLine),
        1 => at.clone().prop_map(Damage::DropLine),
        6 => (at, b'0'..=b'9').prop_map(|(at, digit)| Damage::Digit(at, digit)),
    ]
}

fn inflict(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let within = |at: &usize| at % bytes.len();
    match damage {
        Damage::Flip(at, byte) => {
            let at = within(at);
            bytes[at] ^= byte;
        }
        Damage::Delete(at, len) => {
            let at = within(at);
            bytes.drain(at..(at + len).min(bytes.len()));
        }
        Damage::Insert(at, more) => {
            let at = within(at);
            bytes.splice(at..at, more.iter().copied());
        }
        Damage::Truncate(at) => bytes.truncate(within(at)),
        Damage::Digit(at, digit) => {
            let digits: Vec<usize> = (0..bytes.len())
                .filter(|&at| bytes[at].is_ascii_digit())
                .collect();
            if !digits.is_empty() {
                bytes[digits[at % digits.len()]] = *digit;
            }
        }
        Damage::SwapLines(..) | Damage::RepeatLine(_) | Damage::DropLine(_) => {
            let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let count = lines.len();
            match damage {
                Damage::SwapLines(one, other) => lines.swap(one % count, other % count),
                Damage::RepeatLine(at) => lines.insert(at % count, lines[at % count].clone()),
                _ => drop(lines.remove(damage_line(damage) % count)),
            }
            *bytes = lines.join(&b'\n');
        }
    }
}

fn damage_line(damage: &Damage) -> usize {
    match damage {
        Damage::DropLine(at) => *at,
        _ => 0,
    }
}

/// A saved conversation with commands, calls, cuts, references and condensations in it.
fn saved() -> Files {
    static SAVED: std::sync::OnceLock<Files> = std::sync::OnceLock::new();
    SAVED.get_or_init(conversation).clone()
}

fn conversation() -> Files {
    let mut sim = Sim::new(4096, 4.0);
    for turn in 0..14 {
        sim.turn(
            &format!("question {turn}: do not touch file {turn}"),
            &[700, 400],
            500,
        );
        if turn % 5 == 4 {
            apply(&mut sim.record, &Happens::Command("x".repeat(400)));
        }
    }
    sim.record.save()
}

/// Everything a resumed record is asked for, whatever was in the file.
fn use_all(record: &mut ThreadRecord) {
    assert_legal(&record.compose());
    for number in 0..=record.turn_count() + 1 {
        for index in 0..record.turn(number).map_or(0, |turn| turn.requests.len()) {
            record.recompose(number, index).unwrap();
        }
        let _ = record.entries_of(number);
    }
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(4096),
        target: Target::default(),
    };
    let _ = (
        record.context_turns(&gauge),
        record.context_next(&gauge).markdown(),
        record.search("question", 5),
    );
    record.begin_turn("and now?", stamp());
    condense(record);
    assert_legal(&record.request());
    record.end_turn(Outcome::Completed);
    let files = record.save();
    let again = load(&files.transcript, &files.store).unwrap();
    assert_eq!(again.losses, []);
    assert_eq!(again.record.compose(), record.compose());
}

proptest! {
    #![proptest_config(cases(120))]

    /// No damage makes loading panic, and what it gives can be gone on with.
    #[test]
    fn damage_never_brings_it_down(
        store in prop::collection::vec(damage(), 0..4),
        transcript in prop::collection::vec(damage(), 0..2),
        without in 0u8..6,
    ) {
        let mut files = saved();
        for damage in &store {
            inflict(&mut files.store, damage);
        }
        for damage in &transcript {
            inflict(&mut files.transcript, damage);
        }
        match without {
            0 => files.transcript.clear(),
            1 => files.store.clear(),
            _ => {}
        }
        if let Ok(mut loaded) = load(&files.transcript, &files.store) {
            use_all(&mut loaded.record);
        }
    }

    /// Nor do bytes that were never a file.
    #[test]
    fn nonsense_never_brings_it_down(one in prop::collection::vec(any::<u8>(), 0..200), other in "\\PC{0,100}") {
        for (transcript, store) in [(one.as_slice(), other.as_bytes()), (other.as_bytes(), one.as_slice())] {
            prop_assert!(load(transcript, store).is_err());
        }
    }
}

#[test]
fn a_pair_torn_between_its_two_replacements_gives_the_newer_save() {
    let mut record = record();
    record.begin_turn("one", stamp());
    record.record_reply("first", false, stamp());
    record.end_turn(Outcome::Completed);
    let older = record.save();
    record.begin_turn("two", stamp());
    record.record_reply("second", false, stamp());
    record.end_turn(Outcome::Completed);
    let newer = record.save();
    let loaded = load(&older.transcript, &newer.store).unwrap();
    assert_eq!(
        (loaded.record.compose(), loaded.losses),
        (record.compose(), vec![])
    );
}
