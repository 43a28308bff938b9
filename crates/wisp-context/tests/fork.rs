//! Going back to before a turn: the fork is the record as it was, and what follows in it is what would have followed.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Happens, Sim, apply, happens, record, run, stamp, talk, work};
use proptest::prelude::*;
use wisp_context::{Estimator, Gauge, Outcome, Phase, Reason, Target, ThreadRecord};

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
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever came later, with condensations between: the same prompt makes the request that it made then.
    #[test]
    fn the_same_prompt_makes_the_same_request(sequence in prop::collection::vec(happens(), 0..40)) {
        let mut whole = record();
        whole.begin_turn("first", stamp());
        let mut first = vec![whole.request()];
        for step in &sequence {
            apply(&mut whole, step);
            match step {
                Happens::End(_) => condense(&mut whole),
                Happens::Turn(_) => first.push(whole.request()),
                _ => {}
            }
        }
        for (at, request) in first.iter().enumerate() {
            let number = u32::try_from(at).unwrap() + 1;
            let prompt = whole.own_words(number).unwrap();
            let mut fork = whole.before_turn(number).unwrap();
            prop_assert_eq!(fork.turn_count(), number - 1);
            fork.begin_turn(prompt, stamp());
            prop_assert_eq!(&fork.request(), request);
        }
    }
}

#[test]
fn what_was_dropped_later_is_there_again_and_what_was_dropped_before_is_not() {
    let mut sim = Sim::new(4096, 4.0);
    for n in 0..12 {
        sim.turn(&format!("prompt {n}"), &[2000], 3000);
    }
    assert!(sim.condensed.len() > 1, "{:?}", sim.condensed);
    let early = sim.record.before_turn(2).unwrap();
    assert!(early.entries().iter().all(wisp_context::Entry::is_active));
    let late = sim.record.before_turn(12).unwrap();
    assert!(late.entries().iter().any(|entry| !entry.is_active()));
    assert_eq!(late.compose().messages[0], sim.record.compose().messages[0]);
}

#[test]
fn notes_and_tasks_of_later_turns_are_left_out() {
    let mut record = record();
    record.begin_turn("one", stamp());
    record.note("entity a = b", common::TIME).unwrap();
    record.end_turn(Outcome::Completed);
    record.begin_turn("two", stamp());
    record.note("entity c = d", common::TIME).unwrap();
    record
        .set_task("later", wisp_context::Author::Person, common::TIME)
        .unwrap();
    record.end_turn(Outcome::Completed);
    let fork = record.before_turn(2).unwrap();
    assert_eq!(fork.notes().len(), 1);
    assert!(fork.tasks().is_empty());
}

#[test]
fn before_the_first_turn_there_are_the_instructions_alone() {
    let mut record = record();
    talk(&mut record, "one", "1");
    let fork = record.before_turn(1).unwrap();
    assert_eq!((fork.entry_count(), fork.turn_count()), (1, 0));
    assert!(record.before_turn(0).is_none() && record.before_turn(2).is_none());
}

#[test]
fn a_fork_can_be_saved_and_read_back() {
    let mut record = record();
    work(&mut record, "one", &"output\n".repeat(200), "1");
    talk(&mut record, "two", "2");
    condense(&mut record);
    let mut fork = record.before_turn(2).unwrap();
    talk(&mut fork, "other", "3");
    let files = fork.save();
    let back = wisp_context::load(&files.transcript, &files.store).unwrap();
    assert_eq!(back.record.compose(), fork.compose());
}

#[test]
fn the_users_own_words_are_the_first_lines_of_a_prompt() {
    let mut record = record();
    record.begin_turn("see @a\nnow\n\n@a (2 lines):\n1\n2", stamp());
    run(&mut record, "ls", "a");
    assert_eq!(record.own_words(1).unwrap(), "see @a\nnow\n\n@a (2 lines):\n1\n2");
    record.set_own_lines(2);
    assert_eq!(record.own_words(1).unwrap(), "see @a\nnow");
    assert_eq!(record.own_words(2), None);
}
