//! Looking for a reply of 64 KiB in an output of 16 MiB, and for half of the one in half of the other: the steps that took,
//! for texts that are hard on a search. Called by `scripts/bench cuts`.
#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::time::Instant;

use wisp_context::EntryId;
use wisp_context::cut::Finder;

#[path = "../src/cut/hard.rs"]
mod hard;

const REPLY: usize = 64 * 1024;
const OUTPUT: usize = 16 * 1024 * 1024;

/// Steps and milliseconds, at the `part`th of the sizes.
fn measured((_, reply, output): hard::Hard, part: usize) -> (u64, u128) {
    let (reply, output) = (reply(REPLY / part), output(OUTPUT / part));
    let began = Instant::now();
    let mut finder = Finder::new(&reply);
    finder.scan(EntryId(3), "run_command", output.as_bytes().chunks(64 * 1024));
    let took = began.elapsed().as_millis();
    (finder.work(), took)
}

fn main() {
    println!("what\tsteps of half\tsteps\ttimes\tms");
    for hard in hard::HARD {
        let ((half, _), (whole, took)) = (measured(hard, 2), measured(hard, 1));
        let hundredths = whole * 100 / half;
        println!(
            "{}\t{half}\t{whole}\t{}.{:02}\t{took}",
            hard.0,
            hundredths / 100,
            hundredths % 100
        );
    }
}
