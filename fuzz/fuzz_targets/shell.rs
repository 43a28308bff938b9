//! Any shell line can be judged, and one that deletes is never judged safe.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wisp_guard::{Level, risk};

fuzz_target!(|line: &str| {
    let _ = risk(line);
    assert_ne!(risk(&format!("{line}\nrm -rf build")).level, Level::Safe);
});
