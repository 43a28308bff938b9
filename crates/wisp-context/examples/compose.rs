//! How long composing takes over a record of 10,000 entries, most of which have left the context.
//! `scripts/bench compose` runs this in release.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement prints and reads a clock"
)]

use std::time::{Duration, Instant};

use serde_json::json;
use wisp_context::{
    Action, Arrival, Estimator, Gauge, NewCall, Outcome, Phase, Reason, Stamp, Target, ThreadRecord, Time,
};

const WINDOW: u64 = 8192;

fn stamp() -> Stamp {
    Stamp::at(Time::utc(0))
}

fn turn(record: &mut ThreadRecord, number: usize) {
    record.begin_turn(format!("What about part {number}?"), stamp());
    let call = NewCall::new("run_command", json!({"command": format!("make part{number}")}));
    let (_, calls) = record.record_calls("", vec![call], stamp());
    let output = format!("part {number} is in order\n").repeat(40);
    record.record_output(Arrival::new(&calls[0].id, "run_command", output), stamp());
    record.record_reply(
        "It is in order, and the next one may begin. ".repeat(6),
        false,
        stamp(),
    );
    record.end_turn(Outcome::Completed);
}

/// The middle of some measurements.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed<T>(work: impl Fn() -> T) -> Duration {
    median(
        (0..51)
            .map(|_| {
                let began = Instant::now();
                std::hint::black_box(work());
                began.elapsed()
            })
            .collect(),
    )
}

fn main() {
    let mut estimator = Estimator::default();
    estimator.set_tool_bytes(2000);
    let gauge = Gauge {
        estimator: &estimator,
        window: Some(WINDOW),
        target: Target::default(),
    };
    println!("entries\tturns\tshown\tcompose µs\tpressure µs\tview µs\tclone µs\tsave µs");
    let mut record = ThreadRecord::new("You are wisp.", stamp());
    for number in 1..=2500 {
        turn(&mut record, number);
        if record.pressure(&gauge, Phase::Idle).action == Action::Condense
            && let Some(plan) = record.plan(&gauge, Phase::Idle, Reason::Budget)
        {
            record.condense(plan, format!("event-{number}")).unwrap();
        }
        if [25, 250, 2500].contains(&number) {
            let micros = |time: Duration| time.as_micros();
            println!(
                "{}\t{number}\t{}\t{}\t{}\t{}\t{}\t{}",
                record.entries().len(),
                record.compose().messages.len(),
                micros(timed(|| record.compose())),
                micros(timed(|| record.pressure(&gauge, Phase::TurnStart))),
                micros(timed(|| record.context_next(&gauge))),
                micros(timed(|| record.clone())),
                micros(timed(|| record.clone().save()))
            );
        }
    }
}
