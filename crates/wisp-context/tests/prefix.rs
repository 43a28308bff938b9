//! What a server that caches prompts has to read again, and what composing costs.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Sim, record, stamp};
use wisp_context::{Estimator, Gauge, Outcome, Phase, Reason, Target, ThreadRecord};

/// How many messages two requests begin with alike.
fn common_prefix(one: &wisp_context::Request, other: &wisp_context::Request) -> usize {
    one.messages
        .iter()
        .zip(&other.messages)
        .take_while(|(one, other)| one == other)
        .count()
}

#[test]
fn across_turns_the_first_difference_is_in_the_turn_before() {
    let mut sim = Sim::new(65_536, 4.0);
    for turn in 0..12 {
        sim.turn(&format!("question {turn}"), &[900, 1200], 300);
        let number = sim.record.turn_count();
        let Some(before) = sim.record.recompose(number.saturating_sub(1), 2) else {
            continue;
        };
        let now = sim.record.recompose(number, 0).unwrap();
        // A turn here is a prompt, two calls with a result each, and a reply: six messages.
        let previous_turn_begins = before.messages.len() - 5;
        assert!(
            common_prefix(&before, &now) > previous_turn_begins,
            "turn {number}"
        );
    }
    assert_eq!(sim.condensed, [] as [u32; 0]);
}

#[test]
fn what_is_evaluated_again_stays_near_what_is_new() {
    for (window, most) in [(32_768, 1.2), (8192, 2.0)] {
        let mut sim = Sim::new(window, 4.0);
        let (mut evaluated, mut new) = (0.0, 0.0);
        let mut last = sim.record.compose();
        for turn in 0..29 {
            let output = [400, 1200, 3600][turn % 3];
            sim.turn(
                &format!("question {turn}: how does part {turn} work?"),
                &[output],
                600,
            );
            for index in 0..2 {
                let request = sim.record.recompose(sim.record.turn_count(), index).unwrap();
                let kept = common_prefix(&last, &request);
                #[expect(clippy::cast_precision_loss, reason = "sizes of tests are small")]
                let bytes = |messages: &[wisp_context::Message]| {
                    messages.iter().map(wisp_context::Message::bytes).sum::<u64>() as f64
                };
                evaluated += bytes(&request.messages[kept..]);
                last = request;
            }
            let turn = sim.record.turns().last().unwrap();
            #[expect(clippy::cast_precision_loss, reason = "sizes of tests are small")]
            let grown = (turn.asked + turn.grown) as f64;
            new += grown;
        }
        assert!(evaluated / new <= most, "{window}: {} times", evaluated / new);
    }
}

#[test]
fn ten_thousand_entries_compose_fast_and_dropped_ones_cost_nothing() {
    let mut record = record();
    for turn in 0..5000 {
        record.begin_turn(format!("question {turn}"), stamp());
        record.record_reply("an answer of a few words", false, stamp());
        record.end_turn(Outcome::Completed);
    }
    let fastest = |record: &ThreadRecord| {
        let time = |_| {
            let start = std::time::Instant::now();
            assert!(!record.compose().messages.is_empty());
            start.elapsed()
        };
        (0..5).map(time).min().unwrap()
    };
    let whole = fastest(&record);
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(8192),
        target: Target::default(),
    };
    let plan = record.plan(&gauge, Phase::Idle, Reason::Budget).unwrap();
    record.condense(plan, "event").unwrap();
    let condensed = fastest(&record);
    assert!(condensed * 10 < whole, "{condensed:?} of {whole:?}");
}
