//! `memory` over a real store: pages, filters, digests, questions; and when it is offered.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and read their own files"
)]

mod support;

use serde_json::json;
use support::{Notes, Scripted, Stage, block};
use wisp_output::chunks::MOST;
use wisp_tools::behind::{NoAnswer, Plain, Recalled, Wanted};
use wisp_tools::{Behind, MemoryOffer};

/// A command whose output has an error in the middle of 20,000 lines, and its id.
async fn build(stage: &mut Stage) -> String {
    build_of(stage, 10_000).await
}

/// The same with so many lines on each side of the error.
async fn build_of(stage: &mut Stage, half: u64) -> String {
    let error = "src/gauge.c:1:10: fatal error: tide.h: No such file or directory";
    let line = format!(
        "seq 1 {half}; echo '{error}'; seq {} {}; exit 2",
        half + 1,
        2 * half
    );
    let pending = stage.run("run_command", json!({ "command": line })).await;
    let id = pending.call[..8].to_owned();
    let shown = stage.finish(vec![pending]).remove(0).pending.admitted.shown;
    assert!(
        shown.contains(&format!("memory \"recall output {id} from line")),
        "{shown}"
    );
    assert!(
        shown.contains("exit status 2") && shown.contains("tide.h"),
        "the two exact signals"
    );
    id
}

#[test]
fn pages_follow_their_hints_to_the_end_and_are_the_whole() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build(&mut stage).await;
        let (mut request, mut lines, mut pages) = (format!("recall output {id}"), Vec::new(), 0);
        loop {
            let page = stage.memory(&request, Behind::default()).await;
            assert!(page.len() <= 4_096, "{}", page.len());
            pages += 1;
            let rows = page.lines().filter_map(|row| row.split_once(": "));
            lines.extend(
                rows.filter(|(n, _)| n.parse::<u64>().is_ok())
                    .map(|(_, text)| text.to_owned()),
            );
            match page.lines().last().unwrap().strip_prefix("[more: memory \"") {
                Some(next) => request = next.trim_end_matches("\"]").to_owned(),
                None => break,
            }
        }
        assert!(pages > 40, "{pages}");
        assert_eq!(lines.len(), 20_001);
        assert_eq!(
            (lines[0].as_str(), lines[10_000].as_str()),
            (
                "1",
                "src/gauge.c:1:10: fatal error: tide.h: No such file or directory"
            )
        );
        assert_eq!(lines[20_000], "20000");
        let asked = stage.recorded("context.memory");
        assert_eq!(asked.len(), pages);
        assert_eq!(asked[0].details["action"], "recall");
        assert_eq!(asked[0].details["target"], "output");
    });
}

#[test]
fn filters_number_lines_as_in_the_whole_and_count_the_rest() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build(&mut stage).await;
        let hit = stage
            .memory(
                &format!("recall output {id} matching 'FATAL error'"),
                Behind::default(),
            )
            .await;
        assert!(
            hit.contains("1 of 20,001 lines matches, 20,000 do not (stdout; exit status 2)"),
            "{hit}"
        );
        assert!(hit.contains("\n10001: src/gauge.c:1:10: fatal error"), "{hit}");
        let range = stage
            .memory(&format!("Recall output {id} lines 5-6"), Behind::default())
            .await;
        assert!(range.contains("5: 5\n6: 6\n"), "{range}");
    });
}

#[test]
fn a_digest_says_what_failed_and_where() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build(&mut stage).await;
        let digest = stage
            .memory(&format!("summarise output {id}"), Behind::default())
            .await;
        assert!(
            digest.contains("without a model") && digest.contains("exit status 2"),
            "{digest}"
        );
        assert!(digest.contains("L10001") && digest.contains("tide.h"), "{digest}");
        assert!(digest.len() <= 4_096);
        let overview = stage
            .memory(&format!("summarise output {id} overview"), Behind::default())
            .await;
        assert!(overview.contains("20,001 lines"), "{overview}");
    });
}

#[test]
fn entries_are_read_from_the_store_when_part_of_them_was_held_back() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build(&mut stage).await;
        let entry = |kept: Option<&str>| Recalled {
            header: "entry 4: output of run_command, exit status 2, turn 1".into(),
            text: "what was shown\n".into(),
            printed: None,
            kept: kept.map(str::to_owned),
            entries: 1,
        };
        let notes = Notes(vec![
            (Wanted::Entry(4), entry(Some(&id))),
            (Wanted::Entry(5), entry(None)),
            (Wanted::Entry(6), entry(Some("feedfacefeedface"))),
            (Wanted::Turn(1), entry(None)),
        ]);
        let behind = Behind {
            record: Some(&notes),
            ..Behind::default()
        };
        let whole = stage.memory("recall entry 4 lines 10001-10001", behind).await;
        assert!(
            whole.contains("from the stored output") && whole.contains("10001: src/gauge.c"),
            "{whole}"
        );
        let shown = stage.memory("recall entry 5", behind).await;
        assert!(shown.contains("1: what was shown"), "{shown}");
        let gone = stage.memory("recall entry 6", behind).await;
        assert!(
            gone.contains("as it was shown (no stored output has the id"),
            "{gone}"
        );
        let turn = stage.memory("recall turn 1", behind).await;
        assert!(turn.contains("what was shown"), "{turn}");
        let none = stage.memory("recall entry 99", behind).await;
        assert_eq!(none, "error: memory: there is no such entry");
    });
}

#[test]
fn what_cannot_be_read_is_answered_with_the_grammar() {
    block(async {
        let mut stage = Stage::new(true);
        let answer = stage.memory("show me the rest of it", Behind::default()).await;
        assert!(
            answer.starts_with("error: no request starts with `show`\nrequests are:\n"),
            "{answer}"
        );
        assert!(answer.contains("condense output ID: QUESTION") && answer.contains("for example: "));
        assert_eq!(stage.recorded("context.memory")[0].details["failure"], "grammar");
        let gone = stage.memory("recall output feedface", Behind::default()).await;
        assert!(gone.contains("no stored output has the id feedface"), "{gone}");
    });
}

#[test]
fn condense_asks_part_by_part_and_says_which_lines_it_drew_on() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build_of(&mut stage, 7_000).await;
        let model = Scripted::new(|_, asked: &Plain| {
            Ok(if asked.prompt.contains("tide.h") {
                "tide.h is missing (L7003)"
            } else {
                "Nothing here."
            }
            .into())
        });
        let behind = Behind {
            model: Some(&model),
            ..Behind::default()
        };
        let answer = stage
            .memory(&format!("condense output {id}: what failed?"), behind)
            .await;
        assert!(answer.contains("tide.h is missing (L7003)"), "{answer}");
        assert!(!answer.to_lowercase().contains("nothing here"), "{answer}");
        assert!(
            answer.contains("[drew on lines ") && answer.ends_with("; all of it was read]"),
            "{answer}"
        );
        let asked = model.asked.lock().unwrap();
        assert!(asked.len() > 30 && asked.len() <= MOST, "{}", asked.len());
        assert!(
            asked
                .iter()
                .all(|a| a.prompt.len() <= 4_096 && a.prompt.contains("what failed?"))
        );
        let doing = stage.person.doing.lock().unwrap();
        assert!(
            doing
                .iter()
                .any(|d| d.starts_with(&format!("condense output {id}, part 2 of "))),
            "{doing:?}"
        );
    });
}

#[test]
fn condense_combines_what_does_not_fit_and_says_when_there_was_more() {
    block(async {
        let mut stage = Stage::new(true);
        let pending = stage.run("run_command", json!({"command": "seq 1 60000"})).await;
        let id = pending.call[..8].to_owned();
        let model = Scripted::new(|at, asked: &Plain| {
            let combining = asked.purpose.ends_with("combining");
            Ok(if combining {
                "numbers, all of them".to_owned()
            } else {
                format!("part {at} has {}", "numbers ".repeat(40))
            })
        });
        let behind = Behind {
            model: Some(&model),
            ..Behind::default()
        };
        let answer = stage
            .memory(&format!("condense output {id}: what is it?"), behind)
            .await;
        assert!(answer.contains("numbers, all of them"), "{answer}");
        assert!(
            answer.contains("were not read: one question reads at most 48 parts"),
            "{answer}"
        );
        assert!(answer.len() <= 4_096);
        assert_eq!(model.asked.lock().unwrap().len(), MOST + 1);
    });
}

#[test]
fn a_stopped_or_failed_question_keeps_what_it_had() {
    block(async {
        let mut stage = Stage::new(true);
        let id = build(&mut stage).await;
        for (why, said) in [
            (NoAnswer::Stopped, "the person stopped it"),
            (
                NoAnswer::Failed("the server is gone".into()),
                "the model failed: the server is gone",
            ),
        ] {
            let model = Scripted::new(|at, _: &Plain| {
                if at < 3 {
                    Ok(format!("answer {at}"))
                } else {
                    Err(why.clone())
                }
            });
            let behind = Behind {
                model: Some(&model),
                ..Behind::default()
            };
            let answer = stage
                .memory(&format!("condense output {id}: what?"), behind)
                .await;
            assert!(
                answer.contains("answer 1") && answer.contains("answer 2"),
                "{answer}"
            );
            assert!(
                answer.contains("were not read: ") && answer.contains(said),
                "{answer}"
            );
        }
        let none = stage
            .memory(&format!("condense output {id}: what?"), Behind::default())
            .await;
        assert!(
            none.contains("there is no model to ask here; summarise output"),
            "{none}"
        );
    });
}

#[test]
fn memory_joins_with_the_first_output_that_is_held_back() {
    block(async {
        let mut stage = Stage::new(true);
        stage.registry.offer_memory(MemoryOffer::WhenHeldBack);
        assert!(!stage.registry.names().iter().any(|name| name == "memory"));
        assert!(
            stage
                .memory("recall task", Behind::default())
                .await
                .contains("there is no tool \"memory\"")
        );
        stage.shown("print", json!({"lines": 3})).await;
        assert!(!stage.registry.has_memory());
        let shown = stage.shown("print", json!({"lines": 3_000})).await;
        assert!(
            shown.contains("memory \"recall output "),
            "the note names it already: {shown}"
        );
        assert!(stage.registry.has_memory() && stage.registry.names().iter().any(|name| name == "memory"));
    });
}

#[test]
fn without_memory_no_note_names_it() {
    block(async {
        let mut stage = Stage::new(true);
        stage.registry.offer_memory(MemoryOffer::Never);
        let shown = stage.shown("run_command", json!({"command": "seq 1 9000"})).await;
        assert!(
            shown.contains("held back") && !shown.contains("memory"),
            "{shown}"
        );
        assert!(
            shown.contains("do not run the command again to see it"),
            "{shown}"
        );
    });
}
