//! The batch as the last boundary: one result a call, in order, within the budget, recorded as it is sent.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and read their own files"
)]

mod support;

use proptest::prelude::*;
use serde_json::json;
use support::{Stage, block};
use wisp_tools::{Ending, Request, cap_at_send};

/// Twice the 4,096 bytes of an 8,192-token window.
const ROOM: usize = 8_192;

#[test]
fn a_batch_that_fits_is_left_alone() {
    block(async {
        let mut stage = Stage::new(true);
        let mut batch = Vec::new();
        for at in 0..2 {
            batch.push(
                stage
                    .run("print", json!({"lines": 300, "of": format!("of {at}")}))
                    .await,
            );
        }
        let before: Vec<String> = batch.iter().map(|p| p.admitted.shown.clone()).collect();
        let after: Vec<String> = stage
            .finish(batch)
            .into_iter()
            .map(|f| f.pending.admitted.shown)
            .collect();
        assert_eq!(after, before);
        assert!(stage.recorded("batch.reduced").is_empty());
        assert!(stage.stored().is_empty(), "what fits is not kept");
    });
}

#[test]
fn results_that_together_are_too_long_share_the_room_and_are_kept_once() {
    block(async {
        let mut stage = Stage::new(true);
        let mut batch = vec![stage.run("print", json!({"lines": 2, "of": "small"})).await];
        // Held back at its own admission, so that it is kept already.
        batch.push(stage.run("print", json!({"lines": 4_000, "of": "large"})).await);
        assert_eq!(stage.stored().len(), 2, "the output and its record");
        // Each fits its own budget and is kept only because the batch does not fit.
        for name in ["first", "second"] {
            batch.push(stage.run("print", json!({"lines": 300, "of": name})).await);
        }
        let finished = stage.finish(batch);
        let shown: Vec<&str> = finished
            .iter()
            .map(|f| f.pending.admitted.shown.as_str())
            .collect();
        assert_eq!(shown.len(), 4);
        assert_eq!(shown[0], "1 small\n2 small\n");
        assert!(shown.iter().map(|s| s.len()).sum::<usize>() <= ROOM);
        for (at, name) in [(1, "large"), (2, "first"), (3, "second")] {
            assert!(
                shown[at].contains(name) && shown[at].contains("held back"),
                "{}",
                shown[at]
            );
            assert!(shown[at].len() > 2_500, "large ones share what is left equally");
        }
        assert_eq!(stage.stored().len(), 6);
        assert_eq!(stage.recorded("output.kept").len(), 3);
        let reduced = stage.recorded("batch.reduced");
        assert_eq!(reduced.len(), 1);
        assert_eq!(
            (&reduced[0].details["calls"], &reduced[0].details["budget"]),
            (&json!(4), &json!(ROOM))
        );
        assert_eq!(reduced[0].details["reduced"].as_array().unwrap().len(), 3);
        // What was kept is what the tool returned, to the byte.
        let id = finished[2].pending.call.clone();
        let all = stage
            .memory(
                &format!("recall output {id} tail 1"),
                wisp_tools::Behind::default(),
            )
            .await;
        assert!(all.contains("300: 300 first"), "{all}");
    });
}

#[test]
fn every_call_has_exactly_one_result_and_what_is_recorded_is_what_is_sent() {
    block(async {
        let mut stage = Stage::new(true);
        let mut batch = vec![
            stage.run("print", json!({"lines": 400})).await,
            stage.run("print", json!({"how": "refused"})).await,
            stage.run("print", json!({"lines": 400})).await,
            stage.run("no_such_tool", json!({})).await,
            stage.run("run_command", json!({"command": "seq 1 9000"})).await,
            stage.run("print", json!({"how": "page", "lines": 300})).await,
        ];
        stage.cancel.press();
        batch.push(stage.run("run_command", json!({"command": "echo late"})).await);
        let arguments = json!({"command": "echo never"});
        let never = Request {
            tool: "run_command",
            arguments: &arguments,
        };
        batch.push(
            stage
                .registry
                .not_run(never, 1, "not run: the person stopped the turn")
                .unwrap(),
        );
        let calls: Vec<String> = batch.iter().map(|p| p.call.clone()).collect();
        let finished = stage.finish(batch);
        let order: Vec<String> = finished.iter().map(|f| f.pending.call.clone()).collect();
        assert_eq!(order, calls);
        let endings: Vec<&Ending> = finished.iter().map(|f| &f.pending.ending).collect();
        assert_eq!(endings[1], &Ending::Declined);
        assert!(matches!(endings[3], Ending::Failed(_)));
        assert_eq!(endings[6], &Ending::Interrupted);
        assert_eq!(endings[7], &Ending::NeverRan);
        let shown: Vec<&str> = finished
            .iter()
            .map(|f| f.pending.admitted.shown.as_str())
            .collect();
        assert!(
            shown[2].starts_with("[repeated call: this is the same print call"),
            "{}",
            shown[2]
        );
        assert!(shown[3].contains("there is no tool \"no_such_tool\""));
        assert!(shown.iter().map(|s| s.len()).sum::<usize>() <= ROOM);
        let recorded = stage.recorded("tool.result");
        assert_eq!(recorded.len(), 8);
        for (record, (call, text)) in recorded.iter().zip(calls.iter().zip(&shown)) {
            assert_eq!(record.call.as_ref(), Some(call));
            assert_eq!(record.text("output"), Some(*text));
        }
        assert_eq!(
            stage.recorded("tool.call").len(),
            8,
            "each call was written down before it ran"
        );
        assert_eq!(stage.recorded("tool.result")[2].details["repeat"], json!(1));
    });
}

#[test]
fn without_a_store_a_batch_is_cut_and_says_why() {
    block(async {
        let mut stage = Stage::new(false);
        let mut batch = Vec::new();
        for name in ["first", "second", "third"] {
            batch.push(stage.run("print", json!({"lines": 300, "of": name})).await);
        }
        let finished = stage.finish(batch);
        let total: usize = finished.iter().map(|f| f.pending.admitted.shown.len()).sum();
        assert!(total <= ROOM);
        for one in &finished {
            assert!(
                one.pending.admitted.shown.contains('…'),
                "{}",
                one.pending.admitted.shown
            );
            assert_eq!(one.pending.admitted.not_kept.as_deref(), Some("the disk is full"));
        }
        assert!(stage.recorded("output.kept").is_empty());
    });
}

#[test]
fn the_cap_at_the_point_of_sending_changes_nothing_of_a_finished_batch() {
    block(async {
        let mut stage = Stage::new(true);
        let mut batch = Vec::new();
        for at in 0..5 {
            batch.push(
                stage
                    .run("print", json!({"lines": 380, "of": format!("漢{at}")}))
                    .await,
            );
        }
        let finished = stage.finish(batch);
        let mut texts: Vec<String> = finished
            .iter()
            .map(|f| f.pending.admitted.shown.clone())
            .collect();
        let sent = texts.clone();
        assert!(!cap_at_send(&mut texts, stage.registry.services()));
        assert_eq!(texts, sent);
        texts.push("one more line\n".repeat(1_000));
        assert!(cap_at_send(&mut texts, stage.registry.services()));
        assert!(texts.iter().map(String::len).sum::<usize>() <= ROOM);
    });
}

/// Two dozen cases, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let named = std::env::var_os("PROPTEST_CASES").is_some();
    let standard = ProptestConfig::default();
    ProptestConfig {
        cases: if named { standard.cases } else { 24 },
        failure_persistence: None,
        ..standard
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_batch_keeps_its_order_its_count_and_its_budget(sizes in proptest::collection::vec(0..900u64, 1..8)) {
        block(async {
            let mut stage = Stage::new(true);
            let mut batch = Vec::new();
            for (at, lines) in sizes.iter().enumerate() {
                batch.push(stage.run("print", json!({"lines": lines, "of": format!("é{at}")})).await);
            }
            let calls: Vec<String> = batch.iter().map(|p| p.call.clone()).collect();
            let finished = stage.finish(batch);
            let order: Vec<String> = finished.iter().map(|f| f.pending.call.clone()).collect();
            assert_eq!(order, calls);
            let sent: Vec<String> = finished.iter().map(|f| f.pending.admitted.shown.clone()).collect();
            assert!(sent.iter().map(String::len).sum::<usize>() <= ROOM);
            let batch = finished.into_iter().map(|f| f.pending).collect();
            let again: Vec<String> = stage.finish(batch).into_iter().map(|f| f.pending.admitted.shown).collect();
            assert_eq!(again, sent, "finishing twice is finishing once");
        });
    }
}

#[test]
fn what_the_batch_held_back_is_in_the_record_of_each_output() {
    block(async {
        let mut stage = Stage::new(true);
        let mut batch = Vec::new();
        for of in ["one", "two", "three"] {
            batch.push(stage.run("print", json!({"lines": 400, "of": of})).await);
        }
        for done in stage.finish(batch) {
            let admitted = &done.pending.admitted;
            assert!(!admitted.held.is_empty(), "{}", admitted.shown);
            let kept = stage.open(&done.pending.call);
            assert_eq!(kept.record.held, admitted.held);
        }
    });
}

#[test]
fn a_result_that_the_batch_cuts_without_a_store_says_what_it_leaves_out() {
    block(async {
        let mut stage = Stage::new(false);
        let mut batch = Vec::new();
        for of in ["one", "two", "three"] {
            batch.push(stage.run("print", json!({"lines": 400, "of": of})).await);
        }
        for done in stage.finish(batch) {
            let admitted = &done.pending.admitted;
            let held = &admitted.held[0];
            assert!(
                admitted.shown.contains("the rest was not kept"),
                "{}",
                admitted.shown
            );
            let first = format!("\n{} ", held.from_line - 1);
            let last = format!("\n{} ", held.to_line + 1);
            assert!(
                admitted.shown.contains(&first) && admitted.shown.contains(&last),
                "{held:?}"
            );
        }
    });
}
