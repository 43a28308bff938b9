//! What running commands costs this process: memory for a gigabyte of output, and nothing that stays after a run. One
//! test in a binary of its own, since it measures the process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::io::Read;

use support::case;
use wisp_exec::{CommandSpec, SpillTo, run};

const GIB: u64 = 1 << 30;

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_run_costs_little_and_leaves_nothing() {
    twenty_runs_leave_no_thread_and_no_descriptor().await;
    a_gigabyte_costs_a_few_megabytes().await;
}

async fn twenty_runs_leave_no_thread_and_no_descriptor() {
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).map_or(0, Iterator::count);
    // The first run starts what is there for all: the runtime's drivers and the thread that pumps.
    run(case("10-background.sh", "quiet")).await.unwrap();
    let before = (count("fd"), count("task"));
    for _ in 0..20 {
        run(case("10-background.sh", "quiet")).await.unwrap();
    }
    assert_eq!((count("fd"), count("task")), before);
}

async fn a_gigabyte_costs_a_few_megabytes() {
    let dir = tempfile::tempdir().unwrap();
    let before = peak_memory();
    let mut spec = CommandSpec::shell("yes | head -c 1073741823; echo");
    spec.bound = 64 * 1024;
    let ceiling = 16 << 20;
    spec.spill = Some(SpillTo {
        dir: dir.path().to_owned(),
        ceiling,
    });
    let out = run(spec).await.unwrap().stdout;
    assert_eq!((out.bytes(), out.newlines()), (GIB, GIB / 2));
    let gap = out.gap().unwrap();
    // "y\n" throughout: three quarters end at a line's end, and one line after the border is given up.
    assert_eq!(gap.bytes, GIB - ceiling + 2);
    assert_eq!((gap.newlines, gap.inside_line), (gap.bytes / 2, false));
    let kept = std::io::copy(&mut out.reader(|_| Vec::new()), &mut std::io::sink()).unwrap();
    assert_eq!(kept, GIB - gap.bytes);
    let mut end = Vec::new();
    out.tail().read_to_end(&mut end).unwrap();
    assert!(end.ends_with(b"y\ny\n"));
    let grown = peak_memory() - before;
    assert!(grown < 8 << 20, "{grown} bytes");
}
