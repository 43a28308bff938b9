//! Condensing, driven by a server that counts tokens in its own way.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests; how many cases is said in the environment"
)]

mod common;

use common::{Sim, assert_legal, record, run, stamp, talk, work};
use proptest::prelude::*;
use wisp_context::{Action, Estimator, Gauge, Kind, Outcome, Phase, Place, Reason, Step, Target};

/// The most one result may have, as the tool-output budget has it.
fn budget(window: u64) -> usize {
    usize::try_from((window / 2).clamp(4096, 65_536)).unwrap()
}

/// A turn as sizes in bytes: prompt, outputs, reply.
type Sizes = (usize, Vec<usize>, usize);

fn turns(window: u64) -> impl Strategy<Value = Vec<Sizes>> {
    let most = budget(window);
    let output = prop_oneof![4 => 12..most / 8, 1 => most / 8..=most];
    let prompt = prop_oneof![8 => 1usize..400, 1 => 400..usize::try_from(window * 2).unwrap()];
    let turn = (prompt, prop::collection::vec(output, 0..4), 1usize..2000);
    prop::collection::vec(turn, 1..24)
}

/// Sixteen cases, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => usual,
        None => ProptestConfig { cases: 16, ..usual },
    }
}

proptest! {
    #![proptest_config(cases())]

    /// No request is over the window by the server's own count, whatever the turns and the window, as long as a
    /// token is not far shorter than what the estimate starts from.
    #[test]
    fn no_request_is_over_the_window(
        (window, turns) in (2048u64..=131_072).prop_flat_map(|window| (Just(window), turns(window))),
        ratio in 3.6f64..6.5,
    ) {
        let mut sim = Sim::new(window, ratio);
        for (prompt, outputs, reply) in &turns {
            sim.turn(&"ask ".repeat(prompt / 4 + 1), outputs, *reply);
        }
        prop_assert_eq!(sim.over, 0);
    }

    /// Where tokens are much shorter than that, the server refuses; one retry settles it, and later requests are
    /// estimated from its counts.
    #[test]
    fn an_overflow_is_settled_by_one_retry(
        (window, turns) in (4096u64..=65_536).prop_flat_map(|window| (Just(window), turns(window))),
        ratio in 1.5f64..3.6,
    ) {
        let mut sim = Sim::new(window, ratio);
        for (prompt, outputs, reply) in &turns {
            let (over, refused) = (sim.over, sim.refused);
            sim.turn(&"ask ".repeat(prompt / 4 + 1), outputs, *reply);
            prop_assert!(sim.over - over <= 1 + sim.refused - refused, "over twice without being refused");
        }
        prop_assert!(sim.over <= 2, "{} overflows in {} turns", sim.over, turns.len());
    }

    /// No two condensations on consecutive turns while average turns arrive, for every target.
    #[test]
    fn condensations_keep_their_distance(
        window in 8192u64..=65_536, share in 0.03f64..0.09, target in 0u32..=20,
    ) {
        let consecutive = consecutive(window, share, Target { target: f64::from(target) / 20.0, ..Target::default() });
        prop_assert_eq!(consecutive, 0);
    }
}

/// How often a turn condensed right after another, in turns of one size: `share` of the window each.
fn consecutive(window: u64, share: f64, target: Target) -> usize {
    let mut sim = Sim {
        target,
        ..Sim::new(window, 4.0)
    };
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )]
    let bytes = (window as f64 * share * 4.0) as usize;
    for _ in 0..60 {
        sim.turn("and then?", &[], bytes);
    }
    assert!(
        sim.condensed.len() > 1,
        "turns of {bytes} bytes never filled {window}"
    );
    sim.condensed
        .windows(2)
        .filter(|pair| pair[1] == pair[0] + 1)
        .count()
}

#[test]
fn without_the_margin_condensations_follow_each_other() {
    let target = Target {
        target: 0.85,
        margin: 0.0,
        ..Target::default()
    };
    assert!(consecutive(8192, 0.05, target) > 5);
    assert_eq!(
        consecutive(
            8192,
            0.05,
            Target {
                margin: 0.2,
                ..target
            }
        ),
        0
    );
}

#[test]
fn ten_statements_are_still_there_after_a_hundred_turns() {
    let mut sim = Sim::new(8192, 3.8);
    let said = [
        "Port the tide table from C to Rust in crates/tide.",
        "Do not touch legacy.c.",
        "Never push to main.",
        "The fixtures are under /srv/harbour/fixtures/2026.",
        "We are on rustc 1.88.2 here.",
        "Let's use the fixed-point table.",
        "I changed my mind about the table: after all, floats.",
        "My name is Maren.",
    ];
    for turn in 0..100 {
        let prompt = said
            .get(turn / 2)
            .filter(|_| turn % 2 == 0)
            .copied()
            .unwrap_or("and the next one?");
        sim.turn(prompt, &[3000, 600], 700);
    }
    assert!(sim.condensed.len() > 5);
    assert_eq!((sim.over, sim.refused), (0, 0));
    let request = sim.record.compose();
    let sent = request
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    for statement in said {
        assert!(sent.contains(statement), "lost: {statement}\n{sent}");
    }
    assert!(sent.contains("memory \"recall turn N\""));
    assert!(
        !request.messages[0].content.contains("legacy.c"),
        "never in the system message"
    );
}

#[test]
fn a_plan_that_is_not_applied_changes_nothing_and_a_late_one_is_refused() {
    let mut record = record();
    for turn in 0..20 {
        talk(&mut record, &format!("question {turn}"), &"word ".repeat(400));
    }
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(8192),
        target: Target::default(),
    };
    let before = record.clone();
    let plan = record.plan(&gauge, Phase::Idle, Reason::Budget).unwrap();
    assert!(plan.changes());
    assert_eq!(record, before);
    record.begin_turn("a new question", stamp());
    let later = record.clone();
    let refused = record.condense(plan, "event").unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("the conversation has changed since")
    );
    assert_eq!(record, later);
}

#[test]
fn a_call_never_leaves_without_its_result_and_the_last_turn_stays() {
    let mut record = record();
    record.begin_turn(
        "Find why the tide table is wrong and fix it. Do not touch legacy.c.",
        stamp(),
    );
    run(&mut record, "cat tide.c", "int tide(int h) { return h + 1; }");
    run(
        &mut record,
        "make",
        &"make: *** [Makefile:7: tide.o] Error 1\n".repeat(200),
    );
    record.record_reply("The offset is wrong.", false, stamp());
    record.end_turn(Outcome::Completed);
    work(
        &mut record,
        "Then change it to h + 2.",
        "tide.c: 1 replacement",
        "Done.",
    );
    record.begin_turn("Run the tests.", stamp());
    let estimator = Estimator::default();
    let target = Target {
        target: 0.0,
        ..Target::default()
    };
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(2048),
        target,
    };
    let plan = record.plan(&gauge, Phase::TurnStart, Reason::Asked).unwrap();
    assert_eq!(plan.steps, [Step::Dropped(1)]);
    assert_eq!(plan.leaving, [1]);
    let (done, _) = record.condense(plan, "event-1").unwrap();
    assert_eq!((done.turns_before, done.turns_after), (2, 1));
    let request = record.request();
    assert_legal(&request);
    let first = &request.messages[1].content;
    assert!(
        first.contains(
            "- turn 1, entry 2: Find why the tide table is wrong and fix it. Do not touch legacy.c."
        )
    );
    assert!(first.ends_with("\n\nThen change it to h + 2."), "{first}");
    assert!(first.contains("(outputs: entries 4–6)"));
    let dropped: Vec<_> = record
        .entries()
        .iter()
        .filter(|entry| !entry.is_active())
        .collect();
    assert_eq!(dropped.len(), 6);
    assert!(dropped.iter().all(|entry| {
        entry
            .dropped
            .as_ref()
            .is_some_and(|by| by.event == "event-1" && by.turn == 3)
    }));
    assert!(dropped.iter().any(|entry| entry.kind() == Kind::Output));
}

#[test]
fn what_cannot_fit_is_said_and_not_sent() {
    let mut sim = Sim::new(2048, 4.0);
    sim.turn("hello", &[], 40);
    sim.turn(&"a very long question ".repeat(500), &[], 40);
    assert_eq!((sim.refused, sim.over), (1, 0));
    let estimator = sim.estimator.clone();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(2048),
        target: Target::default(),
    };
    sim.record
        .begin_turn(&*"a very long question ".repeat(500), stamp());
    let pressure = sim.record.pressure(&gauge, Phase::TurnStart);
    let plan = sim.record.plan(&gauge, Phase::TurnStart, Reason::Budget).unwrap();
    assert!(!pressure.fits && !plan.fits && plan.floor);
    assert_eq!(pressure.after(&plan).action, Action::Refuse);
    assert!(
        plan.floor_note()
            .unwrap()
            .starts_with("context at its floor: the instructions and the last turn take ")
    );
    sim.record.end_turn(Outcome::Failed("too long".to_owned()));
    sim.turn("hello again", &[], 40);
    assert_eq!(sim.refused, 1, "the long prompts do not stay in the way");
}

#[test]
fn a_turn_that_outgrows_the_window_refers_to_its_older_outputs() {
    let mut sim = Sim::new(4096, 4.0);
    sim.turn("read all of it", &[4000, 4000, 4000, 4000, 4000, 4000], 100);
    assert_eq!((sim.over, sim.refused), (0, 0));
    let steps: Vec<Step> = sim
        .record
        .condensations()
        .iter()
        .flat_map(|done| done.steps.clone())
        .collect();
    assert!(
        steps.iter().any(|step| matches!(step, Step::ReferencedInTurn(_))),
        "{steps:?}"
    );
    let last = sim.record.recompose(1, 6).unwrap();
    let whole = last
        .messages
        .iter()
        .filter(|message| message.content.starts_with("output text"))
        .count();
    assert!(whole >= 1, "the latest result is whole");
}

#[test]
fn an_unknown_window_asks_for_nothing() {
    let mut record = record();
    talk(&mut record, "hello", &"word ".repeat(100_000));
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: None,
        target: Target::default(),
    };
    assert_eq!(record.plan(&gauge, Phase::Idle, Reason::Budget), None);
    let pressure = record.pressure(&gauge, Phase::Idle);
    assert_eq!((pressure.action, pressure.fits), (Action::Send, true));
}

#[test]
fn between_turns_it_is_due_before_the_person_waits() {
    let mut sim = Sim::new(8192, 4.0);
    let mut idle = 0;
    for _ in 0..60 {
        sim.turn("and then?", &[], 1500);
        let gauge = Gauge {
            estimator: &sim.estimator,
            window: Some(8192),
            target: sim.target,
        };
        if sim.record.pressure(&gauge, Phase::Idle).action == Action::Condense {
            sim.condense(Phase::Idle, Reason::Budget);
            idle += 1;
        }
    }
    assert!(idle > 3);
    assert_eq!(
        sim.condensed.len(),
        idle,
        "no condensation while the person waits"
    );
}

#[test]
fn the_places_for_facts_and_summary_are_counted_and_kept() {
    let mut record = record();
    for turn in 0..20 {
        talk(&mut record, &format!("question {turn}"), &"word ".repeat(400));
    }
    record.set_block(Place::Facts, "Facts.");
    record.set_block(Place::Summary, "Summary.");
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(8192),
        target: Target::default(),
    };
    let plan = record.plan(&gauge, Phase::Idle, Reason::Budget).unwrap();
    record.condense(plan, "event").unwrap();
    let first = record.compose().messages[1].content.clone();
    assert!(
        first.starts_with("Facts.\n\n[From earlier in this conversation"),
        "{first}"
    );
    assert!(first.contains("\n\nSummary.\n\nquestion "), "{first}");
}

#[test]
fn every_request_of_a_condensed_conversation_composes_again() {
    let mut sim = Sim::new(4096, 4.0);
    let mut sent = Vec::new();
    for turn in 0..30 {
        sim.turn(&format!("question {turn}"), &[500, 1200], 600);
        let number = sim.record.turn_count();
        sent.push((
            number,
            sim.record.recompose(number, 0),
            sim.record.recompose(number, 2),
        ));
    }
    assert!(sim.condensed.len() > 2);
    for (number, first, last) in sent {
        assert_eq!(sim.record.recompose(number, 0), first);
        assert_eq!(sim.record.recompose(number, 2), last);
    }
}

#[test]
fn what_the_person_asked_last_and_forbade_first_survive_any_target() {
    let mut sim = Sim::new(8192, 4.0);
    sim.record.begin_turn(
        "Find why the tide table is wrong and fix it. Do not touch legacy.c.",
        stamp(),
    );
    run(&mut sim.record, "cat tide.c", "int tide(int h) { return h + 1; }");
    run(
        &mut sim.record,
        "make",
        &"[output #3, 81,920 bytes kept] make: *** [Makefile:7: tide.o] Error 1\n".repeat(40),
    );
    sim.record.record_reply("The offset is wrong.", false, stamp());
    sim.record.end_turn(Outcome::Completed);
    sim.record.begin_turn("Then change it to h + 2.", stamp());
    run(&mut sim.record, "edit tide.c", "tide.c: 1 replacement");
    let call = wisp_context::NewCall::new("run_command", serde_json::json!({"command": "make test"}));
    sim.record.record_calls("Running the tests.", vec![call], stamp());
    for target in [0.0, 0.1, 0.3, 0.6] {
        sim.target.target = target;
        sim.condense(Phase::ToolLoop, Reason::Asked);
        let request = sim.record.request();
        assert_legal(&request);
        let prompts: Vec<_> = request
            .messages
            .iter()
            .filter(|message| message.role == wisp_context::Role::User)
            .collect();
        assert!(
            prompts
                .iter()
                .any(|message| message.content.ends_with("Then change it to h + 2."))
        );
        assert!(
            prompts
                .iter()
                .any(|message| message.content.contains("Do not touch legacy.c."))
        );
        assert_eq!(request.messages[0].content, "You are wisp.");
        assert_eq!(request.messages.last().unwrap().content, wisp_context::NO_RESULT);
    }
}

#[test]
fn the_earlier_block_is_squeezed_for_its_turn_only() {
    let mut record = record();
    for turn in 0..40 {
        record.begin_turn(
            format!(
                "the lamp number {turn} is at /srv/lamps/{turn}: {}",
                "word ".repeat(30)
            ),
            stamp(),
        );
        record.record_reply("noted. ".repeat(100), false, stamp());
        record.end_turn(Outcome::Completed);
    }
    let estimator = Estimator::default();
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(8192),
        target: Target::default(),
    };
    let earlier = |record: &wisp_context::ThreadRecord| {
        let part = |part: &&wisp_context::Part| part.kind == wisp_context::PartKind::Earlier;
        record
            .compose()
            .parts
            .iter()
            .find(part)
            .map_or(0, |part| part.bytes)
    };
    let plan = record.plan(&gauge, Phase::Idle, Reason::Budget).unwrap();
    record.condense(plan, "event-1").unwrap();
    let roomy = earlier(&record);
    assert!(roomy > 2000, "{roomy}");
    record.begin_turn("why? ".repeat(5400), stamp());
    let plan = record.plan(&gauge, Phase::TurnStart, Reason::Budget).unwrap();
    assert!(plan.steps.contains(&Step::Squeezed), "{:?}", plan.steps);
    record.condense(plan, "event-2").unwrap();
    let squeezed = earlier(&record);
    assert!(squeezed <= 1024 + 64, "{squeezed}");
    record.record_reply("because", false, stamp());
    let files = record.save();
    record.end_turn(Outcome::Completed);
    assert!(earlier(&record) >= roomy, "{} after {squeezed}", earlier(&record));
    // An end that is made up for one that was killed gives it back too.
    let loaded = wisp_context::load(&files.transcript, &files.store).unwrap();
    assert_eq!(earlier(&loaded.record), earlier(&record));
}
