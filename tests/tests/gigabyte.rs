//! A command that prints one GiB: bounded memory, the end of the output kept, the cut stated.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests start programs, lay out files, and fail"
)]

use std::process::Stdio;
use std::time::Duration;

use wisp_tests::{Wisp, case, quoted, runs, tool_message};

/// The most bytes wisp may have held at once.
const MOST_KIB: u64 = 64 * 1024;

/// Runs a command through a model and watches wisp's memory.
fn watched(command: &str) -> (ollama_sim::Server, Wisp) {
    let server = runs(command);
    let wisp = Wisp::with(&server);
    let mut command = wisp.command(&["--yes", "go"]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        peak = peak.max(high_water(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0));
    assert!(peak > 1024, "the memory was looked at");
    assert!(peak < MOST_KIB, "wisp held {peak} KiB");
    (server, wisp)
}

/// Bytes and lines above a command's standard output in the stored file.
const HEADER: u64 = "exit status 0\nstdout:\n".len() as u64;

#[test]
fn a_gibibyte_costs_little_memory_and_its_end_is_kept() {
    let (server, wisp) = watched("sh -c 'yes | head -c 1073741824'; echo the end");
    let kept = wisp.kept();
    let (record, bytes) = &kept[0];
    assert_eq!(record["cut"], true);
    assert!(
        bytes.len() <= 16 << 20,
        "{} bytes are within the ceiling",
        bytes.len()
    );
    assert!(bytes.ends_with(b"y\nthe end\n"), "the end survives");
    assert_eq!(
        record["totalBytes"],
        1_073_741_824 + "the end\n".len() as u64 + HEADER
    );
    assert_eq!(record["totalLines"], 536_870_912_u64 + 1);
    let told = tool_message(&server);
    assert!(
        told.contains("the end\n") && told.contains("not kept"),
        "{}",
        told.lines().last().unwrap_or_default()
    );
}

#[test]
fn case_08_counts_head_and_tail_of_a_gibibyte_are_right() {
    let command = format!("python3 {}", quoted(&case("08-gib.py")));
    let (_server, wisp) = watched(&command);
    let kept = wisp.kept();
    let (record, bytes) = &kept[0];
    assert_eq!(record["totalBytes"], 1_073_741_824 + HEADER);
    assert_eq!(record["totalLines"], 16_777_216);
    let text = String::from_utf8_lossy(bytes);
    let ends: Vec<&str> = [text.lines().nth(2), text.lines().last()]
        .into_iter()
        .flatten()
        .collect();
    assert!(ends[0].contains('1') && ends[1].contains("16777216"), "{ends:?}");
    let gap = text
        .lines()
        .find(|l| l.contains("not kept"))
        .expect("the cut is stated in the file");
    assert!(gap.contains("lines"), "{gap}");
}

/// The most memory a process has had resident, KiB.
fn high_water(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
