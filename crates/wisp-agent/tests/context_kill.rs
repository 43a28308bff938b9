//! A process killed while it saves: every time the conversation opens with the last save that was complete.
//!
//! The process that saves is this test program again, asked for the one test that is ignored otherwise. It saves as
//! fast as it can and says each save it has finished, so that a kill at any moment falls into one.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests start themselves and lay out folders"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wisp_agent::saved::{Folder, Thread};
use wisp_context::{Estimator, Gauge, Outcome, Phase, Reason, Stamp, Target, ThreadRecord, Time};

/// Where the process that saves finds its folder.
const FOLDER: &str = "WISP_TEST_SAVES_IN";
const KILLS: u64 = 50;

fn turn(record: &mut ThreadRecord, number: u32) {
    let stamp = || Stamp::at(Time::utc(i64::from(number) * 1000));
    record.begin_turn(format!("message {number}"), stamp());
    record.record_reply("a reply of some length. ".repeat(40), false, stamp());
    record.end_turn(Outcome::Completed);
    // Half of the saves hand turns to the past.
    if number.is_multiple_of(2) {
        let estimator = Estimator::default();
        let gauge = Gauge {
            estimator: &estimator,
            window: Some(2048),
            target: Target {
                target: 0.1,
                ..Target::default()
            },
        };
        let plan = record.plan(&gauge, Phase::Idle, Reason::Asked).unwrap();
        record.condense(plan, format!("event-{number}")).unwrap();
    }
}

#[test]
#[ignore = "the process that is killed"]
fn saves_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let mut record = ThreadRecord::new("You are wisp.", Stamp::at(Time::utc(0)));
    let mut thread = Thread::named(Folder::new(folder), "work").unwrap();
    let mut out = std::io::stdout().lock();
    for number in 1.. {
        turn(&mut record, number);
        thread.save(&mut record, Box::new(|_| 0)).unwrap();
        writeln!(out, "saved {number}").unwrap();
        out.flush().unwrap();
    }
}

/// Starts the process, lets it finish `saves` saves, waits `more` and kills it. The last save it said it had finished.
fn killed_after(folder: &Path, saves: u64, more: Duration) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "saves_until_it_is_killed", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let number = |line: &str| {
        line.rsplit_once("saved ")
            .and_then(|(_, n)| n.trim().parse::<u32>().ok())
    };
    let mut last = 0;
    while u64::from(last) < saves {
        let line = lines.next().unwrap().unwrap();
        last = number(&line).unwrap_or(last);
    }
    let until = Instant::now() + more;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines
        .map_while(Result::ok)
        .filter_map(|line| number(&line))
        .last()
        .unwrap_or(last)
}

#[test]
fn fifty_kills_lose_nothing_that_was_saved() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for kill in 0..KILLS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("transcripts"));
        let more = Duration::from_micros((state >> 33) % 4000);
        let last = killed_after(folder.root(), 1 + kill % 7, more);
        let loaded = folder.load("work").unwrap();
        let turns = loaded.record.turn_count();
        assert_eq!(loaded.losses, [], "kill {kill} after {more:?}");
        assert!(
            (last..=last + 1).contains(&turns),
            "kill {kill}: {turns} turns, {last} were saved"
        );
        // A lock of a process that is gone blocks nobody.
        drop(folder.lock("work").unwrap());
    }
}
