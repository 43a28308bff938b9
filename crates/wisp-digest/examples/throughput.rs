//! How fast a digest is made: 16 MiB inputs built in memory, MB/s for each, for the ratios of the benchmark page.
//!
//! `cargo run --release -p wisp-digest --example throughput [FOLDER]`; with a folder, the inputs are written there
//! so that another tool can be timed on the same bytes.
#![allow(clippy::print_stdout, reason = "an example prints")]
#![allow(clippy::disallowed_methods, reason = "an example may write where it is told")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use wisp_digest::{Digest, Options};

const SIZE: usize = 16 * 1024 * 1024;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1);
    for (name, bytes) in inputs() {
        if let Some(folder) = &folder {
            std::fs::write(format!("{folder}/{name}.log"), &bytes)?;
        }
        let best = (0..5).map(|_| time(&bytes)).min().unwrap_or_default();
        let speed = bytes.len() as u128 * 1_000 / best.as_nanos().max(1);
        println!("{name:<24} {:>8} µs {speed:>6} MB/s", best.as_micros());
    }
    Ok(())
}

fn time(bytes: &[u8]) -> Duration {
    let start = Instant::now();
    black_box(Digest::of(black_box(bytes), Options::default()));
    start.elapsed()
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "no-match",
            fill(|at| {
                format!(
                    "[{at}/90000] Copying resources/images/tile_{at}.png to the bundle at /srv/out/{at}\n"
                )
            }),
        ),
        (
            "all-match-gcc",
            fill(|at| {
                format!(
                    "src/gauge_{at}.c:{at}:10: error: 'depth_{at}' undeclared (first use in this function)\n"
                )
            }),
        ),
        (
            "all-match-warning",
            fill(|at| {
                format!(
                    "src/gauge_{at}.c:{at}:10: warning: unused variable 'depth_{at}' [-Wunused-variable]\n"
                )
            }),
        ),
        ("build-log", fill(build_line)),
        (
            "service-log",
            fill(|at| {
                format!(
                    "2026-03-02T10:14:{:02}.{:03}Z INFO  http: GET /tides/{at} 200 {}ms client=10.1.{}.77\n",
                    at % 60,
                    at % 1000,
                    at % 90,
                    at % 255
                )
            }),
        ),
        ("one-line", vec![b'x'; SIZE]),
        ("one-line-of-errors", b"error: x ".repeat(SIZE / 9)),
        ("two-million-short", b"abcdefg\n".repeat(SIZE / 8)),
        ("all-openings", openings()),
        ("json", json()),
    ]
}

fn fill(line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SIZE + 256);
    let mut at = 0;
    while bytes.len() < SIZE {
        bytes.extend_from_slice(line(at).as_bytes());
        at += 1;
    }
    bytes
}

/// A build in which one line of a hundred is a warning and one of a thousand an error.
fn build_line(at: usize) -> String {
    match at {
        _ if at % 1000 == 7 => format!("src/gauge_{at}.c:{at}:10: error: expected ';' before '}}' token\n"),
        _ if at % 100 == 3 => {
            format!("src/gauge_{at}.c:{at}:10: warning: unused variable 'depth' [-Wunused-variable]\n")
        }
        _ => format!("  CC      build/objects/subsystem/{at}/gauge_{at}.o -O2 -g -fPIC -Iinclude/tide\n"),
    }
}

/// Beginnings of blocks in every format, none of which ends.
fn openings() -> Vec<u8> {
    let lines: Vec<&str> = include_str!("../tests/openings.txt").lines().collect();
    fill(|at| format!("{}\n", lines[at % lines.len()]))
}

fn json() -> Vec<u8> {
    let mut bytes = b"[".to_vec();
    bytes.extend(fill(|at| {
        format!("{{\"id\": {at}, \"name\": \"gauge {at}\", \"tags\": [\"a\", \"b\"], \"depth\": {at}.5}},\n")
    }));
    bytes.extend_from_slice(b"{}]");
    bytes
}
