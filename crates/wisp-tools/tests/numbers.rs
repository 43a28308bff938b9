//! Every number that a text to the model contains is checked against what a command printed: random outputs on both
//! streams, alone, in batches and typed, shown, paged, filtered and counted.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and write their own files"
)]

mod support;

use proptest::prelude::*;
use regex::Regex;
use serde_json::json;
use support::{Nobody, Stage, block};
use wisp_exec::Cancel;
use wisp_tools::{Behind, Pending, Scene};

/// What a command prints on its two streams.
#[derive(Debug, Clone)]
struct Printed {
    out: String,
    err: String,
}

impl Printed {
    /// The lines as they are numbered: stdout's, then stderr's.
    fn lines(&self) -> Vec<&str> {
        self.out.lines().chain(self.err.lines()).collect()
    }

    /// What stands before line `number`, from 1.
    fn label(&self, number: usize) -> String {
        let out = self.out.lines().count();
        if out > 0 && number > out {
            format!("{number} (stderr {})", number - out)
        } else {
            number.to_string()
        }
    }
}

fn stream() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => "[a-z]{1,30}",
        1 => Just(String::new()),
        1 => Just("stderr:".to_owned()),
        1 => Just("error: it broke".to_owned()),
        1 => "[a-zé漢]{200,900}",
    ];
    (proptest::collection::vec(line, 0..400), any::<bool>()).prop_map(|(lines, ended)| {
        let text = lines.join("\n");
        if ended && !text.is_empty() {
            text + "\n"
        } else {
            text
        }
    })
}

fn printed() -> impl Strategy<Value = Printed> {
    (stream(), stream()).prop_map(|(out, err)| Printed { out, err })
}

fn number(text: &str) -> usize {
    text.replace(',', "").parse().unwrap()
}

/// Writes the streams into files and gives the command that prints them.
fn command(stage: &Stage, at: usize, printed: &Printed) -> String {
    let path = |name: &str| stage.home.path().join(format!("{name}{at}"));
    std::fs::write(path("out"), &printed.out).unwrap();
    std::fs::write(path("err"), &printed.err).unwrap();
    format!("cat out{at}; cat err{at} >&2")
}

/// Checks the marker's counts and the note's places against the lines.
fn check_shown(shown: &str, printed: &Printed) {
    let lines = printed.lines();
    let (out, all) = (printed.out.lines().count(), lines.len());
    if let Some(found) = Regex::new(r"kept as output [0-9a-f]{8} \(([\d,]+) lines?\)")
        .unwrap()
        .captures(shown)
    {
        assert_eq!(number(&found[1]), all, "{shown}");
    }
    let place = Regex::new(r"(stdout|stderr) lines? ([\d,]+)(?:–([\d,]+))? \(").unwrap();
    let note = shown.rfind("held back: ").map_or("", |at| &shown[at..]);
    for found in place.captures_iter(note) {
        let first = number(&found[2]);
        let last = found.get(3).map_or(first, |to| number(to.as_str()));
        let range = if &found[1] == "stdout" {
            1..=out
        } else {
            out + 1..=all
        };
        assert!(range.contains(&first) && range.contains(&last), "{note}");
        // The last line shown before the hole and the first after it are its neighbours.
        if first > *range.start() && !lines[first - 2].is_empty() {
            assert!(shown.contains(lines[first - 2]), "line {} is shown", first - 1);
        }
        if last < *range.end() && !lines[last].is_empty() {
            assert!(shown.contains(lines[last]), "line {} is shown", last + 1);
        }
    }
    let error = Regex::new("(?:first error|what looks like an error) at line ([\\d,]+)").unwrap();
    for found in error.captures_iter(note) {
        assert_eq!(lines[number(&found[1]) - 1], "error: it broke", "{note}");
    }
}

/// Pages through a kept output by its hints: the rows are its lines, each under its number.
async fn check_pages(stage: &mut Stage, id: &str, printed: &Printed) {
    let (mut request, mut at) = (format!("recall output {id}"), 0);
    let lines = printed.lines();
    loop {
        let page = stage.memory(&request, Behind::default()).await;
        let rows: Vec<&str> = page.split('\n').collect();
        let (last, rows) = rows[1..].split_last().unwrap();
        for row in rows {
            assert_eq!(*row, format!("{}: {}", printed.label(at + 1), lines[at]));
            at += 1;
        }
        match last.strip_prefix("[more: memory \"") {
            Some(next) => next.trim_end_matches("\"]").clone_into(&mut request),
            None => break,
        }
    }
    assert_eq!(at, lines.len());
}

/// The counts of a filter and of a digest.
async fn check_counts(stage: &mut Stage, id: &str, printed: &Printed) {
    let lines = printed.lines();
    let hits = lines.iter().filter(|line| line.contains("it broke")).count();
    let found = stage
        .memory(
            &format!("recall output {id} matching 'it broke'"),
            Behind::default(),
        )
        .await;
    let counts = Regex::new(r": ([\d,]+) of ([\d,]+) lines? match(?:es)?, ([\d,]+) do not").unwrap();
    let counts = counts.captures(&found).unwrap();
    assert_eq!(
        [1, 2, 3].map(|at| number(&counts[at])),
        [hits, lines.len(), lines.len() - hits]
    );
    let digest = stage
        .memory(&format!("summarise output {id}"), Behind::default())
        .await;
    let count = Regex::new(r"without a model: ([\d,]+) lines?").unwrap();
    assert_eq!(
        number(&count.captures(&digest).unwrap()[1]),
        lines.len(),
        "{digest}"
    );
}

async fn check_kept(stage: &mut Stage, pending: &Pending, printed: &Printed) {
    check_shown(&pending.admitted.shown, printed);
    assert_eq!(
        usize::try_from(pending.admitted.lines).unwrap(),
        printed.lines().len()
    );
    if pending.admitted.kept.is_some() {
        let id = pending.call[..8].to_owned();
        check_pages(stage, &id, printed).await;
        check_counts(stage, &id, printed).await;
    }
}

#[test]
fn a_paste_that_is_not_kept_still_has_its_own_size() {
    let mut stage = Stage::new(false);
    let rows: Vec<String> = (1..=8_000).map(|n| format!("row {n} of the paste\n")).collect();
    let text = rows.concat();
    let pending = stage.registry.receive("message", text.as_bytes(), 1).unwrap();
    assert!(pending.admitted.kept.is_none() && !pending.admitted.held.is_empty());
    assert_eq!(
        (pending.admitted.bytes, pending.admitted.lines),
        (text.len() as u64, 8_000)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_number_of_a_batch_is_that_of_what_was_printed(all in proptest::collection::vec(printed(), 1..4)) {
        block(async {
            let mut stage = Stage::new(true);
            let mut batch = Vec::new();
            for (at, printed) in all.iter().enumerate() {
                let line = command(&stage, at, printed);
                batch.push(stage.run("run_command", json!({ "command": line })).await);
            }
            for (done, printed) in stage.finish(batch).iter().zip(&all) {
                check_kept(&mut stage, &done.pending, printed).await;
            }
        });
    }

    #[test]
    fn every_number_of_a_typed_command_is_that_of_what_was_printed(printed in printed()) {
        block(async {
            let mut stage = Stage::new(true);
            let line = command(&stage, 0, &printed);
            let (person, cancel) = (Nobody::default(), Cancel::new());
            let scene = Scene { turn: 1, person: &person, cancel: &cancel, behind: Behind::default() };
            let pending = stage.registry.run_typed(&line, &scene).await.unwrap();
            check_kept(&mut stage, &pending, &printed).await;
        });
    }

    #[test]
    fn every_number_of_a_paste_is_that_of_what_was_pasted(text in stream()) {
        block(async {
            let mut stage = Stage::new(true);
            let pending = stage.registry.receive("stdin", text.as_bytes(), 1).unwrap();
            check_kept(&mut stage, &pending, &Printed { out: text, err: String::new() }).await;
        });
    }
}
